//! Tables over all programs of a build: what each brings as constants (bank 1), and how far into each bank it reads.
//!
//! The file names what it was made of; while that is the same it is left as it is (B518). Tables of a part of a build
//! say so in the file and once on the terminal (B514).

use std::path::Path;

use navin_shader::GuestProgram;
use serde_json::{Value, json};

use crate::texture::files;

/// A program's row.
#[derive(Default)]
pub struct Row {
    key: u64,
    row: Value,
}

impl Row {
    /// The row of a program and its interface as JSON.
    pub fn new(guest: &GuestProgram<'_>, interface: &Value) -> Row {
        let row = json!({
            "key": format!("{:016x}", guest.key),
            "stage": guest.stage.to_string(),
            "bank_1": { "bytes": guest.constants.len(), "hash": format!("{:016x}", hash(guest.constants)) },
            "reads": interface["constants"],
        });
        Row { key: guest.key, row }
    }
}

/// A hash of bytes: FNV-1a.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01B3))
}

/// Writes the tables where they are of other programs; a line about what was done.
pub fn write(path: &Path, rows: &[&Row], part: bool) -> Result<String, String> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|r| r.key);
    rows.dedup_by_key(|r| r.key);
    let keys: Vec<u8> = rows.iter().flat_map(|r| r.key.to_le_bytes()).collect();
    let inputs = format!("{:016x}", hash(&keys) ^ navin_shader::VERSION ^ u64::from(part));
    let partial = if part { "; they are of a part of the programs" } else { "" };
    let there = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    if there.is_some_and(|there| there["inputs"] == inputs.as_str()) {
        return Ok(format!("{}: up to date{partial}", path.display()));
    }
    let list: Vec<&Value> = rows.iter().map(|r| &r.row).collect();
    let tables = json!({ "inputs": inputs, "whole": !part, "programs": list });
    files::write(path, format!("{tables:#}\n").as_bytes())?;
    Ok(format!("{}: tables of {} programs{partial}", path.display(), rows.len()))
}
