//! A rectangle of a texture drawn onto a rectangle of the target, with the caller's targets, scissor, blending,
//! depth and stencil, and the encoder's own shaders. The texture is read through the tables, as any other.

use std::sync::Arc;

use ash::vk;

use super::{DrawError, Encoder, InputAssembly, Rasterization, Viewport};
use crate::gpu::Gpu;
use crate::layout::Layouts;
use crate::shader::{Interface, Shader, ShaderDesc, ShaderError, Stage};

/// The shaders; made at the first such draw.
pub(crate) struct DrawTextureKit {
    vertex: Arc<Shader>,
    fragment: Arc<Shader>,
}

impl DrawTextureKit {
    fn new(gpu: &Arc<Gpu>, layouts: &Layouts) -> Result<Self, ShaderError> {
        let make = |stage, bytes: &[u8], constant_banks, label| {
            let spirv: Vec<u32> =
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
            let interface = Interface { constant_banks, ..Interface::default() };
            let next_stages = ShaderDesc::any_next(stage) & vk::ShaderStageFlags::FRAGMENT;
            Shader::with_gpu(gpu, layouts, &ShaderDesc { stage, spirv: &spirv, next_stages, interface, label })
        };
        Ok(Self {
            vertex: make(
                Stage::Vertex,
                include_bytes!("../../shaders/draw_texture.vert.spv"),
                1,
                "draw texture, vertex",
            )?,
            fragment: make(
                Stage::Fragment,
                include_bytes!("../../shaders/draw_texture.frag.spv"),
                0,
                "draw texture, fragment",
            )?,
        })
    }
}

/// Two corners of a rectangle: left, low, right, high; a mirrored one has them the other way round.
pub type Corners = [f32; 4];

impl Encoder {
    /// Draws the part `from` (texture coordinates, 0..1 over level 0) of the 2D texture that `handle` names onto the
    /// part `to` of the targets, in pixels from the first row in memory, at depth 0. Stages that are bound are not
    /// used.
    ///
    /// # Errors
    /// Why the draw was left out.
    pub fn draw_texture(&mut self, handle: u32, to: Corners, from: Corners) -> Result<(), DrawError> {
        let Some(kit) = self.draw_texture_kit() else { return Err(DrawError::NoShader) };
        let area = self.scope.area;
        let size = [area.width as f32, area.height as f32];
        let clip = |pixel: f32, axis: usize| 2.0 * pixel / size[axis & 1] - 1.0;
        let to = [clip(to[0], 0), clip(to[1], 1), clip(to[2], 0), clip(to[3], 1)];
        let mut bytes: Vec<u8> = to.iter().chain(&from).flat_map(|number| number.to_ne_bytes()).collect();
        bytes.extend(handle.to_ne_bytes());
        bytes.resize(48, 0);
        let constants = match self.upload(&bytes, self.gpu.limits.uniform_offset_alignment) {
            Ok(slice) => slice.range,
            Err(error) => {
                tracing::error!("drawing a texture: {error}");
                self.fail(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
                return Err(DrawError::NoShader);
            }
        };
        let mut state = self.want.clone();
        state.viewports[0] = Viewport { width: size[0], height: size[1], ..Viewport::default() };
        state.viewport_count = 1;
        state.assembly = InputAssembly { topology: vk::PrimitiveTopology::TRIANGLE_STRIP, ..InputAssembly::default() };
        state.raster = Rasterization::default();
        state.index = None;
        state.shaders = [const { None }; 5];
        state.shaders[Stage::Vertex as usize] = Some(kit.vertex.clone());
        state.shaders[Stage::Fragment as usize] = Some(kit.fragment.clone());
        let bank = self.bindings[Stage::Vertex as usize].ranges[0];
        let state = self.swap_state(state);
        self.set_constants(Stage::Vertex, 0, constants);
        let result = self.draw(0, 4, 0, 1);
        self.set_constants(Stage::Vertex, 0, bank);
        self.swap_state(state);
        result
    }

    fn draw_texture_kit(&mut self) -> Option<Arc<DrawTextureKit>> {
        let mut kit = self.shared.draw_texture_kit.lock();
        if kit.is_none() {
            match DrawTextureKit::new(&self.gpu, &self.shared.layouts) {
                Ok(made) => *kit = Some(Arc::new(made)),
                Err(error) => {
                    navin_abi::fault!("", "no shaders for drawing textures, which is left out: {error}");
                }
            }
        }
        kit.clone()
    }
}
