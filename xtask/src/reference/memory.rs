//! `clients/memory.c`: which physical page is behind each rectangle of the wall of a frame, and its colour then.

use anyhow::{Result, ensure};

use super::{apart, hash, rgb};
use crate::pictures::Picture;

const ACROSS: usize = 8;
const DOWN: usize = 4;
const PAGES: usize = 16;
const PLACES: usize = ACROSS * DOWN * PAGES;
/// Physical pages of a wall.
const PHYSICAL: usize = 128;
const CHANGES: u32 = 12;

/// Which of the two walls a frame shows.
fn side_of(frame: u32) -> usize {
    (frame + frame / 100) as usize % 2
}

/// The colour of every rectangle; black where nothing is mapped.
fn wall(frame: u64) -> Vec<[f64; 3]> {
    let side = side_of(frame as u32);
    let own = side * PHYSICAL;
    let mut since = [0; 2 * PHYSICAL];
    let mut behind = [None; PLACES];
    for frame in (0..=frame as u32).filter(|frame| side_of(*frame) == side) {
        if matches!(frame % 10, 5 | 8) {
            since[own + hash(frame, 99) as usize % PHYSICAL] = frame;
        }
        for change in 0..CHANGES {
            let random = hash(frame * CHANGES + change, 7);
            let page = own + (random >> 12) as usize % PHYSICAL;
            behind[random as usize % PLACES] = (random >> 28 >= 4).then_some(page);
        }
    }
    let color = |page: usize| {
        let color = hash(page as u32, 1000 + since[page]);
        [0, 8, 16].map(|shift| f64::from(color >> shift & 255))
    };
    behind.iter().map(|page| page.map_or([0.0; 3], color)).collect()
}

pub fn check(frame: u64, picture: &Picture) -> Result<String> {
    let (w, h) = (picture.width as usize, picture.height as usize);
    let wall = wall(frame);
    // A texture's pages lie in columns of 16 of its 128 texels, two on top of each other.
    let scale = [w as f64 / (ACROSS * 8) as f64, h as f64 / (DOWN * 2) as f64];
    let (mut looked, mut wrong, mut mapped) = (0usize, 0usize, 0usize);
    for y in 0..h {
        for x in 0..w {
            let at = [(x as f64 + 0.5) / scale[0], (y as f64 + 0.5) / scale[1]];
            let inside = [0, 1].map(|i| (at[i].fract().min(1.0 - at[i].fract())) * scale[i] > 0.75);
            if inside != [true, true] {
                continue;
            }
            let (column, row) = (at[0] as usize, at[1] as usize);
            let texture = row / 2 * ACROSS + column / 8;
            let expected = wall[texture * PAGES + column % 8 * 2 + row % 2];
            looked += 1;
            mapped += usize::from(expected != [0.0; 3]);
            wrong += usize::from(apart(rgb(picture, x, y), expected) > 1.0);
        }
    }
    ensure!(looked * 3 > w * h, "only {looked} of {} pixels are inside of a rectangle", w * h);
    ensure!(wrong == 0, "{wrong} of {looked} pixels are not of the page that is mapped there");
    Ok(format!("{looked} pixels, {mapped} of them mapped"))
}
