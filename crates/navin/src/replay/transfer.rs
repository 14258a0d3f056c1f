//! Clears and copies.

mod blocks;

use std::sync::Arc;

use ash::vk;
use navin_abi::fault;
use navin_command::record::immediate::ClearTarget;
use navin_command::record::payload::{
    ClearBuffer, ClearDepthStencil, CopyBuffer, CopyBufferTexture, CopyStrides, CopyTexture, Downsample, Region,
    ReportValue, TextureRef, UpdateUniformBuffer,
};
use navin_texture::{Class, FormatInfo, Target as TextureTarget};
use navin_vulkan::{Access, Attachment, BufferRange, Image, Scissor, Targets};

use self::blocks::Blocks;
use super::content::{self, Use};
use super::images::{self, Selection};
use super::state::{Dirty, Range};
use super::{Engine, Piece, convert, decoded, target_of};
use crate::host::textures::Texture;

/// A clear's colour in the kind of number the guest gave.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClearValue {
    Float([f32; 4]),
    Signed([i32; 4]),
    Unsigned([u32; 4]),
}

impl ClearValue {
    /// In the kind that the format has: Vulkan takes no other.
    fn for_format(self, format: &FormatInfo) -> vk::ClearColorValue {
        match format.class {
            Class::Uint | Class::Stencil => vk::ClearColorValue {
                uint32: match self {
                    Self::Float(c) => c.map(|v| v as u32),
                    Self::Signed(c) => c.map(|v| v as u32),
                    Self::Unsigned(c) => c,
                },
            },
            Class::Sint => vk::ClearColorValue {
                int32: match self {
                    Self::Float(c) => c.map(|v| v as i32),
                    Self::Signed(c) => c,
                    Self::Unsigned(c) => c.map(|v| v as i32),
                },
            },
            _ => vk::ClearColorValue {
                float32: match self {
                    Self::Float(c) => c,
                    Self::Signed(c) => c.map(|v| v as f32),
                    Self::Unsigned(c) => c.map(|v| v as f32),
                },
            },
        }
    }
}

/// A texture named by a command, with its image and what of it is meant.
struct Named {
    texture: Arc<Texture>,
    image: Arc<Image>,
    selection: Selection,
}

impl Piece<'_> {
    pub(crate) fn clear_color(&mut self, target: ClearTarget, value: ClearValue) {
        if !self.begin_clear() {
            return;
        }
        let Some(bound) = self.state.colors.get(target.index()).copied() else { return };
        let Some(texture) = self.driver.textures.get(bound.serial) else { return };
        let format = images::select(&texture, &bound.view).format;
        let rect = self.clip(self.state.scissors[0]);
        if rect.width > 0 && rect.height > 0 {
            let mask = convert::color_mask(u32::from(target.mask()));
            self.encoder.clear_color(target.index(), value.for_format(format), mask, rect);
        }
    }

    pub(crate) fn clear_depth_stencil(&mut self, depth: bool, clear: &ClearDepthStencil) {
        if !self.begin_clear() {
            return;
        }
        let (value, mask) = (clear.stencil & 0xff, clear.stencil >> 8 & 0xff);
        let rect = self.clip(self.state.scissors[0]);
        if rect.width > 0 && rect.height > 0 && (depth || mask != 0) {
            let depth = depth.then(|| clear.depth.clamp(0.0, 1.0));
            self.encoder.clear_depth_stencil(depth, (mask != 0).then_some(value), mask, rect);
        }
    }

    /// Clears go to the bound targets: they have to be the encoder's.
    fn begin_clear(&mut self) -> bool {
        if !self.state.render_enable {
            return false;
        }
        self.enter(Engine::Graphics);
        if self.state.dirty.contains(Dirty::TARGETS) {
            self.set_targets();
            // The scissors and viewports are cut to the targets.
            self.state.dirty =
                (self.state.dirty - Dirty::TARGETS) | Dirty::SCISSORS | Dirty::VIEWPORTS | Dirty::PROGRAMS;
        }
        true
    }

    pub(crate) fn clear_buffer(&mut self, clear: &ClearBuffer) {
        let range = Range { address: clear.address.get(), size: clear.size.get() & !3 };
        if range.size == 0 || !self.affords(|budget| budget.bytes(range.size)) {
            return;
        }
        let Some(found) = self.resolve(range, "a buffer to clear") else { return };
        self.writes(Range { size: found.size, ..range });
        let range = found;
        self.begin_transfer();
        self.encoder.fill_buffer(range, clear.value);
        self.end_transfer();
    }

    /// Clears part of a texture's level, the channels of `mask` only: as a target of its own, for a moment.
    pub(crate) fn clear_texture(&mut self, mask: u8, texture: &TextureRef, region: &Region, value: ClearValue) {
        if !self.state.render_enable {
            return;
        }
        self.enter(Engine::Graphics);
        let Some(named) = self.name(texture, Use::Write) else { return };
        let (offset, extent, (first, count)) = named.region(region);
        let mut selection = named.selection;
        (selection.base_layer, selection.layers) = match named.texture.target {
            TextureTarget::D3 => (offset.z as u32, extent.depth),
            _ => (first, count),
        };
        if extent.width == 0 || extent.height == 0 || selection.layers == 0 || mask & 0xF == 0 {
            return;
        }
        let texels = u64::from(extent.width) * u64::from(extent.height) * u64::from(selection.layers);
        if !self.affords(|budget| budget.bytes(texels * u64::from(selection.format.bytes_per_block))) {
            return;
        }
        let color = named.image.aspects() == vk::ImageAspectFlags::COLOR;
        let view = color
            .then(|| images::attachment_view(&self.driver.context, &named.image, &selection))
            .flatten()
            .and_then(|desc| named.image.view(&desc).ok());
        let Some(view) = view else {
            fault!(
                key = named.texture.serial,
                "",
                "nvnCommandBufferClearTexture of a texture of format {}, which is no colour target: not cleared",
                selection.format.name
            );
            return;
        };
        let mut targets = Targets::default();
        targets.colors.push(Some(Attachment::new(view)));
        self.encoder.set_targets(targets);
        // The queue's own targets come back with the next draw or clear.
        self.state.dirty |= Dirty::TARGETS;
        let rect = Scissor { x: offset.x, y: offset.y, width: extent.width, height: extent.height };
        self.encoder.clear_color(0, value.for_format(selection.format), convert::color_mask(u32::from(mask)), rect);
    }

    /// Copies bytes, piece by piece where virtual pools scatter them; unmapped pages give 0 and take nothing (B113).
    pub(crate) fn copy_buffer(&mut self, copy: &CopyBuffer) {
        let size = copy.size.get();
        if size == 0 || !self.affords(|budget| budget.bytes(size)) {
            return;
        }
        let source = self.pieces(Range { address: copy.source.get(), size }, "the source of a copy");
        let destination = self.pieces(Range { address: copy.destination.get(), size }, "the destination of a copy");
        let (Some(source), Some(destination)) = (source, destination) else { return };
        self.writes(Range { address: copy.destination.get(), size });
        self.begin_transfer();
        let (mut from, mut to) = (source.iter().copied(), destination.iter().copied());
        let (mut source, mut destination) = (from.next(), to.next());
        while let (Some((read, read_size)), Some((write, write_size))) = (source, destination) {
            let size = read_size.min(write_size);
            match (read, write) {
                (Some(read), Some(write)) => {
                    let region = vk::BufferCopy2::default().src_offset(read.offset).dst_offset(write.offset).size(size);
                    self.encoder.copy_buffer(read.buffer, write.buffer, &[region]);
                }
                (None, Some(write)) => self.put(write, &vec![0; size as usize], "the destination of a copy"),
                (_, None) => {}
            }
            let behind = |piece: Option<BufferRange>| piece.map(|r| BufferRange { offset: r.offset + size, ..r });
            source = if read_size == size { from.next() } else { Some((behind(read), read_size - size)) };
            destination = if write_size == size { to.next() } else { Some((behind(write), write_size - size)) };
        }
        self.end_transfer();
    }

    /// A copy between a buffer and a texture, in either direction; strides of 0 are tight (B226, B430).
    pub(crate) fn copy_buffer_texture(
        &mut self,
        flags: u8,
        copy: &CopyBufferTexture,
        strides: Option<&CopyStrides>,
        into_texture: bool,
    ) {
        if flags & 0b1_1100 != 0 {
            fault!(key = flags, "", "a copy between buffer and texture with mirror flags {flags:#x}: not mirrored");
        }
        self.begin_transfer();
        let Some(named) = self.name(&copy.texture, if into_texture { Use::Write } else { Use::Read }) else { return };
        let (offset, extent, layers) = named.region(&copy.region);
        if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
            return;
        }
        let format = named.selection.format;
        if !named.on_blocks(offset, extent) || named.image.desc().samples != vk::SampleCountFlags::TYPE_1 {
            fault!(
                key = named.texture.serial,
                "",
                "a copy between a buffer and a texture of format {}, of samples or of parts of blocks: not copied",
                format.name
            );
            return;
        }
        let is_decoded = decoded::is_decoded(&named.texture, &named.image);
        if !is_decoded
            && !images::device_format(&self.driver.context, named.texture.format).is_some_and(|d| d.same_bytes)
        {
            fault!(
                key = named.texture.serial,
                "",
                "a copy between a buffer and a texture of format {}, whose texels this device keeps otherwise: not copied",
                format.name
            );
            return;
        }
        let block = u64::from(format.bytes_per_block);
        let columns = u64::from(extent.width.div_ceil(format.block_width));
        let rows = u64::from(extent.height.div_ceil(format.block_height));
        let tight_row = columns * block;
        let row = match strides.map_or(0, |s| u64::from(s.row)) {
            0 => tight_row,
            row => row,
        };
        let tight_image = row.saturating_mul(rows);
        let image = match strides.map_or(0, |s| u64::from(s.image)) {
            0 => tight_image,
            image => image,
        };
        // Sums of strides below these limits can be counted; beyond them no pool holds such a copy.
        if row < tight_row || row > u64::from(u32::MAX) || image > 1 << 40 {
            fault!(
                key = row,
                "B430",
                "a copy with row stride {row} and image stride {image} of rows of {tight_row} bytes: not copied"
            );
            return;
        }
        let images = u64::from(layers.1.max(extent.depth));
        let bytes = image * (images - 1) + row * (rows - 1) + tight_row;
        if !self.affords(|budget| budget.bytes(bytes)) {
            return;
        }
        let Some(buffer) =
            self.resolve_whole(Range { address: copy.buffer.get(), size: bytes }, "the buffer of a copy")
        else {
            return;
        };
        if !into_texture {
            self.writes(Range { address: copy.buffer.get(), size: bytes });
        }
        let region = vk::BufferImageCopy2::default()
            .image_subresource(named.layers(layers))
            .image_offset(offset)
            .image_extent(extent);
        if is_decoded {
            let rows = Rows { row, image, bytes: tight_row, rows, images };
            let part = named.blocks_of(offset, extent, layers);
            if into_texture {
                self.decode_rows(&named, region, &part, copy.buffer.get(), bytes, &rows);
            } else {
                self.kept_rows(&named, &part, buffer, &rows);
            }
            self.end_transfer();
            return;
        }
        if buffer.offset % block.max(4) != 0 || row % block != 0 || image % row != 0 || image / row < rows {
            let rows = Rows { row, image, bytes: tight_row, rows, images };
            self.copy_by_rows(&named, region, buffer, &rows, into_texture);
        } else {
            let region = region
                .buffer_offset(buffer.offset)
                .buffer_row_length((row / block) as u32 * format.block_width)
                .buffer_image_height((image / row) as u32 * format.block_height);
            if into_texture {
                self.encoder.copy_buffer_to_image(buffer.buffer, &named.image, &[region]);
            } else {
                self.encoder.copy_image_to_buffer(&named.image, buffer.buffer, &[region]);
            }
        }
        self.end_transfer();
    }

    /// Vulkan wants offsets and strides that are multiples of the texel size, and image strides of the row's: other
    /// copies go row by row through memory where rows are tight. Bytes between rows are left alone.
    fn copy_by_rows(
        &mut self,
        named: &Named,
        region: vk::BufferImageCopy2<'_>,
        buffer: BufferRange,
        rows: &Rows,
        into_texture: bool,
    ) {
        let slice = match self.encoder.transient(rows.bytes * rows.rows * rows.images, 16) {
            Ok(slice) => slice,
            Err(e) => {
                fault!("", "no memory for a copy at an unaligned address ({e}): not copied");
                return;
            }
        };
        let tight = region.buffer_offset(slice.range.offset);
        let mut through = Vec::new();
        for image in 0..rows.images {
            for row in 0..rows.rows {
                let apart = buffer.offset + image * rows.image + row * rows.row;
                let tight = slice.range.offset + (image * rows.rows + row) * rows.bytes;
                let (from, to) = if into_texture { (apart, tight) } else { (tight, apart) };
                through.push(vk::BufferCopy2::default().src_offset(from).dst_offset(to).size(rows.bytes));
            }
        }
        if into_texture {
            self.encoder.copy_buffer(buffer.buffer, slice.range.buffer, &through);
            self.encoder.barrier(Access::Transfer, Access::Transfer);
            self.encoder.copy_buffer_to_image(slice.range.buffer, &named.image, &[tight]);
        } else {
            self.encoder.copy_image_to_buffer(&named.image, slice.range.buffer, &[tight]);
            self.encoder.barrier(Access::Transfer, Access::Transfer);
            self.encoder.copy_buffer(slice.range.buffer, buffer.buffer, &through);
        }
    }

    /// Copies, scales, converts or mirrors between textures.
    pub(crate) fn copy_texture(&mut self, flags: u8, copy: &CopyTexture) {
        self.begin_transfer();
        let Some(source) = self.name(&copy.source, Use::Read) else { return };
        let Some(destination) = self.name(&copy.destination, Use::Write) else { return };
        let (from, from_extent, from_layers) = source.region(&copy.source_region);
        let (to, to_extent, to_layers) = destination.region(&copy.destination_region);
        if [from_extent, to_extent].iter().any(|e| e.width == 0 || e.height == 0 || e.depth == 0) {
            return;
        }
        // A slice of a 3D texture is as good as a layer of an array.
        let images = |named: &Named, extent: vk::Extent3D, layers: (u32, u32)| match named.texture.target {
            TextureTarget::D3 => extent.depth,
            _ => layers.1,
        };
        let three_d = [&source, &destination].map(|named| named.texture.target == TextureTarget::D3);
        let count = images(&source, from_extent, from_layers).min(images(&destination, to_extent, to_layers));
        let layers = if three_d == [true, true] { 1 } else { count };
        let bytes = |named: &Named, extent: vk::Extent3D| {
            let (columns, rows) = named.blocks(extent);
            let block = u64::from(named.texture.format.bytes_per_block);
            u64::from(columns) * u64::from(rows) * u64::from(count) * block
        };
        let bytes = bytes(&source, from_extent).max(bytes(&destination, to_extent));
        if !self.affords(|budget| budget.bytes(bytes)) {
            return;
        }
        let mirror = |bit: u8| flags & bit != 0;
        let mirrored = mirror(4) || mirror(8) || mirror(16);
        let same_class = copyable(&source, &destination);
        let same_size = source.blocks(from_extent) == destination.blocks(to_extent)
            && (from_extent.depth == to_extent.depth || three_d != [true, true]);
        if same_size && !mirrored && same_class {
            if !source.on_blocks(from, from_extent) || !destination.on_blocks(to, to_extent) {
                fault!(
                    key = destination.texture.serial,
                    "",
                    "a copy from {} to {} of a part that is not made of whole blocks: not copied",
                    source.selection.format.name,
                    destination.selection.format.name
                );
                return;
            }
            if decoded::is_decoded(&source.texture, &source.image)
                || decoded::is_decoded(&destination.texture, &destination.image)
            {
                let blocks = Blocks { from, from_extent, from_layers, to, to_extent, to_layers, count };
                if !self.copy_blocks(&source, &destination, &blocks) {
                    self.end_transfer();
                    return;
                }
            }
            // The depth of a copy counts slices on the side that has them, layers on the other.
            let depth = if three_d == [false, false] { 1 } else { count };
            let region = vk::ImageCopy2::default()
                .src_subresource(source.layers((from_layers.0, layers)))
                .src_offset(from)
                .dst_subresource(destination.layers((to_layers.0, layers)))
                .dst_offset(to)
                .extent(vk::Extent3D { depth, ..from_extent });
            self.encoder.copy_image(&source.image, &destination.image, &[region]);
        } else if three_d[0] != three_d[1] {
            fault!(
                key = destination.texture.serial,
                "",
                "a scaling copy between a 3D texture and one that is not: Vulkan has no such copy; not copied"
            );
        } else if let Err(why) = self.scalable(&source, &destination) {
            fault!(
                key = destination.texture.serial,
                "",
                "a scaling or converting copy from {} to {}: {why}; not copied",
                source.selection.format.name,
                destination.selection.format.name
            );
        } else {
            let corner = |o: vk::Offset3D, e: vk::Extent3D| vk::Offset3D {
                x: o.x + e.width as i32,
                y: o.y + e.height as i32,
                z: o.z + e.depth as i32,
            };
            let (near, far) = (to, corner(to, to_extent));
            let side = |flip: bool, a: i32, b: i32| if flip { (b, a) } else { (a, b) };
            let (x0, x1) = side(mirror(4), near.x, far.x);
            let (y0, y1) = side(mirror(8), near.y, far.y);
            let (z0, z1) = side(mirror(16) && three_d == [true, true], near.z, far.z);
            let region = vk::ImageBlit2::default()
                .src_subresource(source.layers((from_layers.0, layers)))
                .src_offsets([from, corner(from, from_extent)])
                .dst_subresource(destination.layers((to_layers.0, layers)))
                .dst_offsets([vk::Offset3D { x: x0, y: y0, z: z0 }, vk::Offset3D { x: x1, y: y1, z: z1 }]);
            let color = source.image.aspects() == vk::ImageAspectFlags::COLOR;
            let features = self.driver.context.image_format_features(source.image.desc().format);
            let smooth = features.contains(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_LINEAR);
            let filter = if flags & 1 != 0 && color && smooth { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
            self.encoder.blit(&source.image, &destination.image, &[region], filter);
        }
        self.end_transfer();
    }

    /// Whether Vulkan scales or converts from one texture to the other; otherwise why not.
    fn scalable(&self, source: &Named, destination: &Named) -> Result<(), &'static str> {
        use vk::FormatFeatureFlags2 as F;
        let (from, to) = (source.image.desc(), destination.image.desc());
        let has = |format, feature| self.driver.context.image_format_features(format).contains(feature);
        let number = |named: &Named| match named.texture.format.class {
            Class::Uint => 1,
            Class::Sint => 2,
            _ => 0,
        };
        if source.texture.format.is_compressed() || destination.texture.format.is_compressed() {
            Err("compressed texels cannot be scaled")
        } else if source.image.aspects() != destination.image.aspects() {
            Err("one is colour, the other depth or stencil, or not the same of these")
        } else if from.samples != vk::SampleCountFlags::TYPE_1 || to.samples != vk::SampleCountFlags::TYPE_1 {
            Err("samples cannot be scaled")
        } else if source.image.aspects() != vk::ImageAspectFlags::COLOR && from.format != to.format {
            Err("depth is not converted")
        } else if number(source) != number(destination) {
            Err("integers are not converted to other numbers")
        } else if !has(from.format, F::BLIT_SRC) || !has(to.format, F::BLIT_DST) {
            Err("the device does not scale such formats")
        } else {
            Ok(())
        }
    }

    /// Resolves a multisampled texture.
    pub(crate) fn downsample(&mut self, downsample: &Downsample) {
        self.begin_transfer();
        let Some(source) = self.name(&downsample.source, Use::Read) else { return };
        let Some(destination) = self.name(&downsample.destination, Use::Write) else { return };
        if source.image.aspects() != vk::ImageAspectFlags::COLOR {
            fault!(key = source.texture.serial, "", "nvnCommandBufferDownsample of a depth texture: not resolved");
            return;
        }
        let size = |named: &Named| images::extent(&named.image, &named.selection);
        if source.image.desc().format != destination.image.desc().format
            || destination.image.desc().samples != vk::SampleCountFlags::TYPE_1
            || size(&source) != size(&destination)
        {
            fault!(
                key = source.texture.serial,
                "",
                "nvnCommandBufferDownsample from {} to {}: of another format or size, or to samples; not resolved",
                source.texture.format.name,
                destination.texture.format.name
            );
            return;
        }
        let layers = source.selection.layers.min(destination.selection.layers);
        let region = vk::ImageResolve2::default()
            .src_subresource(source.layers((source.selection.base_layer, layers)))
            .dst_subresource(destination.layers((destination.selection.base_layer, layers)))
            .extent(images::extent(&destination.image, &destination.selection));
        if source.image.desc().samples == vk::SampleCountFlags::TYPE_1 {
            let copy = vk::ImageCopy2::default()
                .src_subresource(region.src_subresource)
                .dst_subresource(region.dst_subresource)
                .extent(region.extent);
            self.encoder.copy_image(&source.image, &destination.image, &[copy]);
        } else {
            self.encoder.resolve(&source.image, &destination.image, &[region]);
        }
        self.end_transfer();
    }

    /// Writes words into a buffer in order with the draws; the last `cut` bytes do not count.
    pub(crate) fn update_uniform(&mut self, cut: usize, update: &UpdateUniformBuffer, words: &[u32]) {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let bytes = &bytes[..bytes.len().saturating_sub(cut.min(3))];
        let address = update.buffer.get().wrapping_add(u64::from(update.offset));
        self.write(address, bytes, "a uniform buffer to update");
    }

    pub(crate) fn report_value(&mut self, report: &ReportValue) {
        self.write(report.address.get(), &report.value.to_le_bytes(), "the place of a reported value");
    }

    fn write(&mut self, address: u64, bytes: &[u8], what: &str) {
        let place = Range { address, size: bytes.len() as u64 };
        let Some(range) = self.resolve_whole(place, what) else { return };
        self.writes(place);
        self.begin_transfer();
        self.put(range, bytes, what);
        self.end_transfer();
    }

    /// Writes bytes to a buffer's range, inside a transfer.
    fn put(&mut self, range: BufferRange, bytes: &[u8], what: &str) {
        if range.offset.is_multiple_of(4) && bytes.len().is_multiple_of(4) {
            self.encoder.update_buffer(range.buffer, range.offset, bytes);
            return;
        }
        match self.encoder.upload(bytes, 16) {
            Ok(slice) => {
                let region = vk::BufferCopy2::default()
                    .src_offset(slice.range.offset)
                    .dst_offset(range.offset)
                    .size(bytes.len() as u64);
                self.encoder.copy_buffer(slice.range.buffer, range.buffer, &[region]);
            }
            Err(e) => {
                fault!("", "no memory for {what} ({e}): not written");
            }
        }
    }

    fn begin_transfer(&mut self) {
        self.enter(Engine::Copy);
        self.encoder.flush_reports();
        self.encoder.barrier(Access::All, Access::Transfer);
    }

    fn end_transfer(&mut self) {
        self.encoder.barrier(Access::Transfer, Access::All);
    }

    fn name(&mut self, texture: &TextureRef, usage: Use) -> Option<Named> {
        let target = target_of(texture);
        let Some(texture) = self.driver.textures.get(target.serial) else {
            fault!(
                key = target.serial,
                "B212",
                "a copy or clear of texture {}, which is gone: left out",
                target.serial
            );
            return None;
        };
        let image = content::image_for(self.driver, &mut self.encoder, &texture, usage)?;
        let selection = images::select(&texture, &target.view);
        Some(Named { texture, image, selection })
    }
}

/// How the rows of a copy lie in a buffer: strides, bytes of a row, rows of an image, images.
struct Rows {
    row: u64,
    image: u64,
    bytes: u64,
    rows: u64,
    images: u64,
}

/// Whether texels go from one texture to the other as they are.
fn copyable(source: &Named, destination: &Named) -> bool {
    let (from, to) = (source.image.desc(), destination.image.desc());
    let color = source.image.aspects() == vk::ImageAspectFlags::COLOR;
    // Of decoded blocks the texture's own bytes count, not the image's.
    let is_decoded = [source, destination].iter().any(|named| decoded::is_decoded(&named.texture, &named.image));
    from.samples == to.samples
        && source.image.aspects() == destination.image.aspects()
        && (from.format == to.format && !is_decoded
            || color && source.texture.format.bytes_per_block == destination.texture.format.bytes_per_block)
}

impl Named {
    /// Columns and rows of blocks.
    fn blocks(&self, extent: vk::Extent3D) -> (u32, u32) {
        let format = self.texture.format;
        (extent.width.div_ceil(format.block_width), extent.height.div_ceil(format.block_height))
    }

    /// Whether a part begins at a block and ends at one, or at the level's end.
    fn on_blocks(&self, offset: vk::Offset3D, extent: vk::Extent3D) -> bool {
        let level = self.image.level_extent(self.selection.base_level);
        let whole = |at: i32, length: u32, block: u32, size: u32| {
            let at = at as u32;
            at.is_multiple_of(block) && (length.is_multiple_of(block) || at + length == size)
        };
        let format = self.texture.format;
        whole(offset.x, extent.width, format.block_width, level.width)
            && whole(offset.y, extent.height, format.block_height, level.height)
    }

    /// `NVNcopyRegion` as offset, extent, and (first, number of) layers, cut to the level.
    fn region(&self, region: &Region) -> (vk::Offset3D, vk::Extent3D, (u32, u32)) {
        let level = self.image.level_extent(self.selection.base_level);
        let cut = |offset: i32, extent: i32, size: u32| {
            let first = offset.clamp(0, size as i32) as u32;
            (first, u32::try_from(extent).unwrap_or(0).min(size - first))
        };
        let (offset, extent) = (region.offset(), region.extent());
        let (x, width) = cut(offset[0], extent[0], level.width);
        let three_d = self.texture.target == TextureTarget::D3;
        // The rows of a 1D array are its layers.
        let one_d_array = self.texture.target == TextureTarget::D1Array;
        let (y, height) = if one_d_array { (0, 1) } else { cut(offset[1], extent[1], level.height) };
        let (z, depth) = if three_d { cut(offset[2], extent[2], level.depth) } else { (0, 1) };
        let along = if one_d_array { 1 } else { 2 };
        let layers = if three_d {
            (0, 1)
        } else {
            let (first, count) = cut(offset[along], extent[along].max(1), self.texture.layers());
            (self.selection.base_layer.saturating_add(first).min(self.texture.layers() - 1), count.max(1))
        };
        let layers =
            (layers.0, layers.1.min(self.texture.layers().max(1) - layers.0.min(self.texture.layers() - 1)).max(1));
        (vk::Offset3D { x: x as i32, y: y as i32, z: z as i32 }, vk::Extent3D { width, height, depth }, layers)
    }

    fn layers(&self, (base_array_layer, layer_count): (u32, u32)) -> vk::ImageSubresourceLayers {
        let (base_array_layer, layer_count) =
            if self.texture.target == TextureTarget::D3 { (0, 1) } else { (base_array_layer, layer_count) };
        vk::ImageSubresourceLayers {
            aspect_mask: self.image.aspects(),
            mip_level: self.selection.base_level,
            base_array_layer,
            layer_count,
        }
    }
}
