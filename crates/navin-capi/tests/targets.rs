//! B215: render targets stay bound over submissions, though the command memory that they were bound from holds other
//! records by then. Needs a Vulkan device, as `./x test` arranges.
//!
//! Each test completes a submission that binds targets, writes other records and garbage over its command memory, and
//! draws in a later submission that binds none; what is read back are texels of the targets.
//!
//! The behaviour asks for every case with synchronous and with deferred encoding. Navin has one kind: the submit
//! thread encodes a piece while it replays it, from a stream that owns its words, and what stays bound is in the
//! queue's own state by then. There is no encoding after a replay that could look into command memory.

mod guest;
mod recorder;

use std::ptr::null;

use guest::*;
use navin_abi::enums::{NVNclearColorMask, NVNcopyFlags, NVNdepthFunc, NVNformat, NVNtextureTarget};
use navin_abi::types::*;
use nvn::trampolines::*;
use recorder::{Recorder, complete};

/// What is on a target before anything is drawn.
const GROUND: [u8; 4] = [0, 0, 255, 0];

/// A rectangle in pixels: x, y, width, height.
type Area = [i32; 4];

struct Scene {
    guest: Guest,
    program: *mut NVNprogram,
    /// Binds; what it recorded is overwritten.
    binds: Recorder,
    /// Draws with what is bound.
    draws: Recorder,
}

/// A colour target and the view that is bound of it.
#[derive(Clone, Copy)]
struct Color {
    texture: *const NVNtexture,
    view: *const NVNtextureView,
}

impl Color {
    fn whole(texture: *const NVNtexture) -> Self {
        Self { texture, view: null() }
    }
}

impl Scene {
    fn new() -> Self {
        Self::with(&["aux_vs_v0", "aux_fs_f1"])
    }

    fn with(stages: &[&str]) -> Self {
        let mut guest = Guest::new();
        let program = guest.program(stages);
        let (binds, draws) = (Recorder::new(&mut guest), Recorder::new(&mut guest));
        Self { guest, program, binds, draws }
    }

    fn color(&mut self) -> *mut NVNtexture {
        self.guest.texture(NVNformat::RGBA8, SIDE, SIDE)
    }

    /// Binds program, layout, depth test and these targets, and clears them: to [`GROUND`] and to depth 1.
    fn bind(&self, c: *mut NVNcommandBuffer, colors: &[Color], depth: Option<Color>, side: i32) {
        self.guest.begin(c, self.program);
        self.guest.depth_test(c, NVNdepthFunc::LESS);
        let (textures, views): (Vec<_>, Vec<_>) = colors.iter().map(|color| (color.texture, color.view)).unzip();
        let depth = depth.unwrap_or(Color { texture: null(), view: null() });
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferSetRenderTargets(
                c,
                colors.len() as i32,
                textures.as_ptr(),
                views.as_ptr(),
                depth.texture,
                depth.view,
            );
            nvnCommandBufferSetViewport(c, 0, 0, side, side);
            nvnCommandBufferSetScissor(c, 0, 0, side, side);
            for index in 0..colors.len() {
                let ground = GROUND.map(|byte| f32::from(byte) / 255.0);
                nvnCommandBufferClearColor(c, index as i32, ground.as_ptr(), NVNclearColorMask::RGBA);
            }
            nvnCommandBufferClearDepthStencil(c, 1.0, NVN_TRUE, 0, 0);
        }
    }

    /// Binds on a queue, in a submission that completes, and overwrites the memory it was recorded in.
    fn bind_and_overwrite(&self, queue: *mut NVNqueue, colors: &[Color], depth: Option<Color>, side: i32) {
        complete(&self.guest, queue, self.binds.record(|c| self.bind(c, colors, depth, side)));
        self.binds.overwrite();
    }

    /// Draws a rectangle of 64 x 64 pixels' coordinates, in a submission that binds no targets; its memory is
    /// overwritten too.
    fn draw(&mut self, queue: *mut NVNqueue, area: Area, depth: f32) {
        let vertices = self.guest.vertices(&rectangle(area[0], area[1], area[2], area[3], depth, WHITE));
        let handle = self.draws.record(|c| draw(c, vertices));
        complete(&self.guest, queue, handle);
        self.draws.overwrite();
    }

    /// Texels of four bytes of a view, from the lowest row on, as the GPU sees them.
    fn texels(&mut self, of: Color, side: i32) -> Vec<[u8; 4]> {
        let count = (side * side) as usize;
        let at = self.guest.take(4 * count);
        let to = self.guest.address(at);
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: side, height: side, depth: 1 };
        // SAFETY: live objects.
        self.guest.run(|c| unsafe {
            nvnCommandBufferCopyTextureToBuffer(c, of.texture, of.view, &all, to, NVNcopyFlags(0));
        });
        (0..count as u64).map(|texel| self.guest.at(to + 4 * texel)).collect()
    }

    /// Asserts that exactly these rectangles of a target are white.
    fn assert_drawn(&mut self, of: Color, side: i32, areas: &[Area], what: &str) {
        let texels = self.texels(of, side);
        for (index, texel) in texels.iter().enumerate() {
            let (x, y) = (index as i32 % side, index as i32 / side);
            let expected = if areas.iter().any(|area| inside(*area, x, y)) { [255; 4] } else { GROUND };
            assert_eq!(*texel, expected, "{what}: ({x}, {y})");
        }
    }

    /// Asserts what a depth target holds: this in the rectangle, 1 elsewhere.
    fn assert_depth(&mut self, of: Color, area: Area, depth: f32) {
        let texels = self.texels(of, SIDE);
        for (index, texel) in texels.iter().enumerate() {
            let (x, y) = (index as i32 % SIDE, index as i32 / SIDE);
            let found = f32::from_le_bytes(*texel);
            let expected = if inside(area, x, y) { depth } else { 1.0 };
            assert!((found - expected).abs() < 1e-6, "depth {found} at ({x}, {y}), not {expected}");
        }
    }
}

fn inside([left, low, width, height]: Area, x: i32, y: i32) -> bool {
    (left..left + width).contains(&x) && (low..low + height).contains(&y)
}

fn draw(c: *mut NVNcommandBuffer, vertices: u64) {
    // SAFETY: a live command buffer.
    unsafe {
        nvnCommandBufferBindVertexBuffer(c, 0, vertices, 6 * STRIDE as usize);
        nvnCommandBufferDrawArrays(c, NVNdrawPrimitive::TRIANGLES, 0, 6);
    }
}

/// A texture of layers and levels, and a view of one level and one layer.
fn layered(guest: &mut Guest, format: NVNformat, level: i32, layer: i32) -> Color {
    let (builder, texture, view) = (object(), object(), object());
    // SAFETY: zeroed storage that stays.
    unsafe {
        nvnTextureBuilderSetDefaults(builder);
        nvnTextureBuilderSetDevice(builder, guest.device);
        nvnTextureBuilderSetTarget(builder, NVNtextureTarget::TARGET_2D_ARRAY);
        nvnTextureBuilderSetFormat(builder, format);
        nvnTextureBuilderSetSize3D(builder, SIDE, SIDE, 3);
        nvnTextureBuilderSetLevels(builder, 3);
        let offset = guest.take(nvnTextureBuilderGetStorageSize(builder) + (1 << 16)).next_multiple_of(1 << 16);
        nvnTextureBuilderSetStorage(builder, guest.pool, offset as isize);
        assert_eq!(nvnTextureInitialize(texture, builder), NVN_TRUE);
    }
    set_view(view, level, layer);
    Color { texture, view }
}

fn set_view(view: *mut NVNtextureView, level: i32, layer: i32) {
    // SAFETY: zeroed storage of sufficient size.
    unsafe {
        nvnTextureViewSetDefaults(view);
        nvnTextureViewSetLevels(view, level, 1);
        nvnTextureViewSetLayers(view, layer, 1);
    }
}

/// Clip-space 0.25 in the depth mode that is the default, from -1 to 1.
const QUARTER: f32 = 0.625;

#[test]
fn b215_a_later_submission_inherits_colour_and_depth() {
    let mut scene = Scene::new();
    let (queue, color) = (scene.guest.queue, Color::whole(scene.color()));
    let depth = Color::whole(scene.guest.depth);
    scene.bind_and_overwrite(queue, &[color], Some(depth), SIDE);
    let area = [4, 6, 20, 30];
    scene.draw(queue, area, 0.25);
    // Behind it: the inherited depth holds it back.
    scene.draw(queue, area, 0.5);
    scene.assert_drawn(color, SIDE, &[area], "colour");
    scene.assert_depth(depth, area, QUARTER);
}

#[test]
fn b215_alternating_queues_keep_targets_of_their_own() {
    let mut scene = Scene::new();
    let queues = [scene.guest.queue, queue(scene.guest.device)];
    let colors = [Color::whole(scene.color()), Color::whole(scene.color())];
    for (queue, color) in queues.into_iter().zip(colors) {
        scene.bind_and_overwrite(queue, &[color], None, SIDE);
    }
    let area = |round: i32| [8 * round, 0, 8, SIDE];
    for round in 0..8 {
        scene.draw(queues[round as usize % 2], area(round), 0.0);
        // Targets that are bound again, in reverse and over each other's records.
        if round == 3 {
            let keep = |scene: &Scene, queue, color: Color| {
                // SAFETY: live objects.
                let handle = scene.binds.record(|c| unsafe {
                    nvnCommandBufferSetRenderTargets(c, 1, &color.texture, null(), null(), null());
                });
                complete(&scene.guest, queue, handle);
            };
            keep(&scene, queues[0], colors[1]);
            keep(&scene, queues[1], colors[0]);
            scene.binds.overwrite();
        }
    }
    let areas = |rounds: [i32; 4]| rounds.map(area);
    scene.assert_drawn(colors[0], SIDE, &areas([0, 2, 5, 7]), "the first queue's, then the second's");
    scene.assert_drawn(colors[1], SIDE, &areas([1, 3, 4, 6]), "the second queue's, then the first's");
}

#[test]
fn b215_targets_bound_in_a_called_list_stay_bound() {
    let mut scene = Scene::new();
    let (queue, color) = (scene.guest.queue, Color::whole(scene.color()));
    let depth = Color::whole(scene.guest.depth);
    let inner = Recorder::new(&mut scene.guest);
    let middle = Recorder::new(&mut scene.guest);
    let called = inner.record(|c| scene.bind(c, &[color], Some(depth), SIDE));
    // SAFETY: live objects.
    let call = |c, handle: NVNcommandHandle| unsafe { nvnCommandBufferCallCommands(c, 1, &handle) };
    let nested = middle.record(|c| call(c, called));
    let caller = scene.binds.record(|c| call(c, nested));
    complete(&scene.guest, queue, caller);
    [&inner, &middle, &scene.binds].into_iter().for_each(Recorder::overwrite);
    let area = [40, 3, 9, 50];
    scene.draw(queue, area, 0.25);
    scene.assert_drawn(color, SIDE, &[area], "colour");
    scene.assert_depth(depth, area, QUARTER);
    // The other way round: a called list draws with what its caller's predecessor bound.
    let vertices = scene.guest.vertices(&rectangle(0, 0, 4, 4, 0.0, WHITE));
    let called = inner.record(|c| draw(c, vertices));
    let caller = middle.record(|c| call(c, called));
    complete(&scene.guest, queue, caller);
    scene.assert_drawn(color, SIDE, &[area, [0, 0, 4, 4]], "colour, by a called list");
}

#[test]
fn b215_views_of_a_level_and_a_layer_stay_bound() {
    let mut scene = Scene::new();
    let queue = scene.guest.queue;
    for (level, layer) in [(1, 2), (0, 1), (2, 0)] {
        let color = layered(&mut scene.guest, NVNformat::RGBA8, level, layer);
        let depth = layered(&mut scene.guest, NVNformat::DEPTH32F, level, layer);
        let side = SIDE >> level;
        // Every part is clean before.
        let parts: Vec<_> = (0..3).flat_map(|level| (0..3).map(move |layer| (level, layer))).collect();
        let views: Vec<*mut NVNtextureView> = parts
            .iter()
            .map(|&(level, layer)| {
                let view = object();
                set_view(view, level, layer);
                view
            })
            .collect();
        for (&(level, _), &view) in parts.iter().zip(&views) {
            let part = Color { view, ..color };
            complete(&scene.guest, queue, scene.binds.record(|c| scene.bind(c, &[part], None, SIDE >> level)));
        }
        scene.bind_and_overwrite(queue, &[color], Some(depth), side);
        // The view objects are the guest's again too.
        // SAFETY: storage of that size.
        unsafe {
            color.view.cast_mut().cast::<u8>().write_bytes(0xA5, 40);
            depth.view.cast_mut().cast::<u8>().write_bytes(0xA5, 40);
        }
        // In the viewport of the level: the left half.
        scene.draw(queue, [0, 0, SIDE / 2, SIDE], 0.25);
        scene.draw(queue, [0, 0, SIDE, SIDE], 2.0);
        scene.draw(queue, [0, 0, SIDE / 2, SIDE], 0.5);
        for (&(at, part), &view) in parts.iter().zip(&views) {
            let drawn = (at, part) == (level, layer);
            let areas: &[Area] = if drawn { &[[0, 0, side / 2, side]] } else { &[] };
            let what = format!("level {at}, layer {part}, where {level} and {layer} are bound");
            scene.assert_drawn(Color { view, ..color }, SIDE >> at, areas, &what);
        }
        let view = views[parts.iter().position(|&part| part == (level, layer)).unwrap()];
        let texels = scene.texels(Color { view, ..depth }, side);
        let left = texels.iter().enumerate().filter(|(index, _)| (*index as i32 % side) < side / 2);
        assert!(left.map(|(_, texel)| f32::from_le_bytes(*texel)).all(|depth| depth == QUARTER));
    }
}

#[test]
fn b215_a_depth_target_alone_stays_bound() {
    let mut scene = Scene::new();
    let (queue, depth) = (scene.guest.queue, Color::whole(scene.guest.depth));
    scene.bind_and_overwrite(queue, &[], Some(depth), SIDE);
    let area = [10, 11, 12, 13];
    scene.draw(queue, area, 0.25);
    scene.draw(queue, area, 0.75);
    scene.assert_depth(depth, area, QUARTER);
    assert_eq!(scene.guest.pixels(), vec![[0; 4]; (SIDE * SIDE) as usize], "no colour target is drawn to");
}

#[test]
fn b215_the_eighth_colour_target_stays_bound() {
    let mut scene = Scene::with(&["aux_vs_v0", "fs_mrt8"]);
    let queue = scene.guest.queue;
    let colors: [Color; 8] = std::array::from_fn(|_| Color::whole(scene.color()));
    scene.bind_and_overwrite(queue, &colors, None, SIDE);
    let area = [1, 2, 30, 40];
    scene.draw(queue, area, 0.0);
    // fs_mrt8 of a white varying.
    let last = [0.125f32, 0.25, 0.5, 1.0].map(|part| (part * 255.0 + 0.5) as u8);
    let half = [128; 4];
    let expected = [[255; 4], [255; 4], [255; 4], [255; 4], half, [0; 4], [255; 4], last];
    for (index, (color, expected)) in colors.into_iter().zip(expected).enumerate() {
        let texels = scene.texels(color, SIDE);
        for (at, texel) in texels.iter().enumerate() {
            let (x, y) = (at as i32 % SIDE, at as i32 / SIDE);
            let expected = if inside(area, x, y) { expected } else { GROUND };
            let near = texel.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= 1);
            assert!(near, "target {index} at ({x}, {y}): {texel:?}, not {expected:?}");
        }
    }
}
