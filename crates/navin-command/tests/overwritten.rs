//! Recordings whose memory is overwritten before they are submitted: every byte pattern ends in a fault line and a
//! skipped piece, never in a crash or a hang. `NAVIN_FUZZ_CASES` runs more cases than the built-in number.

mod guest;

use guest::overwritten::run;
use guest::*;
use navin_command::{Host, Limits, flatten, run_native};
use proptest::prelude::*;

fn cases() -> u32 {
    std::env::var("NAVIN_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn b225_any_overwriting_is_survived(data in prop::collection::vec(any::<u8>(), 0..12 * 40)) {
        run(&data);
    }
}

#[test]
fn nothing_overwritten_is_nothing_changed() {
    run(&[]);
    run(&[]);
}

#[test]
fn b225_the_same_megabyte_named_without_end_is_cut_at_the_bound() {
    const PIECE: usize = 1 << 20;
    let limits = Limits { call_bytes: 8 << 20, ..Limits::DEFAULT };
    let host: &'static Host = Box::leak(Box::new(Host::with(run_native, limits)));
    let pool = Pool::new(0x10000, PIECE);
    let guest = Guest::new().with_command(host, &pool, 0, PIECE).with_control(host, 256);
    let handle = guest.record_draws(host, 0..(PIECE / DRAW) as u32 - 10);
    let caller = Guest::new().with_control(host, 32 << 10);
    caller.buffer().begin(host);
    (0..4000).for_each(|_| caller.buffer().call(host, [handle]));
    let list = caller.buffer().end(host);
    let faults = navin_abi::fault::count();
    let bytes = flatten(host, &pool, [list; 50]).words().len() * 4;
    let most = limits.call_bytes as usize;
    assert!((most - PIECE..=most).contains(&bytes));
    assert!(navin_abi::fault::count() > faults);
}

#[test]
fn b224_control_memory_is_lent_up_to_a_bound_and_the_list_ends() {
    let limits = Limits { lent: 128 << 10, ..Limits::DEFAULT };
    let host: &'static Host = Box::leak(Box::new(Host::with(run_native, limits)));
    let pool = Pool::new(0x10000, 4096);
    let called = Guest::new().with_command(host, &pool, 0, 512).with_control(host, 256).record_draws(host, [7]);
    let caller = Guest::new();
    caller.buffer().begin(host);
    let faults = navin_abi::fault::count();
    (0..20_000).for_each(|_| caller.buffer().call(host, [called]));
    assert!(navin_abi::fault::count() > faults);
    let list = caller.buffer().end(host);
    // Two blocks, without the link between them and the end.
    assert_eq!(counts(&flatten(host, &pool, [list])), vec![7; (128 << 10) / 8 - 2]);
    // One that has no control memory at all has no handle.
    let other = Guest::new();
    assert_eq!(other.record_draws(host, []), 0);
}
