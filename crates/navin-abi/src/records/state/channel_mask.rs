//! `NVNchannelMaskState`: which channels of each colour target are written.

use super::COLOR_TARGETS;

/// `NVNchannelMaskState`, 4 bytes: four bits a target, red lowest.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ChannelMaskState(u32);

super::super::fits!(ChannelMaskState in MIN_NVNCHANNELMASKSTATE);

impl ChannelMaskState {
    /// Every channel of every target is written.
    pub const DEFAULT: Self = Self(u32::MAX);

    /// The packed word.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The object whose packed word is `bits`.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The channels written of target `index`, red to alpha; none for a target that does not exist.
    pub const fn channels(self, index: usize) -> [bool; 4] {
        let mask = self.mask(index);
        [mask & 1 != 0, mask & 2 != 0, mask & 4 != 0, mask & 8 != 0]
    }

    /// As [`channels`](Self::channels), as bits 0 (red) to 3 (alpha): Vulkan's order.
    pub const fn mask(self, index: usize) -> u32 {
        if index < COLOR_TARGETS { self.0 >> (index * 4) & 15 } else { 0 }
    }

    /// Sets the channels written of target `index`; false when there is no such target.
    #[must_use]
    pub const fn set_channels(&mut self, index: usize, channels: [bool; 4]) -> bool {
        if index >= COLOR_TARGETS {
            return false;
        }
        let mask =
            channels[0] as u32 | (channels[1] as u32) << 1 | (channels[2] as u32) << 2 | (channels[3] as u32) << 3;
        self.0 = self.0 & !(15 << (index * 4)) | mask << (index * 4);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_its_own_channels() {
        let mut state = ChannelMaskState::DEFAULT;
        assert!(state.set_channels(7, [true, false, false, true]));
        assert_eq!((state.channels(7), state.mask(7), state.channels(6)), ([true, false, false, true], 9, [true; 4]));
        assert!(!state.set_channels(8, [false; 4]));
        assert_eq!(state.channels(8), [false; 4]);
    }
}
