//! Tracking by the MMU: pages made read-only, and the SIGSEGV of their first write.

use std::io;
use std::ops::Range;
use std::ptr::null_mut;

use super::{Protection, fault};

/// `mprotect`. Where the memory came from does not matter, as long as it is private or shared read-write mapped.
pub struct Mprotect;

impl Mprotect {
    /// Whether the fault handler can do its work here, else why not. It must be able to ask whether a page is writable
    /// (MADV_POPULATE_WRITE, Linux 5.14).
    pub fn probe() -> Result<(), String> {
        let page = super::super::host_page();
        // SAFETY: a new private mapping, given back below.
        let probe =
            unsafe { libc::mmap(null_mut(), page, libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
        if probe == libc::MAP_FAILED {
            return Err(format!("no memory for a probe: {}", io::Error::last_os_error()));
        }
        let address = probe as usize;
        let read_only = fault::is_writable(address, page);
        let lifted = Self.unprotect(address..address + page);
        let writable = fault::is_writable(address, page);
        // SAFETY: mapped above.
        unsafe { libc::munmap(probe, page) };
        lifted.map_err(|e| format!("mprotect: {e}"))?;
        if read_only || !writable {
            return Err("the kernel does not tell which pages are writable (MADV_POPULATE_WRITE, Linux 5.14)".into());
        }
        Ok(())
    }
}

/// `mprotect` on whole pages.
fn change(bytes: Range<usize>, protection: i32) -> io::Result<()> {
    // SAFETY: changes who may write tracked memory; no reference of Rust's points there, and whoever writes it meets
    // the fault handler.
    if unsafe { libc::mprotect(bytes.start as *mut libc::c_void, bytes.len(), protection) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

impl Protection for Mprotect {
    fn attach(&self, _: Range<usize>) -> io::Result<()> {
        fault::install()
    }

    fn protect(&self, bytes: Range<usize>) -> io::Result<()> {
        change(bytes, libc::PROT_READ)
    }

    fn unprotect(&self, bytes: Range<usize>) -> io::Result<()> {
        change(bytes, libc::PROT_READ | libc::PROT_WRITE)
    }

    fn fetch(&self, _: Range<usize>, _: &mut Vec<Range<usize>>) -> io::Result<()> {
        Ok(())
    }
}
