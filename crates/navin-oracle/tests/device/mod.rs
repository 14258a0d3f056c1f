//! Runs a compute program on the Vulkan device through the translator.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod draw;

use anyhow::{Context as _, Result};
use ash::vk;
use navin_corpus::gpu::{Arena, Buffer, Gpu, Named as _};
use navin_shader::{ConstantLayout, DeviceFeatures, GuestProgram, Options, Translator};

/// Guest addresses of the buffers of storage slots 0 and 1.
pub const BUFFERS: [u64; 2] = [0x10_0000_0000, 0x20_0000_0000];
/// Byte offset of storage slot 0's entry in bank 0 of compute programs, corpus layout.
pub const STORAGE_TABLE: usize = 0x150;
/// Binding of the page table's root in set 0.
const PAGE_TABLE: u32 = 33;
/// First binding of storage slots in a stage's set.
const STORAGE_BINDING: u32 = 18;

/// Translation options for the device.
pub fn options(gpu: &Gpu) -> Options {
    let mut options = Options::new(ConstantLayout::Corpus);
    options.subgroup_size = gpu.subgroup_size;
    let on = |b: vk::Bool32| b == vk::TRUE;
    let (core, float) = (&gpu.features, &gpu.float_controls);
    options.features = DeviceFeatures::empty();
    for (flag, enabled) in [
        (DeviceFeatures::FLOAT64, on(core.shader_float64)),
        (DeviceFeatures::INT64, on(core.shader_int64)),
        (DeviceFeatures::FLUSH_DENORMS, on(float.shader_denorm_flush_to_zero_float32)),
        (DeviceFeatures::PRESERVE_DENORMS, on(float.shader_denorm_preserve_float32)),
        (DeviceFeatures::PRESERVE_NAN, on(float.shader_signed_zero_inf_nan_preserve_float32)),
        (DeviceFeatures::PRESERVE_NAN64, on(float.shader_signed_zero_inf_nan_preserve_float64)),
    ] {
        options.features.set(flag, enabled);
    }
    options
}

/// Constant bank 0 with the addresses of the storage slots.
pub fn bank0(sizes: [usize; 2]) -> Vec<u8> {
    let mut bytes = vec![0; 0x900];
    for (slot, (address, size)) in BUFFERS.into_iter().zip(sizes).enumerate() {
        let at = STORAGE_TABLE + 16 * slot;
        bytes[at..at + 8].copy_from_slice(&address.to_le_bytes());
        bytes[at + 8..at + 12].copy_from_slice(&(size as u32).to_le_bytes());
    }
    bytes
}

/// What the program leaves in storage slot 1, whose `output` bytes begin as zeros; slot 0 holds `input`, constant
/// bank 3 `uniforms`. One workgroup.
pub fn run(
    gpu: &Gpu,
    translator: &mut Translator,
    program: (&[u8], &[u8]),
    input: &[u8],
    output: usize,
    uniforms: &[u8],
) -> Result<Vec<u8>> {
    let guest = GuestProgram::parse(program.0, program.1)?;
    let translation = translator.translate(&guest, &options(gpu))?;
    run_translated(gpu, &translation.spirv, input, output, [guest.constants, uniforms])
}

/// The same for a translated module; `banks` are constant banks 1 and 3.
pub fn run_translated(gpu: &Gpu, spirv: &[u32], input: &[u8], output: usize, banks: [&[u8]; 2]) -> Result<Vec<u8>> {
    let arena = Arena::new(gpu);
    let buffers = [arena.buffer(input.len() as u64, input)?, arena.buffer(output as u64, &[])?];
    let constants = arena.buffer(0x1000, &bank0([input.len(), output]))?;
    let [bank1, uniforms] = banks.map(|bytes| arena.buffer(0x1000, bytes));
    let (bank1, uniforms) = (bank1?, uniforms?);

    let device = &gpu.device;
    // A page table that leads every address to the zero page.
    let zero_page = arena.buffer(0x1_0000, &[])?;
    let leaf = arena.buffer(4096 * 8, &zero_page.address.to_le_bytes().repeat(4096))?;
    let mut entries = leaf.address.to_le_bytes().repeat(4096);
    entries.extend(zero_page.address.to_le_bytes());
    let root = arena.buffer(entries.len() as u64, &entries)?;
    let entry = |at: u32, ty: vk::DescriptorType| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(at)
            .descriptor_type(ty)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings = [
        entry(0, vk::DescriptorType::UNIFORM_BUFFER),
        entry(1, vk::DescriptorType::UNIFORM_BUFFER),
        entry(3, vk::DescriptorType::UNIFORM_BUFFER),
        entry(STORAGE_BINDING, vk::DescriptorType::STORAGE_BUFFER),
        entry(STORAGE_BINDING + 1, vk::DescriptorType::STORAGE_BUFFER),
    ];
    let table = [entry(PAGE_TABLE, vk::DescriptorType::STORAGE_BUFFER)];
    let tables = arena.set_layout(&vk::DescriptorSetLayoutCreateInfo::default().bindings(&table))?;
    let own = arena.set_layout(&vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings))?;
    let layout = arena.pipeline_layout(&[tables, own])?;
    let size = |ty, descriptor_count| vk::DescriptorPoolSize { ty, descriptor_count };
    let sizes = [size(vk::DescriptorType::UNIFORM_BUFFER, 3), size(vk::DescriptorType::STORAGE_BUFFER, 3)];
    let sets = arena.sets(&[tables, own], &sizes, false)?;
    let write = |set: vk::DescriptorSet, at: u32, ty: vk::DescriptorType, buffer: &Buffer| {
        let info = [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }];
        let write =
            vk::WriteDescriptorSet::default().dst_set(set).dst_binding(at).descriptor_type(ty).buffer_info(&info);
        // SAFETY: no submission is running; the buffers are alive.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
    };
    write(sets[0], PAGE_TABLE, vk::DescriptorType::STORAGE_BUFFER, &root);
    write(sets[1], 0, vk::DescriptorType::UNIFORM_BUFFER, &constants);
    write(sets[1], 1, vk::DescriptorType::UNIFORM_BUFFER, &bank1);
    write(sets[1], 3, vk::DescriptorType::UNIFORM_BUFFER, &uniforms);
    write(sets[1], STORAGE_BINDING, vk::DescriptorType::STORAGE_BUFFER, &buffers[0]);
    write(sets[1], STORAGE_BINDING + 1, vk::DescriptorType::STORAGE_BUFFER, &buffers[1]);

    let module_info = vk::ShaderModuleCreateInfo::default().code(spirv);
    // SAFETY: the module is SPIR-V of the translator (checked by spirv-val in its own tests); it and the pipeline are
    // destroyed after the submission has ended.
    unsafe {
        let module = device.create_shader_module(&module_info, None).named("vkCreateShaderModule")?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let made = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        device.destroy_shader_module(module, None);
        let pipeline = *made.map_err(|(_, e)| e).named("vkCreateComputePipelines")?.first().context("a pipeline")?;
        arena.keep_pipeline(pipeline);
        gpu.submit(|command| {
            device.cmd_bind_pipeline(command, vk::PipelineBindPoint::COMPUTE, pipeline);
            device.cmd_bind_descriptor_sets(command, vk::PipelineBindPoint::COMPUTE, layout, 0, &sets, &[]);
            device.cmd_dispatch(command, 1, 1, 1);
            gpu.barrier(command);
        })?;
    }
    Ok(buffers[1].bytes())
}
