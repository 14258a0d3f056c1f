//! Draws and dispatches whose arguments are in a buffer.
//!
//! The GPU reads them where it can. The CPU does, behind everything before it, for draws that Vulkan has no form for
//! ([`rewrite`](super::rewrite)), and where the arguments that stand in memory are over what a piece may ask for: no
//! engine is known to draw quads indirectly in its frames, and none draws four thousand million vertices, so that is
//! right and slow.

use std::ptr::NonNull;

use navin_abi::enums::{NVNdrawPrimitive, NVNindexType};
use navin_abi::fault;
use navin_command::record::immediate::ElementMode;
use navin_command::record::limits::{MAX_DRAWS, Runaway};
use navin_command::record::payload::{DrawArraysInstanced, DrawElementsInstanced};
use navin_vulkan::UNKNOWN_LENGTH;

use super::Piece;
use super::convert::{self, Topology};
use super::state::Range;

/// Arguments of indirect draws, in words: `VkDrawIndirectCommand` and `VkDrawIndexedIndirectCommand`. Both begin with
/// the number of vertices and the number of instances.
const ARRAY_WORDS: usize = 4;
const ELEMENT_WORDS: usize = 5;

impl Piece<'_> {
    /// Draws with arguments in a buffer; `indices` is the index buffer's address for an indexed draw.
    pub(crate) fn draw_indirect(
        &mut self,
        primitive: u8,
        index: Option<(u8, u64)>,
        indirect: u64,
        count: Option<(u64, u32, u32)>,
    ) {
        let topology = convert::topology(NVNdrawPrimitive(i32::from(primitive)));
        if !self.state.render_enable {
            return;
        }
        let arguments: u64 = if index.is_some() { 20 } else { 16 };
        let (draws, stride) = count.map_or((1, 0), |(_, draws, stride)| (draws.min(MAX_DRAWS), stride));
        if draws > 1 && (u64::from(stride) < arguments || !stride.is_multiple_of(4)) {
            fault!(
                key = stride,
                "",
                "an indirect draw whose arguments are {stride} bytes apart and take {arguments}: draw left out"
            );
            return;
        }
        // Whoever draws them walks them. Before anything is bound: the command buffer may be another one after this.
        let walked = self.said_draws(draws, count.map(|(address, ..)| address));
        if !self.affords(|budget| budget.draws(walked)) {
            return;
        }
        let mut rewritten = matches!(topology, Topology::Rewritten(..));
        if let Some((index_type, address)) = index {
            let (kind, size) = convert::index_type(NVNindexType(i32::from(index_type)));
            // Vulkan restarts at all ones only.
            rewritten |= self.odd_restart_index(size).is_some();
            // How many indices the arguments name is not known here (B122).
            if !rewritten && self.bind_indices(address, UNKNOWN_LENGTH, (kind, size)).is_none() {
                return;
            }
        }
        let bytes = arguments + u64::from(draws.saturating_sub(1)) * u64::from(stride);
        let Some(range) = self.resolve(Range { address: indirect, size: bytes }, "indirect arguments") else { return };
        let Some(spare) = range.size.checked_sub(arguments) else {
            fault!(
                key = indirect,
                "B113",
                "indirect arguments at {indirect:#x} that leave their memory pool: draw left out"
            );
            return;
        };
        // The most draws is a bound, and may name more than the pool holds.
        let fitting = 1 + spare / u64::from(stride.max(1));
        let draws = draws.min(u32::try_from(fitting).unwrap_or(u32::MAX));
        let counter = match count {
            None => None,
            Some((address, ..)) => match self.resolve_whole(Range { address, size: 4 }, "a draw count") {
                Some(range) => Some(range),
                None => return,
            },
        };
        let words = (arguments / 4) as usize;
        let count = count.map(|(address, ..)| address);
        if rewritten || !self.affords_indirect(indirect, words, walked.min(draws), stride) {
            return self.draw_indirect_on_cpu(primitive, index, indirect, draws, stride, count);
        }
        if !self.prepare_draw(topology) {
            return;
        }
        let result = match (counter, index.is_some()) {
            (None, false) => self.encoder.draw_indirect(range.buffer, range.offset, 1, 16),
            (None, true) => self.encoder.draw_indexed_indirect(range.buffer, range.offset, 1, 20),
            (Some(count), false) => {
                self.encoder.draw_indirect_count(range.buffer, range.offset, count.buffer, count.offset, draws, stride)
            }
            (Some(count), true) => self.encoder.draw_indexed_indirect_count(
                range.buffer,
                range.offset,
                count.buffer,
                count.offset,
                draws,
                stride,
            ),
        };
        self.drawn(result);
    }

    /// Runs the compute program with group counts from a buffer.
    pub(crate) fn dispatch_indirect(&mut self, address: u64) {
        let groups = |at: NonNull<u8>| [0, 1, 2].map(|n| word_at(at, n));
        let seen = self.driver.pools.shared_range(address, 12).map(groups);
        if seen.is_some_and(|groups| !self.may_dispatch(groups)) {
            // What is there now would hang the GPU: as long as the GPU has not written something else yet.
            if self.finish_earlier_work()
                && let Some(at) = self.driver.pools.brought_range(&self.driver.context, address, 12)
            {
                self.dispatch(groups(at));
            }
            return;
        }
        let Some(range) = self.resolve_whole(Range { address, size: 12 }, "indirect dispatch arguments") else {
            return;
        };
        if self.prepare_dispatch() {
            let result = self.encoder.dispatch_indirect(range.buffer, range.offset);
            self.drawn(result);
        }
    }

    /// Takes a dispatch from the budget, in the next share if it does not fit into this one. What it is over is not said:
    /// the GPU may write other counts before it looks.
    fn may_dispatch(&mut self, groups: [u32; 3]) -> bool {
        let mut taken = self.budget.dispatch(groups);
        if taken == Err(Runaway::Share) && self.cut().is_some() {
            self.budget.next_share();
            taken = self.budget.dispatch(groups);
        }
        taken.is_ok()
    }

    /// Draws what `draws` arguments at `arguments` say, `stride` bytes apart, as the CPU reads them; `index` is type
    /// and address of the index buffer, `count` the address of the number of draws, if a buffer holds it.
    fn draw_indirect_on_cpu(
        &mut self,
        primitive: u8,
        index: Option<(u8, u64)>,
        arguments: u64,
        draws: u32,
        stride: u32,
        count: Option<u64>,
    ) {
        if !self.finish_earlier_work() {
            return;
        }
        let draws = match count {
            None => draws,
            Some(address) => {
                let at = self.driver.pools.brought_range(&self.driver.context, address, 4);
                draws.min(at.map_or(0, |at| word_at(at, 0)))
            }
        };
        let words = if index.is_some() { ELEMENT_WORDS } else { ARRAY_WORDS };
        for draw in 0..draws {
            let address = arguments + u64::from(draw) * u64::from(stride);
            let Some(memory) = self.driver.pools.brought_range(&self.driver.context, address, words as u64 * 4) else {
                return;
            };
            let word = |n: usize| word_at(memory, n);
            match index {
                None => {
                    let draw = DrawArraysInstanced {
                        count: word(0),
                        instance_count: word(1),
                        first: word(2),
                        base_instance: word(3),
                    };
                    self.draw_arrays(primitive, &draw);
                }
                Some((kind, buffer)) => {
                    let mode = ElementMode::new(primitive, kind);
                    let size = convert::index_type(NVNindexType(kind.into())).1;
                    let draw = DrawElementsInstanced {
                        count: word(0),
                        instance_count: word(1),
                        index_buffer: buffer.wrapping_add(u64::from(word(2)) * size).into(),
                        base_vertex: word(3) as i32,
                        base_instance: word(4),
                    };
                    self.draw_elements(mode, &draw);
                }
            }
        }
    }

    /// How many of at most `draws` draws there are, by the number that stands at `count` now.
    fn said_draws(&self, draws: u32, count: Option<u64>) -> u32 {
        let said = count.and_then(|address| self.driver.pools.shared_range(address, 4));
        said.map_or(draws, |at| draws.min(word_at(at, 0)))
    }

    /// Whether the arguments that stand in memory now are within what a piece may ask for (B225: command memory can
    /// name any memory). The GPU may write others before the draw: then the ones seen here are old ones, and what
    /// they say is most likely harmless as well. What the CPU does not see is the watchdog's (B235).
    fn affords_indirect(&mut self, at: u64, words: usize, draws: u32, stride: u32) -> bool {
        let bytes = u64::from(draws.saturating_sub(1)) * u64::from(stride) + words as u64 * 4;
        let Some(first) = self.driver.pools.shared_range(at, bytes) else { return true };
        let mut budget = self.budget;
        let affordable = (0..draws as usize).all(|draw| {
            // In words, where the stride is a multiple of four: a single draw's does not count.
            let at = draw * (stride as usize / 4);
            budget.draw(word_at(first, at), word_at(first, at + 1)).is_ok()
        });
        if affordable {
            self.budget = budget;
        }
        affordable
    }
}

/// Word `n` behind `at`, which may change meanwhile, as memory that a guest shares may: any value of it is one.
fn word_at(at: NonNull<u8>, n: usize) -> u32 {
    // SAFETY: callers give as many bytes of a live pool's storage.
    unsafe { at.as_ptr().cast::<u32>().add(n).read_unaligned() }
}
