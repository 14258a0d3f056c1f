//! Fingerprints of pages that are opened for an import: 64 bits, so that two contents of one page agree by chance once in
//! 2^64.
//!
//! Folded multiplication (two words multiplied to a double one, whose halves are joined with the words), in lanes that do
//! not wait for each other: portable, no instruction-set switches to be set at build time. The guest may write while
//! we read, so words are read as a whole, each once; nothing is copied.

use std::sync::atomic::{AtomicU64, Ordering};

/// Lanes, of two words each.
const LANES: usize = 8;
/// Bytes that go through the lanes at once.
const LINE: usize = LANES * 16;
/// Odd numbers without a pattern: the fractions of the square roots of the first primes.
const KEYS: [u64; LANES] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// Two words as one. What is multiplied is joined in again, so that a zero on one side does not swallow the other.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64 ^ a) ^ ((product >> 64) as u64 ^ b).rotate_left(32)
}

/// The fingerprint of `len` bytes of tracked memory, a multiple of [`LINE`], from an address that is a multiple of 8.
///
/// # Safety
/// The bytes are mapped and readable.
pub unsafe fn fingerprint(start: usize, len: usize) -> u64 {
    let word = |at: usize| {
        // SAFETY: the caller's promise, for whole aligned words. The guest may write these meanwhile: each is an old or a
        // new one then, and the page's word tells that it was written.
        unsafe { AtomicU64::from_ptr(at as *mut u64) }.load(Ordering::Relaxed)
    };
    let mut lanes = KEYS;
    for line in (start..start + len / LINE * LINE).step_by(LINE) {
        // Most pages are hashed in a row: what comes after is brought while this is hashed.
        prefetch(line + AHEAD);
        for (lane, state) in lanes.iter_mut().enumerate() {
            let at = line + lane * 16;
            *state = fold(word(at) ^ KEYS[lane], word(at + 8) ^ *state);
        }
    }
    lanes.into_iter().zip(KEYS).fold(len as u64, |all, (lane, key)| fold(all ^ key, lane.wrapping_add(key)))
}

/// Bytes that are fetched ahead.
const AHEAD: usize = 1024;

/// Has a line brought to the cache. Only a hint: it may lie behind what is mapped.
#[inline]
fn prefetch(line: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in [line, line + 64] {
        // SAFETY: reads nothing as far as the program can tell, whatever the address.
        unsafe { std::arch::x86_64::_mm_prefetch(at as *const i8, std::arch::x86_64::_MM_HINT_T0) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

#[cfg(test)]
mod tests {
    // A bench includes this file without its tests, so these share nothing.

    #[test]
    fn every_bit_counts() {
        // SAFETY: our own bytes.
        let of = |words: &[u64]| unsafe { super::fingerprint(words.as_ptr() as usize, words.len() * 8) };
        let mut words = vec![0u64; 3 * 512];
        let before = of(&words);
        let mut seen = std::collections::HashSet::from([before]);
        for at in 0..words.len() {
            for bit in [0, 13, 63] {
                words[at] ^= 1 << bit;
                assert!(seen.insert(of(&words)), "bit {bit} of word {at}");
                words[at] ^= 1 << bit;
            }
        }
        assert_eq!(of(&words), before);
    }

    /// Contents that simple sums take for each other: words in another order, and the keys themselves, which are what a
    /// multiplication by zero would come from.
    #[test]
    fn words_in_another_place_are_another_content() {
        // SAFETY: our own bytes.
        let of = |words: &[u64]| unsafe { super::fingerprint(words.as_ptr() as usize, words.len() * 8) };
        let mut seen = std::collections::HashSet::new();
        let mut words: Vec<u64> = (0..512).map(|n| n * 0x0101_0101_0101).collect();
        assert!(seen.insert(of(&words)));
        for at in 0..511 {
            words.swap(at, at + 1);
            assert!(seen.insert(of(&words)), "{at} and the next");
        }
        for (lane, key) in super::KEYS.into_iter().enumerate() {
            for value in 0..200 {
                let mut words = vec![value; 512];
                words[2 * lane] = key;
                words[2 * lane + 1] = value ^ 0x55;
                assert!(seen.insert(of(&words)), "{value} beside the key of lane {lane}");
            }
        }
    }
}
