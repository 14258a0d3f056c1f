//! The encoder's own dispatches, between the caller's: compute shaders of `shaders/`, fed by one constant bank.

use std::sync::Arc;

use super::Encoder;
use crate::gpu::Gpu;
use crate::layout::Layouts;
use crate::shader::{Interface, Shader, ShaderDesc, ShaderError, Stage};
use ash::vk;

/// Compute shaders for counters, render conditions and event signals; made at their first use.
pub(crate) struct CounterKit {
    pub(super) fold: Arc<Shader>,
    pub(super) condition: Arc<Shader>,
    pub(super) signal: Arc<Shader>,
}

impl CounterKit {
    fn new(gpu: &Arc<Gpu>, layouts: &Layouts) -> Result<Self, ShaderError> {
        Ok(Self {
            fold: own_shader(gpu, layouts, include_bytes!("../../shaders/fold.comp.spv"), "counters")?,
            condition: own_shader(
                gpu,
                layouts,
                include_bytes!("../../shaders/condition.comp.spv"),
                "render condition",
            )?,
            signal: own_shader(gpu, layouts, include_bytes!("../../shaders/signal.comp.spv"), "event signals")?,
        })
    }
}

/// One of our own compute shaders, which have one constant bank.
pub(crate) fn own_shader(
    gpu: &Arc<Gpu>,
    layouts: &Layouts,
    bytes: &[u8],
    label: &str,
) -> Result<Arc<Shader>, ShaderError> {
    let spirv: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let interface = Interface { constant_banks: 1, ..Interface::default() };
    let next_stages = vk::ShaderStageFlags::empty();
    let desc = ShaderDesc { stage: Stage::Compute, spirv: &spirv, next_stages, interface, label };
    Shader::with_gpu(gpu, layouts, &desc)
}

impl Encoder {
    pub(super) fn counter_kit(&mut self) -> Option<Arc<CounterKit>> {
        let mut kit = self.shared.counter_kit.lock();
        if kit.is_none() {
            match CounterKit::new(&self.gpu, &self.shared.layouts) {
                Ok(made) => *kit = Some(Arc::new(made)),
                Err(error) => {
                    navin_abi::fault!(
                        "",
                        "no shaders for counters, render conditions and event signals, which the GPU leaves out: {error}"
                    );
                }
            }
        }
        kit.clone()
    }

    /// Runs one of our own shaders in so many groups across and down, with `constants` as its bank 0, whatever
    /// condition is in force, and wants the caller's compute state again. False when there was no memory for it; the submission fails then.
    pub(crate) fn own_dispatch(&mut self, shader: &Arc<Shader>, constants: &[u32], groups: (u32, u32)) -> bool {
        let bytes: Vec<u8> = constants.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let range = match self.upload(&bytes, self.gpu.limits.uniform_offset_alignment) {
            Ok(slice) => slice.range,
            Err(error) => {
                tracing::error!("a dispatch of our own: {error}");
                self.fail(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
                return false;
            }
        };
        let condition = self.condition;
        self.set_condition(None);
        let before = (self.compute.clone(), self.bindings[Stage::Compute as usize].ranges[0]);
        self.set_shader(Stage::Compute, Some(shader));
        self.set_constants(Stage::Compute, 0, range);
        let done = self.dispatch(groups.0, groups.1, 1).is_ok();
        self.set_constants(Stage::Compute, 0, before.1);
        self.set_shader(Stage::Compute, before.0.as_ref());
        self.set_condition(condition);
        done
    }
}
