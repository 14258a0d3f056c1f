//! Many files on all cores, with a progress bar on a terminal.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What became of each of `count` files, in their order; `work` gets a file's number.
pub fn each<T: Send>(
    count: usize,
    threads: usize,
    quiet: bool,
    work: impl Fn(usize) -> Result<T, String> + Sync,
) -> Vec<Result<T, String>> {
    let bar = ProgressBar::new(count as u64);
    // Hidden by indicatif itself where standard error is no terminal.
    bar.set_draw_target(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() });
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} files, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T, String>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, count.max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(place) = results.get(index) else { break };
                    let result = work(index);
                    *place.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(result);
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    results
        .into_iter()
        .map(|place| {
            place
                .into_inner()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .unwrap_or_else(|| Err("not converted".into()))
        })
        .collect()
}
