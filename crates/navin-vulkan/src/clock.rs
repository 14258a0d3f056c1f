//! The guest's GPU clock.
//!
//! Counters report times in ticks of the hardware's clock, which runs at 614.4 MHz: 384 ticks in 625 ns (deko3d,
//! zlib licence, converts so). The GPU writes device ticks, `fold.comp` turns them into guest ticks with the numbers
//! of [`Clock`], and [`Clock::now`] answers the same clock for the CPU: by `VK_EXT_calibrated_timestamps` where the
//! device has it, so that both are one clock and never drift; else by the CPU's clock, laid beside the device's at
//! the opening.

use std::time::Instant;

use ash::vk;

use crate::gpu::Gpu;

/// Ticks of the guest's clock in [`PER_NANOSECONDS`].
const TICKS: u64 = 384;
/// See [`TICKS`].
const PER_NANOSECONDS: u64 = 625;

/// Nanoseconds as ticks of the guest's clock, rounded down.
pub fn guest_ticks(nanoseconds: u64) -> u64 {
    ratio(nanoseconds, TICKS, PER_NANOSECONDS)
}

/// Ticks of the guest's clock in nanoseconds, rounded down.
pub fn nanoseconds(guest_ticks: u64) -> u64 {
    ratio(guest_ticks, PER_NANOSECONDS, TICKS)
}

/// `value` * `by` / `over` without an overflow on the way; wraps where the result does.
fn ratio(value: u64, by: u64, over: u64) -> u64 {
    (value / over).wrapping_mul(by).wrapping_add(value % over * by / over)
}

/// How device ticks become guest ticks: (ticks - epoch) * factor + base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Device ticks at the base.
    pub(crate) epoch: u64,
    /// Bits of device ticks that count.
    pub(crate) mask: u64,
    /// Guest ticks in a device tick, 32.32.
    pub(crate) factor: u64,
    /// Guest ticks at the epoch.
    pub(crate) base: u64,
}

impl Scale {
    /// `period`: nanoseconds of a device tick; `valid`: bits of a timestamp.
    fn new(period: f32, valid: u32) -> Self {
        let factor = f64::from(period) * TICKS as f64 / PER_NANOSECONDS as f64;
        Self {
            epoch: 0,
            mask: u64::MAX >> (64 - valid.clamp(1, 64)),
            factor: (factor * (1u64 << 32) as f64) as u64,
            base: 0,
        }
    }

    /// What `fold.comp` computes.
    fn apply(&self, device_ticks: u64) -> u64 {
        let ticks = device_ticks.wrapping_sub(self.epoch) & self.mask;
        ((u128::from(ticks) * u128::from(self.factor)) >> 32) as u64 + self.base
    }
}

/// The guest's GPU clock.
pub(crate) struct Clock {
    /// `None` on a device without timestamps.
    pub(crate) scale: Option<Scale>,
    start: Instant,
}

impl Clock {
    /// A clock that begins now at 0; `valid` is 0 on a queue without timestamps.
    pub(crate) fn new(period: f32, valid: u32) -> Self {
        let usable = valid > 0 && period > 0.0;
        Self { scale: usable.then(|| Scale::new(period, valid)), start: Instant::now() }
    }

    /// Lays the clocks beside each other: the device's showed `device_ticks` just now.
    pub(crate) fn calibrate(&mut self, device_ticks: u64) {
        let base = self.cpu_now();
        if let Some(scale) = &mut self.scale {
            (scale.epoch, scale.base) = (device_ticks, base);
        }
    }

    fn cpu_now(&self) -> u64 {
        guest_ticks(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The time in guest ticks.
    pub(crate) fn now(&self, gpu: &Gpu) -> u64 {
        match (device_now(gpu), &self.scale) {
            (Some(ticks), Some(scale)) => scale.apply(ticks),
            _ => self.cpu_now(),
        }
    }
}

/// The device's clock, read by the CPU, where it can be.
pub(crate) fn device_now(gpu: &Gpu) -> Option<u64> {
    let loader = gpu.calibrated.as_ref()?;
    let asked = [vk::CalibratedTimestampInfoEXT::default().time_domain(vk::TimeDomainEXT::DEVICE)];
    // SAFETY: the extension is enabled, and its device domain was found.
    let (ticks, _) = unsafe { loader.get_calibrated_timestamps(&asked) }.ok()?;
    ticks.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guests_clock_runs_at_614_4_mhz() {
        assert_eq!(guest_ticks(1_000_000_000), 614_400_000);
        assert_eq!(nanoseconds(614_400_000), 1_000_000_000);
        assert_eq!(nanoseconds(u64::MAX / 2), ((u128::from(u64::MAX / 2) * 625 / 384) as u64));
        for ns in [0, 1, 624, 625, 1 << 40, u64::MAX / 4] {
            assert!(nanoseconds(guest_ticks(ns)).abs_diff(ns) <= 2, "{ns}");
        }
    }

    #[test]
    fn device_ticks_scale_over_weeks_and_wrap_at_their_valid_bits() {
        let mut scale = Scale::new(52.083, 64);
        (scale.epoch, scale.base) = (1000, 7);
        let month = 30 * 86_400 * 1_000_000_000u64;
        let ticks = (month as f64 / 52.083) as u64;
        let expected = guest_ticks(month) + 7;
        assert!(scale.apply(1000 + ticks).abs_diff(expected) < expected / 1_000_000);
        let mut short = Scale::new(1.0, 36);
        short.epoch = (1 << 36) - 10;
        assert_eq!(short.apply(15), guest_ticks(25));
    }
}
