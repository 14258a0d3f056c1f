//! `navin doctor`: what was found on this machine, what is emulated, and what to do about what is missing.
//!
//! The device is opened exactly as a guest's driver would open it, with the same settings, so that what the
//! doctor reports is what a guest gets.

use std::fmt::Write as _;

use navin::config::Config;
use navin_vulkan::{Context, DeviceChoice, OpenOptions, Report, Validation};
use serde_json::{Value, json};

use crate::{complain, exit, library};

/// What `navin doctor` takes.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes:
  0 guests can run    2 navin.toml or a NAVIN_ variable will not do    3 no Vulkan device that Navin can use")]
pub struct Args {
    /// Print one JSON object with everything, features and limits included
    #[arg(long)]
    pub json: bool,

    /// Look at the Vulkan device whose name contains this, letter case ignored, or the one of this number
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
}

/// Everything that was found.
struct Findings {
    config_file: Option<String>,
    /// Name of the mechanism, and why it is that one.
    tracking: (&'static str, String),
    library: Result<String, String>,
    device: Result<Report, String>,
    validation: Result<(), String>,
}

/// Reports; the exit code of the program.
pub fn run(args: &Args) -> u8 {
    let overrides: Vec<_> = args.device.iter().map(|name| ("NAVIN_DEVICE".to_owned(), name.clone())).collect();
    let config = match Config::load_with(&overrides) {
        Ok(config) => config,
        Err(e) => {
            complain(e);
            return exit::USAGE;
        }
    };
    let findings = look(&config);
    if args.json {
        println!("{}", findings.json());
    } else {
        print!("{}", findings.text());
    }
    if findings.device.is_ok() { exit::OK } else { exit::NO_DEVICE }
}

fn look(config: &Config) -> Findings {
    let device = match &config.device {
        None => DeviceChoice::Best,
        Some(name) => name.parse().map_or_else(|_| DeviceChoice::Name(name.clone()), DeviceChoice::Index),
    };
    let open = |validation| {
        let options = OpenOptions {
            validation,
            device: device.clone(),
            import: config.import,
            device_local: config.device_local,
            ..OpenOptions::default()
        };
        Context::open(&options).map_err(|e| e.to_string())
    };
    // Probing write protection may cost the device: it is done last, and with a device of its own.
    let report = open(Validation::Off).map(|context| context.report()).map(|report| match open(Validation::Off) {
        Ok(context) => report.with_protection(context.probe_protection()),
        Err(_) => report,
    });
    // Without a device nothing can be said about the layers that the error above does not say already.
    let validation = if report.is_ok() { open(Validation::On).map(drop) } else { Err("no device".into()) };
    Findings {
        tracking: navin::write_tracking(config),
        config_file: Config::find_file().map(|path| path.display().to_string()),
        library: library::find()
            .map(|folder| folder.join(library::FILE).display().to_string())
            .map_err(|tried| tried.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" and ")),
        device: report,
        validation,
    }
}

impl Findings {
    fn json(&self) -> Value {
        json!({
            "navin": env!("CARGO_PKG_VERSION"),
            "usable": self.device.is_ok(),
            "device": self.device.as_ref().ok(),
            "device_error": self.device.as_ref().err(),
            "validation_layer": self.validation.is_ok(),
            "validation_error": self.validation.as_ref().err(),
            "write_tracking": self.tracking.0,
            "write_tracking_reason": self.tracking.1,
            "libnvn": self.library.as_ref().ok(),
            "config_file": self.config_file,
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{name:<16}{value}");
        };
        line("navin", env!("CARGO_PKG_VERSION"));
        match &self.device {
            Ok(report) => {
                line("Vulkan device", &format!("{} ({}), Vulkan {}", report.device, report.kind, report.vulkan));
                line("driver", format!("{} {}", report.driver, report.driver_info).trim());
                for heap in &report.heaps {
                    let gibibytes = heap.size as f64 / f64::from(1 << 30);
                    let whose = if heap.device_local { "the device's" } else { "the host's" };
                    line("memory", &format!("{gibibytes:.1} GiB, {whose}"));
                }
                line("subgroup", &format!("{} lanes", report.limits.subgroup_size));
                let probe = &report.import_probe;
                line("pools", &format!("anonymous memory by pointer: {}", probe.anonymous));
                line("", &format!("a memfd by pointer: {}", probe.memfd));
                line("", &format!("a memfd by pointer to a second mapping: {}", probe.memfd_second));
                line("", &format!("a memfd as a dma-buf: {}", probe.dma_buf));
                if let Some(probe) = &report.protection_probe {
                    line("write-protected", &format!("under an import: {}", probe.protected_after_import));
                    line("", &format!("one page of an import from its begin: {}", probe.imported_over_protected));
                    line("", &format!("beside an import of a second mapping: {}", probe.protected_beside_import));
                }
                let place = if report.device_local_pools { "the device's memory" } else { "the host's, imported" };
                line("GPU-only pools", place);
            }
            Err(why) => line("Vulkan device", &format!("none: {why}")),
        }
        line("write tracking", &format!("{} ({})", self.tracking.0, self.tracking.1));
        match &self.validation {
            Ok(()) => line("validation", "the layer is there"),
            Err(why) => line("validation", &format!("not possible: {why} (`./x test` brings layers of its own)")),
        }
        match &self.library {
            Ok(path) => line("libnvn", path),
            Err(tried) => line("libnvn", &format!("missing: {} is not in {tried}", library::FILE)),
        }
        line("settings", self.config_file.as_deref().unwrap_or("built-in (no navin.toml)"));
        match &self.device {
            Ok(report) if report.gaps.is_empty() => text.push_str("\nThe device has all that Navin makes use of.\n"),
            Ok(report) => {
                text.push_str("\nWhat the device lacks, and what happens instead:\n");
                for gap in &report.gaps {
                    // As above.
                    let _ = writeln!(text, "  {}: {}", gap.lacking, gap.instead);
                }
                text.push_str("\nGuests can run.\n");
            }
            Err(_) => text.push_str(
                "\nNo guest can run until that is mended. Install the GPU's own Vulkan driver, or Mesa's CPU device \
                 (24.1 or newer);\nin a checkout of Navin `./x setup` does it on Debian and says what to install \
                 elsewhere.\n",
            ),
        }
        text
    }
}
