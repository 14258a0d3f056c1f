//! `navin run`: a guest as a child process, followed by its status lines, ended cleanly, summed up.
//!
//! The settings go to the child as `NAVIN_*` variables, so that a guest run by hand with the same variables
//! behaves the same. What the child reports comes back through [`child`], is shown by [`progress`] and ends in
//! [`summary`].

mod child;
mod events;
mod progress;
mod signals;
mod summary;

use std::path::PathBuf;
use std::time::Duration;

use navin::config::{Config, parse_size};

use crate::{complain, exit, library};

/// What `navin run` takes.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// End after this many presented frames [default: when the guest ends]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// Write presented frames into this folder, made if missing, as frame-000123.png
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Size of the guest's window, such as 1280x720 [default: the guest's choice]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(u32, u32)>,

    /// With --out: write only every K-th frame, the first one first
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub every: Option<u64>,

    /// With --out: write bare RGBA8 rows (frame-000123-1280x720.rgba) instead of PNG
    #[arg(long)]
    pub raw: bool,

    /// Print one JSON object with times and counters at the end; what the guest prints goes to standard error
    #[arg(long)]
    pub json: bool,

    /// Use the Vulkan device whose name contains this, letter case ignored, or the one of this number
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// Load the Vulkan validation layers; any message makes the run fail (exit code 4)
    #[arg(long)]
    pub validate: bool,

    /// Any fault line, a thing the guest did that Navin cannot follow, makes the run fail (exit code 5)
    #[arg(long)]
    pub strict: bool,

    /// End the guest as failed when it runs longer than this
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,

    /// Start the guest through another program, such as "gdb --args" or valgrind [default: $NAVIN_WRAPPER]
    #[arg(long, value_name = "COMMAND")]
    pub wrapper: Option<String>,

    /// Show no progress and no summary
    #[arg(long, short)]
    pub quiet: bool,

    /// The guest: an executable that is linked to libnvn
    pub program: PathBuf,

    /// Arguments for the guest
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
}

const AFTER_HELP: &str = "\
Examples:
  navin run ./triangle
      Runs until the guest ends or you press Ctrl-C, with frames a second.
  navin run --frames 300 --out shots --every 60 ./cube
      Ends after frame 299 and writes frames 0, 60, 120, 180, 240 to shots/.
  navin run --size 1920x1080 --device llvmpipe ./ui
      A larger window, on the CPU's Vulkan device.
  navin run --json --frames 600 ./streaming > figures.json
      Times and counters for a script.
  navin run --validate --strict --frames 60 ./particles
      As the tests run it: fails on a validation message or a fault line.
  navin run --wrapper 'gdb --args' ./triangle
      The guest under a debugger.

Exit codes:
  0 well    1 the guest failed    2 usage    3 no Vulkan device    4 validation messages
  5 fault lines with --strict    130 stopped by Ctrl-C

Log lines of the driver go to standard error; NAVIN_LOG=navin=debug shows more of them.";

fn size(text: &str) -> Result<(u32, u32), String> {
    parse_size(text).ok_or_else(|| "give WIDTHxHEIGHT in pixels, such as 1280x720, each from 1 to 16384".into())
}

/// Runs the guest; the exit code of the program.
pub fn run(args: &Args) -> u8 {
    if args.out.is_none() && (args.every.is_some() || args.raw) && std::env::var_os("NAVIN_OUT").is_none() {
        complain("--every and --raw say how frames are written, but no folder is given; add --out DIR");
        return exit::USAGE;
    }
    let settings = settings(args);
    let config = match Config::load_with(&settings) {
        Ok(config) => config,
        Err(e) => {
            complain(e);
            return exit::USAGE;
        }
    };
    let Some(program) = find_program(&args.program) else {
        let path = args.program.display();
        complain(format_args!("{path}: no such program. Give the path of a guest, for example ./triangle"));
        return exit::USAGE;
    };
    // The driver makes the folder too, but a guest can only say that it found no device.
    if let Some(folder) = &config.out
        && let Err(e) = std::fs::create_dir_all(folder)
    {
        complain(format_args!(
            "{}: the folder for frames cannot be made: {e}; give another with --out",
            folder.display()
        ));
        return exit::USAGE;
    }
    let library = match library::find() {
        Ok(folder) => Some(folder),
        Err(tried) => {
            let tried: Vec<_> = tried.iter().map(|folder| folder.display().to_string()).collect();
            complain(format_args!(
                "warning: {} is not beside this program (looked in {}); the guest must find it by itself",
                library::FILE,
                tried.join(" and ")
            ));
            None
        }
    };

    let wrapper = args.wrapper.clone().or_else(|| std::env::var("NAVIN_WRAPPER").ok());
    let mut command = child::Command::new(&program, &args.args, wrapper.as_deref());
    command.settings(&settings);
    if let Some(folder) = &library {
        command.library_folder(folder);
    }
    let name = args.program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut progress = progress::Progress::new(&name, config.frames, args.quiet);
    command.output(if progress.is_bar() {
        child::Output::Lines
    } else if args.json {
        child::Output::ToStandardError
    } else {
        child::Output::Inherit
    });
    let mut tally = events::Tally::default();
    let timeout = args.timeout.map(Duration::from_secs);
    let end = match child::follow(command, timeout, &mut tally, &mut progress) {
        Ok(end) => end,
        Err(e) => {
            progress.clear();
            complain(format_args!("{}: cannot be started: {e}", program.display()));
            return exit::USAGE;
        }
    };
    progress.clear();

    let summary = summary::Summary::new(&name, &config, &tally, &end);
    if !args.quiet || summary.code() != exit::OK {
        eprintln!("{summary}");
    }
    if args.json {
        println!("{}", summary.json());
    }
    summary.code()
}

/// The options given, as the variables that the driver reads.
fn settings(args: &Args) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            settings.push((format!("NAVIN_{name}"), value));
        }
    };
    let flag = |given: bool| given.then(|| "true".to_owned());
    set("FRAMES", args.frames.map(|n| n.to_string()));
    set("OUT", args.out.as_ref().map(|path| path.display().to_string()));
    set("EVERY", args.every.map(|n| n.to_string()));
    set("RAW", flag(args.raw));
    set("SIZE", args.size.map(|(width, height)| format!("{width}x{height}")));
    set("DEVICE", args.device.clone());
    set("VALIDATION", args.validate.then(|| "fail".to_owned()));
    set("STRICT", flag(args.strict));
    settings
}

/// The guest's path as the system can start it: a bare name means the file here, as people expect of a path, and
/// after that a program of `PATH`.
fn find_program(path: &std::path::Path) -> Option<PathBuf> {
    if path.is_file() {
        return path.canonicalize().ok();
    }
    if path.components().count() != 1 {
        return None;
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file())
}
