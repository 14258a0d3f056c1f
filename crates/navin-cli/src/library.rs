//! Where libnvn is: beside this program, or in the `lib` folder next to its `bin`.

use std::path::PathBuf;

/// The file name of libnvn on this system.
pub const FILE: &str = if cfg!(target_os = "macos") {
    "libnvn.dylib"
} else if cfg!(windows) {
    "nvn.dll"
} else {
    "libnvn.so"
};

/// The environment variable in which this system's dynamic loader takes extra folders.
pub const PATH_VARIABLE: &str = if cfg!(target_os = "macos") {
    "DYLD_LIBRARY_PATH"
} else if cfg!(windows) {
    "PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// The folder that holds libnvn, or the folders where it was looked for.
pub fn find() -> Result<PathBuf, Vec<PathBuf>> {
    let Ok(program) = std::env::current_exe() else { return Err(vec![]) };
    let Some(folder) = program.parent() else { return Err(vec![]) };
    let mut tried = vec![folder.to_path_buf()];
    if let Some(above) = folder.parent() {
        tried.push(above.join("lib"));
    }
    match tried.iter().find(|folder| folder.join(FILE).is_file()) {
        Some(found) => Ok(found.clone()),
        None => Err(tried),
    }
}
