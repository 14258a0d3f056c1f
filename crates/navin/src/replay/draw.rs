//! Draws and dispatches: what changed of the queue's NVN state goes to the encoder ([`fixed`](super::fixed) for
//! targets and fixed function, here for programs and what they read), then the call.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;
use navin_abi::enums::{NVNdrawPrimitive, NVNindexType};
use navin_abi::fault;
use navin_command::record::immediate::ElementMode;
use navin_command::record::limits::{Budget, Runaway};
use navin_command::record::payload::{DrawArraysInstanced, DrawElementsInstanced};
use navin_memory::Lookup;
use navin_shader::{AttributeType, HandleSource, ImageAccess};
use navin_texture::{Class, Format};
use navin_vulkan::{BufferRange, DrawError, IndexBuffer, InputAssembly, Shader};
use smallvec::{SmallVec, smallvec};

use super::content::{self, Use};
use super::convert::{self, Topology};
use super::images;
use super::rewrite::{REWRITE_LIMIT, rewritten};
use super::state::{COMPUTE, Dirty, Range, StageDirty};
use super::{Engine, Piece, Seen};
use crate::host::pools::resolve::Absent;
use crate::host::programs::{Extras, ProgramStage, Types, nvn_stage, vulkan_stage};

/// The graphics stages in NVN's numbers with Vulkan's names.
const GRAPHICS: [(usize, navin_vulkan::Stage); 5] = [
    (0, navin_vulkan::Stage::Vertex),
    (1, navin_vulkan::Stage::Fragment),
    (2, navin_vulkan::Stage::Geometry),
    (3, navin_vulkan::Stage::TessControl),
    (4, navin_vulkan::Stage::TessEvaluation),
];

/// Smallest size that uniform ranges are bound with: the GPU rounds up to it, and programs rely on reading what
/// lies behind a shorter range.
const UNIFORM_GRANULARITY: u64 = 256;

/// Bytes that a command buffer may have the CPU write for it, indices of rewritten draws for the most part: with more
/// the next draw goes into another.
const MOST_TRANSIENT: u64 = 256 << 20;

/// The pieces of a range with their sizes; `None` for one where nothing is mapped.
pub(crate) type Pieces = SmallVec<[(Option<BufferRange>, u64); 1]>;

impl Piece<'_> {
    /// Draws vertices in order.
    pub(crate) fn draw_arrays(&mut self, primitive: u8, draw: &DrawArraysInstanced) {
        if draws_nothing(draw.count, draw.instance_count)
            || !self.affords(|budget| budget.draw(draw.count, draw.instance_count))
        {
            return;
        }
        let topology = convert::topology(NVNdrawPrimitive(i32::from(primitive)));
        if let Topology::Rewritten(rewrite, _) = topology {
            let vertices: Vec<u32> = (draw.first..draw.first.saturating_add(draw.count.min(REWRITE_LIMIT))).collect();
            let indices = rewritten(rewrite, &vertices, None);
            self.draw_indices(topology, &indices, 0, draw.base_instance, draw.instance_count);
            return;
        }
        if self.prepare_draw(topology) {
            let result = self.encoder.draw(draw.first, draw.count, draw.base_instance, draw.instance_count);
            self.drawn(result);
        }
    }

    /// Draws indexed vertices.
    pub(crate) fn draw_elements(&mut self, mode: ElementMode, draw: &DrawElementsInstanced) {
        if draws_nothing(draw.count, draw.instance_count)
            || !self.affords(|budget| budget.draw(draw.count, draw.instance_count))
        {
            return;
        }
        let topology = convert::topology(NVNdrawPrimitive(i32::from(mode.primitive())));
        let (kind, size) = convert::index_type(NVNindexType(i32::from(mode.index_type())));
        let address = draw.index_buffer.get();
        let bytes = u64::from(draw.count) * size;
        if let Topology::Rewritten(rewrite, _) = topology {
            let Some(vertices) = self.read_indices(address, draw.count, size) else { return };
            let indices = rewritten(rewrite, &vertices, self.state.primitive_restart);
            self.draw_indices(topology, &indices, draw.base_vertex, draw.base_instance, draw.instance_count);
            return;
        }
        if let Some(restart) = self.odd_restart_index(size) {
            // Vulkan restarts at all ones only.
            let Some(mut indices) = self.read_indices(address, draw.count, size) else { return };
            indices.iter_mut().filter(|index| **index == restart).for_each(|index| *index = u32::MAX);
            self.draw_indices(topology, &indices, draw.base_vertex, draw.base_instance, draw.instance_count);
            return;
        }
        // Indices past the pool's end are not there to be read.
        let Some(count) = self.bind_indices(address, bytes, (kind, size)) else { return };
        if !self.prepare_draw(topology) {
            return;
        }
        let result = self.encoder.draw_indexed(0, count, draw.base_vertex, draw.base_instance, draw.instance_count);
        self.drawn(result);
    }

    /// Runs the compute program.
    pub(crate) fn dispatch(&mut self, groups: [u32; 3]) {
        if !self.affords(|budget| budget.dispatch(groups)) || groups.contains(&0) || !self.prepare_dispatch() {
            return;
        }
        let [x, y, z] = groups;
        let result = self.encoder.dispatch(x, y, z);
        self.drawn(result);
    }

    /// Whether the submission may ask this of the GPU (B225: command memory can hold any count); a fault line if not.
    /// Where it does not fit into what goes to the GPU at once, what is recorded so far goes.
    pub(super) fn affords(&mut self, take: impl Fn(&mut Budget) -> Result<(), Runaway>) -> bool {
        let full = self.encoder.transient_bytes() > MOST_TRANSIENT;
        let mut taken = if full { Err(Runaway::Share) } else { take(&mut self.budget) };
        if taken == Err(Runaway::Share) && self.cut().is_some() {
            self.budget.next_share();
            taken = take(&mut self.budget);
        }
        match taken {
            Ok(()) => true,
            Err(e) => {
                fault!("B225", "a draw, dispatch, copy or clear was left out: {e}");
                false
            }
        }
    }

    pub(super) fn drawn(&mut self, result: Result<(), DrawError>) {
        match result {
            Ok(()) => {}
            Err(e) => {
                fault!(key = e as u32, "", "a draw or dispatch was left out: {e}");
            }
        }
    }

    /// Binds an index buffer; how many indices of `size` bytes there are, up to `bytes` and the pool's end.
    pub(super) fn bind_indices(&mut self, address: u64, bytes: u64, (kind, size): (vk::IndexType, u64)) -> Option<u32> {
        let range = self.resolve(Range { address, size: bytes }, "an index buffer")?;
        if !range.offset.is_multiple_of(size) {
            fault!(
                key = address,
                "",
                "an index buffer at {address:#x}, no multiple of the {size} bytes of its indices: draw left out"
            );
            return None;
        }
        self.encoder.set_index_buffer(Some(IndexBuffer { range, kind }));
        Some(u32::try_from(range.size / size).unwrap_or(u32::MAX))
    }

    /// The index that restarts primitives, where it is not the one that Vulkan has for indices of this size.
    pub(super) fn odd_restart_index(&self, size: u64) -> Option<u32> {
        let all_ones = u32::MAX >> (32 - 8 * size.min(4) as u32);
        self.state.primitive_restart.filter(|index| *index != all_ones)
    }

    /// A range of GPU addresses as a buffer range, cut where the memory ends that lies side by side. `None` where
    /// nothing is, which reads 0: named, but for the unmapped pages of a virtual pool (B113).
    pub(crate) fn resolve(&self, range: Range, what: &str) -> Option<BufferRange> {
        self.resolve_or(range, what).ok()
    }

    /// As [`resolve`](Self::resolve), telling what is there instead.
    pub(crate) fn resolve_or(&self, range: Range, what: &str) -> Result<BufferRange, Absent> {
        let mut addresses = self.addresses.borrow_mut();
        let found = addresses.resolve(range.address, range.size);
        let pools = &self.driver.pools;
        let resolved = pools.range_of(&self.driver.context, found, range.size, self.submission);
        if resolved == Err(Absent::Nowhere) {
            fault!(
                key = range.address,
                "B113",
                "{what} at GPU address {:#x}, {} bytes: {}",
                range.address,
                range.size,
                pools.near(range.address)
            );
        }
        resolved
    }

    /// What is recorded from here on may write a range of GPU addresses.
    pub(crate) fn writes(&mut self, range: Range) {
        let written = (range.address, range.size);
        self.driver.pools.gpu_writes(&mut self.addresses.borrow_mut(), written, self.submission);
        // A render condition may look there (B585).
        let queue = self.driver.context.queue();
        self.reported.note_write(range.address, range.size, || queue.completed());
    }

    /// All of a range, in pieces that lie side by side, each with its size; `None` in one where nothing is mapped
    /// (B113). Nothing, with a fault line, for a range that leaves its pool.
    pub(crate) fn pieces(&self, range: Range, what: &str) -> Option<Pieces> {
        let mut pieces = SmallVec::new();
        let mut done = 0;
        while done < range.size {
            let left = Range { address: range.address.wrapping_add(done), size: range.size - done };
            let (nothing, size) = match self.addresses.borrow_mut().resolve(left.address, left.size) {
                Lookup::Unmapped { remaining, .. } => (true, remaining),
                found => (false, found.memory().map_or(left.size, |memory| memory.remaining.min(left.size))),
            };
            let piece = match self.resolve_or(Range { size, ..left }, what) {
                Err(Absent::Unmapped) if nothing => (None, size),
                Ok(found) => (Some(found), found.size),
                Err(_) => return None,
            };
            done += piece.1;
            pieces.push(piece);
        }
        Some(pieces)
    }

    /// As [`resolve`](Self::resolve), for what is read or written whole: a range that leaves its pool is none.
    pub(crate) fn resolve_whole(&self, range: Range, what: &str) -> Option<BufferRange> {
        let resolved = self.resolve(range, what)?;
        if resolved.size < range.size {
            fault!(
                key = range.address,
                "B113",
                "{what} at GPU address {:#x}, {} bytes: only {} are left of its memory pool",
                range.address,
                range.size,
                resolved.size
            );
            return None;
        }
        Some(resolved)
    }

    /// Tells the encoder what changed since the last draw; false when there is nothing to draw with.
    pub(super) fn prepare_draw(&mut self, topology: Topology) -> bool {
        if !self.state.render_enable {
            return false;
        }
        if self.state.stages[0].program.as_ref().is_none_or(|p| p.finalized_before(self.arrival)) {
            self.driver.counters.draws_without_program.fetch_add(1, Ordering::Relaxed);
            fault!("B231", "a draw without a vertex program (none bound, finalized, or not translatable): left out");
            return false;
        }
        self.enter(Engine::Graphics);
        // Handles first: making a texture resident may end the rendering scope.
        for (stage, _) in GRAPHICS {
            self.prepare_handles(stage);
        }
        self.note_extras(topology);
        let dirty = std::mem::replace(&mut self.state.dirty, Dirty::empty());
        if !dirty.is_empty() {
            self.set_fixed(dirty);
            if dirty.contains(Dirty::VERTEX_INPUT) {
                self.set_vertex_input();
            }
            if dirty.contains(Dirty::VERTEX_BUFFERS) {
                self.set_vertex_buffers();
            }
            if dirty.intersects(Dirty::PROGRAMS | Dirty::VERTEX_INPUT | Dirty::TARGETS) && !self.set_programs() {
                self.state.dirty |= Dirty::PROGRAMS;
                return false;
            }
            if dirty.contains(Dirty::SHADER_STATE) {
                self.set_shader_state();
            }
        }
        for (stage, name) in GRAPHICS {
            self.set_stage(stage, name);
        }
        let topology = match topology {
            Topology::Native(topology) | Topology::Rewritten(_, topology) => topology,
        };
        self.encoder.set_input_assembly(&InputAssembly {
            topology,
            primitive_restart: self.state.primitive_restart.is_some(),
            patch_control_points: u32::from(self.state.patch_size.clamp(1, 32)),
        });
        true
    }

    pub(super) fn prepare_dispatch(&mut self) -> bool {
        if !self.state.render_enable {
            return false;
        }
        let program = match &self.state.stages[COMPUTE].program {
            Some(program) if !program.finalized_before(self.arrival) => Arc::clone(program),
            _ => {
                fault!(
                    "B231",
                    "a dispatch without a compute program (none bound, finalized, or not translatable): left out"
                );
                return false;
            }
        };
        self.enter(Engine::Compute);
        self.prepare_handles(COMPUTE);
        let Some(shader) = program.shader(self.driver, Types::default(), Extras::empty()) else { return false };
        self.encoder.set_shader(navin_vulkan::Stage::Compute, Some(&shader));
        self.set_stage(COMPUTE, navin_vulkan::Stage::Compute);
        true
    }

    // --- programs and what they read --------------------------------------------------------------------------------

    /// Binds the shaders of all graphics stages, in the variant that fits attributes and targets.
    fn set_programs(&mut self) -> bool {
        for (stage, name) in GRAPHICS {
            let program = self.state.stages[stage].program.clone().filter(|p| !p.finalized_before(self.arrival));
            let shader: Option<Arc<Shader>> = match &program {
                None => None,
                Some(program) => {
                    let types = self.open_types(program);
                    match program.shader(self.driver, types, self.extras_of(stage)) {
                        Some(shader) => Some(shader),
                        None => return false,
                    }
                }
            };
            self.encoder.set_shader(name, shader.as_ref());
        }
        true
    }

    /// The types that attributes (vertex) or targets (fragment) give to what the machine code leaves open.
    fn open_types(&self, program: &ProgramStage) -> Types {
        let mut types = Types::default();
        let class = |format: &navin_texture::FormatInfo| match format.class {
            Class::Uint | Class::Stencil => AttributeType::Uint,
            Class::Sint => AttributeType::Sint,
            _ => AttributeType::Float,
        };
        match program.stage {
            navin_shader::Stage::Vertex => {
                for (location, attribute) in self.state.attributes[..self.state.attribute_count].iter().enumerate() {
                    if let Some(format) = Format::from_nvn(attribute.format().raw()) {
                        types.set(location, class(format));
                    }
                }
            }
            navin_shader::Stage::Fragment => {
                for (index, target) in self.state.colors.iter().enumerate() {
                    if let Some(texture) = self.driver.textures.get(target.serial) {
                        types.set(index, class(images::select(&texture, &target.view).format));
                    }
                }
            }
            _ => {}
        }
        types
    }

    /// Makes resident what the stage's program reads by handle. May record uploads.
    fn prepare_handles(&mut self, stage: usize) {
        let state = &self.state.stages[stage];
        let Some(program) = &state.program else { return };
        if program.interface.textures.is_empty() && program.interface.images.is_empty() {
            return;
        }
        let now = Seen {
            registrations: self.driver.descriptors.generation(),
            said: self.driver.textures.writes(),
            moment: self.driver.pools.moment(),
        };
        let registered = now.registrations != self.seen[stage].registrations;
        let changed = registered || state.dirty.intersects(StageDirty::HANDLES | StageDirty::PROGRAM);
        if !changed && now == self.seen[stage] {
            return;
        }
        let program = Arc::clone(program);
        let interface = &program.interface;
        if registered {
            self.state.stages[stage].dirty |= StageDirty::HANDLES;
        }
        let (texture_base, sampler_base) = self.bases(now.registrations);
        let state = &self.state.stages[stage];
        let layout = program.layout;
        for texture in &interface.textures {
            match texture.handle {
                HandleSource::Bindless => self.residency.everything(self.driver, &mut self.encoder, now),
                HandleSource::Bound(word) => {
                    let slot = word.wrapping_sub(layout.texture_first_word) / layout.texture_word_stride.max(1);
                    let Some(handle) = state.textures.get(slot as usize) else { continue };
                    let id = texture_base.saturating_add(handle & 0xF_FFFF);
                    let registrations = now.registrations;
                    let texture = self.residency.texture(self.driver, &mut self.encoder, id, false, registrations);
                    if let Some(texture) = texture {
                        content::image_for(self.driver, &mut self.encoder, texture, Use::Read);
                    }
                    if changed {
                        let id = sampler_base.saturating_add(handle >> 20);
                        self.residency.sampler(self.driver, id, registrations);
                    }
                }
            }
        }
        for image in &interface.images {
            let HandleSource::Bound(word) = image.handle else {
                self.residency.everything(self.driver, &mut self.encoder, now);
                continue;
            };
            let slot = word.wrapping_sub(layout.image_first_word);
            let Some(handle) = state.images.get(slot as usize) else { continue };
            let id = texture_base.saturating_add(handle & 0xF_FFFF);
            if let Some(texture) = self.residency.texture(self.driver, &mut self.encoder, id, true, now.registrations) {
                let usage = if image.access.intersects(ImageAccess::STORE | ImageAccess::ATOMIC) {
                    Use::Write
                } else {
                    Use::Read
                };
                content::image_for(self.driver, &mut self.encoder, texture, usage);
            }
        }
        self.seen[stage] = now;
    }

    /// Where the ids of the bound texture and sampler pool begin, `generation` being that of all registrations.
    pub(super) fn bases(&mut self, generation: u64) -> (u32, u32) {
        let key = (self.state.texture_pool, self.state.sampler_pool, generation);
        if self.bases.0 != key {
            let descriptors = &self.driver.descriptors;
            self.bases = (key, (descriptors.texture_base(key.0), descriptors.sampler_base(key.1)));
        }
        self.bases.1
    }

    /// Binds the constant banks and storage slots of a stage, as far as they changed.
    fn set_stage(&mut self, stage: usize, name: navin_vulkan::Stage) {
        let dirty = std::mem::replace(&mut self.state.stages[stage].dirty, StageDirty::empty());
        if dirty.is_empty() {
            return;
        }
        let Some(program) = self.state.stages[stage].program.clone() else { return };
        debug_assert_eq!((nvn_stage(program.stage), vulkan_stage(program.stage)), (stage, name));
        let interface = &program.interface;
        if interface.uses_page_table {
            self.driver.pools.walks(self.submission);
            // It may write anywhere.
            let queue = self.driver.context.queue();
            self.reported.note_write(0, u64::MAX, || queue.completed());
        }
        if dirty.intersects(StageDirty::UNIFORMS | StageDirty::PROGRAM) {
            for bank in bits(interface.constant_banks & !7) {
                let range = self.state.stages[stage].uniforms.get(bank - 3).copied().unwrap_or_default();
                let buffer = match range.address {
                    0 => BufferRange::NULL,
                    _ => {
                        // B536: programs read what lies behind the size that they bind, up to the next 256 bytes.
                        let size = range.size.next_multiple_of(UNIFORM_GRANULARITY);
                        self.resolve(Range { size, ..range }, "a uniform buffer").unwrap_or(BufferRange::NULL)
                    }
                };
                self.encoder.set_constants(name, bank, buffer);
            }
        }
        if dirty.intersects(StageDirty::STORAGES | StageDirty::PROGRAM) {
            for slot in bits(interface.storage_slots & 0xFFFF) {
                let range = self.state.stages[stage].storages[slot];
                let buffer = match range.address {
                    0 => BufferRange::NULL,
                    _ => self.resolve(range, "a storage buffer").unwrap_or(BufferRange::NULL),
                };
                if interface.storage_written >> slot & 1 != 0 {
                    self.writes(range);
                }
                self.encoder.set_storage(name, slot, buffer);
            }
        }
        if dirty.contains(StageDirty::PROGRAM)
            && interface.constant_banks & 2 != 0
            && let Some(constants) = &program.constants
        {
            self.encoder.set_constants(name, 1, constants.range(0, constants.size()));
        }
        if dirty.intersects(StageDirty::STORAGES | StageDirty::HANDLES | StageDirty::PROGRAM) {
            self.set_driver_constants(stage, name, &program);
        }
    }

    /// Writes the banks that the driver fills: handles, storage-buffer addresses (`ConstantLayoutTable`).
    fn set_driver_constants(&mut self, stage: usize, name: navin_vulkan::Stage, program: &ProgramStage) {
        let (interface, layout) = (&program.interface, program.layout);
        let (texture_base, sampler_base) = self.bases(self.driver.descriptors.generation());
        for bank in bits(interface.constant_banks & 0b101) {
            let bank = bank as u32;
            let size = (interface.constant_bytes[bank as usize] as usize).next_multiple_of(16).clamp(16, 0x1_0000);
            let mut bytes: SmallVec<[u8; 512]> = smallvec![0u8; size];
            let mut put = |offset: u32, value: u32| {
                if let Some(word) = bytes.get_mut(offset as usize..offset as usize + 4) {
                    word.copy_from_slice(&value.to_le_bytes());
                }
            };
            let state = &self.state.stages[stage];
            if bank == 0 {
                for (slot, range) in state.storages.iter().enumerate() {
                    let at = layout.storage_entry(program.stage, slot as u32);
                    if at as usize >= size {
                        break;
                    }
                    put(at, range.address as u32);
                    put(at + 4, (range.address >> 32) as u32);
                    put(at + 8, u32::try_from(range.size).unwrap_or(u32::MAX));
                }
                if let Some(pointers) = layout.compute_block_pointers.filter(|_| stage == COMPUTE) {
                    for (block, range) in state.uniforms.iter().enumerate().skip(5) {
                        if range.address != 0 {
                            put(pointers + 8 * block as u32, range.address as u32);
                            put(pointers + 8 * block as u32 + 4, (range.address >> 32) as u32);
                        }
                    }
                }
            }
            // Handles last, and only those the program uses: some layouts overlap their tables.
            if bank == layout.image_bank {
                for image in &interface.images {
                    if let HandleSource::Bound(word) = image.handle
                        && let Some(handle) = state.images.get(word.wrapping_sub(layout.image_first_word) as usize)
                    {
                        put(word * 4, moved(*handle, texture_base, *handle >> 20));
                    }
                }
            }
            if bank == layout.texture_bank {
                for texture in &interface.textures {
                    if let HandleSource::Bound(word) = texture.handle {
                        let slot = word.wrapping_sub(layout.texture_first_word) / layout.texture_word_stride.max(1);
                        if let Some(handle) = state.textures.get(slot as usize) {
                            let sampler = sampler_base.saturating_add(handle >> 20);
                            put(word * 4, moved(*handle, texture_base, self.residency.sampler_bits(sampler)));
                        }
                    }
                }
            }
            match self.encoder.upload(&bytes, self.driver.context.limits().uniform_offset_alignment.max(16)) {
                Ok(slice) => self.encoder.set_constants(name, bank as usize, slice.range),
                Err(e) => {
                    fault!("", "no memory for driver constants ({e}): they read 0");
                    self.encoder.set_constants(name, bank as usize, BufferRange::NULL);
                }
            }
        }
    }
}

/// Whether a draw has no vertex. Asked first: no budget counts the indices that such a draw would be rewritten to.
fn draws_nothing(count: u32, instances: u32) -> bool {
    count == 0 || instances == 0
}

/// The numbers of the bits that are set, from the lowest.
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < 32).then_some(bit as usize)
    })
}

/// A handle whose texture id is moved to where the bound pool's ids begin, and whose sampler is this (B415: of 32 bits,
/// then moved; what does not fit then is the unused id).
pub(super) fn moved(handle: u32, texture_base: u32, sampler: u32) -> u32 {
    (handle & 0xF_FFFF).saturating_add(texture_base).min(0xF_FFFF) | sampler << 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_from_the_lowest() {
        assert_eq!(bits(0).count(), 0);
        assert_eq!(bits(1 << 31 | 0b101).collect::<Vec<_>>(), [0, 2, 31]);
    }

    #[test]
    fn b415_handles_move_to_the_bound_pools() {
        assert_eq!(moved(0x1d1, 0, 0), 0x1d1);
        assert_eq!(moved(0x0010_0002, 4096, 257), 4098 | 257 << 20);
        assert_eq!(moved(0xFFFF_FFFF, 4096, 0xFFF), 0xFFFF_FFFF, "an unused slot stays one");
    }
}
