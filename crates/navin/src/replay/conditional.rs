//! Conditional rendering: whether draws, dispatches and clears happen (B585).
//!
//! `nvnCommandBufferSetRenderEnableConditional` compares the values of two `NVNcounterData`, the one at the address
//! and the one 16 bytes behind it, as the hardware does: by its `RENDER_IF_EQUAL` and `RENDER_IF_NOT_EQUAL`, 64 bits
//! each, the times not looked at (open drivers: nouveau). The comparison is made where the command is, not later.
//!
//! Where the values are reports of counters that have landed, the CPU compares, and what is not drawn costs nothing
//! (B586). Else the GPU does, in order with its own writes: a word in the queue's memory then says whether
//! `VK_EXT_conditional_rendering` lets the commands pass. A device without it has the piece cut in two, and what came
//! before is waited for. The outcome is part of the queue's state and outlives every cut of its work (B587).

use navin_abi::fault;

use super::Piece;
use super::state::Range;

/// Bytes that a condition looks at: the second value lies a report behind the first.
const SPAN: u64 = 24;

/// `NVNconditionalRenderMode`: RENDER_IF_EQUAL.
const IF_EQUAL: u8 = 0;

impl Piece<'_> {
    /// What follows happens, or does not.
    pub(super) fn set_render_enable(&mut self, enable: bool) {
        self.state.render_enable = enable;
        if std::mem::take(&mut self.state.predicated) {
            self.encoder.set_condition(None);
        }
    }

    pub(super) fn set_render_condition(&mut self, mode: u8, address: u64) {
        let range = Range { address, size: SPAN };
        let Some(range) = self.resolve_whole(range, "the values of a render condition") else {
            // As the hardware would find: unmapped memory reads 0, and 0 equals 0.
            return self.set_render_enable(mode == IF_EQUAL);
        };
        let equal = mode == IF_EQUAL;
        if self.landed(address)
            && let Some(values) = self.driver.pools.shared_range(address, SPAN)
        {
            self.driver.counters.conditions_on_cpu.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            return self.set_render_enable(compare(values.as_ptr()) == equal);
        }
        self.driver.counters.conditions_on_gpu.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if self.driver.context.features().conditional_rendering {
            let Some(memory) = self.counter_memory() else { return self.set_render_enable(true) };
            let place = self.encoder.device_address(range);
            self.encoder.set_condition(None);
            self.encoder.evaluate_condition(&memory, place, equal);
            self.encoder.set_condition(Some((memory.predicate(), false)));
            (self.state.render_enable, self.state.predicated) = (true, true);
            return;
        }
        fault!(
            "B585",
            "the device has no VK_EXT_conditional_rendering: a render condition waits for the work before it"
        );
        let context = &self.driver.context;
        let values =
            self.finish_earlier_work().then(|| self.driver.pools.brought_range(context, address, SPAN)).flatten();
        match values {
            Some(values) => self.set_render_enable(compare(values.as_ptr()) == equal),
            None => self.set_render_enable(true),
        }
    }

    /// Whether reports wrote the values, and all that the GPU writes there is in memory: a value that it did not write
    /// is the CPU's.
    fn landed(&self, address: u64) -> bool {
        let completed = self.driver.context.queue().completed();
        // In the guest's memory too, where that is another one than the GPU's.
        self.driver.pools.come_down(completed);
        self.reported.landed(&[address, address.wrapping_add(16)], SPAN, completed)
    }

    /// Puts the queue's condition in force again in a new command buffer.
    pub(super) fn resume_condition(&mut self) {
        if self.state.predicated
            && let Some(memory) = &self.state.counters
        {
            self.encoder.set_condition(Some((memory.predicate(), false)));
        }
    }
}

/// Whether the 64-bit values at `at` and 16 bytes further are equal.
fn compare(at: *const u8) -> bool {
    // SAFETY: callers give at least 24 bytes of a live pool's storage; the words may change meanwhile, as memory that
    // a guest shares may, and any value of them is one.
    let word = |offset: usize| unsafe { at.add(offset).cast::<u64>().read_unaligned() };
    word(0) == word(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b585_values_are_compared_and_times_are_not() {
        let report = |value: u64, time: u64| [value.to_le_bytes(), time.to_le_bytes()].concat();
        let two = |a, b| [report(a, 1), report(b, 2)].concat();
        assert!(compare(two(5, 5).as_ptr()));
        assert!(!compare(two(5, 6).as_ptr()));
        assert!(!compare(two(1 << 32 | 5, 5).as_ptr()), "all 64 bits");
    }
}
