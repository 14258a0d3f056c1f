//! `navin shader translate` and `verify`: programs as SPIR-V, one of them or folders on all cores.
//!
//! Each program stands alone and goes its whole way on one thread (B519): one that does not translate is reported with
//! its reason at the end, makes the exit code 1, and stops no other (B512). With `--cache`, what was translated is kept
//! under the content that decides it (the program, the options, the translator's own sources), and taken from there by
//! whatever builds the same again, from whatever path (B516).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use navin_shader::library::{Key, Store};
use navin_shader::{Translator, VERSION};

use super::files::Read;
use super::{Found, Which, json, tables};
use crate::texture::{batch, files};
use crate::{complain, exit};

/// What `navin shader translate` takes.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
    /// Folder for NAME.spv and NAME.json
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
    /// Keep what is translated in this file, and take from it what was
    #[arg(long, value_name = "FILE")]
    cache: Option<PathBuf>,
    /// Largest size of the cache, in megabytes: the oldest entries go first
    #[arg(long, value_name = "MB", requires = "cache")]
    cache_limit: Option<u64>,
    /// Take from this cache as well, and never write to it
    #[arg(long, value_name = "FILE")]
    cache_from: Option<PathBuf>,
    /// Write the constants that each program reads and brings as JSON: left alone while no program changed
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
}

/// What `navin shader verify` takes.
#[derive(clap::Args)]
pub struct Verify {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
    /// The validator
    #[arg(long, value_name = "PROGRAM", default_value = "spirv-val")]
    validator: PathBuf,
}

#[derive(clap::Args)]
struct How {
    /// Threads; all cores when not given
    #[arg(long, short)]
    jobs: Option<usize>,
    /// No progress bar and no closing line
    #[arg(long, short)]
    quiet: bool,
    /// The outcome of every program as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// What became of a program.
struct Done {
    /// Words of its SPIR-V.
    words: usize,
    /// Its row of the tables.
    row: tables::Row,
}

/// The caches of a run.
struct Caches {
    own: Option<Mutex<Store>>,
    other: Option<Store>,
    hits: AtomicUsize,
}

impl Caches {
    fn open(args: &Args) -> Result<Caches, String> {
        let tell = |path: &Path, e: navin_shader::library::StoreError| format!("{}: {e}", path.display());
        let bound = args.cache_limit.map(|mb| mb << 20);
        let own = args.cache.as_ref().map(|path| Store::open(path, bound).map_err(|e| tell(path, e))).transpose()?;
        let other = args.cache_from.as_ref().map(|path| Store::read_only(path).map_err(|e| tell(path, e)));
        Ok(Caches { own: own.map(Mutex::new), other: other.transpose()?, hits: AtomicUsize::new(0) })
    }

    /// SPIR-V and interface of a key, where a cache has them whole.
    fn get(&self, key: Key) -> Option<(Vec<u8>, serde_json::Value)> {
        let own = self.own.as_ref().and_then(|own| lock(own).get(key).ok().flatten());
        let record = own.or_else(|| self.other.as_ref()?.get(key).ok().flatten())?;
        let (length, rest) = record.split_first_chunk::<4>()?;
        let (spirv, interface) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let interface = serde_json::from_slice(interface).ok()?;
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some((spirv.to_vec(), interface))
    }

    /// Keeps SPIR-V and interface; a cache that cannot be written is as good as none.
    fn put(&self, key: Key, spirv: &[u8], interface: &serde_json::Value) {
        let Some(own) = &self.own else { return };
        let mut record = (spirv.len() as u32).to_le_bytes().to_vec();
        record.extend_from_slice(spirv);
        record.extend(interface.to_string().into_bytes());
        if let Err(e) = lock(own).put(key, &record) {
            complain(format_args!("the cache: {e}"));
        }
    }
}

fn lock(store: &Mutex<Store>) -> std::sync::MutexGuard<'_, Store> {
    store.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs `navin shader translate`.
pub fn run(args: &Args) -> Result<u8, String> {
    let caches = Caches::open(args)?;
    let each = |found: &Found| {
        let read = found.read()?;
        let guest = read.program()?;
        let options = args.which.options(&read);
        // The options are few and the same for many: their text names them.
        let key = [guest.key, VERSION ^ tables::hash(format!("{options:?}").as_bytes())];
        let (spirv, interface) = match caches.get(key) {
            Some(kept) => kept,
            None => {
                let t = Translator::new().translate(&guest, &options).map_err(|e| e.to_string())?;
                let made = (bytes(&t.spirv), json::interface(&t.interface));
                caches.put(key, &made.0, &made.1);
                made
            }
        };
        let row = tables::Row::new(&guest, &interface);
        let mut description = json::head(&found.name, read.control(), &guest);
        description["spirv_words"] = (spirv.len() / 4).into();
        description["interface"] = interface;
        let path = |extension: &str| args.out.join(format!("{}.{extension}", found.name));
        files::write(&path("spv"), &spirv)?;
        files::write(&path("json"), format!("{description:#}\n").as_bytes())?;
        Ok(Done { words: spirv.len() / 4, row })
    };
    let programs = args.which.programs()?;
    let outcomes = all(&programs, &args.how, each);
    if let Some(path) = &args.tables {
        let rows: Vec<&tables::Row> = outcomes.iter().flatten().map(|done| &done.row).collect();
        let part = args.which.is_part() || rows.len() < programs.len();
        let told = tables::write(path, &rows, part)?;
        if !args.how.quiet {
            eprintln!("{told}");
        }
    }
    let hits = caches.hits.load(Ordering::Relaxed);
    let cached = if args.cache.is_some() || args.cache_from.is_some() {
        format!(", {hits} of them from the cache")
    } else {
        String::new()
    };
    Ok(report(&programs, &outcomes, &args.how, &format!("translated{cached}")))
}

/// Runs `navin shader verify`.
pub fn verify(args: &Verify) -> Result<u8, String> {
    let folder = std::env::temp_dir().join(format!("navin-verify-{}", std::process::id()));
    let version = Command::new(&args.validator).arg("--version").output();
    if let Err(e) = version {
        return Err(format!("{}: {e}; spirv-val comes with SPIRV-Tools", args.validator.display()));
    }
    let each = |found: &Found| {
        let read: Read = found.read()?;
        let guest = read.program()?;
        let t = Translator::new().translate(&guest, &args.which.options(&read)).map_err(|e| e.to_string())?;
        let path = folder.join(format!("{}.spv", found.name));
        files::write(&path, &bytes(&t.spirv))?;
        let out = Command::new(&args.validator).args(["--target-env", "vulkan1.3"]).arg(&path).output();
        let out = out.map_err(|e| format!("{}: {e}", args.validator.display()))?;
        if !out.status.success() {
            let text = String::from_utf8_lossy(&out.stderr);
            return Err(format!("not valid: {}", text.lines().next().unwrap_or_default()));
        }
        Ok(Done { words: t.spirv.len(), row: tables::Row::default() })
    };
    let programs = args.which.programs()?;
    let outcomes = all(&programs, &args.how, each);
    let _ = std::fs::remove_dir_all(&folder);
    Ok(report(&programs, &outcomes, &args.how, "valid"))
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Does `each` to all programs.
fn all(
    programs: &[Found],
    how: &How,
    each: impl Fn(&Found) -> Result<Done, String> + Sync,
) -> Vec<Result<Done, String>> {
    let threads = how.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let quiet = how.quiet || programs.len() == 1;
    batch::each(programs.len(), threads, quiet, |number| each(&programs[number]))
}

/// Reports those for which it failed.
fn report(programs: &[Found], outcomes: &[Result<Done, String>], how: &How, done: &str) -> u8 {
    let failed = outcomes.iter().filter(|o| o.is_err()).count();
    if how.json {
        let list = programs.iter().zip(outcomes).map(|(found, outcome)| match outcome {
            Ok(done) => serde_json::json!({ "name": found.name, "spirv_words": done.words }),
            Err(e) => serde_json::json!({ "name": found.name, "error": e }),
        });
        super::print(&format!("{:#}\n", serde_json::Value::Array(list.collect())));
    }
    for (found, outcome) in programs.iter().zip(outcomes) {
        if let Err(e) = outcome {
            complain(format_args!("{}: {e}", found.name));
        }
    }
    if !how.quiet {
        eprintln!("{} of {} programs {done}", programs.len() - failed, programs.len());
    }
    if failed == 0 { exit::OK } else { exit::GUEST }
}
