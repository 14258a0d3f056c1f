//! A fetch by several threads, where much memory is to be looked at.
//!
//! The kernel's walk over 2.4 GB of page tables takes a core longer than a submission should wait, and several threads
//! may walk at once. The submit thread comes with the runs that a fetch is to look at; they are cut into pieces, and it
//! and the helpers take one after the other until none is left. So nobody waits for a helper that the system has not
//! woken yet. What all found is put together in address order. The helpers are started when a fetch first is large, and
//! end with the tracker.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::tracker::Shared;

/// From twice this on a thread more is woken for each: 256 MB of 4 KB pages take some 0.15 ms.
const SHARE: usize = 256 << 20;
/// More threads than these win little: they share the memory that the page tables lie in.
const MOST_THREADS: usize = 4;
/// What is taken at once. A multiple of 2 MB, where it is cut too, so that no two threads take the lock of one page
/// table.
const PIECE: usize = 64 << 20;

type Runs = Vec<Range<usize>>;

/// The helpers, in the slot lock's keeping.
#[derive(Default)]
pub(super) struct Scanners {
    helpers: Vec<Helper>,
    started: bool,
}

struct Helper {
    work: Option<Sender<Arc<Job>>>,
    thread: Option<JoinHandle<()>>,
}

/// One fetch.
struct Job {
    shared: Arc<Shared>,
    pieces: Runs,
    next: AtomicUsize,
    /// What was found, by piece; and how many are done.
    found: Mutex<(Vec<Runs>, usize)>,
    done: Condvar,
}

impl Job {
    /// Takes pieces until none is left.
    fn work(&self) {
        while let Some(at) = Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < self.pieces.len()) {
            let mut part = Vec::new();
            self.shared.find(self.pieces[at].clone(), &mut part);
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.0[at] = part;
            found.1 += 1;
            if found.1 == self.pieces.len() {
                self.done.notify_one();
            }
        }
    }
}

impl Scanners {
    /// Looks at runs of granules that userfaultfd watches, in address order; appends what was written, in address order.
    pub fn find(&mut self, shared: &Arc<Shared>, runs: &[Range<usize>], found: &mut Runs) {
        let shift = shared.pages.shift();
        let threads = runs.iter().map(|run| run.len() << shift).sum::<usize>() / SHARE;
        if threads < 2 {
            runs.iter().for_each(|run| shared.find(run.clone(), found));
            return;
        }
        self.start();
        let pieces = pieces(runs, PIECE >> shift);
        let job = Arc::new(Job {
            shared: shared.clone(),
            next: AtomicUsize::new(0),
            found: Mutex::new((vec![Vec::new(); pieces.len()], 0)),
            done: Condvar::new(),
            pieces,
        });
        for helper in self.helpers.iter().take(threads - 1) {
            if let Some(work) = &helper.work
                && work.send(job.clone()).is_err()
            {
                tracing::debug!("a helper of fetches is gone");
            }
        }
        job.work();
        let all = job.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = job.done.wait_while(all, |all| all.1 < job.pieces.len()).unwrap_or_else(PoisonError::into_inner);
        all.0.drain(..).for_each(|part| found.extend(part));
    }

    fn start(&mut self) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 1..cores.min(MOST_THREADS) {
            let (work, jobs) = channel::<Arc<Job>>();
            let thread = std::thread::Builder::new().name("navin-scan".into());
            match thread.spawn(move || jobs.into_iter().for_each(|job| job.work())) {
                Ok(thread) => self.helpers.push(Helper { work: Some(work), thread: Some(thread) }),
                Err(e) => return tracing::debug!("fetches have {} helpers: {e}", self.helpers.len()),
            }
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // Ends the thread's loop.
        self.work = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::debug!("a helper of fetches panicked");
        }
    }
}

/// Cuts runs at the multiples of `unit` granules.
fn pieces(runs: &[Range<usize>], unit: usize) -> Runs {
    let mut pieces = Vec::new();
    for run in runs {
        let mut at = run.start;
        while at < run.end {
            let end = (at + 1).next_multiple_of(unit).min(run.end);
            pieces.push(at..end);
            at = end;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_runs_cut_at_page_tables() {
        assert_eq!(pieces(&[3..8, 8..9, 17..32, 40..41], 8), [3..8, 8..9, 17..24, 24..32, 40..41]);
        assert!(pieces(&[], 8).is_empty());
    }
}
