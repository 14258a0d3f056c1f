//! Validation layers that know shader objects (1.4 or newer).
//!
//! A system whose own layers are older gets a private folder, `.setup/validation`, with the layers of a newer
//! Debian release and the C and C++ libraries that they need. Nothing of the system changes: apt runs with lists,
//! caches and sources of its own in that folder, and packages are unpacked, not installed. A program runs under
//! the layers when it is started through the folder's `run` script, by the newer dynamic loader; the Vulkan
//! driver stays the system's.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{apt, probe, sources};
use crate::shell::{self, run, say, step};
use crate::workspace;

/// Older layers take shader objects for errors.
const OLDEST: (u32, u32) = (1, 4);
/// The Debian release whose layers are taken.
const SUITE: &str = "trixie";
/// What is unpacked.
const PACKAGES: [&str; 5] = ["libc6", "libgcc-s1", "libstdc++6", "libvulkan1", "vulkan-validationlayers"];
/// Changes when the folder's layout does, so that an older one is made again.
const EDITION: &str = "1";

/// How programs come to run under validation layers.
#[derive(Clone, Debug)]
pub enum Layers {
    /// The system's own layers will do.
    System,
    /// Through this script: its first argument is the program.
    Through(PathBuf),
}

impl Layers {
    /// A command that runs `program` where the layers are found.
    pub fn command(&self, program: &Path) -> Command {
        match self {
            Self::System => Command::new(program),
            Self::Through(script) => {
                let mut command = Command::new(script);
                command.arg(program);
                command
            }
        }
    }
}

/// Finds the layers or makes the private folder.
///
/// # Errors
/// Neither is possible; the message says what to install.
pub fn ensure() -> Result<Layers> {
    let system = probe::ask(&mut probe::this_program()?).ok().and_then(|answer| answer.validation);
    if system.is_some_and(|(major, minor, _)| (major, minor) >= OLDEST) {
        return Ok(Layers::System);
    }
    let folder = workspace::setup_folder().join("validation");
    let script = folder.join("run");
    let stamp = folder.join("stamp");
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text.starts_with(&format!("{EDITION}\n"))) {
        if check(&script).is_ok() {
            return Ok(Layers::Through(script));
        }
        say("the private validation layers no longer answer; making them again");
    }
    step("set-up of validation layers");
    match system {
        Some((major, minor, patch)) => say(format_args!("the system's layers are {major}.{minor}.{patch}, too old")),
        None => say("the system has none"),
    }
    make(&folder).context(
        "making private validation layers. They come from a newer Debian release of this machine's own mirror; \
         elsewhere, or offline, install Khronos validation layers 1.4 or newer by hand",
    )?;
    let version = check(&script)?;
    say(format_args!("validation layers {version} in {}", folder.display()));
    std::fs::write(&stamp, format!("{EDITION}\n{version}\n"))?;
    Ok(Layers::Through(script))
}

/// Asks a probe under the layers which version it sees, and that the device still answers.
fn check(script: &Path) -> Result<String> {
    let mut command = Command::new(script);
    command.arg(std::env::current_exe()?).arg("probe");
    let answer = probe::ask(&mut command)?;
    match answer.validation {
        Some((major, minor, patch)) if (major, minor) >= OLDEST && answer.usable() => {
            Ok(format!("{major}.{minor}.{patch}"))
        }
        Some(_) if answer.usable() => bail!("the layers found through {} are too old", script.display()),
        Some(_) => bail!("no usable device is found through {}: {}", script.display(), answer.verdicts()),
        None => bail!("no validation layers are found through {}", script.display()),
    }
}

/// The multiarch name of this machine and the file name of its dynamic loader.
fn architecture() -> Result<(&'static str, &'static str)> {
    match std::env::consts::ARCH {
        "x86_64" => Ok(("x86_64-linux-gnu", "ld-linux-x86-64.so.2")),
        "aarch64" => Ok(("aarch64-linux-gnu", "ld-linux-aarch64.so.1")),
        other => bail!("no private validation layers for {other}"),
    }
}

fn make(folder: &Path) -> Result<()> {
    let system = apt::system().context("this is no system with apt")?;
    if system.id != "debian" {
        bail!("this is no Debian but {}", system.id);
    }
    let (triple, loader) = architecture()?;
    let all = sources::read(Path::new("/etc/apt"));
    let source = sources::distribution(&all, &system.codename)
        .with_context(|| format!("no apt source of the suite {} in /etc/apt", system.codename))?;
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    let config = private_apt(folder, &source.stanza(SUITE))?;
    let debs = folder.join("debs");
    std::fs::create_dir_all(&debs)?;
    say(format_args!("package lists of {SUITE}, into {}", folder.display()));
    // Without the option apt only warns of lists that it cannot fetch.
    run(Command::new("apt-get").env("APT_CONFIG", &config).args(["update", "-q", "--error-on=any"]))?;
    say(format_args!("packages {}", PACKAGES.join(", ")));
    run(Command::new("apt-get").env("APT_CONFIG", &config).current_dir(&debs).args(["download", "-q"]).args(PACKAGES))?;
    let root = folder.join("root");
    for entry in std::fs::read_dir(&debs)? {
        run(Command::new("dpkg").arg("-x").arg(entry?.path()).arg(&root))?;
    }
    // The lists and archives, 60 MB, have done their work.
    for part in ["debs", "apt"] {
        std::fs::remove_dir_all(folder.join(part))?;
    }

    let libraries = root.join("usr/lib").join(triple);
    let start = [libraries.join(loader), root.join("usr/lib64").join(loader), root.join("lib64").join(loader)]
        .into_iter()
        .find(|path| path.exists())
        .with_context(|| format!("{loader} is in none of the packages"))?;
    let text = format!(
        "#!/bin/sh\n# Made by ./x: runs a program with newer C libraries, under newer Vulkan validation layers.\n\
         export VK_LAYER_PATH='{layers}'\n\
         exec '{start}' --library-path '{libraries}'\"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\" \"$@\"\n",
        layers = quoted(&root.join("usr/share/vulkan/explicit_layer.d"))?,
        start = quoted(&start)?,
        libraries = quoted(&libraries)?,
    );
    let script = folder.join("run");
    std::fs::write(&script, text)?;
    run(Command::new("chmod").arg("+x").arg(&script))
}

/// A path that may stand between single quotes and in a list separated by colons.
fn quoted(path: &Path) -> Result<&str> {
    path.to_str()
        .filter(|text| !text.contains(['\'', ':', '\n']))
        .with_context(|| format!("the path {} has characters that the dynamic loader cannot take", path.display()))
}

/// Writes an apt configuration that keeps everything in `folder` but the machine's own settings (proxies,
/// certificates); its path.
fn private_apt(folder: &Path, stanza: &str) -> Result<PathBuf> {
    let apt = folder.join("apt");
    for part in ["state/lists/partial", "cache/archives/partial", "sources", "parts"] {
        std::fs::create_dir_all(apt.join(part))?;
    }
    std::fs::write(apt.join("state/status"), "")?;
    std::fs::write(apt.join("sources/private.sources"), stanza)?;
    // The machine's own pieces of configuration, and after them one that takes out the hooks which would touch
    // the system.
    if let Ok(parts) = std::fs::read_dir("/etc/apt/apt.conf.d") {
        for part in parts.flatten() {
            std::fs::copy(part.path(), apt.join("parts").join(part.file_name()))?;
        }
    }
    let mut hooks = String::new();
    for hook in [
        "APT::Update::Pre-Invoke",
        "APT::Update::Post-Invoke",
        "APT::Update::Post-Invoke-Success",
        "DPkg::Pre-Invoke",
        "DPkg::Post-Invoke",
        "DPkg::Pre-Install-Pkgs",
        // Descriptions and icons for shops of programs, which some systems add to the lists.
        "Acquire::IndexTargets::deb::DEP-11",
        "Acquire::IndexTargets::deb::DEP-11-icons",
        "Acquire::IndexTargets::deb::DEP-11-icons-small",
        "Acquire::IndexTargets::deb::DEP-11-icons-large",
        "Acquire::IndexTargets::deb::DEP-11-icons-hidpi",
        "Acquire::IndexTargets::deb::DEP-11-icons-large-hidpi",
    ] {
        writeln!(hooks, "#clear {hook};")?;
    }
    std::fs::write(apt.join("parts/zz-navin"), hooks)?;
    let config = apt.join("apt.conf");
    let text = [
        ("Dir::Etc::SourceList", PathBuf::from("/dev/null")),
        ("Dir::Etc::SourceParts", apt.join("sources")),
        ("Dir::Etc::Parts", apt.join("parts")),
        ("Dir::Etc::Preferences", PathBuf::from("/dev/null")),
        ("Dir::Etc::PreferencesParts", PathBuf::from("/dev/null")),
        ("Dir::State", apt.join("state")),
        ("Dir::State::Lists", apt.join("state/lists")),
        ("Dir::State::status", apt.join("state/status")),
        ("Dir::Cache", apt.join("cache")),
        ("Dir::Cache::archives", apt.join("cache/archives")),
    ]
    .iter()
    .map(|(key, path)| format!("{key} \"{}\";\n", path.display()))
    .collect::<String>();
    // Downloading as another user would need folders open to it; the packages are signed all the same.
    let user = shell::quiet(Command::new("id").arg("-un")).unwrap_or_else(|| "root\n".into());
    std::fs::write(&config, format!("{text}APT::Sandbox::User \"{}\";\nAcquire::Languages \"none\";\n", user.trim()))?;
    Ok(config)
}
