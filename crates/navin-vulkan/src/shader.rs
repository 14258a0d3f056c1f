//! Shader objects.
use crate::context::Context;
use ash::vk;
use smallvec::SmallVec;
use std::sync::Arc;

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

/// What a shader is made from.
pub struct ShaderDesc<'a> {
    /// Stage.
    pub stage: Stage,
    /// SPIR-V words; the entry point is `main`.
    pub spirv: &'a [u32],
    /// Stages that may follow it in a draw; see [`ShaderDesc::any_next`].
    pub next_stages: vk::ShaderStageFlags,
    /// What it uses.
    pub interface: Interface,
    /// Debug name.
    pub label: &'a str,
}

impl ShaderDesc<'_> {
    /// All stages that can follow `stage`: right for stages that are bound apart, as NVN's are.
    pub fn any_next(stage: Stage) -> vk::ShaderStageFlags {
        let _ = stage;
        unimplemented!()
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
pub struct Shader {}

impl Shader {
    /// Makes a shader object; the driver compiles it here, never at a draw.
    pub fn new(context: &Arc<Context>, desc: &ShaderDesc<'_>) -> Result<Arc<Shader>, ShaderError> {
        let _ = (context, desc);
        unimplemented!()
    }
    /// The handle.
    pub fn raw(&self) -> vk::ShaderEXT {
        unimplemented!()
    }
    /// Its stage.
    pub fn stage(&self) -> Stage {
        unimplemented!()
    }
    /// What it uses.
    pub fn interface(&self) -> &Interface {
        unimplemented!()
    }
}
