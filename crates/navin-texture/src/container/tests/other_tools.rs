//! Files as other programs write them, what kinds keep and lose, and verification of what was made.

use super::*;

const ORDER: GobOrder = GobOrder::TegraX1;

fn one(file: &[u8]) -> Result<Texture, FileError> {
    read(file, ORDER).map(|mut t| t.remove(0))
}

fn made(kind: Kind, texture: &Texture) -> Vec<u8> {
    write(kind, std::slice::from_ref(texture), "", ORDER).unwrap()
}

/// A DirectX 9 header of 2 x 2 texels and their bytes.
fn dds9(flags: u32, bits: u32, masks: [u32; 4], texels: &[u8]) -> Vec<u8> {
    let mut out = bytes::Out::default();
    out.put(b"DDS ").u32(124).u32(0x1007).u32(2).u32(2).u32(0).u32(0).u32(1).zeros(44);
    out.u32(32).u32(flags).u32(0).u32(bits);
    masks.into_iter().for_each(|mask| {
        out.u32(mask);
    });
    out.u32(0x1000).zeros(16).put(texels);
    out.0
}

/// Luminance is grey and alpha alone is alpha, not red.
#[test]
fn dds_of_grey_and_of_alpha() {
    let first = |file: Vec<u8>| one(&file).unwrap().rgba8(0, 0, 0, true).unwrap()[..4].to_vec();
    assert_eq!(first(dds9(0x2_0000, 8, [0xFF, 0, 0, 0], &[7, 1, 2, 3])), [7, 7, 7, 255]);
    assert_eq!(first(dds9(0x2_0000, 8, [0xFF, 0xFF, 0xFF, 0], &[7, 1, 2, 3])), [7, 7, 7, 255]);
    assert_eq!(first(dds9(0x2_0001, 16, [0xFF, 0, 0, 0xFF00], &[7, 9, 0, 0, 0, 0, 0, 0])), [7, 7, 7, 9]);
    assert_eq!(first(dds9(0x2, 8, [0, 0, 0, 0xFF], &[7, 1, 2, 3])), [0, 0, 0, 7]);
    assert_eq!(first(dds9(0x40, 8, [0xFF, 0, 0, 0], &[7, 1, 2, 3])), [7, 0, 0, 255], "red is red");
}

#[test]
fn dds_keeps_channels_and_names() {
    let mut grey = texture(Format::RG8, Target::D2, [5, 5, 1], 1, 3);
    grey.swizzle = [Source::R, Source::R, Source::R, Source::G];
    grey.name = "a name of no more than 28 b.".into();
    same(&[one(&made(Kind::Dds, &grey)).unwrap()], std::slice::from_ref(&grey));
    let long = Texture { name: "a name of more than twenty-eight bytes".into(), ..grey.clone() };
    assert_eq!(one(&made(Kind::Dds, &long)).unwrap().name, "");
    assert!(losses(Kind::Dds, &grey).unwrap().contains("rrrg"));
    assert!(losses(Kind::Xtx, &grey).unwrap().contains("rrrg"));
    assert_eq!((losses(Kind::Bntx, &grey), losses(Kind::Ktx2, &grey)), (None, None));
}

/// All descriptions first and then all data, layers further apart, levels elsewhere.
#[test]
fn xtx_blocks_in_another_order_and_stated_places() {
    let textures = [
        Texture { name: "texture0".into(), ..texture(Format::RGBA8, Target::D2Array, [16, 8, 1], 2, 2) },
        Texture { name: "texture1".into(), ..texture(Format::R8, Target::D2, [8, 8, 1], 1, 1) },
    ];
    let block = |kind: u32, data: &[u8]| {
        let mut out = bytes::Out::default();
        out.put(b"HBvN").u32(0x24).u64(data.len() as u64).u64(0x24).u32(kind).u32(0).u32(0).put(data);
        out.0
    };
    let mut file = [&b"DFvN"[..], &[16, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]].concat();
    let mut data = Vec::new();
    for texture in &textures {
        let layout = texture.check().unwrap();
        let mut out = bytes::Out::default();
        let tiled = texture.to_tiled(&layout, ORDER).unwrap();
        // Each level 1,024 bytes further from the layer's start than it need be, each layer 4,096 bytes.
        let far = layout.layer_size + 4096;
        out.u64(far * 2).u32(512).u32(texture.width).u32(texture.height).u32(texture.layers);
        out.u32(texture.target as u32).u32(texture.format.format.nvn() as u32).u32(texture.levels).u32(far as u32);
        for level in 0..17 {
            out.u32(layout.levels.get(level).map_or(0, |l| l.offset as u32 + 1024));
        }
        out.zeros(12);
        file.extend(block(2, &out.0));
        let mut moved = vec![0xEE; (far * u64::from(layout.layers) + 2048) as usize];
        for layer in 0..layout.layers {
            for level in &layout.levels {
                let from = (layout.layer_size * u64::from(layer) + level.offset) as usize;
                let to = (far * u64::from(layer) + level.offset + 1024) as usize;
                moved[to..to + level.size as usize].copy_from_slice(&tiled[from..from + level.size as usize]);
            }
        }
        data.push(block(3, &moved));
    }
    let tail = block(5, &[]);
    let whole = [file.clone(), data.concat(), tail.clone()].concat();
    let back = read(&whole, ORDER).unwrap();
    assert_eq!(back.len(), 2);
    for (back, texture) in back.iter().zip(&textures) {
        assert!(back.data == texture.data, "{}", texture.name);
    }
    let lacking = read(&[file.clone(), data[0].clone(), tail.clone()].concat(), ORDER).unwrap_err();
    assert!(lacking.to_string().contains("texture1") && lacking.offset.is_some(), "{lacking}");
    let more = read(&[file, data.concat(), data.concat(), tail].concat(), ORDER).unwrap_err();
    assert!(more.to_string().contains("without a description"), "{more}");
}

/// An EXR file of 2 x 1 half floats with such channels, the first's values 1 and 2, the next's 3 and 4, and so on.
fn exr_with(names: &[&str]) -> Vec<u8> {
    let mut list = bytes::Out::default();
    for name in names {
        list.put(name.as_bytes()).u8(0).u32(1).u32(0).u32(1).u32(1);
    }
    list.u8(0);
    let mut out = bytes::Out::default();
    out.put(&exr::MAGIC).u32(2);
    let mut attribute = |name: &str, kind: &str, value: &[u8]| {
        out.put(name.as_bytes()).u8(0).put(kind.as_bytes()).u8(0).u32(value.len() as u32).put(value);
    };
    attribute("channels", "chlist", &list.0);
    attribute("compression", "compression", &[0]);
    attribute("dataWindow", "box2i", &[[0u8; 4], [0; 4], [1, 0, 0, 0], [0; 4]].concat());
    out.u8(0);
    let at = out.at() as u64 + 8;
    out.u64(at).u32(0).u32(4 * names.len() as u32);
    for value in 1..=2 * names.len() {
        out.u16(crate::format::f32_to_f16(value as f32));
    }
    out.0
}

#[test]
fn exr_layers() {
    let texels = |names: &[&str]| {
        let t = one(&exr_with(names)).unwrap();
        crate::codec::decode_rgba32f(t.format, &t.data, 2, 1).unwrap()[1]
    };
    assert_eq!(texels(&["A", "B", "G", "R"]), [8.0, 6.0, 4.0, 2.0]);
    let blender = ["ViewLayer.Combined.B", "ViewLayer.Combined.G", "ViewLayer.Combined.R", "ViewLayer.Depth.Z"];
    assert_eq!(texels(&blender), [6.0, 4.0, 2.0, 1.0]);
    assert_eq!(texels(&["B", "G", "R", "diffuse.R"]), [6.0, 4.0, 2.0, 1.0], "the picture comes before layers");
    assert_eq!(texels(&["left.Y", "right.Y"]), [2.0, 2.0, 2.0, 1.0], "one layer only");
    let depth = one(&exr_with(&["Z", "u"])).unwrap_err();
    assert!(depth.to_string().contains("\"Z\", \"u\"") && depth.offset.is_some(), "{depth}");
}

/// 16-bit pictures keep all their bits both ways.
#[test]
fn png_of_16_bits() {
    let mut wide = Texture { name: String::new(), ..texture(Format::RGBA16, Target::D2, [9, 5, 1], 1, 1) };
    same(&[one(&made(Kind::Png, &wide)).unwrap()], std::slice::from_ref(&wide));
    wide.swizzle = [Source::G, Source::R, Source::Zero, Source::One];
    let back = one(&made(Kind::Png, &wide)).unwrap();
    let words = |t: &Texture| t.data.as_chunks::<2>().0.iter().map(|w| u16::from_le_bytes(*w)).collect::<Vec<_>>();
    for (got, from) in words(&back).as_chunks::<4>().0.iter().zip(words(&wide).as_chunks::<4>().0) {
        assert_eq!(*got, [from[1], from[0], 0, 0xFFFF]);
    }
    let r16 = Texture { data: 0x1234u16.to_le_bytes().to_vec(), ..texture(Format::R16, Target::D2, [1, 1, 1], 1, 1) };
    assert_eq!(words(&one(&made(Kind::Png, &r16)).unwrap()), [0x1234, 0, 0, 0xFFFF]);
    // Grey of 16 bits, as other programs write it.
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, 1, 1);
    encoder.set_color(::png::ColorType::GrayscaleAlpha);
    encoder.set_depth(::png::BitDepth::Sixteen);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[0x12, 0x34, 0xAB, 0xCD]).unwrap();
    writer.finish().unwrap();
    assert_eq!(words(&one(&file).unwrap()), [0x1234, 0x1234, 0x1234, 0xABCD]);
}

/// Errors say which chunk is to blame.
#[test]
fn png_errors_have_places() {
    let good = made(Kind::Png, &texture(Format::RGBA8, Target::D2, [30, 30, 1], 1, 1));
    let pixels = good.windows(4).position(|w| w == b"IDAT").unwrap() - 4;
    let mut broken = good.clone();
    broken[pixels + 20] ^= 1;
    assert_eq!(one(&broken).unwrap_err().offset, Some(pixels as u64), "its checksum");
    let mut header = good.clone();
    header[16] ^= 1;
    assert_eq!(one(&header).unwrap_err().offset, Some(8));
    assert_eq!(one(&good[..pixels + 30]).unwrap_err().offset, Some(pixels as u64), "cut");
}

/// What was made is compared in all that its kind holds.
#[test]
fn verification_sees_other_formats_channels_and_texels() {
    let good = texture(Format::RGBA8, Target::D2, [8, 8, 1], 1, 2);
    let wrong = [
        ("format", Texture { format: Format::RGBA8UI.info(), ..good.clone() }),
        ("target", Texture { target: Target::D2Array, ..good.clone() }),
        ("channels", Texture { swizzle: [Source::B, Source::G, Source::R, Source::A], ..good.clone() }),
        ("extents", Texture { width: 16, height: 4, levels: 2, data: noise(64 * 4 + 16 * 4, 1), ..good.clone() }),
        ("texels", Texture { data: noise(good.data.len(), 99), ..good.clone() }),
    ];
    for kind in [Kind::Bntx, Kind::Xtx, Kind::Dds, Kind::Ktx2] {
        verify(kind, &made(kind, &good), std::slice::from_ref(&good), ORDER).unwrap();
        for (what, other) in &wrong {
            let seen = verify(kind, &made(kind, other), std::slice::from_ref(&good), ORDER);
            if kind == Kind::Xtx && *what == "channels" {
                seen.unwrap();
                continue;
            }
            let seen = seen.unwrap_err();
            assert!(seen.contains(what), "{kind:?} {what}: {seen}");
        }
    }
    // An X format is the same with alpha from one.
    let x = Texture { format: Format::RGBX8.info(), ..good.clone() };
    verify(Kind::Bntx, &made(Kind::Bntx, &x), &[x], ORDER).unwrap();
    for (kind, format) in [(Kind::Png, Format::RGBA8), (Kind::Png, Format::RGB10A2), (Kind::Exr, Format::R11G11B10F)] {
        let picture = Texture { swizzle: [Source::B, Source::R, Source::G, Source::One], ..single(format, 5) };
        verify(kind, &made(kind, &picture), std::slice::from_ref(&picture), ORDER).unwrap();
        let other = single(format, 6);
        assert!(verify(kind, &made(kind, &other), &[picture], ORDER).unwrap_err().contains("texels"), "{kind:?}");
    }
}

fn single(format: Format, seed: u64) -> Texture {
    let one = texture(format, Target::D2, [8, 8, 1], 1, 1);
    Texture { data: noise(one.data.len(), seed), ..one }
}

/// What is not read is named with a way out.
#[test]
fn exr_says_what_it_does_not_read() {
    let mut file = exr_with(&["B", "G", "R"]);
    let compression = file.windows(12).rposition(|w| w == b"compression\0").unwrap() + 12 + 4;
    for (number, name) in [(8, "DWAA"), (9, "DWAB"), (200, "compression 200")] {
        file[compression] = number;
        let error = one(&file).unwrap_err();
        assert!(error.to_string().contains(name) && error.offset == Some(compression as u64), "{error}");
    }
    file[compression] = 0;
    file[5] = 2;
    assert!(one(&file).unwrap_err().to_string().contains("tiles without their size"));
    file[5] = 8;
    assert!(one(&file).unwrap_err().to_string().contains("deep data"));
}
