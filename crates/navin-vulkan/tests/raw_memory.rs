//! Raw pointers of translated programs, through the page table: whole pages, small pages, unmapped ones.

mod common;

#[path = "../../navin-shader/tests/common/assemble.rs"]
mod assemble;

use std::sync::Arc;

use assemble::{compute, word};
use common::*;
use navin_shader::isa::table::{Field, Form, Op};
use navin_shader::{ConstantLayout, DeviceFeatures, GuestProgram, Options, Translator};
use navin_vulkan::{Buffer, Context, Interface, MemoryKind, Shader, ShaderDesc, Stage};

/// A raw access of a program under test; addresses are GPU addresses.
#[derive(Clone, Copy)]
enum Access {
    Load(u64),
    Store(u64, u32),
    /// Adds, gives what was there.
    Add(u64, u32),
    /// Puts the second where the first is, gives what was there.
    Swap(u64, u32, u32),
}

/// Bank of the first uniform block.
const BLOCK: u32 = 3;
/// The register pair of the address, those of operands and the result, and the pair of the output's pointer.
const ADDRESS: u32 = 4;
const VALUE: u32 = 6;
const OUTPUT: u32 = 8;

/// Has one invocation do the accesses one after the other; what each gave, 0 for stores.
fn run(context: &Arc<Context>, accesses: &[Access]) -> Vec<u32> {
    let mut constants = Vec::new();
    let layout = ConstantLayout::Corpus;
    let mut words = Vec::new();
    let mov = |register: u32, bank: u32, offset: u32| {
        word(Op::Mov, Form::C, &[(Field::Dst, register), (Field::Cbo4, offset / 4), (Field::Cbi, bank)])
    };
    // The driver's pointer of storage slot 0, which the translator knows: the output does not go through the table.
    let slot = layout.table().storage_entry(navin_shader::Stage::Compute, 0);
    words.extend([mov(OUTPUT, 0, slot), mov(OUTPUT + 1, 0, slot + 4)]);
    for (n, access) in accesses.iter().enumerate() {
        let at = 16 * n as u32;
        let (address, a, b) = match *access {
            Access::Load(address) => (address, 0, 0),
            Access::Store(address, value) | Access::Add(address, value) => (address, value, 0),
            Access::Swap(address, expected, value) => (address, expected, value),
        };
        constants.extend([address as u32, (address >> 32) as u32, a, b]);
        words.extend([mov(ADDRESS, BLOCK, at), mov(ADDRESS + 1, BLOCK, at + 4)]);
        words.extend([mov(VALUE, BLOCK, at + 8), mov(VALUE + 1, BLOCK, at + 12)]);
        let place = [(Field::A, ADDRESS), (Field::E, 1)];
        let fields = |more: &[(Field, u32)]| [&place[..], more].concat();
        words.push(match access {
            Access::Load(_) => word(Op::Ldg, Form::M, &fields(&[(Field::Dst, VALUE), (Field::Size, 4)])),
            Access::Store(..) => word(Op::Stg, Form::M, &fields(&[(Field::Data, VALUE), (Field::Size, 4)])),
            Access::Add(..) => word(Op::Atom, Form::M, &fields(&[(Field::Dst, VALUE), (Field::B, VALUE)])),
            Access::Swap(..) => word(Op::AtomCas, Form::M, &fields(&[(Field::Dst, VALUE), (Field::B, VALUE)])),
        });
        let target = [(Field::Data, VALUE), (Field::A, OUTPUT), (Field::E, 1), (Field::Size, 4)];
        words.push(word(Op::Stg, Form::M, &[&target[..], &[(Field::Off24, 4 * n as u32)]].concat()));
    }
    words.push(word(Op::Exit, Form::J, &[(Field::Cond, 15)]));
    let (control, gpu) = compute(&words);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
    let mut options = Options::new(layout);
    options.features = DeviceFeatures::empty();
    let translation = Translator::new().translate(&guest, &options).expect("a translation");
    assert!(translation.interface.uses_page_table);
    let desc = ShaderDesc {
        stage: Stage::Compute,
        spirv: &translation.spirv,
        next_stages: ShaderDesc::any_next(Stage::Compute),
        interface: Interface {
            constant_banks: translation.interface.constant_banks,
            storage_slots: translation.interface.storage_slots as u16,
            ..Default::default()
        },
        label: "raw",
    };
    let shader = Shader::new(context, &desc).expect("shader object");
    let output = Buffer::new(context, 4 * accesses.len() as u64, MemoryKind::Readback, "output").expect("buffer");
    let mut encoder = context.queue().begin().expect("encoder");
    let align = context.limits().uniform_offset_alignment;
    let block = encoder.upload(&bytes_of(&constants), align).expect("upload");
    let driver = encoder.upload(&[0; 4096], align).expect("upload");
    encoder.set_shader(Stage::Compute, Some(&shader));
    encoder.set_constants(Stage::Compute, 0, driver.range);
    encoder.set_constants(Stage::Compute, BLOCK as usize, block.range);
    encoder.set_storage(Stage::Compute, 0, output.range(0, output.size()));
    encoder.dispatch(1, 1, 1).expect("dispatched");
    submit_and_wait(context, encoder);
    let stores = accesses.iter().map(|access| matches!(access, Access::Store(..)));
    read_words(&output).into_iter().zip(stores).map(|(value, store)| if store { 0 } else { value }).collect()
}

/// 64 KB whose words are `tag + index`.
fn page(context: &Arc<Context>, tag: u32) -> Buffer {
    let buffer = Buffer::new(context, 64 << 10, MemoryKind::Upload, "page").expect("buffer");
    let words: Vec<u32> = (0..16384).map(|n| tag + n).collect();
    assert!(buffer.write(0, &bytes_of(&words)));
    buffer
}

fn word_at(buffer: &Buffer, offset: u64) -> u32 {
    let mut bytes = [0; 4];
    assert!(buffer.read(offset, &mut bytes));
    u32::from_ne_bytes(bytes)
}

/// Page `page` of the GPU address space as (leaf, entry).
fn entry(gpu: u64) -> (u32, u32) {
    ((gpu >> 28) as u32, (gpu >> 16) as u32 & 0xfff)
}

#[test]
fn b113_small_pages_read_their_bytes_and_their_unmapped_neighbours_0() {
    let Some(context) = open() else { return };
    let pool = page(&context, 0xc0de_0000);
    let gpu = 0x12_3455_0000u64;
    let (leaf, at) = entry(gpu);
    let tables = context.tables();
    // Small pages 5, 6 and 15 lead to other places of the pool than their own.
    assert!(tables.write_small_pages(leaf, at, 5, &[pool.address() + 0x3000, pool.address() + 0xf000]));
    assert!(tables.write_small_pages(leaf, at, 15, &[pool.address()]));
    let loads = [0x5000, 0x5ffc, 0x6000, 0x6ffc, 0xf000, 0xfffc, 0x4ffc, 0x7000, 0, 0xeffc, 0x1_0000];
    let got = run(&context, &loads.map(|offset| Access::Load(gpu + offset)));
    let tag = 0xc0de_0000;
    let expected = [tag + 0xc00, tag + 0xfff, tag + 0x3c00, tag + 0x3fff, tag, tag + 0x3ff, 0, 0, 0, 0, 0];
    assert_eq!(got, expected);
    // Unmapping one leaves the others; unmapping the page unmaps all.
    assert!(tables.write_small_pages(leaf, at, 6, &[0]));
    let got = run(&context, &[Access::Load(gpu + 0x6000), Access::Load(gpu + 0x5004)]);
    assert_eq!(got, [0, tag + 0xc01]);
    assert!(tables.write_pages(leaf, at, &[0]));
    assert_eq!(run(&context, &[Access::Load(gpu + 0x5000), Access::Load(gpu + 0xf000)]), [0, 0]);
}

#[test]
fn b113_a_small_page_changed_in_a_mapped_page_leaves_the_rest_of_it() {
    let Some(context) = open() else { return };
    let (pool, other) = (page(&context, 0x1000_0000), page(&context, 0x2000_0000));
    let gpu = 0xfe_dcba_0000u64;
    let (leaf, at) = entry(gpu);
    let tables = context.tables();
    assert!(tables.write_pages(leaf, at, &[pool.address()]));
    assert!(tables.write_small_pages(leaf, at, 1, &[other.address() + 0x8000, 0]));
    let loads = [0u64, 0xffc, 0x1000, 0x1ffc, 0x2000, 0x3000, 0xfffc].map(|offset| Access::Load(gpu + offset));
    let expected = [0, 0x3ff, 0x1000_2000, 0x1000_23ff, u32::MAX - 0xfff_ffff, 0xc00, 0x3fff];
    let expected = expected.map(|n: u32| if n > 0x2000_0000 { 0 } else { 0x1000_0000 + n });
    assert_eq!(run(&context, &loads), expected);
    // Back to one whole page.
    assert!(tables.write_pages(leaf, at, &[other.address()]));
    assert_eq!(run(&context, &loads[4..]), [0x2000_0800, 0x2000_0c00, 0x2000_3fff]);
    assert_eq!(tables.page_table_size().1, 0, "no split page is left");
    assert!(!tables.write_small_pages(leaf, at, 15, &[pool.address(), pool.address()]), "past the page");
    assert!(!tables.write_small_pages(leaf, 4096, 0, &[pool.address()]));
    assert!(!tables.write_small_pages(leaf, at, 0, &[pool.address() + 1]), "bit 0 is taken");
    assert!(tables.write_pages(leaf, at, &[0]));
}

#[test]
fn b113_stores_and_atomics_to_unmapped_pages_are_discarded() {
    let Some(context) = open() else { return };
    let pool = page(&context, 0x5000_0000);
    let gpu = 0x01_0007_0000u64;
    let (leaf, at) = entry(gpu);
    assert!(context.tables().write_small_pages(leaf, at, 2, &[pool.address() + 0x2000]));
    // Unmapped: beside a small page, in a leaf, in a leaf that is not there.
    for hole in [gpu + 0x3010, gpu + 0x1_0010, 0x77_0000_0010] {
        let got = run(
            &context,
            &[
                Access::Store(hole, 0xdead_beef),
                Access::Add(hole, 7),
                Access::Swap(hole, 0, 9),
                Access::Load(hole),
                // The zero page is one for all: what one program stored another would read here.
                Access::Load(0x66_0000_0010),
            ],
        );
        assert_eq!(got, [0; 5], "{hole:#x}");
    }
    let mapped = gpu + 0x2010;
    let first = 0x5000_0000 + 0x804;
    let got = run(
        &context,
        &[
            Access::Load(mapped),
            Access::Add(mapped, 7),
            Access::Swap(mapped, first + 7, 40),
            Access::Swap(mapped, 41, 50),
            Access::Load(mapped),
            Access::Store(mapped + 4, 0x1234),
        ],
    );
    assert_eq!(got, [first, first, first + 7, 40, 40, 0]);
    assert_eq!((word_at(&pool, 0x2010), word_at(&pool, 0x2014)), (40, 0x1234));
    assert!(context.tables().write_pages(leaf, at, &[0]));
}

#[test]
fn split_tables_are_used_again_once_no_encoder_can_be_walking_them() {
    let Some(context) = open() else { return };
    let pool = page(&context, 0);
    let tables = context.tables();
    let cycle = |times: u32| {
        for _ in 0..times {
            assert!(tables.write_small_pages(1, 2, 3, &[pool.address()]));
            assert!(tables.write_pages(1, 2, &[0]));
        }
        tables.page_table_size().0
    };
    let first = cycle(1);
    assert_eq!(cycle(2000), first, "with nothing in flight one block is enough");
    let encoder = context.queue().begin().expect("encoder");
    assert!(cycle(600) > first, "an encoder may be walking them");
    drop(encoder);
    let most = cycle(1);
    assert_eq!(cycle(2000), most);
    assert_eq!(tables.page_table_size().1, 0);
}
