//! `libnvn`: NVN's functions as C symbols, and the embedder's C API.
//!
//! A guest program links this library instead of the console's: it calls a function by name, or links only
//! `nvnBootstrapLoader` and fetches the rest. Every symbol is a trampoline into the driver's entry table
//! (`navin::entry::table`); nothing is decided here. An embedder, whose guest runs elsewhere, includes `navin.h`
//! and uses what [`embed`] exports; tools that work with textures use [`texture`], which needs no guest.

pub mod embed;
pub mod texture;
pub mod trampolines;

use std::cell::UnsafeCell;

/// A word that only the guest may read or write.
#[repr(transparent)]
pub struct GuestWord(UnsafeCell<u64>);

// SAFETY: Navin never reads or writes the word; what guests do with it is theirs to order.
unsafe impl Sync for GuestWord {}

/// A data symbol that later SDKs import: nonzero would switch on a recording path inlined into the guest, past the
/// entry points. It stays 0 (B434).
#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub static nvnPrivate0: GuestWord = GuestWord(UnsafeCell::new(0));

impl GuestWord {
    /// The word's address, as the guest's linker sees it.
    pub const fn address(&self) -> *mut u64 {
        self.0.get()
    }
}
