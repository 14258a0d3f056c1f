//! EXR files that another library packed (`exr/README.md`): the same texels as that library reads.

use navin_texture::container::{Texture, read};
use navin_texture::{Format, GobOrder};

fn bytes(name: &str) -> Vec<u8> {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").to_owned());
    std::fs::read(format!("{package}/tests/exr/{name}.exr")).unwrap()
}

fn one(bytes: &[u8]) -> Result<Texture, String> {
    read(bytes, GobOrder::TegraX1).map(|mut textures| textures.remove(0)).map_err(|e| e.to_string())
}

const PACKED: [&str; 7] =
    ["piz-half", "piz-mixed-tiles", "pxr24-mixed", "b44-mixed", "b44a-half-tiles", "b44-perceptual", "parts"];

#[test]
fn packed_pictures_are_what_the_library_reads() {
    for name in PACKED {
        let packed = one(&bytes(name)).unwrap();
        let plain = one(&bytes(&format!("{name}.plain"))).unwrap();
        assert_eq!((packed.width, packed.height), (19, 35), "{name}");
        let format = if name.contains("mixed") { Format::RGBA32F } else { Format::RGBA16F };
        assert_eq!(packed.format.format, format, "{name}");
        assert!(packed.data == plain.data, "{name}");
    }
}

#[test]
fn packed_pictures_cut_short_or_changed_are_errors_or_pictures() {
    for name in PACKED {
        let whole = bytes(name);
        for end in (0..whole.len()).step_by(37) {
            assert!(one(&whole[..end]).is_err(), "{name} cut to {end} bytes");
        }
        // Any byte may change anything but the size that a picture can have.
        for at in (0..whole.len()).step_by(23) {
            for bit in [1, 0x80] {
                let mut changed = whole.clone();
                changed[at] ^= bit;
                if let Ok(texture) = one(&changed) {
                    assert!(texture.check().is_ok(), "{name} byte {at}");
                    assert!(texture.data.len() as u64 <= 8 * 1032 * whole.len() as u64, "{name} byte {at}");
                }
            }
        }
    }
}

/// The table names each chunk once; without that a small file would keep the reader busy for as long as it likes.
#[test]
fn a_chunk_named_twice_is_an_error() {
    let mut file = bytes("piz-half");
    // The table is where two numbers lead to the chunks of rows 0 and 32.
    let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let row =
        |chunk: usize| file.get(chunk..chunk.saturating_add(4)).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
    let table = (300..file.len() - 16).find(|at| row(number(*at)) == Some(0) && row(number(at + 8)) == Some(32));
    let table = table.unwrap();
    let first: [u8; 8] = file[table..table + 8].try_into().unwrap();
    file[table + 8..table + 16].copy_from_slice(&first);
    let error = one(&file).unwrap_err();
    assert!(error.contains("second chunk"), "{error}");
}
