//! `navin shader` as a person uses it: through the program, on files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder of a test's own, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("navin-shader-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Copies a program of the corpus.
    fn take(&self, name: &str, to: &str) {
        for extension in ["control", "code"] {
            let from = corpus().join(format!("{name}.{extension}"));
            std::fs::copy(from, self.0.join(format!("{to}.{extension}"))).unwrap();
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/bin")
}

fn navin(args: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_navin"));
    command.arg("shader").args(args.iter().map(AsRef::as_ref));
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn disasm_lists_instructions_and_schedules() {
    let out = navin(&[&"disasm", &corpus().join("flt_minmax.code")]);
    assert_eq!(out.status.code(), Some(0));
    let listing = text(&out.stdout);
    for part in ["compute program", "; schedule", "FMNMX", "LDG dst=R", "EXIT"] {
        assert!(listing.contains(part), "{part} in\n{listing}");
    }
}

#[test]
fn info_describes_interfaces_as_json() {
    let out = navin(&[&"info", &"--json", &corpus().join("big_pbr")]);
    assert_eq!(out.status.code(), Some(0));
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let program = &all[0];
    assert_eq!(program["stage"], "fragment");
    assert_eq!(program["control"]["0x000"], "0x98761234");
    let interface = &program["interface"];
    assert_eq!(interface["textures"].as_array().map(Vec::len), Some(5));
    assert_eq!(interface["outputs"], serde_json::json!([0]));
    assert_eq!(interface["hash_kind"], 2);
    assert_eq!(interface["hash"].as_str().map(str::len), Some(16));
}

#[test]
fn b512_the_one_program_that_does_not_translate_is_named() {
    let folder = Folder::new("one-of-many");
    for n in 0..40 {
        folder.take("int_bfi", &format!("good{n:02}"));
    }
    folder.take("int_bfi", "bad");
    // Its first instruction becomes none.
    let path = folder.0.join("bad.code");
    let mut code = std::fs::read(&path).unwrap();
    code[0x88..0x90].fill(0);
    std::fs::write(&path, code).unwrap();
    let spirv = folder.0.join("out");
    let out = navin(&[&"translate", &folder.0, &"--out", &spirv, &"--json"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let errors = text(&out.stderr);
    let named: Vec<&str> = errors.lines().filter(|l| l.starts_with("navin:")).collect();
    assert_eq!(named.len(), 1, "{errors}");
    assert!(named[0].contains("bad") && named[0].contains("no instruction has this encoding"), "{errors}");
    assert!(errors.contains("40 of 41 programs translated"), "{errors}");
    let list: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(list.as_array().unwrap().iter().filter(|p| p["error"].is_string()).count(), 1);
    assert_eq!(std::fs::read_dir(&spirv).unwrap().count(), 80);
    assert!(std::fs::read(spirv.join("good00.spv")).unwrap().starts_with(&0x0723_0203u32.to_le_bytes()));
}

#[test]
fn shards_are_a_partition_and_jobs_change_nothing() {
    let names = |args: &[&dyn AsRef<std::ffi::OsStr>]| {
        let folder = Folder::new("shards");
        let corpus = corpus();
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"translate", &corpus, &"--json", &"--quiet"];
        let out = folder.0.join("out");
        all.extend([&"--out" as &dyn AsRef<std::ffi::OsStr>, &out]);
        all.extend_from_slice(args);
        let list: Value = serde_json::from_slice(&navin(&all).stdout).unwrap();
        let list = list.as_array().unwrap().clone();
        list.iter().map(|p| format!("{} {}", p["name"], p["spirv_words"])).collect::<Vec<_>>()
    };
    let whole = names(&[&"--jobs", &"1"]);
    assert_eq!(whole.len(), 368);
    assert_eq!(whole, names(&[&"--jobs", &"3"]));
    let parts: Vec<String> = ["0/3", "1/3", "2/3"].iter().flat_map(|shard| names(&[&"--shard", shard])).collect();
    assert_eq!(parts.len(), 368);
    assert_eq!(parts.iter().collect::<BTreeSet<_>>(), whole.iter().collect());
}

#[test]
fn what_is_not_there_is_said() {
    let out = navin(&[&"info", &"no-such-program"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("no-such-program.control"), "{}", text(&out.stderr));
    let out = navin(&[&"translate", &corpus(), &"--shard", &"4/4"]);
    assert_eq!(out.status.code(), Some(2));
}
