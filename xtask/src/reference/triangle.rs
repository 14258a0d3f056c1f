//! `clients/triangle.c`: every pixel, by barycentric coordinates.

use std::f64::consts::{FRAC_PI_2, TAU};

use anyhow::{Result, ensure};

use super::{apart, rgb};
use crate::pictures::Picture;

const COLORS: [[f64; 3]; 3] = [[255.0, 64.0, 48.0], [48.0, 224.0, 96.0], [64.0, 96.0, 255.0]];
const BACKDROP: [f64; 3] = [0.055 * 255.0, 0.063 * 255.0, 0.094 * 255.0];
/// Pixels nearer than this to an edge may fall on either side of it.
const MARGIN: f64 = 0.75;
/// Differences of rounding, of 255.
const TOLERANCE: f64 = 1.5;

pub fn check(frame: u64, picture: &Picture) -> Result<String> {
    let (w, h) = (picture.width as usize, picture.height as usize);
    let corners: [[f64; 2]; 3] = [0, 1, 2].map(|i| {
        let angle = FRAC_PI_2 + TAU / 3.0 * f64::from(i) + frame as f64 * TAU / 240.0;
        let (x, y) = (0.8 * angle.cos() * h as f64 / w as f64, 0.8 * angle.sin());
        [(x + 1.0) * 0.5 * w as f64, (1.0 - y) * 0.5 * h as f64]
    });
    let (mut inside, mut compared) = (0, 0);
    for y in 0..h {
        for x in 0..w {
            let Some(expected) = pixel(&corners, [x as f64 + 0.5, y as f64 + 0.5], &mut inside) else { continue };
            let got = rgb(picture, x, y);
            ensure!(apart(got, expected) <= TOLERANCE, "pixel {x},{y} is {got:?}, expected {expected:?}");
            compared += 1;
        }
    }
    ensure!(inside * 10 > w * h, "only {inside} pixels are in the triangle");
    Ok(format!("{compared} pixels, {inside} of them in the triangle"))
}

/// The colour at a place, `None` too near to an edge.
fn pixel(corners: &[[f64; 2]; 3], at: [f64; 2], inside: &mut usize) -> Option<[f64; 3]> {
    let area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let whole = area(corners[0], corners[1], corners[2]);
    let mut color = [0.0; 3];
    let mut least = f64::INFINITY;
    for i in 0..3 {
        let (a, b) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
        let weight = area(at, a, b) / whole;
        let height = whole.abs() / (b[0] - a[0]).hypot(b[1] - a[1]);
        // Pixels from the edge opposite corner i.
        least = least.min(weight * height);
        for c in 0..3 {
            color[c] += weight * COLORS[i][c];
        }
    }
    if least.abs() < MARGIN {
        return None;
    }
    *inside += usize::from(least > 0.0);
    Some(if least > 0.0 { color } else { BACKDROP })
}
