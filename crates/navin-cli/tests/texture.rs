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

/// `tile --layout` with such options.
fn layout(options: &[&str]) -> Result<Value, String> {
    let mut args: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"tile", &"-", &"-", &"--layout"];
    args.extend(options.iter().map(|o| o as &dyn AsRef<std::ffi::OsStr>));
    let out = navin(&args);
    match out.status.code() {
        Some(0) => Ok(serde_json::from_slice(&out.stdout).unwrap()),
        Some(2) => Err(String::from_utf8(out.stderr).unwrap()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_side_of_a_block_leaves_the_other_as_nvn_has_it() {
    let volume = ["--format", "rgba8", "--size", "64x64x32"];
    let blocks = |more: &[&str]| {
        let l = layout(&[&volume[..], more].concat()).unwrap()["levels"][0].clone();
        (l["block_height"].as_u64().unwrap(), l["block_depth"].as_u64().unwrap())
    };
    assert_eq!(blocks(&[]), (1, 16));
    assert_eq!(blocks(&["--block-height", "4"]), (4, 16));
    assert_eq!(blocks(&["--block-depth", "2"]), (1, 2));
    assert_eq!(blocks(&["--block-height", "2", "--block-depth", "8"]), (2, 8));
    // Sparse rows stay padded to tiles of the stated blocks, or to what is stated.
    let sparse = ["--format", "rgba8", "--size", "600x600", "--flags", "sparse"];
    let columns = |more: &[&str]| layout(&[&sparse[..], more].concat()).unwrap()["levels"][0]["gob_columns"].clone();
    assert_eq!((columns(&[]), columns(&["--block-height", "16", "--tile-width", "1"])), (40.into(), 38.into()));
}

#[test]
fn targets_follow_from_the_numbers_or_are_refused() {
    let of = |more: &[&str]| layout(&[&["--format", "rgba8"][..], more].concat());
    assert_eq!(of(&["--size", "64x64", "--layers", "3"]).unwrap()["layers"], 3);
    assert_eq!(of(&["--size", "64x64x8"]).unwrap()["levels"][0]["depth"], 8);
    assert_eq!(of(&["--size", "64x64", "--samples", "4"]).unwrap()["size"], 4 * 64 * 64 * 4);
    assert_eq!(of(&["--size", "64x64", "--target", "cube"]).unwrap()["layers"], 6);
    assert_eq!(of(&["--size", "1000", "--target", "buffer"]).unwrap()["size"], 4_000);
    for (wrong, why) in [
        (&["--size", "64x64", "--target", "2d", "--layers", "3"][..], "3 layers"),
        (&["--size", "64x64x8", "--target", "2d-array"], "8 slices"),
        (&["--size", "64x64", "--target", "2d", "--samples", "4"], "4 samples"),
        (&["--size", "64x64", "--target", "1d"], "64 rows"),
        (&["--size", "64x64", "--target", "cube", "--layers", "3"], "3 layers"),
        (&["--size", "64x64", "--target", "cube-array", "--layers", "8"], "six"),
        (&["--size", "64x64", "--target", "rectangle", "--levels", "2"], "2 levels"),
        (&["--size", "64x64", "--flags", "linear", "--levels", "2"], "2 levels"),
        (&["--size", "64x64", "--flags", "linear", "--block-height", "2"], "no blocks"),
        (&["--size", "64x64", "--stride", "512"], "linear"),
        (&["--size", "64x64", "--block-depth", "2"], "2 slices"),
    ] {
        let text = of(wrong).unwrap_err();
        assert!(text.contains(why), "{wrong:?}: {text}");
    }
    let folder = Folder::new("surplus");
    let tiled = folder.write("tiled", &[0; 1024 + 77]);
    let out = navin(&[&"untile", &tiled, &folder.path("rows"), &"--format", &"rgba8", &"--size", &"16x16"]);
    assert!(out.status.success() && String::from_utf8_lossy(&out.stderr).contains("77 bytes behind"));
}

#[test]
fn options_win_over_descriptions() {
    let folder = Folder::new("describe");
    let json = folder.write("shape.json", br#"{"format": "rgba8", "width": 64, "height": 64, "levels": 3}"#);
    let with = |more: &[&str]| {
        let path = json.to_str().unwrap();
        layout(&[&["--describe", path][..], more].concat()).unwrap()
    };
    assert_eq!(with(&[])["levels"].as_array().unwrap().len(), 3);
    assert_eq!(with(&["--levels", "1"])["levels"].as_array().unwrap().len(), 1);
    assert_eq!(with(&["--target", "cube"])["layers"], 6);
    assert_eq!(with(&["--format", "r8", "--size", "32x8"])["levels"][0]["packed_bytes"], 256);
    // The generation of raw data: what is given, else what its description says, and it goes on to the output.
    let picture = texture("", Format::RGBA8, Target::D2, 1, 1);
    let png = container::write(Kind::Png, std::slice::from_ref(&picture), "", GobOrder::TegraX1).unwrap();
    let png = folder.write("a.png", &png);
    let bin = folder.path("a.bin");
    ok(&[&"convert", &png, &bin, &"--out-generation", &"2"]);
    let (right, wrong) = (folder.path("right.png"), folder.path("wrong.png"));
    ok(&[&"convert", &bin, &right]);
    ok(&[&"convert", &bin, &wrong, &"--generation", &"1"]);
    assert!(read(&right)[0].data == picture.data && read(&wrong)[0].data != picture.data);
    let bntx = folder.path("a.bntx");
    ok(&[&"convert", &bin, &bntx]);
    let back = container::read(&std::fs::read(&bntx).unwrap(), GobOrder::Successor).unwrap();
    assert!(back[0].data == picture.data, "the description's generation is the output's");
}

#[test]
fn all_files_of_a_conversion_or_none() {
    let folder = Folder::new("none");
    // The second texture has no place in DDS: the first is not written either.
    let two = [texture("x", Format::RGBA8, Target::D2, 1, 1), texture("y", Format::RGBA4, Target::D2, 1, 1)];
    let input = folder.write("two.bntx", &bntx(&two));
    std::fs::create_dir(folder.path("out")).unwrap();
    assert!(fails(&[&"convert", &input, &folder.path("out"), &"--to", &"dds"]).contains("RGBA4"));
    assert_eq!(folder.files("out"), [""; 0]);
    // A file in the second's way.
    std::fs::create_dir_all(folder.path("out/two.y.ktx2")).unwrap();
    assert!(fails(&[&"convert", &input, &folder.path("out"), &"--to", &"ktx2"]).contains("is a folder"));
    assert_eq!(folder.files("out"), [""; 0]);
    // Raw data's description does not take the place of something else, and comes with its data.
    let other = folder.write("hero.json", b"{\"bones\": 17}");
    let one = folder.write("one.bntx", &bntx(&two[..1]));
    assert!(fails(&[&"convert", &one, &folder.path("hero.bin")]).contains("something else"));
    assert_eq!(std::fs::read(&other).unwrap(), b"{\"bones\": 17}");
    assert!(!folder.path("hero.bin").exists());
    ok(&[&"convert", &one, &folder.path("own.bin")]);
    ok(&[&"convert", &one, &folder.path("own.bin")]);
}

#[test]
fn dots_in_names_stay() {
    let folder = Folder::new("dots");
    let input = folder.write("in/hero.alb.bntx", &bntx(&[texture("hero", Format::RGBA8, Target::D2, 1, 1)]));
    ok(&[&"convert", &input, &format!("{}/", folder.path("out").display()), &"--to", &"png"]);
    ok(&[&"convert", &folder.path("in"), &folder.path("all"), &"--to", &"png"]);
    assert_eq!((folder.files("out"), folder.files("all")), (vec!["hero.alb.png".into()], vec!["hero.alb.png".into()]));
}

#[test]
fn mips_streams_folders_and_raw_files() {
    let folder = Folder::new("streams");
    let picture = texture("", Format::RGBA8, Target::D2, 1, 1);
    let png = container::write(Kind::Png, std::slice::from_ref(&picture), "", GobOrder::TegraX1).unwrap();
    let path = folder.write("in/a.png", &png);
    // A path behind --mips is the output.
    ok(&[&"convert", &path, &"--mips", &folder.path("a.bntx")]);
    ok(&[&"convert", &path, &"--mips=2", &folder.path("b.bntx")]);
    assert_eq!((read(&folder.path("a.bntx"))[0].levels, read(&folder.path("b.bntx"))[0].levels), (7, 2));
    // Standard input and output.
    let mut child = Command::new(env!("CARGO_BIN_EXE_navin"))
        .args(["texture", "convert", "-", "-", "--to", "dds"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &png).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    let back = container::read(&out.stdout, GobOrder::TegraX1).unwrap();
    assert!(back[0].data == picture.data);
    // Raw data with a description is found in folders, and its own layout is told.
    folder.write("in/raw/s.bin", &vec![3; 64 * 256]);
    let described = br#"{"format": "rgba8", "width": 64, "height": 64, "flags": ["linear"]}"#;
    folder.write("in/raw/s.json", described);
    folder.write("in/raw/no_description.bin", &[0]);
    let all: Value = serde_json::from_str(&ok(&[&"info", &folder.path("in"), &"--json"])).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 2);
    let raw = &all[1]["textures"][0];
    assert_eq!((&raw["flags"][0], &raw["layout"]["levels"][0]["row_stride"]), (&"linear".into(), &256.into()));
    assert!(ok(&[&"info", &folder.path("in/raw/s.bin")]).contains("linear"));
    ok(&[&"convert", &folder.path("in"), &folder.path("out"), &"--to", &"png"]);
    ok(&[&"view", &folder.path("in"), &folder.path("sheets")]);
    assert_eq!(folder.files("out"), ["a.png", "raw/s.png"]);
    assert_eq!(folder.files("sheets"), ["a.png.png", "raw/s.bin.png"]);
    assert!(fails(&[&"info", &folder.path("sheets/raw"), &folder.path("nothing")]).contains("nothing"));
}

#[test]
fn views_of_many_slices_and_of_one() {
    let folder = Folder::new("slices");
    let mut volume = Texture { height: 64, depth: 128, levels: 7, ..texture("v", Format::R8, Target::D3, 1, 1) };
    volume.data = vec![9; volume.packed_size().unwrap() as usize];
    let input = folder.write("v.bntx", &bntx(&[volume]));
    let (all, one) = (folder.path("all.png"), folder.path("one.png"));
    ok(&[&"view", &input, &all]);
    ok(&[&"view", &input, &one, &"--slice", &"3", &"--layer", &"0"]);
    let (all, one) = (read(&all).remove(0), read(&one).remove(0));
    assert!(all.height > 64 * 64 && all.height <= 16_384, "{}", all.height);
    assert_eq!(one.height, 64 + 8);
    assert!(fails(&[&"view", &input, &folder.path("x.png"), &"--slice", &"128"]).contains("no such"));
    // 128 rows of the largest cells do not fit below each other.
    let mut wide = Texture { width: 128, height: 128, depth: 128, ..texture("w", Format::R8, Target::D3, 1, 1) };
    wide.data = vec![9; wide.packed_size().unwrap() as usize];
    let input = folder.write("w.bntx", &bntx(&[wide]));
    let sheet = folder.path("w.png");
    ok(&[&"view", &input, &sheet]);
    let sheet = read(&sheet).remove(0);
    assert!(sheet.height <= 16_384 && sheet.width >= 2 * 128, "{}x{}", sheet.width, sheet.height);
    // Every slice is on it: the ground between and below is another colour.
    let shown = sheet.data.as_chunks::<4>().0.iter().filter(|p| **p == [9, 0, 0, 255]).count();
    assert_eq!(shown, 128 * 128 * 128);
}

#[test]
fn colours_are_kept_where_that_is_asked() {
    let folder = Folder::new("curve");
    let picture = Texture { data: [188u8; 4].repeat(64 * 48), ..texture("", Format::RGBA8, Target::D2, 1, 1) };
    let png = container::write(Kind::Png, &[picture], "", GobOrder::TegraX1).unwrap();
    let png = folder.write("a.png", &png);
    let first = |more: &[&dyn AsRef<std::ffi::OsStr>]| {
        let to = folder.path("a.ktx2");
        ok(&[&[&"convert" as &dyn AsRef<std::ffi::OsStr>, &png, &to, &"--format", &"rgba8_srgb"], more].concat());
        read(&to)[0].data[..4].to_vec()
    };
    assert_eq!(first(&[]), [188; 4]);
    assert_eq!(first(&[&"--keep-colour"]), [223, 223, 223, 188]);
}

/// What cannot be meant is said once, before anything is written.
/// Links and devices stay what they are.
#[cfg(unix)]
#[test]
fn outputs_go_through_links_and_into_devices() {
    use std::os::unix::fs::FileTypeExt as _;

    let folder = Folder::new("nodes");
    let file = folder.write("a.bntx", &bntx(&[texture("one", Format::RGBA8, Target::D2, 1, 1)]));
    let real = folder.write("real.dds", b"old");
    std::os::unix::fs::symlink(&real, folder.path("link.dds")).unwrap();
    ok(&[&"convert", &file, &folder.path("link.dds")]);
    assert!(std::path::Path::new(&folder.path("link.dds")).is_symlink());
    assert!(std::fs::read(&real).unwrap().starts_with(b"DDS "));
    std::os::unix::fs::symlink("/dev/null", folder.path("null.dds")).unwrap();
    ok(&[&"convert", &file, &folder.path("null.dds")]);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn outputs_that_cannot_be_meant() {
    let folder = Folder::new("outputs");
    let one = texture("one", Format::RGBA8, Target::D2, 1, 1);
    let file = folder.write("in/a.bntx", &bntx(std::slice::from_ref(&one)));
    folder.write("in/b.bntx", &bntx(&[one]));
    let taken = folder.write("taken", b"");
    for command in [["convert", "--to=png"], ["view", "--opaque"]] {
        let said = fails(&[&command[0], &command[1], &folder.path("in"), &taken]);
        assert_eq!((said.lines().count(), said.contains("is no folder")), (1, true), "{said}");
    }
    assert!(fails(&[&"view", &file, &folder.path("sheet.jpg")]).contains("end it in .png"));
    assert_eq!(folder.files(""), ["in/a.bntx", "in/b.bntx", "taken"]);
    // A kind without names takes the file's.
    let xtx = folder.path("wall.xtx");
    ok(&[&"convert", &file, &xtx]);
    ok(&[&"convert", &xtx, &folder.path("back.bntx")]);
    assert_eq!(read(&folder.path("back.bntx"))[0].name, "wall");
}
