//! The IR of programs of the corpus after all passes, as text: what folding, sharing, dead code, phis and types make of
//! them. `NAVIN_BLESS=1` writes them anew; look at the difference before you commit it.

mod common;

use std::path::Path;

use navin_shader::{GuestProgram, Translator};

/// Programs, and what their text is there to show.
const PROGRAMS: [(&str, &str); 8] = [
    ("int_bfi", "bit fields with constant places; storage slots recognised from pointers"),
    ("int_mul_lo", "three XMADs become one product"),
    ("cf_loop_nested", "phis at heads of loops, trivial ones gone"),
    ("ubo_array_scalar", "constant banks by constant and computed offsets"),
    ("flt_minmax", "float words without casts"),
    ("fs_mrt8", "outputs of a fragment program; dead interpolation"),
    ("vs_instancing", "built-ins and attributes by vector"),
    ("tex_grad", "texture accesses with their operands"),
];

#[test]
fn the_ir_is_what_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let bless = std::env::var_os("NAVIN_BLESS").is_some();
    let programs = common::programs();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (name, shows) in PROGRAMS {
        let Some(program) = programs.iter().find(|p| p.name == name) else { continue };
        seen += 1;
        let guest = GuestProgram::parse(&program.control, &program.code).expect(name);
        let ir = Translator::new().print_ir(&guest, &program.options).unwrap_or_else(|e| panic!("{name}: {e}"));
        let text = format!("; {name}: {shows}\n{ir}");
        let path = folder.join(format!("{name}.ir"));
        if bless {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&path, &text).expect("a snapshot");
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        if there != text {
            let line = there.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0);
            wrong.push(format!("{name}, line {}: {:?}", line + 1, text.lines().nth(line)));
        }
    }
    assert_eq!(seen, PROGRAMS.len(), "programs of the corpus");
    assert!(wrong.is_empty(), "NAVIN_BLESS=1 writes them anew:\n{}", wrong.join("\n"));
}
