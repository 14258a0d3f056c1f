//! Copies into and out of textures whose blocks the device does not have: ASTC, of which the image has decoded texels.
//! The blocks themselves are in the texture's storage ([`decoded`]); what is copied out is those, never texels.

use ash::vk;
use navin_abi::fault;
use navin_texture::{Region, Target as TextureTarget};
use navin_vulkan::BufferRange;

use super::super::{Piece, decoded, images};
use super::{Named, Rows};

/// A copy of whole blocks between textures.
pub(super) struct Blocks {
    pub from: vk::Offset3D,
    pub from_extent: vk::Extent3D,
    pub from_layers: (u32, u32),
    pub to: vk::Offset3D,
    pub to_extent: vk::Extent3D,
    pub to_layers: (u32, u32),
    /// Layers or slices.
    pub count: u32,
}

impl Named {
    /// A part of whole blocks in the terms of [`decoded`].
    pub(super) fn blocks_of(&self, at: vk::Offset3D, extent: vk::Extent3D, layers: (u32, u32)) -> decoded::Part {
        let format = self.texture.format;
        let (columns, rows) = self.blocks(extent);
        let three_d = self.texture.target == TextureTarget::D3;
        let layers = if three_d { (0, 1) } else { layers };
        let region = Region {
            x: at.x as u32 / format.block_width,
            y: at.y as u32 / format.block_height,
            z: if three_d { at.z as u32 } else { 0 },
            width: columns,
            height: rows,
            depth: if three_d { extent.depth } else { 1 },
        };
        decoded::Part { level: self.selection.base_level, layers: layers.0..layers.0 + layers.1, region }
    }

    /// The same for `count` layers or slices.
    fn blocks_of_some(
        &self,
        at: vk::Offset3D,
        extent: vk::Extent3D,
        (layer, _): (u32, u32),
        count: u32,
    ) -> decoded::Part {
        self.blocks_of(at, vk::Extent3D { depth: count, ..extent }, (layer, count))
    }
}

impl Piece<'_> {
    /// Blocks into an image that has texels instead.
    pub(super) fn decode_rows(
        &mut self,
        named: &Named,
        region: vk::BufferImageCopy2<'_>,
        part: &decoded::Part,
        address: u64,
        bytes: u64,
        rows: &Rows,
    ) {
        let Some(from) = self.driver.pools.cpu_range(address, bytes) else {
            fault!(
                key = named.texture.serial,
                "",
                "blocks for texture {} are not side by side in memory that the CPU sees: not copied",
                named.texture.serial
            );
            return;
        };
        // SAFETY: inside the pool's storage, which stays mapped while the submit thread replays; the guest has asked
        // for these bytes to be read. They are copied before they are looked at.
        let from = unsafe { std::slice::from_raw_parts(from.as_ptr(), bytes as usize) };
        let mut tight = Vec::with_capacity((rows.bytes * rows.rows * rows.images) as usize);
        for image in 0..rows.images {
            for row in 0..rows.rows {
                let at = (image * rows.image + row * rows.row) as usize;
                tight.extend_from_slice(&from[at..at + rows.bytes as usize]);
            }
        }
        decoded::keep(self.driver, &named.texture, part, &tight);
        decoded::put(&mut self.encoder, &named.texture, &named.image, region, &tight);
    }

    /// Blocks out of the storage of a texture whose image has texels instead.
    pub(super) fn kept_rows(&mut self, named: &Named, part: &decoded::Part, buffer: BufferRange, rows: &Rows) {
        let Some(blocks) = decoded::blocks(self.driver, &named.texture, part) else { return };
        let slice = match self.encoder.upload(&blocks, 16) {
            Ok(slice) => slice,
            Err(e) => {
                fault!(
                    key = named.texture.serial,
                    "",
                    "no memory for blocks of texture {} ({e})",
                    named.texture.serial
                );
                return;
            }
        };
        let row = |image: u64, row: u64| {
            vk::BufferCopy2::default()
                .src_offset(slice.range.offset + (image * rows.rows + row) * rows.bytes)
                .dst_offset(buffer.offset + image * rows.image + row * rows.row)
                .size(rows.bytes)
        };
        let tight = rows.row == rows.bytes && rows.image == rows.row * rows.rows;
        let regions: Vec<_> = if tight {
            vec![row(0, 0).size(blocks.len() as u64)]
        } else {
            (0..rows.images).flat_map(|image| (0..rows.rows).map(move |r| (image, r))).map(|(i, r)| row(i, r)).collect()
        };
        self.encoder.copy_buffer(slice.range.buffer, buffer.buffer, &regions);
    }

    /// Whole blocks between textures of which at least one is decoded; true if the images have the same texels of them,
    /// which are still to be copied.
    pub(super) fn copy_blocks(&mut self, source: &Named, destination: &Named, copy: &Blocks) -> bool {
        let is_decoded = |named: &Named| decoded::is_decoded(&named.texture, &named.image);
        let same_bytes = |named: &Named| {
            images::device_format(&self.driver.context, named.texture.format).is_some_and(|d| d.same_bytes)
        };
        let why = if !is_decoded(source) && source.texture.gpu_written() {
            Some("what the GPU wrote cannot be decoded")
        } else if [source, destination].iter().any(|named| !is_decoded(named) && !same_bytes(named)) {
            Some("this device keeps texels of one of them otherwise")
        } else {
            None
        };
        if let Some(why) = why {
            fault!(
                key = destination.texture.serial,
                "",
                "a copy of blocks from {} to {}, which this device lacks: {why}; not copied",
                source.selection.format.name,
                destination.selection.format.name
            );
            return false;
        }
        let part = source.blocks_of_some(copy.from, copy.from_extent, copy.from_layers, copy.count);
        let Some(blocks) = decoded::blocks(self.driver, &source.texture, &part) else { return false };
        let (layers, depth) = match destination.texture.target {
            TextureTarget::D3 => ((0, 1), copy.count),
            _ => ((copy.to_layers.0, copy.count), 1),
        };
        let region = vk::BufferImageCopy2::default()
            .image_subresource(destination.layers(layers))
            .image_offset(copy.to)
            .image_extent(vk::Extent3D { depth, ..copy.to_extent });
        if is_decoded(destination) {
            let part = destination.blocks_of_some(copy.to, copy.to_extent, copy.to_layers, copy.count);
            decoded::keep(self.driver, &destination.texture, &part, &blocks);
            if source.texture.format.format == destination.texture.format.format {
                return true;
            }
            decoded::put(&mut self.encoder, &destination.texture, &destination.image, region, &blocks);
            return false;
        }
        match self.encoder.upload(&blocks, 16) {
            Ok(slice) => {
                let region = region.buffer_offset(slice.range.offset);
                self.encoder.copy_buffer_to_image(slice.range.buffer, &destination.image, &[region]);
            }
            Err(e) => {
                let serial = destination.texture.serial;
                fault!(key = serial, "", "no memory for blocks of texture {serial} ({e}): not copied");
            }
        }
        false
    }
}
