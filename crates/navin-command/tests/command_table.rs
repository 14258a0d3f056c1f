//! The table of records against its documentation, the driver's sizes and the functions of NVN.

mod guest;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use guest::*;
use navin_abi::functions::FUNCTIONS;
use navin_command::flatten;
use navin_command::record::{Header, ROWS, RecordReader, Row, SHAPES, decode, name};

const INTRODUCTION: &str = "# Commands

What each recorded command takes in the guest's command memory, and what the console's driver takes for it. A
record must never be larger: guests measure their own recordings and make heaps and slots of that size (B220, B223,
B224). Bounds are those of deko3d, the open driver for the same GPU, with the least state it writes, unless a
behaviour gives another. Where neither knows the command, the record is its header and its arguments.

`n` counts the elements of a run: vertex buffers, handles, viewports, words. Patched words are stored into by guests
with no call, and stay where they are (B228). An opcode keeps its meaning for ever; a record that has to change gets
a new one. `crates/navin-command/tests/pinned/` holds records of every opcode as they were first written, which must
read as the same records for ever: new opcodes are added to it, and nothing in it changes.

This file is made from the table in `crates/navin-command/src/record/table.rs`: `NAVIN_BLESS=1 cargo test -p
navin-command --test command_table` writes it.

| opcode | command | n | bytes | driver's bytes | what those are | patched words |
|---|---|---|---|---|---|---|
";

fn size(base: usize, each: usize) -> String {
    match (base, each) {
        (base, 0) => base.to_string(),
        (0, each) => format!("{each} n"),
        (base, each) => format!("{base} + {each} n"),
    }
}

fn table() -> String {
    let mut text = INTRODUCTION.to_owned();
    for row in ROWS {
        let range = if row.tail_bytes == 0 { String::new() } else { format!("{}-{}", row.min_tail, row.max_tail) };
        let driver = row.driver.map_or("not known".into(), |(base, each)| size(base, each));
        let patched: Vec<String> = row.patchable.iter().map(|word| format!("{}: {}", word.offset, word.what)).collect();
        writeln!(
            text,
            "| {:#04x} | {} | {range} | {} | {driver} | {} | {} |",
            row.opcode,
            row.name,
            size(row.head_bytes, row.tail_bytes),
            row.basis,
            patched.join(", ")
        )
        .unwrap();
    }
    text
}

#[test]
fn the_documented_table_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/COMMANDS.md");
    let table = table();
    if std::env::var_os("NAVIN_BLESS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(written == table, "docs/COMMANDS.md is not the table: write it with NAVIN_BLESS=1");
}

#[test]
fn b220_no_record_is_larger_than_the_drivers_command() {
    for row in ROWS {
        assert!(row.is_within_bound(), "{} takes more than the driver's command", row.name);
        if row.driver.is_none() {
            assert!(!row.basis.is_empty(), "{}: why is its size not known?", row.name);
        }
    }
    // The bound is a bound: a word more does not pass.
    let draw = ROWS.iter().find(|row| row.name == "DrawArraysIndirect").unwrap();
    assert!(!Row { head_bytes: draw.head_bytes + 4, ..*draw }.is_within_bound());
    let many = ROWS.iter().find(|row| row.name == "BindTextures").unwrap();
    assert!(!Row { tail_bytes: many.tail_bytes + 4, ..*many }.is_within_bound());
}

/// Functions whose record has another name, or none.
fn record_of(function: &str) -> Option<&str> {
    let plurals = [
        ("BindVertexBuffer", "BindVertexBuffers"),
        ("BindUniformBuffer", "BindUniformBuffers"),
        ("BindStorageBuffer", "BindStorageBuffers"),
        ("BindTexture", "BindTextures"),
        ("BindSeparateTexture", "BindSeparateTextures"),
        ("BindSeparateSampler", "BindSeparateSamplers"),
        ("BindImage", "BindImages"),
        ("BindTransformFeedbackBuffer", "BindTransformFeedbackBuffers"),
        ("SetViewport", "SetViewports"),
        ("SetScissor", "SetScissors"),
        ("SetDepthRange", "SetDepthRanges"),
        ("SetStencilRef", "SetStencilRefFront"),
        ("SetStencilMask", "SetStencilMaskFront"),
        ("SetStencilValueMask", "SetStencilValueMaskFront"),
        ("DownsampleTextureView", "Downsample"),
        ("TiledDownsample", "Downsample"),
        ("TiledDownsampleTextureView", "Downsample"),
        ("PushDebugGroupDynamic", "PushDebugGroup"),
        ("PushDebugGroupStatic", "PushDebugGroup"),
        ("PopDebugGroupId", "PopDebugGroup"),
        ("InsertDebugMarkerDynamic", "InsertDebugMarker"),
        ("InsertDebugMarkerStatic", "InsertDebugMarker"),
    ];
    // Life, memory, getters and state of the command buffer; lists; and NVN2's shading rates, which are no-ops.
    let without = [
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
    ];
    if function.starts_with("Get") || without.contains(&function) {
        return None;
    }
    Some(plurals.iter().find(|(one, _)| *one == function).map_or(function, |(_, record)| record))
}

#[test]
fn every_function_of_the_table_has_a_record_or_needs_none() {
    let mut wanted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for function in &FUNCTIONS {
        if let Some(function) = function.name.strip_prefix("nvnCommandBuffer")
            && let Some(record) = record_of(function)
        {
            wanted.entry(record).or_default().push(function);
        }
    }
    for (record, functions) in &wanted {
        assert!(ROWS.iter().any(|row| row.name == *record), "{functions:?} have no record {record}");
    }
    for row in ROWS {
        let other_face = row.name.ends_with("Back");
        assert!(other_face || wanted.contains_key(row.name), "{} is the record of no function", row.name);
    }
}

#[test]
fn the_shapes_are_the_rows() {
    for opcode in 0..=255u8 {
        let row = ROWS.iter().find(|row| row.opcode == opcode);
        assert_eq!(name(opcode), row.map_or("?", |row| row.name));
        for words in 0..=17_000usize {
            let fits = row.is_some_and(|row| {
                words * 4 >= row.head_bytes
                    && match row.tail_bytes {
                        0 => words * 4 == row.head_bytes,
                        each => {
                            let run = words * 4 - row.head_bytes;
                            run % each == 0 && (row.min_tail..=row.max_tail).contains(&(run / each))
                        }
                    }
            });
            assert_eq!(SHAPES[opcode as usize].fits(words), fits, "opcode {opcode:#x} of {words} words");
        }
    }
}

#[test]
fn records_of_zeros_of_every_length_are_read() {
    for row in ROWS {
        for count in [row.min_tail, row.max_tail] {
            let bytes = row.head_bytes + count * row.tail_bytes;
            let mut words = vec![0u32; bytes / 4];
            words[0] = Header::new(row.opcode, 0xff, words.len() as u16).word();
            let (record, length) = decode(&words).unwrap();
            assert_eq!((record.name(), length), (row.name, words.len()));
        }
    }
}

#[test]
fn b228_every_declared_word_is_read_at_submit_from_where_it_is_declared() {
    let mut declared = 0;
    for row in ROWS {
        for patchable in row.patchable {
            declared += 1;
            let (host, pool) = (host(), Pool::new(0x10000, 4096));
            let guest = Guest::new().with_command(host, &pool, 64, 1024).with_control(host, 256);
            let buffer = guest.buffer();
            buffer.begin(host);
            guest.draws(host, [1]);
            let noted = 64 + buffer.command_memory_used() as usize;
            let mut words = vec![0u32; (row.head_bytes + row.min_tail * row.tail_bytes) / 4];
            words[0] = Header::new(row.opcode, 0, words.len() as u16).word();
            assert!(buffer.record_raw(host, &words));
            guest.draws(host, [2]);
            let handle = buffer.end(host);
            for value in [7, u32::MAX] {
                pool.set_word(noted + usize::from(patchable.offset), value);
                let stream = flatten(host, &pool, [handle]);
                assert_eq!(stream.records().count(), 3, "{}", row.name);
                let at = DRAW / 4;
                assert_eq!(stream.words()[at + usize::from(patchable.offset) / 4], value);
                let patched = RecordReader::new(&stream.words()[at..]).next().unwrap();
                assert!(format!("{patched:?}").contains(&value.to_string()), "{patched:?}");
            }
        }
    }
    assert!(declared >= 1, "the handle of a texture bind");
}
