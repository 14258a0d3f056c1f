//! Which pools shaders with raw pointers can reach (B642). Needs a Vulkan device.

mod guest;
mod memory_guest;

use memory_guest::{CACHED, Pool, alone, counter, storage};

#[test]
fn b642_only_pools_of_which_an_address_was_taken_are_in_the_page_table() {
    let _alone = alone();
    let guest = memory_guest::Guest::new();
    let memory = storage::<u8>(1001 * 4096);
    let pools: Vec<Pool> =
        (0..1001).map(|n| guest.pool_at(memory.wrapping_add(n * 4096), 4096, CACHED).unwrap()).collect();
    // Nothing walks the table yet: nothing has to be in it.
    for pool in &pools[..5] {
        pool.address();
    }
    guest.run(|_| {});
    assert_eq!(counter("memory.in_page_table"), 0);
    // A program that dereferences a pointer which it reads from memory.
    let mut programs = guest::Guest::new();
    programs.program(&["ubo_pointer_compute"]);
    guest.run(|_| {});
    let before = counter("memory.in_page_table");
    assert!(before >= 5, "{before}: the pools whose addresses were taken before");
    for pool in &pools[5..10] {
        pool.address();
    }
    guest.run(|_| {});
    assert_eq!(counter("memory.in_page_table"), before + 5);
    // Asked again, and mapped by the CPU: nothing new.
    pools[9].address();
    // SAFETY: a live pool.
    assert!(!unsafe { nvn::trampolines::nvnMemoryPoolMap(pools[700].pool) }.is_null());
    guest.run(|_| {});
    assert_eq!(counter("memory.in_page_table"), before + 5);
    // An eleventh is there before the next submission.
    pools[10].address();
    assert_eq!(counter("memory.in_page_table"), before + 5);
    guest.run(|_| {});
    assert_eq!(counter("memory.in_page_table"), before + 6);
    pools.into_iter().for_each(Pool::end);
    assert_eq!(counter("memory.in_page_table"), before - 5, "finalized pools leave it");
}
