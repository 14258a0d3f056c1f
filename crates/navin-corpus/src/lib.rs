//! Runs the corpus of guest GPU programs (`tests/corpus`) both ways and compares.
//!
//! For each program: [`index`] reads its line, [`scene`] adds companions, vertices and targets, [`resources`] makes
//! the standard resources; [`guest`] translates the machine code with `navin-shader` and binds it by the contract of
//! `docs/ARCHITECTURE.md`, [`reference`] takes the SPIR-V as it is; [`render`] runs either, [`compare`] judges what
//! they left behind. [`runner`] does this for one program, [`supervise`] for many, in processes of their own, because
//! a wrong translation may hang or crash the driver.
//!
//! Users: the test `corpus` of this crate, and the program `corpus` by hand.

pub mod compare;
pub mod fill;
pub mod gpu;
pub mod guest;
pub mod index;
pub mod pipeline;
pub mod reference;
pub mod render;
pub mod resources;
pub mod runner;
pub mod samples;
pub mod scene;
pub mod supervise;
pub mod texel;
