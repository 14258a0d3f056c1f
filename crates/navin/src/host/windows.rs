//! Windows: a ring of textures that take turns on the display, which is the frame sink.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use navin_abi::fault;
use navin_sync::SyncId;
use parking_lot::{Condvar, Mutex, RwLock};

use crate::driver::{self, Driver};

/// One window.
pub(crate) struct Window {
    /// Serials of the textures, 2 to 4.
    textures: Vec<u64>,
    /// Shown part as the guest set it; `None` before (the whole texture).
    crop: Mutex<Option<[i32; 4]>>,
    interval: AtomicI32,
    turn: Mutex<Turn>,
    returned: Condvar,
}

#[derive(Default)]
struct Turn {
    next: usize,
    /// Textures acquired or on their way to the display.
    out: usize,
}

impl Window {
    /// The texture at `index`, if there is one.
    pub(crate) fn texture(&self, index: i32) -> Option<u64> {
        self.textures.get(usize::try_from(index).ok()?).copied()
    }

    /// The next texture in turn, once the display has given it back.
    ///
    /// A guest that acquires more textures than it has without presenting one gets the next all the same: on the
    /// console that would wait for ever.
    pub(crate) fn acquire(&self, all_presented: impl Fn() -> bool) -> i32 {
        let mut turn = self.turn.lock();
        while turn.out >= self.textures.len() {
            let timed_out = self.returned.wait_for(&mut turn, std::time::Duration::from_secs(1)).timed_out();
            if timed_out && all_presented() {
                fault!(
                    "B303",
                    "a window of {} textures, all acquired and none presented: the next is given out again",
                    self.textures.len()
                );
                turn.out = 0;
            }
        }
        turn.out += 1;
        let index = turn.next;
        turn.next = (turn.next + 1) % self.textures.len();
        index as i32
    }

    /// The display has shown a texture, or never will, and gives it back.
    fn shown(&self) {
        let mut turn = self.turn.lock();
        turn.out = turn.out.saturating_sub(1);
        self.returned.notify_all();
    }

    pub(crate) fn set_crop(&self, crop: [i32; 4]) {
        *self.crop.lock() = Some(crop);
    }

    /// The crop as unsigned numbers; `None` for the whole texture.
    pub(crate) fn crop(&self) -> Option<[u32; 4]> {
        let crop = (*self.crop.lock())?;
        crop.iter().all(|v| *v >= 0).then(|| crop.map(|v| v as u32))
    }

    pub(crate) fn set_interval(&self, interval: i32) {
        self.interval.store(interval, Ordering::Relaxed);
    }
}

/// A window's texture on its way to the display, which gives it back: whoever drops it, be it with a queue that goes or
/// with the device, gives it back too.
pub(crate) struct OnItsWay(pub(crate) Arc<Window>);

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.0.shown();
    }
}

/// Every window of the process.
#[derive(Default)]
pub(crate) struct Windows {
    next: AtomicU64,
    table: RwLock<HashMap<u64, Arc<Window>>>,
}

impl Windows {
    /// A window over textures; 0 when there is none.
    pub(crate) fn create(&self, textures: &[u64], interval: i32) -> u64 {
        if textures.is_empty() || textures.contains(&0) {
            fault!("", "a window without textures, or with one that does not exist: refused");
            return 0;
        }
        let window = Window {
            textures: textures.to_vec(),
            crop: Mutex::default(),
            interval: AtomicI32::new(interval),
            turn: Mutex::default(),
            returned: Condvar::new(),
        };
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.table.write().insert(id, Arc::new(window));
        id
    }

    pub(crate) fn get(&self, id: u64) -> Option<Arc<Window>> {
        self.table.read().get(&id).cloned()
    }

    pub(crate) fn destroy(&self, id: u64) {
        self.table.write().remove(&id);
    }
}

/// A window over textures, by serial; 0 when there can be none.
pub(crate) fn create(textures: &[u64], _native_window: u64, interval: i32) -> u64 {
    driver::get().map_or(0, |driver| driver.windows.create(textures, interval))
}

pub(crate) fn destroy(window: u64) {
    if let Some(driver) = driver::get() {
        driver.windows.destroy(window);
    }
}

/// The next texture, and a sync that says when it may be drawn to: at once, since the display has given it back
/// by then. Answers `NVNwindowAcquireTextureResult` and the index.
pub(crate) fn acquire(window: u64, sync: u64) -> (i32, i32) {
    let Some(driver) = driver::get() else { return (1, 0) };
    let answer = next_texture(driver, window);
    if answer.0 == 0
        && let Some(sync) = SyncId::from_raw(sync)
    {
        driver.scheduler.set_sync(sync, 0);
    }
    answer
}

/// 0 and the index of the next texture, or 1 when there is no such window.
pub(super) fn next_texture(driver: &Driver, window: u64) -> (i32, i32) {
    match driver.windows.get(window) {
        Some(window) => (0, window.acquire(|| driver.scheduler.status().iter().all(|queue| queue.pending == 0))),
        None => (1, 0),
    }
}

pub(crate) fn set_crop(window: u64, x: i32, y: i32, width: i32, height: i32) {
    if let Some(window) = driver::get().and_then(|driver| driver.windows.get(window)) {
        window.set_crop([x, y, width, height]);
    }
}

pub(crate) fn set_interval(window: u64, interval: i32) {
    if let Some(window) = driver::get().and_then(|driver| driver.windows.get(window)) {
        window.set_interval(interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_take_turns_and_come_back_when_shown() {
        let windows = Windows::default();
        let window = windows.get(windows.create(&[7, 8], 1)).unwrap();
        assert_eq!((window.acquire(|| false), window.acquire(|| false)), (0, 1));
        window.shown();
        assert_eq!(window.acquire(|| false), 0);
        assert_eq!((window.texture(1), window.texture(2), window.texture(-1)), (Some(8), None, None));
    }

    #[test]
    fn a_window_needs_textures() {
        let windows = Windows::default();
        assert_eq!(windows.create(&[], 1), 0);
        assert_eq!(windows.create(&[7, 0], 1), 0);
    }
}
