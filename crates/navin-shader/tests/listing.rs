//! Listings of programs of the corpus, as text. `NAVIN_BLESS=1` writes them anew; look at the difference before you
//! commit it.

mod common;

use std::path::Path;

use navin_shader::isa::disasm::{Schedule, lines};
use navin_shader::{GuestProgram, disassemble};

const PROGRAMS: [&str; 4] = ["cf_loop_nested", "fs_mrt8", "tex_grad", "vs_instancing"];

#[test]
fn listings_are_what_they_were() {
    let bless = std::env::var_os("NAVIN_BLESS").is_some();
    for program in common::programs().iter().filter(|p| PROGRAMS.contains(&p.name.as_str())) {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let text = disassemble(&guest, Some(program.options.layout));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{}.lst", program.name));
        if bless {
            std::fs::write(&path, &text).expect("a snapshot");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "NAVIN_BLESS=1 writes it anew");
    }
}

#[test]
fn every_jump_of_the_corpus_has_its_label() {
    let mut jumps = 0;
    for program in common::programs() {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let lines = lines(&guest, None);
        for line in lines.iter().filter(|l| l.target.is_some()) {
            let to = lines.iter().find(|l| Some(l.offset) == line.target);
            let label = to.and_then(|l| l.label).unwrap_or_else(|| panic!("{}: {}", program.name, line.text));
            assert!(line.text.ends_with(&format!("L{label}")), "{}: {}", program.name, line.text);
            jumps += 1;
        }
    }
    assert!(jumps > 500, "{jumps} jumps");
}

#[test]
fn scheduling_words_are_taken_apart() {
    // Stall 6, no yield, write 2, nothing read, waits for 0 and 3, operand b is used again.
    let bits = 6 | 1 << 4 | 2 << 5 | 7 << 8 | 0b1001 << 11 | 0b10 << 17;
    let expected = Schedule { stall: 6, yields: false, writes: Some(2), reads: None, waits: 0b1001, reuse: 0b10 };
    assert_eq!(Schedule::from_bits(bits), expected);
}
