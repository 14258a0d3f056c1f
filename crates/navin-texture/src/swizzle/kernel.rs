//! The inner loops: a row of GOBs to rows of bytes and back.
//!
//! [`super::span`] cuts a region into [`Run`]s of GOBs that are copied over their whole width, and edges. Both sides
//! are raw pointers here, because a bounds check for each 16-byte piece costs more than the copy: the span checked the
//! whole region against both slices before the first run.
//!
//! In both orders, 32 bytes at an even row's place are a 16-byte piece of that row and the same piece of the next
//! row. So two 32-byte loads, two lane exchanges and two 32-byte stores make 32 bytes of two rows, and the same
//! backwards: that is [`avx2`]. Elsewhere pieces of 16 bytes are copied, for which every compiler has an instruction
//! (on aarch64 pairs of them).

use super::order::Offsets;

/// Which inner loop copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Pieces of 16 bytes; every machine.
    Portable,
    /// 32 bytes of two rows at a time, with AVX2.
    Avx2,
}

impl Kernel {
    /// The fastest one of this machine.
    #[inline]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self::Avx2;
        }
        Self::Portable
    }

    /// Whether this machine can run it.
    pub fn is_supported(self) -> bool {
        self == Self::Portable || Self::best() == self
    }
}

/// GOBs beside each other, of which whole rows are copied.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// GOBs across.
    pub columns: usize,
    /// Bytes from a GOB to the one beside it: a block.
    pub stride: usize,
    /// Bytes between rows on the other side.
    pub pitch: usize,
    /// First row within the GOBs, and the one after the last: 0 <= y.0 < y.1 <= 8.
    pub y: (usize, usize),
    /// Whether GOBs are written past the caches: the copy is larger than what stays in them.
    pub stream: bool,
    /// Bytes from a GOB to the one that is fetched while it is copied; 0 for none.
    pub ahead: usize,
}

/// Copies of this many bytes and more write GOBs past the caches. A plain store first reads the line that it
/// overwrites; what no cache will keep is written faster without. Measured with 8 MB on a busy machine: 1.5 to 2
/// times as fast, and slower below 5 MB, where the last-level cache keeps it. Rows are never written so: eight of them
/// at a time with powers of two between them are more than the write buffers hold apart.
pub(super) const STREAM_BYTES: usize = 6 << 20;

/// How many columns ahead GOBs are fetched in a copy of so many bytes. GOBs beside each other lie a block apart, mostly
/// 8 KB: to the machine's own prefetcher each is a new place. Measured with 4 to 8 MB, of memcpy's speed: untiling 0.65
/// to 0.9 without, 0.9 to 1.3 with. What stays in the second-level cache anyway is slower with it.
pub(super) const fn columns_ahead(bytes: usize) -> usize {
    match bytes {
        STREAM_BYTES.. => 4,
        0x10_0000.. => 2,
        _ => 0,
    }
}

/// Copies part of one GOB's row, bytes `x.0` to `x.1` of row `y`, piece by piece: `copy(offset in the GOB, offset from
/// the part's first byte, bytes)`. Whole pieces have a constant size after inlining.
#[inline(always)]
pub(super) fn part<const SUCCESSOR: bool>(x: (usize, usize), y: usize, mut copy: impl FnMut(usize, usize, usize)) {
    let row = Offsets::<SUCCESSOR>::Y[y & 7];
    let mut at = x.0;
    while at < x.1 {
        let end = ((at & !15) + 16).min(x.1);
        let offset = row + Offsets::<SUCCESSOR>::X[at >> 4 & 3] + (at & 15);
        if end - at == 16 {
            copy(offset, at - x.0, 16);
        } else {
            copy(offset, at - x.0, end - at);
        }
        at = end;
    }
}

/// The way that every machine can go.
pub(super) mod portable {
    use super::{Offsets, Run};

    /// Copies a run out of GOBs. `rows` is the first copied byte of row `y.0`.
    ///
    /// # Safety
    /// `gobs` must have `(columns - 1) * stride + 512` readable bytes; `rows` must have, for each copied row `i` from
    /// 0, `columns * 64` writable bytes at `i * pitch`. The two must not overlap.
    #[inline]
    pub unsafe fn untile<const SUCCESSOR: bool>(rows: *mut u8, gobs: *const u8, run: Run) {
        for column in 0..run.columns {
            for y in run.y.0..run.y.1 {
                // SAFETY: inside the run, see the caller's promise; each piece is 16 bytes of both sides.
                unsafe {
                    let from = gobs.add(column * run.stride + Offsets::<SUCCESSOR>::Y[y & 7]);
                    let to = rows.add((y - run.y.0) * run.pitch + column * 64);
                    for (piece, offset) in Offsets::<SUCCESSOR>::X.into_iter().enumerate() {
                        to.add(16 * piece).copy_from_nonoverlapping(from.add(offset), 16);
                    }
                }
            }
        }
    }

    /// Copies a run into GOBs. `rows` is the first copied byte of row `y.0`.
    ///
    /// # Safety
    /// As [`untile`], with reading and writing exchanged.
    #[inline]
    pub unsafe fn tile<const SUCCESSOR: bool>(gobs: *mut u8, rows: *const u8, run: Run) {
        for column in 0..run.columns {
            for y in run.y.0..run.y.1 {
                // SAFETY: inside the run, see the caller's promise; each piece is 16 bytes of both sides.
                unsafe {
                    let to = gobs.add(column * run.stride + Offsets::<SUCCESSOR>::Y[y & 7]);
                    let from = rows.add((y - run.y.0) * run.pitch + column * 64);
                    for (piece, offset) in Offsets::<SUCCESSOR>::X.into_iter().enumerate() {
                        to.add(offset).copy_from_nonoverlapping(from.add(16 * piece), 16);
                    }
                }
            }
        }
    }
}

/// 32 bytes of two rows at a time.
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2 {
    use std::arch::x86_64::{
        __m256i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_sfence, _mm_storeu_si128, _mm256_loadu_si256,
        _mm256_permute2x128_si256, _mm256_storeu_si256, _mm256_stream_si256,
    };

    use super::{Offsets, Run};

    /// Fetches a GOB into the caches. Any address will do: a fetch does not fault.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn fetch(gob: *const u8) {
        for line in 0..8 {
            // SAFETY: a hint.
            #[allow(unused_unsafe, reason = "older compilers have it as an unsafe function")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(gob.wrapping_add(64 * line).cast())
            };
        }
    }

    /// The low halves of two registers: of two pieces, what belongs to the even row.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn low(a: __m256i, b: __m256i) -> __m256i {
        _mm256_permute2x128_si256::<0x20>(a, b)
    }

    /// The high halves: what belongs to the odd row.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn high(a: __m256i, b: __m256i) -> __m256i {
        _mm256_permute2x128_si256::<0x31>(a, b)
    }

    /// 64 bytes of rows `y` and `y + 1` out of a GOB, `y` even. `to` is the place of row `y`.
    ///
    /// # Safety
    /// A GOB readable at `gob`; 64 writable bytes at `to` and at `to + pitch`.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn untile_pair<const SUCCESSOR: bool>(to: *mut u8, gob: *const u8, y: usize, pitch: usize) {
        let [x0, x1, x2, x3] = Offsets::<SUCCESSOR>::X;
        // SAFETY: row and piece offsets of an even row are at most 480, and 32 bytes at each are inside the GOB.
        unsafe {
            let from = gob.add(Offsets::<SUCCESSOR>::Y[y & 6]);
            let a = _mm256_loadu_si256(from.add(x0).cast());
            let b = _mm256_loadu_si256(from.add(x1).cast());
            let c = _mm256_loadu_si256(from.add(x2).cast());
            let d = _mm256_loadu_si256(from.add(x3).cast());
            _mm256_storeu_si256(to.cast(), low(a, b));
            _mm256_storeu_si256(to.add(32).cast(), low(c, d));
            _mm256_storeu_si256(to.add(pitch).cast(), high(a, b));
            _mm256_storeu_si256(to.add(pitch + 32).cast(), high(c, d));
        }
    }

    /// The way back of [`untile_pair`].
    ///
    /// # Safety
    /// A GOB writable at `gob`, at a multiple of 64 bytes if it streams; 64 readable bytes at `from` and at `from + pitch`.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn tile_pair<const SUCCESSOR: bool, const STREAM: bool>(
        gob: *mut u8,
        from: *const u8,
        y: usize,
        pitch: usize,
    ) {
        let [x0, x1, x2, x3] = Offsets::<SUCCESSOR>::X;
        let put = |offset: usize, bytes: __m256i| {
            let at: *mut __m256i = gob.wrapping_add(Offsets::<SUCCESSOR>::Y[y & 6] + offset).cast();
            // SAFETY: as in `untile_pair`; aligned to 32 bytes where it streams, see the caller's promise.
            unsafe {
                if STREAM {
                    _mm256_stream_si256(at, bytes);
                } else {
                    _mm256_storeu_si256(at, bytes);
                }
            }
        };
        // SAFETY: as in `untile_pair`.
        unsafe {
            let a = _mm256_loadu_si256(from.cast());
            let b = _mm256_loadu_si256(from.add(pitch).cast());
            let c = _mm256_loadu_si256(from.add(32).cast());
            let d = _mm256_loadu_si256(from.add(pitch + 32).cast());
            put(x0, low(a, b));
            put(x1, high(a, b));
            put(x2, low(c, d));
            put(x3, high(c, d));
        }
    }

    /// As [`super::portable::untile`].
    ///
    /// # Safety
    /// As there, on a machine with AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub unsafe fn untile<const SUCCESSOR: bool>(rows: *mut u8, gobs: *const u8, run: Run) {
        if run.y == (0, 8) {
            let (mut gob, mut to) = (gobs, rows);
            for _ in 0..run.columns {
                if run.ahead != 0 {
                    fetch(gob.wrapping_add(run.ahead));
                }
                // SAFETY: inside the run, see the caller's promise.
                unsafe {
                    untile_pair::<SUCCESSOR>(to, gob, 0, run.pitch);
                    untile_pair::<SUCCESSOR>(to.add(2 * run.pitch), gob, 2, run.pitch);
                    untile_pair::<SUCCESSOR>(to.add(4 * run.pitch), gob, 4, run.pitch);
                    untile_pair::<SUCCESSOR>(to.add(6 * run.pitch), gob, 6, run.pitch);
                }
                gob = gob.wrapping_add(run.stride);
                to = to.wrapping_add(64);
            }
            return;
        }
        for column in 0..run.columns {
            // SAFETY: inside the run, see the caller's promise; a pair's second row is below `y.1`.
            unsafe {
                let gob = gobs.add(column * run.stride);
                let to = rows.add(column * 64);
                let mut y = run.y.0;
                while y < run.y.1 {
                    let to = to.add((y - run.y.0) * run.pitch);
                    if y & 1 == 0 && y + 1 < run.y.1 {
                        untile_pair::<SUCCESSOR>(to, gob, y, run.pitch);
                        y += 2;
                    } else {
                        for (piece, offset) in Offsets::<SUCCESSOR>::X.into_iter().enumerate() {
                            let from = gob.add(Offsets::<SUCCESSOR>::Y[y & 7] + offset);
                            _mm_storeu_si128(to.add(16 * piece).cast(), _mm_loadu_si128(from.cast()));
                        }
                        y += 1;
                    }
                }
            }
        }
    }

    /// Whole GOBs one after the other, past the caches if `STREAM`: each pair of rows is two whole lines, which leave
    /// the write buffers at once; lines in two parts would not, hence the alignment. Such writes are ordered before it returns.
    ///
    /// # Safety
    /// As [`super::portable::tile`], on a machine with AVX2, with `run.y` of all rows; `gobs` aligned to 64 bytes if it
    /// streams.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn tile_whole<const SUCCESSOR: bool, const STREAM: bool>(gobs: *mut u8, rows: *const u8, run: Run) {
        let (mut gob, mut from) = (gobs, rows);
        for _ in 0..run.columns {
            if !STREAM && run.ahead != 0 {
                fetch(gob.wrapping_add(run.ahead));
            }
            // SAFETY: inside the run, see the caller's promise.
            unsafe {
                tile_pair::<SUCCESSOR, STREAM>(gob, from, 0, run.pitch);
                tile_pair::<SUCCESSOR, STREAM>(gob, from.add(2 * run.pitch), 2, run.pitch);
                tile_pair::<SUCCESSOR, STREAM>(gob, from.add(4 * run.pitch), 4, run.pitch);
                tile_pair::<SUCCESSOR, STREAM>(gob, from.add(6 * run.pitch), 6, run.pitch);
            }
            gob = gob.wrapping_add(run.stride);
            from = from.wrapping_add(64);
        }
        if STREAM {
            _mm_sfence();
        }
    }

    /// As [`super::portable::tile`].
    ///
    /// # Safety
    /// As there, on a machine with AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub unsafe fn tile<const SUCCESSOR: bool>(gobs: *mut u8, rows: *const u8, run: Run) {
        if run.y == (0, 8) {
            // SAFETY: the caller's promise; GOBs lie multiples of 512 bytes apart, so that one aligned one says it of
            // all.
            unsafe {
                if run.stream && gobs.addr().is_multiple_of(64) {
                    tile_whole::<SUCCESSOR, true>(gobs, rows, run);
                } else {
                    tile_whole::<SUCCESSOR, false>(gobs, rows, run);
                }
            }
            return;
        }
        for column in 0..run.columns {
            // SAFETY: inside the run, see the caller's promise; a pair's second row is below `y.1`.
            unsafe {
                let gob = gobs.add(column * run.stride);
                let from = rows.add(column * 64);
                let mut y = run.y.0;
                while y < run.y.1 {
                    let from = from.add((y - run.y.0) * run.pitch);
                    if y & 1 == 0 && y + 1 < run.y.1 {
                        tile_pair::<SUCCESSOR, false>(gob, from, y, run.pitch);
                        y += 2;
                    } else {
                        for (piece, offset) in Offsets::<SUCCESSOR>::X.into_iter().enumerate() {
                            let to = gob.add(Offsets::<SUCCESSOR>::Y[y & 7] + offset);
                            _mm_storeu_si128(to.cast(), _mm_loadu_si128(from.add(16 * piece).cast()));
                        }
                        y += 1;
                    }
                }
            }
        }
    }
}
