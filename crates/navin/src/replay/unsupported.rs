//! Commands that do nothing here: each is named once, with why, when it would change what the guest sees.

use navin_abi::fault;
use navin_command::record::Record;

/// Names `record` once, if it `matters`.
pub(super) fn without_effect(matters: bool, record: &Record<'_>) {
    if matters {
        let key = record.name().bytes().fold(0u64, |key, b| key.wrapping_mul(31).wrapping_add(u64::from(b)));
        fault!(key = key, "", "nvnCommandBuffer{} has no effect: {}", record.name(), why(record));
    }
}

fn why(record: &Record<'_>) -> &'static str {
    match record {
        Record::BindTransformFeedbackBuffers(..)
        | Record::BeginTransformFeedback(_)
        | Record::EndTransformFeedback(_)
        | Record::PauseTransformFeedback(_)
        | Record::ResumeTransformFeedback(_)
        | Record::DrawTransformFeedback(..) => {
            "no known part of a program's control section says what it captures, so nothing is captured, and nothing \
             drawn of it"
        }
        Record::BindSeparateTextures(..) | Record::BindSeparateSamplers(..) => {
            "it is not known where programs look for separate handles; they find none there"
        }
        Record::SetProgramSubroutines(..) => "it is not known where programs look for subroutine indices",
        Record::SetInnerTessellationLevels(_) | Record::SetOuterTessellationLevels(_) => {
            "Vulkan has no levels of its own; patches without a tessellation control program are not drawn"
        }
        Record::SetViewportSwizzles(..) => "core Vulkan swizzles no viewports; coordinates stay as they are",
        Record::SetConservativeRasterEnable(_) | Record::SetConservativeRasterDilate(_) => {
            "core Vulkan rasterizes by sample positions only"
        }
        Record::SetSubpixelPrecisionBias(_) => "Vulkan's subpixel precision is the device's",
        Record::BindCoverageModulationTable(_) => "Vulkan has no coverage modulation",
        _ => "it is not replayed",
    }
}
