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
    for part in ["compute program", "wait:read:write:yield:stall", "FMNMX R", "LDG.e R", "storage 1: address", "EXIT"] {
        assert!(listing.contains(part), "{part} in\n{listing}");
    }
    let out = navin(&[&"disasm", &"--json", &corpus().join("cf_loop_nested")]);
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let lines = all[0]["instructions"].as_array().unwrap();
    let jump = lines.iter().find(|l| l["name"] == "BRA").unwrap();
    let to = lines.iter().find(|l| l["offset"] == jump["target"]).unwrap();
    assert!(jump["text"].as_str().unwrap().ends_with(to["label"].as_str().unwrap()), "{jump} to {to}");
    assert_eq!(jump["schedule"]["stall"], 13);
}

#[test]
fn info_names_what_does_not_translate() {
    let out = navin(&[&"info", &"--instructions"]);
    assert_eq!(out.status.code(), Some(0));
    let list = text(&out.stdout);
    assert!(list.contains("FADD         3 forms   translates\n"), "{list}");
    assert!(
        list.lines().any(|l| l.starts_with("BPT ") && l.ends_with("never: breakpoints and traps are a debugger's"))
    );
    let out = navin(&[&"info", &"--instructions", &"--json"]);
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let all = all.as_array().unwrap();
    assert!(all.len() > 150, "{} instructions", all.len());
    // Every row of the list of refusals names an instruction that is there.
    let refused = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/MAXWELL.md")).unwrap();
    for row in refused.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| instruction")) {
        let name = row.split('|').nth(1).unwrap().trim();
        let entry = all.iter().find(|e| e["name"] == name).unwrap_or_else(|| panic!("{name}"));
        assert!(!entry["except"].as_array().unwrap().is_empty(), "{entry}");
    }
}

/// A folder of some programs of the corpus.
fn some(folder: &Folder, every: usize) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(corpus())
        .unwrap()
        .filter_map(|e| e.unwrap().file_name().into_string().unwrap().strip_suffix(".control").map(str::to_owned))
        .filter(|n| n != "img_multisample")
        .collect();
    names.sort();
    let names: Vec<String> = names.into_iter().step_by(every).collect();
    for name in &names {
        folder.take(name, name);
    }
    names
}

/// What a folder holds, by name.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn b516_the_same_content_is_translated_once_from_whatever_path() {
    let (first, second) = (Folder::new("b516-a"), Folder::new("b516-b"));
    let names = some(&first, 12);
    some(&second, 12);
    let cache = first.0.join("kept.store");
    let build = |from: &Folder, to: &str| {
        let out = navin(&[&"translate", &from.0, &"--out", &from.0.join(to), &"--cache", &cache]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        (text(&out.stderr), contents(&from.0.join(to)))
    };
    let (told, made) = build(&first, "out");
    assert!(told.ends_with("translated, 0 of them from the cache\n"), "{told}");
    // Touched, elsewhere, in another process: nothing is translated.
    let (told, again) = build(&second, "out");
    let all = format!("{0} of {0} programs translated, {0} of them from the cache\n", names.len());
    assert_eq!(told, all);
    assert!(made == again);
    // One bit of one program: that one is.
    let path = second.0.join(format!("{}.code", names[3]));
    let mut code = std::fs::read(&path).unwrap();
    code[4] ^= 1;
    std::fs::write(&path, code).unwrap();
    let (told, _) = build(&second, "out");
    assert!(told.contains(&format!("{} of them from the cache", names.len() - 1)), "{told}");
}

#[test]
fn b517_a_build_of_its_own_takes_from_the_common_cache_and_leaves_it_alone() {
    let folder = Folder::new("b517");
    let names = some(&folder, 30);
    let (common, own) = (folder.0.join("common.store"), folder.0.join("own.store"));
    navin(&[&"translate", &folder.0.join(&names[0]), &"--out", &folder.0.join("o"), &"--cache", &common]);
    let before = std::fs::read(&common).unwrap();
    let out = navin(&[
        &"translate",
        &folder.0,
        &"--out",
        &folder.0.join("o"),
        &"--cache",
        &own,
        &"--cache-limit",
        &"1",
        &"--cache-from",
        &common,
    ]);
    assert!(text(&out.stderr).contains("1 of them from the cache"), "{}", text(&out.stderr));
    assert!(std::fs::read(&common).unwrap() == before);
    assert!(std::fs::metadata(&own).unwrap().len() <= 1 << 20);
}

#[test]
fn b515_what_a_build_takes_from_a_pack_it_takes_by_key() {
    let folder = Folder::new("b515");
    let names = some(&folder, 20);
    let pack = folder.0.join("all.pack");
    let out = navin(&[&"pack", &folder.0, &"--out", &pack]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let out = navin(&[&"info", &"--json", &pack]);
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut keys: Vec<String> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|p| format!("{} {}", p["key"].as_str().unwrap(), p["name"].as_str().unwrap()))
        .collect();
    assert_eq!(keys.len(), names.len());
    let build = |keys: &[String], to: &str| {
        let list = folder.0.join("keys.txt");
        std::fs::write(&list, keys.join("\n")).unwrap();
        navin(&[&"translate", &pack, &"--keys", &list, &"--out", &folder.0.join(to)])
    };
    build(&keys, "straight");
    keys.reverse();
    keys.swap(1, 4);
    assert_eq!(build(&keys, "shuffled").status.code(), Some(0));
    assert!(contents(&folder.0.join("straight")) == contents(&folder.0.join("shuffled")));
    // A record that the pack has not: named by its key, and nothing in its place.
    keys[2] = "00000000deadbeef gone".into();
    let out = build(&keys, "missing");
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("00000000deadbeef"), "{}", text(&out.stderr));
}

#[test]
fn b514_a_part_of_a_library_builds_and_says_so_once() {
    let folder = Folder::new("b514");
    let names = some(&folder, 18);
    let (pack, list, tables) = (folder.0.join("all.pack"), folder.0.join("seen.txt"), folder.0.join("tables.json"));
    navin(&[&"pack", &folder.0, &"--out", &pack]);
    let all: Value = serde_json::from_slice(&navin(&[&"info", &"--json", &pack]).stdout).unwrap();
    let keys: Vec<&str> = all.as_array().unwrap().iter().take(10).map(|p| p["key"].as_str().unwrap()).collect();
    std::fs::write(&list, keys.join("\n")).unwrap();
    let out = navin(&[&"translate", &pack, &"--keys", &list, &"--out", &folder.0.join("o"), &"--tables", &tables]);
    assert_eq!(out.status.code(), Some(0));
    let told = text(&out.stderr);
    assert!(names.len() > 10 && told.contains("10 of 10 programs translated"), "{told}");
    assert_eq!(told.matches("of a part of the programs").count(), 1, "{told}");
    let tables: Value = serde_json::from_slice(&std::fs::read(&tables).unwrap()).unwrap();
    assert_eq!((tables["whole"].clone(), tables["programs"].as_array().map(Vec::len)), (false.into(), Some(10)));
}

#[test]
fn b518_tables_are_made_again_when_a_program_changed_and_only_then() {
    let folder = Folder::new("b518");
    let names = some(&folder, 30);
    let (tables, cache) = (folder.0.join("tables.json"), folder.0.join("kept.store"));
    let build = || {
        let out =
            navin(&[&"translate", &folder.0, &"--out", &folder.0.join("o"), &"--tables", &tables, &"--cache", &cache]);
        (text(&out.stderr), std::fs::read(&tables).unwrap())
    };
    let (_, first) = build();
    let (told, second) = build();
    assert!(told.contains("tables.json: up to date") && first == second, "{told}");
    // Made anew they are the same byte for byte.
    std::fs::remove_file(&tables).unwrap();
    assert!(build().1 == first);
    let path = folder.0.join(format!("{}.code", names[2]));
    let mut code = std::fs::read(&path).unwrap();
    code[4] ^= 1;
    std::fs::write(&path, code).unwrap();
    let (told, other) = build();
    assert!(!told.contains("up to date") && other != first, "{told}");
}

#[test]
fn b519_the_number_of_workers_changes_nothing() {
    let folder = Folder::new("b519");
    some(&folder, 9);
    for jobs in ["1", "2", "7"] {
        let out = navin(&[&"translate", &folder.0, &"--jobs", &jobs, &"--out", &folder.0.join(jobs)]);
        assert_eq!(out.status.code(), Some(0));
    }
    let one = contents(&folder.0.join("1"));
    assert!(one == contents(&folder.0.join("2")) && one == contents(&folder.0.join("7")));
}

#[test]
fn programs_are_found_in_other_files() {
    let folder = Folder::new("inside");
    let mut file = vec![7u8; 100];
    for extension in ["control", "code"] {
        file.extend(std::fs::read(corpus().join(format!("int_bfi.{extension}"))).unwrap());
        file.resize(file.len().next_multiple_of(256), 0);
    }
    let path = folder.0.join("game.bin");
    std::fs::write(&path, file).unwrap();
    let inside = text(&navin(&[&"disasm", &path]).stdout);
    let own = text(&navin(&[&"disasm", &corpus().join("int_bfi")]).stdout);
    assert_eq!(inside.split_once('\n').unwrap().1, own.split_once('\n').unwrap().1);
    std::fs::write(&path, [0; 100]).unwrap();
    let out = navin(&[&"info", &path]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("no program in this file"));
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
