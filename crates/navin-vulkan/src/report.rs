//! What `navin doctor` prints: the device, what was found, and what is emulated or missing because of it.

use ash::vk;

use crate::context::{Context, Limits, Validation, version_text};
use crate::features::Features;
use crate::gpu::PoolCounts;
use crate::import::ImportChoice;
use crate::import::probe::{ImportProbe, ProtectionProbe};

/// The opened device, in words.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Name.
    pub device: String,
    /// discrete, integrated, virtual, cpu or other.
    pub kind: &'static str,
    /// Vulkan version of the device.
    pub vulkan: String,
    /// Driver's name.
    pub driver: String,
    /// Driver's version, in its own words.
    pub driver_info: String,
    /// PCI vendor.
    pub vendor_id: u32,
    /// PCI device.
    pub device_id: u32,
    /// Validation layer.
    pub validation: Validation,
    /// Whether objects are named and passes labelled.
    pub labels: bool,
    /// Optional abilities.
    pub features: Features,
    /// Limits.
    pub limits: Limits,
    /// Memory heaps.
    pub heaps: Vec<Heap>,
    /// How pools that the CPU sees are imported.
    pub import: ImportChoice,
    /// Which ways of import work.
    pub import_probe: ImportProbe,
    /// What write protection does to imports, where that was probed ([`Report::with_protection`]).
    pub protection_probe: Option<ProtectionProbe>,
    /// Whether pools without CPU access are made in device-local memory.
    pub device_local_pools: bool,
    /// Most allocations, imports included, that the device takes.
    pub max_allocations: u32,
    /// Pools now.
    pub pools: PoolCounts,
    /// Bytes of device memory that Navin's allocator holds now.
    pub allocated: u64,
    /// What the device lacks and what Navin does about it.
    pub gaps: Vec<Gap>,
}

/// A memory heap.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Heap {
    /// Bytes.
    pub size: u64,
    /// Whether it is the device's own memory.
    pub device_local: bool,
}

/// Something that the device lacks.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Gap {
    /// What is lacking.
    pub lacking: &'static str,
    /// What happens instead.
    pub instead: &'static str,
}

impl Report {
    pub(crate) fn new(context: &Context) -> Self {
        let identity = &context.identity;
        let memory = &context.gpu.memory;
        let heaps = memory.memory_heaps.iter().take(memory.memory_heap_count as usize);
        Self {
            device: identity.name.clone(),
            kind: match identity.kind {
                vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
                vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
                vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
                vk::PhysicalDeviceType::CPU => "cpu",
                _ => "other",
            },
            vulkan: version_text(identity.api),
            driver: identity.driver.clone(),
            driver_info: identity.driver_info.clone(),
            vendor_id: identity.vendor,
            device_id: identity.id,
            validation: context.validation,
            labels: context.gpu.debug.is_some(),
            features: context.gpu.features,
            limits: context.gpu.limits,
            heaps: heaps
                .map(|heap| Heap {
                    size: heap.size,
                    device_local: heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL),
                })
                .collect(),
            import: context.import,
            import_probe: context.probe.clone(),
            protection_probe: None,
            device_local_pools: context.device_local_pools(),
            max_allocations: context.gpu.device_limits.max_memory_allocation_count,
            pools: context.pool_counts(),
            allocated: context.gpu.allocated_capacity(),
            gaps: gaps(&context.gpu.features, &context.gpu.limits),
        }
    }

    /// Adds what [`Context::probe_protection`] found.
    #[must_use]
    pub fn with_protection(self, probe: ProtectionProbe) -> Self {
        Self { protection_probe: Some(probe), ..self }
    }
}

/// The gaps that follow from features and limits.
pub(crate) fn gaps(features: &Features, limits: &Limits) -> Vec<Gap> {
    let all = [
        (features.host_import, "import of host memory", "pools are mirrored: what guest and GPU write is copied"),
        (features.bc, "BC1 to BC7 textures", "they are refused"),
        (features.astc, "ASTC textures", "they are decoded to RGBA8 by the CPU"),
        (features.custom_border_color, "custom border colours", "the nearest of three colours"),
        (features.depth_clip_control, "clip space -w..w", "depth mode NEAR_IS_MINUS_W draws with wrong depth"),
        (features.depth_clip_enable, "depth clipping apart from clamping", "clamping turns clipping off"),
        (features.depth_bounds, "depth bounds test", "the test always passes"),
        (features.depth_range_unrestricted, "viewport depth outside 0..1", "depth ranges are clamped"),
        (features.provoking_vertex, "provoking vertex choice", "the first vertex gives flat varyings"),
        (features.index_uint8, "8-bit indices", "they are refused"),
        (features.list_restart, "primitive restart in lists", "the restart index is drawn as an index"),
        (features.view_2d_of_3d, "2D views of 3D images in shaders", "they read 0"),
        (features.conditional_rendering, "conditional rendering", "a condition waits for the work before it"),
        (features.pipeline_statistics, "pipeline statistics", "counters but samples passed stay 0"),
        (features.advanced_blend, "advanced blending", "only modes that plain equations can say"),
        (features.non_seamless_cube, "non-seamless cube maps", "edges are filtered across faces"),
        (features.lines_bresenham, "Bresenham lines", "the device's own lines"),
        (features.lines_smooth, "smooth lines", "the device's own lines"),
        (features.wide_lines, "wide lines", "lines are one pixel wide"),
        (features.polygon_modes, "polygon modes line and point", "polygons are filled"),
        (features.logic_op, "logic operations", "they are left out"),
        (features.alpha_to_one, "alpha to one", "it is left out"),
        (features.geometry, "geometry shaders", "such draws are left out"),
        (features.tessellation, "tessellation shaders", "such draws are left out"),
        (features.vertex_layer, "layer and viewport from vertex shaders", "layer 0, viewport 0"),
        (features.sampler_minmax, "minimum and maximum samplers", "they average"),
        (features.stencil_export, "stencil values from shaders", "the reference value"),
        (features.draw_indirect_count, "draw counts in buffers", "the maximum is drawn"),
        (features.sparse, "sparse images", "virtual textures are backed in full"),
        (limits.subgroup_size == 32, "32-lane subgroups", "warp operations go through shared memory"),
        (limits.max_uniform_range >= 65_536, "64 KB uniform buffers", "longer ones are cut"),
    ];
    all.into_iter().filter(|(present, ..)| !present).map(|(_, lacking, instead)| Gap { lacking, instead }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_with_nothing_has_every_gap_and_each_is_named_once() {
        let gaps = gaps(&Features::default(), &Limits::default());
        let mut names: Vec<_> = gaps.iter().map(|gap| gap.lacking).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(count, 31);
    }
}
