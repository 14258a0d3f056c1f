//! Untiling and tiling on the device against a plain buffer copy of the same bytes: GPU timestamps, ratios of one run.
//!
//! `cargo run --release -p navin-vulkan --example tiling`, or the binary alone: it needs nothing but a Vulkan driver.
//! All sides take turns, and each side's fastest run counts. A ratio of 1 is as fast as the copy (goal on a discrete
//! GPU: 0.7 and more). "in a row": eight runs over buffers of their own without a barrier in between, which hides what
//! beginning and ending one costs; "alone": one run between two barriers.

use std::sync::Arc;
use std::time::Duration;

use navin_texture::{Format, GobOrder, Layout, LayoutInput};
use navin_vulkan::tiling::{Part, RowsLayout, Storage};
use navin_vulkan::{Buffer, Context, Encoder, Image, ImageDesc, MemoryKind, OpenOptions, QueryPool, vk};

/// Runs in a row.
const ROW: usize = 8;

struct Sides<'a> {
    storages: Vec<Buffer>,
    copies: Vec<Buffer>,
    rows: Vec<Buffer>,
    image: Arc<Image>,
    layout: &'a Layout,
    part: Part,
}

impl Sides<'_> {
    fn storage(&self, n: usize) -> Storage<'_> {
        let range = self.storages[n].range(0, self.layout.size);
        Storage { range, layout: self.layout, order: GobOrder::TegraX1 }
    }

    fn copy(&self, encoder: &mut Encoder, n: usize) {
        let size = self.layout.levels[0].packed_bytes();
        encoder.copy_buffer(self.storages[n].raw(), self.copies[n].raw(), &[vk::BufferCopy2::default().size(size)]);
    }

    fn untile(&self, encoder: &mut Encoder, n: usize) {
        let rows = &self.rows[n];
        encoder.untile_to_rows(&self.storage(n), &self.part, rows.range(0, rows.size())).expect("untiled");
    }

    fn tile(&self, encoder: &mut Encoder, n: usize) {
        let rows = &self.rows[n];
        encoder.tile_from_rows(&self.storage(n), &self.part, rows.range(0, rows.size())).expect("tiled");
    }

    fn upload(&self, encoder: &mut Encoder, n: usize) {
        let color = vk::ImageAspectFlags::COLOR;
        encoder.untile_to_image(&self.storage(n), &[self.part], &self.image, color).expect("filled");
    }

    /// The second half of `upload`: rows that lie there already into the image.
    fn fill_from_rows(&self, encoder: &mut Encoder, n: usize) {
        let copy = vk::BufferImageCopy2::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(self.image.level_extent(0));
        encoder.copy_buffer_to_image(self.rows[n].raw(), &self.image, &[copy]);
    }

    fn store(&self, encoder: &mut Encoder, n: usize) {
        let color = vk::ImageAspectFlags::COLOR;
        encoder.tile_from_image(&self.storage(n), &[self.part], &self.image, color).expect("stored");
    }
}

/// What is timed: its name, what it does `n` times, and whether several may follow each other without a barrier.
type Run<'a> = (&'static str, fn(&Sides<'a>, &mut Encoder, usize), bool);

fn main() {
    let context = Context::open(&OpenOptions::default()).expect("a Vulkan device");
    let report = context.report();
    println!("{} ({}), timestamps of {} ns", report.device, report.kind, report.limits.timestamp_period);
    let slow = report.kind == "cpu";
    for (name, format, vk_format, width, height) in [
        ("BC7 2048x2048", Format::BPTC_UNORM, vk::Format::BC7_UNORM_BLOCK, 2048, 2048),
        ("RGBA8 1920x1080", Format::RGBA8, vk::Format::R8G8B8A8_UNORM, 1920, 1080),
        ("RGBA16F 1280x720", Format::RGBA16F, vk::Format::R16G16B16A16_SFLOAT, 1280, 720),
        // Few devices have ASTC: an image with a texel of 16 bytes for each block.
        ("ASTC 6x6 1024x1024", Format::RGBA_ASTC_6X6, vk::Format::R32G32B32A32_UINT, 1024, 1024),
    ] {
        for (place, kind) in [("device memory", MemoryKind::Device), ("host memory", MemoryKind::Readback)] {
            let layout = Layout::new(&LayoutInput::new_2d(format.info(), width, height)).expect("a texture");
            let level = layout.levels[0];
            let part = Part::level(&layout, 0).expect("a level");
            let rows = RowsLayout::new(&level, &part.region, 1).size;
            let buffers = |size, kind| -> Vec<Buffer> {
                (0..ROW).map(|_| Buffer::new(&context, size, kind, "tiling").expect("memory")).collect()
            };
            let block_is_texel = vk_format == vk::Format::R32G32B32A32_UINT;
            let (width, height) = if block_is_texel { (level.columns, level.rows) } else { (width, height) };
            let desc = ImageDesc::new_2d(vk_format, width, height, vk::ImageUsageFlags::SAMPLED);
            let image = Image::new(&context, &desc, "tiling").expect("image");
            let sides = Sides {
                storages: buffers(layout.size, kind),
                copies: buffers(layout.size, MemoryKind::Device),
                rows: buffers(rows, MemoryKind::Device),
                image,
                layout: &layout,
                part,
            };
            measure(&context, &format!("{name}, storage in {place}"), &sides, if slow { 3 } else { 60 });
        }
    }
}

fn measure(context: &Arc<Context>, name: &str, sides: &Sides<'_>, rounds: usize) {
    let runs: [Run<'_>; 6] = [
        ("copy", Sides::copy, true),
        ("untile", Sides::untile, true),
        ("tile", Sides::tile, true),
        ("untile to image", Sides::upload, false),
        ("rows to image", Sides::fill_from_rows, false),
        ("tile from image", Sides::store, false),
    ];
    let pool = QueryPool::new(context, vk::QueryType::TIMESTAMP, 2).expect("queries");
    let period = f64::from(context.limits().timestamp_period);
    let mut best = [[f64::INFINITY; 2]; 6];
    for _ in 0..rounds {
        for ((_, run, several), best) in runs.iter().zip(&mut best) {
            for (count, best) in [1, ROW].into_iter().zip(best) {
                if count > 1 && !several {
                    continue;
                }
                pool.reset(0, 2);
                let mut encoder = context.queue().begin().expect("encoder");
                encoder.barrier_all();
                encoder.write_timestamp(&pool, 0);
                (0..count).for_each(|n| run(sides, &mut encoder, n));
                encoder.barrier_all();
                encoder.write_timestamp(&pool, 1);
                let ticket = context.queue().submit(encoder).expect("submitted");
                assert!(context.queue().wait(ticket, Duration::from_secs(60)).expect("alive"), "the GPU hangs");
                if let [Some(begin), Some(end)] = pool.results(0, 2)[..] {
                    *best = best.min(end.wrapping_sub(begin) as f64 * period / count as f64);
                }
            }
        }
    }
    let bytes = sides.layout.levels[0].packed_bytes() as f64;
    let [alone, in_a_row] = best[0];
    println!("{name}: {:.1} MB", bytes / 1e6);
    println!("  copy: {:.1} us alone, {:.1} us in a row ({:.0} GB/s)", alone / 1e3, in_a_row / 1e3, bytes / in_a_row);
    for ((run, ..), [one, many]) in runs.iter().zip(best).skip(1) {
        let many = if many.is_finite() { format!(", {:.2} in a row", in_a_row / many) } else { String::new() };
        println!("  {run}: {:.1} us, of the copy's speed {:.2} alone{many}", one / 1e3, alone / one);
    }
}
