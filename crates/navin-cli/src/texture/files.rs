//! Files in and out: errors that name the file, output that appears whole or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use navin_texture::container;
use navin_texture::{GobOrder, Kind, Texture};

use super::shape::Shape;

/// Reads all textures of a file: one of the known kinds, or raw data with a description beside it. Textures of files
/// without names get the file's.
pub fn read(path: &Path, order: GobOrder) -> Result<Vec<Texture>, String> {
    let name = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let bytes = std::fs::read(path).map_err(|e| name(&e))?;
    let mut textures = if is_raw(path) {
        vec![Shape::read_beside(path)?.untile(&bytes).map_err(|e| name(&e))?]
    } else {
        container::read(&bytes, order).map_err(|e| name(&e))?
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for texture in textures.iter_mut().filter(|t| t.name.is_empty()) {
        texture.name = stem.clone().into_owned();
    }
    Ok(textures)
}

/// Whether a file is raw data with a description.
pub fn is_raw(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("bin") || e.eq_ignore_ascii_case("raw"))
}

/// The kind that a path's extension says.
pub fn kind_of(path: &Path) -> Option<Kind> {
    Kind::from_extension(path.extension()?.to_str()?)
}

/// Writes a file whole or not at all: under another name beside it, renamed at the end.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let file = path.file_name().ok_or_else(|| name(&"not the name of a file"))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(file);
    temporary.push(format!(".{}-{}.part", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let temporary = path.with_file_name(temporary);
    let written = std::fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|e| {
        // What is left of the attempt is of no use; that it could not be written is what is reported.
        let _ = std::fs::remove_file(&temporary);
        name(&e)
    })
}

/// All files of known kinds in a folder and the folders in it, sorted; links to folders are not followed.
pub fn walk(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let name = |e: std::io::Error| format!("{}: {e}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(name)? {
            let entry = entry.map_err(name)?;
            let path = entry.path();
            match entry.file_type().map_err(name)? {
                kind if kind.is_dir() => folders.push(path),
                _ if kind_of(&path).is_some() => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
