//! Three numbers, and the camera that all scenes use.

use std::ops::{Add, Mul, Sub};

/// A place or direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct V(pub [f64; 3]);

impl Add for V {
    type Output = V;
    fn add(self, b: V) -> V {
        V([0, 1, 2].map(|i| self.0[i] + b.0[i]))
    }
}

impl Sub for V {
    type Output = V;
    fn sub(self, b: V) -> V {
        V([0, 1, 2].map(|i| self.0[i] - b.0[i]))
    }
}

impl Mul<f64> for V {
    type Output = V;
    fn mul(self, b: f64) -> V {
        V(self.0.map(|x| x * b))
    }
}

impl V {
    pub fn dot(self, b: V) -> f64 {
        self.0.iter().zip(b.0).map(|(a, b)| a * b).sum()
    }

    pub fn cross(self, b: V) -> V {
        let (a, b) = (self.0, b.0);
        V([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    }

    pub fn unit(self) -> V {
        self * (1.0 / self.dot(self).sqrt())
    }
}

/// A perspective camera that looks from `eye` at a place, y up.
pub struct Camera {
    pub eye: V,
    right: V,
    above: V,
    back: V,
    /// Half extent of the picture at distance 1.
    half: [f64; 2],
    /// Pixels.
    size: [f64; 2],
}

impl Camera {
    /// `slope` is the half extent up and down at distance 1.
    pub fn new(eye: [f64; 3], at: [f64; 3], slope: f64, width: u32, height: u32) -> Self {
        let back = (V(eye) - V(at)).unit();
        let right = V([0.0, 1.0, 0.0]).cross(back).unit();
        let size = [f64::from(width), f64::from(height)];
        let half = [slope * size[0] / size[1], slope];
        Self { eye: V(eye), right, above: back.cross(right), back, half, size }
    }

    /// The direction through a place of the picture, in pixels from its top left corner; its length along the
    /// line of sight is 1.
    pub fn ray(&self, x: f64, y: f64) -> V {
        let across = (x / self.size[0] * 2.0 - 1.0) * self.half[0];
        let up = (1.0 - y / self.size[1] * 2.0) * self.half[1];
        self.right * across + self.above * up - self.back
    }

    /// Where a place is in the picture, in pixels from the top left corner, and how far along the line of sight.
    pub fn project(&self, place: V) -> Option<([f64; 2], f64)> {
        let from = place - self.eye;
        let depth = -from.dot(self.back);
        if depth <= 0.0 {
            return None;
        }
        let x = (from.dot(self.right) / depth / self.half[0] + 1.0) * 0.5 * self.size[0];
        let y = (1.0 - from.dot(self.above) / depth / self.half[1]) * 0.5 * self.size[1];
        Some(([x, y], depth))
    }
}
