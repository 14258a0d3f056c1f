//! `clients/streaming.c`: which tile holds what in a frame, and the picture that the tiles are cut from.
//!
//! Tiles in RGBA8 and R16F must show the picture's texels to a rounding, those in BC1 and BC7 to what their blocks
//! can hold: the encoders are the guest's, the decoders the device's, and a wrong layout, format or descriptor
//! would put other texels there.

use anyhow::{Result, ensure};

use super::{apart, hash, rgb};
use crate::pictures::Picture;

const GRID: usize = 16;
const SIDE: usize = 64;
const LIFE: u64 = 300;
const REST: u64 = 4;
const GROW: f32 = 20.0;
const BACKDROP: [f64; 3] = [0.05 * 255.0, 0.055 * 255.0, 0.075 * 255.0];
/// Of 255, for BC1, BC7, RGBA8 and R16F.
const TOLERANCE: [f64; 4] = [18.0, 6.0, 2.0, 2.0];
const NAMES: [&str; 4] = ["BC1", "BC7", "RGBA8", "R16F"];
const R16F: usize = 3;

fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn noise(x: f32, seed: u32) -> f32 {
    let cell = x.floor();
    let at = |i: i32| (hash((cell as i32 + i) as u32, seed) >> 8) as f32 / 16_777_216.0;
    at(0) + (at(1) - at(0)) * smooth(0.0, 1.0, x - cell)
}

fn ridge(x: f32, seed: u32, mut steps: f32) -> f32 {
    let (mut height, mut amplitude) = (0.0, 0.5);
    for i in 0..6 {
        height += amplitude * noise(x * steps, seed + i);
        steps *= 2.1;
        amplitude *= 0.48;
    }
    height
}

fn mix(color: [f32; 3], to: [f32; 3], t: f32) -> [f32; 3] {
    [0, 1, 2].map(|c| color[c] + (to[c] - color[c]) * t)
}

fn land(x: f32, y: f32) -> [f32; 3] {
    let mut color = [0.13, 0.17, 0.38];
    color = mix(color, [0.47, 0.29, 0.52], smooth(0.1, 0.55, y));
    color = mix(color, [0.98, 0.55, 0.38], smooth(0.4, 0.8, y));
    color = mix(color, [1.0, 0.82, 0.5], smooth(0.66, 0.95, y));
    if hash((x * 300.0) as u32, (y * 220.0) as u32).is_multiple_of(211) {
        color = mix(color, [1.0; 3], 0.8 * smooth(0.42, 0.0, y));
    }
    let distance = ((x - 0.68) * 1.6).hypot(y - 0.62);
    color = mix(color, [1.0, 0.72, 0.42], 0.55 * (-distance * 5.0).exp());
    color = mix(color, [1.0, 0.95, 0.8], smooth(0.085, 0.075, distance));
    let cloud = ridge(x + y * 0.6, 90, 4.0) * ridge(y * 3.0 - x * 0.3, 70, 5.0);
    color = mix(color, [0.98, 0.6, 0.58], 0.6 * smooth(0.26, 0.46, cloud) * smooth(0.1, 0.35, y));
    for i in 0..5u32 {
        let near = i as f32 / 4.0;
        let height = ridge(x, 11 * i + 5, 2.5 + 1.4 * i as f32) - 0.35;
        let top = 0.6 + 0.24 * near - (0.34 - 0.12 * near) * height;
        let haze = smooth(top, top + 0.34, y) * (0.55 - 0.35 * near);
        let layer = [0.44 - 0.39 * near, 0.33 - 0.27 * near, 0.5 - 0.38 * near];
        color = mix(color, mix(layer, [0.95, 0.6, 0.5], haze), smooth(top - 0.002, top + 0.002, y));
    }
    color
}

/// The whole picture, x and y from 0 to 1.
fn picture(x: f32, y: f32) -> [f32; 3] {
    let shore = 0.74;
    if y < shore {
        return land(x, y / shore);
    }
    let depth = (y - shore) / (1.0 - shore);
    let wave = (90.0 / (0.25 + depth) + 7.0 * noise(x * 22.0 + depth * 60.0, 40)).sin() * 0.02 * (0.25 + depth);
    let mut color = land(x + wave * 0.25, (1.0 - depth * 0.72 + wave).clamp(0.0, 1.0));
    color = mix(color, [0.05, 0.09, 0.2], 0.35 + 0.3 * depth);
    mix(color, [1.0, 0.9, 0.75], 0.1 * smooth(0.05, 0.0, depth))
}

/// A texel of a tile, 0 to 255, as the format keeps it.
fn texel(tile: usize, format: usize, x: usize, y: usize) -> [f64; 3] {
    let place = |tile: usize, at: usize| ((tile * SIDE + at) as f32 + 0.5) / (GRID * SIDE) as f32;
    let color = picture(place(tile % GRID, x), place(tile / GRID, y));
    if format == R16F {
        // 11 bits of mantissa are finer than anything compared here.
        return [f64::from(0.3 * color[0] + 0.55 * color[1] + 0.15 * color[2]) * 255.0; 3];
    }
    color.map(|v| f64::from((v.clamp(0.0, 1.0) * 255.0 + 0.5).floor()))
}

/// The tile's texture, filtered, at u, v.
fn sample(tile: usize, format: usize, u: f64, v: f64) -> [f64; 3] {
    let last = SIDE as f64 - 1.0;
    let (x, y) = ((u * SIDE as f64 - 0.5).clamp(0.0, last), (v * SIDE as f64 - 0.5).clamp(0.0, last));
    let (x0, y0) = (x.floor(), y.floor());
    let (fx, fy) = (x - x0, y - y0);
    let at = |x: f64, y: f64| texel(tile, format, x.min(last) as usize, y.min(last) as usize);
    let (a, b, c, d) = (at(x0, y0), at(x0 + 1.0, y0), at(x0, y0 + 1.0), at(x0 + 1.0, y0 + 1.0));
    [0, 1, 2].map(|i| (a[i] * (1.0 - fx) + b[i] * fx) * (1.0 - fy) + (c[i] * (1.0 - fx) + d[i] * fx) * fy)
}

/// What a place of the grid shows.
#[derive(Clone, Copy)]
struct Tile {
    format: usize,
    age: u64,
}

fn tiles(frame: u64) -> Vec<Option<Tile>> {
    let key = |i: usize| {
        let (x, y) = ((i % GRID) as f32 - 7.5, (i / GRID) as f32 - 7.5);
        (x * x + y * y).sqrt() + (hash(i as u32, 5) & 255) as f32 / 90.0
    };
    let mut order: Vec<usize> = (0..GRID * GRID).collect();
    order.sort_by(|a, b| key(*a).total_cmp(&key(*b)));
    let mut tiles = vec![None; GRID * GRID];
    for (first, &place) in order.iter().enumerate() {
        let Some(since) = frame.checked_sub(first as u64) else { continue };
        let (generation, age) = (since / (LIFE + REST), since % (LIFE + REST));
        let format = (hash(place as u32, 77).wrapping_add(generation as u32) % 4) as usize;
        tiles[place] = (age < LIFE).then_some(Tile { format, age });
    }
    tiles
}

fn ease(age: u64) -> f64 {
    let t = f64::from(((age + 1) as f32 / GROW).min(1.0));
    1.0 - (1.0 - t).powi(3)
}

/// The colour at a pixel, its format (`None` for the backdrop), or `None` beside an edge of a tile.
fn pixel(tiles: &[Option<Tile>], at: [f64; 2], pixels_a_tile: [f64; 2]) -> Option<(Option<usize>, [f64; 3])> {
    let place = at[1].floor() as usize * GRID + at[0].floor() as usize;
    let Some(tile) = tiles[place] else { return Some((None, BACKDROP)) };
    let half = (0.5 - 0.012) * ease(tile.age);
    let from_middle = [at[0] - at[0].floor() - 0.5, at[1] - at[1].floor() - 0.5];
    let beyond = [0, 1].map(|i| (from_middle[i].abs() - half) * pixels_a_tile[i]);
    if beyond[0].max(beyond[1]) > 0.75 {
        return Some((None, BACKDROP));
    }
    if beyond[0].max(beyond[1]) > -0.75 {
        return None;
    }
    let [u, v] = from_middle.map(|x| (x / half + 1.0) * 0.5);
    let tint = if tile.format == R16F { [0.95, 0.9, 1.12] } else { [1.0; 3] };
    let flash = 1.0 + 0.7 * (1.0 - ease(tile.age));
    let color = sample(place, tile.format, u, v);
    Some((Some(tile.format), [0, 1, 2].map(|c| (color[c] * tint[c] * flash).min(255.0))))
}

pub fn check(frame: u64, picture: &Picture) -> Result<String> {
    let (w, h) = (picture.width as usize, picture.height as usize);
    let tiles = tiles(frame);
    let scale = [w as f64 / GRID as f64, h as f64 / GRID as f64];
    let mut counts = [[0usize; 2]; 5];
    for y in 0..h {
        for x in 0..w {
            let at = [(x as f64 + 0.5) / scale[0], (y as f64 + 0.5) / scale[1]];
            let Some((format, expected)) = pixel(&tiles, at, scale) else { continue };
            let apart = apart(rgb(picture, x, y), expected);
            let count = &mut counts[format.unwrap_or(4)];
            count[0] += 1;
            count[1] += usize::from(apart > format.map_or(1.0, |f| TOLERANCE[f]));
        }
    }
    ensure!(counts[4][1] == 0, "{} of {} pixels of the backdrop are not", counts[4][1], counts[4][0]);
    for (name, [all, wrong]) in NAMES.iter().zip(counts) {
        ensure!(all * 200 > w * h, "only {all} pixels of {name}");
        ensure!(wrong * 100 <= all, "{wrong} of {all} pixels of {name} are not the picture's");
    }
    let words = NAMES.iter().zip(counts).map(|(name, [all, wrong])| format!("{name} {wrong} of {all} apart"));
    Ok(words.collect::<Vec<_>>().join(", "))
}
