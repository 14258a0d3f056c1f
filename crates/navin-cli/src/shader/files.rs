//! Programs on disk: pairs of NAME.control and NAME.code, DKSH files, packs ([`super::pack`]), and whatever other files
//! hold control sections and GPU programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use navin_shader::library::{self, Entry, Key, Store};
use navin_shader::{ConstantLayout, GuestProgram, dksh_count};

/// A program that was found.
pub struct Found {
    /// Its name: the path below the folder that was given, without extension; a number behind it where a file has
    /// several.
    pub name: String,
    source: Source,
}

enum Source {
    Pair(PathBuf),
    Dksh(Arc<[u8]>, usize),
    Inside(Arc<[u8]>, Entry),
    Pack(Arc<Store>, Key),
}

/// Its bytes.
pub enum Read {
    /// As NVN has it.
    Nvn {
        /// The control section.
        control: Vec<u8>,
        /// The GPU program.
        code: Vec<u8>,
    },
    /// A whole DKSH file and the program's number.
    Dksh(Arc<[u8]>, usize),
}

impl Read {
    /// The program.
    pub fn program(&self) -> Result<GuestProgram<'_>, String> {
        match self {
            Read::Nvn { control, code } => GuestProgram::parse(control, code),
            Read::Dksh(bytes, index) => GuestProgram::parse_dksh(bytes, *index),
        }
        .map_err(|e| e.to_string())
    }

    /// The control section; of a DKSH file none.
    pub fn control(&self) -> &[u8] {
        match self {
            Read::Nvn { control, .. } => control,
            Read::Dksh(..) => &[],
        }
    }

    /// What the program was compiled for, as far as it tells. The open toolchain's is the corpus's compiler.
    pub fn layout(&self) -> ConstantLayout {
        match self {
            Read::Nvn { control, .. } => ConstantLayout::detect(control),
            Read::Dksh(..) => ConstantLayout::Corpus,
        }
    }
}

impl Found {
    /// Reads the program's bytes.
    pub fn read(&self) -> Result<Read, String> {
        match &self.source {
            Source::Pair(stem) => {
                let file = |extension: &str| {
                    let path = with(stem, extension);
                    std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
                };
                Ok(Read::Nvn { control: file("control")?, code: file("code")? })
            }
            Source::Dksh(bytes, index) => Ok(Read::Dksh(Arc::clone(bytes), *index)),
            Source::Inside(bytes, entry) => {
                let part = |range: &std::ops::Range<usize>| bytes.get(range.clone()).unwrap_or_default().to_vec();
                Ok(Read::Nvn { control: part(&entry.control), code: part(&entry.code) })
            }
            Source::Pack(store, key) => {
                let record = store.get(*key).map_err(|e| e.to_string())?.ok_or("its record in the pack is damaged")?;
                super::pack::unpack(&record).map(|(_, control, code)| Read::Nvn { control, code })
            }
        }
    }

    /// The program's key, where it is known without reading it.
    pub fn key(&self) -> Option<u64> {
        match &self.source {
            Source::Pack(_, key) => Some(key[0]),
            Source::Inside(_, entry) => Some(entry.key),
            _ => None,
        }
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
                return Err(format!(
                    "{}: no program (NAME.control and NAME.code, or NAME.dksh) in this folder",
                    path.display()
                ));
            }
            all[first..].sort_by(|a, b| a.name.cmp(&b.name));
            continue;
        }
        let known = path.extension().is_some_and(|e| e == "control" || e == "code");
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !known && path.is_file() {
            container(path, &name(&path.with_extension("")), &mut all)?;
            continue;
        }
        let stem = if known { path.with_extension("") } else { path.clone() };
        all.push(Found { name: name(&stem), source: Source::Pair(stem) });
    }
    Ok(all)
}

/// The programs of a file that is none of a pair.
fn container(path: &Path, name: &str, all: &mut Vec<Found>) -> Result<(), String> {
    let tell = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    if Store::is_one(path) {
        let store = Arc::new(Store::read_only(path).map_err(|e| tell(&e))?);
        for key in store.keys() {
            let record = store.get(key).map_err(|e| tell(&e))?;
            let name = record.and_then(|r| super::pack::name_of(&r)).unwrap_or_else(|| format!("{:016x}", key[0]));
            all.push(Found { name, source: Source::Pack(Arc::clone(&store), key) });
        }
        return Ok(());
    }
    let bytes: Arc<[u8]> = std::fs::read(path).map_err(|e| tell(&e))?.into();
    let numbered = |n: usize, count: usize| if count == 1 { name.to_owned() } else { format!("{name}.{n}") };
    if bytes.starts_with(b"DKSH") {
        let count = dksh_count(&bytes).map_err(|e| tell(&e))?;
        all.extend((0..count).map(|n| Found { name: numbered(n, count), source: Source::Dksh(Arc::clone(&bytes), n) }));
        return Ok(());
    }
    let entries = library::scan(&bytes);
    if entries.is_empty() {
        return Err(tell(&"no program in this file"));
    }
    let count = entries.len();
    for (n, entry) in entries.into_iter().enumerate() {
        all.push(Found { name: numbered(n, count), source: Source::Inside(Arc::clone(&bytes), entry) });
    }
    Ok(())
}

fn walk(root: &Path, folder: &Path, all: &mut Vec<Found>) -> Result<(), String> {
    let name = |e: std::io::Error| format!("{}: {e}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(name)? {
        let entry = entry.map_err(name)?;
        let path = entry.path();
        let is = |extension: &str| path.extension().is_some_and(|e| e == extension);
        let stem = path.with_extension("");
        let short = || stem.strip_prefix(root).unwrap_or(&stem).display().to_string();
        if entry.file_type().map_err(name)?.is_dir() {
            walk(root, &path, all)?;
        } else if is("control") {
            all.push(Found { name: short(), source: Source::Pair(stem.clone()) });
        } else if is("dksh") {
            container(&path, &short(), all)?;
        }
    }
    Ok(())
}
