//! DKSH files: programs of the corpus put into one translate to what they are, and damaged files are errors.

mod common;

use navin_shader::{DKSH_MAGIC, GuestProgram, Stage, Translator, dksh_count};
use proptest::prelude::*;

/// A DKSH file of programs, as its records and sections are laid out by the toolchain.
fn dksh(programs: &[&common::Program]) -> Vec<u8> {
    let mut code: Vec<u8> = Vec::new();
    let mut records = Vec::new();
    for program in programs {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let compute = guest.stage == Stage::Compute;
        code.resize(code.len().next_multiple_of(256), 0);
        if !compute {
            // Machine code begins at a multiple of 128.
            code.resize(code.len() + 0x30, 0);
        }
        let entry = code.len();
        if !compute {
            code.extend(guest.header.words().iter().flat_map(|w| w.to_le_bytes()));
        }
        code.extend_from_slice(guest.code);
        code.resize(code.len().next_multiple_of(256), 0);
        let constants = code.len();
        code.extend_from_slice(guest.constants);
        code.resize(code.len().next_multiple_of(256), 0);
        let kind = match guest.stage {
            Stage::Vertex => 0,
            Stage::Fragment => 1,
            Stage::Geometry => 2,
            Stage::TessControl => 3,
            Stage::TessEvaluation => 4,
            Stage::Compute => 5u32,
        };
        let mut record = [0u8; 64];
        let mut put = |at: usize, word: u32| record[at..at + 4].copy_from_slice(&word.to_le_bytes());
        put(0, kind);
        put(4, entry as u32);
        put(8, guest.registers);
        put(12, constants as u32);
        put(16, guest.constants.len() as u32);
        put(20, guest.warp_scratch_bytes);
        if compute {
            for (n, size) in guest.local_size.into_iter().enumerate() {
                put(24 + 4 * n, size);
            }
            put(36, guest.shared_bytes);
            put(40, guest.local_bytes);
            put(52, u32::from(guest.has_barriers));
        } else if guest.stage == Stage::Fragment {
            record[25] = guest.early_fragment_tests.into();
            record[27] = guest.per_sample.into();
        }
        records.extend(record);
    }
    let control = (24 + records.len()).next_multiple_of(256);
    let header = [DKSH_MAGIC, 24, control as u32, code.len() as u32, 24, programs.len() as u32];
    let mut file: Vec<u8> = header.iter().flat_map(|w| w.to_le_bytes()).collect();
    file.extend(records);
    file.resize(control, 0);
    file.extend(code);
    file
}

#[test]
fn programs_of_a_dksh_translate_as_they_do_from_nvn_s_containers() {
    let programs: Vec<common::Program> = common::programs().into_iter().step_by(7).collect();
    let all: Vec<&common::Program> = programs.iter().collect();
    let file = dksh(&all);
    assert_eq!(dksh_count(&file), Ok(all.len()));
    let mut translator = Translator::new();
    let mut compared = 0;
    for (n, program) in programs.iter().enumerate() {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let other = GuestProgram::parse_dksh(&file, n).expect(&program.name);
        assert_eq!(other.stage, guest.stage, "{}", program.name);
        assert_eq!(other.constants, guest.constants, "{}", program.name);
        let (a, b) = (translator.translate(&guest, &program.options), translator.translate(&other, &program.options));
        let (Ok(a), Ok(b)) = (a, b) else { continue };
        assert_eq!(a, b, "{}", program.name);
        compared += 1;
    }
    assert!(compared > 45, "{compared} programs");
}

#[test]
fn one_that_is_not_there_is_named() {
    let programs = common::programs();
    let file = dksh(&[&programs[0]]);
    assert_eq!(
        GuestProgram::parse_dksh(&file, 1).expect_err("one program").to_string(),
        "DKSH: there is no program of that number"
    );
    assert!(GuestProgram::parse_dksh(&file[..file.len() - 256], 0).is_err());
    assert!(dksh_count(b"DKSH").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_files_never_panic(at in 0usize..96, byte: u8, cut in 0usize..4096) {
        let programs = common::programs();
        let program = programs.iter().find(|p| p.name == "fs_mrt8").expect("a program");
        let mut file = dksh(&[program]);
        file[at] = byte;
        file.truncate(file.len().saturating_sub(cut));
        for n in 0..dksh_count(&file).unwrap_or(0).min(3) {
            if let Ok(guest) = GuestProgram::parse_dksh(&file, n) {
                let _ = Translator::new().translate(&guest, &program.options);
            }
        }
    }
}
