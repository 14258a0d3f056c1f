//! Buffers (B103), pools (B427), events, queue builders (B217), windows (B428), views (B435).

use navin_abi::records::{SamplerPoolRecord, TexturePoolRecord, WindowRecord};
use navin_abi::sizes;
use navin_abi::types::*;

use super::{Guarded, call, pool};

/// A page-aligned storage of `pages` pages.
fn storage(pages: usize) -> (Vec<u8>, std::ops::Range<usize>) {
    let memory = vec![0u8; (pages + 1) * 4096];
    let start = (4096 - memory.as_ptr() as usize % 4096) % 4096;
    (memory, start..start + pages * 4096)
}

fn buffer_builder(pool: &mut Guarded, offset: isize, size: usize) -> Guarded {
    let mut builder = Guarded::new(sizes::MIN_NVNBUFFERBUILDER, 0);
    call!(nvnBufferBuilderSetDefaults(builder.at()));
    call!(nvnBufferBuilderSetStorage(builder.at(), pool.at(), offset, size));
    builder
}

#[test]
fn b103_a_buffer_moves_with_two_stores() {
    for flags in [0x22, 0x21] {
        let (mut memory, range) = storage(16);
        let mut pool = pool(&mut memory[range], flags);
        let start = call!(nvnMemoryPoolMap(pool.at())) as usize;
        let base = call!(nvnMemoryPoolGetBufferAddress(pool.at()));
        let mut builder = buffer_builder(&mut pool, 0x100, 0x200);
        let mut buffer = Guarded::new(sizes::MIN_NVNBUFFER, 0xcc);
        let mut other = Guarded::new(sizes::MIN_NVNBUFFER, 0xcc);
        assert_eq!(call!(nvnBufferInitialize(buffer.at(), builder.at())), 1);
        assert_eq!(call!(nvnBufferInitialize(other.at(), builder.at())), 1);
        for (offset, size) in [(0x100u64, 0x200u64), (0x4000, 0x10), (0, 0x1_0000), (0x8800, 0x100)] {
            let at = buffer.start;
            buffer.bytes[at + 0x18..at + 0x20].copy_from_slice(&offset.to_le_bytes());
            buffer.bytes[at + 0x20..at + 0x28].copy_from_slice(&size.to_le_bytes());
            assert_eq!(call!(nvnBufferGetAddress(buffer.at())), base + offset);
            assert_eq!(call!(nvnBufferGetSize(buffer.at())), size as usize);
            assert_eq!(call!(nvnBufferGetMemoryOffset(buffer.at())), offset as isize);
            assert_eq!(call!(nvnBufferGetMemoryPool(buffer.at())), pool.at());
            let mapped = if flags & 1 != 0 { 0 } else { start + offset as usize };
            assert_eq!(call!(nvnBufferMap(buffer.at())) as usize, mapped);
        }
        assert_eq!(call!(nvnBufferGetAddress(other.at())), base + 0x100);
        assert_eq!(call!(nvnBufferGetSize(other.at())), 0x200);
        assert!(buffer.is_intact() && other.is_intact() && builder.is_intact());
    }
}

#[test]
fn b427_no_map_without_cpu_access() {
    let (mut memory, range) = storage(4);
    let mut hidden = pool(&mut memory[range], 0x21);
    assert!(call!(nvnMemoryPoolMap(hidden.at())).is_null());
    let mut builder = buffer_builder(&mut hidden, 0x400, 0x100);
    let mut buffer = Guarded::new(sizes::MIN_NVNBUFFER, 0);
    assert_eq!(call!(nvnBufferInitialize(buffer.at(), builder.at())), 1);
    let map = call!(nvnBufferMap(buffer.at())) as u64;
    assert_eq!(map, 0);
    let address = call!(nvnBufferGetAddress(buffer.at()));
    assert_eq!(address.wrapping_add(0u64.wrapping_sub(map)), address);
    assert_eq!(address, 0x4_0000_0400);
    for flags in [0x24, 0x22] {
        let (mut memory, range) = storage(4);
        assert!(!call!(nvnMemoryPoolMap(pool(&mut memory[range], flags).at())).is_null());
    }
}

#[test]
fn a_buffer_outside_its_pool_is_refused() {
    let (mut memory, range) = storage(1);
    let mut pool = pool(&mut memory[range], 0x22);
    for (offset, size) in [(0, 0x1001), (0x1000, 1), (-1, 1), (0x800, usize::MAX), (isize::MAX, 1)] {
        let mut builder = buffer_builder(&mut pool, offset, size);
        let mut buffer = Guarded::new(sizes::MIN_NVNBUFFER, 0);
        assert_eq!(call!(nvnBufferInitialize(buffer.at(), builder.at())), 0, "{size:#x} at {offset:#x}");
        assert_eq!(call!(nvnBufferGetAddress(buffer.at())), 0);
    }
}

#[test]
fn a_buffer_of_a_dead_pool_does_not_map() {
    let (mut memory, range) = storage(1);
    let mut pool = pool(&mut memory[range], 0x22);
    let mut builder = buffer_builder(&mut pool, 0, 16);
    let mut buffer = Guarded::new(sizes::MIN_NVNBUFFER, 0);
    assert_eq!(call!(nvnBufferInitialize(buffer.at(), builder.at())), 1);
    call!(nvnMemoryPoolFinalize(pool.at()));
    assert!(call!(nvnBufferMap(buffer.at())).is_null());
    assert_eq!(call!(nvnBufferInitialize(buffer.at(), builder.at())), 0);
}

#[test]
fn a_pool_needs_whole_aligned_pages() {
    let (mut memory, range) = storage(2);
    let start = memory[range.clone()].as_mut_ptr();
    for (at, size) in [
        (std::ptr::null_mut(), 0x1000),
        (start.wrapping_add(16), 0x1000),
        (start, 0),
        (start, 0x1010),
        (start, 1 << 50),
    ] {
        let mut builder = Guarded::new(sizes::MIN_NVNMEMORYPOOLBUILDER, 0);
        call!(nvnMemoryPoolBuilderSetDefaults(builder.at()));
        call!(nvnMemoryPoolBuilderSetStorage(builder.at(), at.cast(), size));
        assert_eq!(call!(nvnMemoryPoolBuilderGetMemory(builder.at())), at.cast());
        assert_eq!(call!(nvnMemoryPoolBuilderGetSize(builder.at())), size);
        let mut pool = Guarded::new(sizes::MIN_NVNMEMORYPOOL, 0);
        assert_eq!(call!(nvnMemoryPoolInitialize(pool.at(), builder.at())), 0);
        assert!(call!(nvnMemoryPoolMap(pool.at())).is_null());
    }
}

#[test]
fn b426_builders_give_their_storage_back() {
    let (mut memory, range) = storage(32);
    let mut pool = pool(&mut memory[range], 0x22);
    let mut builder = buffer_builder(&mut pool, 0x12000, 64);
    assert_eq!(call!(nvnBufferBuilderGetMemoryPool(builder.at())), pool.at());
    assert_eq!(call!(nvnBufferBuilderGetMemoryOffset(builder.at())), 0x12000);
    assert_eq!(call!(nvnBufferBuilderGetSize(builder.at())), 64);
    let mut builder = Guarded::new(sizes::MIN_NVNTEXTUREBUILDER, 0);
    call!(nvnTextureBuilderSetDefaults(builder.at()));
    call!(nvnTextureBuilderSetStorage(builder.at(), pool.at(), 0x12000));
    assert_eq!(call!(nvnTextureBuilderGetMemoryPool(builder.at())), pool.at());
    assert_eq!(call!(nvnTextureBuilderGetMemoryOffset(builder.at())), 0x12000);
    let mut builder = Guarded::new(sizes::MIN_NVNEVENTBUILDER, 0);
    call!(nvnEventBuilderSetDefaults(builder.at()));
    call!(nvnEventBuilderSetStorage(builder.at(), pool.at(), 0x12000));
    let mut offset = 0;
    assert_eq!(
        call!(nvnEventBuilderGetStorage(builder.at(), &raw mut offset)),
        pool.at::<NVNmemoryPool>().cast_const()
    );
    assert_eq!(offset, 0x12000);
}

#[test]
fn events_are_words_of_their_pool() {
    let (mut memory, range) = storage(1);
    memory[range.start + 8..][..4].copy_from_slice(&41u32.to_le_bytes());
    let mut pool = pool(&mut memory[range.clone()], 0x22);
    let mut builder = Guarded::new(sizes::MIN_NVNEVENTBUILDER, 0);
    call!(nvnEventBuilderSetDefaults(builder.at()));
    let mut event = Guarded::new(sizes::MIN_NVNEVENT, 0);
    for bad in [2, -4, 0x1000] {
        call!(nvnEventBuilderSetStorage(builder.at(), pool.at(), bad));
        assert_eq!(call!(nvnEventInitialize(event.at(), builder.at())), 0);
    }
    call!(nvnEventBuilderSetStorage(builder.at(), pool.at(), 8));
    assert_eq!(call!(nvnEventInitialize(event.at(), builder.at())), 1);
    assert_eq!(call!(nvnEventGetValue(event.at())), 41, "Initialize leaves the word as it was");
    call!(nvnEventSignal(event.at(), NVNeventSignalMode::ADD, 2));
    assert_eq!(call!(nvnEventGetValue(event.at())), 43);
    call!(nvnEventSignal(event.at(), NVNeventSignalMode::WRITE, 7));
    assert_eq!(memory[range.start + 8..][..4], 7u32.to_le_bytes());
    call!(nvnEventFinalize(event.at()));
    assert_eq!(call!(nvnEventGetValue(event.at())), 0);
    assert!(event.is_intact() && builder.is_intact());
}

#[test]
fn b217_queue_builder_sizes() {
    let mut builder = Guarded::new(sizes::MIN_NVNQUEUEBUILDER, 0xcc);
    call!(nvnQueueBuilderSetDefaults(builder.at()));
    assert_eq!(call!(nvnQueueBuilderGetQueueMemorySize(builder.at())), 65536 + 262144 + 16384);
    macro_rules! size {
        ($set:ident, $get:ident, $default:expr, $value:expr) => {
            // Guard words on both sides: exactly 32 bits are written.
            let mut words = [-1i32, 0x5555_5555, -1];
            assert_eq!(call!($get(builder.at(), &raw mut words[1])), 0, "not set");
            assert_eq!(words, [-1, $default, -1]);
            call!($set(builder.at(), $value));
            assert_eq!(call!($get(builder.at(), &raw mut words[1])), 1, "set");
            assert_eq!(words, [-1, $value as i32, -1]);
        };
    }
    size!(nvnQueueBuilderSetCommandMemorySize, nvnQueueBuilderGetCommandMemorySize, 65536, 0x20000usize);
    assert_eq!(call!(nvnQueueBuilderGetQueueMemorySize(builder.at())), 0x20000 + 262144 + 16384);
    size!(nvnQueueBuilderSetComputeMemorySize, nvnQueueBuilderGetComputeMemorySize, 262144, 0x8001usize);
    size!(nvnQueueBuilderSetControlMemorySize, nvnQueueBuilderGetControlMemorySize, 16384, 0x3000usize);
    assert_eq!(call!(nvnQueueBuilderGetQueueMemorySize(builder.at())), 0x20000 + 0x8100 + 0x3000);
    size!(nvnQueueBuilderSetRayTracingMemorySize, nvnQueueBuilderGetRayTracingMemorySize, 0, 0x1234usize);
    size!(nvnQueueBuilderSetCommandFlushThreshold, nvnQueueBuilderGetCommandFlushThreshold, 4096, 0x2000usize);
    // The one pair of places that is known of the console's driver.
    let bytes = builder.bytes();
    assert_eq!((bytes[0x24], &bytes[0x2c..0x30]), (1, &0x8001u32.to_le_bytes()[..]));
    call!(nvnQueueBuilderSetQueueMemory(builder.at(), 0x7000 as *mut _, 0x10_0000));
    assert_eq!(call!(nvnQueueBuilderGetMemory(builder.at())) as usize, 0x7000);
    assert_eq!(call!(nvnQueueBuilderGetMemorySize(builder.at())), 0x10_0000);
    assert!(builder.is_intact());
}

#[test]
fn b428_b430_crop_and_interval_of_a_window() {
    let record = WindowRecord::new(1, 0x55, 1, [1920, 1080]);
    let mut window = Guarded::holding(sizes::MIN_NVNWINDOW, &record);
    let read = |window: &mut Guarded| {
        let mut crop = NVNrectangle { x: -1, y: -1, width: -1, height: -1 };
        call!(nvnWindowGetCrop(window.at(), &raw mut crop));
        (crop.x, crop.y, crop.width, crop.height)
    };
    assert_eq!(read(&mut window), (0, 0, 1920, 1080));
    call!(nvnWindowSetCrop(window.at(), 10, 20, 1280, 720));
    assert_eq!(read(&mut window), (10, 20, 1280, 720));
    call!(nvnWindowSetCrop(window.at(), 0, 0, -1, 720));
    assert_eq!(read(&mut window), (10, 20, 1280, 720), "a negative size is refused");
    assert_eq!(call!(nvnWindowGetPresentInterval(window.at())), 1);
    call!(nvnWindowSetPresentInterval(window.at(), 2));
    assert_eq!(call!(nvnWindowGetPresentInterval(window.at())), 2);
    assert_eq!(call!(nvnWindowGetNativeWindow(window.at())) as usize, 0x55);
    assert!(window.is_intact());
}

#[test]
fn a_window_builder_keeps_two_to_four_textures() {
    let mut builder = Guarded::new(sizes::MIN_NVNWINDOWBUILDER, 0xcc);
    call!(nvnWindowBuilderSetDefaults(builder.at()));
    let textures: Vec<*mut NVNtexture> = (1..=5).map(|n| (n * 0x100) as *mut NVNtexture).collect();
    call!(nvnWindowBuilderSetTextures(builder.at(), 4, textures.as_ptr()));
    assert_eq!(call!(nvnWindowBuilderGetNumTextures(builder.at())), 4);
    assert_eq!(call!(nvnWindowBuilderGetTexture(builder.at(), 3)), textures[3].cast_const());
    for bad in [5, i32::MAX, -1] {
        call!(nvnWindowBuilderSetTextures(builder.at(), bad, textures.as_ptr()));
        assert_eq!(call!(nvnWindowBuilderGetNumTextures(builder.at())), 4, "{bad} textures are refused");
    }
    assert!(call!(nvnWindowBuilderGetTexture(builder.at(), 4)).is_null());
    assert!(call!(nvnWindowBuilderGetTexture(builder.at(), -1)).is_null());
    assert!(builder.is_intact());
}

fn view() -> Guarded {
    let mut view = Guarded::new(sizes::MIN_NVNTEXTUREVIEW, 0xcc);
    call!(nvnTextureViewSetDefaults(view.at()));
    view
}

#[test]
fn b423_view_getters_answer_whether_their_field_was_set() {
    let mut view = view();
    let (mut a, mut b) = (-7, -7);
    assert_eq!(call!(nvnTextureViewGetLevels(view.at(), &raw mut a, &raw mut b)), 0);
    assert_eq!((a, b), (-7, -7), "nothing is written");
    call!(nvnTextureViewSetLevels(view.at(), 3, 2));
    assert_eq!(call!(nvnTextureViewGetLevels(view.at(), &raw mut a, &raw mut b)), 1);
    assert_eq!((a, b), (3, 2));
    assert_eq!(call!(nvnTextureViewGetLayers(view.at(), &raw mut a, &raw mut b)), 0);
    call!(nvnTextureViewSetLayers(view.at(), 2000, 48));
    assert_eq!(call!(nvnTextureViewGetLayers(view.at(), &raw mut a, &raw mut b)), 1);
    assert_eq!((a, b), (2000, 48));
    let (mut format, mut target, mut mode) = (NVNformat(0), NVNtextureTarget(0), NVNtextureDepthStencilMode(0));
    assert_eq!(call!(nvnTextureViewGetFormat(view.at(), &raw mut format)), 0);
    call!(nvnTextureViewSetFormat(view.at(), NVNformat(156)));
    call!(nvnTextureViewSetTarget(view.at(), NVNtextureTarget::CUBEMAP));
    call!(nvnTextureViewSetDepthStencilMode(view.at(), NVNtextureDepthStencilMode::STENCIL));
    call!(nvnTextureViewGetFormat(view.at(), &raw mut format));
    call!(nvnTextureViewGetTarget(view.at(), &raw mut target));
    call!(nvnTextureViewGetDepthStencilMode(view.at(), &raw mut mode));
    assert_eq!((format.0, target, mode), (156, NVNtextureTarget::CUBEMAP, NVNtextureDepthStencilMode::STENCIL));
    let swizzle = [5, 4, 3, 0].map(NVNtextureSwizzle);
    call!(nvnTextureViewSetSwizzle(view.at(), swizzle[0], swizzle[1], swizzle[2], swizzle[3]));
    let mut read = [NVNtextureSwizzle(9); 4];
    let [r, g, b, a] = &mut read;
    assert_eq!(call!(nvnTextureViewGetSwizzle(view.at(), r, g, b, a)), 1);
    assert_eq!(read, swizzle);
    assert!(view.is_intact());
}

#[test]
fn b435_views_that_set_the_same_fields_are_equal() {
    let (mut a, mut b) = (view(), view());
    assert_eq!(call!(nvnTextureViewCompare(a.at(), b.at())), 1);
    call!(nvnTextureViewSetLevels(a.at(), 0, 0));
    assert_eq!(call!(nvnTextureViewCompare(a.at(), b.at())), 0, "set in one only");
    call!(nvnTextureViewSetLevels(b.at(), 0, 1));
    assert_eq!(call!(nvnTextureViewCompare(a.at(), b.at())), 0, "set to another value");
    call!(nvnTextureViewSetLevels(b.at(), 0, 0));
    assert_eq!(call!(nvnTextureViewCompare(a.at(), b.at())), 1);
}

#[test]
fn b435_the_normalized_destination_flag_is_kept() {
    let mut blend = Guarded::new(sizes::MIN_NVNBLENDSTATE, 0);
    call!(nvnBlendStateSetDefaults(blend.at()));
    assert_eq!(call!(nvnBlendStateGetAdvancedNormalizedDst(blend.at())), 0);
    call!(nvnBlendStateSetAdvancedNormalizedDst(blend.at(), 1));
    assert_eq!(call!(nvnBlendStateGetAdvancedNormalizedDst(blend.at())), 1);
}

#[test]
fn b101_a_view_beside_a_saved_frame_pointer() {
    // SDK 16 guests keep 16-byte views as locals, right under what the function saved.
    let mut frame = [0u64; 4];
    frame[2..].copy_from_slice(&[0x1234_5678, 0x9abc_def0]);
    let view = frame.as_mut_ptr().cast::<NVNtextureView>();
    call!(nvnTextureViewSetDefaults(view));
    call!(nvnTextureViewSetLayers(view, 7, 7));
    call!(nvnTextureViewSetSwizzle(
        view,
        NVNtextureSwizzle::A,
        NVNtextureSwizzle::A,
        NVNtextureSwizzle::A,
        NVNtextureSwizzle::A
    ));
    assert_eq!(frame[2..], [0x1234_5678, 0x9abc_def0]);
}

#[test]
fn b425_pools_give_their_size_memory_and_offset_back() {
    let mut textures = Guarded::holding(sizes::MIN_NVNTEXTUREPOOL, &TexturePoolRecord::new(1, 0x7000, 1, 0x400, 4000));
    let mut samplers = Guarded::holding(sizes::MIN_NVNSAMPLERPOOL, &SamplerPoolRecord::new(2, 0x8000, 1, 0x800, 300));
    assert_eq!(call!(nvnTexturePoolGetSize(textures.at())), 4000);
    assert_eq!(call!(nvnTexturePoolGetMemoryPool(textures.at())) as usize, 0x7000);
    assert_eq!(call!(nvnTexturePoolGetMemoryOffset(textures.at())), 0x400);
    assert_eq!(call!(nvnSamplerPoolGetSize(samplers.at())), 300);
    assert_eq!(call!(nvnSamplerPoolGetMemoryPool(samplers.at())) as usize, 0x8000);
    assert_eq!(call!(nvnSamplerPoolGetMemoryOffset(samplers.at())), 0x800);
}

#[test]
fn a_descriptor_pool_lies_inside_its_memory_pool() {
    let (mut memory, range) = storage(4);
    let mut pool = pool(&mut memory[range], 0x22);
    let before = navin_abi::fault::count();
    for (offset, count) in [(0, 0), (0, -1), (-32, 256), (16, 256), (0, 513), (0x3000, 256), (0, i32::MAX)] {
        let mut textures = Guarded::new(sizes::MIN_NVNTEXTUREPOOL, 0);
        assert_eq!(call!(nvnTexturePoolInitialize(textures.at(), pool.at(), offset, count)), 0, "{count} at {offset}");
        assert_eq!(call!(nvnTexturePoolGetSize(textures.at())), 0);
        let mut samplers = Guarded::new(sizes::MIN_NVNSAMPLERPOOL, 0);
        assert_eq!(call!(nvnSamplerPoolInitialize(samplers.at(), pool.at(), offset, count)), 0, "{count} at {offset}");
        assert_eq!(call!(nvnSamplerPoolGetSize(samplers.at())), 0);
    }
    assert!(navin_abi::fault::count() > before);
}
