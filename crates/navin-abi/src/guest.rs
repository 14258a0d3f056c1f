//! Guest addresses. [`GuestPtr`] is the only type that dereferences one.
//!
//! A guest pointer is a host pointer plus the embedder's base: 0 for a native guest, the start of the guest's
//! memory for an emulator that forwards calls by register block.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

static BASE: AtomicUsize = AtomicUsize::new(0);

/// Sets the host address of guest address 0. To be called once, before the guest's first NVN call.
pub fn set_base(base: usize) {
    BASE.store(base, Ordering::Release);
}

/// A typed address in guest memory; 8 bytes, as the guest stores it. May be null, may be wrong.
#[repr(transparent)]
pub struct GuestPtr<T> {
    address: u64,
    _type: PhantomData<*mut T>,
}

impl<T> Clone for GuestPtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for GuestPtr<T> {}
impl<T> PartialEq for GuestPtr<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}
impl<T> Eq for GuestPtr<T> {}
impl<T> std::fmt::Debug for GuestPtr<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "guest {:#x}", self.address)
    }
}
// SAFETY: an address is plain data; every dereference is an unsafe call that states its own conditions.
unsafe impl<T> Send for GuestPtr<T> {}
// SAFETY: as for Send.
unsafe impl<T> Sync for GuestPtr<T> {}
// SAFETY: all zero bytes are the null pointer.
unsafe impl<T> bytemuck::Zeroable for GuestPtr<T> {}
// SAFETY: a transparent u64, without padding; any bits are an address.
unsafe impl<T: 'static> bytemuck::Pod for GuestPtr<T> {}

impl<T> GuestPtr<T> {
    /// The null pointer.
    pub const NULL: Self = Self { address: 0, _type: PhantomData };

    /// The guest address `address`.
    pub const fn new(address: u64) -> Self {
        Self { address, _type: PhantomData }
    }

    /// The guest address that the host sees at `host`.
    pub fn from_host(host: *const T) -> Self {
        if host.is_null() {
            Self::NULL
        } else {
            Self::new((host as usize).wrapping_sub(BASE.load(Ordering::Acquire)) as u64)
        }
    }

    /// The address as the guest has it.
    pub const fn address(self) -> u64 {
        self.address
    }

    /// Whether the guest passed null.
    pub const fn is_null(self) -> bool {
        self.address == 0
    }

    /// The host address; null for null.
    pub fn host(self) -> *mut T {
        if self.is_null() {
            std::ptr::null_mut()
        } else {
            BASE.load(Ordering::Acquire).wrapping_add(self.address as usize) as *mut T
        }
    }

    /// Whether the address is a multiple of `T`'s alignment.
    pub fn is_aligned(self) -> bool {
        self.address.is_multiple_of(align_of::<T>() as u64)
    }

    /// Copies the value out; `None` for null. Alignment does not matter.
    ///
    /// # Safety
    /// A pointer that is not null leads to a readable `T`, as the guest's call promises.
    pub unsafe fn read(self) -> Option<T>
    where
        T: Copy,
    {
        let host = self.host();
        // SAFETY: not null; readable by the caller's promise; unaligned reads are allowed here.
        (!host.is_null()).then(|| unsafe { host.read_unaligned() })
    }

    /// Stores a value; does nothing for null. Alignment does not matter.
    ///
    /// # Safety
    /// A pointer that is not null leads to a writable `T`, as the guest's call promises.
    pub unsafe fn write(self, value: T) {
        let host = self.host();
        if !host.is_null() {
            // SAFETY: not null; writable by the caller's promise.
            unsafe { host.write_unaligned(value) }
        }
    }

    /// The pointer `count` elements further on.
    pub const fn add(self, count: usize) -> Self {
        Self::new(self.address.wrapping_add((count * size_of::<T>()) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_reads_nothing_and_writes_nothing() {
        let null = GuestPtr::<u32>::NULL;
        // SAFETY: null is allowed.
        assert_eq!(unsafe { null.read() }, None);
        // SAFETY: null is allowed.
        unsafe { null.write(1) };
        assert!(null.host().is_null());
    }

    #[test]
    fn a_host_pointer_round_trips() {
        let mut value = 7u32;
        let guest = GuestPtr::from_host(&raw mut value);
        // SAFETY: leads to `value`.
        assert_eq!(unsafe { guest.read() }, Some(7));
        // SAFETY: leads to `value`.
        unsafe { guest.write(9) };
        assert_eq!(value, 9);
    }
}
