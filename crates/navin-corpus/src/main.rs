//! `corpus`: runs the corpus by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;
use navin_corpus::gpu::Gpu;
use navin_corpus::guest::{self, Refusal, Translated};
use navin_corpus::index::{Corpus, Run};
use navin_corpus::runner::{Mode, Outcome};
use navin_corpus::scene::Scene;
use navin_corpus::supervise::{Workers, worker};
use navin_shader::GuestProgram;

/// Runs the corpus of guest GPU programs translated and from their reference SPIR-V, and compares the results.
#[derive(Parser)]
struct Arguments {
    /// Only programs whose name contains this.
    #[arg(long, default_value = "")]
    filter: String,
    /// Processes at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// What is compared.
    #[arg(long, value_enum, default_value_t = Mode::Guest)]
    mode: Mode,
    /// Corpus folder.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Write every outcome to this file as JSON; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print the programs that pass as well.
    #[arg(long)]
    all: bool,
    /// Print the listing and interface of one program, and write its SPIR-V as NAME.spv into the current folder.
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
    /// Answer program names from standard input (used by this program itself).
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let root = arguments.corpus.clone().unwrap_or_else(Corpus::default_root);
    if arguments.worker {
        return worker(&root, arguments.mode);
    }
    let corpus = Corpus::open(&root)?;
    if let Some(name) = &arguments.show {
        return show(&corpus, name);
    }
    let names: Vec<String> = corpus
        .programs
        .values()
        .filter(|p| p.run != Run::Companion && p.name.contains(&arguments.filter))
        .map(|p| p.name.clone())
        .collect();
    let workers = Workers {
        program: std::env::current_exe().context("this program's path")?,
        root,
        mode: arguments.mode,
        jobs: arguments.jobs,
    };
    let start = Instant::now();
    let to_file = arguments.json.as_ref().is_some_and(|p| p.as_os_str() == "-");
    let outcomes = workers.run(&names, &|name, outcome| {
        if !to_file && (arguments.all || *outcome != Outcome::Pass) {
            println!("{:<12} {name}: {}", outcome.word(), outcome.reason());
        }
    })?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in outcomes.values() {
        *counts.entry(outcome.word()).or_default() += 1;
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&outcomes)?;
        if to_file {
            println!("{text}");
        } else {
            std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
        }
    }
    let counts: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
    eprintln!("{} programs in {:.1} s: {}", outcomes.len(), start.elapsed().as_secs_f64(), counts.join(", "));
    Ok(())
}

/// Prints what the translator makes of one program.
fn show(corpus: &Corpus, name: &str) -> Result<()> {
    let program = corpus.get(name)?;
    let (control, code) = corpus.guest(name)?;
    println!("{}", navin_shader::disassemble(&GuestProgram::parse(&control, &code)?, None));
    let scene = Scene::new(corpus, program)?.context("a companion is shown with the program that it is for")?;
    let gpu = Gpu::open()?;
    match guest::translate(&gpu, corpus, &scene) {
        Ok(stages) => {
            for Translated { program: stage, translation, constants } in stages {
                println!("{}: {} bytes of constants, {:#?}", stage.name, constants.len(), translation.interface);
                if stage.name == name {
                    std::fs::write(format!("{name}.spv"), bytemuck::cast_slice::<u32, u8>(&translation.spirv))?;
                }
            }
            Ok(())
        }
        Err(Refusal::Unsupported { program, error }) => bail!("{program}: {error}"),
        Err(Refusal::Failed(error)) => Err(error),
    }
}
