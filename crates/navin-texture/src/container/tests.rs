//! Round trips of every kind with every format and target it can hold, and bad files.

use proptest::prelude::*;

use super::*;
use crate::format::{Class, Format};
use crate::fuzz;
use crate::layout::{PackagedLayout, Target};

mod other_tools;

fn noise(n: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut out = Vec::with_capacity(n + 8);
    while out.len() < n {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.extend_from_slice(&state.to_le_bytes());
    }
    out.truncate(n);
    out
}

fn texture(format: Format, target: Target, [width, height, depth]: [u32; 3], layers: u32, levels: u32) -> Texture {
    let mut texture = Texture {
        name: format!("{format:?}_{target:?}"),
        format: format.info(),
        target,
        width,
        height,
        depth,
        layers,
        levels,
        samples: 1,
        swizzle: Source::IDENTITY,
        packaged: None,
        data: Vec::new(),
    };
    texture.data = noise(texture.packed_size().unwrap() as usize, u64::from(width * 31 + height));
    texture
}

/// One of each target, with all levels where it can have them.
fn targets(format: Format) -> Vec<Texture> {
    vec![
        texture(format, Target::D1, [77, 1, 1], 1, 7),
        texture(format, Target::D2, [67, 45, 1], 1, 7),
        texture(format, Target::D2, [1, 1, 1], 1, 1),
        texture(format, Target::D3, [33, 20, 9], 1, 6),
        texture(format, Target::D1Array, [40, 1, 1], 3, 6),
        texture(format, Target::D2Array, [40, 90, 1], 3, 4),
        texture(format, Target::D2Array, [16, 16, 1], 1, 1),
        texture(format, Target::Rectangle, [50, 40, 1], 1, 1),
        texture(format, Target::Cube, [32, 32, 1], 6, 6),
        texture(format, Target::CubeArray, [16, 16, 1], 12, 2),
    ]
}

fn named(textures: Vec<Texture>, name: impl Fn(usize) -> String) -> Vec<Texture> {
    textures.into_iter().enumerate().map(|(i, t)| Texture { name: name(i), ..t }).collect()
}

/// Compares textures without printing their data.
fn same(got: &[Texture], expected: &[Texture]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        let bare = |t: &Texture| Texture { data: Vec::new(), ..t.clone() };
        assert_eq!(bare(got), bare(expected));
        assert!(got.data == expected.data, "{}: other texels", expected.name);
    }
}

#[test]
fn bntx_round_trips() {
    for format in Format::all().filter(|f| bntx_format::to_bntx(f).is_some()).map(|f| f.format) {
        let textures: Vec<Texture> = targets(format).into_iter().filter(|t| t.target != Target::Rectangle).collect();
        let mut textures = named(textures, |i| format!("texture_{i}"));
        textures[1].swizzle = [Source::B, Source::G, Source::R, Source::One];
        textures[1].packaged = Some(PackagedLayout::from_bytes([3, 0, 0, 0, 0, 0, 0, 0]));
        for order in [GobOrder::TegraX1, GobOrder::Successor] {
            let file = write(Kind::Bntx, &textures, "many", order).unwrap();
            assert_eq!(Kind::detect(&file), Some(Kind::Bntx));
            let back = read(&file, order).unwrap();
            same(&back, &textures);
            assert_eq!(write(Kind::Bntx, &back, "many", order).unwrap(), file);
        }
    }
    // Multisampled.
    let mut samples = texture(Format::RGBA8, Target::D2Multisample, [20, 20, 1], 1, 1);
    samples.samples = 4;
    samples.data = noise(samples.packed_size().unwrap() as usize, 3);
    let file = write(Kind::Bntx, std::slice::from_ref(&samples), "", GobOrder::TegraX1).unwrap();
    same(&read(&file, GobOrder::TegraX1).unwrap(), &[samples]);
}

#[test]
fn bntx_says_what_it_cannot_hold() {
    let order = GobOrder::TegraX1;
    let rectangle = texture(Format::RGBA8, Target::Rectangle, [8, 8, 1], 1, 1);
    assert!(write(Kind::Bntx, &[rectangle], "", order).is_err());
    let one = texture(Format::RGBA8, Target::D2, [8, 8, 1], 1, 1);
    let twice = write(Kind::Bntx, &[one.clone(), one.clone()], "", order).unwrap_err();
    assert!(twice.to_string().contains("two textures of this name"), "{twice}");
    // An X format is its A format with alpha from one.
    let x = texture(Format::RGBX8, Target::D2, [8, 8, 1], 1, 1);
    let file = write(Kind::Bntx, std::slice::from_ref(&x), "", order).unwrap();
    let back = &read(&file, order).unwrap()[0];
    assert_eq!((back.format.format, back.swizzle[3]), (Format::RGBA8, Source::One));
    assert_eq!(back.data, x.data);
    let broken = Texture { levels: 9, ..one };
    assert!(write(Kind::Bntx, &[broken], "", order).unwrap_err().to_string().contains("levels"));
}

/// Formats that read alpha as one have their bytes kept and alpha stated as one.
#[test]
fn bntx_holds_formats_without_alpha() {
    for (format, kept) in [
        (Format::RGB_DXT1, Format::RGBA_DXT1),
        (Format::RGB_DXT1_SRGB, Format::RGBA_DXT1_SRGB),
        (Format::RGB5, Format::RGB5A1),
        (Format::BGR5, Format::BGR5A1),
        (Format::BGRX8_SRGB, Format::BGRA8_SRGB),
    ] {
        let one = texture(format, Target::D2, [8, 8, 1], 1, 1);
        let file = write(Kind::Bntx, std::slice::from_ref(&one), "", GobOrder::TegraX1).unwrap();
        let back = &read(&file, GobOrder::TegraX1).unwrap()[0];
        assert_eq!((back.format.format, back.swizzle[3]), (kept, Source::One));
        assert_eq!(back.data, one.data);
        assert_eq!(back.rgba8(0, 0, 0, true), one.rgba8(0, 0, 0, true), "the same colours");
    }
}

#[test]
fn bntx_refuses_names_and_numbers_that_do_not_fit() {
    let tiny = |name: String| Texture { name, ..texture(Format::R8, Target::D2, [1, 1, 1], 1, 1) };
    let wrong = |names: &[&str]| {
        let textures: Vec<Texture> = names.iter().map(|n| tiny((*n).into())).collect();
        write(Kind::Bntx, &textures, "", GobOrder::TegraX1).unwrap_err().to_string()
    };
    assert!(wrong(&["a", "\0a"]).contains("zero"));
    assert!(wrong(&["", "a"]).contains("without a name"));
    // 16 bits say where the strings begin, behind eight bytes a texture.
    let many: Vec<Texture> = (0..8_140).map(|i| tiny(format!("t{i}"))).collect();
    let file = write(Kind::Bntx, &many, "many", GobOrder::TegraX1).unwrap();
    let back = read(&file, GobOrder::TegraX1).unwrap();
    assert_eq!((back.len(), back[8_139].name.as_str()), (8_140, "t8139"));
    let strings = usize::from(u16::from_le_bytes([file[0x16], file[0x17]]));
    assert_eq!(&file[strings..strings + 4], b"_STR");
    let more: Vec<Texture> = (0..8_141).map(|i| tiny(format!("t{i}"))).collect();
    let refused = write(Kind::Bntx, &more, "many", GobOrder::TegraX1).unwrap_err().to_string();
    assert!(refused.contains("8141") && refused.contains("8140"), "{refused}");
}

/// Many pointers to one texture with a long name ask for more than the file holds.
#[test]
fn bntx_names_are_no_way_to_much_memory() {
    let one = Texture { name: "n".repeat(65_535), ..texture(Format::R8, Target::D2, [1, 1, 1], 1, 1) };
    let mut file = write(Kind::Bntx, &[one], "", GobOrder::TegraX1).unwrap();
    let block = file[0x198..0x1A0].to_vec();
    let array = file.len() as u64;
    file.extend(block.repeat(120_000));
    file[0x24..0x28].copy_from_slice(&120_000u32.to_le_bytes());
    file[0x28..0x30].copy_from_slice(&array.to_le_bytes());
    let refused = read(&file, GobOrder::TegraX1).unwrap_err();
    assert!(refused.to_string().contains("name"), "{refused}");
}

/// The places that tools for the platform rely on.
#[test]
fn bntx_structure() {
    let textures = named(targets(Format::RGBA_DXT1).into_iter().take(3).collect(), |i| format!("t{i}"));
    let file = write(Kind::Bntx, &textures, "file", GobOrder::TegraX1).unwrap();
    let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let u64_at = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    assert_eq!(u32_at(0x1C), file.len());
    assert_eq!(&file[u32_at(0x18)..][..4], b"_RLT");
    assert_eq!(&file[u32_at(0x10)..][..5], b"file\0");
    assert_eq!(&file[file[0x16] as usize | (file[0x17] as usize) << 8..][..4], b"_STR");
    assert_eq!((&file[0x20..0x24], u32_at(0x24)), (&b"NX  "[..], 3));
    let data = u64_at(0x30);
    assert_eq!((&file[data..][..4], (data + 16) % 0x1000), (&b"BRTD"[..], 0));
    assert_eq!(&file[u64_at(0x38)..][..4], b"_DIC");
    for i in 0..3 {
        let block = u64_at(u64_at(0x28) + 8 * i);
        assert_eq!(&file[block..][..4], b"BRTI");
        let name = u64_at(block + 0x60);
        assert_eq!(&file[name + 2..][..2], format!("t{i}").as_bytes());
        let levels = u64_at(block + 0x70);
        assert_eq!(u64_at(levels) % 512, 0);
        // Each block leads to the next, the last to the data.
        let next = block + u32_at(block + 4);
        assert_eq!(&file[next..][..4], if i == 2 { b"BRTD" } else { b"BRTI" });
    }
    // Every relocated pointer leads into the file.
    let table = u32_at(0x18);
    let entries = u32_at(table + 16 + 20) + u32_at(table + 16 + 24 + 20);
    let mut pointers = 0;
    for entry in 0..entries {
        let at = table + 16 + 48 + 8 * entry;
        let count = usize::from(u16::from_le_bytes([file[at + 4], file[at + 5]]));
        let (each, gap) = (usize::from(file[at + 6]), usize::from(file[at + 7]));
        for i in 0..count {
            for p in 0..each {
                let place = u32_at(at) + 8 * (i * (each + gap) + p);
                assert!(u64_at(place) < file.len() && u64_at(place) > 0, "{place:#x}");
                pointers += 1;
            }
        }
    }
    assert!(pointers > 3 * 8, "{pointers}");
}

#[test]
fn xtx_round_trips() {
    for info in Format::all() {
        let mut textures = named(targets(info.format), |i| format!("texture{i}"));
        textures[1].packaged = Some(PackagedLayout::from_bytes([5, 0, 0, 0, 0, 0, 0, 0]));
        let file = write(Kind::Xtx, &textures, "", GobOrder::Successor).unwrap();
        same(&read(&file, GobOrder::Successor).unwrap(), &textures);
    }
}

#[test]
fn dds_round_trips() {
    let mut held = 0;
    for info in Format::all() {
        for texture in named(targets(info.format), |_| String::new()) {
            match write(Kind::Dds, std::slice::from_ref(&texture), "", GobOrder::TegraX1) {
                Ok(file) => same(&read(&file, GobOrder::TegraX1).unwrap(), &[texture]),
                Err(e) => {
                    assert!(e.to_string().contains("KTX2 holds it"), "{e}");
                    continue;
                }
            }
            held += 1;
        }
    }
    assert!(held > 900, "{held}");
}

#[test]
fn dds_of_other_tools() {
    // A header of DirectX 9: DXT5, 8x8, 4 levels.
    let header = |flags: u32, four_cc: &[u8; 4], bits: u32, masks: [u32; 4], caps2: u32| {
        let mut out = bytes::Out::default();
        out.put(b"DDS ").u32(124).u32(0x2_1007).u32(8).u32(8).u32(0).u32(0).u32(4).zeros(44);
        out.u32(32).u32(flags).put(four_cc).u32(bits);
        masks.into_iter().for_each(|mask| {
            out.u32(mask);
        });
        out.u32(0x40_1008).u32(caps2).zeros(12);
        out.0
    };
    let with = |header: Vec<u8>, n: usize| [header, noise(n, 1)].concat();
    let one = |file: &[u8]| read(file, GobOrder::TegraX1).map(|mut t| t.remove(0));
    let dxt5 = one(&with(header(4, b"DXT5", 0, [0; 4], 0), 64 + 16 * 3)).unwrap();
    assert_eq!((dxt5.format.format, dxt5.levels), (Format::RGBA_DXT5, 4));
    let masks = [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000];
    let bgra = one(&with(header(0x41, &[0; 4], 32, masks, 0), 340)).unwrap();
    assert_eq!(bgra.format.format, Format::BGRA8);
    assert_eq!(one(&with(header(0x40, &[0; 4], 32, masks, 0), 340)).unwrap().format.format, Format::BGRX8);
    let cube = one(&with(header(4, b"DXT5", 0, [0; 4], 0xFE00), 6 * 112)).unwrap();
    assert_eq!((cube.target, cube.layers), (Target::Cube, 6));
    let short = one(&with(header(4, b"DXT5", 0, [0; 4], 0), 64)).unwrap_err();
    assert_eq!(short.offset, Some(128));
    assert!(one(&with(header(4, b"WHAT", 0, [0; 4], 0), 400)).unwrap_err().to_string().contains("WHAT"));
    assert!(one(&with(header(4, b"DXT5", 0, [0; 4], 0x600), 400)).unwrap_err().to_string().contains("six faces"));
}

#[test]
fn ktx2_round_trips() {
    for info in Format::all().filter(|f| !matches!(f.class, Class::Uscaled | Class::Sscaled)) {
        for mut texture in targets(info.format) {
            if texture.width == 67 {
                texture.swizzle = [Source::R, Source::R, Source::Zero, Source::One];
            }
            let file = write(Kind::Ktx2, std::slice::from_ref(&texture), "", GobOrder::TegraX1).unwrap();
            same(&read(&file, GobOrder::TegraX1).unwrap(), &[texture]);
        }
    }
}

/// A KTX2 file with the keys of this program's own made unreadable, as other programs' files have none.
fn ktx2_of_others(texture: &Texture) -> Vec<u8> {
    let mut file = write(Kind::Ktx2, std::slice::from_ref(texture), "", GobOrder::TegraX1).unwrap();
    while let Some(at) = file.windows(5).position(|w| w == b"Navin") {
        file[at..at + 5].copy_from_slice(b"Other");
    }
    file
}

/// Of formats that share a Vulkan number the one with alpha is read.
#[test]
fn ktx2_without_our_keys_keeps_alpha() {
    for (vulkan, format) in [
        (43, Format::RGBA8_SRGB),
        (37, Format::RGBA8),
        (44, Format::BGRA8),
        (50, Format::BGRA8_SRGB),
        (8, Format::BGR5A1),
        (91, Format::RGBA16),
        (97, Format::RGBA16F),
        (109, Format::RGBA32F),
        (1_000_470_000, Format::RGB5A1),
    ] {
        let file = ktx2_of_others(&texture(format, Target::D2, [5, 3, 1], 1, 1));
        assert_eq!(u32::from_le_bytes(file[12..16].try_into().unwrap()), vulkan);
        assert_eq!(read(&file, GobOrder::TegraX1).unwrap()[0].format.format, format, "Vulkan format {vulkan}");
    }
    for info in Format::all() {
        let texture = texture(info.format, Target::D2, [5, 3, 1], 1, 1);
        if write(Kind::Ktx2, std::slice::from_ref(&texture), "", GobOrder::TegraX1).is_err() {
            continue;
        }
        match read(&ktx2_of_others(&texture), GobOrder::TegraX1) {
            Ok(back) if info.alpha_one() => assert!(!back[0].format.alpha_one(), "{}", info.name),
            Ok(back) => assert_eq!(back[0].format.vk_format, info.vk_format, "{}", info.name),
            Err(e) => {
                assert!(info.class.has_depth() && e.to_string().contains("Vulkan format 0"), "{}: {e}", info.name)
            }
        }
    }
}

/// Levels begin at the least multiple of four bytes and of a block; scaled formats are none of KTX2's.
#[test]
fn ktx2_alignment_and_scaled_formats() {
    for (format, alignment) in [
        (Format::R8, 4),
        (Format::RG8, 4),
        (Format::RGB8, 12),
        (Format::RGB16, 12),
        (Format::RGB32F, 12),
        (Format::RGBA8, 4),
        (Format::RGBA_DXT1, 8),
        (Format::RGBA32F, 16),
    ] {
        let texture = texture(format, Target::D2, [13, 11, 1], 1, 4);
        let file = write(Kind::Ktx2, std::slice::from_ref(&texture), "", GobOrder::TegraX1).unwrap();
        let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        // The smallest level is the first.
        let mut at = u64::from(u32::from_le_bytes(file[56..60].try_into().unwrap()))
            + u64::from(u32::from_le_bytes(file[60..64].try_into().unwrap()));
        for level in (0..4).rev() {
            let (offset, size) = (word(80 + 24 * level), word(88 + 24 * level));
            assert_eq!(offset, at.next_multiple_of(alignment), "{format:?} level {level}");
            at = offset + size;
        }
    }
    let scaled = texture(Format::RGBA8_UI2F, Target::D2, [4, 4, 1], 1, 1);
    let refused = write(Kind::Ktx2, &[scaled], "", GobOrder::TegraX1).unwrap_err().to_string();
    assert!(refused.contains("prohibits") && refused.contains("RGBA8_UI2F"), "{refused}");
    let mut file = ktx2_of_others(&texture(Format::RGBA8, Target::D2, [4, 4, 1], 1, 1));
    file[12] = 39; // R8G8B8A8_USCALED
    assert!(read(&file, GobOrder::TegraX1).unwrap_err().to_string().contains("prohibits"));
}

#[test]
fn ktx2_by_zlib_and_by_others() {
    let texture = Texture { name: String::new(), ..texture(Format::RGBA8, Target::D2, [64, 64, 1], 1, 1) };
    let mut file = write(Kind::Ktx2, std::slice::from_ref(&texture), "", GobOrder::TegraX1).unwrap();
    let at = u64::from_le_bytes(file[80..88].try_into().unwrap()) as usize;
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&file[at..], 3);
    file.truncate(at);
    file.extend_from_slice(&packed);
    file[44] = 3;
    file[88..96].copy_from_slice(&(packed.len() as u64).to_le_bytes());
    same(&read(&file, GobOrder::TegraX1).unwrap(), std::slice::from_ref(&texture));
    // Zstandard, and zlib's bytes under its name.
    file[44] = 2;
    assert!(read(&file, GobOrder::TegraX1).unwrap_err().to_string().contains("Zstandard"));
    file.truncate(at);
    let packed = ruzstd::encoding::compress_to_vec(&texture.data[..], ruzstd::encoding::CompressionLevel::Fastest);
    file.extend_from_slice(&packed);
    file[88..96].copy_from_slice(&(packed.len() as u64).to_le_bytes());
    same(&read(&file, GobOrder::TegraX1).unwrap(), std::slice::from_ref(&texture));
    for short in [1, packed.len() / 2, packed.len() - 1] {
        file[88..96].copy_from_slice(&(short as u64).to_le_bytes());
        assert!(read(&file, GobOrder::TegraX1).is_err(), "{short} of {}", packed.len());
    }
    // A window of gigabytes, in both ways to state one.
    file[88..96].copy_from_slice(&(packed.len() as u64).to_le_bytes());
    let mut window = file.clone();
    window[at + 4] &= !0x20;
    window[at + 5] = 0xFF;
    assert!(read(&window, GobOrder::TegraX1).unwrap_err().to_string().contains("window"));
    window[at + 4] = 0xE0;
    window[at + 5..at + 13].copy_from_slice(&(1u64 << 40).to_le_bytes());
    assert!(read(&window, GobOrder::TegraX1).unwrap_err().to_string().contains("window"));
    // Universal textures: no Vulkan format, and the model in the descriptor.
    let mut file = ktx2_of_others(&texture);
    file[12..16].fill(0);
    let model = u32::from_le_bytes(file[48..52].try_into().unwrap()) as usize + 12;
    for (number, name) in [(163, "BasisLZ"), (166, "UASTC")] {
        file[model] = number;
        assert!(read(&file, GobOrder::TegraX1).unwrap_err().to_string().contains(name));
    }
}

#[test]
fn pictures_round_trip() {
    let order = GobOrder::TegraX1;
    for (kind, format) in [(Kind::Png, Format::RGBA8), (Kind::Exr, Format::RGBA16F), (Kind::Exr, Format::RGBA32F)] {
        let mut picture = Texture { name: String::new(), ..texture(format, Target::D2, [45, 17, 1], 1, 1) };
        if kind == Kind::Exr {
            // NaN payloads are not kept by halves; everything else is.
            let values: Vec<[f32; 4]> = (0..45 * 17).map(|i| [i as f32 / 8.0, -1.5, 65504.0, 1e-7]).collect();
            picture.data = crate::codec::encode_rgba32f(picture.format, &values, 45, 17).unwrap();
        }
        let file = write(kind, std::slice::from_ref(&picture), "", order).unwrap();
        assert_eq!(Kind::detect(&file), Some(kind));
        same(&read(&file, order).unwrap(), &[picture]);
        let levels = texture(format, Target::D2, [8, 8, 1], 1, 2);
        assert!(write(kind, &[levels], "", order).unwrap_err().to_string().contains("choose one"));
    }
}

#[test]
fn exr_compressed() {
    let picture = texture(Format::RGBA16F, Target::D2, [20, 33, 1], 1, 1);
    let plain = write(Kind::Exr, std::slice::from_ref(&picture), "", GobOrder::TegraX1).unwrap();
    let expected = read(&plain, GobOrder::TegraX1).unwrap();
    let row = 20 * 8;
    let table = plain.len() - 33 * (8 + 8 + row);
    let rows: Vec<&[u8]> = (0..33).map(|y| &plain[table + 33 * 8 + y * (8 + row) + 8..][..row]).collect();
    let pack = |bytes: Vec<u8>| {
        let n = bytes.len();
        let mut split: Vec<u8> = bytes.iter().step_by(2).chain(bytes.iter().skip(1).step_by(2)).copied().collect();
        for i in (1..n).rev() {
            split[i] = split[i].wrapping_sub(split[i - 1]).wrapping_add(128);
        }
        split
    };
    // Compressions 1 (RLE), 2 (ZIPS, one line) and 3 (ZIP, 16 lines).
    for (compression, lines) in [(1u8, 1usize), (2, 1), (3, 16)] {
        let chunks: Vec<(usize, Vec<u8>)> = (0..33usize)
            .step_by(lines)
            .map(|y| {
                let split = pack(rows[y..(y + lines).min(33)].concat());
                let packed = if compression == 1 {
                    split.chunks(100).flat_map(|c| [&[-(c.len() as i8) as u8][..], c].concat()).collect()
                } else {
                    miniz_oxide::deflate::compress_to_vec_zlib(&split, 1)
                };
                (y, packed)
            })
            .collect();
        let mut out = bytes::Out::default();
        out.put(&plain[..table]);
        let at = plain[..table].windows(24).position(|w| w == b"compression\0compression\0").unwrap();
        out.0[at + 28] = compression;
        let mut to = table + 8 * chunks.len();
        for (_, packed) in &chunks {
            out.u64(to as u64);
            to += 8 + packed.len();
        }
        for (y, packed) in &chunks {
            out.u32(*y as u32).u32(packed.len() as u32).put(packed);
        }
        same(&read(&out.0, GobOrder::TegraX1).unwrap(), &expected);
    }
}

#[test]
fn errors_name_the_place() {
    let textures = named(targets(Format::RGBA8).into_iter().take(2).collect(), |i| format!("t{i}"));
    let order = GobOrder::TegraX1;
    let file = write(Kind::Bntx, &textures, "f", order).unwrap();
    let block = u64::from_le_bytes(file[0x198..0x1A0].try_into().unwrap()) as usize;
    let with = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        read(&file, order).unwrap_err()
    };
    assert_eq!(with(0x0C, &[0xFE, 0xFF]).offset, Some(0x0C));
    assert_eq!(with(0x20, b"Gen ").offset, Some(0x20));
    assert_eq!(with(0x24, &[0xFF; 4]).offset, Some(0x198));
    let format = with(block + 0x1C, &[0x77, 0x77]);
    assert_eq!(format.offset, Some(block as u64 + 0x1C));
    assert!(format.to_string().contains("\"t0\""), "{format}");
    // Absurd sizes ask for no memory.
    assert!(with(block + 0x24, &[0xFF, 0xFF, 0xFF, 0]).to_string().contains("file"));
    // Pointers that lead nowhere, to the header, or to themselves.
    for pointer in [u64::MAX, 0, 0x198, file.len() as u64 - 1] {
        with(0x198, &pointer.to_le_bytes());
        with(block + 0x60, &(u64::MAX - 1).to_le_bytes());
    }
    // Two blocks with the same data are more than the file holds.
    let mut twice = file.clone();
    twice.copy_within(0x1A0..0x1A8, 0x198);
    let big = read(&twice, order);
    assert!(big.is_ok() || big.unwrap_err().to_string().contains("left of the file"));
    assert!(read(b"what is this", order).unwrap_err().to_string().contains("none of"));
    assert!(read(&[], order).is_err());
}

fn seeds() -> Vec<Vec<u8>> {
    let small = |format, target, layers, levels| {
        let depth = if target == Target::D3 { 4 } else { 1 };
        let height = if target == Target::D1 { 1 } else { 16 };
        texture(format, target, [16, height, depth], layers, levels)
    };
    let many = [small(Format::RGBA_DXT1, Target::Cube, 6, 3), small(Format::R8, Target::D3, 1, 2)];
    let one = [small(Format::BPTC_UNORM, Target::D2Array, 2, 5)];
    let picture = [small(Format::RGBA16F, Target::D2, 1, 1)];
    let order = GobOrder::TegraX1;
    [
        (Kind::Bntx, &many[..]),
        (Kind::Xtx, &many[..]),
        (Kind::Dds, &one[..]),
        (Kind::Ktx2, &one[..]),
        (Kind::Png, &picture[..]),
        (Kind::Exr, &picture[..]),
    ]
    .into_iter()
    .map(|(kind, textures)| write(kind, textures, "seed", order).unwrap())
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn changed_files_never_panic(
        seed in 0usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0usize..9), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut file = SEEDS.with(|seeds| seeds[seed].clone());
        // Most changes go where the structure is.
        let head = file.len().min(0x800);
        for (at, value, how) in changes {
            let at = if how < 7 { at.index(head) } else { at.index(file.len()) };
            match how {
                0 => file[at] = 0xFF,
                1 => file[at] = 0,
                2 => file[at] = file[at].wrapping_add(1),
                _ => file[at] = value,
            }
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        fuzz::file(&file);
    }

    #[test]
    fn any_bytes_behind_a_magic_number_never_panic(
        which in 0usize..6,
        bytes in prop::collection::vec(prop_oneof![3 => any::<u8>(), 2 => 0u8..4], 0..600),
    ) {
        fuzz::file_of(Kind::ALL[which], &bytes);
    }

    #[test]
    fn descriptions_of_raw_data_never_panic(
        mut head in prop::array::uniform32(any::<u8>()),
        tail in prop::array::uniform8(any::<u8>()),
        small in any::<bool>(),
        data in prop::collection::vec(any::<u8>(), 1..80),
    ) {
        if small {
            // Sizes of a byte and few levels: most of these are textures.
            for at in [5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19] {
                head[at] = 0;
            }
            (head[2], head[3]) = (1 + head[2] % 7, 1 << (head[3] % 4));
        }
        fuzz::description(&[&head[..], &tail, &data].concat());
    }
}

/// The same for as long as one likes: `NAVIN_FUZZ_SECONDS=3600 cargo test --release -p navin-texture -- --ignored
/// files_for_long`. Changes pile up on files that are still read, so that it goes deeper than the first check.
#[test]
#[ignore = "runs for a minute, or NAVIN_FUZZ_SECONDS"]
fn files_for_long() {
    let seconds = std::env::var("NAVIN_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    let mut state = std::process::id() as u64 | 1 << 40;
    let mut next = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n.max(1) as u64) as usize
    };
    let seeds = seeds();
    let (mut runs, mut deep) = (0u64, seeds.clone());
    while std::time::Instant::now() < end {
        let which = next(seeds.len());
        let mut file = if next(4) == 0 { deep[which].clone() } else { seeds[which].clone() };
        for _ in 0..=next(6) {
            let head = if next(3) > 0 { file.len().min(0x800) } else { file.len() };
            let at = next(head);
            match next(6) {
                0 => file[at] = [0, 1, 0x7F, 0x80, 0xFF][next(5)],
                1 => file[at] ^= 1 << next(8),
                2 => file[at] = next(256) as u8,
                3 => file.truncate(at.max(16)),
                4 if at + 4 <= file.len() => {
                    let value = [0, 1, u32::MAX, 0x7FFF_FFFF, file.len() as u32, 0x1_0000][next(6)];
                    file[at..at + 4].copy_from_slice(&value.to_le_bytes());
                }
                _ => {
                    let from = next(head);
                    let n = next(16).min(file.len() - at).min(file.len() - from);
                    file.copy_within(from..from + n, at);
                }
            }
        }
        fuzz::file(&file);
        runs += 1;
        if read(&file, GobOrder::TegraX1).is_ok() && next(3) == 0 {
            deep[which] = file;
        }
        if runs % 5000 == 0 {
            deep.clone_from(&seeds);
        }
    }
    println!("{runs} files");
}

thread_local! {
    static SEEDS: Vec<Vec<u8>> = seeds();
}

/// Every field of the structure, one after the other, with the values that break most readers.
#[test]
fn every_field_with_absurd_values() {
    for seed in seeds() {
        for at in (0..seed.len().min(0x700)).step_by(4) {
            for value in [0u32, 1, 0x7FFF_FFFF, u32::MAX, 0x8000_0000] {
                let mut file = seed.clone();
                let end = (at + 4).min(file.len());
                file[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
                let _ = read(&file, GobOrder::TegraX1);
            }
        }
        // The last chunk of a PNG says nothing but that it is the last.
        for cut in 0..(seed.len() - 12).min(0x700) {
            let kind = Kind::detect(&seed);
            assert!(read(&seed[..cut], GobOrder::TegraX1).is_err(), "{kind:?} cut at {cut} of {}", seed.len());
        }
    }
}

/// Components of more than 8 bits on either side, and of fewer, are rounded once, from their own value.
#[test]
fn wide_components_stay_wide() {
    let widest = |format: Format, words: &[u16]| Texture {
        data: words.iter().flat_map(|w| w.to_le_bytes()).collect(),
        ..texture(format, Target::D2, [1, 1, 1], 1, 1)
    };
    let to = |t: &Texture, format: Format| t.to_format(format.info()).unwrap().data;
    let words = |bytes: &[u8]| bytes.as_chunks::<2>().0.iter().map(|w| u16::from_le_bytes(*w)).collect::<Vec<_>>();
    let r16 = widest(Format::R16, &[0x1234]);
    assert_eq!(words(&to(&r16, Format::RG16)), [0x1234, 0]);
    assert_eq!(words(&to(&r16, Format::RGBA16)), [0x1234, 0, 0, 0xFFFF]);
    let rgba16 = widest(Format::RGBA16, &[0x0040, 0x8000, 0x7FE0, 0xFFFF]);
    let packed = u32::from_le_bytes(to(&rgba16, Format::RGB10A2).try_into().unwrap());
    assert_eq!([packed & 1023, packed >> 10 & 1023, packed >> 20 & 1023, packed >> 30], [1, 512, 511, 3]);
    // BC4 from 0 to 255, texels of index 2: six sevenths, which 8 bits do not hold.
    let mut bc4 = texture(Format::RGTC1_UNORM, Target::D2, [4, 4, 1], 1, 1);
    bc4.data = vec![255, 0, 0b1001_0010, 0b0010_0100, 0b0100_1001, 0b1001_0010, 0b0010_0100, 0b0100_1001];
    let r = words(&to(&bc4, Format::R16));
    assert!(r.iter().all(|v| v.abs_diff((65535.0f64 * 6.0 / 7.0).round() as u16) <= 1), "{r:?}");
    // 6 bits to 5 by way of 8 would be another number for some.
    for green in 0..64u16 {
        let five = words(&to(&widest(Format::RGB565, &[green << 5]), Format::RGB5A1))[0] >> 5 & 31;
        assert_eq!(five, (f64::from(green) * 31.0 / 63.0).round() as u16, "{green}");
    }
}

/// Between formats of 0 to 1 stored numbers go over, whatever their names say of the curve, unless the colour is to be
/// kept.
#[test]
fn the_srgb_curve_is_a_name_or_is_converted() {
    let rgba8 = texture(Format::RGBA8, Target::D2, [16, 16, 1], 1, 1);
    let with = |t: &Texture, format: Format, curve| t.to_format_with(format.info(), curve).unwrap().data;
    let blocks = texture(Format::BPTC_UNORM, Target::D2, [16, 16, 1], 1, 1);
    let plain = with(&blocks, Format::RGBA8, Curve::Keep);
    for curved in [Format::RGBA8_SRGB, Format::RGBX8_SRGB] {
        assert_eq!(with(&rgba8, curved, Curve::Keep)[..3], rgba8.data[..3]);
        assert_eq!(with(&blocks, curved, Curve::Keep)[..3], plain[..3], "the same as to RGBA8, texel for texel");
    }
    assert!(with(&blocks, Format::RGBA8_SRGB, Curve::Keep) == plain);
    let srgb_blocks = Texture { format: Format::BPTC_UNORM_SRGB.info(), ..blocks };
    assert!(with(&srgb_blocks, Format::RGBA8, Curve::Keep) == plain);
    assert!(with(&srgb_blocks, Format::RGBA8_SRGB, Curve::Keep) == plain);
    // Sixteen bits as well.
    let middle = Texture { data: [0, 0x80].repeat(4), ..texture(Format::RGBA16, Target::D2, [1, 1, 1], 1, 1) };
    assert_eq!(with(&middle, Format::RGBA8_SRGB, Curve::Keep), [128; 4]);
    // With the colour kept the numbers change and a shader reads the same; alpha is on no curve.
    assert_eq!(with(&middle, Format::RGBA8_SRGB, Curve::Convert), [188, 188, 188, 128]);
    let bright = Texture { data: vec![188; 4], ..texture(Format::RGBA8_SRGB, Target::D2, [1, 1, 1], 1, 1) };
    assert_eq!(with(&bright, Format::RGBA8, Curve::Convert), [128, 128, 128, 188]);
    let there = rgba8.to_format_with(Format::RGBA16F.info(), Curve::Keep).unwrap();
    assert_eq!(with(&there, Format::RGBA8, Curve::Keep), rgba8.data);
    // Floats are colours, so the curve is used either way.
    let colour = with(&bright, Format::RGBA32F, Curve::Keep);
    assert!((f32::from_le_bytes(colour[..4].try_into().unwrap()) - 0.503).abs() < 0.001);
}

/// A texture without layers says so and does not count below 0.
#[test]
fn no_layers_is_an_error() {
    for target in [Target::D2, Target::D2Array, Target::Cube] {
        let none = Texture { layers: 0, target, ..texture(Format::R8, Target::D2, [4, 4, 1], 1, 1) };
        assert!(none.check().is_err());
    }
}

#[test]
fn parts_formats_and_mips() {
    let array = texture(Format::RGBA8, Target::D2Array, [20, 12, 1], 3, 4);
    let part = array.part(Some(2), Some(1)).unwrap();
    assert_eq!((part.target, part.width, part.height, part.layers, part.levels), (Target::D2, 10, 6, 1, 1));
    assert_eq!(part.data, array.data[array.surface(2, 1).unwrap().range]);
    assert!(array.part(Some(3), None).is_err());
    assert!(array.part(None, Some(9)).is_err());

    // Same bytes, another name.
    let srgb = array.to_format(Format::RGBA8_SRGB.info()).unwrap();
    assert_eq!(srgb.data, array.data);
    // Exact there and back.
    let bgra = array.to_format(Format::BGRA8.info()).unwrap();
    assert_eq!(bgra.to_format(Format::RGBA8.info()).unwrap().data, array.data);
    let wide = array.to_format(Format::RGBA32F.info()).unwrap();
    assert_eq!(wide.to_format(Format::RGBA8.info()).unwrap().data, array.data);
    let blocks = texture(Format::BPTC_UNORM, Target::D2, [20, 12, 1], 1, 1);
    assert!(blocks.to_format(Format::RGBA8.info()).is_ok());
    assert!(array.to_format(Format::BPTC_UNORM.info()).is_err());

    // A level is the mean of the one above, in linear light.
    let mut checker = texture(Format::RGBA8_SRGB, Target::D2, [4, 2, 1], 1, 1);
    checker.data = [[0, 0, 0, 255], [255, 255, 255, 255]].concat().repeat(4);
    let mips = checker.with_mips(None).unwrap();
    assert_eq!((mips.levels, mips.data.len()), (3, 32 + 8 + 4));
    assert_eq!(mips.data[32..36], [188, 188, 188, 255]);
    assert_eq!(&mips.data[..32], &checker.data[..]);
    let odd = texture(Format::R8, Target::D3, [5, 3, 3], 1, 1).with_mips(None).unwrap();
    assert_eq!(odd.levels, 3);
    odd.check().unwrap();
    assert!(blocks.with_mips(None).is_err());
}
