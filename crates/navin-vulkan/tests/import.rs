//! Imported host memory: the guest's pages are the GPU's.

mod common;

use common::*;
use navin_vulkan::{BufferRange, ImportError, MemoryKind, PoolAccess, PoolBuffer, PoolStorage, Stage, vk};

/// Pages of our own, freed after the import.
struct Pages {
    layout: std::alloc::Layout,
    ptr: *mut u8,
}

impl Pages {
    fn new(bytes: usize) -> Self {
        let layout = std::alloc::Layout::from_size_align(bytes, 4096).expect("layout");
        // SAFETY: the size is not 0.
        let ptr = unsafe { std::alloc::alloc_zeroed(layout) };
        assert!(!ptr.is_null());
        Self { layout, ptr }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the pages hold this many initialised bytes; the tests read them when the GPU is done.
        unsafe { std::slice::from_raw_parts(self.ptr, self.layout.size()) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { std::alloc::dealloc(self.ptr, self.layout) };
    }
}

#[test]
fn a_gpu_fill_is_seen_in_the_guest_s_pages() {
    let Some(context) = open() else { return };
    let pages = Pages::new(64 << 10);
    // SAFETY: the pages live until after `wait_idle` below.
    let imported =
        unsafe { PoolBuffer::new(&context, &PoolStorage::new(pages.ptr, 64 << 10), PoolAccess::Shared, "pool") }
            .expect("import");
    assert_eq!(imported.bias(), 0);
    assert_ne!(imported.address(), 0);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.fill_buffer(imported.range(4096, 8192), 0x1122_3344);
    submit_and_wait(&context, encoder);
    assert!(words(&pages.bytes()[..4096]).iter().all(|&word| word == 0));
    assert!(words(&pages.bytes()[4096..12288]).iter().all(|&word| word == 0x1122_3344));
    assert!(words(&pages.bytes()[12288..]).iter().all(|&word| word == 0));
    drop(imported);
    context.queue().wait_idle().expect("idle");
    assert_eq!(context.waiting_for_release(), 0, "the import is gone before its pages");
}

#[test]
fn an_import_that_begins_inside_a_page_counts_offsets_from_its_pointer() {
    let Some(context) = open() else { return };
    let pages = Pages::new(16 << 10);
    // SAFETY: as above.
    let pointer = unsafe { pages.ptr.add(0x1230) };
    // SAFETY: as above.
    let imported = unsafe { PoolBuffer::new(&context, &PoolStorage::new(pointer, 0x1000), PoolAccess::Shared, "pool") }
        .expect("import");
    assert_eq!(imported.bias(), 0x230);
    assert_eq!(imported.len(), 0x1000);
    // What the CPU wrote before the submission is what a shader reads; what it writes is in the pages.
    // SAFETY: nothing of the GPU's runs yet.
    unsafe { pointer.copy_from_nonoverlapping([5u8, 0, 0, 0].as_ptr(), 4) };
    let shader = shader(&context, Stage::Compute, include_bytes!("shaders/fill.comp.spv"), 1 << 3, 1);
    let storage = context.limits().storage_offset_alignment;
    let offset = imported.range(0, 4).offset.next_multiple_of(storage.max(16)) - imported.bias() + 256;
    let mut encoder = context.queue().begin().expect("encoder");
    let add = encoder.upload(&7u32.to_ne_bytes(), context.limits().uniform_offset_alignment).expect("upload");
    encoder.set_shader(Stage::Compute, Some(&shader));
    encoder.set_constants(Stage::Compute, 3, add.range);
    encoder.set_storage(Stage::Compute, 0, imported.range(offset, 64 * 4));
    encoder.dispatch(1, 1, 1).expect("dispatched");
    let copy = vk::BufferCopy2::default().src_offset(imported.range(0, 4).offset).dst_offset(0).size(4);
    let back = navin_vulkan::Buffer::new(&context, 4, MemoryKind::Readback, "back").expect("buffer");
    encoder.copy_buffer(imported.raw(), back.raw(), &[copy]);
    submit_and_wait(&context, encoder);
    assert_eq!(read_words(&back), [5]);
    let at = 0x1230 + offset as usize;
    let expected: Vec<u32> = (0..64).map(|i| i * 3 + 7).collect();
    assert_eq!(words(&pages.bytes()[at..at + 256]), expected);
    assert!(pages.bytes()[at + 256..].iter().all(|&byte| byte == 0), "the range ends the shader's writes");
    drop(imported);
    context.queue().wait_idle().expect("idle");
}

#[test]
fn imports_of_nothing_or_of_too_much_are_refused() {
    let Some(context) = open() else { return };
    // SAFETY: nothing is imported.
    let result =
        unsafe { PoolBuffer::new(&context, &PoolStorage::new(std::ptr::null_mut(), 4096), PoolAccess::Shared, "null") };
    assert!(matches!(result, Err(ImportError::Empty)));
    let pages = Pages::new(4096);
    // SAFETY: nothing is imported.
    let result = unsafe { PoolBuffer::new(&context, &PoolStorage::new(pages.ptr, 0), PoolAccess::Shared, "empty") };
    assert!(matches!(result, Err(ImportError::Empty)));
    let limit = context.limits().max_allocation;
    if limit < 1 << 46 {
        // SAFETY: nothing is imported.
        let result =
            unsafe { PoolBuffer::new(&context, &PoolStorage::new(pages.ptr, limit + 1), PoolAccess::Shared, "large") };
        assert!(matches!(result, Err(ImportError::TooLarge { .. })));
    }
    assert!(BufferRange::default().is_null());
}
