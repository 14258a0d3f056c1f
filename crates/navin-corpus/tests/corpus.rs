//! The corpus on the device at hand. `expected.txt` lists the programs whose guest form agrees with the reference.

use std::collections::BTreeSet;
use std::path::Path;

use navin_corpus::index::{Corpus, Run};
use navin_corpus::runner::{Mode, Outcome};
use navin_corpus::supervise::Workers;

fn run(names: &[String], mode: Mode) -> Vec<(String, Outcome)> {
    let workers = Workers { program: env!("CARGO_BIN_EXE_corpus").into(), root: Corpus::default_root(), mode, jobs: 2 };
    let outcomes = workers.run(names, &|_, _| {}).expect("workers start");
    assert_eq!(outcomes.len(), names.len(), "every program has an outcome");
    outcomes.into_iter().collect()
}

fn programs() -> Vec<String> {
    let corpus = Corpus::open(&Corpus::default_root()).expect("the corpus of this repository");
    corpus.programs.values().filter(|p| p.run != Run::Companion).map(|p| p.name.clone()).collect()
}

/// Proves the runner: no difference where there is none.
#[test]
fn references_agree_with_themselves() {
    let names = programs();
    let mut passed = 0;
    for (name, outcome) in run(&names, Mode::Reference) {
        match outcome {
            Outcome::Pass => passed += 1,
            Outcome::Skipped(_) => {}
            other => panic!("{name} against itself: {} {}", other.word(), other.reason()),
        }
    }
    assert!(passed * 10 > names.len() * 9, "{passed} of {}", names.len());
}

/// Proves the comparison: other inputs are seen, whatever the kind of resource and rule.
#[test]
fn other_inputs_are_seen() {
    let names = [
        "atomic_add",
        "big_pbr",
        "dbl_fma",
        "flt_minmax",
        "fs_derivatives",
        "fs_mrt8",
        "fs_sample_id",
        "gs_lines_adjacency",
        "gs_passthrough",
        "gs_triangles_to_lines",
        "img_atomic_add",
        "img_store_formats",
        "int_bfi",
        "shared_basic",
        "tc_bezier",
        "te_isolines",
        "te_point_mode",
        "tex_grad",
        "tex_shadow_gather",
        "ubo_array_scalar",
        "vs_attr_mat",
    ]
    .map(str::to_string);
    for (name, outcome) in run(&names, Mode::Corrupted) {
        assert!(matches!(outcome, Outcome::Mismatch(_)), "{name}: {} {}", outcome.word(), outcome.reason());
    }
}

#[test]
fn guest_forms_agree_with_their_references() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("expected.txt");
    let text = std::fs::read_to_string(list).expect("expected.txt");
    let expected: BTreeSet<&str> =
        text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let names = programs();
    for name in &expected {
        assert!(names.iter().any(|n| n == name), "expected.txt names {name}, which the corpus has not");
    }
    let mut complaints = Vec::new();
    for (name, outcome) in run(&names, Mode::Guest) {
        let listed = expected.contains(name.as_str());
        match outcome {
            Outcome::Pass if listed => {}
            Outcome::Pass => complaints.push(format!("{name} passes: add it to expected.txt")),
            // What this device lacks says nothing about the translator.
            Outcome::Skipped(_) => {}
            other if listed => complaints.push(format!("{name}: {}: {}", other.word(), other.reason())),
            _ => {}
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
