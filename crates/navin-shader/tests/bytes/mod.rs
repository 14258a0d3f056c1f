//! Programs out of any bytes, for the fuzzer and for tests: the bodies of the fuzz targets `shader`, `shader_decode`,
//! `shader_flow` and `shader_container`.
#![allow(dead_code, reason = "each user has a part")]

use navin_shader::isa::table::{Field, Op, ROWS};
use navin_shader::isa::{self, Row};
use navin_shader::library::scan;
use navin_shader::{
    ConstantLayout, DeviceFeatures, GuestProgram, Options, Translation, Translator, code_size, disassemble, dksh_count,
    program_key,
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

/// The fuzz target of decoding: any word is one row or none, and has a line in a listing.
pub fn decode(data: &[u8]) {
    for bytes in data.chunks_exact(8) {
        let word = bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
        let decoded = isa::decode(word, 8);
        assert_eq!(usize::from(decoded.is_some()), isa::matches(word), "{word:#018x}");
        if let Some(instr) = decoded {
            for &(field, _, width) in instr.fields() {
                assert!(u64::from(instr.get(field)) < 1 << width, "{word:#018x}");
            }
        }
    }
    let (mut control, mut gpu, _) = program(&[0, 0]);
    gpu.truncate(0x80);
    gpu.extend_from_slice(&data[..data.len() & !7]);
    control[0x6F8..0x6FC].copy_from_slice(&(0x50 + (data.len() & !7) as u32).to_le_bytes());
    control[0x6FC..0x700].fill(0);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole container");
    let lines = isa::disasm::lines(&guest, Some(ConstantLayout::Corpus.table()));
    assert_eq!(lines.len(), (0..guest.code.len() / 8).filter(|n| n % 4 != 0).count());
}

/// The rows of which control flow is made.
fn jumps() -> Vec<&'static Row> {
    let flow = |op| {
        matches!(
            op,
            Op::Ssy
                | Op::Sync
                | Op::Pbk
                | Op::Brk
                | Op::Pcnt
                | Op::Cont
                | Op::Bra
                | Op::Cal
                | Op::Ret
                | Op::Pret
                | Op::Exit
                | Op::Kil
                | Op::Plongjmp
                | Op::Longjmp
                | Op::Isetp
                | Op::Iadd
        )
    };
    ROWS.iter().filter(|row| flow(row.op)).collect()
}

/// A program of nothing but jumps, conditions and sums, whose targets lie inside: two bytes an instruction.
pub fn flow_program(data: &[u8]) -> (Vec<u8>, Vec<u8>, Options) {
    let rows = jumps();
    let slots = (data.len() / 2).min(200);
    let place = |n: usize| 8 * (n + n / 3 + 1);
    let mut words = Vec::new();
    for (n, bytes) in data.chunks_exact(2).take(slots).enumerate() {
        let row = rows[usize::from(bytes[0]) % rows.len()];
        let mut word = row.value;
        for &(field, low, _) in row.fields {
            let to = place(usize::from(bytes[1] >> 2) * slots.max(1) / 64);
            let value = match field {
                // One of two predicates, or true.
                Field::Pg => [0, 1, 7, 7][usize::from(bytes[1] & 3)],
                Field::Rel24 => (to as u64).wrapping_sub(place(n) as u64 + 8) & 0xFF_FFFF,
                Field::Cond => 15,
                Field::Pd => u64::from(bytes[1] & 1),
                Field::Pdn => 7,
                Field::Ps => 7,
                Field::Cmp => u64::from(bytes[1] >> 2 & 7),
                Field::A | Field::B | Field::Dst => u64::from(bytes[1] >> 4 & 3),
                _ => 0,
            };
            word |= value << low;
        }
        words.push(word);
    }
    words.extend([EXIT; 3]);
    let (mut control, mut gpu, options) = program(&[5, 0]);
    gpu.truncate(0x80);
    for word in words {
        if gpu.len() % 32 == 0 {
            gpu.extend_from_slice(&[0; 8]);
        }
        gpu.extend_from_slice(&word.to_le_bytes());
    }
    control[0x6F8..0x6FC].copy_from_slice(&(gpu.len() as u32 - 0x30).to_le_bytes());
    control[0x6FC..0x700].fill(0);
    (control, gpu, options)
}

/// The fuzz target of control flow.
pub fn flow(data: &[u8]) {
    let (control, gpu, options) = flow_program(data);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole container");
    if let Ok(t) = Translator::new().translate(&guest, &options) {
        assert!(t.spirv.len() < 1 << 24, "{} words", t.spirv.len());
    }
}

/// The fuzz target of containers: DKSH files, and files that are looked through.
pub fn container(data: &[u8]) {
    let mut translator = Translator::new();
    let options = Options::new(ConstantLayout::Corpus);
    for n in 0..dksh_count(data).unwrap_or(0).min(4) {
        if let Ok(guest) = GuestProgram::parse_dksh(data, n) {
            let _ = translator.translate(&guest, &options);
        }
    }
    for entry in scan(data) {
        let guest = GuestProgram::parse(&data[entry.control], &data[entry.code]).expect("what was found is whole");
        assert_eq!(guest.key, entry.key);
    }
}
