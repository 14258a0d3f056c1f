//! Untiling and tiling on the GPU against the CPU's copies, bit for bit.

mod common;

use common::*;
use navin_texture::swizzle::Pitch;
use navin_texture::{
    Format, GobOrder, Layout, LayoutInput, PackagedLayout, Region, Target, TextureFlags, tile, untile,
};
use navin_vulkan::tiling::{Part, RowsLayout, Storage};
use navin_vulkan::{Buffer, BufferRange, Image, ImageDesc, MemoryKind, Readback, TilingError, vk};

const ORDERS: [GobOrder; 2] = [GobOrder::TegraX1, GobOrder::Successor];

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// From `low` to `high`, both included.
    fn within(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % u64::from(high - low + 1)) as u32
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.within(1, one_in) == 1
    }

    fn bytes(&mut self, len: u64) -> Vec<u8> {
        (0..len.div_ceil(8)).flat_map(|_| self.next().to_ne_bytes()).take(len as usize).collect()
    }
}

/// Some texture of less than 200 KB.
fn random_layout(random: &mut Random) -> Layout {
    const TARGETS: [Target; 9] = [
        Target::D1,
        Target::D2,
        Target::D3,
        Target::D1Array,
        Target::D2Array,
        Target::D2Multisample,
        Target::D2MultisampleArray,
        Target::Cube,
        Target::CubeArray,
    ];
    loop {
        let Some(format) = Format::from_nvn(random.within(1, 0xB0) as i32) else { continue };
        let target = TARGETS[random.within(0, 8) as usize];
        let side = if target == Target::D3 { 60 } else { 200 };
        let mut input = LayoutInput::new_2d(format, random.within(1, side), random.within(1, side));
        input.target = target;
        input.depth = random.within(1, 40);
        input.layers = match target {
            Target::Cube => 6,
            Target::CubeArray => 6 * random.within(1, 2),
            _ => random.within(1, 4),
        };
        if target.is_multisample() {
            input.samples = 1 << random.within(0, 3);
        } else {
            input.levels = random.within(1, 6);
        }
        if random.chance(4) {
            input.flags = TextureFlags::MINIMAL_LAYOUT;
        } else if random.chance(4) {
            let mut log2 = || random.within(0, 5) as u8;
            input.packaged =
                Some(PackagedLayout { block_height_log2: log2(), block_depth_log2: log2(), tile_width_log2: 0 });
        }
        match Layout::new(&input) {
            Ok(layout) if layout.size < 200_000 && layout.row_stride == 0 => return layout,
            _ => {}
        }
    }
}

fn random_part(random: &mut Random, layout: &Layout) -> Part {
    let level = random.within(0, layout.levels.len() as u32 - 1);
    let mut part = Part::level(layout, level).expect("there is this level");
    part.first_layer = random.within(0, layout.layers - 1);
    part.layers = random.within(1, layout.layers - part.first_layer);
    if !random.chance(3) {
        let mut cut = |from: &mut u32, count: &mut u32| {
            *from = random.within(0, *count - 1);
            *count = random.within(1, *count - *from);
        };
        let region = &mut part.region;
        cut(&mut region.x, &mut region.width);
        cut(&mut region.y, &mut region.height);
        cut(&mut region.z, &mut region.depth);
    }
    part
}

fn storage<'a>(buffer: &Buffer, layout: &'a Layout, order: GobOrder) -> Storage<'a> {
    Storage { range: buffer.range(0, layout.size), layout, order }
}

fn contents(buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.size() as usize];
    assert!(buffer.read(0, &mut bytes));
    bytes
}

/// Each part's rows as the CPU takes them out of the storage: those of the layers one after the other, tight.
fn on_cpu(bytes: &[u8], layout: &Layout, order: GobOrder, part: &Part) -> Vec<u8> {
    let level = &layout.levels[part.level as usize];
    let pitch = Pitch::packed(level, &part.region);
    let mut all = Vec::new();
    for layer in part.first_layer..part.first_layer + part.layers {
        let mut rows = vec![0; pitch.slice * part.region.depth as usize];
        let at = layout.offset(part.level, layer).expect("there is this layer") as usize;
        untile(&mut rows, pitch, &bytes[at..], level, order, part.region).expect("inside");
        all.extend(rows);
    }
    all
}

/// The same out of rows as the GPU lays them out.
fn tight(bytes: &[u8], layout: &Layout, part: &Part) -> Vec<u8> {
    let level = &layout.levels[part.level as usize];
    let rows = RowsLayout::new(level, &part.region, part.layers);
    let width = (part.region.width * level.bytes_per_block) as usize;
    let mut all = Vec::new();
    for layer in 0..u64::from(part.layers) {
        for z in 0..u64::from(part.region.depth) {
            for y in 0..u64::from(part.region.height) {
                let at = (rows.skip + layer * rows.layer + z * rows.slice + y * rows.row) as usize;
                all.extend_from_slice(&bytes[at..at + width]);
            }
        }
    }
    all
}

/// Puts rows as the GPU lays them out into storage by the CPU.
fn tile_on_cpu(bytes: &mut [u8], layout: &Layout, order: GobOrder, part: &Part, rows_bytes: &[u8]) {
    let level = &layout.levels[part.level as usize];
    let rows = RowsLayout::new(level, &part.region, part.layers);
    let pitch = Pitch { row: rows.row as usize, slice: rows.slice as usize };
    for (n, layer) in (part.first_layer..part.first_layer + part.layers).enumerate() {
        let from = &rows_bytes[(rows.skip + n as u64 * rows.layer) as usize..];
        let at = layout.offset(part.level, layer).expect("there is this layer") as usize;
        tile(&mut bytes[at..], level, order, part.region, from, pitch).expect("inside");
    }
}

/// Runs the cases, many in a submission, and compares.
fn check(context: &Fixture, random: &mut Random, cases: impl IntoIterator<Item = (Layout, GobOrder, Part)>) -> usize {
    let mut cases = cases.into_iter();
    let mut count = 0;
    loop {
        let group: Vec<_> = cases.by_ref().take(32).collect();
        if group.is_empty() {
            return count;
        }
        count += group.len();
        let mut encoder = context.queue().begin().expect("encoder");
        let mut runs = Vec::new();
        for (layout, order, part) in &group {
            let level = &layout.levels[part.level as usize];
            let size = RowsLayout::new(level, &part.region, part.layers).size;
            let before = random.bytes(layout.size);
            let source = upload_buffer(context, &before);
            let rows = Buffer::new(context, size, MemoryKind::Readback, "rows").expect("buffer");
            let new = random.bytes(size);
            let new_rows = upload_buffer(context, &new);
            let target = upload_buffer(context, &before);
            encoder.untile_to_rows(&storage(&source, layout, *order), part, rows.range(0, size)).expect("untiled");
            encoder.tile_from_rows(&storage(&target, layout, *order), part, new_rows.range(0, size)).expect("tiled");
            runs.push((before, source, rows, new, new_rows, target));
        }
        submit_and_wait(context, encoder);
        for ((layout, order, part), (before, source, rows, new, _, target)) in group.iter().zip(&runs) {
            let level = &layout.levels[part.level as usize];
            let what = || format!("{order:?} {part:?} of {level:?}");
            assert_eq!(tight(&contents(rows), layout, part), on_cpu(before, layout, *order, part), "{}", what());
            assert!(contents(source) == *before, "untiling wrote to the storage: {}", what());
            let mut expected = before.clone();
            tile_on_cpu(&mut expected, layout, *order, part, new);
            let is = contents(target);
            let wrong = is.iter().zip(&expected).position(|(a, b)| a != b);
            assert_eq!(wrong, None, "tiling differs there: {}", what());
        }
    }
}

#[test]
fn b305_gpu_copies_equal_the_cpus_for_random_layouts_and_regions() {
    let Some(context) = open() else { return };
    let mut random = Random(305);
    let cases: Vec<_> = (0..640)
        .map(|n| {
            let layout = random_layout(&mut random);
            let part = random_part(&mut random, &layout);
            (layout, ORDERS[n % 2], part)
        })
        .collect();
    assert!(cases.iter().filter(|(l, _, _)| l.levels[0].slices > 1).count() > 30, "3D textures among them");
    assert!(cases.iter().filter(|(l, _, _)| l.layers > 1).count() > 100, "arrays among them");
    for bytes in [1, 2, 3, 4, 6, 8, 12, 16] {
        assert!(cases.iter().any(|(l, _, _)| l.levels[0].bytes_per_block == bytes), "{bytes} bytes a block");
    }
    assert_eq!(check(&context, &mut random, cases), 640);
}

/// The pieces of the order's table, each at its place: an order read for the other fails.
#[test]
fn b305_the_gpu_keeps_the_orders_apart() {
    let Some(context) = open() else { return };
    let layout = Layout::new(&LayoutInput::new_2d(Format::RGBA8.info(), 16, 8)).expect("one GOB");
    let part = Part::level(&layout, 0).expect("a level");
    let bytes: Vec<u8> = (0..32).flat_map(|piece| [piece; 16]).collect();
    let buffer = upload_buffer(&context, &bytes);
    for (order, x16, row2) in [(GobOrder::TegraX1, 2, 4), (GobOrder::Successor, 4, 2)] {
        let rows = Buffer::new(&context, 512, MemoryKind::Readback, "rows").expect("buffer");
        let mut encoder = context.queue().begin().expect("encoder");
        encoder.untile_to_rows(&storage(&buffer, &layout, order), &part, rows.range(0, 512)).expect("untiled");
        submit_and_wait(&context, encoder);
        let rows = contents(&rows);
        assert_eq!((rows[16], rows[2 * 64]), (x16, row2), "{order:?}: byte 16 of row 0, byte 0 of row 2");
    }
}

#[test]
fn b306_b307_the_gpu_follows_packaged_and_minimal_layouts() {
    let Some(context) = open() else { return };
    let mut random = Random(306);
    let input = |format: Format, target, width, height, depth| {
        let mut input = LayoutInput::new_2d(format.info(), width, height);
        (input.target, input.depth) = (target, depth);
        input
    };
    let mut inputs = Vec::new();
    for byte in [0x32, 0x21] {
        let mut packaged = input(Format::RGBA8, Target::D3, 64, 48, 32);
        packaged.levels = 6;
        packaged.packaged = Some(PackagedLayout::from_bytes([byte, 0, 0, 0, 0, 0, 0, 0]));
        inputs.push(packaged);
    }
    let mut small = input(Format::RGB565, Target::D2, 320, 320, 1);
    small.flags = TextureFlags::MINIMAL_LAYOUT;
    inputs.push(small);
    let mut array = input(Format::RGBA8, Target::D2Array, 72, 136, 1);
    (array.levels, array.layers, array.flags) = (5, 3, TextureFlags::MINIMAL_LAYOUT);
    inputs.push(array);
    let mut cases = Vec::new();
    for input in &inputs {
        let layout = Layout::new(input).expect("a texture");
        for order in ORDERS {
            cases.extend(Part::all(&layout).into_iter().map(|part| (layout.clone(), order, part)));
        }
    }
    assert_eq!(check(&context, &mut random, cases), 2 * (6 + 6 + 1 + 5));
}

/// An image that a layout's texture is.
fn image(context: &Fixture, input: &LayoutInput, format: vk::Format) -> std::sync::Arc<Image> {
    let layout = Layout::new(input).expect("a texture");
    let mut desc = ImageDesc::new_2d(format, input.width, input.height, vk::ImageUsageFlags::SAMPLED);
    desc.extent.depth = layout.levels[0].depth;
    desc.kind = match input.target {
        Target::D1 | Target::D1Array => vk::ImageType::TYPE_1D,
        Target::D3 => vk::ImageType::TYPE_3D,
        _ => vk::ImageType::TYPE_2D,
    };
    desc.levels = input.levels;
    desc.layers = layout.layers;
    desc.cube = input.target == Target::Cube;
    Image::new(context, &desc, "tiling").expect("image")
}

/// Fills an image from storage, reads it back, and stores it again.
fn there_and_back(
    context: &Fixture,
    input: &LayoutInput,
    format: vk::Format,
    order: GobOrder,
    aspect: vk::ImageAspectFlags,
) {
    let what = format!("{format:?} {:?} {}x{}x{}", input.target, input.width, input.height, input.depth);
    let layout = Layout::new(input).expect("a texture");
    let mut random = Random(u64::from(input.width) << 32 | u64::from(input.height));
    let mut bytes = random.bytes(layout.size);
    if aspect == vk::ImageAspectFlags::DEPTH {
        // Depths between 0 and 1, which come through unchanged.
        bytes.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&[word[0], word[1], word[2], 0x3E]));
    }
    let source = upload_buffer(context, &bytes);
    let ground = random.bytes(layout.size);
    let target = upload_buffer(context, &ground);
    let image = image(context, input, format);
    let parts = Part::all(&layout);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.untile_to_image(&storage(&source, &layout, order), &parts, &image, aspect).expect("filled");
    encoder.barrier_all();
    let readbacks: Vec<_> = (0..input.levels)
        .map(|level| Readback::record(&mut encoder, &image, aspect, level, 0, layout.layers).expect("readback"))
        .collect();
    encoder.tile_from_image(&storage(&target, &layout, order), &parts, &image, aspect).expect("stored");
    submit_and_wait(context, encoder);
    let mut expected = ground;
    for (part, readback) in parts.iter().zip(&readbacks) {
        let rows = on_cpu(&bytes, &layout, order, part);
        assert!(readback.bytes() == rows, "{what}: level {} in the image", part.level);
        let level = &layout.levels[part.level as usize];
        let pitch = Pitch::packed(level, &part.region);
        let layer_bytes = level.packed_bytes() as usize;
        for layer in 0..layout.layers {
            let at = layout.offset(part.level, layer).expect("there is this layer") as usize;
            let from = &rows[layer as usize * layer_bytes..];
            tile(&mut expected[at..], level, order, part.region, from, pitch).expect("inside");
        }
    }
    assert!(contents(&target) == expected, "{what}: storage");
}

#[test]
fn b305_images_are_filled_and_stored_by_the_gpu() {
    let Some(context) = open() else { return };
    let color = vk::ImageAspectFlags::COLOR;
    let cases: [(Format, vk::Format, Target, [u32; 3], u32, u32); 12] = [
        (Format::RGBA8, vk::Format::R8G8B8A8_UNORM, Target::D2, [131, 77, 1], 1, 8),
        (Format::R8, vk::Format::R8_UNORM, Target::D2, [333, 21, 1], 1, 3),
        (Format::RG16, vk::Format::R16G16_UNORM, Target::D2Array, [40, 90, 1], 5, 4),
        (Format::RGBA16F, vk::Format::R16G16B16A16_SFLOAT, Target::D3, [33, 33, 33], 1, 6),
        (Format::RGBA32UI, vk::Format::R32G32B32A32_UINT, Target::Cube, [64, 64, 1], 6, 7),
        (Format::R16, vk::Format::R16_UNORM, Target::D1, [500, 1, 1], 1, 9),
        (Format::R32UI, vk::Format::R32_UINT, Target::D1Array, [77, 1, 1], 6, 2),
        (Format::BPTC_UNORM, vk::Format::BC7_UNORM_BLOCK, Target::D2, [130, 250, 1], 1, 8),
        (Format::RGB_DXT1, vk::Format::BC1_RGB_UNORM_BLOCK, Target::D2Array, [64, 100, 1], 3, 7),
        (Format::RGTC1_UNORM, vk::Format::BC4_UNORM_BLOCK, Target::Cube, [36, 36, 1], 6, 3),
        (Format::RGBA8, vk::Format::R8G8B8A8_UNORM, Target::D2, [1, 1, 1], 1, 1),
        (Format::DEPTH32F, vk::Format::D32_SFLOAT, Target::D2, [90, 60, 1], 1, 2),
    ];
    for (format, vk_format, target, [width, height, depth], layers, levels) in cases {
        for order in ORDERS {
            let mut input = LayoutInput::new_2d(format.info(), width, height);
            (input.target, input.depth, input.layers, input.levels) = (target, depth, layers, levels);
            let aspect = if format == Format::DEPTH32F { vk::ImageAspectFlags::DEPTH } else { color };
            there_and_back(&context, &input, vk_format, order, aspect);
        }
    }
}

/// B309: storage in rows is copied as it is, pitch and all.
#[test]
fn b309_linear_storage_goes_without_a_shader() {
    let Some(context) = open() else { return };
    let color = vk::ImageAspectFlags::COLOR;
    for (flags, stride) in
        [(TextureFlags::LINEAR, 0), (TextureFlags::LINEAR_RENDER_TARGET, 0), (TextureFlags::LINEAR, 192)]
    {
        let mut input = LayoutInput::new_2d(Format::RGBA8.info(), 37, 11);
        (input.flags, input.stride) = (flags, stride);
        there_and_back(&context, &input, vk::Format::R8G8B8A8_UNORM, GobOrder::TegraX1, color);
    }
}

/// More than scratch memory holds goes through it in bands.
#[test]
fn large_textures_go_through_scratch_memory_in_bands() {
    let Some(context) = open() else { return };
    let mut input = LayoutInput::new_2d(Format::RGBA8.info(), 3000, 3100);
    input.levels = 2;
    assert!(Layout::new(&input).expect("a texture").size > navin_vulkan::tiling::SCRATCH);
    let color = vk::ImageAspectFlags::COLOR;
    there_and_back(&context, &input, vk::Format::R8G8B8A8_UNORM, GobOrder::TegraX1, color);
}

#[test]
fn parts_that_are_not_there_are_refused() {
    let Some(context) = open() else { return };
    let mut input = LayoutInput::new_2d(Format::RGBA8.info(), 64, 64);
    input.levels = 2;
    let layout = Layout::new(&input).expect("a texture");
    let buffer = Buffer::new(&context, layout.size + 64, MemoryKind::Device, "storage").expect("buffer");
    let good = storage(&buffer, &layout, GobOrder::TegraX1);
    let color = vk::ImageAspectFlags::COLOR;
    let fits = image(&context, &input, vk::Format::R8G8B8A8_UNORM);
    let other = image(&context, &input, vk::Format::R16_UNORM);
    let whole = Part::level(&layout, 0).expect("a level");
    let mut encoder = context.queue().begin().expect("encoder");
    let mut refused = |storage: &Storage<'_>, part: Part, image| {
        encoder.untile_to_image(storage, &[part], image, color).expect_err("refused")
    };
    for part in [
        Part { level: 2, ..whole },
        Part { first_layer: 1, ..whole },
        Part { layers: 0, ..whole },
        Part { region: Region { x: 1, ..whole.region }, ..whole },
        Part { region: Region { y: u32::MAX, height: 2, ..whole.region }, ..whole },
    ] {
        assert!(matches!(refused(&good, part, &fits), TilingError::Part { .. }), "{part:?}");
    }
    assert!(matches!(refused(&good, whole, &other), TilingError::Texels { image: 2, storage: 4 }));
    let short = Storage { range: buffer.range(0, layout.size - 1), ..good };
    assert!(matches!(refused(&short, whole, &fits), TilingError::Short { .. }));
    let crooked = Storage { range: buffer.range(8, layout.size), ..good };
    assert!(matches!(refused(&crooked, whole, &fits), TilingError::Misaligned(_)));
    let rows: BufferRange = buffer.range(0, 16);
    assert!(matches!(encoder.untile_to_rows(&good, &whole, rows), Err(TilingError::Short { .. })));
    submit_and_wait(&context, encoder);
}
