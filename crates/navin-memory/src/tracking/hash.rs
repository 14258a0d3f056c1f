//! Fingerprints of pages that are opened for an import: 64 bits, so that two contents of one page agree by chance once in
//! 2^64.
//!
//! rapidhash: portable, no instruction-set switches to be set at build time, and faster than memory on the machines that
//! were measured (`benches/tracking.rs`). The guest may write while we read, so a page is copied first and the copy
//! hashed: what the hash sees does not change under it.

use rapidhash::v3::rapidhash_v3;

/// Bytes copied and hashed at once: copies from 2 KB up are made another way that begins slowly.
const CHUNK: usize = 2048;

/// The fingerprint of `len` bytes of tracked memory.
///
/// # Safety
/// The bytes are mapped and readable.
pub unsafe fn fingerprint(start: usize, len: usize) -> u64 {
    let mut copy = [0u8; CHUNK];
    let mut all = len as u64;
    for at in (0..len).step_by(CHUNK) {
        let part = CHUNK.min(len - at);
        // Most pages are hashed in a row: the bytes after these come while these are hashed.
        prefetch(start + at + AHEAD);
        // SAFETY: the caller's promise; the copy is our own. The guest may write these bytes meanwhile: the copy then
        // holds old or new bytes, and the page's word tells that it was written.
        unsafe { std::ptr::copy_nonoverlapping((start + at) as *const u8, copy.as_mut_ptr(), part) };
        // Odd multiplication and rotation are one to one: a difference in one chunk stays one.
        all = (all.rotate_left(29) ^ rapidhash_v3(&copy[..part])).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    all
}

/// Bytes that are fetched ahead of the copy.
const AHEAD: usize = 2 * CHUNK;

/// Has a chunk brought to the cache. Only a hint: it may lie behind what is mapped.
#[inline]
fn prefetch(start: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in (start..start + CHUNK).step_by(64) {
        // SAFETY: reads nothing as far as the program can tell, whatever the address.
        unsafe { std::arch::x86_64::_mm_prefetch(line as *const i8, std::arch::x86_64::_MM_HINT_T0) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = start;
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_counts() {
        let mut bytes = vec![0u8; 3 * 4096];
        // SAFETY: our own bytes.
        let of = |bytes: &[u8]| unsafe { super::fingerprint(bytes.as_ptr() as usize, bytes.len()) };
        let before = of(&bytes);
        let mut seen = std::collections::HashSet::from([before]);
        for at in (0..bytes.len()).step_by(7) {
            bytes[at] ^= 1;
            assert!(seen.insert(of(&bytes)), "byte {at}");
            bytes[at] ^= 1;
        }
        assert_eq!(of(&bytes), before);
    }
}
