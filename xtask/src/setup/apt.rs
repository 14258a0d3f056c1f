//! Installs Vulkan and SPIR-V tools on Debian and its kin; elsewhere says exactly what to install.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{as_root, sources};
use crate::shell::{has, quiet, run, say};

/// What to say where packages cannot be installed from here.
const BY_HAND: &str = "\
Navin needs, and this system's packages can bring:
  - the Vulkan loader and a driver for Vulkan 1.3 with VK_EXT_shader_object, VK_EXT_robustness2 and
    VK_EXT_external_memory_host: a current GPU driver, or Mesa 24.1 or newer with lavapipe
  - SPIR-V tools (spirv-val)
  - for ./x test, Khronos validation layers 1.4 or newer
Fedora:    dnf install vulkan-loader mesa-vulkan-drivers spirv-tools vulkan-validation-layers
Arch:      pacman -S vulkan-icd-loader vulkan-swrast spirv-tools vulkan-validation-layers
openSUSE:  zypper install libvulkan1 libvulkan_lvp spirv-tools vulkan-validationlayers
macOS:     brew install vulkan-loader molten-vk spirv-tools vulkan-validationlayers
Then run the same command again.";

/// The distribution, by /etc/os-release.
pub struct System {
    /// Such as `debian`.
    pub id: String,
    /// Such as `bookworm`.
    pub codename: String,
}

/// Reads /etc/os-release; `None` where there is no apt.
pub fn system() -> Option<System> {
    if !has("apt-get") {
        return None;
    }
    let text = std::fs::read_to_string("/etc/os-release").ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim_matches('"').to_owned())
    };
    Some(System { id: field("ID")?, codename: field("VERSION_CODENAME")? })
}

/// Installs a Vulkan CPU device, SPIR-V tools, or both.
///
/// # Errors
/// Not a system with apt, no root, or apt fails.
pub fn install(device: bool, spirv: bool) -> Result<()> {
    let Some(system) = system() else {
        bail!("{BY_HAND}");
    };
    // Debian 12's own Mesa, 22.3, has no shader objects; its backports have 25.0.
    let backports = device && system.id == "debian" && system.codename == "bookworm";
    let mut fresh = false;
    if backports {
        fresh = add_backports(&system)?;
    }
    if !fresh {
        update()?;
    }
    let mut stock = Vec::new();
    if device {
        stock.push("libvulkan1");
    }
    if spirv {
        stock.push("spirv-tools");
    }
    if device && !backports {
        stock.push("mesa-vulkan-drivers");
    }
    get(&["install"], &stock)?;
    if backports {
        let suite = format!("{}-backports", system.codename);
        get(&["install", "-t", &suite], &["mesa-vulkan-drivers"])?;
    }
    Ok(())
}

/// Makes the backports suite known to apt unless it is; whether the lists are fresh now.
fn add_backports(system: &System) -> Result<bool> {
    let suite = format!("{}-backports", system.codename);
    let all = sources::read(Path::new("/etc/apt"));
    if all.iter().any(|source| source.suites.contains(&suite)) {
        return Ok(false);
    }
    let source = sources::distribution(&all, &system.codename).with_context(|| {
        format!("no apt source of the suite {} in /etc/apt to derive {suite} from", system.codename)
    })?;
    let text = format!("# Added by Navin's ./x: newer Mesa drivers, by name only.\n{}", source.stanza(&suite));
    let file = "/etc/apt/sources.list.d/navin-backports.sources";
    say(format_args!("adding {suite} to apt's sources ({file})"));
    let part = std::env::temp_dir().join(format!("navin-backports-{}.sources", std::process::id()));
    std::fs::write(&part, text)?;
    let copied = run(as_root("install")?.args(["-m", "644"]).arg(&part).arg(file));
    // The copy is of no use any more, whether it was installed or not.
    let _ = std::fs::remove_file(part);
    copied?;
    update()?;
    Ok(true)
}

fn update() -> Result<()> {
    say("apt-get update");
    run(as_root("apt-get")?.env("DEBIAN_FRONTEND", "noninteractive").args(["update", "-q"]))
}

fn get(words: &[&str], packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    say(format_args!("installing {}", packages.join(", ")));
    let mut command = as_root("apt-get")?;
    command.env("DEBIAN_FRONTEND", "noninteractive").args(words);
    run(command.args(["-y", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0"]).args(packages))
}

/// Installs one package for a chore that wants a tool (valgrind).
///
/// # Errors
/// As for [`install`].
pub fn install_tool(program: &str, package: &str) -> Result<()> {
    if has(program) {
        return Ok(());
    }
    if system().is_none() {
        bail!("{program} is missing; install it with this system's packages and run the same command again");
    }
    // Old lists will usually do, and an update costs time; without any there is no candidate.
    if quiet(Command::new("apt-cache").args(["show", package])).is_none() {
        update()?;
    }
    get(&["install"], &[package])
}
