//! The guest programs in `clients/`: their table, how they are built, how they are run.
//!
//! `tests/clients.toml` lists them: what each shows, how long the demo runs it, which frames the tests compare.
//! A client is one C file, `clients/<name>.c`; what several share is in `clients/common/*.c`. They include only
//! `nvn.h`, and `navin.h` where they use what Navin has beside NVN, and are linked to the libnvn that was just built.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::shell::{self, run, say, step};
use crate::workspace;

/// The table of clients.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    client: Vec<Client>,
}

/// One client.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Name of the program and of its C file.
    pub name: String,
    /// What it shows.
    pub about: String,
    /// Frames of a demo run; one picture in the middle and one at the end are looked at.
    pub demo_frames: u64,
    /// Every how many frames the demo writes a picture.
    pub demo_every: u64,
    /// Window size of the tests.
    pub test_size: String,
    /// Frames of a test run.
    pub test_frames: u64,
    /// Frames compared with `tests/expected/<name>/`.
    pub compare: Vec<u64>,
    /// How far pictures may be apart.
    #[serde(default)]
    pub tolerance: Tolerance,
}

/// How far a picture may be from the expected one.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Difference of a channel (of 255) up to which a pixel counts as equal.
    pub channel: u8,
    /// Share of pixels that may differ by more: edges fall on either side of a sample on different devices.
    pub share: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { channel: 2, share: 0.001 }
    }
}

/// Every client of the table that has a C file.
///
/// # Errors
/// The table cannot be read, or a C file is in no table.
pub fn all() -> Result<Vec<Client>> {
    let root = workspace::root();
    let path = root.join("tests/clients.toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let table: Table = toml::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
    for entry in std::fs::read_dir(root.join("clients"))? {
        let file = entry?.path();
        if file.extension().is_some_and(|e| e == "c") {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if !table.client.iter().any(|client| client.name == name) {
                bail!("clients/{name}.c is not in tests/clients.toml; add what it shows and which frames to compare");
            }
        }
    }
    for client in &table.client {
        if !root.join("clients").join(format!("{}.c", client.name)).is_file() {
            bail!("tests/clients.toml lists {0}, but there is no clients/{0}.c", client.name);
        }
        if let Some(frame) = client.compare.iter().find(|frame| **frame >= client.test_frames) {
            bail!("tests/clients.toml: {} compares frame {frame} but ends before it", client.name);
        }
    }
    Ok(table.client)
}

/// The clients that `names` ask for; all for none.
///
/// # Errors
/// As [`all`], or a name is unknown.
pub fn chosen(names: &[String]) -> Result<Vec<Client>> {
    let all = all()?;
    if let Some(name) = names.iter().find(|name| !all.iter().any(|client| client.name == **name)) {
        let known: Vec<_> = all.iter().map(|client| client.name.as_str()).collect();
        bail!("there is no client {name}; there are {}", known.join(", "));
    }
    Ok(all.into_iter().filter(|client| names.is_empty() || names.contains(&client.name)).collect())
}

/// Builds libnvn and the program `navin` in the dev profile.
///
/// # Errors
/// They do not build.
pub fn build_driver() -> Result<()> {
    step("building libnvn and navin");
    // The same selection of packages as the tests build, so that nothing is compiled twice for other features.
    run(workspace::cargo().args(["build", "--workspace", "--lib", "--bins"]))
}

/// Builds the clients; the folder they are in.
///
/// # Errors
/// One does not compile.
pub fn build(clients: &[Client]) -> Result<PathBuf> {
    let root = workspace::root();
    let debug = workspace::debug_folder()?;
    let folder = workspace::metadata()?.target_directory.join("clients");
    std::fs::create_dir_all(&folder)?;
    let mut common = c_files(&root.join("clients/common"))?;
    common.sort();
    step(format_args!("building {} clients", clients.len()));
    for client in clients {
        let source = root.join("clients").join(format!("{}.c", client.name));
        let program = folder.join(&client.name);
        let mut command = compiler();
        command.args(["-O2", "-g", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]);
        command.arg("-I").arg(root.join("clients/include")).arg("-I").arg(root.join("clients"));
        command.arg("-I").arg(root.join("crates/navin-capi/include"));
        // The clients bring their shaders' machine code with `.incbin`.
        command.arg(format!("-DSHADER_DIR=\"{}\"", root.join("tests/corpus/bin").display()));
        command.arg(&source).args(&common).arg("-o").arg(&program);
        command.arg("-L").arg(&debug).args(["-lnvn", "-lm", "-lpthread", "-Wl,-rpath,$ORIGIN/../debug:$ORIGIN"]);
        run(&mut command)?;
    }
    Ok(folder)
}

/// Checks that `nvn.h` can be used from C and C++, whichever compilers are there.
///
/// # Errors
/// A compiler does not take it.
pub fn check_header() -> Result<()> {
    let include = workspace::root().join("clients/include");
    let mut languages = vec![("c", compiler(), "c11")];
    if shell::has("c++") {
        languages.push(("c++", Command::new("c++"), "c++17"));
    }
    for (language, mut command, standard) in languages {
        command.args(["-x", language, &format!("-std={standard}"), "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
        run(command.arg(include.join("nvn.h")))?;
    }
    Ok(())
}

fn compiler() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

fn c_files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(vec![]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "c") {
            files.push(path);
        }
    }
    Ok(files)
}

/// A `navin run` command for `client`, built before.
///
/// # Errors
/// Cargo's metadata cannot be read.
pub fn navin_run(folder: &Path, client: &Client, options: &[&str], out: &Path) -> Result<Command> {
    let mut command = Command::new(workspace::debug_folder()?.join("navin"));
    command.arg("run").args(options).arg("--out").arg(out).arg(folder.join(&client.name));
    Ok(command)
}

/// An empty folder at `path`.
///
/// # Errors
/// It cannot be made.
pub fn empty(path: &Path) -> Result<()> {
    if path.exists() {
        std::fs::remove_dir_all(path).with_context(|| format!("emptying {}", path.display()))?;
    }
    std::fs::create_dir_all(path).with_context(|| format!("making {}", path.display()))
}

/// Runs the demo: every client for a while, pictures into `out/demo/`.
///
/// # Errors
/// Something does not build or a client fails.
pub fn demo(names: &[String]) -> Result<()> {
    let clients = chosen(names)?;
    crate::setup::ensure()?;
    build_driver()?;
    let folder = build(&clients)?;
    let out = workspace::root().join("out/demo");
    let mut failed = Vec::new();
    for client in &clients {
        step(format_args!("{}: {}", client.name, client.about));
        let out = out.join(&client.name);
        empty(&out)?;
        let (frames, every) = (client.demo_frames.to_string(), client.demo_every.to_string());
        let mut command = navin_run(&folder, client, &["--frames", &frames, "--every", &every], &out)?;
        // The terminal's Ctrl-C must reach navin's own handling, so standard input stays as it is.
        if !command.status().context("starting navin")?.success() {
            failed.push(client.name.as_str());
        }
    }
    if !failed.is_empty() {
        bail!("{} failed; `./x doctor` tells what this machine has", failed.join(", "));
    }
    step(format_args!("the pictures are in {}/", out.display()));
    for client in &clients {
        say(format_args!("{}/frame-*.png", client.name));
    }
    Ok(())
}
