//! Programs on disk: pairs of NAME.control and NAME.code.

use std::path::{Path, PathBuf};

/// A program that was found.
pub struct Found {
    /// Its name: the path below the folder that was given, without extension.
    pub name: String,
    stem: PathBuf,
}

/// Its two files.
pub struct Read {
    pub control: Vec<u8>,
    pub code: Vec<u8>,
}

impl Found {
    /// Reads both files.
    pub fn read(&self) -> Result<Read, String> {
        let file = |extension: &str| {
            let path = with(&self.stem, extension);
            std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
        };
        Ok(Read { control: file("control")?, code: file("code")? })
    }
}

/// The stem with an extension added: names may have dots.
fn with(stem: &Path, extension: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// The programs that paths mean, those of a folder sorted by name; links to folders are not followed.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Found>, String> {
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            let first = all.len();
            walk(path, path, &mut all)?;
            if all.len() == first {
                return Err(format!("{}: no program (NAME.control and NAME.code) in this folder", path.display()));
            }
            all[first..].sort_by(|a, b| a.name.cmp(&b.name));
            continue;
        }
        let known = path.extension().is_some_and(|e| e == "control" || e == "code");
        let stem = if known { path.with_extension("") } else { path.clone() };
        let name = stem.file_name().unwrap_or_default().to_string_lossy().into_owned();
        all.push(Found { name, stem });
    }
    Ok(all)
}

fn walk(root: &Path, folder: &Path, all: &mut Vec<Found>) -> Result<(), String> {
    let name = |e: std::io::Error| format!("{}: {e}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(name)? {
        let entry = entry.map_err(name)?;
        let path = entry.path();
        if entry.file_type().map_err(name)?.is_dir() {
            walk(root, &path, all)?;
        } else if path.extension().is_some_and(|e| e == "control") {
            let stem = path.with_extension("");
            let name = stem.strip_prefix(root).unwrap_or(&stem).display().to_string();
            all.push(Found { name, stem });
        }
    }
    Ok(())
}
