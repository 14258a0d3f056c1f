//! A hash of the translator's own sources: what was translated by the same sources is the same (B516), whatever the
//! time, the path and the version control say of them.

use std::path::{Path, PathBuf};

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            files(&path, all);
        } else {
            all.push(path);
        }
    }
}

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=build.rs");
    let mut all = Vec::new();
    files(Path::new("src"), &mut all);
    all.sort();
    // FNV-1a.
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
    };
    for path in all {
        add(path.to_string_lossy().replace('\\', "/").as_bytes());
        add(&std::fs::read(&path).unwrap_or_default());
    }
    println!("cargo::rustc-env=NAVIN_TRANSLATOR={hash}");
}
