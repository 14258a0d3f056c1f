//! The shader program header: 20 words in front of the code of a graphics stage (`facts/maxwell_sph.md`).

use super::{Stage, word};

/// How a component of a fragment input is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Not an input.
    Unused,
    /// Constant over the primitive.
    Flat,
    /// Perspective-correct.
    Perspective,
    /// Linear in window space.
    Linear,
}

/// The program header's words, with names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramHeader {
    words: [u32; 20],
    stage: Stage,
}

impl ProgramHeader {
    /// Reads the 20 words; `bytes` holds 80 bytes.
    pub(super) fn parse(bytes: &[u8], stage: Stage) -> ProgramHeader {
        let mut words = [0; 20];
        for (i, w) in words.iter_mut().enumerate() {
            *w = word(bytes, 4 * i);
        }
        ProgramHeader { words, stage }
    }

    /// The raw words.
    pub fn words(&self) -> &[u32; 20] {
        &self.words
    }

    /// Header bit `n`, counted from word 0.
    fn bit(&self, n: u32) -> bool {
        self.words.get((n / 32) as usize).is_some_and(|w| w >> (n % 32) & 1 != 0)
    }

    /// Local memory bytes of a thread: low and high part.
    pub fn local_bytes(&self) -> u32 {
        (self.words[1] & 0xFF_FFFF).saturating_add(self.words[2] & 0xFF_FFFF)
    }

    /// Fragment: whether each colour output goes to its own target (otherwise output 0 goes to all).
    pub fn multiple_targets(&self) -> bool {
        self.bit(14)
    }

    /// Whether the program kills pixels.
    pub fn kills(&self) -> bool {
        self.bit(15)
    }

    /// Geometry: the pass-through form, without code.
    pub fn passthrough(&self) -> bool {
        self.stage == Stage::Geometry && self.bit(24)
    }

    /// Tessellation control: output vertices of a patch; geometry: invocations. 0 when the header names none.
    pub fn threads_per_primitive(&self) -> u32 {
        self.words[2] >> 24
    }

    /// Geometry output topology: 1 points, 6 line strip, 7 triangle strip.
    pub fn output_topology(&self) -> u32 {
        self.words[3] >> 24 & 0xF
    }

    /// Geometry: largest number of output vertices.
    pub fn max_output_vertices(&self) -> u32 {
        self.words[4] & 0xFFF
    }

    /// Whether a program of the vertex pipeline reads (`output` false) or writes the component at byte address
    /// `address` of attribute space, as its header says.
    pub fn vtg_uses(&self, address: u32, output: bool) -> bool {
        let base = if output { 400 } else { 160 };
        match address {
            0x060..=0x27C => self.bit(base + address / 4),
            0x280..=0x2BC => self.bit(base + 160 + (address - 0x280) / 4),
            0x2C0..=0x2FC => self.bit(base + 176 + (address - 0x2C0) / 4),
            0x300..=0x39C => self.bit(base + 192 + (address - 0x300) / 4),
            0x3A0 => self.bit(base + 232),
            _ => false,
        }
    }

    /// Whether a fragment program reads the component at byte address `address`, as its header says.
    pub fn fragment_uses(&self, address: u32) -> bool {
        match address {
            0x060..=0x07C => self.bit(160 + address / 4),
            0x080..=0x27C => {
                let n = (address - 0x80) / 4;
                self.interpolation(n / 4, n % 4) != Interpolation::Unused
            }
            0x2C0..=0x2FC => self.bit(464 + (address - 0x2C0) / 4),
            _ => false,
        }
    }

    /// Interpolation of component `component` of generic vector `location` in a fragment program.
    pub fn interpolation(&self, location: u32, component: u32) -> Interpolation {
        if self.stage != Stage::Fragment || location >= 32 {
            return Interpolation::Unused;
        }
        let word = self.words[6 + (location / 4) as usize];
        match word >> (8 * (location % 4) + 2 * (component & 3)) & 3 {
            1 => Interpolation::Flat,
            2 => Interpolation::Perspective,
            3 => Interpolation::Linear,
            _ => Interpolation::Unused,
        }
    }

    /// Fragment: bits r, g, b, a that the program gives to colour target `target`.
    pub fn colour_mask(&self, target: u32) -> u32 {
        if self.stage == Stage::Fragment && target < 8 { self.words[18] >> (4 * target) & 0xF } else { 0 }
    }

    /// Fragment: colour 0 is the program's only one and goes to all targets.
    pub fn one_colour(&self) -> bool {
        self.stage == Stage::Fragment
            && !self.multiple_targets()
            && self.words[18] & 0xF != 0
            && self.words[18] >> 4 == 0
    }

    /// Fragment: the program writes the sample mask.
    pub fn writes_sample_mask(&self) -> bool {
        self.stage == Stage::Fragment && self.bit(608)
    }

    /// Fragment: the program writes depth.
    pub fn writes_depth(&self) -> bool {
        self.stage == Stage::Fragment && self.bit(609)
    }
}
