//! A guest that draws: device, queue, a pool, programs of the corpus, a colour and a depth target, and what comes out
//! of them. Each test makes its own; the driver behind them is one.
#![allow(dead_code, reason = "each test program uses a part")]

use std::alloc::{Layout, alloc_zeroed};
use std::ptr::null;

use navin_abi::GuestPtr;
use navin_abi::enums::{NVNclearColorMask, NVNface, NVNformat, NVNmemoryPoolFlags, NVNtextureFlags, NVNtextureTarget};
use navin_abi::types::*;
use nvn::trampolines::*;

const POOL_BYTES: usize = 16 << 20;
const CODE_BYTES: usize = 1 << 20;
const CONTROL_BYTES: usize = 1 << 16;
const COMMAND_BYTES: usize = 1 << 20;
/// Width and height of the targets.
pub const SIDE: i32 = 64;
/// Bytes of a [`Vertex`].
pub const STRIDE: isize = 32;

/// Position (clip space) and attribute 1, which `aux_vs_v0` hands on and `aux_fs_f1` draws.
pub type Vertex = [[f32; 4]; 2];

/// Zeroed storage that is never freed, aligned to a page.
pub fn storage<T>(bytes: usize) -> *mut T {
    let layout = Layout::from_size_align(bytes.max(1), 4096).unwrap();
    // SAFETY: the layout's size is not zero.
    let memory = unsafe { alloc_zeroed(layout) };
    assert!(!memory.is_null());
    memory.cast()
}

/// An object as large as `nvn.h` declares any.
pub fn object<T>() -> *mut T {
    storage(16384)
}

pub struct Guest {
    pub device: *mut NVNdevice,
    pub queue: *mut NVNqueue,
    pub pool: *mut NVNmemoryPool,
    pub memory: *mut u8,
    pub commands: *mut NVNcommandBuffer,
    pub target: *mut NVNtexture,
    pub depth: *mut NVNtexture,
    pub texture_pool: *mut NVNtexturePool,
    pub sampler_pool: *mut NVNsamplerPool,
    control: *mut core::ffi::c_void,
    code: (*mut NVNmemoryPool, *mut u8, usize),
    used: usize,
    attributes: *mut NVNvertexAttribState,
    stream: *mut NVNvertexStreamState,
}

impl Guest {
    pub fn new() -> Self {
        // SAFETY: all objects are zeroed storage of sufficient size that stays.
        unsafe {
            let (builder, device) = (object(), object());
            nvnDeviceBuilderSetDefaults(builder);
            assert_eq!(nvnDeviceInitialize(device, builder), NVN_TRUE, "a Vulkan device is needed");
            let flags = NVNmemoryPoolFlags::CPU_CACHED | NVNmemoryPoolFlags::GPU_CACHED;
            let (pool, memory) = memory_pool(device, POOL_BYTES, flags);
            let (code, code_memory) = memory_pool(device, CODE_BYTES, flags | NVNmemoryPoolFlags::SHADER_CODE);
            let commands = object();
            assert_eq!(nvnCommandBufferInitialize(commands, device), NVN_TRUE);
            let (texture_pool, sampler_pool) = (object(), object());
            let mut guest = Self {
                device,
                queue: queue(device),
                pool,
                memory,
                commands,
                target: std::ptr::null_mut(),
                depth: std::ptr::null_mut(),
                texture_pool,
                sampler_pool,
                control: storage(CONTROL_BYTES),
                code: (code, code_memory, 0),
                used: COMMAND_BYTES,
                attributes: object(),
                stream: object(),
            };
            let at = guest.take(32 * 512);
            assert_eq!(nvnTexturePoolInitialize(texture_pool, pool, at as isize, 512), NVN_TRUE);
            let at = guest.take(32 * 512);
            assert_eq!(nvnSamplerPoolInitialize(sampler_pool, pool, at as isize, 512), NVN_TRUE);
            guest.target = guest.texture(NVNformat::RGBA8, SIDE, SIDE);
            guest.depth = guest.texture(NVNformat::DEPTH32F, SIDE, SIDE);
            for index in 0..2 {
                // The states are four bytes each, one after the other.
                let attribute = guest.attributes.cast::<u32>().wrapping_add(index).cast();
                nvnVertexAttribStateSetDefaults(attribute);
                nvnVertexAttribStateSetFormat(attribute, NVNformat::RGBA32F, 16 * index as isize);
            }
            nvnVertexStreamStateSetDefaults(guest.stream);
            nvnVertexStreamStateSetStride(guest.stream, STRIDE);
            guest
        }
    }

    /// Bytes of the pool, from an offset that is a multiple of 4096.
    pub fn take(&mut self, bytes: usize) -> usize {
        let at = self.used;
        self.used += bytes.next_multiple_of(4096);
        assert!(self.used <= POOL_BYTES);
        at
    }

    pub fn texture(&mut self, format: NVNformat, width: i32, height: i32) -> *mut NVNtexture {
        // SAFETY: as in `new`.
        unsafe {
            let (builder, texture) = (object(), object());
            nvnTextureBuilderSetDefaults(builder);
            nvnTextureBuilderSetDevice(builder, self.device);
            nvnTextureBuilderSetTarget(builder, NVNtextureTarget::TARGET_2D);
            nvnTextureBuilderSetFormat(builder, format);
            nvnTextureBuilderSetSize2D(builder, width, height);
            nvnTextureBuilderSetFlags(builder, NVNtextureFlags(0));
            let offset = self.take(nvnTextureBuilderGetStorageSize(builder).next_multiple_of(1 << 16) + (1 << 16));
            let offset = offset.next_multiple_of(1 << 16);
            nvnTextureBuilderSetStorage(builder, self.pool, offset as isize);
            assert_eq!(nvnTextureInitialize(texture, builder), NVN_TRUE);
            texture
        }
    }

    /// A program of these stages of the corpus.
    pub fn program(&mut self, names: &[&str]) -> *mut NVNprogram {
        let package = std::env::var("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").to_owned());
        let folder = format!("{package}/../../tests/corpus/bin");
        let read = |name: &str, part: &str| std::fs::read(format!("{folder}/{name}.{part}")).unwrap();
        let stages: Vec<_> = names.iter().map(|name| (read(name, "code"), read(name, "control"))).collect();
        self.program_of(&stages)
    }

    /// A program of these stages: code and control section of each.
    pub fn program_of(&mut self, stages: &[(Vec<u8>, Vec<u8>)]) -> *mut NVNprogram {
        // SAFETY: as in `new`; the code fits its pool.
        unsafe {
            let program = object();
            assert_eq!(nvnProgramInitialize(program, self.device), NVN_TRUE);
            let base = nvnMemoryPoolGetBufferAddress(self.code.0);
            let stages: Vec<NVNshaderData> = stages
                .iter()
                .map(|(code, control)| {
                    let at = self.code.2;
                    self.code.2 += code.len().next_multiple_of(4096);
                    assert!(self.code.2 <= CODE_BYTES);
                    self.code.1.add(at).copy_from_nonoverlapping(code.as_ptr(), code.len());
                    NVNshaderData {
                        data: base + at as u64,
                        control: GuestPtr::from_host(control.clone().leak().as_ptr().cast()),
                    }
                })
                .collect();
            assert_eq!(nvnProgramSetShaders(program, stages.len() as i32, stages.as_ptr()), NVN_TRUE);
            program
        }
    }

    /// Records, submits and waits.
    pub fn run(&self, record: impl FnOnce(*mut NVNcommandBuffer)) {
        self.submit(self.queue, record);
        // SAFETY: a live queue.
        unsafe { nvnQueueFinish(self.queue) };
    }

    /// Records and submits; the commands must have run before the next recording.
    pub fn submit(&self, queue: *mut NVNqueue, record: impl FnOnce(*mut NVNcommandBuffer)) {
        // SAFETY: as in `new`; the lent memory is the command buffer's alone.
        unsafe {
            nvnCommandBufferAddCommandMemory(self.commands, self.pool, 0, COMMAND_BYTES);
            nvnCommandBufferAddControlMemory(self.commands, self.control, CONTROL_BYTES);
            nvnCommandBufferBeginRecording(self.commands);
            record(self.commands);
            let handle = nvnCommandBufferEndRecording(self.commands);
            assert_ne!(handle, 0);
            nvnQueueSubmitCommands(queue, 1, &handle);
        }
    }

    /// Binds the targets, viewport, program and vertex layout, and clears to black and depth 1.
    pub fn begin(&self, c: *mut NVNcommandBuffer, program: *const NVNprogram) {
        let targets = [self.target.cast_const()];
        // SAFETY: as in `new`.
        unsafe {
            nvnCommandBufferSetTexturePool(c, self.texture_pool);
            nvnCommandBufferSetSamplerPool(c, self.sampler_pool);
            nvnCommandBufferSetRenderTargets(c, 1, targets.as_ptr(), null(), self.depth, null());
            nvnCommandBufferSetViewport(c, 0, 0, SIDE, SIDE);
            nvnCommandBufferSetScissor(c, 0, 0, SIDE, SIDE);
            nvnCommandBufferClearColor(c, 0, [0.0f32; 4].as_ptr(), NVNclearColorMask::RGBA);
            nvnCommandBufferClearDepthStencil(c, 1.0, NVN_TRUE, 0, 0);
            nvnCommandBufferBindProgram(c, program, NVNshaderStageBits(0x1f));
            nvnCommandBufferBindVertexAttribState(c, 2, self.attributes);
            nvnCommandBufferBindVertexStreamState(c, 1, self.stream);
        }
    }

    /// Depth test with this function, writing.
    pub fn depth_test(&self, c: *mut NVNcommandBuffer, function: NVNdepthFunc) {
        // SAFETY: as in `new`.
        unsafe {
            let state = object();
            nvnDepthStencilStateSetDefaults(state);
            nvnDepthStencilStateSetDepthTestEnable(state, NVN_TRUE);
            nvnDepthStencilStateSetDepthWriteEnable(state, NVN_TRUE);
            nvnDepthStencilStateSetDepthFunc(state, function);
            nvnCommandBufferBindDepthStencilState(c, state);
            let polygon = object();
            nvnPolygonStateSetDefaults(polygon);
            nvnPolygonStateSetCullFace(polygon, NVNface::NONE);
            nvnCommandBufferBindPolygonState(c, polygon);
        }
    }

    /// Puts vertices into the pool; their GPU address.
    pub fn vertices(&mut self, vertices: &[Vertex]) -> u64 {
        let bytes: Vec<u8> = vertices.iter().flatten().flatten().flat_map(|f| f.to_le_bytes()).collect();
        self.bytes(&bytes)
    }

    /// Puts bytes into the pool; their GPU address.
    pub fn bytes(&mut self, bytes: &[u8]) -> u64 {
        let at = self.take(bytes.len());
        // SAFETY: inside the pool.
        unsafe { self.memory.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.address(at)
    }

    pub fn address(&self, offset: usize) -> u64 {
        // SAFETY: a live pool.
        unsafe { nvnMemoryPoolGetBufferAddress(self.pool) + offset as u64 }
    }

    /// The pool's memory at a GPU address.
    pub fn at<T: Copy>(&self, address: u64) -> T {
        // SAFETY: inside the pool's storage.
        unsafe { self.memory.add((address - self.address(0)) as usize).cast::<T>().read_volatile() }
    }

    pub fn put<T: Copy>(&self, address: u64, value: T) {
        // SAFETY: inside the pool's storage.
        unsafe { self.memory.add((address - self.address(0)) as usize).cast::<T>().write_volatile(value) }
    }

    pub fn sync(&self) -> *mut NVNsync {
        let sync = object();
        // SAFETY: as in `new`.
        unsafe { assert_eq!(nvnSyncInitialize(sync, self.device), NVN_TRUE) };
        sync
    }

    /// The colour target's texels, row 0 being the lowest.
    pub fn pixels(&self) -> Vec<[u8; 4]> {
        let mut pixels = vec![[0u8; 4]; (SIDE * SIDE) as usize];
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: SIDE, height: SIDE, depth: 1 };
        // SAFETY: a live texture; the texels fit.
        unsafe { nvnTextureReadTexels(self.target, null(), &all, pixels.as_mut_ptr().cast()) };
        pixels
    }

    /// The value and the time of a report.
    pub fn report(&self, address: u64) -> NVNcounterData {
        self.at(address)
    }

    /// A report's time in nanoseconds.
    pub fn nanoseconds(&self, report: &NVNcounterData) -> u64 {
        // SAFETY: live objects.
        unsafe { nvnDeviceGetTimestampInNanoseconds(self.device, report) }
    }
}

pub fn queue(device: *mut NVNdevice) -> *mut NVNqueue {
    // SAFETY: zeroed storage of sufficient size.
    unsafe {
        let (builder, queue) = (object(), object());
        nvnQueueBuilderSetDefaults(builder);
        nvnQueueBuilderSetDevice(builder, device);
        assert_eq!(nvnQueueInitialize(queue, builder), NVN_TRUE);
        queue
    }
}

pub fn memory_pool(device: *mut NVNdevice, bytes: usize, flags: NVNmemoryPoolFlags) -> (*mut NVNmemoryPool, *mut u8) {
    // SAFETY: zeroed storage of sufficient size.
    unsafe {
        let (builder, pool, memory) = (object(), object(), storage::<u8>(bytes));
        nvnMemoryPoolBuilderSetDefaults(builder);
        nvnMemoryPoolBuilderSetDevice(builder, device);
        nvnMemoryPoolBuilderSetFlags(builder, flags);
        nvnMemoryPoolBuilderSetStorage(builder, memory.cast(), bytes);
        assert_eq!(nvnMemoryPoolInitialize(pool, builder), NVN_TRUE);
        (pool, memory)
    }
}

/// A rectangle of pixels as two triangles, at a depth, in a colour.
pub fn rectangle(x: i32, y: i32, width: i32, height: i32, depth: f32, color: [f32; 4]) -> Vec<Vertex> {
    let clip = |pixel: i32| 2.0 * pixel as f32 / SIDE as f32 - 1.0;
    let (left, right, low, high) = (clip(x), clip(x + width), clip(y), clip(y + height));
    [[left, low], [right, low], [right, high], [left, low], [right, high], [left, high]]
        .map(|[x, y]| [[x, y, depth, 1.0], color])
        .to_vec()
}

pub const WHITE: [f32; 4] = [1.0; 4];
