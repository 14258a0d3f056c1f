//! Which pools shaders with raw pointers can reach, and what they find there (B642, B113). Needs a Vulkan device.

mod memory_guest;
mod this_program;

#[path = "../../navin-shader/tests/common/assemble.rs"]
mod assemble;

use assemble::{compute, word};
use memory_guest::{
    CACHED, GPU_ONLY, Guest, Memory, PHYSICAL, Pool, SCRATCH, alone, counter, eventually, map_anonymous, map_from,
    mirrored, object, storage, unmap,
};
use navin_abi::GuestPtr;
use navin_abi::enums::{NVNcopyFlags, NVNshaderStage, NVNshaderStageBits};
use navin_abi::types::*;
use navin_shader::isa::table::{Field, Form, Op};
use nvn::trampolines::*;

/// Bank of the first uniform block.
const BLOCK: u32 = 3;

/// A program that loads the word at one address and stores it at another; both are in its first uniform block.
fn program(guest: &Guest) -> *mut NVNprogram {
    let mov = |register: u32, at: u32| {
        word(Op::Mov, Form::C, &[(Field::Dst, register), (Field::Cbo4, at), (Field::Cbi, BLOCK)])
    };
    let load = [(Field::A, 4), (Field::E, 1), (Field::Dst, 6), (Field::Size, 4)];
    let store = [(Field::A, 8), (Field::E, 1), (Field::Data, 6), (Field::Size, 4)];
    let words = [
        mov(4, 0),
        mov(5, 1),
        mov(8, 2),
        mov(9, 3),
        word(Op::Ldg, Form::M, &load),
        word(Op::Stg, Form::M, &store),
        word(Op::Exit, Form::J, &[(Field::Cond, 15)]),
    ];
    let (control, code) = compute(&words);
    let pool = guest.pool(Memory::Private, 1 << 16, 0x64);
    pool.write(0, &code);
    let control = control.to_vec().leak();
    // SAFETY: a zeroed object of sufficient size that stays; code and control section stay too.
    unsafe {
        let program = object();
        assert_eq!(nvnProgramInitialize(program, guest.device), NVN_TRUE);
        let data = NVNshaderData { data: pool.address(), control: GuestPtr::from_host(control.as_ptr().cast()) };
        assert_eq!(nvnProgramSetShaders(program, 1, &data), NVN_TRUE);
        program
    }
}

/// The word that the program finds at `address`.
fn load(guest: &Guest, program: *mut NVNprogram, address: u64) -> [u8; 4] {
    guest.own.write(SCRATCH, &[0xEE; 4]);
    load_to(guest, program, address, guest.own.address() + SCRATCH as u64);
    guest.own.read(SCRATCH, 4).try_into().unwrap()
}

/// Has the program copy the word at `address` to `result`.
fn load_to(guest: &Guest, program: *mut NVNprogram, address: u64, result: u64) {
    let block = SCRATCH + 4096;
    guest.own.write(block, &address.to_le_bytes());
    guest.own.write(block + 8, &result.to_le_bytes());
    // SAFETY: live objects.
    guest.run(|c| unsafe {
        nvnCommandBufferBindProgram(c, program, NVNshaderStageBits::COMPUTE_BIT);
        nvnCommandBufferBindUniformBuffer(c, NVNshaderStage::COMPUTE, 0, guest.own.address() + block as u64, 256);
        nvnCommandBufferDispatchCompute(c, 1, 1, 1);
    });
}

/// Some submission: one of no commands would be none.
fn submit(guest: &Guest) {
    // SAFETY: a live command buffer.
    guest.run(|c| unsafe { nvnCommandBufferBarrier(c, NVNbarrierBits(1)) });
}

/// B122, B123: a pool that is imported in pieces is imported whole where raw pointers reach it, over pages that are
/// protected for a texture: what the program stores arrives, and the texture is not due.
fn whole_import_of_a_large_pool(guest: &Guest, program: *mut NVNprogram) {
    const MB: usize = 1 << 20;
    // A mirror is copied whole, twice, for a program that may store anywhere: a small one will do.
    let bytes = if !mirrored() { 600 * MB } else { 8 * MB };
    let pool = guest.pool_at(map_anonymous(bytes), bytes, CACHED).unwrap();
    let texture = guest.linear(&pool, 0, 64);
    pool.write(0, &[1; 16384]);
    assert_eq!(guest.texel(texture), [1; 4]);
    let uploads = counter("texture_uploads");
    pool.write(bytes - 4, &[1, 2, 3, 4]);
    let end = pool.address() + bytes as u64 - 4;
    assert_eq!(load(guest, program, end), [1, 2, 3, 4], "the table spans the pool");
    load_to(guest, program, end, pool.address() + 40960);
    assert_eq!(pool.read(40960, 4), [1, 2, 3, 4], "a store beside protected pages arrives");
    assert_eq!(guest.texel(texture), [1; 4]);
    assert_eq!(counter("texture_uploads"), uploads);
    pool.end();
}

/// B122, B315: what the GPU is writing through a piece of a large pool that only the GPU sees is there when the whole is
/// imported for raw pointers: it is no copy in device memory of what the storage holds.
fn a_large_pool_of_the_gpus_own(guest: &Guest) -> *mut NVNprogram {
    const MB: usize = 1 << 20;
    if mirrored() {
        return program(guest);
    }
    let bytes = 600 * MB;
    let pool = guest.pool_at(map_anonymous(bytes), bytes, GPU_ONLY).unwrap();
    guest.own.write(SCRATCH + 64, &[1, 2, 3, 4]);
    let (from, to) = (guest.own.address() + SCRATCH as u64 + 64, pool.address() + 64);
    // Long enough for a program to be made meanwhile.
    (0..4).for_each(|_| guest.submit_slowly(|_| {}));
    // SAFETY: live objects.
    guest.submit_slowly(|c| unsafe { nvnCommandBufferCopyBufferToBuffer(c, from, to, 4, NVNcopyFlags(0)) });
    assert!(eventually(|| counter("memory.chunks") == 1));
    // Only from here on the table is walked. B653: code is read by the CPU; no buffer is made for it, and none for the
    // key of the shader.
    let buffers = counter("memory.buffers");
    let program = program(guest);
    assert_eq!(counter("memory.buffers"), buffers);
    assert_eq!(load(guest, program, to), [1, 2, 3, 4]);
    assert_eq!(counter("memory.chunks"), 0, "its pages are pinned once");
    pool.end();
    program
}

/// B122: a pool that is more than one import may hold (2 GB on some devices) is imported in pieces for raw pointers, and
/// binds find it where they did.
fn a_pool_larger_than_an_import(guest: &Guest, program: *mut NVNprogram) {
    const MB: usize = 1 << 20;
    if mirrored() {
        return;
    }
    let buffers = counter("memory.buffers");
    let bytes = 2600 * MB;
    let pool = guest.pool_at(map_anonymous(bytes), bytes, CACHED).unwrap();
    let faults = navin_abi::fault::count();
    pool.write(64, &[9, 8, 7, 6]);
    assert_eq!(guest.gpu_bytes(pool.address() + 64, 4), [9, 8, 7, 6], "before the table has it");
    let places = [0, 1500 * MB, 1792 * MB - 4, 1792 * MB, 2048 * MB - 4, 2048 * MB, bytes - 4];
    for (n, at) in places.into_iter().enumerate() {
        pool.write(at, &[n as u8 + 1; 4]);
        assert_eq!(load(guest, program, pool.address() + at as u64), [n as u8 + 1; 4], "{at:#x}");
        assert_eq!(guest.gpu_bytes(pool.address() + at as u64, 4), [n as u8 + 1; 4], "{at:#x}");
    }
    // Through a virtual pool, over the border of two imports.
    let sparse = guest.virtual_pool(64 * MB);
    assert!(guest.map(&sparse, &[map_from(&pool, 1792 * MB - 16 * MB, 0, 32 * MB)]));
    for (at, expected) in [(16 * MB - 4, 3), (16 * MB, 4)] {
        assert_eq!(load(guest, program, sparse.address() + at as u64), [expected; 4], "{at:#x}");
    }
    assert_eq!(navin_abi::fault::count(), faults, "nothing is refused");
    sparse.end();
    pool.end();
    assert_eq!(counter("memory.buffers"), buffers);
}

/// B111, B113: work in flight reaches pages through the table, of a virtual pool and after they were unmapped, so their
/// pool is in use until it has ended; afterwards nothing in the table leads there.
fn pools_go_under_raw_pointers(guest: &Guest, program: *mut NVNprogram) {
    for (memory, unmapped) in [(Memory::Private, true), (Memory::Private, false), (Memory::Navin, true)] {
        let sparse = guest.virtual_pool(1 << 20);
        let physical = guest.pool(memory, 1 << 16, PHYSICAL);
        physical.write(0, &[0x5A; 4096]);
        assert!(guest.map(&sparse, &[map_from(&physical, 0, 4096, 4096)]));
        let from = sparse.address() + 4096;
        load_slowly(guest, program, from);
        if unmapped {
            assert!(guest.map(&sparse, &[unmap(4096, 4096)]));
        }
        physical.end();
        if !mirrored() {
            assert_eq!(guest.own.read(SCRATCH, 4), [0x5A; 4], "{memory:?}: Finalize came back before it had ended");
        }
        guest.finish();
        assert_eq!(load(guest, program, from), [0; 4], "{memory:?}, {unmapped}");
        sparse.end();
    }
}

/// B111: one call that unmaps a page and maps its neighbour: work in flight still reads what was there.
fn one_call_unmaps_beside_what_it_maps(guest: &Guest, program: *mut NVNprogram) {
    let sparse = guest.virtual_pool(1 << 20);
    let physical = guest.pool(Memory::Private, 1 << 16, PHYSICAL);
    physical.write(0, &[0x5A; 4096]);
    physical.write(4096, &[0x6B; 4096]);
    assert!(guest.map(&sparse, &[map_from(&physical, 0, 0, 4096)]));
    assert_eq!(load(guest, program, sparse.address()), [0x5A; 4]);
    load_slowly(guest, program, sparse.address());
    assert!(guest.map(&sparse, &[unmap(0, 4096), map_from(&physical, 4096, 4096, 4096)]));
    guest.finish();
    assert_eq!(guest.own.read(SCRATCH, 4), [0x5A; 4], "what was mapped when it was submitted");
    assert_eq!(load(guest, program, sparse.address()), [0; 4]);
    assert_eq!(load(guest, program, sparse.address() + 4096), [0x6B; 4]);
    sparse.end();
    physical.end();
}

/// B651: a pool in the table is in use while a submission walks the table, and by no other.
fn work_that_walks_nothing_is_not_waited_for(guest: &Guest, program: *mut NVNprogram) {
    let pool = guest.pool(Memory::Private, 1 << 16, CACHED);
    pool.write(0, &[0x77; 4096]);
    assert_eq!(load(guest, program, pool.address()), [0x77; 4]);
    let faults = navin_abi::fault::count();
    guest.submit_slowly(|_| {});
    pool.end();
    assert!(counter("in_flight") > 0, "Finalize waited for work that does not use the pool");
    assert_eq!(navin_abi::fault::count(), faults);
    guest.finish();
    // And one that walks is.
    let pool = guest.pool(Memory::Private, 1 << 16, CACHED);
    pool.write(0, &[0x78; 4096]);
    load_slowly(guest, program, pool.address());
    pool.end();
    assert_eq!(guest.own.read(SCRATCH, 4), [0x78; 4], "Finalize came back before it had ended");
    guest.finish();
}

/// Has the program copy the word at `address` to `SCRATCH`, behind work that takes a while.
fn load_slowly(guest: &Guest, program: *mut NVNprogram, address: u64) {
    let block = SCRATCH + 4096;
    guest.own.write(SCRATCH, &[0xEE; 4]);
    guest.own.write(block, &address.to_le_bytes());
    guest.own.write(block + 8, &(guest.own.address() + SCRATCH as u64).to_le_bytes());
    // SAFETY: live objects.
    guest.submit_slowly(|c| unsafe {
        nvnCommandBufferBindProgram(c, program, NVNshaderStageBits::COMPUTE_BIT);
        let uniforms = guest.own.address() + block as u64;
        nvnCommandBufferBindUniformBuffer(c, NVNshaderStage::COMPUTE, 0, uniforms, 256);
        nvnCommandBufferDispatchCompute(c, 1, 1, 1);
    });
}

/// One test: before the first such program nothing is in the table, which another test here would change.
#[test]
fn b642_b653_b113_b122_pools_of_which_an_address_was_taken_are_reached_by_raw_pointers() {
    let _alone = alone();
    let guest = Guest::new();
    let memory = storage::<u8>(1001 * 4096);
    let pools: Vec<Pool> =
        (0..1001).map(|n| guest.pool_at(memory.wrapping_add(n * 4096), 4096, CACHED).unwrap()).collect();
    // Nothing walks the table yet: nothing has to be in it.
    pools[..5].iter().for_each(|pool| {
        pool.address();
    });
    submit(&guest);
    assert_eq!(counter("memory.in_page_table"), 0);
    let program = a_large_pool_of_the_gpus_own(&guest);
    guest.own.address();
    submit(&guest);
    let before = counter("memory.in_page_table");
    assert!((5..10).contains(&before), "{before}: those whose addresses were taken before, and the program's own");
    pools[5..10].iter().for_each(|pool| {
        pool.address();
    });
    submit(&guest);
    assert_eq!(counter("memory.in_page_table"), before + 5);
    // Asked again, and mapped by the CPU: nothing new.
    pools[9].address();
    // SAFETY: a live pool.
    assert!(!unsafe { nvnMemoryPoolMap(pools[700].pool) }.is_null());
    submit(&guest);
    assert_eq!(counter("memory.in_page_table"), before + 5);
    // An eleventh is there for the next submission, which reads it; behind its end is nothing.
    pools[10].write(8, &[1, 2, 3, 4]);
    let address = pools[10].address();
    assert_eq!(load(&guest, program, address + 8), [1, 2, 3, 4]);
    assert_eq!(counter("memory.in_page_table"), before + 6);
    assert_eq!(load(&guest, program, address + 4096), [0; 4], "behind the pool's end");
    assert_eq!(load(&guest, program, 0x30), [0; 4], "in no pool");

    // A sparse pool: 4 KB pages in an order of their own, mapped and unmapped after the pool is in the table.
    let sparse = guest.virtual_pool(1 << 30);
    let base = sparse.address() + 0x4400000;
    assert_eq!(load(&guest, program, base), [0; 4], "nothing is mapped");
    let physical = guest.pool(Memory::Private, 1 << 20, PHYSICAL);
    for page in 0..16usize {
        physical.write(page * 4096, &[page as u8 + 1; 4096]);
        assert!(guest.map(&sparse, &[map_from(&physical, (15 - page) * 4096, 0x4400000 + page * 4096, 4096)]));
    }
    for page in 0..16u64 {
        assert_eq!(load(&guest, program, base + page * 4096 + 64), [16 - page as u8; 4]);
    }
    assert!(guest.map(&sparse, &[unmap(0x4400000 + 3 * 4096, 4096)]));
    assert_eq!(load(&guest, program, base + 3 * 4096), [0; 4]);
    assert_eq!(load(&guest, program, base + 4 * 4096), [12; 4], "its neighbour stays");
    assert!(guest.map(&sparse, &[map_from(&physical, 0, 0x4400000 + 4 * 4096, 4096)]));
    assert_eq!(load(&guest, program, base + 4 * 4096), [1; 4], "other pages in its place");
    sparse.end();
    physical.end();
    let with = counter("memory.in_page_table");
    whole_import_of_a_large_pool(&guest, program);
    a_pool_larger_than_an_import(&guest, program);
    pools_go_under_raw_pointers(&guest, program);
    if !mirrored() {
        one_call_unmaps_beside_what_it_maps(&guest, program);
        work_that_walks_nothing_is_not_waited_for(&guest, program);
    }
    pools.into_iter().for_each(Pool::end);
    assert_eq!(counter("memory.in_page_table"), with - 11, "finalized pools leave it");
    assert_eq!(load(&guest, program, base), [0; 4]);
}

/// The same where pools that only the GPU sees lie in device memory.
#[test]
fn b315_pools_in_device_memory_are_reached_by_raw_pointers() {
    if this_program::is_child() || mirrored() {
        return;
    }
    this_program::alone(
        "b642_b653_b113_b122_pools_of_which_an_address_was_taken_are_reached_by_raw_pointers",
        &[("NAVIN_DEVICE_LOCAL", "always")],
    );
}
