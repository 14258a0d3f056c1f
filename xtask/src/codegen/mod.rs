//! `cargo xtask gen`: writes the Rust tables of `navin-abi` and other crates and the clients' `nvn.h` from `facts/`.
//!
//! The files are checked in, so that a build needs no generator; `gen --check` and a test fail when they are
//! stale. Output depends on nothing but the tables and this code.

mod facts;
mod header;
mod layouts;
mod rust;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use facts::Facts;

use crate::{gen_formats, gen_isa};

/// Options of `cargo xtask gen`.
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; fail when a generated file differs from what would be written
    #[arg(long)]
    check: bool,
}

/// The repository's root.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Every generated file: path from the root, content.
fn outputs(root: &Path) -> Result<Vec<(&'static str, String)>> {
    let facts = Facts::read(&root.join("facts"))?;
    let table = |name: &str| {
        let path = root.join("facts").join(name);
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    };
    Ok(vec![
        ("crates/navin-abi/src/generated/enums.rs", rust::enums(&facts)),
        ("crates/navin-abi/src/generated/functions.rs", rust::functions(&facts)),
        ("crates/navin-abi/src/generated/for_each.rs", rust::for_each(&facts)),
        ("crates/navin-abi/src/generated/pfn.rs", rust::pfn(&facts)),
        ("crates/navin-abi/src/generated/device_info.rs", rust::device_info(&facts)),
        ("crates/navin-abi/src/generated/structs.rs", rust::structs(&facts)),
        ("crates/navin-abi/src/generated/sizes.rs", rust::sizes(&facts)),
        (gen_formats::OUTPUT, gen_formats::table(&table("nvn_formats.tsv")?)?),
        (
            "crates/navin-shader/src/isa/table.rs",
            gen_isa::generate(&table("maxwell_isa.tsv")?).map_err(|e| anyhow!("maxwell_isa.tsv: {e}"))?,
        ),
        ("clients/include/nvn.h", header::nvn_h(&facts)),
    ])
}

/// Writes, or with `--check` compares, all generated files.
pub fn run(args: &Args) -> Result<()> {
    let root = root();
    let mut stale = Vec::new();
    for (path, content) in outputs(&root)? {
        let file = root.join(path);
        if std::fs::read_to_string(&file).is_ok_and(|old| old == content) {
            continue;
        }
        stale.push(path);
        if !args.check {
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&file, content).with_context(|| format!("writing {path}"))?;
            println!("wrote {path}");
        }
    }
    if args.check && !stale.is_empty() {
        bail!("stale, run `cargo xtask gen`: {}", stale.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_current() {
        run(&Args { check: true }).unwrap();
    }
}
