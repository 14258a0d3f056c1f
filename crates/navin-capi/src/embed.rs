//! The embedder's C API, declared in `include/navin.h`.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{NonNull, null_mut};

use navin::alloc;

/// This library's version, as `navin_version` gives it.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The library's version, `"major.minor.patch"`; the string lives as long as the library.
#[unsafe(no_mangle)]
pub extern "C" fn navin_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// Sets the host address of guest address 0, so that every guest pointer of a later call is taken relative to it.
/// To be called before the guest's first NVN call; null, the initial value, is for a guest in the same address space.
#[unsafe(no_mangle)]
pub extern "C" fn navin_set_base(base: *mut c_void) {
    navin_abi::guest::set_base(base as usize);
}

/// Says which console the guest was built for: 1, the initial value, or 2 (NVN2, whose textures have an order of their
/// own). To be called before the guest's `nvnDeviceInitialize`. 1, or 0 for another number, which changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn navin_set_generation(generation: u32) -> c_int {
    use navin_abi::device_info::Generation;
    let generation = match generation {
        1 => Generation::X1,
        2 => Generation::Nvn2,
        _ => return 0,
    };
    navin::entry::device::set_generation(generation);
    1
}

/// Stops all GPU work: returns when nothing runs on the GPU and nothing will until [`navin_resume`]. See
/// [`navin::lifecycle::suspend`]. 1, or 0 when work already with the GPU had not ended after a few seconds.
#[unsafe(no_mangle)]
pub extern "C" fn navin_suspend() -> c_int {
    c_int::from(navin::lifecycle::suspend())
}

/// Ends what [`navin_suspend`] began.
#[unsafe(no_mangle)]
pub extern "C" fn navin_resume() {
    navin::lifecycle::resume();
}

/// Guest memory of `size` bytes at a multiple of `alignment` (a power of two), all 0; null when there is none. The
/// GPU reaches it by a mapping of its own, and its pages can be mapped into virtual memory pools.
#[unsafe(no_mangle)]
pub extern "C" fn navin_alloc(size: usize, alignment: usize) -> *mut c_void {
    match alloc::alloc(size, alignment) {
        Ok(memory) => memory.as_ptr().cast(),
        Err(e) => {
            navin_abi::fault!(
                key = size,
                "",
                "navin_alloc of {size:#x} bytes, alignment {alignment:#x}: {e}; answers null"
            );
            null_mut()
        }
    }
}

/// Takes memory of [`navin_alloc`] back; null is nothing. What a memory pool lies in goes when the pool is finalized.
///
/// # Safety
/// `memory` is null, or came from [`navin_alloc`], was not freed since, and nobody uses it any more but a pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_free(memory: *mut c_void) {
    if let Some(memory) = NonNull::new(memory.cast()) {
        // SAFETY: the caller's promise.
        unsafe { alloc::free(memory) };
    }
}

/// Tells of memory that the embedder has mapped, shared, from the memfd `fd` at `offset`: it is as good as memory of
/// [`navin_alloc`] from then on. The descriptor is duplicated. False, with a fault line, when this cannot be.
///
/// # Safety
/// The mapping and the file's size stay as they are until [`navin_unregister_memory`], and until every memory pool in
/// it has been finalized.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_register_memory(memory: *mut c_void, size: usize, fd: i32, offset: u64) -> bool {
    let Some(memory) = NonNull::new(memory.cast::<u8>()).filter(|_| fd >= 0) else { return false };
    // SAFETY: the caller's descriptor stays open during the call; the rest is the caller's promise.
    let registered = unsafe {
        let file = std::os::fd::BorrowedFd::borrow_raw(fd);
        alloc::register_memfd(memory, size, file, offset)
    };
    match registered {
        Ok(()) => true,
        Err(e) => {
            navin_abi::fault!(key = memory.as_ptr() as usize, "", "navin_register_memory: {e}; answers false");
            false
        }
    }
}

/// Forgets memory that [`navin_register_memory`] told of; false when there is none that begins there.
#[unsafe(no_mangle)]
pub extern "C" fn navin_unregister_memory(memory: *mut c_void) -> bool {
    NonNull::new(memory.cast()).is_some_and(alloc::unregister_memfd)
}
