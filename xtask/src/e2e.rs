//! The clients end to end: run headless under validation layers, their frames compared with expected pictures.
//!
//! Expected pictures are `tests/expected/<client>/frame-N.png`; `./x test --bless` writes them anew, to be looked
//! at before they are committed. A picture that differs is left beside the expected one and the difference in
//! `out/test/<client>/`.
//!
//! Those whose memory the CPU and the GPU both write run once more, for fewer frames, with their pools mirrored: as on
//! a device that imports no memory.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::clients::{self, Client};
use crate::pictures;
use crate::reference;
use crate::report::Report;
use crate::setup::validation::Layers;
use crate::shell::{self, say};
use crate::workspace;

/// Seconds that one client may take; the CPU device under validation is slow.
const TIMEOUT: &str = "300";

/// Clients that run mirrored too.
const MIRRORED: [&str; 3] = ["memory", "streaming", "queues"];

/// Runs every client, comparing or (`bless`) writing the expected pictures.
///
/// # Errors
/// The clients do not build. A client that fails is a failure of the report.
pub fn run(report: &mut Report, clients: &[Client], layers: Option<&Layers>, bless: bool) -> Result<()> {
    let folder = clients::build(clients)?;
    let mut run = |client: &Client, how: &str, outcome: Result<String>| match outcome {
        Ok(words) => {
            say(format_args!("client {}{how} ... ok ({words})", client.name));
            report.passed += 1;
        }
        Err(e) => {
            say(format_args!("client {}{how} ... FAILED: {e:#}", client.name));
            report.failures.push(format!("client {}{how}: {e:#}", client.name));
        }
    };
    for client in clients {
        run(client, "", one(&folder, client, layers, bless, &[]));
        if MIRRORED.contains(&client.name.as_str()) && !bless {
            let client = shortened(client);
            let outcome = one(&folder, &client, layers, false, &[("NAVIN_IMPORT", "mirror")]);
            run(&client, ", mirrored", outcome);
        }
    }
    Ok(())
}

/// The client up to the second picture that is compared.
fn shortened(client: &Client) -> Client {
    let compare: Vec<u64> = client.compare.iter().copied().take(2).collect();
    let test_frames = compare.iter().max().map_or(client.test_frames, |last| last + 1);
    Client { compare, test_frames, ..client.clone() }
}

fn one(
    folder: &Path,
    client: &Client,
    layers: Option<&Layers>,
    bless: bool,
    settings: &[(&str, &str)],
) -> Result<String> {
    let out = workspace::root().join("out/test").join(&client.name);
    clients::empty(&out)?;
    let frames = client.test_frames.to_string();
    let every = client.compare.iter().copied().fold(0, gcd).max(1).to_string();
    let mut options = vec!["--json", "--quiet", "--strict", "--timeout", TIMEOUT, "--size", &client.test_size];
    options.extend(["--frames", &frames, "--every", &every]);
    match layers {
        None => {}
        Some(Layers::System) => options.push("--validate"),
        Some(Layers::Through(script)) => {
            let script = script.to_str().context("the path of the checkout is no text")?;
            options.extend(["--validate", "--wrapper", script]);
        }
    }
    let mut command = clients::navin_run(folder, client, &options, &out)?;
    command.envs(settings.iter().copied());
    let output = command.output().context("starting navin")?;
    // What the client and the driver said is worth seeing only when something went wrong.
    let said = String::from_utf8_lossy(&output.stderr);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    if !output.status.success() {
        bail!("{}\n{}\n{}", shell::shown(&command), output.status, said.trim());
    }
    if summary["frames"] != client.test_frames {
        bail!("presented {} frames instead of {}", summary["frames"], client.test_frames);
    }
    let mut worst = 0;
    for &frame in &client.compare {
        worst = worst.max(picture(client, &out, frame, bless)?);
    }
    let validated = if layers.is_some() { "validated" } else { "without validation" };
    let what = if bless { "written".into() } else { format!("largest difference {worst}") };
    Ok(format!(
        "{} frames, {} pictures {what}, {validated}, {:.1} s",
        client.test_frames,
        client.compare.len(),
        summary["seconds"].as_f64().unwrap_or(0.0)
    ))
}

/// Compares one frame, or makes it the expected one; the largest difference of a channel.
fn picture(client: &Client, out: &Path, frame: u64, bless: bool) -> Result<u8> {
    let got = pictures::read(&out.join(format!("frame-{frame:06}.png")))?;
    reference::check(&client.name, frame, &got).with_context(|| format!("frame {frame} against its computation"))?;
    let folder = workspace::root().join("tests/expected").join(&client.name);
    let path = folder.join(format!("frame-{frame}.png"));
    if bless {
        std::fs::create_dir_all(&folder)?;
        pictures::write(&path, &got)?;
        return Ok(0);
    }
    let expected = pictures::read(&path).context("look at the frame and run ./x test --bless if it is right")?;
    let Some(difference) = pictures::compare(&got, &expected, client.tolerance) else {
        bail!("frame {frame} is {}x{}, expected {}x{}", got.width, got.height, expected.width, expected.height);
    };
    if !difference.allowed(client.tolerance) {
        let map = out.join(format!("frame-{frame:06}-difference.png"));
        pictures::write(&map, &pictures::difference(&got, &expected))?;
        bail!(
            "frame {frame}: {} of {} pixels differ by more than {} (largest {} at {},{}; allowed {:.2} %): {}",
            difference.pixels,
            difference.of,
            client.tolerance.channel,
            difference.largest,
            difference.at.0,
            difference.at.1,
            client.tolerance.share * 100.0,
            map.display()
        );
    }
    Ok(difference.largest)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
