//! The guest form: machine code through `navin-shader`, bound as `docs/ARCHITECTURE.md` says ("Shader interface").
//!
//! Set 0 holds the tables and is made once for a device; sets 1 to 5 hold the constants of each stage. The driver's
//! constants (bank 0) are laid out as the corpus's compiler assumed. Storage buffers and uniform blocks also have
//! addresses in a guest address space of their own, which the page table leads to, so that programs with raw
//! pointers run too.

use anyhow::{Context, Result, bail};
use ash::vk;
use navin_shader::interface::binding;
use navin_shader::{
    ConstantLayout, DeviceFeatures, GuestProgram, HandleSource, Interface, Options, Stage, TranslateError, Translation,
    Translator, ViewKind,
};

use crate::gpu::{Arena, Buffer, Gpu, Image, ImageInfo};
use crate::index::{Corpus, Program};
use crate::render::Form;
use crate::resources::{Resources, STORAGE_BYTES, Texels, view_type};
use crate::scene::{Scene, Work};

/// First guest address of a resource; the others follow with an unmapped page between them.
const FIRST_ADDRESS: u64 = 0x12_3001_0000;
/// Bytes of a guest page.
const PAGE: u64 = 1 << 16;
/// Entries of the page table's root and of a leaf.
const ENTRIES: usize = 4096;
/// Ids that the id tables cover.
const IDS: u32 = 4096;
/// Bytes of bank 0.
const BANK0_BYTES: usize = 4096;

/// Why there is no guest form.
pub enum Refusal {
    /// The translator does not know something of `program`.
    Unsupported {
        /// Program.
        program: String,
        /// The translator's words.
        error: TranslateError,
    },
    /// Anything else.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// What lives as long as the device: layouts, set 0, the page table.
pub struct Tables<'g> {
    arena: Arena<'g>,
    layouts: Vec<vk::DescriptorSetLayout>,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    texture_ids: Buffer,
    sampler_ids: Buffer,
    leaf: Buffer,
    zero_page: Buffer,
}

/// Descriptor set of each stage set, in order of sets 1 to 5.
const STAGE_SETS: [vk::ShaderStageFlags; 5] = [
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::COMPUTE.as_raw()),
    vk::ShaderStageFlags::TESSELLATION_CONTROL,
    vk::ShaderStageFlags::TESSELLATION_EVALUATION,
    vk::ShaderStageFlags::GEOMETRY,
    vk::ShaderStageFlags::FRAGMENT,
];

impl<'g> Tables<'g> {
    /// Makes the tables; every slot 0 is an empty texture.
    ///
    /// # Errors
    /// If the device refuses something.
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        let arena = Arena::new(gpu);
        let mut set0 = vec![
            (binding::TEXTURE_TABLE, vk::DescriptorType::STORAGE_BUFFER, 1),
            (binding::SAMPLER_TABLE, vk::DescriptorType::STORAGE_BUFFER, 1),
            (binding::SAMPLERS, vk::DescriptorType::SAMPLER, binding::SAMPLER_SLOTS),
            (binding::PAGE_TABLE, vk::DescriptorType::STORAGE_BUFFER, 1),
        ];
        for kind in ViewKind::ALL {
            let k = kind as u32;
            let (sampled, storage) = match kind {
                ViewKind::Buffer => {
                    (vk::DescriptorType::UNIFORM_TEXEL_BUFFER, vk::DescriptorType::STORAGE_TEXEL_BUFFER)
                }
                _ => (vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::STORAGE_IMAGE),
            };
            set0.push((binding::TEXTURES + k, sampled, binding::TEXTURE_SLOTS));
            set0.push((binding::IMAGES_TYPED + k, storage, binding::IMAGE_SLOTS));
            set0.push((binding::IMAGES_RAW + k, storage, binding::IMAGE_SLOTS));
        }
        let mut layouts = vec![table_layout(&arena, &set0)?];
        for stages in STAGE_SETS {
            layouts.push(stage_layout(&arena, stages)?);
        }
        let layout = arena.pipeline_layout(&layouts)?;
        let sizes: Vec<_> =
            set0.iter().map(|(_, ty, n)| vk::DescriptorPoolSize { ty: *ty, descriptor_count: *n }).collect();
        let set = *arena.sets(&layouts[..1], &sizes, true)?.first().context("set 0")?;

        let texture_ids = arena.buffer(u64::from(IDS) * 4, &[])?;
        let sampler_ids = arena.buffer(u64::from(IDS) * 4, &[])?;
        let zero_page = arena.buffer(PAGE, &[])?;
        let leaf = arena.buffer(ENTRIES as u64 * 8, &[])?;
        let empty_leaf = arena.buffer(ENTRIES as u64 * 8, bytemuck::cast_slice(&[zero_page.address; ENTRIES]))?;
        // Behind the entries, the zero page: stores there are left out.
        let mut root = [empty_leaf.address; ENTRIES + 1];
        root[(FIRST_ADDRESS >> 28) as usize] = leaf.address;
        root[ENTRIES] = zero_page.address;
        let root = arena.buffer(size_of_val(&root) as u64, bytemuck::cast_slice(&root))?;
        for (at, buffer) in
            [(binding::TEXTURE_TABLE, texture_ids), (binding::SAMPLER_TABLE, sampler_ids), (binding::PAGE_TABLE, root)]
        {
            write_buffer(gpu, set, at, vk::DescriptorType::STORAGE_BUFFER, &buffer, vk::WHOLE_SIZE);
        }
        let tables = Self { arena, layouts, layout, set, texture_ids, sampler_ids, leaf, zero_page };
        tables.write_empty_slots()?;
        Ok(tables)
    }

    fn write_empty_slots(&self) -> Result<()> {
        let format = vk::Format::R8G8B8A8_UNORM;
        let sampler = self.arena.sampler(&vk::SamplerCreateInfo::default())?;
        self.write_sampler(0, sampler);
        for kind in ViewKind::ALL {
            if kind == ViewKind::Buffer {
                let buffer = self.arena.buffer(16, &[])?;
                for first in [binding::TEXTURES, binding::IMAGES_TYPED, binding::IMAGES_RAW] {
                    let format = if first == binding::IMAGES_RAW { vk::Format::R32_UINT } else { format };
                    self.write_texel_buffer(first + kind as u32, 0, self.arena.buffer_view(&buffer, format)?);
                }
                continue;
            }
            let cube = matches!(kind, ViewKind::Cube | ViewKind::CubeArray);
            let samples = if matches!(kind, ViewKind::D2Multisampled | ViewKind::D2MultisampledArray) { 4 } else { 1 };
            let image = self.arena.image(&ImageInfo {
                ty: match kind {
                    ViewKind::D1 | ViewKind::D1Array => vk::ImageType::TYPE_1D,
                    ViewKind::D3 => vk::ImageType::TYPE_3D,
                    _ => vk::ImageType::TYPE_2D,
                },
                format,
                extent: [1, 1, 1],
                levels: 1,
                layers: if cube { 6 } else { 1 },
                samples,
                // A multisampled image has to be a target as well for clears of some devices.
                usage: vk::ImageUsageFlags::SAMPLED
                    | if samples == 1 { vk::ImageUsageFlags::STORAGE } else { vk::ImageUsageFlags::COLOR_ATTACHMENT },
                flags: if cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() },
            })?;
            self.arena.gpu.submit(|command| {
                let zero = vk::ClearColorValue { float32: [0.0; 4] };
                // SAFETY: recording.
                unsafe {
                    self.arena.gpu.device.cmd_clear_color_image(
                        command,
                        image.handle,
                        vk::ImageLayout::GENERAL,
                        &zero,
                        &[image.range()],
                    );
                }
                self.arena.gpu.barrier(command);
            })?;
            let view = self.arena.view(&image, view_type(kind), format)?;
            self.write_image(binding::TEXTURES + kind as u32, 0, view, vk::DescriptorType::SAMPLED_IMAGE);
            if samples == 1 {
                self.write_image(binding::IMAGES_TYPED + kind as u32, 0, view, vk::DescriptorType::STORAGE_IMAGE);
                self.write_image(binding::IMAGES_RAW + kind as u32, 0, view, vk::DescriptorType::STORAGE_IMAGE);
            }
        }
        Ok(())
    }

    fn write_image(&self, at: u32, slot: u32, image_view: vk::ImageView, ty: vk::DescriptorType) {
        let info = [vk::DescriptorImageInfo {
            sampler: vk::Sampler::null(),
            image_view,
            image_layout: vk::ImageLayout::GENERAL,
        }];
        self.write(
            vk::WriteDescriptorSet::default()
                .dst_binding(at)
                .dst_array_element(slot)
                .descriptor_type(ty)
                .image_info(&info),
        );
    }

    fn write_sampler(&self, slot: u32, sampler: vk::Sampler) {
        let info = [vk::DescriptorImageInfo { sampler, ..Default::default() }];
        self.write(
            vk::WriteDescriptorSet::default()
                .dst_binding(binding::SAMPLERS)
                .dst_array_element(slot)
                .descriptor_type(vk::DescriptorType::SAMPLER)
                .image_info(&info),
        );
    }

    fn write_texel_buffer(&self, at: u32, slot: u32, view: vk::BufferView) {
        let ty = if at < binding::IMAGES_TYPED {
            vk::DescriptorType::UNIFORM_TEXEL_BUFFER
        } else {
            vk::DescriptorType::STORAGE_TEXEL_BUFFER
        };
        let views = [view];
        self.write(
            vk::WriteDescriptorSet::default()
                .dst_binding(at)
                .dst_array_element(slot)
                .descriptor_type(ty)
                .texel_buffer_view(&views),
        );
    }

    fn write(&self, write: vk::WriteDescriptorSet<'_>) {
        // SAFETY: no submission is running; what the write points to is alive.
        unsafe { self.arena.gpu.device.update_descriptor_sets(&[write.dst_set(self.set)], &[]) };
    }
}

fn table_layout(arena: &Arena<'_>, bindings: &[(u32, vk::DescriptorType, u32)]) -> Result<vk::DescriptorSetLayout> {
    let list: Vec<_> = bindings
        .iter()
        .map(|(at, ty, n)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(*at)
                .descriptor_type(*ty)
                .descriptor_count(*n)
                .stage_flags(vk::ShaderStageFlags::ALL)
        })
        .collect();
    let each = vk::DescriptorBindingFlags::PARTIALLY_BOUND | vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
    let flags = vec![each; list.len()];
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .bindings(&list)
        .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
        .push_next(&mut flags);
    Ok(arena.set_layout(&info)?)
}

fn stage_layout(arena: &Arena<'_>, stages: vk::ShaderStageFlags) -> Result<vk::DescriptorSetLayout> {
    let list: Vec<_> = (0..binding::STORAGE + 16)
        .map(|at| {
            let ty = if at < binding::STORAGE {
                vk::DescriptorType::UNIFORM_BUFFER
            } else {
                vk::DescriptorType::STORAGE_BUFFER
            };
            vk::DescriptorSetLayoutBinding::default()
                .binding(at)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(stages)
        })
        .collect();
    let flags = vec![vk::DescriptorBindingFlags::PARTIALLY_BOUND; list.len()];
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&list).push_next(&mut flags);
    Ok(arena.set_layout(&info)?)
}

fn write_buffer(gpu: &Gpu, set: vk::DescriptorSet, at: u32, ty: vk::DescriptorType, buffer: &Buffer, range: u64) {
    let info = [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(at).descriptor_type(ty).buffer_info(&info);
    // SAFETY: no submission is running; what the write points to is alive.
    unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
}

/// Where the resources of a program are found by the guest.
struct Registered {
    /// Handle of each texture, in the order of the resources.
    textures: Vec<u32>,
    /// Texture id of each image.
    images: Vec<u32>,
    /// Guest address of each storage buffer.
    storage: Vec<u64>,
    /// Guest address of each uniform block.
    uniforms: Vec<u64>,
}

/// Makes the guest form of `scene` over `resources`.
///
/// # Errors
/// If the translator refuses a program, a file is missing or the device refuses something.
pub fn form<'a>(
    tables: &Tables<'_>,
    arena: &Arena<'_>,
    corpus: &Corpus,
    scene: &'a Scene<'a>,
    resources: &Resources,
) -> Result<Form<'a>, Refusal> {
    let mut stages = Vec::new();
    let mut interfaces = Vec::new();
    for Translated { program, translation, constants } in translate(arena.gpu, corpus, scene)? {
        stages.push((program.stage, translation.spirv));
        interfaces.push((program, translation.interface, constants));
    }
    let main = interfaces
        .iter()
        .find(|(p, ..)| p.name == scene.main.name)
        .map(|(_, interface, _)| interface)
        .context("the program under test is a stage")?;
    let registered = register(tables, arena, scene, resources, main)?;
    patch_handles(scene, resources, &registered);

    let sizes = [
        vk::DescriptorPoolSize { ty: vk::DescriptorType::UNIFORM_BUFFER, descriptor_count: 18 * 5 },
        vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 16 * 5 },
    ];
    let mut sets = vec![tables.set];
    sets.extend(arena.sets(&tables.layouts[1..], &sizes, false)?);
    for (program, interface, constants) in &interfaces {
        let set = sets[program.stage.descriptor_set() as usize];
        let none = Resources::default();
        let own = if program.name == scene.main.name { resources } else { &none };
        let bank0 = arena.buffer(BANK0_BYTES as u64, &bank0(scene, program, own, &registered))?;
        let bank1 = arena.buffer(constants.len().next_multiple_of(16) as u64, constants)?;
        bind_stage(tables, set, interface, own, &bank0, &bank1);
    }
    Ok(Form { stages, layout: tables.layout, sets, guest: true, scene })
}

/// One stage through the translator.
pub struct Translated<'a> {
    /// The stage's program.
    pub program: &'a Program,
    /// SPIR-V and interface.
    pub translation: Translation,
    /// Constant data: bank 1.
    pub constants: Vec<u8>,
}

/// Translates every stage of `scene`.
///
/// # Errors
/// If a file is missing or is no program, or the translator refuses one.
pub fn translate<'a>(gpu: &Gpu, corpus: &Corpus, scene: &Scene<'a>) -> Result<Vec<Translated<'a>>, Refusal> {
    let mut translator = Translator::new();
    let mut translations = Vec::new();
    for program in &scene.stages {
        let (control, code) = corpus.guest(&program.name)?;
        let parsed = GuestProgram::parse(&control, &code)?;
        let translation = translator
            .translate(&parsed, &options(gpu, scene, program))
            .map_err(|error| Refusal::Unsupported { program: program.name.clone(), error })?;
        translations.push(Translated { program, translation, constants: parsed.constants.to_vec() });
    }
    Ok(translations)
}

/// Translation options for one stage of a scene.
fn options(gpu: &Gpu, scene: &Scene<'_>, program: &Program) -> Options {
    let mut options = Options::new(ConstantLayout::Corpus);
    options.subgroup_size = gpu.subgroup_size;
    let table = options.layout;
    options.texture_kinds = program
        .textures
        .iter()
        .flat_map(|t| (0..t.count).map(move |e| (table.texture_word(t.binding + e), t.kind)))
        .chain(program.images.iter().flat_map(|i| (0..i.count).map(move |e| (table.image_word(i.binding + e), i.kind))))
        .collect();
    if let Some(draw) = scene.draw() {
        for attribute in draw.attributes.iter().filter(|_| program.stage == Stage::Vertex) {
            options.attribute_types[attribute.location as usize % 32] = attribute.ty;
        }
        for target in draw.targets.iter().filter(|_| program.stage == Stage::Fragment) {
            options.colour_types[target.location as usize % 8] = target.ty;
        }
        if draw.patch > 0 {
            options.patch_vertices = draw.patch;
        }
    }
    options.tessellation = match program.stage {
        Stage::TessEvaluation => program.tessellation(),
        Stage::TessControl => scene.stages.iter().find_map(|p| match p.stage {
            Stage::TessEvaluation => p.tessellation(),
            _ => None,
        }),
        _ => None,
    };
    if program.stage == Stage::Geometry {
        options.geometry_input = program.geometry_input();
    }
    let (core, f12, float) = (&gpu.features, &gpu.features12, &gpu.float_controls);
    let on = |b: vk::Bool32| b == vk::TRUE;
    options.features = DeviceFeatures::empty();
    for (flag, enabled) in [
        (DeviceFeatures::FLOAT64, on(core.shader_float64)),
        (DeviceFeatures::INT64, on(core.shader_int64)),
        (DeviceFeatures::FLUSH_DENORMS, on(float.shader_denorm_flush_to_zero_float32)),
        (DeviceFeatures::PRESERVE_DENORMS, on(float.shader_denorm_preserve_float32)),
        (DeviceFeatures::PRESERVE_NAN, on(float.shader_signed_zero_inf_nan_preserve_float32)),
        (DeviceFeatures::PRESERVE_NAN64, on(float.shader_signed_zero_inf_nan_preserve_float64)),
        (DeviceFeatures::OUTPUT_LAYER, on(f12.shader_output_layer) && on(f12.shader_output_viewport_index)),
        (
            DeviceFeatures::FORMATLESS_IMAGES,
            on(core.shader_storage_image_read_without_format) && on(core.shader_storage_image_write_without_format),
        ),
        (DeviceFeatures::SAMPLE_SHADING, on(core.sample_rate_shading)),
    ] {
        options.features.set(flag, enabled);
    }
    options
}

/// Puts the resources into the tables: slots, ids that differ from them, guest pages.
fn register(
    tables: &Tables<'_>,
    arena: &Arena<'_>,
    scene: &Scene<'_>,
    resources: &Resources,
    interface: &Interface,
) -> Result<Registered> {
    let layout = ConstantLayout::Corpus.table();
    let mut texture_ids = vec![0u32; IDS as usize];
    let mut sampler_ids = vec![0u32; IDS as usize];
    let mut slot = 4;
    let mut registered =
        Registered { textures: Vec::new(), images: Vec::new(), storage: Vec::new(), uniforms: Vec::new() };
    for texture in &resources.textures {
        slot += 1;
        let (id, sampler_id) = (256 + 7 * slot, 40 + 3 * slot);
        texture_ids[id as usize] = slot;
        sampler_ids[sampler_id as usize] = slot;
        tables.write_sampler(slot, texture.sampler);
        let word = layout.texture_word(texture.binding + texture.element);
        let mut kinds = vec![texture.kind];
        kinds.extend(interface.textures.iter().filter(|u| u.handle == HandleSource::Bound(word)).map(|u| u.kind));
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let at = binding::TEXTURES + kind as u32;
            match &texture.texels {
                Texels::Buffer(buffer) => {
                    same_kind(scene, kind, ViewKind::Buffer)?;
                    tables.write_texel_buffer(at, slot, arena.buffer_view(buffer, texture.format)?);
                }
                Texels::Image(image) => {
                    let view = view(arena, scene, image, texture.kind, kind, texture.format)?;
                    tables.write_image(at, slot, view, vk::DescriptorType::SAMPLED_IMAGE);
                }
            }
        }
        registered.textures.push(id | sampler_id << 20);
    }
    for image in &resources.images {
        slot += 1;
        let id = 256 + 7 * slot;
        texture_ids[id as usize] = slot;
        let word = layout.image_word(image.binding + image.element);
        let mut uses = vec![(image.kind, false), (image.kind, true)];
        uses.extend(interface.images.iter().filter(|u| u.handle == HandleSource::Bound(word)).map(|u| (u.kind, u.raw)));
        uses.sort_unstable();
        uses.dedup();
        for (kind, raw) in uses {
            let (first, format) =
                if raw { (binding::IMAGES_RAW, image.texel.raw) } else { (binding::IMAGES_TYPED, image.texel.format) };
            let at = first + kind as u32;
            match &image.texels {
                Texels::Buffer(buffer) => {
                    same_kind(scene, kind, ViewKind::Buffer)?;
                    tables.write_texel_buffer(at, slot, arena.buffer_view(buffer, format)?);
                }
                Texels::Image(texels) => {
                    let view = view(arena, scene, texels, image.kind, kind, format)?;
                    tables.write_image(at, slot, view, vk::DescriptorType::STORAGE_IMAGE);
                }
            }
        }
        registered.images.push(id);
    }
    tables.texture_ids.write(0, bytemuck::cast_slice(&texture_ids));
    tables.sampler_ids.write(0, bytemuck::cast_slice(&sampler_ids));

    let mut leaf = [tables.zero_page.address; ENTRIES];
    let mut address = FIRST_ADDRESS;
    let mut map = |buffer: &Buffer| {
        let at = address;
        leaf[(at >> 16) as usize % ENTRIES] = buffer.address;
        address += 2 * PAGE;
        at
    };
    registered.storage = resources.storage.iter().map(|b| map(&b.buffer)).collect();
    registered.uniforms = resources.uniforms.iter().map(|b| map(&b.buffer)).collect();
    tables.leaf.write(0, bytemuck::cast_slice(&leaf));
    Ok(registered)
}

fn same_kind(scene: &Scene<'_>, used: ViewKind, is: ViewKind) -> Result<()> {
    if used != is {
        bail!("{}: the interface names a {used:?} view of a {is:?}", scene.main.name);
    }
    Ok(())
}

/// A view of `image`, declared as `declared`, as the program's instructions take it.
fn view(
    arena: &Arena<'_>,
    scene: &Scene<'_>,
    image: &Image,
    declared: ViewKind,
    used: ViewKind,
    format: vk::Format,
) -> Result<vk::ImageView> {
    // 1D, 2D and cube textures are all layers to the machine.
    let family = |kind: ViewKind| match kind {
        ViewKind::D1 | ViewKind::D1Array => 1,
        ViewKind::D2 | ViewKind::D2Array | ViewKind::Cube | ViewKind::CubeArray => 2,
        ViewKind::D3 => 3,
        ViewKind::D2Multisampled | ViewKind::D2MultisampledArray => 4,
        ViewKind::Buffer => 5,
    };
    let cube = matches!(used, ViewKind::Cube | ViewKind::CubeArray);
    if family(declared) != family(used) || cube && image.layers < 6 {
        bail!("{}: the interface names a {used:?} view of a {declared:?}", scene.main.name);
    }
    let mut range = image.range();
    match used {
        ViewKind::D1 | ViewKind::D2 | ViewKind::D2Multisampled => range.layer_count = 1,
        ViewKind::Cube => range.layer_count = 6,
        _ => {}
    }
    Ok(arena.view_range(image, view_type(used), format, range)?)
}

/// The bindless programs find handles in a uniform block: texture k in the x word of element k.
fn patch_handles(scene: &Scene<'_>, resources: &Resources, registered: &Registered) {
    if !scene.main.name.starts_with("tex_bindless") || registered.textures.is_empty() {
        return;
    }
    for block in &resources.uniforms {
        for k in 0..(block.range / 16) as usize {
            // `tex_bindless_kinds` has fewer textures than elements; those past the last are not read.
            let handle = registered.textures[k % registered.textures.len()];
            block.buffer.write(16 * k as u64, bytemuck::bytes_of(&[handle, 0u32, 0, 0]));
        }
    }
}

/// The driver's constants of one stage, in the layout of the corpus's compiler.
fn bank0(scene: &Scene<'_>, program: &Program, own: &Resources, registered: &Registered) -> Vec<u8> {
    let layout = ConstantLayout::Corpus.table();
    let mut bank = vec![0u8; BANK0_BYTES];
    let mut put = |at: u32, word: u32| {
        if let Some(place) = bank.get_mut(at as usize..at as usize + 4) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    };
    match &scene.work {
        Work::Draw(draw) if program.stage == Stage::Vertex => {
            put(layout.base_vertex, draw.first_vertex);
            put(layout.base_instance, draw.first_instance);
            put(layout.draw_index, 0);
        }
        Work::Dispatch(groups) => {
            for (at, n) in layout.workgroup_count.into_iter().flatten().zip(groups) {
                put(at, *n);
            }
        }
        Work::Draw(draw) => {
            if let (Stage::Fragment, Some(first)) = (program.stage, layout.sample_positions) {
                // Vulkan's standard positions in sixteenths.
                let positions: &[(u32, u32)] =
                    if draw.samples == 4 { &[(6, 2), (14, 6), (2, 10), (10, 14)] } else { &[(8, 8)] };
                // This program hands the words to IPA, which takes offsets from the centre with 12 fraction bits
                // in each half: no table can serve both (status caution).
                let offsets = program.name == "fs_interpolate_at_sample";
                for entry in 0..64u32 {
                    let (x, y) = positions[(entry % 8) as usize % positions.len()];
                    let offset = |n: u32| ((n as i32 - 8) * 256) as u32 & 0xFFFF;
                    let word = if offsets { offset(x) | offset(y) << 16 } else { x << 12 | y << 28 };
                    put(first + 4 * entry, word);
                }
            }
        }
    }
    for (texture, handle) in own.textures.iter().zip(&registered.textures) {
        put(4 * layout.texture_word(texture.binding + texture.element), *handle);
    }
    for (image, id) in own.images.iter().zip(&registered.images) {
        put(4 * layout.image_word(image.binding + image.element), *id);
    }
    for (storage, address) in own.storage.iter().zip(&registered.storage) {
        let at = layout.storage_entry(program.stage, storage.binding + storage.element);
        put(at, *address as u32);
        put(at + 4, (*address >> 32) as u32);
        put(at + 8, STORAGE_BYTES as u32);
    }
    if let (Stage::Compute, Some(first)) = (program.stage, layout.compute_block_pointers) {
        for (block, address) in own.uniforms.iter().zip(&registered.uniforms) {
            let id = block.binding + block.element;
            if id >= 5 {
                put(first + 8 * id, *address as u32);
                put(first + 8 * id + 4, (*address >> 32) as u32);
            }
        }
    }
    bank
}

/// Writes the banks and storage slots that the interface names.
fn bind_stage(
    tables: &Tables<'_>,
    set: vk::DescriptorSet,
    interface: &Interface,
    own: &Resources,
    bank0: &Buffer,
    bank1: &Buffer,
) {
    let gpu = tables.arena.gpu;
    for bank in (0..binding::STORAGE).filter(|b| interface.constant_banks >> b & 1 == 1) {
        let block = own.uniforms.iter().find(|u| u.binding + u.element + 3 == bank);
        let (buffer, range) = match (bank, block) {
            (0, _) => (bank0, BANK0_BYTES as u64),
            (1, _) => (bank1, bank1.size),
            (_, Some(block)) => (&block.buffer, block.range),
            (_, None) => (&tables.zero_page, PAGE),
        };
        write_buffer(gpu, set, bank, vk::DescriptorType::UNIFORM_BUFFER, buffer, range);
    }
    for slot in (0..16).filter(|s| interface.storage_slots >> s & 1 == 1) {
        let storage = own.storage.iter().find(|s| s.binding + s.element == slot);
        let buffer = storage.map_or(&tables.zero_page, |s| &s.buffer);
        write_buffer(gpu, set, binding::STORAGE + slot, vk::DescriptorType::STORAGE_BUFFER, buffer, vk::WHOLE_SIZE);
    }
}
