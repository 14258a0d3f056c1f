//! Files in and out: errors that name the file, output that appears whole or not at all.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use navin_texture::container;
use navin_texture::{GobOrder, Kind, Texture};

use super::shape::Shape;

/// A file's textures, and the console generation's order that block-linear data in it was taken to have.
pub struct Read {
    /// The textures; those of files without names have the file's.
    pub textures: Vec<Texture>,
    /// `--generation`, else what a raw file's description says, else the first.
    pub order: GobOrder,
}

/// Reads all textures of a file: one of the known kinds, or raw data with a description beside it. `order` is what
/// the command line says of the console generation, if anything.
pub fn read(path: &Path, order: Option<GobOrder>) -> Result<Read, String> {
    read_from(path, &read_bytes(path)?, order)
}

/// [`read`], of bytes that were read already.
pub fn read_from(path: &Path, bytes: &[u8], order: Option<GobOrder>) -> Result<Read, String> {
    let name = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let (mut textures, order) = if is_raw(path) {
        let mut shape = Shape::read_beside(path)?;
        shape.generation = order.map_or(shape.generation, GobOrder::generation);
        (vec![shape.untile(bytes).map_err(|e| name(&e))?], shape.order()?)
    } else {
        let order = order.unwrap_or(GobOrder::TegraX1);
        (container::read(bytes, order).map_err(|e| name(&e))?, order)
    };
    let stem = if is_stream(path) { "texture".into() } else { stem(path) };
    for texture in textures.iter_mut().filter(|t| t.name.is_empty()) {
        texture.name.clone_from(&stem);
    }
    Ok(Read { textures, order })
}

/// A file's bytes, or standard input's for `-`.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = match is_stream(path) {
        true => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        false => std::fs::read(path).map(|all| bytes = all),
    };
    read.map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(bytes)
}

/// Whether a path is standard input or output.
pub fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A file's name without its last extension.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Checks that files can be put into what is to be a folder.
pub fn check_folder(path: &Path) -> Result<(), String> {
    if path.exists() && !path.is_dir() || is_stream(path) {
        return Err(format!("{}: is no folder, and a folder's files go into one", path.display()));
    }
    Ok(())
}

/// Whether a file is raw data with a description.
pub fn is_raw(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("bin") || e.eq_ignore_ascii_case("raw"))
}

/// The kind that a path's extension says.
pub fn kind_of(path: &Path) -> Option<Kind> {
    Kind::from_extension(path.extension()?.to_str()?)
}

/// Writes a file whole or not at all. `-` is standard output.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_all(&[(path.to_owned(), bytes.to_vec())])
}

/// Writes several files, all or none: each under another name beside its own, and all are renamed when the last is
/// whole.
pub fn write_all(files: &[(PathBuf, Vec<u8>)]) -> Result<(), String> {
    let mut whole: Vec<(PathBuf, PathBuf)> = Vec::new();
    let mut result = Ok(());
    for (path, bytes) in files {
        // A link stays: what it leads to is written.
        let place = if path.is_symlink() { std::fs::canonicalize(path) } else { Ok(path.clone()) };
        let written = place.map_err(|e| format!("{}: {e}", path.display()));
        match written.and_then(|place| Ok(write_beside(&place, bytes)?.map(|temporary| (temporary, place)))) {
            Ok(Some(pair)) => whole.push(pair),
            Ok(None) => {}
            Err(e) => {
                result = Err(e);
                break;
            }
        }
    }
    for (temporary, path) in &whole {
        if result.is_ok() {
            result = std::fs::rename(temporary, path).map_err(|e| format!("{}: {e}", path.display()));
        }
        if result.is_err() {
            // What is left of the attempt is of no use; that it could not be written is what is reported.
            let _ = std::fs::remove_file(temporary);
        }
    }
    result
}

/// Writes what is to become a file beside it; where. Nothing for standard output, which has it at once.
fn write_beside(path: &Path, bytes: &[u8]) -> Result<Option<PathBuf>, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    if is_stream(path) {
        let mut out = std::io::stdout().lock();
        if out.is_terminal() {
            return Err("-: these bytes are nothing for a terminal: redirect them, or give a file's name".into());
        }
        return out.write_all(bytes).and_then(|()| out.flush()).map(|()| None).map_err(|e| name(&e));
    }
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let file = path.file_name().ok_or_else(|| name(&"not the name of a file"))?;
    if path.is_dir() {
        return Err(name(&"is a folder"));
    }
    // What is there may be written, or it stays; and a pipe or a device is written to, never replaced.
    let there = match std::fs::OpenOptions::new().write(true).open(path) {
        Ok(file) => Some(file),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(name(&e)),
    };
    let kept = there.as_ref().and_then(|file| file.metadata().ok());
    if let (Some(mut node), Some(metadata)) = (there, &kept)
        && !metadata.is_file()
    {
        return node.write_all(bytes).map(|()| None).map_err(|e| name(&e));
    }
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(file);
    temporary.push(format!(".{}-{}.part", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let temporary = path.with_file_name(temporary);
    let written = std::fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        kept.map_or(Ok(()), |metadata| file.set_permissions(metadata.permissions()))
    });
    match written {
        Ok(()) => Ok(Some(temporary)),
        Err(e) => {
            // As above.
            let _ = std::fs::remove_file(&temporary);
            Err(name(&e))
        }
    }
}

/// All files of known kinds in a folder and the folders in it, sorted, and raw data that has a description; links to
/// folders are not followed.
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
                _ if is_raw(&path) && Shape::path_beside(&path).is_file() => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
