//! What a translated program needs of the device ([`Requirements`]) against what the device has.
//!
//! The translator is told the device's optional features, but some things a program cannot do without: it is named with
//! them before its module goes to Vulkan, where it would not be valid.

use ash::vk;
use navin_shader::Requirements;
use navin_vulkan::{Features, Limits, Stage};

/// Operations between lanes, which drivers have in more stages than they list: worth a try.
pub(super) const LANES: Requirements = Requirements::SUBGROUP_BASIC
    .union(Requirements::SUBGROUP_QUAD)
    .union(Requirements::SUBGROUP_VOTE)
    .union(Requirements::SUBGROUP_BALLOT)
    .union(Requirements::SUBGROUP_SHUFFLE);

/// What of `needed` a device lacks, for a program of `stage`. What Navin requires of every device is not asked for.
pub(super) fn missing(needed: Requirements, stage: Stage, features: &Features, limits: &Limits) -> Requirements {
    use Requirements as R;
    let floats = limits.float_controls;
    let in_stage = vk::ShaderStageFlags::from_raw(limits.subgroup_stages).contains(stage.flag());
    let operations = vk::SubgroupFeatureFlags::from_raw(limits.subgroup_operations);
    let lanes = |operation| in_stage && operations.contains(operation);
    let has = [
        (R::FLOAT64, features.float64),
        (R::INT64, features.int64),
        (R::ATOMIC_INT64, features.int64_atomics),
        (R::TEXTURE_INDEXING | R::IMAGE_INDEXING | R::TEXEL_BUFFER_INDEXING, features.descriptor_indexing),
        (R::CLIP_DISTANCE, features.clip_distance),
        (R::OUTPUT_LAYER | R::OUTPUT_VIEWPORT, features.vertex_layer),
        (R::MULTI_VIEWPORT, features.multi_viewport),
        (R::SAMPLE_SHADING, features.sample_shading),
        (R::GATHER_EXTENDED, features.gather_extended),
        (R::GEOMETRY, features.geometry),
        (R::TESSELLATION, features.tessellation),
        (R::CUBE_ARRAY, features.cube_array),
        (R::IMAGE_MULTISAMPLE, features.storage_multisample),
        (R::POINT_SIZE, features.tessellation_point_size),
        (R::FLUSH_DENORMS, floats.flush_denorms32),
        (R::PRESERVE_DENORMS, floats.preserve_denorms32),
        (R::PRESERVE_NAN, floats.preserve_nan32),
        (R::PRESERVE_NAN64, floats.preserve_nan64),
        (R::SUBGROUP_BASIC, lanes(vk::SubgroupFeatureFlags::BASIC)),
        (R::SUBGROUP_QUAD, lanes(vk::SubgroupFeatureFlags::QUAD)),
        (R::SUBGROUP_VOTE, lanes(vk::SubgroupFeatureFlags::VOTE)),
        (R::SUBGROUP_BALLOT, lanes(vk::SubgroupFeatureFlags::BALLOT)),
        (R::SUBGROUP_SHUFFLE, lanes(vk::SubgroupFeatureFlags::SHUFFLE)),
    ];
    has.into_iter().filter(|(_, has)| !has).fold(R::empty(), |lacks, (what, _)| lacks | what) & needed
}

/// The names of requirements, for a message.
pub(super) fn names(requirements: Requirements) -> String {
    let names: Vec<String> = requirements.iter_names().map(|(name, _)| name.to_lowercase()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_lacks_is_named_and_nothing_else() {
        use Requirements as R;
        let (mut features, mut limits) = (Features::default(), Limits::default());
        let needed = R::FLOAT64 | R::GEOMETRY | R::SUBGROUP_VOTE | R::DEVICE_ADDRESS;
        let lacks = missing(needed, Stage::Fragment, &features, &limits);
        assert_eq!(lacks, R::FLOAT64 | R::GEOMETRY | R::SUBGROUP_VOTE);
        assert_eq!(names(lacks), "float64, geometry, subgroup_vote");
        features.float64 = true;
        features.geometry = true;
        limits.subgroup_operations = vk::SubgroupFeatureFlags::VOTE.as_raw();
        limits.subgroup_stages = vk::ShaderStageFlags::COMPUTE.as_raw();
        assert_eq!(missing(needed, Stage::Fragment, &features, &limits), R::SUBGROUP_VOTE);
        assert_eq!(missing(needed, Stage::Compute, &features, &limits), R::empty());
    }
}
