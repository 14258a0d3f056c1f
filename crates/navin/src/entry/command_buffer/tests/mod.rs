//! Recording calls as a guest makes them, through the entry table; no device is open.

use std::ptr::{NonNull, null, null_mut};

use navin_abi::records::state::BlendState;
use navin_abi::records::*;
use navin_abi::types::*;
use navin_abi::{FunctionId, pfn, sizes};
use navin_command::record::immediate::{ClearTarget, ElementMode, FenceMode, SignalMode, StageSlot, TargetCount};
use navin_command::record::payload::*;
use navin_command::record::{Record, U64};
use navin_command::{PieceMemory, Stream};

#[macro_use]
mod arguments;
mod memory;

use arguments::*;

use super::HOST;
use crate::entry::table::entry_point;

const CONTROL: usize = 64 << 10;
const GUARD: u64 = 0x6b6b_6b6b_6b6b_6b6b;

/// A command buffer between guard words, with memory, and what its commands lie in.
struct Guest {
    buffer: *mut NVNcommandBuffer,
    commands: NonNull<u64>,
    pool: *mut NVNmemoryPool,
}

impl PieceMemory for Guest {
    fn host_memory(&self, address: u64, bytes: u32) -> Option<NonNull<u8>> {
        let offset = usize::try_from(address.checked_sub(GPU)?).ok()?;
        // SAFETY: inside the pool.
        (offset + bytes as usize <= COMMANDS).then(|| unsafe { self.commands.cast::<u8>().add(offset) })
    }
}

const OBJECT_WORDS: usize = sizes::MIN_NVNCOMMANDBUFFER / 8;

impl Guest {
    fn new() -> Self {
        let storage = memory(sizes::MIN_NVNCOMMANDBUFFER + 64);
        for i in (0..4).chain(4 + OBJECT_WORDS..8 + OBJECT_WORDS) {
            // SAFETY: inside the storage.
            unsafe { storage.add(i).write(GUARD) };
        }
        // SAFETY: inside the storage.
        let buffer = unsafe { storage.add(4) }.as_ptr().cast();
        let commands = memory(COMMANDS);
        let record = MemoryPoolRecord::new(1, GPU, commands.as_ptr() as u64, COMMANDS as u64, 0x22);
        let guest = Self { buffer, commands, pool: object(&record) };
        let device: *mut NVNdevice = object(&DeviceRecord::new(0));
        assert_eq!(nvn!(nvnCommandBufferInitialize(buffer, device)), NVN_TRUE);
        guest.grant();
        nvn!(nvnCommandBufferAddControlMemory(buffer, memory(CONTROL).as_ptr().cast(), CONTROL));
        guest
    }

    fn grant(&self) {
        nvn!(nvnCommandBufferAddCommandMemory(self.buffer, self.pool, 0, COMMANDS));
    }

    fn begin(&self) {
        nvn!(nvnCommandBufferBeginRecording(self.buffer));
    }

    fn used(&self) -> usize {
        nvn!(nvnCommandBufferGetCommandMemoryUsed(self.buffer))
    }

    fn end(&self) -> u64 {
        nvn!(nvnCommandBufferEndRecording(self.buffer))
    }

    fn flatten(&self, handle: u64) -> Stream {
        navin_command::flatten(&HOST, self, [handle])
    }

    /// The stream of what `record` records.
    fn record(&self, record: impl FnOnce(*mut NVNcommandBuffer)) -> Stream {
        self.begin();
        record(self.buffer);
        let used = self.used();
        let stream = self.flatten(self.end());
        assert_eq!(self.used(), used, "an end takes no command memory");
        stream
    }

    fn guards_are_whole(&self) -> bool {
        let storage = self.buffer.cast::<u64>();
        // SAFETY: inside the storage.
        let word = |at: isize| unsafe { storage.offset(at).read() };
        (0..4).all(|i| word(i - 4) == GUARD && word(OBJECT_WORDS as isize + i) == GUARD)
    }
}

fn reference(serial: u64) -> TextureRef {
    TextureRef { serial: U64::new(serial), view: ViewDesc::NONE }
}

fn range(address: u64, size: u32) -> BufferRange {
    BufferRange { address: U64::new(address), size }
}

#[test]
fn draws_are_recorded() {
    let guest = Guest::new();
    let stream = guest.record(|b| {
        nvn!(nvnCommandBufferDrawArrays(b, NVNdrawPrimitive::TRIANGLES, 3, 6));
        nvn!(nvnCommandBufferDrawArraysInstanced(b, NVNdrawPrimitive::POINTS, 1, 2, 3, 4));
        nvn!(nvnCommandBufferDrawElements(
            b,
            NVNdrawPrimitive::TRIANGLE_STRIP,
            NVNindexType::UNSIGNED_SHORT,
            9,
            0x12_3456_7890
        ));
        nvn!(nvnCommandBufferDrawElementsInstanced(
            b,
            NVNdrawPrimitive::LINES,
            NVNindexType::UNSIGNED_INT,
            2,
            0x100,
            -5,
            6,
            7
        ));
        nvn!(nvnCommandBufferDispatchCompute(b, 1, 2, 3));
        nvn!(nvnCommandBufferDrawArraysIndirect(b, NVNdrawPrimitive::PATCHES, 0x2000));
    });
    let records: Vec<Record> = stream.records().collect();
    assert_eq!(
        records,
        [
            Record::DrawArrays(4, &DrawArrays { first: 3, count: 6 }),
            Record::DrawArraysInstanced(
                0,
                &DrawArraysInstanced { first: 1, count: 2, base_instance: 3, instance_count: 4 }
            ),
            Record::DrawElements(
                ElementMode::new(5, 1),
                &DrawElements { count: 9, index_buffer: U64::new(0x12_3456_7890) }
            ),
            Record::DrawElementsInstanced(
                ElementMode::new(1, 2),
                &DrawElementsInstanced {
                    count: 2,
                    index_buffer: U64::new(0x100),
                    base_vertex: -5,
                    base_instance: 6,
                    instance_count: 7
                }
            ),
            Record::DispatchCompute(&DispatchCompute { groups: [1, 2, 3] }),
            Record::DrawArraysIndirect(14, &DrawArraysIndirect { indirect: U64::new(0x2000) }),
        ]
    );
}

#[test]
fn binds_are_recorded() {
    let guest = Guest::new();
    let fragment = NVNshaderStage::FRAGMENT;
    let ranges = [NVNbufferRange { address: 1, size: 2 }, NVNbufferRange { address: 1 << 33, size: 1 << 33 }];
    let program: *mut NVNprogram = object(&ProgramRecord::new(77));
    let pool: *mut NVNtexturePool = object(&TexturePoolRecord::new(5, 0, 1, 0, 512));
    let blend = BlendState::DEFAULT;
    let stream = guest.record(|b| {
        nvn!(nvnCommandBufferBindProgram(b, program, NVNshaderStageBits::ALL_GRAPHICS_BITS));
        nvn!(nvnCommandBufferBindProgram(b, null(), NVNshaderStageBits::COMPUTE_BIT));
        nvn!(nvnCommandBufferBindUniformBuffer(b, fragment, 2, 0x500, 64));
        nvn!(nvnCommandBufferBindVertexBuffers(b, 14, 2, ranges.as_ptr()));
        nvn!(nvnCommandBufferSetTexturePool(b, pool));
        nvn!(nvnCommandBufferBindBlendState(b, (&raw const blend).cast()));
        nvn!(nvnCommandBufferSetStencilRef(b, NVNface::FRONT_AND_BACK, 0x1ff));
        nvn!(nvnCommandBufferSetStencilMask(b, NVNface::BACK, 3));
        nvn!(nvnCommandBufferSetRenderTargets(
            b,
            3,
            [texture(8), null_mut(), texture(9)].as_ptr().cast(),
            null(),
            texture(10),
            null(),
        ));
        nvn!(nvnCommandBufferSetRenderTargets(b, 0, null(), null(), null(), null()));
    });
    let records: Vec<Record> = stream.records().collect();
    assert_eq!(
        records,
        [
            Record::BindProgram(0x1f, &[Object { serial: U64::new(77) }]),
            Record::BindProgram(0x20, &[]),
            Record::BindUniformBuffers(StageSlot::new(1, 2), &[range(0x500, 64)]),
            Record::BindVertexBuffers(14, &[range(1, 2), range(1 << 33, u32::MAX)]),
            Record::SetTexturePool(&Pool { id: 5 }),
            Record::BindBlendState(&bytemuck::cast(blend)),
            Record::SetStencilRefFront(0xff),
            Record::SetStencilRefBack(0xff),
            Record::SetStencilMaskBack(3),
            Record::SetRenderTargets(
                TargetCount::new(3, true),
                &[reference(8), TextureRef::default(), reference(9), reference(10)]
            ),
            Record::SetRenderTargets(TargetCount::new(0, false), &[]),
        ]
    );
}

#[test]
fn b433_textures_bound_at_once_are_as_bound_one_by_one() {
    let guest = Guest::new();
    let stage = NVNshaderStage::FRAGMENT;
    let handles = [0x1d1u64, 0x2d2, 0x3d3, 0x4d4];
    let at_once = guest.record(|buffer| nvn!(nvnCommandBufferBindTextures(buffer, stage, 3, 4, handles.as_ptr())));
    let one_by_one = guest.record(|buffer| {
        for (index, handle) in (3..).zip(handles) {
            nvn!(nvnCommandBufferBindTexture(buffer, stage, index, handle));
        }
    });
    let mut slots = Vec::new();
    for record in one_by_one.records() {
        let Record::BindTextures(slot, _, [handle]) = record else { panic!("{record:?}") };
        slots.push((slot, *handle));
    }
    let stage = stage.raw() as u8;
    let expected: Vec<_> = (3..).zip(handles).map(|(i, h)| (StageSlot::new(stage, i), h as u32)).collect();
    assert_eq!(slots, expected);
    let records: Vec<Record> = at_once.records().collect();
    let low = handles.map(|handle| handle as u32);
    assert_eq!(records, [Record::BindTextures(StageSlot::new(stage, 3), &HandleGap::default(), &low)]);
}

#[test]
fn b415_only_the_low_half_of_handles_is_recorded() {
    let guest = Guest::new();
    let stage = NVNshaderStage::VERTEX;
    let handle = 0x1_0000_01d1u64;
    let [a, b, c] = [handle, handle + 1, handle + 2];
    let stream = guest.record(|buffer| {
        nvn!(nvnCommandBufferBindTexture(buffer, stage, 0, handle));
        nvn!(nvnCommandBufferBindTextures(buffer, stage, 1, 3, [a, b, c].as_ptr()));
        nvn!(nvnCommandBufferBindSeparateTexture(buffer, stage, 100, NVNseparateTextureHandle { value: handle }));
        nvn!(nvnCommandBufferBindSeparateTextures(buffer, stage, 126, 2, [a, b].as_ptr().cast()));
        nvn!(nvnCommandBufferBindSeparateSampler(buffer, stage, 0, NVNseparateSamplerHandle { value: handle }));
        nvn!(nvnCommandBufferBindSeparateSamplers(buffer, stage, 30, 2, [a, b].as_ptr().cast()));
        nvn!(nvnCommandBufferBindImage(buffer, stage, 7, handle));
        nvn!(nvnCommandBufferBindImages(buffer, stage, 6, 2, [a, b].as_ptr()));
    });
    let at = |slot| StageSlot::new(0, slot);
    let gap = &HandleGap::default();
    let records: Vec<Record> = stream.records().collect();
    assert_eq!(
        records,
        [
            Record::BindTextures(at(0), gap, &[0x1d1]),
            Record::BindTextures(at(1), gap, &[0x1d1, 0x1d2, 0x1d3]),
            Record::BindSeparateTextures(0, &100, &[0x1d1]),
            Record::BindSeparateTextures(0, &126, &[0x1d1, 0x1d2]),
            Record::BindSeparateSamplers(at(0), &[0x1d1]),
            Record::BindSeparateSamplers(at(30), &[0x1d1, 0x1d2]),
            Record::BindImages(at(7), &[0x1d1]),
            Record::BindImages(at(6), &[0x1d1, 0x1d2]),
        ]
    );
}

#[test]
fn b228_a_bound_handle_is_16_bytes_behind_the_noted_position() {
    let guest = Guest::new();
    guest.begin();
    nvn!(nvnCommandBufferSetDepthClamp(guest.buffer, 1));
    let noted = guest.used();
    nvn!(nvnCommandBufferBindTexture(guest.buffer, NVNshaderStage::FRAGMENT, 31, 0xa));
    let handle = guest.end();
    // SAFETY: inside the pool, at a word.
    unsafe { guest.commands.cast::<u8>().add(noted + 0x10).cast::<u32>().write(0xb) };
    let stream = guest.flatten(handle);
    let bound = Record::BindTextures(StageSlot::new(1, 31), &HandleGap::default(), &[0xb]);
    assert_eq!(stream.records().nth(1), Some(bound));
}

#[test]
fn b226_strides_are_state_and_go_with_copies() {
    let guest = Guest::new();
    let area = NVNcopyRegion { xoffset: 1, yoffset: 2, zoffset: 3, width: 4, height: 5, depth: 6 };
    let copy = |b, size: &mut usize| {
        let before = guest.used();
        nvn!(nvnCommandBufferCopyBufferToTexture(b, 0x700, texture(3), null(), &area, NVNcopyFlags(1)));
        *size = guest.used() - before;
    };
    let (mut tight, mut wide) = (0, 0);
    let stream = guest.record(|b| {
        copy(b, &mut tight);
        let used = guest.used();
        nvn!(nvnCommandBufferSetCopyRowStride(b, 1024));
        nvn!(nvnCommandBufferSetCopyImageStride(b, 4096));
        assert_eq!(guest.used(), used);
        assert_eq!(nvn!(nvnCommandBufferGetCopyRowStride(b)), 1024);
        assert_eq!(nvn!(nvnCommandBufferGetCopyImageStride(b)), 4096);
        copy(b, &mut wide);
    });
    assert_eq!((tight, wide), (52, 60));
    let copied = CopyBufferTexture {
        buffer: U64::new(0x700),
        texture: reference(3),
        region: Region { x: 1, y: 2, z: 3, width: 4, height: 5, depth: 6 },
    };
    let strides = CopyStrides { row: 1024, image: 4096 };
    let records: Vec<Record> = stream.records().collect();
    assert_eq!(
        records,
        [Record::CopyBufferToTexture(1, &copied, &[]), Record::CopyBufferToTexture(1, &copied, &[strides])]
    );
}

#[test]
fn uniform_updates_carry_their_bytes() {
    let guest = Guest::new();
    let bytes: Vec<u8> = (0..150_003u32).map(|i| (i * 7) as u8).collect();
    let stream = guest.record(|b| {
        nvn!(nvnCommandBufferUpdateUniformBuffer(b, 0x900, 64, 5, 7, bytes.as_ptr().cast()));
        nvn!(nvnCommandBufferUpdateUniformBuffer(b, 0x900, 200_000, 16, bytes.len(), bytes.as_ptr().cast()));
        // Past the buffer's end, before its start, nothing: none is recorded.
        nvn!(nvnCommandBufferUpdateUniformBuffer(b, 0x900, 64, 60, 8, bytes.as_ptr().cast()));
        nvn!(nvnCommandBufferUpdateUniformBuffer(b, 0x900, 64, -4, 8, bytes.as_ptr().cast()));
        nvn!(nvnCommandBufferUpdateUniformBuffer(b, 0x900, 64, 0, 0, bytes.as_ptr().cast()));
        nvn!(nvnCommandBufferUpdateUniformBuffer(b, 0x900, 64, 0, 8, null()));
    });
    let mut updates = stream.records().map(|record| match record {
        Record::UpdateUniformBuffer(unused, head, words) => {
            let bytes: &[u8] = bytemuck::cast_slice(words);
            (head.offset, bytes[..bytes.len() - usize::from(unused)].to_vec())
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(updates.next(), Some((5, bytes[..7].to_vec())));
    let mut whole = Vec::new();
    for (offset, part) in updates {
        assert_eq!(offset as usize, 16 + whole.len());
        whole.extend(part);
    }
    assert!(whole == bytes);
}

#[test]
fn clears_and_order_are_recorded() {
    let guest = Guest::new();
    let sync: *mut NVNsync = object(&SyncRecord::new(55));
    let event: *mut NVNevent = object(&EventRecord::new(0, 1, 0, 0x8000, 0));
    let stream = guest.record(|b| {
        nvn!(nvnCommandBufferClearColor(b, 7, [0.5f32, 1.0, 2.0, 3.0].as_ptr(), NVNclearColorMask::RGBA));
        nvn!(nvnCommandBufferClearDepthStencil(b, 0.25, 1, 0x1ab, -1));
        nvn!(nvnCommandBufferFenceSync(
            b,
            sync,
            NVNsyncCondition::GRAPHICS_WORLD_SPACE_COMPLETE,
            NVNsyncFlagBits::FLUSH_FOR_CPU_BIT
        ));
        nvn!(nvnCommandBufferWaitSync(b, sync));
        nvn!(nvnCommandBufferSignalEvent(
            b,
            event,
            NVNeventSignalMode::ADD,
            NVNeventSignalLocation::BOTTOM,
            NVNeventSignalFlags::NO_WAIT_MEMORY,
            9
        ));
        nvn!(nvnCommandBufferWaitEvent(b, event, NVNeventWaitMode::GEQUAL_WRAP, 10));
        nvn!(nvnCommandBufferReportCounter(b, NVNcounterType::SAMPLES_PASSED, 0x40));
    });
    let records: Vec<Record> = stream.records().collect();
    let value = |value| EventValue { event: U64::new(0x8000), value };
    assert_eq!(
        records,
        [
            Record::ClearColor(ClearTarget::new(7, 15), &[0.5, 1.0, 2.0, 3.0]),
            Record::ClearDepthStencil(1, &ClearDepthStencil { depth: 0.25, stencil: 0xffab }),
            Record::FenceSync(FenceMode::new(1, 1), &Object { serial: U64::new(55) }),
            Record::WaitSync(&Object { serial: U64::new(55) }),
            Record::SignalEvent(SignalMode::new(1, 2, 1), &value(9)),
            Record::WaitEvent(1, &value(10)),
            Record::ReportCounter(1, &Buffer { address: U64::new(0x40) }),
        ]
    );
    assert_eq!(stream.sections().len(), 4);
}

#[test]
fn b218_b219_the_nvn2_calls_are_there() {
    let guest = Guest::new();
    let stream = guest.record(|b| {
        nvn!(nvnCommandBufferSetFloatBlendClamp(b, 0));
        nvn!(nvnCommandBufferSetFloatBlendClamp(b, 1));
        nvn!(nvnCommandBufferSetRepresentativeFragmentTest(b, 1));
        nvn!(nvnCommandBufferSetRepresentativeFragmentTest(b, 0));
    });
    let records: Vec<Record> = stream.records().collect();
    assert_eq!(
        records,
        [
            Record::SetFloatBlendClamp(0),
            Record::SetFloatBlendClamp(1),
            Record::SetRepresentativeFragmentTest(1),
            Record::SetRepresentativeFragmentTest(0),
        ]
    );
}

#[test]
fn arguments_out_of_range_record_nothing() {
    let guest = Guest::new();
    let faults = navin_abi::fault::count();
    let zeros = [0u64; 512];
    let stream = guest.record(|b| {
        nvn!(nvnCommandBufferDrawArrays(b, NVNdrawPrimitive(15), 0, 3));
        nvn!(nvnCommandBufferDrawArrays(b, NVNdrawPrimitive::LINES, 0, -1));
        nvn!(nvnCommandBufferDrawElements(b, NVNdrawPrimitive::LINES, NVNindexType(3), 3, 0));
        nvn!(nvnCommandBufferBindTexture(b, NVNshaderStage(6), 0, 1));
        nvn!(nvnCommandBufferBindTexture(b, NVNshaderStage(-1), 0, 1));
        nvn!(nvnCommandBufferBindTexture(b, NVNshaderStage::VERTEX, 32, 1));
        nvn!(nvnCommandBufferBindTextures(b, NVNshaderStage::VERTEX, 1, 32, zeros.as_ptr()));
        nvn!(nvnCommandBufferBindTextures(b, NVNshaderStage::VERTEX, i32::MAX, i32::MAX, zeros.as_ptr()));
        nvn!(nvnCommandBufferBindTextures(b, NVNshaderStage::VERTEX, 0, -1, zeros.as_ptr()));
        nvn!(nvnCommandBufferBindTextures(b, NVNshaderStage::VERTEX, 0, 2, null()));
        nvn!(nvnCommandBufferBindVertexBuffer(b, -1, 0, 0));
        nvn!(nvnCommandBufferSetViewports(b, 10, 7, zeros.as_ptr().cast()));
        nvn!(nvnCommandBufferBindVertexAttribState(b, 17, zeros.as_ptr().cast()));
        nvn!(nvnCommandBufferSetPatchSize(b, 33));
        nvn!(nvnCommandBufferClearColor(b, 8, zeros.as_ptr().cast(), NVNclearColorMask::RGBA));
        nvn!(nvnCommandBufferBindPolygonState(b, null()));
        nvn!(nvnCommandBufferSetRenderTargets(b, 9, zeros.as_ptr().cast(), null(), null(), null()));
        nvn!(nvnCommandBufferSetRenderTargets(b, 1, null(), null(), null(), null()));
        nvn!(nvnCommandBufferCopyBufferToTexture(b, 0, zeros.as_ptr().cast(), null(), null(), NVNcopyFlags(0)));
        nvn!(nvnCommandBufferWaitSync(b, zeros.as_ptr().cast()));
    });
    assert!(stream.is_empty());
    assert!(navin_abi::fault::count() - faults >= 20);
    // An empty range is no fault and no record.
    let stream = guest.record(|b| nvn!(nvnCommandBufferBindTextures(b, NVNshaderStage::VERTEX, 0, 0, null())));
    assert!(stream.is_empty());
}

#[test]
fn command_memory_outside_its_pool_is_not_added() {
    let guest = Guest::new();
    for (offset, size) in [(-4isize, 512usize), (0, COMMANDS + 1), (COMMANDS as isize, 4), (8, usize::MAX)] {
        nvn!(nvnCommandBufferAddCommandMemory(guest.buffer, guest.pool, offset, size));
        assert_eq!(nvn!(nvnCommandBufferGetCommandMemorySize(guest.buffer)), COMMANDS);
    }
    let dead: *mut NVNmemoryPool = object(&0u64);
    nvn!(nvnCommandBufferAddCommandMemory(guest.buffer, dead, 0, 512));
    assert_eq!(nvn!(nvnCommandBufferGetCommandMemorySize(guest.buffer)), COMMANDS);
    assert_eq!(nvn!(nvnCommandBufferInitialize(guest.buffer, object(&0u64))), NVN_FALSE);
}

#[test]
fn the_memory_callback_is_called_and_can_add() {
    extern "C" fn add(
        buffer: *mut NVNcommandBuffer,
        event: NVNcommandBufferMemoryEvent,
        bytes: usize,
        data: *mut std::ffi::c_void,
    ) {
        assert_eq!(event, NVNcommandBufferMemoryEvent::OUT_OF_COMMAND_MEMORY);
        assert!(bytes >= 512);
        nvn!(nvnCommandBufferAddCommandMemory(buffer, data.cast(), 4096, 4096));
    }
    let guest = Guest::new();
    nvn!(nvnCommandBufferAddCommandMemory(guest.buffer, guest.pool, 0, 512));
    nvn!(nvnCommandBufferSetMemoryCallback(guest.buffer, Some(add)));
    nvn!(nvnCommandBufferSetMemoryCallbackData(guest.buffer, guest.pool.cast()));
    assert_eq!(
        nvn!(nvnCommandBufferGetMemoryCallback(guest.buffer)).map(|f| f as usize),
        Some(add as *const () as usize)
    );
    let stream = guest.record(|b| {
        for i in 0..100 {
            nvn!(nvnCommandBufferDrawArrays(b, NVNdrawPrimitive::LINES, i, 1));
        }
    });
    assert_eq!(stream.records().count(), 100);
    assert_eq!(nvn!(nvnCommandBufferGetCommandMemorySize(guest.buffer)), 4096);
}

/// Functions that record nothing, whatever they are given.
const WITHOUT_RECORD: &[&str] = &[
    "AddCommandMemory",
    "AddControlMemory",
    "BeginRecording",
    "BindShadingRateImage",
    "CallCommands",
    "CopyCommands",
    "EndRecording",
    "Finalize",
    "Initialize",
    "IsRecording",
    "SetCopyImageStride",
    "SetCopyRowStride",
    "SetDebugLabel",
    "SetMemoryCallback",
    "SetMemoryCallbackData",
    // With every number 1 the update is past the buffer's end; it has a test of its own.
    "UpdateUniformBuffer",
];

fn records(name: &str) -> bool {
    let name = name.trim_start_matches("nvnCommandBuffer");
    !WITHOUT_RECORD.contains(&name) && !name.starts_with("Get") && !name.contains("Debug")
}

#[test]
fn every_command_survives_any_argument() {
    for (name, call) in commands() {
        for pointers in [Pointers::Null, Pointers::Zeros, Pointers::Garbage, Pointers::Live] {
            for number in [0, 1, 2, -1, 40, i64::from(i32::MIN)] {
                let guest = Guest::new();
                guest.begin();
                call(&Arguments { guest: guest.buffer, pointers, number });
                assert!(guest.guards_are_whole(), "{name} with {pointers:?} and {number}");
                if name != "nvnCommandBufferFinalize" && name != "nvnCommandBufferInitialize" {
                    let handle = guest.end();
                    assert!(handle != 0 || name.ends_with("EndRecording"), "{name}");
                    assert!(guest.flatten(handle).records().count() <= 2, "{name}");
                }
            }
        }
        // Objects that are none.
        for command_buffer in [null_mut(), memory(256).as_ptr().cast(), object(&[0xccu8; 256])] {
            call(&Arguments { guest: command_buffer, pointers: Pointers::Live, number: 1 });
        }
    }
}

#[test]
fn every_command_records_what_it_is_given() {
    for (name, call) in commands().filter(|(name, _)| records(name)) {
        let guest = Guest::new();
        let stream = guest.record(|buffer| call(&Arguments { guest: buffer, pointers: Pointers::Live, number: 1 }));
        let recorded: Vec<_> = stream.records().map(|record| record.name()).collect();
        let [only] = recorded[..] else { panic!("{name} recorded {recorded:?}") };
        // Single and plural forms, and variants with a view, share a record: the names begin alike.
        let short = name.trim_start_matches("nvnCommandBuffer").trim_start_matches("Tiled");
        assert!(only.starts_with(&short[..6.min(short.len())]), "{name} recorded {only}");
    }
}
