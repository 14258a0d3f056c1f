//! `clients/cube.c`: a ray for each pixel, through boxes whose textures are evaluated here with their levels.

use std::f64::consts::TAU;
use std::sync::OnceLock;

use anyhow::{Result, ensure};

use super::vector::{Camera, V};
use super::{apart, hash, rgb};
use crate::pictures::Picture;

const SIDE: usize = 256;
const BACKDROP: [f64; 3] = [0.086, 0.102, 0.145];
/// Of 255: how far filters and level selection of devices may go from the ideal.
const TOLERANCE: f64 = 6.0;

struct Block {
    center: [f64; 3],
    half: [f64; 3],
    turn: [f64; 2],
    phase: [f64; 2],
    bob: f64,
    color: [f64; 3],
    repeat: f64,
    holes: bool,
}

const BOXES: [Block; 4] = [
    Block {
        center: [0.0, -1.25, 0.0],
        half: [2.6, 0.15, 2.6],
        turn: [0.0, 0.0],
        phase: [0.05, 0.0],
        bob: 0.0,
        color: [0.46, 0.52, 0.66],
        repeat: 3.0,
        holes: false,
    },
    Block {
        center: [-1.15, -0.1, 0.55],
        half: [0.62; 3],
        turn: [1.0, 1.0],
        phase: [0.06, 0.05],
        bob: 0.08,
        color: [0.98, 0.44, 0.34],
        repeat: 1.0,
        holes: false,
    },
    Block {
        center: [0.35, 0.15, -1.2],
        half: [0.7; 3],
        turn: [-1.0, 1.0],
        phase: [0.3, 0.1],
        bob: 0.1,
        color: [0.28, 0.74, 0.72],
        repeat: 1.0,
        holes: false,
    },
    Block {
        center: [1.2, -0.2, 0.75],
        half: [0.6; 3],
        turn: [1.0, -1.0],
        phase: [0.1, 0.06],
        bob: 0.06,
        color: [1.0, 0.8, 0.36],
        repeat: 1.0,
        holes: true,
    },
];

/// For the normals +x, -x, +y, -y, +z, -z: the directions in which u grows and v falls.
const FACES: [[[f64; 3]; 2]; 6] = [
    [[0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
];

/// Levels of RGBA texels, 0 to 255.
struct Texture(Vec<(usize, Vec<[f64; 4]>)>);

impl Texture {
    fn new(texel: impl Fn(usize, usize) -> [f64; 4]) -> Self {
        let level = (0..SIDE * SIDE).map(|i| texel(i % SIDE, i / SIDE).map(|v| (v.clamp(0.0, 1.0) * 255.0).round()));
        let mut levels = vec![(SIDE, level.collect::<Vec<_>>())];
        while let Some((side, from)) = levels.last().filter(|(side, _)| *side > 1) {
            let (side, half) = (*side, side / 2);
            let average = |i: usize| {
                let at = (i / half * 2) * side + i % half * 2;
                let four = [at, at + 1, at + side, at + side + 1];
                [0, 1, 2, 3].map(|c| ((four.iter().map(|&k| from[k][c]).sum::<f64>() + 2.0) / 4.0).floor())
            };
            let next = (0..half * half).map(average).collect();
            levels.push((half, next));
        }
        Self(levels)
    }

    fn bilinear(&self, level: usize, u: f64, v: f64) -> [f64; 4] {
        let (side, texels) = &self.0[level];
        let (x, y) = (u * *side as f64 - 0.5, v * *side as f64 - 0.5);
        let (fx, fy) = (x - x.floor(), y - y.floor());
        let wrapped = |i: f64| i.rem_euclid(*side as f64) as usize;
        let at = |dx: f64, dy: f64| texels[wrapped(y.floor() + dy) * side + wrapped(x.floor() + dx)];
        let (a, b, c, d) = (at(0.0, 0.0), at(1.0, 0.0), at(0.0, 1.0), at(1.0, 1.0));
        [0, 1, 2, 3].map(|i| (a[i] * (1.0 - fx) + b[i] * fx) * (1.0 - fy) + (c[i] * (1.0 - fx) + d[i] * fx) * fy)
    }

    /// Trilinear, 0 to 1.
    fn sample(&self, uv: [f64; 2], lod: f64) -> [f64; 4] {
        let lod = lod.clamp(0.0, (self.0.len() - 1) as f64);
        let level = lod.floor() as usize;
        let (a, b) =
            (self.bilinear(level, uv[0], uv[1]), self.bilinear((level + 1).min(self.0.len() - 1), uv[0], uv[1]));
        let t = lod - lod.floor();
        [0, 1, 2, 3].map(|i| (a[i] * (1.0 - t) + b[i] * t) / 255.0)
    }
}

fn noise(x: usize, y: usize) -> f64 {
    f64::from(hash(x as u32, y as u32) & 0xFF) / 255.0 - 0.5
}

fn tile(x: usize, y: usize) -> [f64; 4] {
    let (tx, ty) = (x % 128, y % 128);
    let (left, top) = (tx.min(127 - tx), ty.min(127 - ty));
    let dark = (x / 128 + y / 128) % 2 == 1;
    let mut value = if dark { 0.66 } else { 0.94 } + 0.05 * noise(x, y) + 0.07 * noise(x / 8, y / 8);
    match left.min(top) {
        0..4 => value = 0.3,
        4..10 => value *= if if left < top { tx < 64 } else { ty < 64 } { 1.08 } else { 0.72 },
        _ => {}
    }
    [value, value * 0.985, value * 0.96, 1.0]
}

fn grating(x: usize, y: usize) -> [f64; 4] {
    let (dx, dy) = ((x % 64) as f64 - 31.5, (y % 64) as f64 - 31.5);
    let distance = dx.hypot(dy);
    let mut value = 0.78 + 0.06 * noise(x, y) + 0.06 * noise(x / 4, y / 32);
    if distance < 27.0 {
        value = if dy < 0.0 { 0.98 } else { 0.55 };
    }
    [value, value, value, if distance < 22.0 { 0.0 } else { 1.0 }]
}

/// The two textures, made once: plain, and with holes.
fn textures() -> &'static [Texture; 2] {
    static MADE: OnceLock<[Texture; 2]> = OnceLock::new();
    MADE.get_or_init(|| [Texture::new(tile), Texture::new(grating)])
}

/// A box at the time of a frame.
struct Placed<'a> {
    block: &'a Block,
    center: V,
    /// The box's own axes in the world.
    axes: [V; 3],
}

impl<'a> Placed<'a> {
    fn new(block: &'a Block, time: f64) -> Self {
        let (a, b) = (TAU * (block.turn[0] * time + block.phase[0]), TAU * (block.turn[1] * time + block.phase[1]));
        // First around x by b, then around y by a.
        let turned = |v: [f64; 3]| {
            let [x, y, z] = [v[0], v[1] * b.cos() - v[2] * b.sin(), v[1] * b.sin() + v[2] * b.cos()];
            V([x * a.cos() + z * a.sin(), y, z * a.cos() - x * a.sin()])
        };
        let rise = block.bob * (TAU * (2.0 * time + block.phase[0])).sin();
        let center = V(block.center) + V([0.0, rise, 0.0]);
        Self { block, center, axes: [turned([1.0, 0.0, 0.0]), turned([0.0, 1.0, 0.0]), turned([0.0, 0.0, 1.0])] }
    }

    /// A direction in units of the box's half extents.
    fn local(&self, v: V) -> [f64; 3] {
        [0, 1, 2].map(|i| v.dot(self.axes[i]) / self.block.half[i])
    }

    /// Where a ray enters and leaves: distance and face.
    fn cross(&self, eye: V, ray: V) -> Option<[(f64, usize); 2]> {
        let (from, along) = (self.local(eye - self.center), self.local(ray));
        let (mut near, mut far) = ((f64::NEG_INFINITY, 0), (f64::INFINITY, 0));
        for i in 0..3 {
            let (plus, minus) = ((1.0 - from[i]) / along[i], (-1.0 - from[i]) / along[i]);
            let (enter, leave) =
                if along[i] < 0.0 { ((plus, 2 * i), (minus, 2 * i + 1)) } else { ((minus, 2 * i + 1), (plus, 2 * i)) };
            near = if enter.0 > near.0 { enter } else { near };
            far = if leave.0 < far.0 { leave } else { far };
        }
        (near.0 < far.0 && near.0 > 0.0).then_some([near, far])
    }

    /// The texture coordinate at which a ray meets the plane of a face.
    fn uv(&self, eye: V, ray: V, face: usize) -> [f64; 2] {
        let (from, along) = (self.local(eye - self.center), self.local(ray));
        let sign = if face.is_multiple_of(2) { 1.0 } else { -1.0 };
        let t = (sign - from[face / 2]) / along[face / 2];
        let place = V([0, 1, 2].map(|i| from[i] + along[i] * t));
        let [u, v] = FACES[face].map(|axis| place.dot(V(axis)));
        [(u + 1.0) * 0.5 * self.block.repeat, (1.0 - v) * 0.5 * self.block.repeat]
    }

    fn tint(&self, face: usize, inside: bool) -> [f64; 3] {
        const SKY: [f64; 3] = [0.36, 0.41, 0.5];
        const SUN: [f64; 3] = [0.74, 0.68, 0.58];
        let sign = if (face % 2 == 1) != inside { -1.0 } else { 1.0 };
        let lit = (self.axes[face / 2].dot(V([0.45, 0.78, 0.43])) * sign).max(0.0);
        let dim = if inside { 0.6 } else { 1.0 };
        [0, 1, 2].map(|c| self.block.color[c] * dim * (SKY[c] + SUN[c] * lit))
    }
}

/// What a ray meets first: box, face, whether from inside.
type Surface = Option<(usize, usize, bool)>;

struct Scene<'a> {
    camera: Camera,
    boxes: Vec<Placed<'a>>,
}

impl Scene<'_> {
    /// The texture's colour where the ray through x, y meets a face.
    fn texel(&self, x: f64, y: f64, index: usize, face: usize) -> [f64; 4] {
        let placed = &self.boxes[index];
        let at = |x: f64, y: f64| placed.uv(self.camera.eye, self.camera.ray(x, y), face);
        let (uv, right, down) = (at(x, y), at(x + 1.0, y), at(x, y + 1.0));
        let length = |to: [f64; 2]| ((to[0] - uv[0]).hypot(to[1] - uv[1]) * SIDE as f64).max(1e-9);
        let lod = length(right).max(length(down)).log2();
        textures()[usize::from(placed.block.holes)].sample(uv, lod)
    }

    /// What is seen through a place of the picture; `None` where the alpha test is too close to call.
    fn look(&self, x: f64, y: f64) -> Option<(Surface, [f64; 3])> {
        let ray = self.camera.ray(x, y);
        let mut hits = Vec::new();
        for (index, placed) in self.boxes.iter().enumerate() {
            let Some([enter, leave]) = placed.cross(self.camera.eye, ray) else { continue };
            hits.push((enter.0, (index, enter.1, false)));
            if placed.block.holes {
                hits.push((leave.0, (index, leave.1, true)));
            }
        }
        hits.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, (index, face, inside)) in hits {
            let texel = self.texel(x, y, index, face);
            if self.boxes[index].block.holes {
                let opaque = texel[3] * texel[0];
                if (opaque - 0.3).abs() < 0.15 {
                    return None;
                }
                if opaque < 0.3 {
                    continue;
                }
            }
            let tint = self.boxes[index].tint(face, inside);
            return Some((Some((index, face, inside)), [0, 1, 2].map(|c| (texel[c] * tint[c]).min(1.0))));
        }
        Some((None, BACKDROP))
    }
}

pub fn check(frame: u64, picture: &Picture) -> Result<String> {
    let (w, h) = (picture.width as usize, picture.height as usize);
    let camera = Camera::new([1.9, 2.3, 4.4], [0.05, -0.25, 0.0], 0.47, picture.width, picture.height);
    let boxes = BOXES.iter().map(|block| Placed::new(block, frame as f64 / 300.0)).collect();
    let scene = Scene { camera, boxes };
    let (mut compared, mut wrong, mut worst) = (0, 0, (0.0, String::new()));
    let mut seen = [0; BOXES.len() + 1];
    for y in 0..h {
        for x in 0..w {
            let (cx, cy) = (x as f64 + 0.5, y as f64 + 0.5);
            let Some((surface, color)) = scene.look(cx, cy) else { continue };
            // Beside an edge the device may see the other side of it.
            let near = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
            if near.iter().any(|(dx, dy)| scene.look(cx + dx, cy + dy).is_none_or(|(s, _)| s != surface)) {
                continue;
            }
            let (got, expected) = (rgb(picture, x, y), color.map(|v| v * 255.0));
            let apart = apart(got, expected);
            compared += 1;
            seen[surface.map_or(BOXES.len(), |(index, ..)| index)] += 1;
            wrong += usize::from(apart > TOLERANCE);
            if apart > worst.0 {
                worst = (apart, format!("pixel {x},{y} ({surface:?}) is {got:?}, expected {expected:?}"));
            }
        }
    }
    ensure!(compared * 2 > w * h, "only {compared} of {} pixels can be reckoned", w * h);
    ensure!(seen.iter().all(|&n| n * 200 > w * h), "a box is hardly seen: {seen:?}");
    ensure!(wrong * 500 <= compared, "{wrong} of {compared} pixels differ by more than {TOLERANCE}; {}", worst.1);
    Ok(format!("{compared} pixels, {wrong} apart by more than {TOLERANCE}"))
}
