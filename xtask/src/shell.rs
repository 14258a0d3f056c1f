//! Running other programs, and saying what is being done, in one style.

use std::fmt::Display;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Says that a step begins.
pub fn step(text: impl Display) {
    eprintln!("\nx: {text}");
}

/// Says something about the step.
pub fn say(text: impl Display) {
    eprintln!("x:   {text}");
}

/// Whether CI runs this: then nothing may be asked and nothing may be left out in silence.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// The command as one would type it.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Runs a command whose output the user sees.
///
/// # Errors
/// It cannot be started or ends with a code that is not 0.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("starting {}", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Runs a command for its standard output; standard error is shown.
///
/// # Errors
/// As for [`run`], or it prints what is no text.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting {}", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", shown(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("what `{}` printed", shown(command)))
}

/// Runs a command in silence; its standard output if it succeeded.
pub fn quiet(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program of this name is on the path.
pub fn has(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}
