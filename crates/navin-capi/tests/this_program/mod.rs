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
