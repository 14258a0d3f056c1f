//! Whether a file that was just made holds what went into it, and what its kind cannot hold. The command line's
//! `--verify` asks before a file is put in place.

use super::bntx_format::with_alpha;
use super::{Kind, Source, Texture, exr, png, read};
use crate::swizzle::GobOrder;

/// Reads a file that was made of `textures` and compares all that its kind holds: formats, targets, extents, levels,
/// channel sources, and every texel. Pictures are compared with the colours that went into them.
///
/// # Errors
/// If something else comes back, and what.
pub fn verify(kind: Kind, bytes: &[u8], textures: &[Texture], order: GobOrder) -> Result<(), String> {
    let back = read(bytes, order).map_err(|e| format!("verification failed: {e}"))?;
    if back.len() != textures.len() {
        return Err(format!("verification failed: {} textures came back of {}", back.len(), textures.len()));
    }
    for (back, texture) in back.iter().zip(textures) {
        let picture = match kind {
            Kind::Png => Some(png::picture(texture)),
            Kind::Exr => Some(exr::picture(texture)),
            _ => None,
        };
        let picture = picture.transpose().map_err(|e| e.to_string())?;
        if let Err(what) = compare(kind, back, picture.as_ref().unwrap_or(texture)) {
            return Err(format!("verification failed: texture {:?} came back with {what}", texture.name));
        }
    }
    Ok(())
}

/// What of `back` is other than `texture`.
fn compare(kind: Kind, back: &Texture, texture: &Texture) -> Result<(), String> {
    let same = |what: &str, back: &dyn std::fmt::Debug, texture: &dyn std::fmt::Debug| {
        let (back, texture) = (format!("{back:?}"), format!("{texture:?}"));
        if back == texture { Ok(()) } else { Err(format!("{what} {back} instead of {texture}")) }
    };
    // BNTX says by the channels that alpha is one.
    let format = |t: &Texture| match kind {
        Kind::Bntx => with_alpha(t.format).unwrap_or(t.format),
        _ => t.format,
    };
    same("format", &format(back).format, &format(texture).format)?;
    same("target", &back.target, &texture.target)?;
    let extents = |t: &Texture| (t.width, t.height, t.depth, t.layers, t.levels, t.samples);
    same("extents", &extents(back), &extents(texture))?;
    if kind != Kind::Xtx {
        let sources = |t: &Texture| {
            let one = t.format.alpha_one();
            t.swizzle.map(|s| if one && s == Source::A { Source::One } else { s })
        };
        same("channels", &sources(back), &sources(texture))?;
    }
    match back.data == texture.data {
        true => Ok(()),
        false => Err("other texels".into()),
    }
}

/// What a kind of file does not keep of a texture, in words for its user; none for pictures, which are colours.
pub fn losses(kind: Kind, texture: &Texture) -> Option<String> {
    match kind {
        Kind::Xtx if texture.swizzle != Source::IDENTITY => {
            let letters: String = texture.swizzle.iter().map(|s| s.letter()).collect();
            Some(format!("texture {:?}: XTX keeps no channel sources ({letters})", texture.name))
        }
        Kind::Dds if texture.swizzle != Source::IDENTITY => {
            let letters: String = texture.swizzle.iter().map(|s| s.letter()).collect();
            Some(format!("texture {:?}: other programs read DDS without its channel sources ({letters})", texture.name))
        }
        _ => None,
    }
}
