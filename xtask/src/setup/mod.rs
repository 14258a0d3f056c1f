//! Set-up: makes a machine able to run guests and tests, and changes nothing on one that is.
//!
//! [`ensure`] asks [`probe`] whether a Vulkan device with what Navin needs answers; if none does it has [`apt`]
//! install Mesa's CPU device, from the backports suite where the distribution's own is too old. [`validation`]
//! finds or makes validation layers that know shader objects.

pub mod apt;
pub mod probe;
pub mod sources;
pub mod validation;

use std::process::Command;

use anyhow::{Result, bail};

use crate::shell::{has, quiet, say, step};

/// Makes sure of a Vulkan device and of the tools that the tests call.
///
/// # Errors
/// Something is missing that cannot be installed from here; the message says what to install.
pub fn ensure() -> Result<()> {
    let found = probe::ask(&mut probe::this_program()?);
    let spirv = has("spirv-val");
    if found.as_ref().is_ok_and(probe::Answer::usable) && spirv {
        return Ok(());
    }
    step("set-up");
    match &found {
        Ok(answer) => {
            for device in &answer.devices {
                say(format_args!("{}: {}", device.name, device.verdict()));
            }
            if answer.devices.is_empty() {
                say("no Vulkan device answers");
            }
        }
        Err(e) => say(format_args!("Vulkan does not answer: {e:#}")),
    }
    if !spirv {
        say("spirv-val (SPIR-V tools) is missing");
    }
    let usable = found.is_ok_and(|answer| answer.usable());
    apt::install(!usable, !spirv)?;

    let answer = probe::ask(&mut probe::this_program()?)?;
    match answer.devices.iter().find(|device| device.usable()) {
        Some(device) => say(format_args!("found {}", device.name)),
        None => bail!("no usable Vulkan device, even after set-up: {}", answer.verdicts()),
    }
    if !has("spirv-val") {
        bail!("spirv-val is still missing after set-up");
    }
    Ok(())
}

/// `apt-get` and the like as root: directly, or through sudo.
///
/// # Errors
/// Neither root nor sudo.
pub fn as_root(program: &str) -> Result<Command> {
    if quiet(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0") {
        return Ok(Command::new(program));
    }
    if !has("sudo") {
        bail!("installing packages needs root or sudo; run ./x once as root, or install by hand what is named above");
    }
    let mut command = Command::new("sudo");
    // Sudo drops most variables; these two keep apt from asking questions nobody is there to answer.
    command.args(["DEBIAN_FRONTEND=noninteractive", "APT_LISTCHANGES_FRONTEND=none", program]);
    Ok(command)
}
