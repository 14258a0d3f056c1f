//! This test program as a file and as a command. `./x test` may start it through a script that brings validation
//! layers (`NAVIN_WRAPPER`): then the running image is a dynamic loader, and only the first argument names us.
#![allow(dead_code, reason = "each test program uses a part")]

use std::path::PathBuf;
use std::process::Command;

/// The file of this program.
pub fn path() -> PathBuf {
    std::env::args_os().next().unwrap().into()
}

/// A command that starts this program as it was started itself.
pub fn command() -> Command {
    match std::env::var_os("NAVIN_WRAPPER") {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(path());
            command
        }
        None => Command::new(path()),
    }
}

/// Set in a process that [`alone`] started.
pub const CHILD: &str = "TEST_NVN_CHILD";

/// Whether this process was started by a test of this program.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs one test of this program in a process of its own, with settings.
pub fn alone(test: &str, settings: &[(&str, &str)]) {
    said_alone(test, settings);
}

/// As [`alone`]; what it said.
pub fn said_alone(test: &str, settings: &[(&str, &str)]) -> String {
    let mut command = command();
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    let output = command.envs(settings.iter().copied()).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    text
}
