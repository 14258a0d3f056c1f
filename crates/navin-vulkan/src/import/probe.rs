//! What the device does with imported memory, found out with one page of each kind.
//!
//! The ways are probed whenever a device is opened: a page is imported, the CPU writes, the GPU copies within the
//! page, and the CPU looks. What happens to imports when pages are write-protected is probed for `navin doctor` alone
//! ([`Context::probe_protection`](crate::Context::probe_protection)), as a driver that follows page tables may lose
//! the device over it.

use std::sync::Arc;

use ash::vk;

use super::{Backing, ImportChoice, ImportError, PoolBuffer, PoolStorage, dma_buf, host_pointer};
use crate::context::Context;
use crate::gpu::Gpu;
use crate::queue::{Queue, QueueError};

/// What came of one probe.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Outcome {
    /// Imported, and CPU and GPU see each other's writes.
    Works,
    /// Imported, and what the GPU writes does not arrive.
    WritesLost,
    /// The driver refuses; why.
    Refused(String),
    /// The device or the system lacks what it takes; what.
    Lacking(String),
    /// Not tried.
    #[default]
    NotTried,
}

impl Outcome {
    /// Whether this way can be used.
    pub fn works(&self) -> bool {
        *self == Self::Works
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Works => f.write_str("works"),
            Self::WritesLost => f.write_str("GPU writes are lost"),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Lacking(what) => write!(f, "no: {what}"),
            Self::NotTried => f.write_str("not tried"),
        }
    }
}

/// Which ways of import work.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ImportProbe {
    /// Private anonymous memory, by pointer.
    pub anonymous: Outcome,
    /// A shared mapping of a memfd, by pointer.
    pub memfd: Outcome,
    /// A second mapping of a memfd, by pointer: the first sees what the GPU writes.
    pub memfd_second: Outcome,
    /// A memfd as a dma-buf (`/dev/udmabuf`).
    pub dma_buf: Outcome,
}

/// What write protection does to imports.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ProtectionProbe {
    /// A page that becomes read-only under a live import: what the GPU writes to it.
    pub protected_after_import: Outcome,
    /// An import over pages one of which is read-only: what the GPU writes to the others (B123).
    pub imported_over_protected: Outcome,
    /// A page that is read-only at the guest's mapping, imported at a second one.
    pub protected_beside_import: Outcome,
}

/// A page under probe: where the CPU looks, and what was imported.
struct Trial {
    seen: *mut u8,
    outcome: Result<PoolBuffer, ImportError>,
}

impl Trial {
    /// # Safety
    /// As for [`PoolBuffer::new`].
    unsafe fn by_pointer(gpu: &Arc<Gpu>, seen: *mut u8, imported: *mut u8, len: u64) -> Trial {
        let outcome = if gpu.host_import.is_none() {
            Err(ImportError::Unsupported("no VK_EXT_external_memory_host".to_owned()))
        } else {
            // SAFETY: the caller's promise.
            unsafe { host_pointer::new(gpu, &PoolStorage::new(imported, len), "probe") }
        };
        Trial { seen, outcome }
    }
}

/// Probes the ways of import.
pub(crate) fn probe(gpu: &Arc<Gpu>, queue: &Queue, choice: ImportChoice) -> ImportProbe {
    let mut result = ImportProbe::default();
    // A forced mirror needs no probe, and none should disturb it.
    if choice == ImportChoice::Mirror {
        return result;
    }
    let len = gpu.limits.host_import_alignment.clamp(4096, 1 << 20);
    let anonymous = pages::Pages::anonymous(len as usize);
    let memfd = pages::Memfd::new(3 * len as usize);
    let mut trials = Vec::new();
    // SAFETY: the pages are dropped after the imports, which the wait in `run` leaves unused.
    unsafe {
        if let Ok(pages) = &anonymous {
            trials.push((&mut result.anonymous, Trial::by_pointer(gpu, pages.ptr(), pages.ptr(), len)));
        }
        match &memfd {
            Ok(memfd) => {
                // A page for each.
                let (first, second) = (memfd.first.ptr(), memfd.second.ptr());
                trials.push((&mut result.memfd, Trial::by_pointer(gpu, first, first, len)));
                let (first, second) = (first.add(len as usize), second.add(len as usize));
                trials.push((&mut result.memfd_second, Trial::by_pointer(gpu, first, second, len)));
                let seen = first.add(len as usize);
                let backing = Backing::Memfd { fd: memfd.fd(), offset: 2 * len, second: None };
                let storage = PoolStorage { ptr: seen, len, backing };
                let outcome = dma_buf::available()
                    .map_err(ImportError::Unsupported)
                    .and_then(|()| dma_buf::new(gpu, &storage, "probe"));
                trials.push((&mut result.dma_buf, Trial { seen, outcome }));
            }
            Err(why) => {
                for outcome in [&mut result.memfd, &mut result.memfd_second, &mut result.dma_buf] {
                    *outcome = Outcome::Lacking(why.clone());
                }
            }
        }
    }
    for (_, trial) in &trials {
        // SAFETY: a whole page, writable; nothing of the GPU's runs on it.
        unsafe { prepare(trial.seen) };
    }
    let ran = run(queue, trials.iter().map(|(_, trial)| trial), 0);
    for (place, trial) in trials {
        *place = finish(trial, &ran, 0);
    }
    result
}

/// Probes what write protection does. The device may be lost after it.
pub(crate) fn probe_protection(context: &Arc<Context>) -> ProtectionProbe {
    let mut result = ProtectionProbe::default();
    let gpu = &context.gpu;
    if gpu.host_import.is_none() {
        let lacking = || Outcome::Lacking("no VK_EXT_external_memory_host".to_owned());
        return ProtectionProbe {
            protected_after_import: lacking(),
            imported_over_protected: lacking(),
            protected_beside_import: lacking(),
        };
    }
    let page = gpu.limits.host_import_alignment.clamp(4096, 1 << 20);
    let queue = context.queue();
    // SAFETY: pages outlive their imports, as above; each is made writable again before the CPU writes to it.
    unsafe {
        if let Ok(memfd) = pages::Memfd::new(page as usize) {
            let trial = Trial::by_pointer(gpu, memfd.first.ptr(), memfd.second.ptr(), page);
            result.protected_beside_import = judge_protected(queue, trial, &memfd.first, page as usize, 0);
        }
        if let Ok(pages) = pages::Pages::anonymous(2 * page as usize) {
            result.imported_over_protected = if pages.protect(page as usize, true) {
                let trial = Trial::by_pointer(gpu, pages.ptr(), pages.ptr(), 2 * page);
                let outcome = judge(queue, trial, page);
                pages.protect(page as usize, false);
                outcome
            } else {
                Outcome::NotTried
            };
        }
        if context.identity.kind == vk::PhysicalDeviceType::CPU {
            result.protected_after_import =
                Outcome::Lacking("the device is the CPU, whose writes meet the protection".to_owned());
        } else if let Ok(pages) = pages::Pages::anonymous(page as usize) {
            let trial = Trial::by_pointer(gpu, pages.ptr(), pages.ptr(), page);
            result.protected_after_import = judge_protected(queue, trial, &pages, page as usize, 0);
        }
    }
    result
}

/// As [`judge`], with the first `len` bytes of `pages` read-only while the GPU writes.
fn judge_protected(queue: &Queue, trial: Trial, pages: &pages::Pages, len: usize, at: u64) -> Outcome {
    // SAFETY: the page is writable, and nothing of the GPU's runs on it.
    unsafe { prepare(trial.seen) };
    if !pages.protect(len, true) {
        return Outcome::NotTried;
    }
    let ran = run(queue, [&trial], at);
    pages.protect(len, false);
    finish(trial, &ran, at)
}

/// Half of a probed page.
const HALF: usize = 2048;

/// Has the GPU copy within a page at offset `at`, and looks.
fn judge(queue: &Queue, trial: Trial, at: u64) -> Outcome {
    // SAFETY: a whole page at `at`, writable; nothing of the GPU's runs on it.
    unsafe { prepare(trial.seen.add(at as usize)) };
    let ran = run(queue, [&trial], at);
    finish(trial, &ran, at)
}

/// Fills the first half with a pattern, the second with zeroes.
///
/// # Safety
/// A writable page at `page`.
unsafe fn prepare(page: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        for n in 0..HALF {
            page.add(n).write_volatile((n as u8).wrapping_mul(31) ^ 0x5a);
            page.add(HALF + n).write_volatile(0);
        }
    }
}

/// Has the GPU copy within each page that could be imported.
fn run<'a>(queue: &Queue, trials: impl IntoIterator<Item = &'a Trial>, at: u64) -> Result<(), QueueError> {
    let mut encoder = queue.begin()?;
    for buffer in trials.into_iter().filter_map(|trial| trial.outcome.as_ref().ok()) {
        let offset = buffer.range(at, 0).offset;
        let copy = vk::BufferCopy2::default().src_offset(offset).dst_offset(offset + HALF as u64).size(HALF as u64);
        encoder.copy_buffer(buffer.raw(), buffer.raw(), &[copy]);
    }
    queue.run(encoder)
}

fn finish(trial: Trial, ran: &Result<(), QueueError>, at: u64) -> Outcome {
    let outcome = match (&trial.outcome, ran) {
        (Err(ImportError::Unsupported(what)), _) => Outcome::Lacking(what.clone()),
        (Err(error), _) => Outcome::Refused(error.to_string()),
        (Ok(_), Err(error)) => Outcome::Refused(error.to_string()),
        (Ok(_), Ok(())) => {
            // SAFETY: a whole page at `at`; the GPU is through.
            let seen = unsafe {
                let page = trial.seen.add(at as usize);
                (0..HALF).all(|n| page.add(HALF + n).read_volatile() == (n as u8).wrapping_mul(31) ^ 0x5a)
            };
            if seen { Outcome::Works } else { Outcome::WritesLost }
        }
    };
    // Nothing is in flight: the import is destroyed here.
    drop(trial);
    outcome
}

#[cfg(unix)]
mod pages {
    //! Pages of the probes' own.

    /// A private or shared mapping.
    pub(super) struct Pages {
        ptr: *mut u8,
        len: usize,
    }

    impl Pages {
        pub(super) fn anonymous(len: usize) -> Result<Pages, String> {
            Self::map(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)
        }

        fn map(len: usize, flags: i32, fd: i32) -> Result<Pages, String> {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: a new mapping where the system likes.
            let ptr = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, fd, 0) };
            if ptr == libc::MAP_FAILED {
                return Err(format!("no {len} bytes: {}", std::io::Error::last_os_error()));
            }
            Ok(Pages { ptr: ptr.cast(), len })
        }

        pub(super) fn ptr(&self) -> *mut u8 {
            self.ptr
        }

        /// Makes the first `len` bytes read-only, or writable again.
        pub(super) fn protect(&self, len: usize, read_only: bool) -> bool {
            let access = if read_only { libc::PROT_READ } else { libc::PROT_READ | libc::PROT_WRITE };
            // SAFETY: inside the mapping, which is ours alone.
            unsafe { libc::mprotect(self.ptr.cast(), len.min(self.len), access) == 0 }
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: the mapping is this value's own.
            unsafe { libc::munmap(self.ptr.cast(), self.len) };
        }
    }

    /// A memfd with two mappings.
    pub(super) struct Memfd {
        fd: i32,
        pub(super) first: Pages,
        pub(super) second: Pages,
    }

    impl Memfd {
        #[cfg(target_os = "linux")]
        pub(super) fn new(len: usize) -> Result<Memfd, String> {
            // SAFETY: a new descriptor of our own.
            let fd =
                unsafe { libc::memfd_create(c"navin probe".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
            if fd < 0 {
                return Err(format!("no memfd: {}", std::io::Error::last_os_error()));
            }
            // SAFETY: as above.
            let sized = unsafe { libc::ftruncate(fd, len as libc::off_t) } == 0;
            let map = || Pages::map(len, libc::MAP_SHARED, fd);
            match (sized, map(), map()) {
                (true, Ok(first), Ok(second)) => Ok(Memfd { fd, first, second }),
                _ => {
                    // SAFETY: our own descriptor.
                    unsafe { libc::close(fd) };
                    Err("no memory for a memfd".to_owned())
                }
            }
        }

        #[cfg(not(target_os = "linux"))]
        pub(super) fn new(_len: usize) -> Result<Memfd, String> {
            Err("memfds are Linux's".to_owned())
        }

        pub(super) fn fd(&self) -> i32 {
            self.fd
        }
    }

    impl Drop for Memfd {
        fn drop(&mut self) {
            // SAFETY: our own descriptor; the mappings hold the memory.
            unsafe { libc::close(self.fd) };
        }
    }
}

#[cfg(not(unix))]
mod pages {
    //! Pages of the probes' own.

    use std::alloc::{Layout, alloc_zeroed, dealloc};

    pub(super) struct Pages {
        ptr: *mut u8,
        layout: Layout,
    }

    impl Pages {
        pub(super) fn anonymous(len: usize) -> Result<Pages, String> {
            let layout = Layout::from_size_align(len.max(1), 65536).map_err(|error| error.to_string())?;
            // SAFETY: the size is not 0.
            let ptr = unsafe { alloc_zeroed(layout) };
            if ptr.is_null() { Err(format!("no {len} bytes")) } else { Ok(Pages { ptr, layout }) }
        }

        pub(super) fn ptr(&self) -> *mut u8 {
            self.ptr
        }

        pub(super) fn protect(&self, _len: usize, _read_only: bool) -> bool {
            false
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.ptr, self.layout) };
        }
    }

    pub(super) struct Memfd {
        pub(super) first: Pages,
        pub(super) second: Pages,
    }

    impl Memfd {
        pub(super) fn new(_len: usize) -> Result<Memfd, String> {
            Err("memfds are Linux's".to_owned())
        }

        pub(super) fn fd(&self) -> i32 {
            -1
        }
    }
}
