//! Signals of events, in order with the commands.
//!
//! A signal waits in a list, so that it does not end the rendering scope (B229). It is written with the reports
//! ([`Encoder::flush_reports`]): before whatever could look at the word, behind all that was recorded before it, the
//! reports included, so that who sees the event sees them too (B590).

use ash::vk;

use super::{Access, Encoder};
use crate::encoder::scope::Class;

/// A word to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signal {
    to: vk::DeviceAddress,
    value: u32,
    add: bool,
}

/// Most signals that wait.
const MOST: usize = 256;

/// Adds a signal to those that wait: one for each word, as they run side by side.
fn merge(signals: &mut Vec<Signal>, signal: Signal) {
    match signals.iter_mut().find(|waiting| waiting.to == signal.to) {
        Some(waiting) if signal.add => waiting.value = waiting.value.wrapping_add(signal.value),
        Some(waiting) => *waiting = signal,
        None => signals.push(signal),
    }
}

impl Encoder {
    /// Writes `value` to the word at `to`, a multiple of 4, or adds it, when everything recorded before is complete. See
    /// [`Encoder::flush_reports`] for when.
    pub fn signal_event(&mut self, to: vk::DeviceAddress, value: u32, add: bool) {
        merge(&mut self.signals, Signal { to, value, add });
        if self.signals.len() >= MOST {
            self.flush_reports();
        }
    }

    /// Writes the signals that wait; the reports are written.
    pub(super) fn flush_signals(&mut self) {
        if self.signals.is_empty() {
            return;
        }
        let signals = std::mem::take(&mut self.signals);
        let Some(kit) = self.counter_kit() else {
            // Somebody may wait for them: the submission fails, and the caller signals in another way.
            return self.fail(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        };
        let words = |signal: &Signal| {
            [signal.to as u32, (signal.to >> 32) as u32, signal.value, u32::from(signal.add)].map(u32::to_ne_bytes)
        };
        let bytes: Vec<u8> = signals.iter().flat_map(words).flatten().collect();
        let list = match self.upload(&bytes, 16) {
            Ok(list) => list.address,
            Err(error) => {
                tracing::error!("signalling events: {error}");
                return self.fail(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
            }
        };
        self.end_rendering();
        // The CPU may look at an event without a wait, and then at what it stands for.
        self.emit_barrier(Access::All, Access::AllAndHost);
        let count = signals.len() as u32;
        self.own_dispatch(&kit.signal, &[list as u32, (list >> 32) as u32, count, 0], (count.div_ceil(64), 1));
        self.emit_barrier(Access::All, Access::All);
        self.last = Class::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b229_of_signals_to_one_word_the_outcome_is_written() {
        let signal = |to, value, add| Signal { to, value, add };
        let mut signals = Vec::new();
        for (to, value, add) in [
            (0x100, 5, true),
            (0x200, 1, false),
            (0x100, 2, true),
            (0x200, 3, true),
            (0x300, 9, true),
            (0x300, 4, false),
            (0x200, u32::MAX, true),
        ] {
            merge(&mut signals, signal(to, value, add));
        }
        assert_eq!(signals, [signal(0x100, 7, true), signal(0x200, 3, false), signal(0x300, 4, false)]);
    }
}
