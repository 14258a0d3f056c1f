//! Copies as a guest makes them: between textures that have little in common, with strides that Vulkan does not
//! have, and texels that are asked for right after the queue's end. Needs a Vulkan device, as `./x test` arranges.

use std::alloc::{Layout, alloc_zeroed};
use std::ptr::null;

use navin_abi::enums::{NVNclearColorMask, NVNcopyFlags, NVNformat, NVNmemoryPoolFlags, NVNtextureTarget};
use navin_abi::types::*;
use nvn::trampolines::*;

const POOL_BYTES: usize = 8 << 20;
const CONTROL_BYTES: usize = 1 << 16;
const COMMAND_BYTES: usize = 1 << 20;
const SIDE: i32 = 32;

/// Zeroed storage that is never freed, aligned to a page.
fn storage<T>(bytes: usize) -> *mut T {
    let layout = Layout::from_size_align(bytes.max(1), 4096).unwrap();
    // SAFETY: the layout's size is not zero.
    let memory = unsafe { alloc_zeroed(layout) };
    assert!(!memory.is_null());
    memory.cast()
}

/// An object as large as `nvn.h` declares any.
fn object<T>() -> *mut T {
    storage(16384)
}

struct Guest {
    device: *mut NVNdevice,
    queue: *mut NVNqueue,
    pool: *mut NVNmemoryPool,
    memory: *mut u8,
    used: usize,
    commands: *mut NVNcommandBuffer,
    control: *mut core::ffi::c_void,
}

impl Guest {
    fn new() -> Self {
        // SAFETY: all objects are zeroed storage of sufficient size that stays.
        unsafe {
            let (builder, device) = (object(), object());
            nvnDeviceBuilderSetDefaults(builder);
            assert_eq!(nvnDeviceInitialize(device, builder), NVN_TRUE, "a Vulkan device is needed");
            let (builder, queue) = (object(), object());
            nvnQueueBuilderSetDefaults(builder);
            nvnQueueBuilderSetDevice(builder, device);
            assert_eq!(nvnQueueInitialize(queue, builder), NVN_TRUE);
            let (builder, pool, memory) = (object(), object(), storage::<u8>(POOL_BYTES));
            nvnMemoryPoolBuilderSetDefaults(builder);
            nvnMemoryPoolBuilderSetDevice(builder, device);
            nvnMemoryPoolBuilderSetFlags(builder, NVNmemoryPoolFlags::CPU_CACHED | NVNmemoryPoolFlags::GPU_CACHED);
            nvnMemoryPoolBuilderSetStorage(builder, memory.cast(), POOL_BYTES);
            assert_eq!(nvnMemoryPoolInitialize(pool, builder), NVN_TRUE);
            let commands = object();
            assert_eq!(nvnCommandBufferInitialize(commands, device), NVN_TRUE);
            Self { device, queue, pool, memory, used: COMMAND_BYTES, commands, control: storage(CONTROL_BYTES) }
        }
    }

    fn take(&mut self, bytes: usize) -> usize {
        let at = self.used;
        self.used += bytes.next_multiple_of(4096);
        assert!(self.used <= POOL_BYTES);
        at
    }

    fn texture(&mut self, target: NVNtextureTarget, format: NVNformat, depth: i32, samples: i32) -> *mut NVNtexture {
        // SAFETY: as in `new`.
        unsafe {
            let (builder, texture) = (object(), object());
            nvnTextureBuilderSetDefaults(builder);
            nvnTextureBuilderSetDevice(builder, self.device);
            nvnTextureBuilderSetTarget(builder, target);
            nvnTextureBuilderSetFormat(builder, format);
            nvnTextureBuilderSetSize3D(builder, SIDE, SIDE, depth);
            nvnTextureBuilderSetSamples(builder, samples);
            let offset = self.take(nvnTextureBuilderGetStorageSize(builder));
            nvnTextureBuilderSetStorage(builder, self.pool, offset as isize);
            assert_eq!(nvnTextureInitialize(texture, builder), NVN_TRUE);
            texture
        }
    }

    /// Records, submits and waits.
    fn run(&self, record: impl FnOnce(*mut NVNcommandBuffer)) {
        // SAFETY: as in `new`; the lent memory is the command buffer's alone.
        unsafe {
            nvnCommandBufferAddCommandMemory(self.commands, self.pool, 0, COMMAND_BYTES);
            nvnCommandBufferAddControlMemory(self.commands, self.control, CONTROL_BYTES);
            nvnCommandBufferBeginRecording(self.commands);
            record(self.commands);
            let handle = nvnCommandBufferEndRecording(self.commands);
            assert_ne!(handle, 0);
            nvnQueueSubmitCommands(self.queue, 1, &handle);
            nvnQueueFinish(self.queue);
        }
    }

    fn address(&self, offset: usize) -> u64 {
        // SAFETY: a live pool.
        unsafe { nvnMemoryPoolGetBufferAddress(self.pool) + offset as u64 }
    }

    fn bytes(&self, offset: usize, count: usize) -> &[u8] {
        // SAFETY: inside the pool's storage; the queue is finished.
        unsafe { std::slice::from_raw_parts(self.memory.add(offset), count) }
    }
}

fn region(at: [i32; 3], size: [i32; 3]) -> NVNcopyRegion {
    NVNcopyRegion { xoffset: at[0], yoffset: at[1], zoffset: at[2], width: size[0], height: size[1], depth: size[2] }
}

fn texel(texture: *const NVNtexture, x: i32, y: i32) -> u32 {
    let mut texel = 0u32;
    // SAFETY: the texture is live, its texels have four bytes.
    unsafe { nvnTextureReadTexels(texture, null(), &region([x, y, 0], [1, 1, 1]), (&raw mut texel).cast()) };
    texel
}

/// One device a process: everything in one test.
#[test]
fn copies_of_every_kind() {
    let mut guest = Guest::new();
    texels_come_right_after_the_queues_end(&mut guest);
    strides_of_any_kind_leave_the_bytes_between_rows(&mut guest);
    copies_that_leave_the_pool_are_left_out(&mut guest);
    unlike_textures_do_not_end_the_process(&mut guest);
}

fn texels_come_right_after_the_queues_end(guest: &mut Guest) {
    let texture = guest.texture(NVNtextureTarget::TARGET_2D, NVNformat::RGBA8, 1, 0);
    for n in 0..400 {
        let color = [(n % 256) as f32 / 255.0, 0.0, 0.0, 1.0];
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            nvnCommandBufferClearTexture(
                c,
                texture,
                null(),
                &region([0; 3], [SIDE, SIDE, 1]),
                color.as_ptr(),
                NVNclearColorMask::RGBA,
            );
        });
        assert_eq!(texel(texture, 3, 3), 0xff00_0000 | (n % 256), "round {n}");
    }
}

fn strides_of_any_kind_leave_the_bytes_between_rows(guest: &mut Guest) {
    let texture = guest.texture(NVNtextureTarget::TARGET_2D_ARRAY, NVNformat::RGBA8, 2, 0);
    let color = [1.0f32, 0.0, 0.0, 1.0];
    let at = guest.take(4096);
    // Row strides that are and are not multiples of the texel, image strides that are and are not of the row.
    for (offset, row, image) in [(0, 64, 256), (1, 64, 256), (0, 67, 300), (4, 64, 200)] {
        // SAFETY: inside the pool; the queue is finished.
        unsafe { guest.memory.add(at).write_bytes(0xCC, 4096) };
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            nvnCommandBufferClearTexture(
                c,
                texture,
                null(),
                &region([0; 3], [SIDE, SIDE, 2]),
                color.as_ptr(),
                NVNclearColorMask::RGBA,
            );
            nvnCommandBufferSetCopyRowStride(c, row as isize);
            nvnCommandBufferSetCopyImageStride(c, image as isize);
            let part = region([2, 1, 0], [4, 3, 2]);
            nvnCommandBufferCopyTextureToBuffer(c, texture, null(), &part, guest.address(at + offset), NVNcopyFlags(0));
            nvnCommandBufferSetCopyRowStride(c, 0);
            nvnCommandBufferSetCopyImageStride(c, 0);
        });
        let mut expected = vec![0xCC; 4096];
        for (z, y, x) in (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..4).map(move |x| (z, y, x)))) {
            let texel = offset + z * image + y * row + x * 4;
            expected[texel..texel + 4].copy_from_slice(&[255, 0, 0, 255]);
        }
        assert!(guest.bytes(at, 4096) == expected, "offset {offset}, row stride {row}, image stride {image}");
    }
}

/// A copy that leaves its pool at either end is left out whole; nothing behind the pool is touched.
fn copies_that_leave_the_pool_are_left_out(guest: &mut Guest) {
    let at = guest.take(4096);
    // SAFETY: inside the pool; the queue is finished.
    unsafe { guest.memory.add(at).write_bytes(0x11, 4096) };
    let end = guest.address(0) + POOL_BYTES as u64;
    // SAFETY: live objects.
    guest.run(|c| unsafe {
        nvnCommandBufferCopyBufferToBuffer(c, end - 256, guest.address(at), 4096, NVNcopyFlags(0));
        nvnCommandBufferCopyBufferToBuffer(c, guest.address(at), end - 4, 64, NVNcopyFlags(0));
        nvnCommandBufferReportValue(c, 7, end - 2);
        nvnCommandBufferDrawArraysIndirect(c, NVNdrawPrimitive::TRIANGLES, end - 8);
        nvnCommandBufferDispatchComputeIndirect(c, end - 4);
    });
    assert!(guest.bytes(at, 4096).iter().all(|byte| *byte == 0x11));
}

/// Some drivers abort on copies that Vulkan forbids: none of these may reach them.
fn unlike_textures_do_not_end_the_process(guest: &mut Guest) {
    use NVNformat as F;
    let formats = [
        F::RGBA8,
        F::RGBA8UI,
        F::DEPTH32F,
        F::DEPTH24_STENCIL8,
        F::RGBA32F,
        F::RGBA_DXT5,
        F::R32I,
        F::R8,
        F::STENCIL8,
        F::RGBA16F,
    ];
    let mut textures: Vec<_> = formats.map(|f| guest.texture(NVNtextureTarget::TARGET_2D, f, 1, 0)).to_vec();
    textures.push(guest.texture(NVNtextureTarget::TARGET_3D, F::RGBA8, 8, 0));
    textures.push(guest.texture(NVNtextureTarget::TARGET_2D_MULTISAMPLE, F::RGBA8, 1, 4));
    let regions = [
        region([0; 3], [SIDE, SIDE, 1]),
        region([0; 3], [SIDE / 2, SIDE / 2, 1]),
        region([-5; 3], [100; 3]),
        region([0; 3], [0; 3]),
        region([40; 3], [4; 3]),
        region([i32::MAX; 3], [i32::MAX; 3]),
        region([3, 1, 0], [7, 5, 2]),
    ];
    let at = guest.take(1 << 16);
    for from in &textures {
        // SAFETY: live objects; a copy beyond a pool or a level is cut or left out.
        guest.run(|c| unsafe {
            for to in &textures {
                for (n, a) in regions.iter().enumerate() {
                    for (m, b) in regions.iter().enumerate() {
                        let flags = NVNcopyFlags([0, 1, 4, 31, -1][(n + m) % 5]);
                        nvnCommandBufferCopyTextureToTexture(c, *from, null(), a, *to, null(), b, flags);
                    }
                }
                nvnCommandBufferDownsample(c, *from, *to);
            }
            for stride in [0, 1, 128, -4, 1 << 40, isize::MIN, isize::MAX] {
                nvnCommandBufferSetCopyRowStride(c, stride.min(256));
                nvnCommandBufferSetCopyImageStride(c, stride);
                for a in &regions {
                    nvnCommandBufferCopyTextureToBuffer(c, *from, null(), a, guest.address(at + 1), NVNcopyFlags(0));
                    nvnCommandBufferCopyBufferToTexture(c, guest.address(at), *from, null(), a, NVNcopyFlags(0));
                }
            }
        });
    }
}
