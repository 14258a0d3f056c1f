//! Where things are: the repository's root, the target folder, what cargo knows about the packages.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::shell;

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// What is made by set-up and belongs to this checkout alone.
pub fn setup_folder() -> PathBuf {
    root().join(".setup")
}

/// Where the dev profile's programs and libraries are built.
pub fn debug_folder() -> Result<PathBuf> {
    Ok(metadata()?.target_directory.join("debug"))
}

/// The part of `cargo metadata` that the chores read.
#[derive(Deserialize)]
pub struct Metadata {
    /// Every package, dependencies included.
    pub packages: Vec<Package>,
    /// Package ids of the workspace.
    pub workspace_members: Vec<String>,
    /// Target folder.
    pub target_directory: PathBuf,
}

/// A package of the dependency graph.
#[derive(Deserialize)]
pub struct Package {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Package id.
    pub id: String,
    /// Licence expression.
    pub license: Option<String>,
    /// Its Cargo.toml.
    pub manifest_path: PathBuf,
    /// Libraries, programs, examples, benches.
    pub targets: Vec<Target>,
}

/// A target of a package.
#[derive(Deserialize)]
pub struct Target {
    /// Name.
    pub name: String,
    /// lib, bin, example, bench, ...
    pub kind: Vec<String>,
}

/// Cargo's view of this checkout, asked once.
pub fn metadata() -> Result<&'static Metadata> {
    static METADATA: OnceLock<Metadata> = OnceLock::new();
    if let Some(metadata) = METADATA.get() {
        return Ok(metadata);
    }
    let text = shell::output(cargo().args(["metadata", "--format-version=1"]))?;
    let metadata = serde_json::from_str(&text).context("what cargo metadata printed")?;
    Ok(METADATA.get_or_init(|| metadata))
}

/// The cargo that runs this program, in the root.
pub fn cargo() -> std::process::Command {
    let mut command = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}
