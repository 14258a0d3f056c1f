//! The host stack that entry points run on (B422).
//!
//! A guest's threads may have stacks of a few kilobytes, and a Vulkan driver may compile programs of its own on the
//! thread that calls it. So every entry point but the recording calls, which touch no Vulkan and are the frequent
//! ones, runs on a stack of Navin's: one for each guest thread, made at the thread's first call and kept until the
//! thread ends. [`table`](super::table) puts [`run`] around what the guest calls. A call that the guest makes from
//! inside one (a callback) goes on where it is.

use std::cell::Cell;
use std::ptr::NonNull;

/// Bytes of a host stack: a thread's usual 2 MB, of which only what is touched takes memory. B422 asks for 512 KB
/// at least; a CPU driver's compiler is the deepest caller.
pub(crate) const STACK_BYTES: usize = 2 << 20;

thread_local! {
    /// Lowest address of this thread's stack; 0 before the first call.
    static BASE: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread is in an entry point, or past the point where it may have a stack.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Frees the stack when the thread ends.
    static OWNER: Owner = const { Owner };
}

struct Owner;

impl Drop for Owner {
    fn drop(&mut self) {
        // Destructors of the guest that run later call NVN on the thread's own stack.
        INSIDE.set(true);
        if let Some(base) = NonNull::new(BASE.take() as *mut libc::c_void) {
            // SAFETY: made by `make`; no entry point is running on it, since the thread is ending.
            unsafe { libc::munmap(base.as_ptr(), STACK_BYTES) };
        }
    }
}

/// Reserves this thread's stack: the lowest page stays inaccessible. 0 when there is no memory for one.
#[cold]
fn make() -> usize {
    // SAFETY: a fresh private mapping; the page given to `mprotect` is its first.
    let base = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
        let base = libc::mmap(std::ptr::null_mut(), STACK_BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if base == libc::MAP_FAILED {
            return 0;
        }
        libc::mprotect(base, page_size(), libc::PROT_NONE);
        base as usize
    };
    BASE.set(base);
    // Registers the destructor.
    let _ = OWNER.try_with(|_| ());
    base
}

fn page_size() -> usize {
    // SAFETY: a plain query.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Runs `body` on this thread's host stack, or right here when the thread is on it already.
#[inline]
pub(crate) fn run<R>(body: impl FnOnce() -> R) -> R {
    if INSIDE.replace(true) {
        return body();
    }
    let answer = switch(body);
    INSIDE.set(false);
    super::debug_callback::deliver();
    answer
}

psm::psm_stack_manipulation! {
    yes {
        #[inline]
        fn switch<R>(body: impl FnOnce() -> R) -> R {
            let base = match BASE.get() {
                0 => make(),
                base => base,
            };
            if base == 0 {
                return body();
            }
            // SAFETY: the range is this thread's stack, in use by nobody else: `INSIDE` was false. Bodies are entry
            // points, which abort instead of unwinding.
            unsafe { psm::on_stack(base as *mut u8, STACK_BYTES, body) }
        }
    }
    no {
        fn switch<R>(body: impl FnOnce() -> R) -> R {
            body()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An address on the stack that this runs on.
    #[inline(never)]
    fn here() -> usize {
        let local = 0u8;
        std::hint::black_box(&raw const local) as usize
    }

    fn on_host_stack(address: usize) -> bool {
        let base = BASE.get();
        base != 0 && address.wrapping_sub(base) < STACK_BYTES
    }

    #[test]
    fn b422_a_body_runs_on_the_host_stack_and_a_nested_one_goes_on_there() {
        assert!(!on_host_stack(here()));
        let (outer, inner) = run(|| (here(), run(here)));
        assert!(on_host_stack(outer) && on_host_stack(inner));
        assert!(inner <= outer, "nested bodies do not begin at the top again");
        assert!(!on_host_stack(here()));
    }

    #[test]
    fn b422_a_body_may_use_256_kb() {
        #[inline(never)]
        fn deep() -> u8 {
            let mut bytes = [1u8; 256 << 10];
            std::hint::black_box(&mut bytes);
            bytes[17]
        }
        assert_eq!(run(deep), 1);
    }

    #[test]
    fn b422_threads_have_separate_stacks() {
        let barrier = std::sync::Barrier::new(4);
        let bases: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        run(|| {
                            barrier.wait();
                            BASE.get()
                        })
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (n, base) in bases.iter().enumerate() {
            assert!(!bases[..n].contains(base), "{bases:x?}");
        }
    }
}
