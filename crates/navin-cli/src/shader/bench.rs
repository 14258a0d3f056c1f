//! `navin shader bench`: how fast programs are translated here.

use std::time::{Duration, Instant};

use navin_shader::library::{Store, StoreError};
use navin_shader::{GuestProgram, Translator};

use super::Which;
use super::files::Read;
use crate::exit;

/// What `navin shader bench` takes.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Threads of the second measurement
    #[arg(long, short, default_value_t = 2)]
    jobs: usize,
    /// Times that each program is translated
    #[arg(long, default_value_t = 20)]
    rounds: u32,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs `navin shader bench`.
pub fn run(args: &Args) -> Result<u8, String> {
    let read: Vec<Read> = args.which.programs()?.iter().map(super::Found::read).collect::<Result<_, _>>()?;
    let mut translator = Translator::new();
    let mut words = Vec::new();
    let mut times = Vec::new();
    let mut good = Vec::new();
    for r in &read {
        let Ok(guest) = r.program() else { continue };
        let options = args.which.options(r);
        let Ok(t) = translator.translate(&guest, &options) else { continue };
        words.push(t.spirv.len());
        let best = (0..args.rounds.max(1)).map(|_| time(&mut translator, &guest, &options)).min();
        times.push(best.unwrap_or_default());
        good.push((guest, options));
    }
    if good.is_empty() {
        return Err("none of the programs translates".into());
    }
    let kept = kept(&good, args.rounds)?;
    words.sort_unstable();
    times.sort_unstable();
    let middle = times.len() / 2;
    let one: Duration = times.iter().sum();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                let mut translator = Translator::new();
                for _ in 0..args.rounds.max(1) {
                    for (guest, options) in &good {
                        time(&mut translator, guest, options);
                    }
                }
            });
        }
    });
    let many = start.elapsed().as_secs_f64() / f64::from(args.rounds.max(1)) / args.jobs.max(1) as f64;
    let (rate, rates) = (good.len() as f64 / one.as_secs_f64(), good.len() as f64 / many);
    let us = |d: Duration| d.as_secs_f64() * 1e6;
    if args.json {
        let out = serde_json::json!({
            "programs": good.len(),
            "not_translated": read.len() - good.len(),
            "median_us": us(times[middle]),
            "median_us_from_cache": us(kept),
            "p90_us": us(times[times.len() * 9 / 10]),
            "median_spirv_words": words[middle],
            "per_second_one_thread": rate,
            "threads": args.jobs,
            "per_second_all_threads": rates,
        });
        super::print(&format!("{out:#}\n"));
    } else {
        super::print(&format!(
            "{} programs ({} do not translate): median {:.1} us, 90th percentile {:.1} us, {} SPIR-V words\n\
             {rate:.0} programs a second on one thread, {rates:.0} on {}\n\
             read from a cache and checked instead: median {:.1} us\n",
            good.len(),
            read.len() - good.len(),
            us(times[middle]),
            us(times[times.len() * 9 / 10]),
            words[middle],
            args.jobs,
            us(kept)
        ));
    }
    Ok(exit::OK)
}

/// The median of reading modules back from a store, and checking them.
fn kept(good: &[(GuestProgram<'_>, navin_shader::Options)], rounds: u32) -> Result<Duration, String> {
    let path = std::env::temp_dir().join(format!("navin-bench-{}.store", std::process::id()));
    let measure = || -> Result<Vec<Duration>, StoreError> {
        let mut store = Store::open(&path, None)?;
        let mut translator = Translator::new();
        for (guest, options) in good {
            let spirv = translator.translate(guest, options).map(|t| t.spirv).unwrap_or_default();
            let bytes: Vec<u8> = spirv.iter().flat_map(|w| w.to_le_bytes()).collect();
            store.put([guest.key, 0], &bytes)?;
        }
        let once = |key: u64| {
            let start = Instant::now();
            std::hint::black_box(store.get([key, 0])?);
            Ok(start.elapsed())
        };
        let best = |key| (0..rounds.max(1)).map(|_| once(key)).collect::<Result<Vec<_>, StoreError>>();
        good.iter().map(|(guest, _)| Ok(best(guest.key)?.into_iter().min().unwrap_or_default())).collect()
    };
    let times = measure();
    let _ = std::fs::remove_file(&path);
    let mut times = times.map_err(|e| format!("{}: {e}", path.display()))?;
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn time(translator: &mut Translator, guest: &GuestProgram<'_>, options: &navin_shader::Options) -> Duration {
    let start = Instant::now();
    std::hint::black_box(translator.translate(guest, options).is_ok());
    start.elapsed()
}
