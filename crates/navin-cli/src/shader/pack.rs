//! `navin shader pack`: programs of any kind in one file, by key.
//!
//! A pack is a store ([`navin_shader::library::Store`]) whose records are under the key that the program's content gives
//! it, and hold its name, control section and GPU program, each behind its length (u32). What a build takes out of it, it
//! takes by key (B515).

use std::path::PathBuf;

use navin_shader::library::{Key, Store};
use navin_shader::program_key;

use super::Which;
use super::files::Read;
use crate::{complain, exit};

/// What `navin shader pack` takes.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// The pack; programs are added to one that is there
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs `navin shader pack`.
pub fn run(args: &Args) -> Result<u8, String> {
    let tell = |e: navin_shader::library::StoreError| format!("{}: {e}", args.out.display());
    let mut store = Store::open(&args.out, None).map_err(tell)?;
    let (mut code, mut records) = (exit::OK, Vec::new());
    for found in args.which.programs()? {
        match found.read()? {
            Read::Nvn { control, code: gpu } => {
                let key: Key = [program_key(&control, &gpu), 0];
                records.push((key, pack(&found.name, &control, &gpu)));
            }
            Read::Dksh(..) => {
                complain(format_args!("{}: packs hold programs of NVN; a DKSH file is its own container", found.name));
                code = exit::GUEST;
            }
        }
    }
    records.sort_by_key(|r| r.0);
    records.dedup_by_key(|r| r.0);
    let new: Vec<(Key, &[u8])> = records
        .iter()
        .filter(|(key, record)| store.get(*key).ok().flatten().as_ref() != Some(record))
        .map(|(key, record)| (*key, record.as_slice()))
        .collect();
    store.put_all(&new).map_err(tell)?;
    eprintln!("{} programs added, {} in {}", new.len(), store.len(), args.out.display());
    Ok(code)
}

fn pack(name: &str, control: &[u8], code: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(name.len() + control.len() + code.len() + 12);
    for part in [name.as_bytes(), control, code] {
        record.extend((part.len() as u32).to_le_bytes());
        record.extend_from_slice(part);
    }
    record
}

/// The first part of a record and what is behind it.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// The name in a record.
pub fn name_of(record: &[u8]) -> Option<String> {
    let (name, _) = part(record)?;
    String::from_utf8(name.to_vec()).ok().filter(|n| !n.is_empty())
}

/// Name, control section and GPU program of a record.
pub fn unpack(record: &[u8]) -> Result<(String, Vec<u8>, Vec<u8>), String> {
    let parts = || {
        let (_, rest) = part(record)?;
        let (control, rest) = part(rest)?;
        let (code, _) = part(rest)?;
        Some((name_of(record)?, control.to_vec(), code.to_vec()))
    };
    parts().ok_or_else(|| "its record in the pack is no program".into())
}
