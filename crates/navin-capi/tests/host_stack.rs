//! Entry points on a guest's thread with a stack of 16 KB (B422). Needs a Vulkan device.

mod memory_guest;

#[path = "../../navin-shader/tests/common/assemble.rs"]
mod assemble;

use assemble::{compute, word};
use memory_guest::*;
use navin_abi::GuestPtr;
use navin_abi::enums::{NVNformat, NVNshaderStageBits};
use navin_abi::types::*;
use navin_shader::isa::table::{Field, Form, Op};
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
        // A program is translated and made on the thread that gives it.
        let words = [word(Op::Exit, Form::J, &[(Field::Cond, 15)])];
        let (control, code) = compute(&words);
        let code_pool = guest.pool(Memory::Private, 1 << 16, 0x64);
        code_pool.write(0, &code);
        let control = control.to_vec().leak();
        // SAFETY: a zeroed object of sufficient size that stays, as code and control section do.
        unsafe {
            let program = object();
            assert_eq!(nvnProgramInitialize(program, guest.device), NVN_TRUE);
            let control = GuestPtr::from_host(control.as_ptr().cast());
            let data = NVNshaderData { data: code_pool.address(), control };
            assert_eq!(nvnProgramSetShaders(program, 1, &data), NVN_TRUE);
            guest.run(|c| {
                nvnCommandBufferBindProgram(c, program, NVNshaderStageBits::COMPUTE_BIT);
                nvnCommandBufferDispatchCompute(c, 1, 1, 1);
            });
            nvnProgramFinalize(program);
        }
        // Virtual pools, with all that a mapping waits for.
        let sparse = guest.virtual_pool(1 << 20);
        let physical = guest.pool(Memory::Navin, 1 << 16, PHYSICAL);
        assert!(guest.map(&sparse, &[map_from(&physical, 0, 4096, 4096)]));
        assert!(guest.map(&sparse, &[map_from(&physical, 4096, 4096, 4096), unmap(8192, 4096)]));
        sparse.end();
        physical.end();
        code_pool.end();
        // SAFETY: a live texture.
        unsafe { nvnTextureFinalize(texture) };
        pool.end();
    });
}
