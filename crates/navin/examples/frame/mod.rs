//! A guest's frame of draws, each with another uniform buffer range and another texture, through the entry points:
//! what `callgrind_replay` and the bench `replay_draws` record, submit and wait for.

#![allow(dead_code, reason = "each program uses a part")]

use std::alloc::{Layout, alloc_zeroed};
use std::ffi::c_void;
use std::ptr::null;

use navin::entry::table::entry_point;
use navin_abi::enums::*;
use navin_abi::types::*;
use navin_abi::{FunctionId, GuestPtr, pfn};

/// Draws that the command memory holds.
pub const MAX_DRAWS: u32 = 1000;
const SIDE: usize = 64;
const PAGE: usize = 4096;

static VERTEX_CONTROL: &[u8] = include_bytes!("../../../../tests/corpus/bin/vs_transform.control");
static VERTEX_CODE: &[u8] = include_bytes!("../../../../tests/corpus/bin/vs_transform.code");
static FRAGMENT_CONTROL: &[u8] = include_bytes!("../../../../tests/corpus/bin/tex_2d.control");
static FRAGMENT_CODE: &[u8] = include_bytes!("../../../../tests/corpus/bin/tex_2d.code");

/// Calls an NVN function as its own type.
macro_rules! nvn {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the table's entry of this name has this type.
        let function: pfn::$name = unsafe { std::mem::transmute(entry_point(FunctionId::$name)) };
        // SAFETY: this program keeps NVN's rules: objects live, memory as large as it says.
        unsafe { function($($argument),*) }
    }};
}

/// As `nvn!`, for calls that answer whether they worked.
macro_rules! must {
    ($name:ident($($argument:expr),* $(,)?)) => {
        assert_ne!(nvn!($name($($argument),*)), 0, concat!(stringify!($name), " answers false"))
    };
}

/// Zeroed memory for a guest object or a pool, never freed.
fn memory(size: usize) -> *mut u8 {
    let layout = Layout::from_size_align(size, PAGE).expect("a size");
    // SAFETY: the size is not 0.
    let pointer = unsafe { alloc_zeroed(layout) };
    assert!(!pointer.is_null(), "no memory");
    pointer
}

fn object<T>() -> *mut T {
    // The largest object, NVNdevice, has 12,288 bytes.
    memory(12_288).cast()
}

struct Pool {
    object: *mut NVNmemoryPool,
    memory: *mut u8,
    address: u64,
}

fn pool(device: *mut NVNdevice, size: usize, flags: NVNmemoryPoolFlags) -> Pool {
    let memory = memory(size);
    let builder = object();
    nvn!(nvnMemoryPoolBuilderSetDefaults(builder));
    nvn!(nvnMemoryPoolBuilderSetDevice(builder, device));
    nvn!(nvnMemoryPoolBuilderSetFlags(builder, flags));
    nvn!(nvnMemoryPoolBuilderSetStorage(builder, memory.cast::<c_void>(), size));
    let object = object();
    must!(nvnMemoryPoolInitialize(object, builder));
    Pool { object, memory, address: nvn!(nvnMemoryPoolGetBufferAddress(object)) }
}

fn texture(device: *mut NVNdevice, pool: &Pool, offset: isize) -> *mut NVNtexture {
    let builder = object();
    nvn!(nvnTextureBuilderSetDefaults(builder));
    nvn!(nvnTextureBuilderSetDevice(builder, device));
    nvn!(nvnTextureBuilderSetTarget(builder, NVNtextureTarget(1)));
    nvn!(nvnTextureBuilderSetFormat(builder, NVNformat::RGBA8));
    nvn!(nvnTextureBuilderSetSize2D(builder, SIDE as i32, SIDE as i32));
    nvn!(nvnTextureBuilderSetStorage(builder, pool.object, offset));
    let texture = object();
    must!(nvnTextureInitialize(texture, builder));
    texture
}

/// Everything the frame needs, made once.
pub struct Frame {
    device: *mut NVNdevice,
    /// Where timestamps go.
    report: *const u8,
    queue: *mut NVNqueue,
    buffer: *mut NVNcommandBuffer,
    commands: Pool,
    control: *mut u8,
    texture_pool: *mut NVNtexturePool,
    sampler_pool: *mut NVNsamplerPool,
    target: *mut NVNtexture,
    program: *mut NVNprogram,
    attributes: *mut NVNvertexAttribState,
    stream: *mut NVNvertexStreamState,
    vertices: u64,
    uniforms: u64,
    handles: [NVNtextureHandle; 2],
}

impl Frame {
    /// Opens the device and makes the objects.
    pub fn new() -> Self {
        let (builder, device) = (object(), object());
        nvn!(nvnDeviceBuilderSetDefaults(builder));
        must!(nvnDeviceInitialize(device, builder));
        let queue_builder = object();
        nvn!(nvnQueueBuilderSetDefaults(queue_builder));
        nvn!(nvnQueueBuilderSetDevice(queue_builder, device));
        let queue = object();
        must!(nvnQueueInitialize(queue, queue_builder));

        let cached = NVNmemoryPoolFlags::CPU_UNCACHED | NVNmemoryPoolFlags::GPU_CACHED;
        let code = pool(device, 64 * PAGE, cached | NVNmemoryPoolFlags::SHADER_CODE);
        let data = pool(device, 1024 * PAGE, cached);
        let commands = pool(device, 1024 * PAGE, cached);

        // SAFETY: both programs fit the pool.
        unsafe {
            code.memory.copy_from_nonoverlapping(VERTEX_CODE.as_ptr(), VERTEX_CODE.len());
            code.memory.add(16 * PAGE).copy_from_nonoverlapping(FRAGMENT_CODE.as_ptr(), FRAGMENT_CODE.len());
        }
        let program = object();
        must!(nvnProgramInitialize(program, device));
        let stages = [
            NVNshaderData { data: code.address, control: GuestPtr::from_host(VERTEX_CONTROL.as_ptr().cast()) },
            NVNshaderData {
                data: code.address + 16 * PAGE as u64,
                control: GuestPtr::from_host(FRAGMENT_CONTROL.as_ptr().cast()),
            },
        ];
        must!(nvnProgramSetShaders(program, 2, stages.as_ptr()));

        // The data pool: textures, descriptor pools, vertices, then the uniform ranges.
        let target = texture(device, &data, 0);
        let textures = [texture(device, &data, 0x8000), texture(device, &data, 0x1_0000)];
        let (texture_pool, sampler_pool) = (object(), object());
        must!(nvnTexturePoolInitialize(texture_pool, data.object, 0x2_0000, 512));
        must!(nvnSamplerPoolInitialize(sampler_pool, data.object, 0x3_0000, 512));
        let sampler_builder = object();
        nvn!(nvnSamplerBuilderSetDefaults(sampler_builder));
        nvn!(nvnSamplerBuilderSetDevice(sampler_builder, device));
        let sampler = object();
        must!(nvnSamplerInitialize(sampler, sampler_builder));
        nvn!(nvnSamplerPoolRegisterSampler(sampler_pool, 256, sampler));
        for (id, texture) in (256..).zip(textures) {
            nvn!(nvnTexturePoolRegisterTexture(texture_pool, id, texture, null()));
        }
        let handles = [256, 257].map(|id| nvn!(nvnDeviceGetTextureHandle(device, id, 256)));
        let (vertices, uniforms) = (data.address + 0x4_0000, data.address + 0x5_0000);

        let attributes: *mut NVNvertexAttribState = object();
        for index in 0..2 {
            // The states are four bytes each, one after the other.
            let attribute = attributes.cast::<u32>().wrapping_add(index).cast();
            nvn!(nvnVertexAttribStateSetDefaults(attribute));
            nvn!(nvnVertexAttribStateSetFormat(attribute, NVNformat::RGBA32F, 16 * index as isize));
        }
        let stream = object();
        nvn!(nvnVertexStreamStateSetDefaults(stream));
        nvn!(nvnVertexStreamStateSetStride(stream, 32));

        let buffer = object();
        must!(nvnCommandBufferInitialize(buffer, device));
        let control = memory(16 * PAGE);
        Self {
            device,
            // Where the vertices are, which no timed draw reads.
            report: data.memory.wrapping_add(0x4_0000),
            queue,
            buffer,
            commands,
            control,
            texture_pool,
            sampler_pool,
            target,
            program,
            attributes,
            stream,
            vertices,
            uniforms,
            handles,
        }
    }

    /// Records a frame of `draws` draws, at most [`MAX_DRAWS`], over the one before it.
    pub fn record(&self, draws: u32) -> NVNcommandHandle {
        let buffer = self.buffer;
        nvn!(nvnCommandBufferAddCommandMemory(buffer, self.commands.object, 0, 1024 * PAGE));
        nvn!(nvnCommandBufferAddControlMemory(buffer, self.control.cast::<c_void>(), 16 * PAGE));
        nvn!(nvnCommandBufferBeginRecording(buffer));
        nvn!(nvnCommandBufferSetTexturePool(buffer, self.texture_pool));
        nvn!(nvnCommandBufferSetSamplerPool(buffer, self.sampler_pool));
        let targets = [self.target.cast_const()];
        nvn!(nvnCommandBufferSetRenderTargets(buffer, 1, targets.as_ptr(), null(), null(), null()));
        nvn!(nvnCommandBufferSetViewport(buffer, 0, 0, SIDE as i32, SIDE as i32));
        nvn!(nvnCommandBufferSetScissor(buffer, 0, 0, SIDE as i32, SIDE as i32));
        nvn!(nvnCommandBufferSetRasterizerDiscard(buffer, 1));
        nvn!(nvnCommandBufferBindProgram(buffer, self.program, NVNshaderStageBits(3)));
        nvn!(nvnCommandBufferBindVertexAttribState(buffer, 2, self.attributes));
        nvn!(nvnCommandBufferBindVertexStreamState(buffer, 1, self.stream));
        nvn!(nvnCommandBufferBindVertexBuffer(buffer, 0, self.vertices, 96));
        draw(buffer, draws.min(MAX_DRAWS), self.uniforms, &self.handles);
        nvn!(nvnCommandBufferEndRecording(buffer))
    }

    /// Records what gives the GPU next to nothing to do: a clear of 256 bytes, then a timestamp.
    pub fn record_timestamp(&self) -> NVNcommandHandle {
        let buffer = self.buffer;
        nvn!(nvnCommandBufferAddCommandMemory(buffer, self.commands.object, 0, 1024 * PAGE));
        nvn!(nvnCommandBufferAddControlMemory(buffer, self.control.cast::<c_void>(), 16 * PAGE));
        nvn!(nvnCommandBufferBeginRecording(buffer));
        nvn!(nvnCommandBufferClearBuffer(buffer, self.uniforms, 256, 0));
        nvn!(nvnCommandBufferReportCounter(buffer, NVNcounterType::TIMESTAMP, self.vertices));
        nvn!(nvnCommandBufferEndRecording(buffer))
    }

    /// Records as good as nothing.
    pub fn record_nothing(&self) -> NVNcommandHandle {
        let buffer = self.buffer;
        nvn!(nvnCommandBufferAddCommandMemory(buffer, self.commands.object, 0, 1024 * PAGE));
        nvn!(nvnCommandBufferAddControlMemory(buffer, self.control.cast::<c_void>(), 16 * PAGE));
        nvn!(nvnCommandBufferBeginRecording(buffer));
        nvn!(nvnCommandBufferSetLineWidth(buffer, 1.0));
        nvn!(nvnCommandBufferEndRecording(buffer))
    }

    /// Submits a recording.
    pub fn submit(&self, recording: NVNcommandHandle) {
        nvn!(nvnQueueSubmitCommands(self.queue, 1, &raw const recording));
    }

    /// Waits for everything submitted.
    pub fn finish(&self) {
        nvn!(nvnQueueFinish(self.queue));
    }

    /// A sync, never fenced.
    pub fn sync(&self) -> *mut NVNsync {
        let sync = object();
        must!(nvnSyncInitialize(sync, self.device));
        sync
    }

    /// Submits a recording of [`record_timestamp`](Self::record_timestamp) and waits for its sync; nanoseconds from
    /// the GPU's timestamp to the wait's return.
    pub fn wake(&self, recording: NVNcommandHandle, sync: *mut NVNsync) -> u64 {
        self.submit(recording);
        nvn!(nvnQueueFenceSync(self.queue, sync, NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, NVNsyncFlagBits(0)));
        nvn!(nvnSyncWait(sync, u64::MAX));
        let now = nvn!(nvnDeviceGetCurrentTimestampInNanoseconds(self.device));
        let report = self.report.cast::<NVNcounterData>();
        now.saturating_sub(nvn!(nvnDeviceGetTimestampInNanoseconds(self.device, report)))
    }

    /// The words of the last recording, in command memory, and all of control memory.
    pub fn words(&self) -> (*mut u32, usize, *mut u64, usize) {
        let used = nvn!(nvnCommandBufferGetCommandMemoryUsed(self.buffer));
        (self.commands.memory.cast(), used / 4, self.control.cast(), 16 * PAGE / 8)
    }

    /// Submits a recording and waits for it: flattened, replayed, encoded and run.
    pub fn run(&self, recording: NVNcommandHandle) {
        nvn!(nvnQueueSubmitCommands(self.queue, 1, &raw const recording));
        nvn!(nvnQueueFinish(self.queue));
    }
}

/// The draws of a frame, in a function of its own so that a profile can tell recording from the rest.
#[inline(never)]
fn draw(buffer: *mut NVNcommandBuffer, draws: u32, uniforms: u64, handles: &[NVNtextureHandle]) {
    for index in 0..draws {
        let range = uniforms + u64::from(index % 256) * 256;
        nvn!(nvnCommandBufferBindUniformBuffer(buffer, NVNshaderStage(0), 0, range, 256));
        nvn!(nvnCommandBufferBindTexture(buffer, NVNshaderStage(1), 0, handles[index as usize % handles.len()]));
        nvn!(nvnCommandBufferDrawArrays(buffer, NVNdrawPrimitive::TRIANGLES, 0, 3));
    }
}
