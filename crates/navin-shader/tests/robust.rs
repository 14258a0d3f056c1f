//! Bad input: random bytes and damaged programs give errors or modules, never a panic, in bounded time.

mod bytes;
mod common;

use navin_shader::{ConstantLayout, GuestProgram, Options, Translator, code_size, disassemble, isa, program_key};
use proptest::prelude::*;

/// A generator with a fixed start, so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let x = self.0 ^ (self.0 >> 29);
        x.wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (x >> 32)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 16) as usize % n.max(1)
    }
}

#[test]
fn damaged_programs_never_panic() {
    let programs = common::programs();
    let mut random = Random(1);
    let mut translator = Translator::new();
    let (mut good, mut bad) = (0, 0);
    for round in 0..6000 {
        let program = &programs[random.below(programs.len())];
        let mut code = program.code.clone();
        let mut control = program.control.clone();
        for _ in 0..=random.below(4) {
            match round % 3 {
                // A bit of an instruction.
                0 => {
                    let at = 0x80 + random.below(code.len() - 0x80);
                    code[at] ^= 1 << random.below(8);
                }
                // An instruction of another program.
                1 => {
                    let other = &programs[random.below(programs.len())].code;
                    let from = 0x80 + 8 * random.below((other.len() - 0x80) / 8);
                    let to = 0x80 + 8 * random.below((code.len() - 0x80) / 8);
                    if from + 8 <= other.len() && to + 8 <= code.len() {
                        let word: Vec<u8> = other[from..from + 8].to_vec();
                        code[to..to + 8].copy_from_slice(&word);
                    }
                }
                // A byte of the header or the control section.
                _ => {
                    if random.below(2) == 0 {
                        let at = 0x30 + random.below(0x50);
                        code[at] = random.next() as u8;
                    } else {
                        let at = 0x6F0 + random.below(0x78);
                        control[at] = random.next() as u8;
                    }
                }
            }
        }
        let Ok(guest) = GuestProgram::parse(&control, &code) else {
            bad += 1;
            continue;
        };
        match translator.translate(&guest, &program.options) {
            Ok(_) => good += 1,
            Err(e) => {
                bad += 1;
                assert!(e.to_string().contains(&format!("{:016x}", guest.key)), "{e}");
            }
        }
    }
    // Both happen: the damage is neither always fatal nor never seen.
    assert!(good > 500 && bad > 500, "{good} good, {bad} bad");
}

/// A program of `stage` with `code` behind a header of random bits.
fn program(stage: u32, header: &[u8], code: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut control = vec![0u8; 1992];
    let mut put = |at: usize, word: u32| control[at..at + 4].copy_from_slice(&word.to_le_bytes());
    put(0, 0x9876_1234);
    put(0x6F8, 0x50 + code.len() as u32);
    put(0x700, 0x80 + code.len() as u32);
    put(0x708, 0x30);
    put(0x714, stage);
    put(0x754, 1024);
    put(0x758, 256);
    let mut gpu = vec![0u8; 0x80];
    gpu[..4].copy_from_slice(&0x1234_5678u32.to_le_bytes());
    gpu[0x30..0x30 + header.len().min(0x50)].copy_from_slice(&header[..header.len().min(0x50)]);
    gpu.extend_from_slice(code);
    (control, gpu)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_words_decode_to_one_row_or_none(word: u64) {
        let n = isa::matches(word);
        prop_assert!(n <= 1);
        prop_assert_eq!(isa::decode(word, 8).is_some(), n == 1);
    }

    #[test]
    fn random_containers_never_panic(control in prop::collection::vec(any::<u8>(), 0..2100),
                                     code in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = code_size(&control);
        let _ = program_key(&control, &code);
        prop_assert!(GuestProgram::parse(&control, &code).is_err());
    }

    #[test]
    fn random_code_never_panics(stage in 0u32..6, header in prop::collection::vec(any::<u8>(), 0x50),
                                rows in prop::collection::vec((0usize..328, any::<u64>()), 1..60)) {
        // Words that decode, with random fields.
        let mut code = Vec::new();
        for (row, bits) in rows {
            if code.len() % 32 == 0 {
                code.extend_from_slice(&[0; 8]);
            }
            let row = &isa::table::ROWS[row];
            code.extend_from_slice(&(bits & !row.mask | row.value).to_le_bytes());
        }
        let (control, gpu) = program(stage, &header, &code);
        let guest = GuestProgram::parse(&control, &gpu).expect("a whole container");
        prop_assert!(!disassemble(&guest, None).is_empty());
        let mut translator = Translator::new();
        let _ = translator.translate(&guest, &Options::new(ConstantLayout::Production));
        let _ = translator.translate(&guest, &Options::new(ConstantLayout::Corpus));
    }
}

#[test]
fn recursion_and_endless_pushes_are_errors() {
    // SSY; BRA back to it: the stack would grow for ever.
    let ssy = 0xE290_0000_0000_0000u64 | 8 << 20;
    let bra = 0xE240_0000_0007_000Fu64 | (0xFF_FFE8u64 << 20);
    let mut code = vec![0u8; 8];
    for word in [ssy, bra, bra] {
        code.extend_from_slice(&word.to_le_bytes());
    }
    let (control, gpu) = program(5, &[], &code);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole container");
    let error = Translator::new().translate(&guest, &Options::new(ConstantLayout::Corpus)).expect_err("no program");
    assert!(error.to_string().contains("control flow"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_survived(data in prop::collection::vec(any::<u8>(), 0..900)) {
        bytes::run(&data);
    }

    #[test]
    fn any_words_decode_or_do_not(data in prop::collection::vec(any::<u8>(), 0..400)) {
        bytes::decode(&data);
    }

    #[test]
    fn any_jumps_are_survived(data in prop::collection::vec(any::<u8>(), 0..200)) {
        bytes::flow(&data);
    }

    #[test]
    fn any_file_is_survived(mut data in prop::collection::vec(any::<u8>(), 64..600), small in prop::collection::vec(0u8..3, 6)) {
        bytes::container(&data);
        // A header whose sizes may be right.
        data[..4].copy_from_slice(b"DKSH");
        for (n, size) in small.iter().enumerate().skip(1) {
            data[4 * n..4 * n + 4].copy_from_slice(&(u32::from(*size) << 7).to_le_bytes());
        }
        data[20..24].copy_from_slice(&1u32.to_le_bytes());
        bytes::container(&data);
    }
}

/// Whatever comes out is valid for plain Vulkan 1.3 (B520).
#[test]
fn b520_what_random_programs_translate_to_is_valid() {
    if std::process::Command::new("spirv-val").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "spirv-val is not installed");
        return;
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-spv");
    std::fs::create_dir_all(&folder).expect("a folder for modules");
    let mut random = Random(7);
    let mut translator = Translator::new();
    let mut files = Vec::new();
    for n in 0..200_000 {
        // Short programs: nearly every long one has something that is refused.
        let data: Vec<u8> = (0..2 + 10 * (1 + random.below(8))).map(|_| random.next() as u8).collect();
        let Some(t) = bytes::translate(&mut translator, &data) else { continue };
        let path = folder.join(format!("{n}.spv"));
        std::fs::write(&path, t.spirv.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>()).expect("a module");
        files.push((path, data));
        if files.len() == VALIDATED {
            break;
        }
    }
    let mut wrong = Vec::new();
    for (path, data) in &files {
        let out = std::process::Command::new("spirv-val").args(["--target-env", "vulkan1.3"]).arg(path).output();
        let out = out.expect("spirv-val runs");
        if !out.status.success() {
            let (control, gpu, _) = bytes::program(data);
            let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
            let text = String::from_utf8_lossy(&out.stderr).lines().take(2).collect::<Vec<_>>().join(" ");
            wrong.push(format!("{}: {text}\n{}", path.display(), disassemble(&guest, None)));
        }
    }
    assert_eq!(files.len(), VALIDATED, "random programs translate");
    assert!(wrong.is_empty(), "{} of {VALIDATED} are not valid:\n{}", wrong.len(), wrong.join("\n"));
}

const VALIDATED: usize = 120;
