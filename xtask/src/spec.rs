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

    #[test]
    fn ids_are_read_from_function_names() {
        assert_eq!(
            names("fn b224_links() {} fn b101_b102_sizes() {} fn b12_no() {} fn bc1_decode() {}"),
            [224, 101, 102]
        );
        assert_eq!(names("// b300_ is no function"), Vec::<u32>::new());
    }
}
