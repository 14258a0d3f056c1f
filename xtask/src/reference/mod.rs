//! What the clients' pictures must show, reckoned here apart from driver, shaders and GPU.
//!
//! Each module knows one client's scene from its C file and works it out another way: the triangle by barycentric
//! coordinates, the boxes by casting a ray for each pixel, the sparks by simulating them, the cells of the queues by
//! hashing, the streamed tiles by the function that their texels come from, the wall of pages by keeping its own page
//! table. `e2e` asks [`check`] for
//! every picture that it compares, and the tests here ask it for the expected pictures themselves, so that an
//! expected picture cannot be wrong in what is reckoned here.

mod cube;
mod memory;
mod particles;
mod queues;
mod streaming;
mod triangle;
mod vector;

use anyhow::Result;

use crate::pictures::Picture;

/// Checks a frame of a client, by its name; what was compared, or `None` where nothing is reckoned for the client.
///
/// # Errors
/// The picture does not show what it must.
pub fn check(client: &str, frame: u64, picture: &Picture) -> Result<Option<String>> {
    match client {
        "triangle" => triangle::check(frame, picture).map(Some),
        "cube" => cube::check(frame, picture).map(Some),
        "particles" => particles::check(frame, picture).map(Some),
        "queues" => queues::check(frame, picture).map(Some),
        "memory" => memory::check(frame, picture).map(Some),
        "streaming" => streaming::check(frame, picture).map(Some),
        _ => Ok(None),
    }
}

/// The colour of a pixel.
fn rgb(picture: &Picture, x: usize, y: usize) -> [f64; 3] {
    let at = (y * picture.width as usize + x) * 4;
    [0, 1, 2].map(|c| f64::from(picture.rgba[at + c]))
}

/// The largest difference of a channel.
fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The hash of `clients/common/guest.c`, which the scenes' textures are made of.
fn hash(x: u32, y: u32) -> u32 {
    let mut h = x.wrapping_mul(0x85EB_CA6B) ^ y.wrapping_mul(0xC2B2_AE35).wrapping_add(0x27D4_EB2F);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2C1B_3C6D);
    h ^= h >> 12;
    h = h.wrapping_mul(0x297A_2D39);
    h ^ h >> 15
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients;
    use crate::pictures;
    use crate::workspace;

    /// Every expected picture shows what its scene's computation says.
    #[test]
    fn expected_pictures_agree_with_the_computations() {
        let mut checked = 0;
        for client in clients::all().unwrap() {
            for frame in &client.compare {
                let path = workspace::root().join(format!("tests/expected/{}/frame-{frame}.png", client.name));
                let picture = pictures::read(&path).unwrap();
                match check(&client.name, *frame, &picture) {
                    Ok(words) => checked += u32::from(words.is_some()),
                    Err(e) => panic!("{} frame {frame}: {e:#}", client.name),
                }
            }
        }
        assert!(checked >= 12, "only {checked} pictures were checked");
    }

    /// A picture turned upside down, mirrored, or of another frame is refused.
    #[test]
    fn wrong_pictures_are_refused() {
        for name in ["triangle", "cube", "particles"] {
            let path = workspace::root().join(format!("tests/expected/{name}/frame-60.png"));
            let picture = pictures::read(&path).unwrap();
            let (w, h) = (picture.width as usize, picture.height as usize);
            let moved = |place: &dyn Fn(usize, usize) -> (usize, usize)| {
                let mut rgba = Vec::with_capacity(picture.rgba.len());
                for i in 0..w * h {
                    let (x, y) = place(i % w, i / w);
                    rgba.extend_from_slice(&picture.rgba[(y * w + x) * 4..][..4]);
                }
                Picture { width: picture.width, height: picture.height, rgba }
            };
            check(name, 60, &moved(&|x, y| (x, y))).unwrap();
            assert!(check(name, 60, &moved(&|x, y| (x, h - 1 - y))).is_err(), "{name}: upside down");
            assert!(check(name, 60, &moved(&|x, y| (w - 1 - x, y))).is_err(), "{name}: mirrored");
            assert!(check(name, 70, &picture).is_err(), "{name}: another frame");
        }
    }
}
