//! `navin texture` as a person uses it: through the program, on files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use navin_texture::container::{self, Source};
use navin_texture::{Format, GobOrder, Kind, Target, Texture};
use serde_json::Value;

/// A folder of a test's own, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("navin-texture-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Names of all files, sorted.
    fn files(&self, under: &str) -> Vec<String> {
        let mut out = Vec::new();
        let mut folders = vec![self.path(under)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => out.push(path.strip_prefix(self.path(under)).unwrap().display().to_string()),
                }
            }
        }
        out.sort();
        out
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn navin(args: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_navin"));
    command.arg("texture").args(args.iter().map(AsRef::as_ref));
    command.output().unwrap()
}

fn ok(args: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let out = navin(args);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    text
}

/// What it says when it ends with code 2.
fn fails(args: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let out = navin(args);
    let text = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    text
}

fn texture(name: &str, format: Format, target: Target, layers: u32, levels: u32) -> Texture {
    let mut texture = Texture {
        name: name.into(),
        format: format.info(),
        target,
        width: 64,
        height: 48,
        depth: 1,
        layers,
        levels,
        samples: 1,
        swizzle: Source::IDENTITY,
        packaged: None,
        data: Vec::new(),
    };
    let size = texture.packed_size().unwrap();
    texture.data = (0..size).map(|i| (i * 31 + i / 64 * 7 + i / 997) as u8).collect();
    texture
}

fn bntx(textures: &[Texture]) -> Vec<u8> {
    container::write(Kind::Bntx, textures, "file", GobOrder::TegraX1).unwrap()
}

fn read(path: &Path) -> Vec<Texture> {
    container::read(&std::fs::read(path).unwrap(), GobOrder::TegraX1).unwrap()
}

#[test]
fn a_picture_goes_through_every_kind_and_back() {
    let folder = Folder::new("through");
    let picture = texture("", Format::RGBA8, Target::D2, 1, 1);
    let png = folder
        .write("a.png", &container::write(Kind::Png, std::slice::from_ref(&picture), "", GobOrder::TegraX1).unwrap());
    let mut from = png;
    for kind in ["bntx", "xtx", "dds", "ktx2", "bin", "png"] {
        let to = folder.path(&format!("b.{kind}"));
        ok(&[&"convert", &from, &to, &"--verify"]);
        from = to;
    }
    assert!(read(&from)[0].data == picture.data);
    // Nothing but the results and the raw data's description.
    assert_eq!(folder.files(""), ["a.png", "b.bin", "b.bntx", "b.dds", "b.json", "b.ktx2", "b.png", "b.xtx"]);
}

#[test]
fn formats_levels_and_info() {
    let folder = Folder::new("info");
    let picture = texture("", Format::RGBA8, Target::D2, 1, 1);
    let png = folder.write("hero.png", &container::write(Kind::Png, &[picture], "", GobOrder::TegraX1).unwrap());
    let out = folder.path("hero.bntx");
    ok(&[&"convert", &png, &out, &"--format", &"rgba8_srgb", &"--mips", &"--out-generation", &"2"]);
    let all: Value = serde_json::from_str(&ok(&[&"info", &"--json", &out])).unwrap();
    let t = &all[0]["textures"][0];
    assert_eq!((&t["name"], &t["format"], &t["levels"]), (&"hero".into(), &"RGBA8_SRGB".into(), &7.into()));
    assert_eq!(t["layout"]["levels"][0]["block_height"], 8);
    let table = ok(&[&"info", &"--levels", &out]);
    assert!(table.contains("hero") && table.contains("RGBA8_SRGB") && table.contains("level 6"), "{table}");
    // The other generation's order is another picture; its own gives the one that went in.
    let (wrong, right) = (folder.path("wrong.png"), folder.path("right.png"));
    ok(&[&"convert", &out, &wrong]);
    ok(&[&"convert", &out, &right, &"--generation", &"2"]);
    assert!(read(&right)[0].data == read(&png)[0].data);
    assert!(read(&wrong)[0].data != read(&png)[0].data);
    // A level of a cube's face.
    let cube = folder.write("cube.bntx", &bntx(&[texture("cube", Format::RGBA_DXT1, Target::CubeArray, 12, 3)]));
    let face = folder.path("face.png");
    ok(&[&"convert", &cube, &face, &"--layer", &"7", &"--level", &"2"]);
    assert_eq!((read(&face)[0].width, read(&face)[0].height), (16, 12));
    let sheet = folder.path("sheet.png");
    ok(&[&"view", &cube, &sheet]);
    assert!(read(&sheet)[0].height > 12 * 48);
}

#[test]
fn folders_are_converted_and_bad_files_named() {
    let folder = Folder::new("folders");
    let two = [texture("x", Format::BPTC_UNORM, Target::D2, 1, 5), texture("../y", Format::R8, Target::D2, 1, 1)];
    folder.write("in/two.bntx", &bntx(&two));
    folder.write("in/deep/one.bntx", &bntx(&two[..1]));
    let whole = bntx(&two);
    folder.write("in/short.bntx", &whole[..whole.len() / 2]);
    folder.write("in/notes.txt", b"not a texture");
    let out = navin(&[&"convert", &folder.path("in"), &folder.path("out"), &"--to", &"png", &"--json", &"-j", &"3"]);
    assert_eq!(out.status.code(), Some(2));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&report["converted"], &report["failed"]), (&2.into(), &1.into()));
    let text = String::from_utf8(out.stderr).unwrap();
    assert!(text.contains("short.bntx") && text.contains("at offset 0x"), "{text}");
    // Names from inside a file lead nowhere else.
    assert_eq!(folder.files("out"), ["deep/one.png", "two..._y.png", "two.x.png"]);

    let text = fails(&[&"convert", &folder.path("in/two.bntx"), &folder.path("two.png")]);
    assert!(text.contains("choose with --texture"), "{text}");
    ok(&[&"convert", &folder.path("in/two.bntx"), &folder.path("x.png"), &"--texture", &"x"]);
    let text = fails(&[&"convert", &folder.path("in/two.bntx"), &folder.path("x.png"), &"--texture", &"z"]);
    assert!(text.contains("\"x\""), "{text}");
    assert!(fails(&[&"convert", &folder.path("in"), &folder.path("out")]).contains("--to"));
}

#[test]
fn nothing_is_written_for_bad_input() {
    let folder = Folder::new("bad");
    let whole = bntx(&[texture("x", Format::RGBA8, Target::D2, 1, 1)]);
    for (i, cut) in [0, 3, 0x30, 0x1A0, whole.len() / 2, whole.len() - 600].into_iter().enumerate() {
        let bad = folder.write(&format!("bad{i}.bntx"), &whole[..cut]);
        let text = fails(&[&"convert", &bad, &folder.path("out.dds")]);
        assert!(text.contains(&format!("bad{i}.bntx")), "{text}");
        assert!(fails(&[&"info", &bad]).contains("offset"));
    }
    let good = folder.write("good.bntx", &whole);
    assert!(fails(&[&"convert", &good, &folder.path("out.bntx"), &"--format", &"bc7"]).contains("RGBA8"));
    assert!(fails(&[&"convert", &good, &folder.path("out.dds"), &"--level", &"4"]).contains("level 4"));
    assert!(fails(&[&"convert", &good, &folder.path("out.what")]).contains(".bntx"));
    assert!(fails(&[&"convert", &folder.path("missing.bntx"), &folder.path("out.dds")]).contains("missing"));
    assert!(fails(&[&"convert", &good, &folder.path("out.dds"), &"--generation", &"3"]).contains("NVN2"));
    assert!(!folder.files("").iter().any(|f| f.starts_with("out") || f.contains(".part")));
}

#[test]
fn raw_data_is_tiled_and_untiled() {
    let folder = Folder::new("raw");
    let rows: Vec<u8> = (0..100 * 60 * 4 + 50 * 30 * 4).map(|i| (i % 251) as u8).collect();
    let input = folder.write("rows.raw", &rows);
    let shape: [&dyn AsRef<std::ffi::OsStr>; 6] = [&"--format", &"rgba8", &"--size", &"100x60", &"--levels", &"2"];
    let mut made = Vec::new();
    for generation in ["1", "2"] {
        let (tiled, back) = (folder.path(&format!("tiled{generation}")), folder.path("back.raw"));
        let with = |head: [&dyn AsRef<std::ffi::OsStr>; 3]| {
            let mut args = head.to_vec();
            args.extend(shape);
            args.extend([&"--generation" as &dyn AsRef<std::ffi::OsStr>, &generation]);
            ok(&args)
        };
        with([&"tile", &input, &tiled]);
        with([&"untile", &tiled, &back]);
        assert!(std::fs::read(&back).unwrap() == rows);
        made.push(std::fs::read(&tiled).unwrap());
    }
    assert!(made[0] != made[1] && made[0].len() == made[1].len());
    let layout: Value = serde_json::from_str(&ok(&[
        &"tile",
        &"-",
        &"-",
        &"--format",
        &"rgba8",
        &"--size",
        &"33x33x33",
        &"--target",
        &"3d",
        &"--layout",
    ]))
    .unwrap();
    assert_eq!(layout["size"], 368_640);
    assert!(
        fails(&[&"tile", &input, &folder.path("x"), &"--format", &"rgba8", &"--size", &"100x60"]).contains("bytes")
    );
    assert!(fails(&[&"untile", &input, &folder.path("x"), &"--format", &"rgba9", &"--size", &"1x1"]).contains("RGBA8"));
    assert!(fails(&[&"untile", &input, &folder.path("x"), &"--describe", &folder.path("none")]).contains("none"));
}
