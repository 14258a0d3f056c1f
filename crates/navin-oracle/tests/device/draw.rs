//! Graphics programs made by hand, drawn on the Vulkan device.
#![allow(dead_code, reason = "each test binary uses a part")]

use ash::vk;
use navin_corpus::gpu::{Arena, Gpu, ImageInfo};
use navin_corpus::pipeline::{self, Graphics};
use navin_corpus::resources::download;
use navin_oracle::Assembler;
use navin_shader::isa::table::{Field, Form, Op};
use navin_shader::{GuestProgram, Interface, Options, Stage, Translator};

/// Width and height of the targets.
pub const SIDE: usize = 64;

/// A program of a stage under construction: code and header.
#[derive(Clone)]
pub struct Program {
    pub stage: Stage,
    pub code: Assembler,
    pub header: [u32; 20],
}

impl Program {
    pub fn new(stage: Stage) -> Self {
        Self { stage, code: Assembler::new(), header: [0; 20] }
    }

    /// Sets header bit `n`.
    pub fn bit(&mut self, n: u32) -> &mut Self {
        self.header[n as usize / 32] |= 1 << (n % 32);
        self
    }

    fn map(base: u32, address: u32) -> u32 {
        match address {
            0x2C0..=0x2FC => base + 176 + (address - 0x2C0) / 4,
            _ => base + address / 4,
        }
    }

    /// The vector at `address` is an input (of a stage before the fragment's).
    pub fn input(&mut self, address: u32, words: u32) -> &mut Self {
        (0..words).for_each(|n| _ = self.bit(Self::map(160, address + 4 * n)));
        self
    }

    /// It is an output.
    pub fn output(&mut self, address: u32, words: u32) -> &mut Self {
        (0..words).for_each(|n| _ = self.bit(Self::map(400, address + 4 * n)));
        self
    }

    /// Generic vector `n` is a fragment input: 1 flat, 2 perspective, 3 linear.
    pub fn varying(&mut self, n: u32, kind: u32) -> &mut Self {
        self.header[6 + n as usize / 4] |= (kind * 0x55) << (8 * (n % 4));
        self
    }

    pub fn op(&mut self, op: Op, form: Form, fields: &[(Field, u32)]) -> &mut Self {
        self.code.op(op, form, fields);
        self
    }

    pub fn mov(&mut self, dst: u32, word: u32) -> &mut Self {
        self.op(Op::Mov32i, Form::I32, &[(Field::Dst, dst), (Field::Imm32, word)])
    }

    pub fn float(&mut self, dst: u32, value: f32) -> &mut Self {
        self.mov(dst, value.to_bits())
    }

    /// dst = dst x scale + offset.
    pub fn scale(&mut self, dst: u32, scale: f32, offset: f32) -> &mut Self {
        self.op(Op::Fmul32i, Form::I32, &[(Field::Dst, dst), (Field::A, dst), (Field::Imm32, scale.to_bits())]);
        self.op(Op::Fadd32i, Form::I32, &[(Field::Dst, dst), (Field::A, dst), (Field::Imm32, offset.to_bits())])
    }

    /// Loads `words` words at `address`, of vertex `vertex` (a register).
    pub fn load(&mut self, dst: u32, address: u32, words: u32, vertex: u32) -> &mut Self {
        let fields = [(Field::Dst, dst), (Field::A, 255), (Field::Attr11, address), (Field::Size, words - 1)];
        self.op(Op::Ald, Form::A, &[&fields[..], &[(Field::Vtx, vertex)]].concat())
    }

    /// Stores `words` registers from `data` on at `address`.
    pub fn store(&mut self, data: u32, address: u32, words: u32) -> &mut Self {
        let fields = [(Field::Data, data), (Field::A, 255), (Field::Attr11, address), (Field::Size, words - 1)];
        self.op(Op::Ast, Form::A, &[&fields[..], &[(Field::Vtx, 255)]].concat())
    }

    /// The same in patch space.
    pub fn store_patch(&mut self, data: u32, address: u32, words: u32) -> &mut Self {
        let fields = [(Field::Data, data), (Field::A, 255), (Field::Attr11, address), (Field::Size, words - 1)];
        self.op(Op::Ast, Form::A, &[&fields[..], &[(Field::Vtx, 255), (Field::Patch, 1)]].concat())
    }

    /// Stores four constants at `address`.
    pub fn put(&mut self, address: u32, values: [f32; 4]) -> &mut Self {
        (0..4).for_each(|n| _ = self.float(40 + n as u32, values[n]));
        self.store(40, address, 4).output(address, 4)
    }

    /// IPA of a word.
    pub fn interpolate(&mut self, dst: u32, address: u32) -> &mut Self {
        self.op(Op::Ipa, Form::A, &[(Field::Dst, dst), (Field::A, 255), (Field::B, 255), (Field::Attr10, address)])
    }

    pub fn exit(&mut self) -> &mut Self {
        self.op(Op::Exit, Form::J, &[])
    }

    /// Control section and GPU program.
    pub fn container(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut control, mut gpu) = self.code.compute([1, 1, 1], 0, 0);
        let number: u32 = match self.stage {
            Stage::Vertex => 0,
            Stage::Fragment => 1,
            Stage::Geometry => 2,
            Stage::TessControl => 3,
            Stage::TessEvaluation => 4,
            Stage::Compute => 5,
        };
        control[0x714..0x718].copy_from_slice(&number.to_le_bytes());
        control[0x748..0x754].fill(0);
        control[0x734..0x738].copy_from_slice(&1u32.to_le_bytes());
        for (n, w) in self.header.iter().enumerate() {
            gpu[0x30 + 4 * n..0x34 + 4 * n].copy_from_slice(&w.to_le_bytes());
        }
        (control, gpu)
    }

    pub fn translate(&self, options: &Options) -> (Vec<u32>, Interface) {
        let (control, gpu) = self.container();
        let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
        let t = Translator::new().translate(&guest, options).unwrap_or_else(|e| panic!("{}: {e}", self.stage));
        (t.spirv, t.interface)
    }
}

/// A vertex program whose three vertices cover the target.
pub fn covering() -> Program {
    let mut p = Program::new(Stage::Vertex);
    p.load(0, 0x2FC, 1, 255);
    p.op(Op::Lop, Form::I, &[(Field::Dst, 4), (Field::A, 0), (Field::Imm19, 1)]);
    p.op(Op::Shr, Form::I, &[(Field::Dst, 5), (Field::A, 0), (Field::Imm19, 1)]);
    for r in [4, 5] {
        p.op(Op::I2f, Form::R, &[(Field::Dst, r), (Field::B, r), (Field::Dfmt, 2), (Field::Sfmt, 2)]);
        p.scale(r, 4.0, -1.0);
    }
    p.float(6, 0.5).float(7, 1.0);
    p.store(4, 0x70, 4).output(0x70, 4);
    p
}

/// A fragment program that shows generic vector `n` in target 0.
pub fn showing(n: u32) -> Program {
    let mut p = Program::new(Stage::Fragment);
    p.varying(n, 3);
    (0..4).for_each(|c| _ = p.interpolate(c, 0x80 + 16 * n + 4 * c));
    p.header[18] = 0xF;
    p.exit();
    p
}

/// What is drawn of three vertices (or one patch of three): the words of each target's pixels.
pub fn draw(gpu: &Gpu, programs: &[Program], topology: vk::PrimitiveTopology, targets: usize) -> Vec<Vec<[u32; 4]>> {
    draw_with(gpu, programs, &super::options(gpu), topology, targets)
}

/// The same under other options.
pub fn draw_with(
    gpu: &Gpu,
    programs: &[Program],
    options: &Options,
    topology: vk::PrimitiveTopology,
    targets: usize,
) -> Vec<Vec<[u32; 4]>> {
    let arena = Arena::new(gpu);
    let patch = topology == vk::PrimitiveTopology::PATCH_LIST;
    let options = Options { patch_vertices: 3, ..options.clone() };
    let stages: Vec<_> = programs.iter().map(|p| (p.stage, p.translate(&options).0)).collect();
    let layout = arena.pipeline_layout(&[]).expect("a layout");
    let format = vk::Format::R32G32B32A32_SFLOAT;
    let state = Graphics {
        stages: &stages,
        layout,
        topology,
        patch: if patch { 3 } else { 0 },
        attributes: &[],
        targets: &vec![(format, vk::ColorComponentFlags::RGBA); targets],
        depth: None,
        samples: 1,
        sample_mask: u32::MAX,
        sample_shading: false,
        viewports: 1,
        dual_source: false,
    };
    let pipeline = pipeline::graphics(&arena, &state).expect("a pipeline");
    let images: Vec<_> = (0..targets)
        .map(|_| {
            let info = ImageInfo {
                ty: vk::ImageType::TYPE_2D,
                format,
                extent: [SIDE as u32, SIDE as u32, 1],
                levels: 1,
                layers: 1,
                samples: 1,
                usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
                flags: vk::ImageCreateFlags::empty(),
            };
            arena.image(&info).expect("a target")
        })
        .collect();
    let colours: Vec<_> = images
        .iter()
        .map(|image| {
            vk::RenderingAttachmentInfo::default()
                .image_view(arena.view(image, vk::ImageViewType::TYPE_2D, format).expect("a view"))
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .clear_value(vk::ClearValue { color: vk::ClearColorValue { float32: [-1.0; 4] } })
        })
        .collect();
    let extent = vk::Extent2D { width: SIDE as u32, height: SIDE as u32 };
    let rendering = vk::RenderingInfo::default().render_area(extent.into()).layer_count(1).color_attachments(&colours);
    let device = &gpu.device;
    gpu.submit(|command| {
        gpu.barrier(command);
        // SAFETY: recording; pipeline and targets are alive until the submission has ended.
        unsafe {
            device.cmd_begin_rendering(command, &rendering);
            device.cmd_bind_pipeline(command, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(command, 3, 1, 0, 0);
            device.cmd_end_rendering(command);
        }
        gpu.barrier(command);
    })
    .expect("a draw");
    images
        .iter()
        .map(|image| {
            let words = download(&arena, image, 16).expect("pixels");
            words.chunks_exact(4).map(|w| [w[0], w[1], w[2], w[3]]).collect()
        })
        .collect()
}
