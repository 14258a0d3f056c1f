//! `clients/particles.c`: the sparks simulated here step by step, and the picture put together from them.
//!
//! The simulation is written after the compute program's GLSL source, in 32-bit floats as the program has them.
//! Pixels of the ball and the floor come from rays, the sparks are added on top as 8-bit colours are blended.

use std::f64::consts::TAU;

use anyhow::{Result, ensure};

use super::rgb;
use super::vector::{Camera, V};
use crate::pictures::Picture;

const FOUNTAINS: usize = 16;
const PARTICLES: usize = 256;
const WARM_UP: u64 = 120;
const STEPS: u64 = 4;
const BALL: V = V([0.0, -0.2, 0.0]);
const BALL_RADIUS: f64 = 0.45;
const FLOOR: f64 = -1.02;

#[derive(Clone, Copy)]
struct Particle {
    position: [f32; 3],
    life: f32,
    velocity: [f32; 3],
    size: f32,
}

fn length(v: [f32; 3]) -> f32 {
    (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt()
}

/// Distance from the ball, as the program has it, and the ground.
fn distance(p: [f32; 3]) -> f32 {
    let from = [p[0] - BALL.0[0] as f32, p[1] - BALL.0[1] as f32, p[2] - BALL.0[2] as f32];
    (length(from) - BALL_RADIUS as f32).min(p[1] + 1.0)
}

/// The program's random numbers in 0 to 1.
struct Random(u32);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) as f32 / 16_777_216.0
    }
}

fn step(p: &mut Particle, index: u32, emitter: [f32; 3]) {
    let dt = 0.01 + -0.2 * 0.01;
    let life = p.life - dt;
    if life <= 0.0 {
        let mut random = Random(index.wrapping_mul(747_796_405).wrapping_add(2_891_336_453) ^ 0x5BD1_E995);
        let d = [0; 3].map(|_| random.next() * 2.0 - 1.0);
        let shrink = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-4).sqrt();
        p.position = [0, 1, 2].map(|c| emitter[c] + d[c] * shrink * 0.1);
        p.life = 1.0 + random.next();
        p.velocity = d.map(|x| x * 0.7);
        p.size = 0.1 + random.next() * 0.2;
        return;
    }
    let gravity: [f32; 3] = [0.0, (-0.4 - 0.5) * 4.0, 0.0];
    let mut v = [0, 1, 2].map(|c| p.velocity[c] + gravity[c] * dt);
    let drag = 1.0 - (length(v) * 0.02).clamp(0.0, 0.5);
    v = v.map(|x| x * drag);
    let mut at = [0, 1, 2].map(|c| p.position[c] + v[c] * dt);
    let inside = distance(at);
    if inside < 0.0 {
        let slope = |c: usize| {
            let (mut more, mut less) = (at, at);
            more[c] += 0.01;
            less[c] -= 0.01;
            distance(more) - distance(less)
        };
        let n = [slope(0), slope(1), slope(2)];
        let shrink = 1.0 / (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + 1e-8).sqrt();
        let n = n.map(|x| x * shrink);
        at = [0, 1, 2].map(|c| at[c] - n[c] * inside);
        let towards = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
        if towards < 0.0 {
            v = [0, 1, 2].map(|c| (v[c] - n[c] * towards * 1.5) * 0.9);
        }
    }
    *p = Particle { position: at, life, velocity: v, size: (p.size - dt * 0.05).max(0.01) };
}

/// The guest's stream of random numbers, for the first ages.
fn first_ages() -> Vec<f32> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_add(0x9E37_79B9);
        1.4 * ((super::hash(state, 0) >> 8) as f32 / 16_777_216.0)
    };
    (0..FOUNTAINS * PARTICLES).map(next).collect()
}

fn emitter(fountain: usize, step: u64) -> [f32; 3] {
    let (k, step) = (fountain as f64 / FOUNTAINS as f64, step as f64);
    let around = TAU * (k + step / 1600.0);
    let radius = 0.36 + 0.14 * (TAU * (step / 800.0 + fountain as f64 / 4.0)).sin();
    [(radius * around.sin()) as f32, 0.85, (radius * around.cos()) as f32]
}

/// Where a ray meets the ball.
fn meet_ball(eye: V, ray: V) -> Option<f64> {
    let from = eye - BALL;
    let (a, b, c) = (ray.dot(ray), from.dot(ray), from.dot(from) - BALL_RADIUS * BALL_RADIUS);
    let inside = b * b - a * c;
    (inside > 0.0).then(|| (-b - inside.sqrt()) / a)
}

fn background(eye: V, ray: V) -> [f64; 3] {
    if let Some(t) = meet_ball(eye, ray) {
        let n = (eye + ray * t - BALL) * (1.0 / BALL_RADIUS);
        let lit = 0.05 + 0.2 * n.0[1].max(0.0).powi(2) + 0.08 * (-n.0[2]).max(0.0);
        return [lit * 0.8, lit * 0.85, lit * 1.1 + 0.02];
    }
    let t = (FLOOR - eye.0[1]) / ray.0[1];
    let place = eye + ray * t;
    let radius = place.0[0].hypot(place.0[2]);
    if t <= 0.0 || radius >= 2.6 {
        return [0.012, 0.014, 0.026];
    }
    // The floor's colours are those of its rings, and between two of them a mix.
    let ring = |i: f64| {
        let glow = (1.0 - i / 12.0).powi(2);
        let shade = if 2.6 * i / 12.0 < 0.45 { 0.35 } else { 1.0 };
        [(0.012 + 0.28 * glow) * shade, (0.014 + 0.2 * glow) * shade, (0.026 + 0.3 * glow) * shade]
    };
    let at = radius / 2.6 * 12.0;
    let (a, b, f) = (ring(at.floor()), ring(at.floor() + 1.0), at - at.floor());
    [0, 1, 2].map(|c| a[c] * (1.0 - f) + b[c] * f)
}

/// The colour that a spark of fountain `k` adds.
fn spark(k: usize, p: &Particle, strength: f64) -> [f64; 3] {
    const SPEED: [[f64; 2]; 3] = [[0.16, -0.05], [-0.06, -0.08], [-0.05, 0.18]];
    [0, 1, 2].map(|c| {
        let wave = 0.5 + 0.5 * (TAU * k as f64 / FOUNTAINS as f64 - TAU / 3.0 * c as f64).cos();
        let [vx, vy] = [0, 1].map(|i| f64::from(p.velocity[i]) * SPEED[c][i]);
        strength * (f64::from(p.life) * (0.16 + 0.9 * wave * wave) + vx + vy)
    })
}

/// The whole picture: 8-bit channels, rows from the top.
fn render(frame: u64, width: u32, height: u32) -> Vec<[f64; 3]> {
    let (w, h) = (width as usize, height as usize);
    let around = 0.35 + 0.0045 * frame as f64;
    let camera = Camera::new([3.6 * around.sin(), 0.9, 3.6 * around.cos()], [0.0, -0.1, 0.0], 0.36, width, height);
    let mut pixels: Vec<[f64; 3]> = (0..w * h)
        .map(|i| {
            let ray = camera.ray((i % w) as f64 + 0.5, (i / w) as f64 + 0.5);
            background(camera.eye, ray).map(|v| (v * 255.0).round())
        })
        .collect();
    // Sparks are smaller in a small window.
    let (reach, spread) = if height < 540 { (1i32, 1.0) } else { (2, 2.4) };
    let unborn = Particle { position: [0.0, 50.0, 0.0], life: 0.0, velocity: [0.0; 3], size: 0.1 };
    let mut particles: Vec<Particle> = first_ages().into_iter().map(|life| Particle { life, ..unborn }).collect();
    let last = WARM_UP + STEPS * (frame + 1);
    for at in 0..last {
        for (i, p) in particles.iter_mut().enumerate() {
            step(p, (i % PARTICLES) as u32, emitter(i / PARTICLES, at));
        }
        let trail = last - 1 - at;
        if trail >= STEPS {
            continue;
        }
        for (i, p) in particles.iter().enumerate() {
            let place = V(p.position.map(f64::from));
            let Some(([x, y], depth)) = camera.project(place) else { continue };
            // The point's own depth is taken over the whole disc, the ball's is that of each pixel.
            for dy in -reach..=reach {
                for dx in -reach..=reach {
                    if dx.abs() + dy.abs() == 4 || (trail > 0 && (dx, dy) != (0, 0)) {
                        continue;
                    }
                    let (px, py) = ((x + f64::from(dx)).floor(), (y + f64::from(dy)).floor());
                    if px < 0.0 || py < 0.0 || px >= w as f64 || py >= h as f64 {
                        continue;
                    }
                    let ray = camera.ray(px + 0.5, py + 0.5);
                    if meet_ball(camera.eye, ray).is_some_and(|t| t < depth) {
                        continue;
                    }
                    let weight = (-f64::from(dx * dx + dy * dy) / spread).exp();
                    let strength = if trail > 0 { 0.7 - 0.16 * trail as f64 } else { 0.8 * weight };
                    let added = spark(i / PARTICLES, p, strength);
                    let pixel = &mut pixels[py as usize * w + px as usize];
                    for c in 0..3 {
                        pixel[c] = (pixel[c] + (added[c].clamp(0.0, 1.0) * 255.0).round()).min(255.0);
                    }
                }
            }
        }
    }
    pixels
}

pub fn check(frame: u64, picture: &Picture) -> Result<String> {
    let (w, h) = (picture.width as usize, picture.height as usize);
    let expected = render(frame, picture.width, picture.height);
    // A spark on the border of two pixels may fall on either: what is compared is averages of 3 by 3.
    let average = |pixel: &dyn Fn(usize, usize) -> [f64; 3], x: usize, y: usize| {
        let mut sum = [0.0; 3];
        for i in 0..9 {
            let at = pixel(x + i % 3 - 1, y + i / 3 - 1);
            (0..3).for_each(|c| sum[c] += at[c] / 9.0);
        }
        sum
    };
    let (mut total, mut wrong, mut lit, mut count) = (0.0, 0, 0, 0);
    for y in 1..h - 1 {
        for x in 1..w - 1 {
            let got = average(&|x, y| rgb(picture, x, y), x, y);
            let wanted = average(&|x, y| expected[y * w + x], x, y);
            let apart = super::apart(got, wanted);
            total += apart;
            count += 1;
            wrong += usize::from(apart > 24.0);
            lit += usize::from(wanted.iter().any(|v| *v > 90.0));
        }
    }
    let mean = total / count as f64;
    ensure!(lit * 100 > count, "only {lit} of {count} pixels are lit by sparks");
    ensure!(mean < 0.6, "pixels are {mean:.2} apart on average");
    ensure!(wrong * 500 < count, "{wrong} of {count} pixels differ by more than 24");
    Ok(format!("{count} pixels, {mean:.2} apart on average, {lit} lit by sparks"))
}
