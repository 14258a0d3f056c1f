//! Refused imports: tried again, and reported (B107).
//!
//! A refusal may be transient while another thread of the guest remaps a large region. Refusals that stay are told
//! apart in the log by importing a page of Navin's own beside it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ash::vk;
use parking_lot::Mutex;

use super::{ImportError, PoolBuffer, PoolStorage, Span, host_pointer};
use crate::gpu::Gpu;

/// Further attempts after a refusal (B107).
const RETRIES: u32 = 12;

/// Whether a refusal can be gone a moment later (B107).
fn may_pass(error: &ImportError) -> bool {
    matches!(
        error,
        ImportError::Refused(
            vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
                | vk::Result::ERROR_OUT_OF_HOST_MEMORY
                | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        )
    )
}

static SIMULATED: AtomicBool = AtomicBool::new(false);
static REFUSED: Mutex<(Range<u64>, u32)> = Mutex::new((0..0, 0));

/// Has the next `times` imports by pointer of host bytes in a range refused, as a driver refuses them. For tests: no
/// device that they run on refuses by itself.
pub fn refuse_imports(bytes: Range<u64>, times: u32) {
    *REFUSED.lock() = (bytes, times);
    SIMULATED.store(times > 0, Ordering::Release);
}

/// Whether an import of these pages is to be refused.
pub(super) fn is_simulated(span: Span) -> bool {
    if !SIMULATED.load(Ordering::Acquire) {
        return false;
    }
    let mut refused = REFUSED.lock();
    let (bytes, times) = &mut *refused;
    let hit = *times > 0 && span.start < bytes.end && bytes.start < span.start + span.size;
    *times -= u32::from(hit);
    hit
}

/// B107: tries, and after transient refusals tries up to [`RETRIES`] times more, with growing waits of 0.1 to 6.4 ms.
/// Gives the result and the number of the retry that brought it, 0 for the first attempt.
pub(super) fn with_retries<T>(
    mut attempt: impl FnMut() -> Result<T, ImportError>,
    mut wait: impl FnMut(Duration),
) -> Result<(T, u32), ImportError> {
    let mut retry = 0;
    loop {
        match attempt() {
            Ok(value) => return Ok((value, retry)),
            Err(error) if retry < RETRIES && may_pass(&error) => {
                wait(Duration::from_micros(100 << retry.min(6)));
                retry += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Imports, refusals tried again; a success after a refusal and a failure for good are told (B107).
pub(super) fn outlive(
    gpu: &Arc<Gpu>,
    storage: &PoolStorage,
    name: &str,
    attempt: impl FnMut() -> Result<PoolBuffer, ImportError>,
) -> Result<PoolBuffer, ImportError> {
    let (pointer, len) = (storage.import_pointer() as u64, storage.len);
    match with_retries(attempt, std::thread::sleep) {
        Ok((buffer, 0)) => Ok(buffer),
        Ok((buffer, retries)) => {
            navin_abi::fault!(
                key = pointer,
                "B107",
                "import of {len:#x} bytes at {pointer:#x} ({name}) was refused and succeeded at retry {retries}"
            );
            Ok(buffer)
        }
        Err(error) => {
            if matches!(error, ImportError::Refused(_) | ImportError::NoMemoryType) {
                let verdict = if imports_anonymous_page(gpu) {
                    "a page of Navin's own was taken: the driver refuses this kind of mapping"
                } else {
                    "a page of Navin's own was refused as well"
                };
                navin_abi::fault!(
                    key = pointer,
                    "B107",
                    "import of {len:#x} bytes at {pointer:#x} ({name}) failed for good: {error}; {verdict}; mapped near it:{}",
                    maps_near(pointer, len)
                );
            }
            Err(error)
        }
    }
}

fn imports_anonymous_page(gpu: &Arc<Gpu>) -> bool {
    let alignment = gpu.limits.host_import_alignment.clamp(4096, 1 << 20) as usize;
    let Ok(layout) = std::alloc::Layout::from_size_align(alignment, alignment) else { return false };
    // SAFETY: the layout has a size above 0; the import, which no work uses, is destroyed before the page is freed.
    unsafe {
        let page = std::alloc::alloc_zeroed(layout);
        if page.is_null() {
            return false;
        }
        let taken = host_pointer::import(gpu, Span { start: page as u64, size: alignment as u64 }).is_ok();
        std::alloc::dealloc(page, layout);
        taken
    }
}

/// The lines of `/proc/self/maps` that touch a range or its neighbourhood of 1 MB; empty where there is no such file.
fn maps_near(start: u64, len: u64) -> String {
    const NEAR: u64 = 1 << 20;
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return String::new() };
    let (low, high) = (start.saturating_sub(NEAR), start.saturating_add(len).saturating_add(NEAR));
    let near = maps.lines().filter(|line| {
        let bounds = line.split_whitespace().next().and_then(|range| range.split_once('-'));
        let parse = |text| u64::from_str_radix(text, 16).ok();
        bounds.and_then(|(a, b)| Some((parse(a)?, parse(b)?))).is_some_and(|(a, b)| a < high && b > low)
    });
    near.take(64).map(|line| format!("\n  {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusing(times: u32, error: vk::Result) -> (Result<((), u32), ImportError>, u32) {
        let mut left = times;
        let mut waits = 0;
        let result = with_retries(
            || {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                Err(ImportError::Refused(error))
            },
            |_| waits += 1,
        );
        (result, waits)
    }

    #[test]
    fn b107_refusals_up_to_twelve_are_outlived_and_the_retry_is_named() {
        for times in [0, 1, 11, 12] {
            let (result, waits) = refusing(times, vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
            assert_eq!(result.expect("succeeds").1, times);
            assert_eq!(waits, times);
        }
        assert!(refusing(13, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).0.is_err());
    }

    /// The import call replaced by one that refuses the first `times` times; whether it came to an import, and how
    /// many red lines were written.
    fn import_refused(times: u32, page: &mut [u8]) -> Option<(bool, u64)> {
        let context = crate::Context::open(&crate::OpenOptions::default()).ok()?;
        let storage = PoolStorage::new(page.as_mut_ptr(), page.len() as u64);
        let gpu = &context.gpu;
        let lines = navin_abi::fault::count();
        let mut left = times;
        let outcome = outlive(gpu, &storage, "test", || {
            if left > 0 {
                left -= 1;
                return Err(ImportError::Refused(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
            }
            // SAFETY: the import is destroyed in here, before its page.
            unsafe { host_pointer::new(gpu, &storage, "test") }
        });
        Some((outcome.is_ok(), navin_abi::fault::count() - lines))
    }

    #[test]
    fn b107_a_success_after_a_refusal_and_a_failure_for_good_write_one_line() {
        // One test for all, as the lines of the whole process are counted.
        let mut memory = vec![0u8; 8 << 12];
        for (times, expected) in [(0, (true, 0)), (1, (true, 1)), (11, (true, 1)), (13, (false, 1))] {
            let Some(got) = import_refused(times, &mut memory[(times as usize % 4) << 12..][..4096]) else {
                return eprintln!("SKIPPED: no Vulkan here");
            };
            assert_eq!(got, expected, "refused {times} times");
        }
    }

    #[test]
    fn b107_lasting_refusals_are_not_repeated() {
        let (result, waits) = refusing(1, vk::Result::ERROR_DEVICE_LOST);
        assert!(result.is_err());
        assert_eq!(waits, 0);
    }

    #[test]
    fn b107_the_memory_map_near_a_pool_names_its_own_region() {
        let byte = Box::new(0u8);
        let text = maps_near(std::ptr::from_ref(&*byte) as u64, 1);
        if cfg!(target_os = "linux") {
            assert!(text.contains("rw-p"), "{text}");
        }
    }
}
