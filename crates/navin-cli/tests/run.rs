//! `navin run` against a guest without Vulkan: this test program itself, started again as [`fake_guest`], which
//! reports through the driver's own `navin::status`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use navin::config::Config;
use navin::status::Run;
use serde_json::Value;

/// The guest. Ignored by the test runner unless `navin run` asks for it by name; `FAKE` says what it does.
#[test]
#[ignore = "is the guest of the other tests"]
fn fake_guest() {
    let Ok(fake) = std::env::var("FAKE") else { return };
    if fake == "silent" {
        return;
    }
    let config = Config::load().unwrap();
    config.init_log();
    let run = Run::start(&config).unwrap();
    if fake == "no_device" {
        run.no_device("the fake has none");
        std::process::exit(1);
    }
    run.device("fake device");
    run.set_counters(|| serde_json::json!({"draws": 7}));
    println!("the guest prints");
    let (width, height) = config.size.unwrap_or((4, 2));
    for index in 0.. {
        match fake.as_str() {
            "endless" => std::thread::sleep(Duration::from_millis(5)),
            "crash" if index == 2 => std::process::abort(),
            "stop_at_3" if index == 3 => std::process::exit(0),
            "hang" if index == 1 => std::thread::sleep(Duration::from_secs(60)),
            "validation" if index == 1 => run.validation_message("VUID-fake"),
            "fault" if index == 1 => drop(navin_abi::fault!("B421", "a fault of the fake guest")),
            _ => {}
        }
        if run.wants_frame(index) {
            run.frame(index, width, height, &vec![index as u8; (width * height * 4) as usize]);
        }
        if run.frame_presented(index) {
            run.exit();
        }
    }
}

/// `navin run OPTIONS` on the fake guest, which does `fake`.
fn navin(fake: &str, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_navin"));
    command.arg("run").args(options).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "fake_guest", "--ignored", "--nocapture"]);
    command.env("FAKE", fake).env("NAVIN_CONFIG", "/dev/null").stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("NAVIN_")) {
        if name != "NAVIN_CONFIG" {
            command.env_remove(name);
        }
    }
    command
}

fn run(fake: &str, options: &[&str]) -> Output {
    navin(fake, options).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

#[test]
fn frames_are_counted_written_and_summed_up() {
    let out = folder("frames");
    let output =
        run("frames", &["--frames", "5", "--every", "2", "--size", "3x1", "--json", "--out", out.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{output:?}");
    let json = json(&output);
    assert_eq!(json["frames"], 5);
    assert_eq!(json["pictures"], 3);
    assert_eq!(json["device"], "fake device");
    assert_eq!(json["counters"]["draws"], 7);
    let mut names: Vec<_> = std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["frame-000000.png", "frame-000002.png", "frame-000004.png"]);
    assert!(stderr(&output).contains("the guest prints"), "with --json, standard output is the object alone");
    assert!(stderr(&output).contains("5 frames in"), "{}", stderr(&output));
}

#[test]
fn raw_frames_have_the_size_asked_for() {
    let out = folder("raw");
    let output = run("frames", &["-n", "1", "--raw", "--size", "3x2", "--out", out.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(std::fs::read(out.join("frame-000000-3x2.rgba")).unwrap(), [0; 24]);
}

#[test]
fn a_guest_that_ends_by_itself_still_closes_its_books() {
    let out = folder("exit");
    let output = run("stop_at_3", &["--json", "--out", out.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(json(&output)["frames"], 3);
    assert_eq!(std::fs::read_dir(out).unwrap().count(), 3);
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    for (fake, options, expected, words) in [
        ("crash", &[][..], 1, "signal 6"),
        ("silent", &[], 1, "without loading libnvn"),
        ("no_device", &[], 3, "the fake has none"),
        ("validation", &["--frames", "3", "--validate"], 4, "VUID-fake"),
        ("validation", &["--frames", "3"], 0, "1 validation message"),
        ("fault", &["--frames", "3", "--strict"], 5, "1 fault"),
        ("fault", &["--frames", "3"], 0, "a fault of the fake guest [B421]"),
    ] {
        let output = run(fake, options);
        assert_eq!(code(&output), expected, "{fake} {options:?}: {output:?}");
        assert!(stderr(&output).contains(words), "{fake}: {}", stderr(&output));
    }
}

#[test]
fn usage_errors_say_what_to_do() {
    let output = run("frames", &["--every", "2"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("add --out DIR"));

    let output = Command::new(env!("CARGO_BIN_EXE_navin")).args(["run", "./no-such-guest"]).output().unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("no such program"));

    let output = run("frames", &["--size", "big"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("1280x720"));

    let output = navin("frames", &[]).env("NAVIN_FRAMES", "none").output().unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("NAVIN_FRAMES"));
}

#[test]
fn a_guest_that_takes_too_long_is_ended() {
    let begin = Instant::now();
    let output = run("hang", &["--timeout", "1", "--json"]);
    assert_eq!(code(&output), 1, "{output:?}");
    assert_eq!(json(&output)["timed_out"], true);
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn ctrl_c_lets_the_guest_finish_its_frame() {
    let out = folder("ctrl-c");
    let child = navin("endless", &["--json", "--every", "1000000", "--out", out.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !out.join("frame-000000.png").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    // SAFETY: our own child, not waited for yet.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{output:?}");
    let json = json(&output);
    assert_eq!(json["interrupted"], true);
    assert_eq!(json["counters"]["draws"], 7, "the end line came: {json}");
    assert_eq!(json["guest_failure"], Value::Null);
}

#[test]
fn a_wrapper_starts_the_guest() {
    let output = run("frames", &["--frames", "1", "--wrapper", "env WRAPPED=1"]);
    assert_eq!(code(&output), 0, "{output:?}");
}
