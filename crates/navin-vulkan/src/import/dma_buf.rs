//! Import as a dma-buf: for drivers that import only private anonymous memory by pointer (B109).
//!
//! Linux makes a dma-buf from the pages of a memfd (`/dev/udmabuf`, `UDMABUF_CREATE` of `linux/udmabuf.h`);
//! `VK_EXT_external_memory_dma_buf` imports it. The memfd must be sealed against shrinking; where the allocator did
//! not do that, it is done here. The kernel limits the size of one such dma-buf (module parameter `size_limit_mb`, 64
//! unless changed), which the refusal names.

use std::sync::Arc;

use ash::vk;

use super::external::External;
use super::{Backing, ImportError, PoolBuffer, PoolStorage, Span, StorageKind};
use crate::gpu::Gpu;

const HANDLE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
const NO_EXTENSION: &str = "the device imports no dma-bufs (no VK_EXT_external_memory_dma_buf)";

/// Imports a storage whose backing is a memfd or a dma-buf. One attempt.
pub(super) fn new(gpu: &Arc<Gpu>, storage: &PoolStorage, name: &str) -> Result<PoolBuffer, ImportError> {
    if gpu.dma_buf.is_none() {
        return Err(ImportError::Unsupported(NO_EXTENSION.to_owned()));
    }
    let (external, bias) = match storage.backing {
        Backing::Unknown | Backing::Scattered => {
            let why = "no dma-buf can be made: the storage does not lie in one memfd";
            return Err(ImportError::Unsupported(why.to_owned()));
        }
        Backing::Memfd { fd, offset, .. } => {
            let span = Span::around(offset, storage.len, system::page_size()).ok_or(ImportError::Empty)?;
            check_size(gpu, span)?;
            let made = system::udmabuf(fd, span.start, span.size).map_err(ImportError::Unsupported)?;
            (import(gpu, made.raw(), span.size)?, offset - span.start)
        }
        Backing::DmaBuf { fd, offset } => {
            // A descriptor is imported from its begin.
            let end = offset.checked_add(storage.len).ok_or(ImportError::Empty)?;
            let span = Span::around(0, end, system::page_size()).ok_or(ImportError::Empty)?;
            check_size(gpu, span)?;
            (import(gpu, fd, span.size)?, offset)
        }
    };
    Ok(PoolBuffer::from_parts(gpu, StorageKind::DmaBuf, external.into_parts(), bias, storage, name))
}

fn check_size(gpu: &Gpu, span: Span) -> Result<(), ImportError> {
    let limit = gpu.limits.max_allocation;
    if span.size > limit { Err(ImportError::TooLarge { size: span.size, limit }) } else { Ok(()) }
}

/// Imports a descriptor, which stays the caller's.
fn import(gpu: &Arc<Gpu>, fd: i32, size: u64) -> Result<External, ImportError> {
    let loader = gpu.dma_buf.as_ref().ok_or_else(|| ImportError::Unsupported(NO_EXTENSION.to_owned()))?;
    let mut properties = vk::MemoryFdPropertiesKHR::default();
    // SAFETY: the extension is enabled; the descriptor is open.
    unsafe { loader.get_memory_fd_properties(HANDLE, fd, &mut properties) }.map_err(ImportError::Refused)?;
    let copy = system::duplicate(fd).map_err(ImportError::Unsupported)?;
    let mut info = vk::ImportMemoryFdInfoKHR::default().handle_type(HANDLE).fd(copy.raw());
    // SAFETY: a dma-buf of at least `size` bytes: udmabuf made it so, or the embedder says so.
    let external = unsafe { External::new(gpu, size, HANDLE, properties.memory_type_bits, &mut info) }?;
    // A successful import owns the descriptor.
    copy.forget();
    Ok(external)
}

/// Whether dma-bufs can be made of memfds here; why not, if not.
pub(super) fn available() -> Result<(), String> {
    system::open_device().map(drop)
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::CStr;

    const DEVICE: &CStr = c"/dev/udmabuf";
    /// `UDMABUF_FLAGS_CLOEXEC`.
    const FLAGS_CLOEXEC: u32 = 1;

    /// `struct udmabuf_create`.
    #[repr(C)]
    pub(super) struct Create {
        pub(super) memfd: u32,
        pub(super) flags: u32,
        pub(super) offset: u64,
        pub(super) size: u64,
    }

    /// `UDMABUF_CREATE`: `_IOW('u', 0x42, struct udmabuf_create)`.
    pub(super) const CREATE: u32 = 1 << 30 | (size_of::<Create>() as u32) << 16 | (b'u' as u32) << 8 | 0x42;

    /// A descriptor that is closed with this.
    pub(super) struct Descriptor(i32);

    impl Descriptor {
        pub(super) fn raw(&self) -> i32 {
            self.0
        }

        /// Somebody else closes it.
        pub(super) fn forget(self) {
            std::mem::forget(self);
        }
    }

    impl Drop for Descriptor {
        fn drop(&mut self) {
            // SAFETY: the descriptor is this value's own.
            unsafe { libc::close(self.0) };
        }
    }

    fn last_error(what: &str) -> String {
        format!("{what}: {}", std::io::Error::last_os_error())
    }

    pub(super) fn page_size() -> u64 {
        // SAFETY: a plain query.
        u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
    }

    pub(super) fn open_device() -> Result<Descriptor, String> {
        // SAFETY: a path that ends in 0.
        match unsafe { libc::open(DEVICE.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) } {
            -1 => Err(last_error("no dma-buf can be made of guest memory, /dev/udmabuf")),
            fd => Ok(Descriptor(fd)),
        }
    }

    /// A dma-buf over a range of a memfd, which begins and ends at page borders.
    pub(super) fn udmabuf(memfd: i32, offset: u64, size: u64) -> Result<Descriptor, String> {
        seal(memfd)?;
        let device = open_device()?;
        let create = Create { memfd: memfd as u32, flags: FLAGS_CLOEXEC, offset, size };
        // SAFETY: the structure is what the request takes, and lives through the call.
        match unsafe { libc::ioctl(device.raw(), CREATE as _, &raw const create) } {
            -1 => Err(last_error(&format!(
                "the kernel made no dma-buf of {size:#x} bytes (it makes them up to {})",
                size_limit()
            ))),
            fd => Ok(Descriptor(fd)),
        }
    }

    /// Seals a memfd against shrinking, which udmabuf demands.
    pub(super) fn seal(memfd: i32) -> Result<(), String> {
        // SAFETY: a plain query of a descriptor.
        match unsafe { libc::fcntl(memfd, libc::F_GET_SEALS) } {
            -1 => Err(last_error("the storage's descriptor is no memfd")),
            seals if seals & libc::F_SEAL_SHRINK != 0 => Ok(()),
            // SAFETY: adds a seal; the memory is not touched.
            _ => match unsafe { libc::fcntl(memfd, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) } {
                -1 => Err(last_error("the memfd cannot be sealed against shrinking")),
                _ => Ok(()),
            },
        }
    }

    fn size_limit() -> String {
        std::fs::read_to_string("/sys/module/udmabuf/parameters/size_limit_mb")
            .map_or_else(|_| "a limit that it does not tell".to_owned(), |text| format!("{} MB", text.trim()))
    }

    pub(super) fn duplicate(fd: i32) -> Result<Descriptor, String> {
        // SAFETY: a plain duplication.
        match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) } {
            -1 => Err(last_error("the dma-buf's descriptor")),
            fd => Ok(Descriptor(fd)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    //! There are no dma-bufs here.

    pub(super) struct Descriptor;

    impl Descriptor {
        pub(super) fn raw(&self) -> i32 {
            -1
        }

        pub(super) fn forget(self) {}
    }

    fn none() -> String {
        "dma-bufs are Linux's".to_owned()
    }

    pub(super) fn page_size() -> u64 {
        4096
    }

    pub(super) fn open_device() -> Result<Descriptor, String> {
        Err(none())
    }

    pub(super) fn udmabuf(_memfd: i32, _offset: u64, _size: u64) -> Result<Descriptor, String> {
        Err(none())
    }

    pub(super) fn duplicate(_fd: i32) -> Result<Descriptor, String> {
        Err(none())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::system::*;

    #[test]
    fn the_request_is_the_kernel_s() {
        // linux/udmabuf.h: _IOW('u', 0x42, 24 bytes).
        assert_eq!(CREATE, 0x4018_7542);
        assert_eq!(size_of::<Create>(), 24);
        assert_eq!(std::mem::offset_of!(Create, offset), 8);
    }

    #[test]
    fn memfds_are_sealed_against_shrinking_and_other_files_are_refused() {
        // SAFETY: plain calls; the descriptors are closed below.
        unsafe {
            let sealable = libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
            assert!(sealable >= 0);
            assert_eq!(libc::ftruncate(sealable, 8192), 0);
            assert_eq!(seal(sealable), Ok(()));
            assert_eq!(seal(sealable), Ok(()), "again");
            assert_eq!(libc::ftruncate(sealable, 4096), -1, "it is sealed");
            let other = libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC);
            assert!(seal(other).expect_err("it forbids seals").contains("sealed"));
            assert!(seal(-1).expect_err("no descriptor").contains("no memfd"));
            if open_device().is_err() {
                let why = udmabuf(sealable, 0, 4096).err().expect("no device");
                assert!(why.contains("/dev/udmabuf"), "{why}");
            } else {
                drop(udmabuf(sealable, 0, 4096).expect("a dma-buf"));
                assert!(udmabuf(sealable, 0, 1 << 30).is_err(), "past the end");
            }
            libc::close(sealable);
            libc::close(other);
        }
    }

    #[test]
    fn a_duplicate_is_another_descriptor_and_closes_itself() {
        // SAFETY: plain calls.
        let fd = unsafe { libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC) };
        let copy = duplicate(fd).expect("duplicated");
        let raw = copy.raw();
        assert_ne!(raw, fd);
        drop(copy);
        // SAFETY: as above.
        unsafe {
            libc::close(fd);
        }
        assert!(duplicate(-1).is_err());
    }
}
