//! Programs out of any bytes, for the fuzzer and for tests: the body of the fuzz target `shader`.
#![allow(dead_code, reason = "each user has a part")]

use navin_shader::isa::table::ROWS;
use navin_shader::{
    ConstantLayout, DeviceFeatures, GuestProgram, Options, Translation, Translator, code_size, disassemble, program_key,
};

/// EXIT under no guard.
const EXIT: u64 = 0xE300_0000_0007_000F;

/// Reads numbers from bytes, zeros behind the end.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn number(&mut self, bytes: u32) -> u64 {
        (0..bytes).fold(0, |n, k| n | u64::from(self.byte()) << (8 * k))
    }
}

/// A container around instruction words that are rows of the table with random fields (and now and then none at all),
/// in a random stage, under random options.
pub fn program(data: &[u8]) -> (Vec<u8>, Vec<u8>, Options) {
    let mut s = Source(data);
    let (stage, flags) = (u32::from(s.byte() % 6), s.byte());
    let layout = if flags & 1 == 0 { ConstantLayout::Production } else { ConstantLayout::Corpus };
    let mut options = Options::new(layout);
    options.subgroup_size = if flags & 2 == 0 { 32 } else { 8 };
    options.loop_limit = (flags & 4 != 0).then_some(100);
    options.features.set(DeviceFeatures::ATOMIC_INT64, flags & 8 == 0);
    options.features.set(DeviceFeatures::FLOAT64, flags & 16 == 0);
    let header: Vec<u8> = (0..0x50).map(|_| if flags & 32 == 0 { 0xFF } else { s.byte() }).collect();
    let mut code = Vec::new();
    while !s.0.is_empty() && code.len() < 8 * 400 {
        if code.len() % 32 == 0 {
            code.extend_from_slice(&[0; 8]);
        }
        let (row, bits) = (s.number(2) as usize, s.number(8));
        let word = match ROWS.get(row % (ROWS.len() + 4)) {
            // Guards are true more often than not, so that what follows is reached.
            Some(row) => bits & !row.mask | row.value | if bits & 3 != 0 { 7 << 16 } else { 0 },
            None => bits,
        };
        code.extend_from_slice(&word.to_le_bytes());
    }
    // The end, so that what has none by itself gets there.
    for _ in 0..3 {
        if code.len() % 32 == 0 {
            code.extend_from_slice(&[0; 8]);
        }
        code.extend_from_slice(&EXIT.to_le_bytes());
    }
    let constants: Vec<u8> = (0..if flags & 64 == 0 { 0 } else { 64 }).map(|n| (n & 7) * 8).collect();
    let mut control = vec![0u8; 1992];
    let mut put = |at: usize, word: u32| control[at..at + 4].copy_from_slice(&word.to_le_bytes());
    put(0, 0x9876_1234);
    put(0x6F8, 0x50 + code.len() as u32);
    put(0x6FC, constants.len() as u32);
    put(0x700, 0x80 + code.len() as u32);
    put(0x708, 0x30);
    put(0x714, stage);
    put(0x748, 64);
    put(0x754, 1024);
    put(0x758, 256);
    let mut gpu = vec![0u8; 0x80];
    gpu[..4].copy_from_slice(&0x1234_5678u32.to_le_bytes());
    gpu[0x30..0x80].copy_from_slice(&header);
    gpu.extend_from_slice(&code);
    gpu.extend_from_slice(&constants);
    (control, gpu, options)
}

/// What becomes of the program of `data`, if it is one.
pub fn translate(translator: &mut Translator, data: &[u8]) -> Option<Translation> {
    let (control, gpu, options) = program(data);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole container");
    assert!(!disassemble(&guest, None).is_empty());
    translator.translate(&guest, &options).ok()
}

/// The fuzz target: nothing panics, and what comes out is bounded.
pub fn run(data: &[u8]) {
    // The bytes as a container of their own.
    let half = data.len() / 2;
    let _ = code_size(&data[..half]);
    let _ = program_key(&data[..half], &data[half..]);
    let mut translator = Translator::new();
    if let Ok(guest) = GuestProgram::parse(&data[..half], &data[half..]) {
        let _ = translator.translate(&guest, &Options::new(ConstantLayout::Production));
    }
    if let Some(t) = translate(&mut translator, data) {
        assert!(t.spirv.len() < 1 << 24, "{} words", t.spirv.len());
        assert_eq!(Some(t), translate(&mut translator, data), "translation is deterministic");
    }
}
