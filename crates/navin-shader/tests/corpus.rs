//! Every program of the corpus is decoded, translated and validated.

mod common;

use std::collections::BTreeMap;
use std::process::Command;

use navin_shader::{GuestProgram, Translator};

/// Programs that are not translated yet, with the reason's beginning. Nothing else may fail.
const EXPECTED: &str = include_str!("unsupported.txt");

#[test]
fn every_instruction_word_matches_one_row() {
    let mut words = 0;
    for program in common::programs() {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        for offset in (8..guest.code.len() as u32).step_by(8).filter(|o| o % 32 != 0) {
            let word = navin_shader::isa::word_at(guest.code, offset).expect("inside");
            assert_eq!(navin_shader::isa::matches(word), 1, "{} {offset:#x} {word:#018x}", program.name);
            assert!(navin_shader::isa::decode(word, offset).is_some(), "{} {offset:#x}", program.name);
            words += 1;
        }
    }
    assert!(words > 26000, "only {words} words");
}

#[test]
fn the_corpus_translates_and_validates() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus-spv");
    std::fs::create_dir_all(&folder).expect("a folder for modules");
    let mut translator = Translator::new();
    let mut failed = BTreeMap::new();
    let (mut count, mut words) = (0, Vec::new());
    let mut files = Vec::new();
    let programs = common::programs();
    for program in &programs {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        match translator.translate(&guest, &program.options) {
            Ok(t) => {
                count += 1;
                words.push(t.spirv.len());
                let bytes: Vec<u8> = t.spirv.iter().flat_map(|w| w.to_le_bytes()).collect();
                let path = folder.join(format!("{}.spv", program.name));
                std::fs::write(&path, bytes).expect("write a module");
                files.push((program.name.clone(), path));
            }
            Err(e) => {
                failed.insert(program.name.clone(), e.to_string());
            }
        }
    }
    words.sort_unstable();
    println!("{count} of {} programs translated, median {} words", programs.len(), words[words.len() / 2]);
    for (name, e) in &failed {
        println!("{name}: {e}");
    }
    let expected: Vec<&str> = EXPECTED.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let unexpected: Vec<&String> = failed.keys().filter(|n| !expected.contains(&n.as_str())).collect();
    let mut invalid = Vec::new();
    match Command::new("spirv-val").arg("--version").output() {
        Err(_) if std::env::var_os("CI").is_none() => println!("spirv-val is not installed: modules not validated"),
        Err(e) => panic!("spirv-val: {e}"),
        Ok(_) => {
            for (name, path) in &files {
                let out = Command::new("spirv-val").args(["--target-env", "vulkan1.3"]).arg(path).output();
                let out = out.expect("spirv-val runs");
                if !out.status.success() {
                    invalid
                        .push(format!("{name}: {}", String::from_utf8_lossy(&out.stderr).lines().next().unwrap_or("")));
                }
            }
        }
    }
    for line in &invalid {
        println!("INVALID {line}");
    }
    assert!(invalid.is_empty(), "{} modules are not valid", invalid.len());
    assert!(unexpected.is_empty(), "not translated: {unexpected:?}");
}

#[test]
fn translation_is_deterministic_and_keeps_no_state() {
    let programs = common::programs();
    let mut used = Translator::new();
    for program in programs.iter().step_by(5) {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let first = used.translate(&guest, &program.options);
        assert_eq!(first, Translator::new().translate(&guest, &program.options), "{}", program.name);
    }
}

/// NVIDIA's driver takes NonWritable of a variable as said of its type: were the type that of a written buffer too, its
/// loads went over stores.
#[test]
fn buffers_that_are_only_read_share_no_type_with_written_ones() {
    const DECORATE: u32 = 71;
    const TYPE_POINTER: u32 = 32;
    const VARIABLE: u32 = 59;
    const NON_WRITABLE: u32 = 24;
    const STORAGE_BUFFER: u32 = 12;
    let mut translator = Translator::new();
    let mut both = 0;
    for program in common::programs() {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let Ok(translated) = translator.translate(&guest, &program.options) else { continue };
        let (mut pointers, mut read_only, mut variables) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut rest = &translated.spirv[5..];
        while let Some(&first) = rest.first() {
            let (words, after) = rest.split_at((first >> 16) as usize);
            match (first & 0xFFFF, words) {
                (DECORATE, [_, id, NON_WRITABLE]) => read_only.push(*id),
                (TYPE_POINTER, [_, id, STORAGE_BUFFER, to]) => drop(pointers.insert(*id, *to)),
                (VARIABLE, [_, ty, id, STORAGE_BUFFER]) => variables.push((*id, *ty)),
                _ => {}
            }
            rest = after;
        }
        let (read, written): (Vec<_>, Vec<_>) = variables.iter().partition(|(id, _)| read_only.contains(id));
        both += usize::from(!read.is_empty() && !written.is_empty());
        let types = |of: &[(u32, u32)]| of.iter().map(|(_, pointer)| pointers[pointer]).collect::<Vec<u32>>();
        let written = types(&written);
        assert!(types(&read).iter().all(|ty| !written.contains(ty)), "{}", program.name);
    }
    assert!(both > 50, "only {both} programs read one buffer and write another");
}
