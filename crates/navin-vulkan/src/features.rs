//! What a device must have, may have and has: extensions and features, from the query to the device's creation.
//!
//! [`Available::query`] asks a physical device; [`Available::missing`] names what Navin cannot do without, in
//! words for the error message; [`Available::enable`] keeps what Navin uses, for `vkCreateDevice`; and
//! [`Features`] is the result as plain bools for the rest of Navin and for `navin doctor`. Only what is used is
//! switched on: with shader objects each enabled feature that brings a piece of dynamic state makes setting that
//! state an obligation of every draw.

use std::ffi::CStr;

use ash::{ext, khr, vk};
use rustc_hash::FxHashSet;

/// Optional device abilities, as found and enabled. Those that Navin requires are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Features {
    /// Host memory can be imported (`VK_EXT_external_memory_host`).
    pub host_import: bool,
    /// Dma-bufs can be imported (`VK_EXT_external_memory_dma_buf`).
    pub dma_buf: bool,
    /// Clip space may be z in -w..w (`VK_EXT_depth_clip_control`).
    pub depth_clip_control: bool,
    /// Depth clipping is apart from depth clamping (`VK_EXT_depth_clip_enable`).
    pub depth_clip_enable: bool,
    /// Border colours are free (`VK_EXT_custom_border_color`, without format).
    pub custom_border_color: bool,
    /// The last vertex can be the provoking one (`VK_EXT_provoking_vertex`).
    pub provoking_vertex: bool,
    /// 8-bit indices (`VK_EXT_index_type_uint8`).
    pub index_uint8: bool,
    /// The 4-4-4-4 formats with alpha in the high bits (`VK_EXT_4444_formats`).
    pub formats_4444: bool,
    /// Primitive restart in list topologies (`VK_EXT_primitive_topology_list_restart`).
    pub list_restart: bool,
    /// Primitive restart in patches.
    pub patch_restart: bool,
    /// 2D views of 3D images, storage and sampled (`VK_EXT_image_2d_view_of_3d`).
    pub view_2d_of_3d: bool,
    /// `VK_EXT_conditional_rendering`.
    pub conditional_rendering: bool,
    /// `VK_EXT_blend_operation_advanced`, coherent.
    pub advanced_blend: bool,
    /// The CPU reads the device's clock (`VK_EXT_calibrated_timestamps`).
    pub calibrated_timestamps: bool,
    /// Cube maps filtered within a face (`VK_EXT_non_seamless_cube_map`).
    pub non_seamless_cube: bool,
    /// `VK_EXT_line_rasterization`, rectangular lines.
    pub lines_rectangular: bool,
    /// `VK_EXT_line_rasterization`, Bresenham lines.
    pub lines_bresenham: bool,
    /// `VK_EXT_line_rasterization`, smooth lines.
    pub lines_smooth: bool,
    /// Viewport depth outside 0..1 (`VK_EXT_depth_range_unrestricted`).
    pub depth_range_unrestricted: bool,
    /// Vertex attributes advance every n instances.
    pub vertex_divisor: bool,
    /// Vertex attributes that never advance.
    pub vertex_divisor_zero: bool,
    /// Fragment shaders write the stencil value (`VK_EXT_shader_stencil_export`).
    pub stencil_export: bool,
    /// Geometry shaders.
    pub geometry: bool,
    /// Tessellation shaders.
    pub tessellation: bool,
    /// More than one viewport.
    pub multi_viewport: bool,
    /// Layer and viewport index from vertex and tessellation shaders.
    pub vertex_layer: bool,
    /// Depth bounds test.
    pub depth_bounds: bool,
    /// Depth clamp.
    pub depth_clamp: bool,
    /// Depth bias with a clamp.
    pub depth_bias_clamp: bool,
    /// Polygon modes line and point.
    pub polygon_modes: bool,
    /// Lines wider than a pixel.
    pub wide_lines: bool,
    /// Points larger than a pixel.
    pub large_points: bool,
    /// Logic operations.
    pub logic_op: bool,
    /// Two colours to one blend.
    pub dual_source_blend: bool,
    /// Blending that differs between attachments.
    pub independent_blend: bool,
    /// Alpha to one.
    pub alpha_to_one: bool,
    /// Fragment shaders by sample.
    pub sample_shading: bool,
    /// Anisotropic filtering.
    pub anisotropy: bool,
    /// Samplers that take the minimum or maximum.
    pub sampler_minmax: bool,
    /// Cube arrays.
    pub cube_array: bool,
    /// BC1 to BC7.
    pub bc: bool,
    /// ETC2 and EAC.
    pub etc2: bool,
    /// ASTC, low dynamic range.
    pub astc: bool,
    /// Storage images of multisampled textures.
    pub storage_multisample: bool,
    /// Draws with more than one parameter record.
    pub multi_draw_indirect: bool,
    /// Draws with their number in a buffer.
    pub draw_indirect_count: bool,
    /// First instance in indirect parameters.
    pub indirect_first_instance: bool,
    /// Exact occlusion counts.
    pub precise_occlusion: bool,
    /// Pipeline statistics queries.
    pub pipeline_statistics: bool,
    /// 64-bit integers in shaders.
    pub int64: bool,
    /// 16-bit integers in shaders.
    pub int16: bool,
    /// 8-bit integers in shaders.
    pub int8: bool,
    /// Doubles in shaders.
    pub float64: bool,
    /// Halves in shaders.
    pub float16: bool,
    /// 16-bit storage.
    pub storage16: bool,
    /// 8-bit storage.
    pub storage8: bool,
    /// 64-bit atomics in buffers.
    pub int64_atomics: bool,
    /// 64-bit atomics in shared memory.
    pub shared_int64_atomics: bool,
    /// Clip distances.
    pub clip_distance: bool,
    /// Point size from tessellation and geometry shaders.
    pub tessellation_point_size: bool,
    /// Gathers with computed or four offsets.
    pub gather_extended: bool,
    /// Arrays of sampled images, storage images and texel buffers at computed indices.
    pub descriptor_indexing: bool,
    /// Sparse binding, with 2D and 3D residency and aliasing.
    pub sparse: bool,
    /// Subgroup size can be asked for.
    pub subgroup_size_control: bool,
    /// Heap budgets can be read (`VK_EXT_memory_budget`).
    pub memory_budget: bool,
}

/// Extensions that Navin uses, found on a device.
pub(crate) struct Extensions(FxHashSet<&'static CStr>);

const REQUIRED_EXTENSIONS: [&CStr; 2] = [ext::shader_object::NAME, ext::robustness2::NAME];

const OPTIONAL_EXTENSIONS: [&CStr; 20] = [
    ext::external_memory_host::NAME,
    khr::external_memory_fd::NAME,
    ext::external_memory_dma_buf::NAME,
    ext::depth_clip_control::NAME,
    ext::depth_clip_enable::NAME,
    ext::custom_border_color::NAME,
    ext::provoking_vertex::NAME,
    ext::index_type_uint8::NAME,
    ext::_4444_formats::NAME,
    ext::primitive_topology_list_restart::NAME,
    ext::image_2d_view_of_3d::NAME,
    ext::conditional_rendering::NAME,
    ext::calibrated_timestamps::NAME,
    ext::blend_operation_advanced::NAME,
    ext::non_seamless_cube_map::NAME,
    ext::line_rasterization::NAME,
    ext::depth_range_unrestricted::NAME,
    ext::vertex_attribute_divisor::NAME,
    ext::shader_stencil_export::NAME,
    ext::memory_budget::NAME,
];

impl Extensions {
    /// Keeps what Navin knows of a device's list.
    pub(crate) fn from_list(found: &[vk::ExtensionProperties]) -> Self {
        let names: FxHashSet<&CStr> = found.iter().filter_map(|e| e.extension_name_as_c_str().ok()).collect();
        let known = REQUIRED_EXTENSIONS.iter().chain(&OPTIONAL_EXTENSIONS);
        let mut set: FxHashSet<&'static CStr> = known.copied().filter(|name| names.contains(name)).collect();
        // A portability driver (Vulkan on Metal) demands that its subset extension is enabled.
        if names.contains(khr::portability_subset::NAME) {
            set.insert(khr::portability_subset::NAME);
        }
        Self(set)
    }

    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.0.contains(name)
    }

    pub(crate) fn pointers(&self) -> Vec<*const std::ffi::c_char> {
        self.0.iter().map(|name| name.as_ptr()).collect()
    }
}

/// The feature structures, each either wholly zero or chained.
#[derive(Default)]
struct Chain {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    shader_object: vk::PhysicalDeviceShaderObjectFeaturesEXT<'static>,
    robustness2: vk::PhysicalDeviceRobustness2FeaturesEXT<'static>,
    depth_clip_control: vk::PhysicalDeviceDepthClipControlFeaturesEXT<'static>,
    depth_clip_enable: vk::PhysicalDeviceDepthClipEnableFeaturesEXT<'static>,
    border: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static>,
    provoking: vk::PhysicalDeviceProvokingVertexFeaturesEXT<'static>,
    index8: vk::PhysicalDeviceIndexTypeUint8FeaturesEXT<'static>,
    f4444: vk::PhysicalDevice4444FormatsFeaturesEXT<'static>,
    restart: vk::PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT<'static>,
    view2d: vk::PhysicalDeviceImage2DViewOf3DFeaturesEXT<'static>,
    conditional: vk::PhysicalDeviceConditionalRenderingFeaturesEXT<'static>,
    advanced: vk::PhysicalDeviceBlendOperationAdvancedFeaturesEXT<'static>,
    cube: vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT<'static>,
    lines: vk::PhysicalDeviceLineRasterizationFeaturesEXT<'static>,
    divisor: vk::PhysicalDeviceVertexAttributeDivisorFeaturesEXT<'static>,
}

impl Chain {
    /// Calls `f` with the structures chained that belong to `extensions`.
    fn linked<R>(&mut self, extensions: &Extensions, f: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> R) -> R {
        let mut two = vk::PhysicalDeviceFeatures2::default().features(self.core);
        two = two.push_next(&mut self.v11).push_next(&mut self.v12).push_next(&mut self.v13);
        macro_rules! chain {
            ($($field:ident: $name:path),* $(,)?) => {
                $(if extensions.has($name) {
                    two = two.push_next(&mut self.$field);
                })*
            };
        }
        chain! {
            shader_object: ext::shader_object::NAME,
            robustness2: ext::robustness2::NAME,
            depth_clip_control: ext::depth_clip_control::NAME,
            depth_clip_enable: ext::depth_clip_enable::NAME,
            border: ext::custom_border_color::NAME,
            provoking: ext::provoking_vertex::NAME,
            index8: ext::index_type_uint8::NAME,
            f4444: ext::_4444_formats::NAME,
            restart: ext::primitive_topology_list_restart::NAME,
            view2d: ext::image_2d_view_of_3d::NAME,
            conditional: ext::conditional_rendering::NAME,
            advanced: ext::blend_operation_advanced::NAME,
            cube: ext::non_seamless_cube_map::NAME,
            lines: ext::line_rasterization::NAME,
            divisor: ext::vertex_attribute_divisor::NAME,
        }
        let result = f(&mut two);
        let core = two.features;
        self.core = core;
        result
    }
}

macro_rules! on {
    ($flag:expr) => {
        $flag != vk::FALSE
    };
}

/// What a physical device offers.
pub(crate) struct Available {
    chain: Chain,
    pub(crate) extensions: Extensions,
}

impl Available {
    /// Asks a device. `found` is its extension list, `None` for a device below Vulkan 1.3, which must not be asked
    /// with newer structures and has nothing that Navin needs.
    pub(crate) fn query(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        found: Option<&[vk::ExtensionProperties]>,
    ) -> Self {
        let mut chain = Chain::default();
        let Some(found) = found else { return Self { chain, extensions: Extensions::from_list(&[]) } };
        let extensions = Extensions::from_list(found);
        chain.linked(&extensions, |two| {
            // SAFETY: the chain holds only structures of Vulkan 1.3 and of extensions that the device lists.
            unsafe { instance.get_physical_device_features2(physical, two) }
        });
        Self { chain, extensions }
    }

    /// What Navin requires and the device lacks, one phrase each.
    pub(crate) fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if !self.extensions.has(ext::shader_object::NAME) {
            missing.push(
                "VK_EXT_shader_object (stages are bound apart; graphics pipeline libraries in its place are not built yet)"
                    .to_owned(),
            );
        }
        if !self.extensions.has(ext::robustness2::NAME) {
            missing.push("VK_EXT_robustness2".to_owned());
        }
        let c = &self.chain;
        let has_shader_object = self.extensions.has(ext::shader_object::NAME);
        let has_robustness = self.extensions.has(ext::robustness2::NAME);
        let needed: [(bool, &str); 21] = [
            (on!(c.core.robust_buffer_access), "robustBufferAccess"),
            (on!(c.core.shader_storage_image_read_without_format), "shaderStorageImageReadWithoutFormat"),
            (on!(c.core.shader_storage_image_write_without_format), "shaderStorageImageWriteWithoutFormat"),
            (on!(c.core.vertex_pipeline_stores_and_atomics), "vertexPipelineStoresAndAtomics"),
            (on!(c.core.fragment_stores_and_atomics), "fragmentStoresAndAtomics"),
            (on!(c.v11.shader_draw_parameters), "shaderDrawParameters"),
            (on!(c.v12.timeline_semaphore), "timelineSemaphore"),
            (on!(c.v12.buffer_device_address), "bufferDeviceAddress"),
            (on!(c.v12.host_query_reset), "hostQueryReset"),
            (on!(c.v12.descriptor_binding_partially_bound), "descriptorBindingPartiallyBound"),
            (on!(c.v12.descriptor_binding_update_unused_while_pending), "descriptorBindingUpdateUnusedWhilePending"),
            (on!(c.v12.descriptor_binding_sampled_image_update_after_bind), "sampled image update-after-bind"),
            (on!(c.v12.descriptor_binding_storage_image_update_after_bind), "storage image update-after-bind"),
            (on!(c.v12.descriptor_binding_storage_buffer_update_after_bind), "storage buffer update-after-bind"),
            (
                on!(c.v12.descriptor_binding_uniform_texel_buffer_update_after_bind)
                    && on!(c.v12.descriptor_binding_storage_texel_buffer_update_after_bind),
                "texel buffer update-after-bind",
            ),
            (
                on!(c.v12.shader_sampled_image_array_non_uniform_indexing)
                    && on!(c.v12.shader_storage_image_array_non_uniform_indexing)
                    && on!(c.v12.shader_uniform_texel_buffer_array_non_uniform_indexing)
                    && on!(c.v12.shader_storage_texel_buffer_array_non_uniform_indexing),
                "non-uniform indexing of images and texel buffers",
            ),
            (on!(c.v13.dynamic_rendering), "dynamicRendering"),
            (on!(c.v13.synchronization2), "synchronization2"),
            (on!(c.v13.maintenance4), "maintenance4"),
            (!has_shader_object || on!(c.shader_object.shader_object), "shaderObject"),
            (
                !has_robustness || (on!(c.robustness2.null_descriptor) && on!(c.robustness2.robust_buffer_access2)),
                "nullDescriptor and robustBufferAccess2",
            ),
        ];
        missing.extend(needed.iter().filter(|(has, _)| !has).map(|(_, name)| (*name).to_owned()));
        missing
    }

    /// Reduces the query to what Navin uses, and says what that is.
    pub(crate) fn enable(&mut self) -> Features {
        let c = &self.chain;
        let core = vk::PhysicalDeviceFeatures {
            robust_buffer_access: c.core.robust_buffer_access,
            full_draw_index_uint32: c.core.full_draw_index_uint32,
            image_cube_array: c.core.image_cube_array,
            independent_blend: c.core.independent_blend,
            geometry_shader: c.core.geometry_shader,
            tessellation_shader: c.core.tessellation_shader,
            sample_rate_shading: c.core.sample_rate_shading,
            dual_src_blend: c.core.dual_src_blend,
            logic_op: c.core.logic_op,
            multi_draw_indirect: c.core.multi_draw_indirect,
            draw_indirect_first_instance: c.core.draw_indirect_first_instance,
            depth_clamp: c.core.depth_clamp,
            depth_bias_clamp: c.core.depth_bias_clamp,
            fill_mode_non_solid: c.core.fill_mode_non_solid,
            depth_bounds: c.core.depth_bounds,
            wide_lines: c.core.wide_lines,
            large_points: c.core.large_points,
            alpha_to_one: c.core.alpha_to_one,
            multi_viewport: c.core.multi_viewport,
            sampler_anisotropy: c.core.sampler_anisotropy,
            texture_compression_etc2: c.core.texture_compression_etc2,
            texture_compression_astc_ldr: c.core.texture_compression_astc_ldr,
            texture_compression_bc: c.core.texture_compression_bc,
            occlusion_query_precise: c.core.occlusion_query_precise,
            pipeline_statistics_query: c.core.pipeline_statistics_query,
            vertex_pipeline_stores_and_atomics: c.core.vertex_pipeline_stores_and_atomics,
            fragment_stores_and_atomics: c.core.fragment_stores_and_atomics,
            shader_tessellation_and_geometry_point_size: c.core.shader_tessellation_and_geometry_point_size,
            shader_image_gather_extended: c.core.shader_image_gather_extended,
            shader_storage_image_extended_formats: c.core.shader_storage_image_extended_formats,
            shader_storage_image_multisample: c.core.shader_storage_image_multisample,
            shader_storage_image_read_without_format: c.core.shader_storage_image_read_without_format,
            shader_storage_image_write_without_format: c.core.shader_storage_image_write_without_format,
            shader_uniform_buffer_array_dynamic_indexing: c.core.shader_uniform_buffer_array_dynamic_indexing,
            shader_sampled_image_array_dynamic_indexing: c.core.shader_sampled_image_array_dynamic_indexing,
            shader_storage_buffer_array_dynamic_indexing: c.core.shader_storage_buffer_array_dynamic_indexing,
            shader_storage_image_array_dynamic_indexing: c.core.shader_storage_image_array_dynamic_indexing,
            shader_clip_distance: c.core.shader_clip_distance,
            shader_cull_distance: c.core.shader_cull_distance,
            shader_float64: c.core.shader_float64,
            shader_int64: c.core.shader_int64,
            shader_int16: c.core.shader_int16,
            sparse_binding: c.core.sparse_binding,
            sparse_residency_buffer: c.core.sparse_residency_buffer,
            sparse_residency_image2_d: c.core.sparse_residency_image2_d,
            sparse_residency_image3_d: c.core.sparse_residency_image3_d,
            sparse_residency_aliased: c.core.sparse_residency_aliased,
            ..Default::default()
        };
        let v11 = vk::PhysicalDeviceVulkan11Features {
            storage_buffer16_bit_access: c.v11.storage_buffer16_bit_access,
            uniform_and_storage_buffer16_bit_access: c.v11.uniform_and_storage_buffer16_bit_access,
            variable_pointers_storage_buffer: c.v11.variable_pointers_storage_buffer,
            variable_pointers: c.v11.variable_pointers,
            shader_draw_parameters: c.v11.shader_draw_parameters,
            ..Default::default()
        };
        let v12 = vk::PhysicalDeviceVulkan12Features {
            sampler_mirror_clamp_to_edge: c.v12.sampler_mirror_clamp_to_edge,
            draw_indirect_count: c.v12.draw_indirect_count,
            storage_buffer8_bit_access: c.v12.storage_buffer8_bit_access,
            uniform_and_storage_buffer8_bit_access: c.v12.uniform_and_storage_buffer8_bit_access,
            shader_buffer_int64_atomics: c.v12.shader_buffer_int64_atomics,
            shader_shared_int64_atomics: c.v12.shader_shared_int64_atomics,
            shader_float16: c.v12.shader_float16,
            shader_int8: c.v12.shader_int8,
            descriptor_indexing: c.v12.descriptor_indexing,
            shader_uniform_texel_buffer_array_dynamic_indexing: c
                .v12
                .shader_uniform_texel_buffer_array_dynamic_indexing,
            shader_storage_texel_buffer_array_dynamic_indexing: c
                .v12
                .shader_storage_texel_buffer_array_dynamic_indexing,
            shader_uniform_buffer_array_non_uniform_indexing: c.v12.shader_uniform_buffer_array_non_uniform_indexing,
            shader_sampled_image_array_non_uniform_indexing: c.v12.shader_sampled_image_array_non_uniform_indexing,
            shader_storage_buffer_array_non_uniform_indexing: c.v12.shader_storage_buffer_array_non_uniform_indexing,
            shader_storage_image_array_non_uniform_indexing: c.v12.shader_storage_image_array_non_uniform_indexing,
            shader_uniform_texel_buffer_array_non_uniform_indexing: c
                .v12
                .shader_uniform_texel_buffer_array_non_uniform_indexing,
            shader_storage_texel_buffer_array_non_uniform_indexing: c
                .v12
                .shader_storage_texel_buffer_array_non_uniform_indexing,
            descriptor_binding_sampled_image_update_after_bind: c
                .v12
                .descriptor_binding_sampled_image_update_after_bind,
            descriptor_binding_storage_image_update_after_bind: c
                .v12
                .descriptor_binding_storage_image_update_after_bind,
            descriptor_binding_storage_buffer_update_after_bind: c
                .v12
                .descriptor_binding_storage_buffer_update_after_bind,
            descriptor_binding_uniform_texel_buffer_update_after_bind: c
                .v12
                .descriptor_binding_uniform_texel_buffer_update_after_bind,
            descriptor_binding_storage_texel_buffer_update_after_bind: c
                .v12
                .descriptor_binding_storage_texel_buffer_update_after_bind,
            descriptor_binding_update_unused_while_pending: c.v12.descriptor_binding_update_unused_while_pending,
            descriptor_binding_partially_bound: c.v12.descriptor_binding_partially_bound,
            runtime_descriptor_array: c.v12.runtime_descriptor_array,
            sampler_filter_minmax: c.v12.sampler_filter_minmax,
            scalar_block_layout: c.v12.scalar_block_layout,
            uniform_buffer_standard_layout: c.v12.uniform_buffer_standard_layout,
            shader_subgroup_extended_types: c.v12.shader_subgroup_extended_types,
            host_query_reset: c.v12.host_query_reset,
            timeline_semaphore: c.v12.timeline_semaphore,
            buffer_device_address: c.v12.buffer_device_address,
            vulkan_memory_model: c.v12.vulkan_memory_model,
            vulkan_memory_model_device_scope: c.v12.vulkan_memory_model_device_scope,
            shader_output_viewport_index: c.v12.shader_output_viewport_index,
            shader_output_layer: c.v12.shader_output_layer,
            ..Default::default()
        };
        let v13 = vk::PhysicalDeviceVulkan13Features {
            robust_image_access: c.v13.robust_image_access,
            shader_demote_to_helper_invocation: c.v13.shader_demote_to_helper_invocation,
            shader_terminate_invocation: c.v13.shader_terminate_invocation,
            subgroup_size_control: c.v13.subgroup_size_control,
            compute_full_subgroups: c.v13.compute_full_subgroups,
            synchronization2: c.v13.synchronization2,
            dynamic_rendering: c.v13.dynamic_rendering,
            shader_integer_dot_product: c.v13.shader_integer_dot_product,
            maintenance4: c.v13.maintenance4,
            ..Default::default()
        };
        macro_rules! keep {
            ($ty:ident { $($field:ident = $from:expr),* $(,)? }) => {
                vk::$ty { $($field: $from,)* ..Default::default() }
            };
        }
        let chain = Chain {
            core,
            v11,
            v12,
            v13,
            shader_object: keep!(PhysicalDeviceShaderObjectFeaturesEXT { shader_object = c.shader_object.shader_object }),
            robustness2: keep!(PhysicalDeviceRobustness2FeaturesEXT {
                robust_buffer_access2 = c.robustness2.robust_buffer_access2,
                robust_image_access2 = c.robustness2.robust_image_access2,
                null_descriptor = c.robustness2.null_descriptor,
            }),
            depth_clip_control: keep!(PhysicalDeviceDepthClipControlFeaturesEXT {
                depth_clip_control = c.depth_clip_control.depth_clip_control
            }),
            depth_clip_enable: keep!(PhysicalDeviceDepthClipEnableFeaturesEXT {
                depth_clip_enable = c.depth_clip_enable.depth_clip_enable
            }),
            border: keep!(PhysicalDeviceCustomBorderColorFeaturesEXT {
                custom_border_colors = c.border.custom_border_colors,
                custom_border_color_without_format = c.border.custom_border_color_without_format,
            }),
            provoking: keep!(PhysicalDeviceProvokingVertexFeaturesEXT {
                provoking_vertex_last = c.provoking.provoking_vertex_last
            }),
            index8: keep!(PhysicalDeviceIndexTypeUint8FeaturesEXT { index_type_uint8 = c.index8.index_type_uint8 }),
            f4444: keep!(PhysicalDevice4444FormatsFeaturesEXT {
                format_a4r4g4b4 = c.f4444.format_a4r4g4b4,
                format_a4b4g4r4 = c.f4444.format_a4b4g4r4,
            }),
            restart: keep!(PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT {
                primitive_topology_list_restart = c.restart.primitive_topology_list_restart,
                primitive_topology_patch_list_restart = c.restart.primitive_topology_patch_list_restart,
            }),
            view2d: keep!(PhysicalDeviceImage2DViewOf3DFeaturesEXT {
                image2_d_view_of3_d = c.view2d.image2_d_view_of3_d,
                sampler2_d_view_of3_d = c.view2d.sampler2_d_view_of3_d,
            }),
            conditional: keep!(PhysicalDeviceConditionalRenderingFeaturesEXT {
                conditional_rendering = c.conditional.conditional_rendering
            }),
            advanced: keep!(PhysicalDeviceBlendOperationAdvancedFeaturesEXT {
                advanced_blend_coherent_operations = c.advanced.advanced_blend_coherent_operations
            }),
            cube: keep!(PhysicalDeviceNonSeamlessCubeMapFeaturesEXT {
                non_seamless_cube_map = c.cube.non_seamless_cube_map
            }),
            lines: keep!(PhysicalDeviceLineRasterizationFeaturesEXT {
                rectangular_lines = c.lines.rectangular_lines,
                bresenham_lines = c.lines.bresenham_lines,
                smooth_lines = c.lines.smooth_lines,
            }),
            divisor: keep!(PhysicalDeviceVertexAttributeDivisorFeaturesEXT {
                vertex_attribute_instance_rate_divisor = c.divisor.vertex_attribute_instance_rate_divisor,
                vertex_attribute_instance_rate_zero_divisor = c.divisor.vertex_attribute_instance_rate_zero_divisor,
            }),
        };
        self.chain = chain;
        self.summary()
    }

    fn summary(&self) -> Features {
        let c = &self.chain;
        Features {
            host_import: self.extensions.has(ext::external_memory_host::NAME),
            dma_buf: self.extensions.has(khr::external_memory_fd::NAME)
                && self.extensions.has(ext::external_memory_dma_buf::NAME),
            depth_clip_control: on!(c.depth_clip_control.depth_clip_control),
            depth_clip_enable: on!(c.depth_clip_enable.depth_clip_enable),
            custom_border_color: on!(c.border.custom_border_colors) && on!(c.border.custom_border_color_without_format),
            provoking_vertex: on!(c.provoking.provoking_vertex_last),
            index_uint8: on!(c.index8.index_type_uint8),
            formats_4444: on!(c.f4444.format_a4r4g4b4) && on!(c.f4444.format_a4b4g4r4),
            list_restart: on!(c.restart.primitive_topology_list_restart),
            patch_restart: on!(c.restart.primitive_topology_patch_list_restart),
            view_2d_of_3d: on!(c.view2d.image2_d_view_of3_d) && on!(c.view2d.sampler2_d_view_of3_d),
            conditional_rendering: on!(c.conditional.conditional_rendering),
            advanced_blend: on!(c.advanced.advanced_blend_coherent_operations),
            calibrated_timestamps: self.extensions.has(ext::calibrated_timestamps::NAME),
            non_seamless_cube: on!(c.cube.non_seamless_cube_map),
            lines_rectangular: on!(c.lines.rectangular_lines),
            lines_bresenham: on!(c.lines.bresenham_lines),
            lines_smooth: on!(c.lines.smooth_lines),
            depth_range_unrestricted: self.extensions.has(ext::depth_range_unrestricted::NAME),
            vertex_divisor: on!(c.divisor.vertex_attribute_instance_rate_divisor),
            vertex_divisor_zero: on!(c.divisor.vertex_attribute_instance_rate_zero_divisor),
            stencil_export: self.extensions.has(ext::shader_stencil_export::NAME),
            geometry: on!(c.core.geometry_shader),
            tessellation: on!(c.core.tessellation_shader),
            multi_viewport: on!(c.core.multi_viewport),
            vertex_layer: on!(c.v12.shader_output_layer) && on!(c.v12.shader_output_viewport_index),
            depth_bounds: on!(c.core.depth_bounds),
            depth_clamp: on!(c.core.depth_clamp),
            depth_bias_clamp: on!(c.core.depth_bias_clamp),
            polygon_modes: on!(c.core.fill_mode_non_solid),
            wide_lines: on!(c.core.wide_lines),
            large_points: on!(c.core.large_points),
            logic_op: on!(c.core.logic_op),
            dual_source_blend: on!(c.core.dual_src_blend),
            independent_blend: on!(c.core.independent_blend),
            alpha_to_one: on!(c.core.alpha_to_one),
            sample_shading: on!(c.core.sample_rate_shading),
            anisotropy: on!(c.core.sampler_anisotropy),
            sampler_minmax: on!(c.v12.sampler_filter_minmax),
            cube_array: on!(c.core.image_cube_array),
            bc: on!(c.core.texture_compression_bc),
            etc2: on!(c.core.texture_compression_etc2),
            astc: on!(c.core.texture_compression_astc_ldr),
            storage_multisample: on!(c.core.shader_storage_image_multisample),
            multi_draw_indirect: on!(c.core.multi_draw_indirect),
            draw_indirect_count: on!(c.v12.draw_indirect_count),
            indirect_first_instance: on!(c.core.draw_indirect_first_instance),
            precise_occlusion: on!(c.core.occlusion_query_precise),
            pipeline_statistics: on!(c.core.pipeline_statistics_query),
            int64: on!(c.core.shader_int64),
            int16: on!(c.core.shader_int16),
            int8: on!(c.v12.shader_int8),
            float64: on!(c.core.shader_float64),
            float16: on!(c.v12.shader_float16),
            storage16: on!(c.v11.storage_buffer16_bit_access),
            storage8: on!(c.v12.storage_buffer8_bit_access),
            int64_atomics: on!(c.v12.shader_buffer_int64_atomics),
            shared_int64_atomics: on!(c.v12.shader_shared_int64_atomics),
            clip_distance: on!(c.core.shader_clip_distance),
            tessellation_point_size: on!(c.core.shader_tessellation_and_geometry_point_size),
            gather_extended: on!(c.core.shader_image_gather_extended),
            descriptor_indexing: on!(c.core.shader_sampled_image_array_dynamic_indexing)
                && on!(c.core.shader_storage_image_array_dynamic_indexing)
                && on!(c.v12.shader_uniform_texel_buffer_array_dynamic_indexing)
                && on!(c.v12.shader_storage_texel_buffer_array_dynamic_indexing),
            sparse: on!(c.core.sparse_binding)
                && on!(c.core.sparse_residency_image2_d)
                && on!(c.core.sparse_residency_image3_d)
                && on!(c.core.sparse_residency_aliased),
            subgroup_size_control: on!(c.v13.subgroup_size_control),
            memory_budget: self.extensions.has(ext::memory_budget::NAME),
        }
    }

    /// Creates the device with what [`Available::enable`] kept.
    pub(crate) fn create_device(
        &mut self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        queue_family: u32,
    ) -> Result<ash::Device, vk::Result> {
        let extensions = self.extensions.pointers();
        let priorities = [1.0];
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&priorities)];
        self.chain.linked(&self.extensions, |two| {
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .push_next(two);
            // SAFETY: everything `info` points at lives until the call returns; the extensions were listed by
            // the device and the features are a subset of those it reported.
            unsafe { instance.create_device(physical, &info, None) }
        })
    }
}
