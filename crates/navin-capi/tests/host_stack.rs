//! Entry points on a guest's thread with a stack of 16 KB (B422). Needs a Vulkan device.

mod memory_guest;

use memory_guest::*;
use navin_abi::enums::NVNformat;
use navin_abi::types::*;
use nvn::trampolines::*;

/// Runs `body` on a stack of 16 KB with an inaccessible page below it, as a guest's fiber has.
fn on_a_small_stack(body: impl FnOnce()) {
    const STACK: usize = 16 << 10;
    const PAGE: usize = 4096;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a fresh mapping, its first page made inaccessible; used by this thread alone, which comes back from it.
    unsafe {
        let rw = libc::PROT_READ | libc::PROT_WRITE;
        let base = libc::mmap(std::ptr::null_mut(), STACK + PAGE, rw, flags, -1, 0).cast::<u8>();
        assert_ne!(base.cast(), libc::MAP_FAILED);
        assert_eq!(libc::mprotect(base.cast(), PAGE, libc::PROT_NONE), 0);
        psm::on_stack(base.add(PAGE), STACK, body);
        libc::munmap(base.cast(), STACK + PAGE);
    }
}

#[test]
fn b422_a_guest_thread_of_16_kb_may_call_everything() {
    let _alone = alone();
    on_a_small_stack(|| {
        // The device is opened here, with all that a driver does for it; pools, textures, submissions, texel reads.
        let guest = Box::new(Guest::new());
        let pool = guest.pool(Memory::Private, 1 << 20, CACHED);
        let texture = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 0);
        let color = [0.0f32, 0.0, 1.0, 1.0];
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            let mut targets = [texture.cast_const()];
            nvnCommandBufferSetRenderTargets(
                c,
                1,
                targets.as_mut_ptr().cast(),
                std::ptr::null(),
                std::ptr::null(),
                std::ptr::null(),
            );
            nvnCommandBufferSetScissor(c, 0, 0, 64, 64);
            nvnCommandBufferClearColor(c, 0, color.as_ptr(), NVNclearColorMask::RGBA);
        });
        assert_eq!(read_texel(texture, 3, 3), 0xffff_0000);
        // SAFETY: a live texture.
        unsafe { nvnTextureFinalize(texture) };
        pool.end();
    });
}
