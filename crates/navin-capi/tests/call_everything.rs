//! Every function of the API, called through its address with null and with zeroed arguments, leaves the process
//! alive.
//!
//! The calls run in a child process that writes each name before it calls, so that a crash names its function.

mod this_program;

use std::ffi::CString;
use std::io::Write as _;

use navin_abi::functions::FUNCTIONS;
use nvn::trampolines::nvnBootstrapLoader;

/// Set in the child.
const CHILD: &str = "TEST_NVN_CALL_EVERYTHING";

/// Larger than any object (a device has 12,288 bytes).
const OBJECT_WORDS: usize = 4096;

/// Eight integer arguments are as many as registers and first stack slots take; a callee reads what it declares.
type Call = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64) -> u64;

/// Calls everything, in the order of the table, with so many zeroed objects before the zeros; in the child.
fn call_everything(objects: usize) {
    let mut out = std::io::stdout();
    for function in &FUNCTIONS {
        writeln!(out, "call {}", function.name).unwrap();
        out.flush().unwrap();
        // Each call its own zeroed object: one call's writes are not the next one's input.
        // They stay allocated, as a driver may still hold the address of what it initialized.
        let object = |index| match index < objects {
            true => vec![0u64; OBJECT_WORDS].leak().as_mut_ptr() as u64,
            false => 0,
        };
        let (first, second) = (object(0), object(1));
        let name = CString::new(function.name).unwrap();
        // SAFETY: a C string; the address is a function that the table says takes at most these arguments, each
        // null, zero, or an object of zeros; surviving those is what this test is about.
        unsafe {
            let address = nvnBootstrapLoader(name.as_ptr()).unwrap();
            let call = std::mem::transmute::<unsafe extern "C" fn(), Call>(address);
            call(first, second, 0, 0, 0, 0, 0, 0);
        }
    }
    writeln!(out, "called {}", FUNCTIONS.len()).unwrap();
}

fn in_a_child(test: &str, objects: usize) {
    if std::env::var_os(CHILD).is_some() {
        call_everything(objects);
        return;
    }
    let output = this_program::command()
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().rfind(|line| line.contains("call")).unwrap_or("nothing was called");
    assert!(output.status.success(), "{}: {last}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(&format!("called {}", FUNCTIONS.len())), "ended early: {last}");
}

#[test]
fn every_function_survives_null_arguments() {
    in_a_child("every_function_survives_null_arguments", 0);
}

#[test]
fn every_function_survives_a_zeroed_object() {
    in_a_child("every_function_survives_a_zeroed_object", 1);
}

/// The second is a builder, or a number that is out of every range.
#[test]
fn every_function_survives_two_zeroed_objects() {
    in_a_child("every_function_survives_two_zeroed_objects", 2);
}
