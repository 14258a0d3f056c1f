//! What a translation costs in allocations, once the translator's arenas have grown: at most 100 for the median program
//! of the corpus.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use navin_shader::{GuestProgram, Translator};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it is; a counter beside it changes no memory of its.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are the system allocator's demands.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn translation_allocates_little() {
    let programs = common::programs();
    let mut translator = Translator::new();
    let mut counts = Vec::new();
    let (mut words, mut instructions) = (Vec::new(), Vec::new());
    for round in 0..2 {
        for program in &programs {
            let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
            let before = COUNT.load(Ordering::Relaxed);
            let Ok(t) = translator.translate(&guest, &program.options) else { continue };
            let count = COUNT.load(Ordering::Relaxed) - before;
            if round == 1 {
                counts.push(count);
                words.push(t.spirv.len() as f64);
                instructions.push(guest.code.len() as f64 / 8.0 * 3.0 / 4.0);
            }
        }
    }
    counts.sort_unstable();
    // Least squares: words a further instruction.
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (x, y) = (mean(&instructions), mean(&words));
    let slope = instructions.iter().zip(&words).map(|(i, w)| (i - x) * (w - y)).sum::<f64>()
        / instructions.iter().map(|i| (i - x) * (i - x)).sum::<f64>();
    words.sort_unstable_by(f64::total_cmp);
    println!(
        "allocations: median {}, most {}; SPIR-V words: median {}, {slope:.2} a further instruction",
        counts[counts.len() / 2],
        counts[counts.len() - 1],
        words[words.len() / 2]
    );
    assert!(counts[counts.len() / 2] <= 100, "median of {} allocations", counts[counts.len() / 2]);
    assert!(words[words.len() / 2] <= 620.0, "median of {} words", words[words.len() / 2]);
}
