//! The display: frames that are complete go to the frame sink, in the order in which they were presented.
//!
//! The submit thread pushes a [`Frame`] with the ticket that completes it; the display thread waits for the ticket,
//! delivers the frame, and gives its texture back to the window. Nothing else waits for it: a guest's fences and
//! `nvnQueueFinish` end with the GPU's work, whatever the display does meanwhile (B303).

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use navin_sync::{Ticket, Timeline};
use parking_lot::{Condvar, Mutex};

use crate::driver::Driver;
use crate::replay::present::{Frame, Pixels};

/// Frames on their way.
#[derive(Default)]
pub(crate) struct Display {
    list: Mutex<List>,
    changed: Condvar,
}

#[derive(Default)]
struct List {
    frames: VecDeque<(Ticket, Frame)>,
    /// The display thread has one that is no longer in the list.
    busy: bool,
    /// Nothing is shown any more (B645).
    closed: bool,
}

impl Display {
    /// A frame that is complete at `ticket`.
    pub(crate) fn push(&self, ticket: Ticket, frame: Frame) {
        let mut list = self.list.lock();
        if list.closed {
            // Its texture is given back: a guest that goes on after the device's end must not wait for it.
            return drop(list);
        }
        list.frames.push_back((ticket, frame));
        self.changed.notify_all();
    }

    fn next(&self) -> Option<(Ticket, Frame)> {
        let mut list = self.list.lock();
        list.busy = false;
        self.changed.notify_all();
        loop {
            if list.closed {
                return None;
            }
            if let Some(next) = list.frames.pop_front() {
                list.busy = true;
                return Some(next);
            }
            self.changed.wait(&mut list);
        }
    }

    /// Waits until everything given so far has been shown.
    pub(crate) fn wait_empty(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut list = self.list.lock();
        while list.busy || !list.frames.is_empty() {
            if self.changed.wait_until(&mut list, deadline).timed_out() {
                return;
            }
        }
    }

    /// Shows nothing any more.
    pub(crate) fn close(&self) {
        let mut list = self.list.lock();
        list.closed = true;
        let dropped = std::mem::take(&mut list.frames);
        self.changed.notify_all();
        drop(list);
        drop(dropped);
    }
}

impl Driver {
    /// Delivers frames as they complete. Ends with the device.
    pub(crate) fn display_thread(&'static self) {
        let period = self.config.display_hz.map(|hz| Duration::from_secs(1) / u32::try_from(hz).unwrap_or(u32::MAX));
        let mut next = Instant::now();
        while let Some((ticket, frame)) = self.display.next() {
            let Frame { index, window, pixels } = frame;
            if self.wait(ticket, None) == Ok(true) {
                self.deliver(index, pixels);
            }
            if let Some(period) = period {
                // The display shows the picture for its period; a late frame does not make the next one early.
                next = next.max(Instant::now()) + period;
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
            }
            drop(window);
        }
    }

    fn deliver(&'static self, index: u64, pixels: Option<Pixels>) {
        if let Some(pixels) = pixels
            && let Some((width, height, rgba)) = pixels.picture()
        {
            self.run.frame(index, width, height, &rgba);
        }
        self.counters.presents.fetch_add(1, Ordering::Relaxed);
        self.report_validation();
        if self.run.frame_presented(index) {
            self.run.exit();
        }
    }
}
