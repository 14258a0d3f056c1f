//! Many files on all cores, with a progress bar on a terminal.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What became of each file, in the order of the files.
pub fn each<T: Send>(
    files: &[PathBuf],
    threads: usize,
    quiet: bool,
    work: impl Fn(&Path) -> Result<T, String> + Sync,
) -> Vec<Result<T, String>> {
    let bar = ProgressBar::new(files.len() as u64);
    // Hidden by indicatif itself where standard error is no terminal.
    bar.set_draw_target(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() });
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} files, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T, String>>>> = files.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, files.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(path), Some(place)) = (files.get(index), results.get(index)) else { break };
                    let result = work(path);
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
