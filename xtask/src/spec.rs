//! `./x spec`: which behaviours have a test. A test of behaviour B224 is a function whose name begins `b224_`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::shell::say;
use crate::workspace;

/// What `./x spec` takes.
#[derive(clap::Args, Default)]
pub struct Args {
    /// List the behaviours without a test
    #[arg(long)]
    missing: bool,
}

/// Prints the coverage.
///
/// # Errors
/// The list of behaviours cannot be read, or a test is named after none of them.
pub fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let text = std::fs::read_to_string(root.join("docs/behaviours.tsv")).context("reading docs/behaviours.tsv")?;
    let behaviours: BTreeMap<u32, &str> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.strip_prefix('B')?.split_once('\t'))
        .filter_map(|(id, title)| Some((id.parse().ok()?, title)))
        .collect();
    let mut tested = BTreeSet::new();
    for folder in ["crates", "tests", "xtask"] {
        scan(&root.join(folder), &mut tested)?;
    }
    if let Some(id) = tested.iter().find(|id| !behaviours.contains_key(id)) {
        bail!("a test is named b{id}_..., but docs/behaviours.tsv has no B{id}");
    }
    if args.missing {
        for (id, title) in behaviours.iter().filter(|(id, _)| !tested.contains(id)) {
            println!("B{id}  {title}");
        }
    }
    say(format_args!("{} of {} behaviours have a test named after them", tested.len(), behaviours.len()));
    Ok(())
}

/// Adds the ids of tests in the Rust files under `folder`.
fn scan(folder: &Path, tested: &mut BTreeSet<u32>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            scan(&path, tested)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            tested.extend(names(&std::fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The ids of functions named `b224_...`; several may stand in one name, as in `b224_b225_...`.
fn names(text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    for piece in text.split("fn ").skip(1) {
        for part in piece.split('_') {
            match part.strip_prefix('b').and_then(|digits| digits.parse().ok()) {
                Some(id) if (100..1000).contains(&id) => ids.push(id),
                _ => break,
            }
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Guards {
        set: Vec<Set>,
    }

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Set {
        name: String,
        #[serde(default)]
        tests: Vec<String>,
        #[serde(default)]
        programs: Vec<String>,
        at_least: usize,
    }

    /// The names of the functions behind `#[test]` in a file.
    fn tests_in(text: &str) -> Vec<&str> {
        text.split("#[test]").skip(1).filter_map(|rest| rest.split_once("fn ")?.1.split('(').next()).collect()
    }

    fn all_tests(folder: &Path, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                all_tests(&path, names);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                names.extend(tests_in(&text).into_iter().map(str::to_owned));
            }
        }
    }

    #[test]
    fn b591_the_sets_that_guard_scheduling_are_there() {
        let root = workspace::root();
        let guards: Guards = toml::from_str(&std::fs::read_to_string(root.join("docs/guards.toml")).unwrap()).unwrap();
        let mut names = Vec::new();
        all_tests(&root.join("crates"), &mut names);
        for set in &guards.set {
            let programs = set
                .programs
                .iter()
                .map(|program| tests_in(&std::fs::read_to_string(root.join(program)).expect(program)).len());
            let named = names.iter().filter(|name| set.tests.iter().any(|beginning| name.starts_with(beginning)));
            let there = programs.sum::<usize>() + named.count();
            assert!(there >= set.at_least, "{}: {there} tests of {}", set.name, set.at_least);
            for beginning in &set.tests {
                assert!(names.iter().any(|name| name.starts_with(beginning)), "{}: no {beginning}", set.name);
            }
        }
    }

    #[test]
    fn ids_are_read_from_function_names() {
        assert_eq!(
            names("fn b224_links() {} fn b101_b102_sizes() {} fn b12_no() {} fn bc1_decode() {}"),
            [224, 101, 102]
        );
        assert_eq!(names("// b300_ is no function"), Vec::<u32>::new());
    }
}
