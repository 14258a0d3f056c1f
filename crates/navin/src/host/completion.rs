//! What finished work leaves for the CPU: events and reports are written, waits end, the watchdog looks on.
//!
//! The replayer pushes one [`Completion`] a submission. Whoever first knows that the timeline has passed it makes
//! its writes, in the order in which they were recorded: a guest thread at the end of its own wait
//! ([`wait_sync`]), else the completion thread ([`Driver::completion_thread`]). The rules of who and in what order are
//! `navin_sync::Completions`' (B301); this module holds what a record is and what the device's clock and timeline
//! are.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use navin_abi::fault;
use navin_sync::{
    DeviceLost, EventSignal, Oldest, QueueId, SignalMode, SyncId, Ticket, Timeline, WaitResult, Watchdog,
};
use smallvec::SmallVec;

use crate::driver::Driver;

/// How long a wait for the timeline sleeps at a time: a device that was given up is noticed within it.
const SLICE: Duration = Duration::from_millis(100);

/// The CPU's part of one submission.
#[derive(Default)]
pub(crate) struct Completion {
    /// What to write, in the order of recording.
    pub(crate) writes: Vec<Write>,
    /// Who submitted it and with which programs bound, for the watchdog.
    pub(crate) origin: Origin,
}

impl Completion {
    /// The event signals among the writes.
    pub(crate) fn signals(&self) -> Vec<EventSignal> {
        let event = |write: &Write| match write {
            Write::Event(signal) | Write::Signalled(signal) => Some(*signal),
            Write::Call(_) => None,
        };
        self.writes.iter().filter_map(event).collect()
    }

    /// Of the writes from `first` on none was the GPU's after all: it was not given what it should have written them
    /// with.
    pub(crate) fn refused(&mut self, first: usize) {
        for write in self.writes.iter_mut().skip(first) {
            if let Write::Signalled(signal) = *write {
                *write = Write::Event(signal);
            }
        }
    }
}

/// One write by the CPU.
pub(crate) enum Write {
    /// An event's value.
    Event(EventSignal),
    /// An event's value that the GPU has written, in order with its other writes: the scheduler is told (B590).
    Signalled(EventSignal),
    /// Anything else that has to be in memory when waits for the submission end. Called with the completion lock
    /// held, on a guest's thread or the completion thread: it may take leaf locks and must not wait.
    #[expect(dead_code, reason = "reports that the device cannot write itself")]
    Call(Box<dyn FnOnce(&Driver) + Send>),
}

/// Where a submission comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) queue: Option<QueueId>,
    /// Serials of the programs that were bound, oldest bind first, a program once.
    pub(crate) programs: SmallVec<[u64; 8]>,
}

/// Programs that a submission remembers.
const PROGRAMS: usize = 8;

impl Origin {
    /// A program is bound: it becomes the newest.
    pub(crate) fn bound(&mut self, program: u64) {
        if program == 0 || self.programs.last() == Some(&program) {
            return;
        }
        self.programs.retain(|known| *known != program);
        if self.programs.len() == PROGRAMS {
            self.programs.remove(0);
        }
        self.programs.push(program);
    }
}

impl Timeline for Driver {
    type Record = Completion;

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<bool, DeviceLost> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            if self.health.is_lost() {
                return Err(DeviceLost);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            match self.context.queue().wait(ticket, left.unwrap_or(SLICE).min(SLICE)) {
                Ok(true) => return Ok(true),
                Ok(false) if left.is_some_and(|left| left <= SLICE) => return Ok(false),
                Ok(false) => {}
                Err(e) => {
                    self.wait_failed(&e);
                    // A device that keeps refusing for another reason is not to be asked without a pause.
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }

    fn write(&self, ticket: Ticket, record: Completion) {
        // What the GPU wrote into pools that it has a copy of, before anybody may look for it.
        self.pools.come_down(ticket);
        // What waited for this work goes now, whether or not anything is submitted again (B650).
        if self.context.waiting_for_release() > 0 {
            self.context.queue().collect();
        }
        if self.slots_wait.swap(false, Ordering::AcqRel) {
            self.post(Box::new(|replayer| replayer.collect()));
        }
        self.pools.collect(self);
        for write in record.writes {
            match write {
                Write::Event(signal) => self.signal(&signal),
                Write::Signalled(_) => {}
                Write::Call(call) => call(self),
            }
        }
    }
}

impl Driver {
    /// Makes the writes of everything up to `reached`, which the timeline has passed, and ends the waits for it.
    pub(crate) fn publish(&self, reached: Ticket) {
        navin_sync::publish(&self.scheduler, &self.completions, self, reached);
    }

    /// As [`publish`](Self::publish), if the GPU has passed `ticket`: nobody waits for what ended before its record came.
    pub(crate) fn publish_ended(&self, ticket: Ticket) {
        if self.context.queue().completed() >= ticket {
            self.publish(ticket);
        }
    }

    /// Waits for the oldest submission, publishes it, and so on. Ends with the device.
    pub(crate) fn completion_thread(&'static self) {
        let mut watchdog = Watchdog::new(self.config.watchdog);
        let mut said = Instant::now();
        loop {
            // Memory may climb while nothing is submitted (B650).
            let line = said.checked_add(self.config.memory_line);
            let oldest = self.completions.oldest_until(line);
            if line.is_some_and(|line| Instant::now() >= line) {
                said = Instant::now();
                self.say_memory();
            }
            let ticket = match oldest {
                Oldest::Record(ticket) => ticket,
                Oldest::Late => continue,
                Oldest::Closed => return,
            };
            match self.wait(ticket, Some(SLICE)) {
                Ok(true) => self.publish(ticket),
                Ok(false) => {
                    if let Some(stood) = watchdog.look(Some(ticket), self.now()) {
                        self.name_stuck(ticket, stood);
                    }
                }
                Err(DeviceLost) => return,
            }
        }
    }

    /// The memory line of the log (B124): what climbs here is kept by something.
    fn say_memory(&self) {
        let ((pools, bytes), counts) = (self.pools.totals(), self.context.pool_counts());
        tracing::info!(
            target: "navin::memory",
            pools,
            pool_bytes = bytes,
            textures = self.textures.len(),
            images = self.context.images(),
            programs = self.programs.len(),
            pool_buffers = counts.live,
            pool_buffer_bytes = counts.live_bytes,
            imports = counts.imports,
            finalized_but_alive = counts.retired,
            waiting_for_release = self.context.waiting_for_release(),
            "memory [B124]; no table of textures that share storage is kept, so nothing is evicted from it"
        );
    }

    /// Says which submission does not end (B235).
    fn name_stuck(&self, ticket: Ticket, stood: Duration) {
        let what = self.describe_oldest();
        fault!(
            each,
            "B235",
            "a GPU submission does not complete: submitted {}, completed {}; for {stood:.0?} the oldest is {ticket}{what}. \
             A shader without an end is the usual cause; dump_shaders writes each under the name given here",
            self.context.queue().submitted(),
            self.context.queue().completed()
        );
    }

    /// The oldest submission that has not ended, in words: ` of queue 3, with programs ...`.
    pub(crate) fn describe_oldest(&self) -> String {
        let origin = self.completions.peek(|_, record| record.origin.clone());
        match origin {
            Some(Origin { queue: Some(queue), programs }) => {
                let names: Vec<_> = programs.iter().rev().map(|serial| self.programs.describe(self, *serial)).collect();
                let names = if names.is_empty() { "none".into() } else { names.join(", ") };
                format!(", of queue {queue}; programs bound, newest first: {names}")
            }
            _ => String::new(),
        }
    }

    /// Publishes an event: its value is written after everything that its submission wrote (B229).
    fn signal(&self, signal: &EventSignal) {
        let written = self.pools.update_word(signal.address, |value| match signal.mode {
            SignalMode::Write => signal.value,
            SignalMode::Add => value.wrapping_add(signal.value),
        });
        if !written {
            fault!(
                key = signal.address,
                "B229",
                "an event at {:#x}, where no memory is: not signalled",
                signal.address
            );
        }
    }

    /// A guest's wait for a sync. On the GPU's own signal (B301), unless the settings say that it has to be the
    /// completion thread's.
    pub(crate) fn wait_sync(&self, sync: SyncId, timeout: Option<Duration>) -> WaitResult {
        let begun = Instant::now();
        let result = if self.fast_wake {
            self.scheduler.wait_on(&self.completions, self, sync, timeout)
        } else {
            self.scheduler.wait(sync, timeout)
        };
        let took = begun.elapsed();
        self.counters.wait_time.add(took);
        if self.config.wait_ledger {
            tracing::info!(target: "navin::waits", sync = sync.raw(), ?timeout, ?took, ?result, "nvnSyncWait");
        }
        result
    }

    /// Waits until everything submitted to the queue has ended on the GPU (B303).
    pub(crate) fn finish(&self, queue: QueueId, timeout: Option<Duration>) -> WaitResult {
        if self.fast_wake {
            self.scheduler.finish_on(&self.completions, self, queue, timeout)
        } else {
            self.scheduler.finish_within(queue, timeout)
        }
    }

    /// A wait for the timeline failed. Only device loss counts: asked again and again, a wait that memory runs out for
    /// would use up the failures that submissions may have (B644).
    pub(crate) fn wait_failed(&self, error: &navin_vulkan::QueueError) {
        match error {
            navin_vulkan::QueueError::Vulkan(navin_vulkan::vk::Result::ERROR_DEVICE_LOST) => self.lost(error),
            _ => {
                fault!("B644", "waiting for the device failed: {error}; asked again");
            }
        }
    }

    /// The device refused a submission, or is gone. Device loss, and memory that ran out too often, end everything
    /// (B644, B645); anything else is its caller's to name.
    pub(crate) fn lost(&self, error: &navin_vulkan::QueueError) {
        let navin_vulkan::QueueError::Vulkan(result) = error else { return };
        if let Some(end) = self.health.failed(*result) {
            self.end(end);
        }
    }

    /// A thread of the driver's own has panicked: what it did is nobody's now, so everything ends as with a lost device,
    /// and nobody waits for it for ever.
    pub(crate) fn broken(&self, thread: &'static str) {
        if let Some(end) = self.health.broken(thread) {
            self.end(end);
        }
    }

    fn end(&self, end: super::health::End) {
        fault!(
            each,
            "B645",
            "{end}: submitted {}, completed {}{}. Waits fail from now on",
            self.context.queue().submitted(),
            self.context.queue().completed(),
            self.describe_oldest()
        );
        // In this order: who is woken by one finds the others closed.
        self.display.close();
        self.completions.close();
        self.scheduler.lose_device();
        if self.config.on_device_loss == crate::config::DeviceLoss::End {
            self.end_soon();
        }
    }

    /// Ends the process after the guest had the time to see its waits fail (B645).
    fn end_soon(&self) {
        let run = std::sync::Arc::clone(&self.run);
        let spawned = std::thread::Builder::new().name("navin-end".into()).spawn(move || {
            std::thread::sleep(super::health::GRACE);
            run.exit_device_lost()
        });
        if let Err(e) = spawned {
            tracing::error!("no thread to end the process with ({e}): it goes on without a device");
        }
    }

    /// A command buffer for the next submission.
    ///
    /// # Errors
    /// Out of memory, or the device is gone.
    pub(crate) fn begin(&self) -> Result<Box<navin_vulkan::Encoder>, navin_vulkan::QueueError> {
        if self.health.fails() {
            return Err(navin_vulkan::vk::Result::ERROR_OUT_OF_DEVICE_MEMORY.into());
        }
        self.context.queue().begin()
    }

    /// Submissions that wait for their end, for the counters.
    pub(crate) fn in_flight(&self) -> u64 {
        self.completions.pushed().saturating_sub(self.completions.published())
    }

    /// Counts one submission.
    pub(crate) fn count_submission(&self) {
        if self.counters.submissions.fetch_add(1, Ordering::Relaxed) == 0 {
            crate::driver::leave_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b235_a_submission_remembers_the_newest_programs_once_each() {
        let mut origin = Origin::default();
        for program in [0, 1, 2, 1, 1, 3] {
            origin.bound(program);
        }
        assert_eq!(origin.programs.as_slice(), [2, 1, 3]);
        (10..20).for_each(|program| origin.bound(program));
        assert_eq!(origin.programs.as_slice(), [12, 13, 14, 15, 16, 17, 18, 19]);
    }
}
