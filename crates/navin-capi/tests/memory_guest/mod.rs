//! A guest program for tests: device, queue, pools, textures, and a way to submit and wait.
#![allow(dead_code, reason = "each test program uses a part")]

use std::alloc::{Layout, alloc_zeroed};
use std::ptr::null;
use std::sync::{Mutex, MutexGuard, PoisonError};

use navin_abi::enums::{NVNcopyFlags, NVNformat, NVNmemoryPoolFlags, NVNtextureFlags, NVNtextureTarget};
use navin_abi::types::*;
use nvn::trampolines::*;

pub const CONTROL_BYTES: usize = 1 << 16;
pub const COMMAND_BYTES: usize = 1 << 20;

/// CPU_CACHED and GPU_CACHED.
pub const CACHED: i32 = 0x24;
/// CPU_NO_ACCESS and GPU_CACHED.
pub const GPU_ONLY: i32 = 0x21;
/// CPU_UNCACHED, GPU_CACHED, PHYSICAL.
pub const PHYSICAL: i32 = 0x122;
/// CPU_NO_ACCESS, GPU_CACHED, COMPRESSIBLE, VIRTUAL.
pub const VIRTUAL: i32 = 0x2a1;

/// Tests of one program share the process's driver and its counters: one at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Zeroed private memory that is never freed, aligned to a page.
pub fn storage<T>(bytes: usize) -> *mut T {
    let layout = Layout::from_size_align(bytes.max(1), 4096).unwrap();
    // SAFETY: the layout's size is not zero.
    let memory = unsafe { alloc_zeroed(layout) };
    assert!(!memory.is_null());
    memory.cast()
}

/// Address space that takes memory only where it is touched, zeroed, and is never given back.
pub fn map_anonymous(bytes: usize) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh mapping.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at.cast()
}

/// An object as large as `nvn.h` declares any.
pub fn object<T>() -> *mut T {
    storage(16384)
}

/// Where a pool's memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Private anonymous memory.
    Private,
    /// Navin's allocator: a memfd, mapped twice.
    Navin,
}

impl Memory {
    pub const ALL: [Self; 2] = [Self::Private, Self::Navin];

    pub fn take(self, bytes: usize) -> *mut u8 {
        match self {
            Self::Private => storage(bytes),
            Self::Navin => {
                let memory = nvn::embed::navin_alloc(bytes, 4096).cast::<u8>();
                assert!(!memory.is_null());
                memory
            }
        }
    }
}

/// A memory pool and its storage.
#[derive(Clone, Copy)]
pub struct Pool {
    pub pool: *mut NVNmemoryPool,
    pub memory: *mut u8,
    pub bytes: usize,
}

impl Pool {
    pub fn address(&self) -> u64 {
        // SAFETY: a live pool.
        unsafe { nvnMemoryPoolGetBufferAddress(self.pool) }
    }

    pub fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.bytes);
        // SAFETY: inside the pool's storage.
        unsafe { self.memory.add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    pub fn read(&self, offset: usize, count: usize) -> Vec<u8> {
        assert!(offset + count <= self.bytes);
        // SAFETY: inside the pool's storage.
        unsafe { std::slice::from_raw_parts(self.memory.add(offset), count) }.to_vec()
    }

    pub fn end(self) {
        // SAFETY: a live pool.
        unsafe { nvnMemoryPoolFinalize(self.pool) };
    }
}

pub struct Guest {
    pub device: *mut NVNdevice,
    pub queue: *mut NVNqueue,
    /// Command memory, and a place for what is read back.
    pub own: Pool,
    pub commands: *mut NVNcommandBuffer,
    control: *mut core::ffi::c_void,
}

/// Bytes of `Guest::own` that tests may use, from here on.
pub const SCRATCH: usize = COMMAND_BYTES;
const SCRATCH_BYTES: usize = 8 << 20;

impl Guest {
    pub fn new() -> Self {
        // SAFETY: all objects are zeroed storage of sufficient size that stays.
        unsafe {
            let (builder, device) = (object(), object());
            nvnDeviceBuilderSetDefaults(builder);
            assert_eq!(nvnDeviceInitialize(device, builder), NVN_TRUE, "a Vulkan device is needed");
            let (builder, queue) = (object(), object());
            nvnQueueBuilderSetDefaults(builder);
            nvnQueueBuilderSetDevice(builder, device);
            assert_eq!(nvnQueueInitialize(queue, builder), NVN_TRUE);
            let bytes = COMMAND_BYTES + SCRATCH_BYTES;
            let own = pool(device, storage(bytes), bytes, CACHED).expect("a pool");
            let commands = object();
            assert_eq!(nvnCommandBufferInitialize(commands, device), NVN_TRUE);
            Self { device, queue, own, commands, control: storage(CONTROL_BYTES) }
        }
    }

    /// A pool over fresh memory.
    pub fn pool(&self, memory: Memory, bytes: usize, flags: i32) -> Pool {
        pool(self.device, memory.take(bytes), bytes, flags).expect("a pool")
    }

    /// A pool over given memory (null for a virtual one), if NVN makes it.
    pub fn pool_at(&self, memory: *mut u8, bytes: usize, flags: i32) -> Option<Pool> {
        pool(self.device, memory, bytes, flags)
    }

    pub fn virtual_pool(&self, bytes: usize) -> Pool {
        pool(self.device, std::ptr::null_mut(), bytes, VIRTUAL).expect("a virtual pool")
    }

    /// A builder of a 2D texture of these texels.
    pub fn builder(&self, format: NVNformat, width: i32, height: i32, levels: i32) -> *mut NVNtextureBuilder {
        // SAFETY: as in `new`.
        unsafe {
            let builder = object();
            nvnTextureBuilderSetDefaults(builder);
            nvnTextureBuilderSetDevice(builder, self.device);
            nvnTextureBuilderSetTarget(builder, NVNtextureTarget::TARGET_2D);
            nvnTextureBuilderSetFormat(builder, format);
            nvnTextureBuilderSetSize2D(builder, width, height);
            nvnTextureBuilderSetLevels(builder, levels);
            builder
        }
    }

    pub fn make(&self, builder: *mut NVNtextureBuilder, pool: &Pool, offset: usize) -> *mut NVNtexture {
        // SAFETY: as in `new`.
        unsafe {
            let texture = object();
            nvnTextureBuilderSetStorage(builder, pool.pool, offset as isize);
            assert_eq!(nvnTextureInitialize(texture, builder), NVN_TRUE);
            texture
        }
    }

    /// A linear texture of RGBA8 texels whose rows lie as they are.
    pub fn linear(&self, pool: &Pool, offset: usize, side: i32) -> *mut NVNtexture {
        let builder = self.builder(NVNformat::RGBA8, side, side, 1);
        // SAFETY: as in `new`.
        unsafe {
            nvnTextureBuilderSetFlags(builder, NVNtextureFlags::LINEAR);
            nvnTextureBuilderSetStride(builder, (side * 4) as isize);
        }
        self.make(builder, pool, offset)
    }

    /// Records, submits and waits.
    pub fn run(&self, record: impl FnOnce(*mut NVNcommandBuffer)) {
        self.submit(record);
        // SAFETY: a live queue.
        unsafe { nvnQueueFinish(self.queue) };
    }

    /// Records and submits.
    pub fn submit(&self, record: impl FnOnce(*mut NVNcommandBuffer)) {
        // SAFETY: as in `new`; the lent memory is the command buffer's alone.
        unsafe {
            nvnCommandBufferAddCommandMemory(self.commands, self.own.pool, 0, COMMAND_BYTES);
            nvnCommandBufferAddControlMemory(self.commands, self.control, CONTROL_BYTES);
            nvnCommandBufferBeginRecording(self.commands);
            record(self.commands);
            let handle = nvnCommandBufferEndRecording(self.commands);
            assert_ne!(handle, 0);
            nvnQueueSubmitCommands(self.queue, 1, &handle);
        }
    }

    /// Records and submits `record` behind work that takes the GPU a while; returns when the GPU has it. `SCRATCH` from
    /// 4 MB on is used for it.
    pub fn submit_slowly(&self, record: impl FnOnce(*mut NVNcommandBuffer)) {
        const MB: usize = 1 << 20;
        let at = self.own.address() + (SCRATCH + 4 * MB) as u64;
        // SAFETY: live objects.
        self.submit(|c| unsafe {
            for _ in 0..400 {
                nvnCommandBufferCopyBufferToBuffer(c, at, at + 2 * MB as u64, 2 * MB, NVNcopyFlags(0));
            }
            record(c);
        });
        assert!(eventually(|| counter("in_flight") > 0));
    }

    pub fn finish(&self) {
        // SAFETY: a live queue.
        unsafe { nvnQueueFinish(self.queue) };
    }

    /// The GPU's copy of bytes at an address.
    pub fn gpu_bytes(&self, address: u64, count: usize) -> Vec<u8> {
        assert!(count <= SCRATCH_BYTES);
        self.own.write(SCRATCH, &vec![0xEE; count]);
        let to = self.own.address() + SCRATCH as u64;
        // SAFETY: live objects.
        self.run(|c| unsafe { nvnCommandBufferCopyBufferToBuffer(c, address, to, count, NVNcopyFlags(0)) });
        self.own.read(SCRATCH, count)
    }

    /// Has the GPU write bytes to an address.
    pub fn gpu_write(&self, address: u64, bytes: &[u8]) {
        self.own.write(SCRATCH, bytes);
        let from = self.own.address() + SCRATCH as u64;
        // SAFETY: live objects.
        self.run(|c| unsafe { nvnCommandBufferCopyBufferToBuffer(c, from, address, bytes.len(), NVNcopyFlags(0)) });
    }

    /// Level `level` of a 2D texture, `size` texels of `texel` bytes, as the GPU sees it.
    pub fn texels(&self, texture: *const NVNtexture, level: i32, size: [i32; 2], texel: usize) -> Vec<u8> {
        let count = size[0] as usize * size[1] as usize * texel;
        assert!(count <= SCRATCH_BYTES);
        self.own.write(SCRATCH, &vec![0xEE; count]);
        let to = self.own.address() + SCRATCH as u64;
        let view = object();
        // SAFETY: live objects.
        self.run(|c| unsafe {
            nvnTextureViewSetDefaults(view);
            nvnTextureViewSetLevels(view, level, 1);
            let part = region([0; 3], [size[0], size[1], 1]);
            nvnCommandBufferCopyTextureToBuffer(c, texture, view, &part, to, NVNcopyFlags(0));
        });
        self.own.read(SCRATCH, count)
    }

    /// The first texel of an RGBA8 texture, as the GPU sees it.
    pub fn texel(&self, texture: *const NVNtexture) -> [u8; 4] {
        self.texels(texture, 0, [1, 1], 4).try_into().unwrap()
    }

    pub fn map(&self, pool: &Pool, requests: &[Request<'_>]) -> bool {
        let requests: Vec<NVNmappingRequest> = requests
            .iter()
            .map(|request| {
                // SAFETY: integers and pointers: zero is a value of each.
                let mut mapping: NVNmappingRequest = unsafe { std::mem::zeroed() };
                if let Some((physical, offset)) = request.from {
                    mapping.physical_pool = navin_abi::GuestPtr::new(physical.pool as u64);
                    mapping.physical_offset = offset as _;
                }
                mapping.virtual_offset = request.at as _;
                mapping.size = request.bytes as _;
                mapping
            })
            .collect();
        // SAFETY: a live pool and its requests.
        unsafe { nvnMemoryPoolMapVirtual(pool.pool, requests.len() as i32, requests.as_ptr()) == NVN_TRUE }
    }
}

/// A request of `nvnMemoryPoolMapVirtual`.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Physical pool and offset; `None` unmaps.
    pub from: Option<(&'a Pool, usize)>,
    /// Where in the virtual pool.
    pub at: usize,
    pub bytes: usize,
}

pub fn map_from(physical: &Pool, offset: usize, at: usize, bytes: usize) -> Request<'_> {
    Request { from: Some((physical, offset)), at, bytes }
}

pub fn unmap(at: usize, bytes: usize) -> Request<'static> {
    Request { from: None, at, bytes }
}

fn pool(device: *mut NVNdevice, memory: *mut u8, bytes: usize, flags: i32) -> Option<Pool> {
    // SAFETY: zeroed objects of sufficient size that stay.
    unsafe {
        let (builder, pool) = (object(), object());
        nvnMemoryPoolBuilderSetDefaults(builder);
        nvnMemoryPoolBuilderSetDevice(builder, device);
        nvnMemoryPoolBuilderSetFlags(builder, NVNmemoryPoolFlags(flags));
        nvnMemoryPoolBuilderSetStorage(builder, memory.cast(), bytes);
        (nvnMemoryPoolInitialize(pool, builder) == NVN_TRUE).then_some(Pool { pool, memory, bytes })
    }
}

pub fn region(at: [i32; 3], size: [i32; 3]) -> NVNcopyRegion {
    NVNcopyRegion { xoffset: at[0], yoffset: at[1], zoffset: at[2], width: size[0], height: size[1], depth: size[2] }
}

/// The first texel of a texture with texels of four bytes, by the CPU's read.
pub fn read_texel(texture: *const NVNtexture, x: i32, y: i32) -> u32 {
    let mut texel = 0u32;
    // SAFETY: the texture is live, its texels have four bytes.
    unsafe { nvnTextureReadTexels(texture, null(), &region([x, y, 0], [1, 1, 1]), (&raw mut texel).cast()) };
    texel
}

/// A counter of the driver, by its path in the status lines.
pub fn counter(path: &str) -> u64 {
    let counters = navin::counters().expect("a driver");
    let value = path.split('.').fold(&counters, |value, key| &value[key]);
    value.as_u64().unwrap_or_else(|| panic!("no counter {path} in {counters:#}"))
}

/// Whether every pool is mirrored (`./x test` runs these programs so, too).
pub fn mirrored() -> bool {
    std::env::var("NAVIN_IMPORT").as_deref() == Ok("mirror")
}

/// Whether the CPU may read the page at an address.
pub fn is_readable(address: usize) -> bool {
    let mut byte = 0u8;
    let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: 1 };
    // SAFETY: copies a byte into ours if there is one; the kernel looks.
    unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) == 1 }
}

/// Waits until `what` holds, for things that other threads do in their own time.
pub fn eventually(what: impl Fn() -> bool) -> bool {
    (0..2000).any(|_| {
        what() || {
            std::thread::sleep(std::time::Duration::from_millis(1));
            false
        }
    })
}
