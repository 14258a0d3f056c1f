//! Graphics programs made by hand, drawn on the device: attributes at computed addresses, outputs, interpolation.

mod device;

use std::sync::{Mutex, MutexGuard};

use ash::vk;
use device::draw::{Program, SIDE, covering, draw, showing};
use navin_corpus::gpu::Gpu;
use navin_shader::Stage;
use navin_shader::isa::table::{Field, Form, Op};

const TRIANGLES: vk::PrimitiveTopology = vk::PrimitiveTopology::TRIANGLE_LIST;
const PATCHES: vk::PrimitiveTopology = vk::PrimitiveTopology::PATCH_LIST;

static ALONE: Mutex<()> = Mutex::new(());

/// The device, for one test at a time: the loader races when one thread opens an instance while another makes a device.
fn gpu() -> (MutexGuard<'static, ()>, Gpu) {
    let alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    (alone, Gpu::open().expect("a Vulkan 1.3 device"))
}

/// The pixel in the middle, as floats.
fn middle(pixels: &[[u32; 4]]) -> [f32; 4] {
    pixels[SIDE / 2 * SIDE + SIDE / 2].map(f32::from_bits)
}

/// A vertex program that only puts constants out.
fn constants(vectors: &[(u32, [f32; 4])]) -> Program {
    let mut p = Program::new(Stage::Vertex);
    p.put(0x70, [0.0, 0.0, 0.0, 1.0]);
    for &(address, values) in vectors {
        p.put(address, values);
    }
    p.exit();
    p
}

/// A control program whose patch is not divided; `body` goes on.
fn control() -> Program {
    let mut p = Program::new(Stage::TessControl);
    p.header[2] = 3 << 24;
    for n in 0..4 {
        p.float(40, 1.0).store_patch(40, 4 * n, 1);
    }
    p.store_patch(40, 0x10, 1);
    p.put(0x70, [0.0, 0.0, 0.0, 1.0]);
    p
}

/// An evaluation program whose triangle covers the target.
fn evaluation() -> Program {
    let mut p = Program::new(Stage::TessEvaluation);
    let fields = [(Field::Dst, 4), (Field::A, 255), (Field::Attr11, 0x2F0), (Field::Size, 1), (Field::Out, 1)];
    p.op(Op::Ald, Form::A, &fields);
    p.scale(4, 4.0, -1.0).scale(5, 4.0, -1.0).float(6, 0.5).float(7, 1.0);
    p.store(4, 0x70, 4).output(0x70, 4);
    p
}

/// dst = the float of register `from`, as an integer times 16.
fn index(p: &mut Program, dst: u32, from: u32) {
    p.op(Op::F2i, Form::R, &[(Field::Dst, dst), (Field::B, from), (Field::Dfmt, 2), (Field::Sfmt, 2), (Field::Rnd, 3)]);
    p.op(Op::Shl, Form::I, &[(Field::Dst, dst), (Field::A, dst), (Field::Imm19, 4)]);
}

const VECTORS: [[f32; 4]; 4] = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], [1.1, 1.2, 1.3, 1.4], [1.5, 1.6, 1.7, 1.8]];

fn load_at(p: &mut Program, dst: u32, register: u32, address: u32, more: &[(Field, u32)]) {
    let fields = [(Field::Dst, dst), (Field::A, register), (Field::Attr11, address), (Field::Size, 3)];
    p.op(Op::Ald, Form::A, &[&fields[..], more].concat());
}

#[test]
fn patch_vectors_are_read_and_written_at_computed_addresses() {
    let (_alone, gpu) = gpu();
    for read_back in [false, true] {
        let mut c = control();
        for (n, vector) in (0..).zip(VECTORS) {
            (0..4).for_each(|k| _ = c.float(40 + k as u32, vector[k]));
            c.store_patch(40, 0x20 + 16 * n, 4);
        }
        // The index comes from the vertex program: 2. The vector before it is stored anew, at a computed address.
        c.load(30, 0x80, 1, 255).input(0x80, 1);
        index(&mut c, 31, 30);
        c.float(40, 9.0).float(41, 8.0).float(42, 7.0).float(43, 6.0);
        let fields = [(Field::Data, 40), (Field::A, 31), (Field::Attr11, 0x10), (Field::Size, 3), (Field::Patch, 1)];
        c.op(Op::Ast, Form::A, &fields);
        if read_back {
            // a[2] by its own stores, into vector 5.
            load_at(&mut c, 40, 31, 0x20, &[(Field::Patch, 1)]);
            c.store_patch(40, 0x70, 4);
        }
        c.store_patch(30, 0x60, 1);
        c.exit();
        let mut e = evaluation();
        load_at(&mut e, 20, 255, 0x60, &[(Field::Patch, 1)]);
        index(&mut e, 21, 20);
        let address = if read_back { 0x50 } else { 0x20 };
        load_at(&mut e, 24, 21, address, &[(Field::Patch, 1)]);
        load_at(&mut e, 28, 21, 0x10, &[(Field::Patch, 1)]);
        e.store(24, 0x80, 4).output(0x80, 4).store(28, 0x90, 4).output(0x90, 4).exit();
        for (shown, want) in [(0, VECTORS[2]), (1, [9.0, 8.0, 7.0, 6.0])] {
            let programs = [constants(&[(0x80, [2.0, 0.0, 0.0, 0.0])]), c.clone(), e.clone(), showing(shown)];
            assert_eq!(middle(&draw(&gpu, &programs, PATCHES, 1)[0]), want, "read back {read_back}, vector {shown}");
        }
    }
}

#[test]
fn control_outputs_are_read_back_and_stored_at_computed_addresses() {
    let (_alone, gpu) = gpu();
    let mut c = control();
    c.load(30, 0x80, 1, 255).input(0x80, 1);
    index(&mut c, 31, 30);
    // Outputs 1 and 2; the input map has neither.
    c.put(0x90, VECTORS[0]).put(0xA0, VECTORS[1]).output(0xB0, 4);
    load_at(&mut c, 44, 31, 0x80, &[(Field::Out, 1), (Field::Vtx, 255)]);
    c.op(Op::Ast, Form::A, &[(Field::Data, 44), (Field::A, 31), (Field::Attr11, 0x90), (Field::Size, 3)]);
    c.exit();
    let mut e = evaluation();
    e.load(20, 0xB0, 4, 255).input(0xB0, 4).store(20, 0x80, 4).output(0x80, 4).exit();
    let programs = [constants(&[(0x80, [2.0, 0.0, 0.0, 0.0])]), c, e, showing(0)];
    assert_eq!(middle(&draw(&gpu, &programs, PATCHES, 1)[0]), VECTORS[1]);
}

#[test]
fn clip_distances_points_and_positions_are_read_at_computed_addresses() {
    let (_alone, gpu) = gpu();
    // gl_in[0].gl_ClipDistance[j], gl_Position[j] and gl_PointSize by the same program, j from a generic input.
    let mut v = covering();
    v.put(0x80, [1.0, 0.0, 0.0, 0.0]).put(0x2C0, [0.25, 0.5, 0.75, 0.875]);
    v.float(40, 3.0).store(40, 0x6C, 1).output(0x6C, 1).exit();
    let mut g = Program::new(Stage::Geometry);
    g.header[2] = 1 << 24;
    g.header[3] = 7 << 24;
    g.header[4] = 3;
    g.input(0x80, 1).input(0x2C0, 4).input(0x6C, 5);
    g.mov(10, 2);
    for n in 0..3 {
        g.mov(11, n).load(12, 0x70, 4, 11).store(12, 0x70, 4).output(0x70, 4);
        g.load(20, 0x80, 1, 11);
        g.op(
            Op::F2i,
            Form::R,
            &[(Field::Dst, 21), (Field::B, 20), (Field::Dfmt, 2), (Field::Sfmt, 2), (Field::Rnd, 3)],
        );
        g.op(Op::Shl, Form::I, &[(Field::Dst, 21), (Field::A, 21), (Field::Imm19, 2)]);
        let at = [(Field::A, 21), (Field::Vtx, 11)];
        g.op(Op::Ald, Form::A, &[&at[..], &[(Field::Dst, 24), (Field::Attr11, 0x2C0), (Field::Size, 1)]].concat());
        g.op(Op::Ald, Form::A, &[&at[..], &[(Field::Dst, 26), (Field::Attr11, 0x78)]].concat());
        g.op(Op::Ald, Form::A, &[&at[..], &[(Field::Dst, 27), (Field::Attr11, 0x68)]].concat());
        g.store(24, 0x80, 4).output(0x80, 4);
        g.op(Op::Out, Form::R, &[(Field::Dst, 255), (Field::A, 255), (Field::B, 255), (Field::Mode, 1)]);
    }
    g.exit();
    let want = [0.5, 0.75, 1.0, 3.0];
    assert_eq!(middle(&draw(&gpu, &[v, g, showing(0)], TRIANGLES, 1)[0]), want);
}

#[test]
fn fragment_inputs_at_computed_addresses_are_interpolated_as_the_header_says() {
    let (_alone, gpu) = gpu();
    let mut v = covering();
    v.put(0x80, [1.0, 0.0, 0.0, 0.0]).put(0x90, VECTORS[0]).put(0xA0, VECTORS[1]);
    v.put(0x2C0, [0.25, 0.5, 0.75, 0.875]).exit();
    let mut f = Program::new(Stage::Fragment);
    f.varying(0, 1).varying(1, 3).varying(2, 1);
    (0..4).for_each(|n| _ = f.bit(464 + n));
    f.interpolate(20, 0x80);
    index(&mut f, 21, 20);
    f.op(Op::Shr, Form::I, &[(Field::Dst, 22), (Field::A, 21), (Field::Imm19, 2)]);
    let at = |dst: u32, register: u32, address: u32| {
        [(Field::Dst, dst), (Field::A, register), (Field::B, 255), (Field::Attr10, address), (Field::Idx, 1)]
    };
    // Vector 1 + 1, its y; vector 0 + 1, its x; clip distances 1 and 2.
    f.op(Op::Ipa, Form::A, &at(0, 21, 0x94));
    f.op(Op::Ipa, Form::A, &at(1, 21, 0x80));
    f.op(Op::Ipa, Form::A, &at(2, 22, 0x2C0));
    f.op(Op::Ipa, Form::A, &at(3, 22, 0x2C4));
    f.header[18] = 0xF;
    f.exit();
    let got = middle(&draw(&gpu, &[v, f], TRIANGLES, 1)[0]);
    let want = [VECTORS[1][1], VECTORS[0][0], 0.5, 0.75];
    assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-6), "{got:?}, not {want:?}");
}

#[test]
fn control_programs_put_out_clip_distances_and_point_sizes() {
    let (_alone, gpu) = gpu();
    let mut c = control();
    c.put(0x2C0, [0.25, 0.5, 0.75, 0.875]).float(40, 3.0).store(40, 0x6C, 1).output(0x6C, 1).exit();
    let mut e = evaluation();
    e.load(20, 0x2C4, 2, 255).input(0x2C0, 4).load(22, 0x6C, 1, 255).input(0x6C, 1).float(23, 1.0);
    e.store(20, 0x80, 4).output(0x80, 4).exit();
    let programs = [constants(&[]), c, e, showing(0)];
    assert_eq!(middle(&draw(&gpu, &programs, PATCHES, 1)[0]), [0.5, 0.75, 3.0, 1.0]);
}

#[test]
fn b513_stores_to_outputs_that_do_not_exist_are_dropped_and_named() {
    let (_alone, gpu) = gpu();
    let pictures = [false, true].map(|stores| {
        let mut v = covering();
        v.put(0x80, VECTORS[0]);
        if stores {
            v.float(40, 1.0).store(40, 0x5C, 1).store(40, 0x2E8, 1).store(40, 0x3A0, 1);
        }
        v.exit();
        let dropped = v.translate(&device::options(&gpu)).1.dropped_outputs;
        assert_eq!(dropped, if stores { vec![0x5C, 0x2E8, 0x3A0] } else { vec![] });
        draw(&gpu, &[v, showing(0)], TRIANGLES, 1)
    });
    assert_eq!(pictures[0], pictures[1]);
    let [a, b] = [middle(&pictures[0][0]), VECTORS[0]];
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?}");
}

#[test]
fn the_only_colour_of_a_program_goes_to_all_targets() {
    let (_alone, gpu) = gpu();
    let mut v = covering();
    v.put(0x80, VECTORS[0]).exit();
    let shown = draw(&gpu, &[v.clone(), showing(0)], TRIANGLES, 3);
    let near = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(shown.iter().all(|target| near(middle(target), VECTORS[0])), "{:?}", [0, 1, 2].map(|n| middle(&shown[n])));
    // With a colour for each target, the first goes to the first alone.
    let mut f = showing(0);
    f.bit(14);
    let interface = f.translate(&device::options(&gpu)).1;
    assert_eq!((interface.outputs, interface.one_colour), (1, false));
    // Only targets that are told get it.
    let options = navin_shader::Options { colour_targets: 0b101, ..device::options(&gpu) };
    let interface = showing(0).translate(&options).1;
    assert_eq!((interface.outputs, interface.one_colour), (0b101, true));
}

#[test]
fn pass_through_geometry_programs_put_out_their_input_primitive() {
    let (_alone, gpu) = gpu();
    let mut v = covering();
    v.put(0x80, VECTORS[0]).put(0x90, VECTORS[1]).exit();
    let mut g = Program::new(Stage::Geometry);
    g.bit(24).input(0x80, 4).output(0x80, 4);
    // A vector of its own for the whole primitive in place of the vertices'.
    g.put(0x90, VECTORS[2]).exit();
    for (shown, want) in [(0, VECTORS[0]), (1, VECTORS[2])] {
        let got = middle(&draw(&gpu, &[v.clone(), g.clone(), showing(shown)], TRIANGLES, 1)[0]);
        assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-6), "vector {shown}: {got:?}, not {want:?}");
    }
    let options = |input| navin_shader::Options { geometry_input: Some(input), ..device::options(&gpu) };
    use navin_shader::GeometryInput as I;
    for input in [I::Points, I::Lines, I::LinesAdjacency, I::TrianglesAdjacency] {
        let (spirv, interface) = g.translate(&options(input));
        assert_eq!(interface.geometry_input, Some(input));
        let emitted = spirv.windows(2).filter(|w| w[0] == 1 << 16 | 218).count();
        assert_eq!(emitted, input.passed_vertices().len(), "{input:?}");
    }
}

/// A vertex program whose triangle covers the target with a w that differs from corner to corner.
fn leaning() -> Program {
    let mut p = covering();
    p.op(Op::I2f, Form::R, &[(Field::Dst, 7), (Field::B, 0), (Field::Dfmt, 2), (Field::Sfmt, 2)]).scale(7, 0.75, 1.0);
    for n in [4, 5, 6] {
        p.op(Op::Fmul, Form::R, &[(Field::Dst, n), (Field::A, n), (Field::B, 7)]);
    }
    p.store(4, 0x70, 4);
    // The attribute follows the corner too.
    p.op(Op::I2f, Form::R, &[(Field::Dst, 10), (Field::B, 0), (Field::Dfmt, 2), (Field::Sfmt, 2)]);
    p.store(10, 0x80, 1).output(0x80, 4);
    p
}

#[test]
fn interpolation_off_the_centre_has_its_own_w_and_factor() {
    let (_alone, gpu) = gpu();
    let mut v = leaning();
    v.exit();
    // A quarter of a pixel to the right and down, in 4096ths.
    let ipa = |f: &mut Program, [dst, address, factor]: [u32; 3], mode: u32, sample: u32| {
        let at = [(Field::Dst, dst), (Field::A, 255), (Field::B, factor), (Field::C, 20), (Field::Attr10, address)];
        f.op(Op::Ipa, Form::A, &[&at[..], &[(Field::Mode, mode), (Field::Sample, sample)]].concat());
    };
    let shown = |body: &dyn Fn(&mut Program)| {
        let mut f = Program::new(Stage::Fragment);
        f.varying(0, 2).mov(20, 0x400 << 16 | 0x400);
        body(&mut f);
        f.header[18] = 0xF;
        f.exit();
        draw(&gpu, &[v.clone(), f], TRIANGLES, 1).remove(0)
    };
    let at = |pixels: &[[u32; 4]], x: usize, y: usize| pixels[y * SIDE + x].map(f32::from_bits);
    let pixels = shown(&|f| {
        f.float(21, 2.0);
        ipa(f, [0, 0x80, 255], 0, 0);
        ipa(f, [1, 0x80, 21], 1, 0);
        ipa(f, [2, 0x80, 21], 1, 1);
    });
    let [pass, twice, centroid, _] = at(&pixels, 20, 24);
    assert!(pass > 0.05 && (at(&pixels, 21, 24)[0] - pass).abs() > 1e-4, "it varies: {pass}");
    assert!((twice - 2.0 * pass).abs() < 1e-5, "{twice} is not twice {pass}");
    // With one sample, the centroid is the centre.
    assert!((centroid - twice).abs() < 1e-5, "{centroid} is not {twice}");
    let pixels = shown(&|f| {
        ipa(f, [0, 0x80, 255], 0, 2);
        ipa(f, [2, 0x7C, 255], 0, 2);
        ipa(f, [3, 0x7C, 255], 0, 0);
        f.op(Op::Mufu, Form::R, &[(Field::Dst, 22), (Field::A, 2), (Field::Op, 4)]);
        ipa(f, [1, 0x80, 22], 1, 2);
    });
    let [pass, whole, w, centre] = at(&pixels, 20, 24);
    // 1/w is linear in the window.
    let (right, below) = (at(&pixels, 21, 24)[3] - centre, at(&pixels, 20, 25)[3] - centre);
    let want = centre + 0.25 * (right + below);
    assert!((w - want).abs() < 1e-6 && (w - centre).abs() > 1e-4, "{w} is not {want}; {centre} at the centre");
    assert!((pass - whole * w).abs() < 1e-6, "{pass} is not {whole} x {w}");
}

#[test]
fn a_killed_thread_says_so() {
    let (_alone, gpu) = gpu();
    let mut v = covering();
    v.exit();
    let mut f = Program::new(Stage::Fragment);
    f.bit(15);
    // Before and after the columns with odd numbers are killed.
    let flag = |f: &mut Program, dst: u32| {
        f.op(Op::S2r, Form::S, &[(Field::Dst, dst), (Field::Sreg, 19)]);
    };
    flag(&mut f, 10);
    f.interpolate(4, 0x70);
    f.op(Op::F2i, Form::R, &[(Field::Dst, 4), (Field::B, 4), (Field::Dfmt, 2), (Field::Sfmt, 2), (Field::Rnd, 3)]);
    f.op(Op::Lop, Form::I, &[(Field::Dst, 4), (Field::A, 4), (Field::Imm19, 1)]);
    let odd = [(Field::Pd, 0), (Field::A, 4), (Field::B, 255), (Field::Cmp, 5)];
    f.op(Op::Isetp, Form::R, &odd);
    f.op(Op::Kil, Form::J, &[(Field::Pg, 0)]);
    flag(&mut f, 11);
    // What the neighbour says.
    for (dst, from) in [(12, 10), (13, 11)] {
        let at = [(Field::Dst, dst), (Field::A, from), (Field::Lane5, 1), (Field::Cimm13, 0x1C03), (Field::Mode, 3)];
        f.op(Op::Shfl, Form::Ii, &at);
    }
    for (dst, from) in [(0, 10), (1, 11), (2, 12), (3, 13)] {
        f.op(Op::Lop, Form::I, &[(Field::Dst, dst), (Field::A, from), (Field::Imm19, 1)]);
        f.op(Op::I2f, Form::R, &[(Field::Dst, dst), (Field::B, dst), (Field::Dfmt, 2), (Field::Sfmt, 2)]);
    }
    f.header[18] = 0xF;
    f.exit();
    let pixels = &draw(&gpu, &[v, f], TRIANGLES, 1)[0];
    let at = |x: usize| pixels[20 * SIDE + x].map(f32::from_bits);
    assert_eq!(at(20), [0.0, 0.0, 0.0, 1.0], "this one, and its neighbour before and after");
    assert_eq!(at(21), [-1.0; 4], "killed");
}

#[test]
fn control_programs_meet_at_barriers() {
    let (_alone, gpu) = gpu();
    let mut c = control();
    // Output 1 is the thread's number; behind the barrier, the first thread reads that of the last.
    c.op(Op::S2r, Form::S, &[(Field::Dst, 30), (Field::Sreg, 17)]);
    c.op(Op::I2f, Form::R, &[(Field::Dst, 31), (Field::B, 30), (Field::Dfmt, 2), (Field::Sfmt, 2)]);
    c.store(31, 0x90, 1).output(0x90, 1);
    c.op(Op::Bar, Form::Ii, &[]);
    c.mov(32, 2);
    let last = [(Field::Dst, 33), (Field::A, 255), (Field::Attr11, 0x90), (Field::Out, 1), (Field::Vtx, 32)];
    c.op(Op::Ald, Form::A, &last);
    c.op(Op::Isetp, Form::R, &[(Field::Pd, 0), (Field::A, 30), (Field::B, 255), (Field::Cmp, 2)]);
    let patch = [(Field::Data, 33), (Field::A, 255), (Field::Attr11, 0x20), (Field::Vtx, 255), (Field::Patch, 1)];
    c.op(Op::Ast, Form::A, &[&patch[..], &[(Field::Pg, 0)]].concat());
    c.exit();
    let mut e = evaluation();
    load_at(&mut e, 20, 255, 0x20, &[(Field::Patch, 1)]);
    e.store(20, 0x80, 1).output(0x80, 4).exit();
    assert_eq!(middle(&draw(&gpu, &[constants(&[]), c, e, showing(0)], PATCHES, 1)[0])[0], 2.0);
}
