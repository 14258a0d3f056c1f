//! Shader objects: a stage's SPIR-V compiled alone, when its program is loaded.
//!
//! `VK_EXT_shader_object` lets stages be bound apart, as NVN binds them, so that no combination of stages exists to
//! compile and no draw waits for a compiler (invariant 5). All objects are made unlinked against the one pipeline
//! layout. The layers above give, beside the SPIR-V, which bindings of the stage set the shader uses; from that
//! comes the update template that writes exactly those when constants change.

use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;

use crate::context::Context;
use crate::gpu::Gpu;
use crate::layout::{CONSTANT_BANKS, Layouts};
use crate::retire::Garbage;

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[repr(u8)]
pub enum Stage {
    /// Vertex.
    Vertex = 0,
    /// Tessellation control.
    TessControl = 1,
    /// Tessellation evaluation.
    TessEvaluation = 2,
    /// Geometry.
    Geometry = 3,
    /// Fragment.
    Fragment = 4,
    /// Compute; shares set 1 with vertex.
    Compute = 5,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Stage; 6] =
        [Stage::Vertex, Stage::TessControl, Stage::TessEvaluation, Stage::Geometry, Stage::Fragment, Stage::Compute];

    /// The stages of a draw.
    pub const GRAPHICS: [Stage; 5] =
        [Stage::Vertex, Stage::TessControl, Stage::TessEvaluation, Stage::Geometry, Stage::Fragment];

    /// Number of its descriptor set (1 to 5).
    pub fn set(self) -> u32 {
        match self {
            Stage::Compute => 1,
            other => 1 + other as u32,
        }
    }

    /// Vulkan's flag.
    pub fn flag(self) -> vk::ShaderStageFlags {
        match self {
            Stage::Vertex => vk::ShaderStageFlags::VERTEX,
            Stage::TessControl => vk::ShaderStageFlags::TESSELLATION_CONTROL,
            Stage::TessEvaluation => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
            Stage::Geometry => vk::ShaderStageFlags::GEOMETRY,
            Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
            Stage::Compute => vk::ShaderStageFlags::COMPUTE,
        }
    }
}

/// Numeric class of a vertex input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputClass {
    /// Float, normalised and scaled formats.
    Float,
    /// Signed integers.
    Sint,
    /// Unsigned integers.
    Uint,
}

/// Which bindings of its stage set a shader statically uses: exactly these are written when it is bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Constant banks: bit b is binding b (0..=17).
    pub constant_banks: u32,
    /// Storage-buffer slots: bit n is binding 18 + n.
    pub storage_slots: u16,
    /// Vertex shaders: locations that are read, with the class of the shader's input.
    pub vertex_inputs: SmallVec<[(u8, InputClass); 16]>,
}

impl Interface {
    /// Bit b: binding b of the stage set.
    pub(crate) fn mask(&self) -> u64 {
        let banks = u64::from(self.constant_banks) & ((1 << CONSTANT_BANKS) - 1);
        banks | u64::from(self.storage_slots) << CONSTANT_BANKS
    }
}

/// What a shader is made from.
pub struct ShaderDesc<'a> {
    /// Stage.
    pub stage: Stage,
    /// SPIR-V words; the entry point is `main`.
    pub spirv: &'a [u32],
    /// Stages that may follow it in a draw; see [`ShaderDesc::any_next`]. Stages that cannot follow, or that the
    /// device lacks, are left out.
    pub next_stages: vk::ShaderStageFlags,
    /// What it uses.
    pub interface: Interface,
    /// Debug name.
    pub label: &'a str,
}

impl ShaderDesc<'_> {
    /// All stages that can follow `stage`: right for stages that are bound apart, as NVN's are.
    pub fn any_next(stage: Stage) -> vk::ShaderStageFlags {
        use vk::ShaderStageFlags as S;
        match stage {
            Stage::Vertex => S::TESSELLATION_CONTROL | S::GEOMETRY | S::FRAGMENT,
            Stage::TessControl => S::TESSELLATION_EVALUATION,
            Stage::TessEvaluation => S::GEOMETRY | S::FRAGMENT,
            Stage::Geometry => S::FRAGMENT,
            Stage::Fragment | Stage::Compute => S::empty(),
        }
    }
}

/// Why a shader could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// No SPIR-V.
    #[error("not SPIR-V: {0}")]
    NotSpirv(&'static str),
    /// The device has no such stage.
    #[error("the device has no {0:?} stage")]
    StageUnsupported(Stage),
    /// The driver refused.
    #[error("the driver refused the shader: {0}")]
    Refused(vk::Result),
}

/// A shader object. Dropping it at any time is safe.
pub struct Shader {
    gpu: Arc<Gpu>,
    raw: vk::ShaderEXT,
    stage: Stage,
    interface: Interface,
    mask: u64,
    template: vk::DescriptorUpdateTemplate,
}

impl Shader {
    /// Makes a shader object; the driver compiles it here, never at a draw. May be called from any thread, several
    /// at once.
    ///
    /// # Errors
    /// Words that are no SPIR-V module, a stage that the device lacks, a refusal of the driver. The module's
    /// validity is the caller's: drivers do not check it.
    pub fn new(context: &Arc<Context>, desc: &ShaderDesc<'_>) -> Result<Arc<Shader>, ShaderError> {
        Self::with_gpu(&context.gpu, &context.layouts, desc)
    }

    pub(crate) fn with_gpu(
        gpu: &Arc<Gpu>,
        layouts: &Layouts,
        desc: &ShaderDesc<'_>,
    ) -> Result<Arc<Shader>, ShaderError> {
        const MAGIC: u32 = 0x0723_0203;
        if desc.spirv.len() < 5 {
            return Err(ShaderError::NotSpirv("shorter than a header"));
        }
        if desc.spirv[0] != MAGIC {
            return Err(ShaderError::NotSpirv("no magic number"));
        }
        let present = match desc.stage {
            Stage::TessControl | Stage::TessEvaluation => gpu.features.tessellation,
            Stage::Geometry => gpu.features.geometry,
            _ => true,
        };
        if !present {
            return Err(ShaderError::StageUnsupported(desc.stage));
        }
        let mut next = desc.next_stages & ShaderDesc::any_next(desc.stage);
        if !gpu.features.tessellation {
            next &= !(vk::ShaderStageFlags::TESSELLATION_CONTROL | vk::ShaderStageFlags::TESSELLATION_EVALUATION);
        }
        if !gpu.features.geometry {
            next &= !vk::ShaderStageFlags::GEOMETRY;
        }
        // SAFETY: the words are read as bytes for the length of the slice.
        let code = unsafe { std::slice::from_raw_parts(desc.spirv.as_ptr().cast::<u8>(), size_of_val(desc.spirv)) };
        let info = vk::ShaderCreateInfoEXT::default()
            .stage(desc.stage.flag())
            .next_stage(next)
            .code_type(vk::ShaderCodeTypeEXT::SPIRV)
            .code(code)
            .name(c"main")
            .set_layouts(&layouts.sets);
        // SAFETY: a SPIR-V module of the caller's making; the layouts are alive.
        let made = unsafe { gpu.shader_object.create_shaders(std::slice::from_ref(&info), None) };
        let raw = match made {
            Ok(shaders) => shaders.first().copied().unwrap_or_default(),
            Err((_, error)) => return Err(ShaderError::Refused(error)),
        };
        if raw == vk::ShaderEXT::null() {
            return Err(ShaderError::Refused(vk::Result::ERROR_UNKNOWN));
        }
        let mask = desc.interface.mask();
        // From here on dropping `shader` destroys the object.
        let mut shader = Self {
            gpu: gpu.clone(),
            raw,
            stage: desc.stage,
            interface: desc.interface.clone(),
            mask,
            template: vk::DescriptorUpdateTemplate::null(),
        };
        if mask != 0 {
            shader.template = layouts.template(desc.stage, mask).map_err(ShaderError::Refused)?;
        }
        gpu.name(raw, desc.label);
        Ok(Arc::new(shader))
    }

    /// The handle.
    pub fn raw(&self) -> vk::ShaderEXT {
        self.raw
    }

    /// Its stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// What it uses.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Bit b: it uses binding b of its stage set.
    pub(crate) fn mask(&self) -> u64 {
        self.mask
    }

    /// Writes the bindings of the mask; null for none.
    pub(crate) fn template(&self) -> vk::DescriptorUpdateTemplate {
        self.template
    }
}

impl Drop for Shader {
    fn drop(&mut self) {
        self.gpu.retire.push(Garbage::Shader(self.raw));
    }
}
