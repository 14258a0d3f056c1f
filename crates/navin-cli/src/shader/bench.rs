//! `navin shader bench`: how fast programs are translated here.

use std::time::{Duration, Instant};

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
        let Ok(guest) = GuestProgram::parse(&r.control, &r.code) else { continue };
        let options = args.which.options(&r.control);
        let Ok(t) = translator.translate(&guest, &options) else { continue };
        words.push(t.spirv.len());
        let best = (0..args.rounds.max(1)).map(|_| time(&mut translator, &guest, &options)).min();
        times.push(best.unwrap_or_default());
        good.push((guest, options));
    }
    if good.is_empty() {
        return Err("none of the programs translates".into());
    }
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
             {rate:.0} programs a second on one thread, {rates:.0} on {}\n",
            good.len(),
            read.len() - good.len(),
            us(times[middle]),
            us(times[times.len() * 9 / 10]),
            words[middle],
            args.jobs
        ));
    }
    Ok(exit::OK)
}

fn time(translator: &mut Translator, guest: &GuestProgram<'_>, options: &navin_shader::Options) -> Duration {
    let start = Instant::now();
    std::hint::black_box(translator.translate(guest, options).is_ok());
    start.elapsed()
}
