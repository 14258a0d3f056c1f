//! The corpus's deterministic contents: the hash h(i) and the fill kinds of its README.

/// h(i) of the README.
pub fn hash(i: u32) -> u32 {
    let mut x = i.wrapping_mul(0x9E37_79B1).wrapping_add(0x7F4A_7C15);
    x ^= x >> 15;
    x = x.wrapping_mul(0x85EB_CA77);
    x ^= x >> 13;
    x = x.wrapping_mul(0xC2B2_AE3D);
    x ^ (x >> 16)
}

/// u(i) of the README: 0 <= u < 1.
pub fn unit(i: u32) -> f32 {
    (hash(i) >> 8) as f32 / 16_777_216.0
}

const BITS: [u32; 24] = [
    0,
    1,
    2,
    3,
    7,
    8,
    0x1F,
    0x20,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
    0xAAAA_AAAA,
    0x5555_5555,
    0x00FF_00FF,
];

const SPECIAL: [u32; 24] = [
    0,
    0x8000_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC0_0000,
    0x7F80_0001,
    1,
    0x807F_FFFF,
    0x0080_0000,
    0x8080_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x3400_0000,
    0x4B00_0000,
    0x4B80_0000,
    0x3F00_0000,
    0x3EFF_FFFF,
    0x3F7F_FFFF,
    0x4049_0FDB,
    0xC2C8_0000,
    0x7E96_7699,
];

/// A fill kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 0.
    Zero,
    /// i.
    Index,
    /// h mod 16.
    Small,
    /// h, with bit patterns of note at every third word.
    Bits,
    /// Float in 0..1.
    Unit,
    /// Float in -8..8.
    Floats,
    /// Doubles in -8..8, two words each.
    Doubles,
    /// Floats near an identity matrix.
    Matrices,
    /// Denormal floats.
    Fdenorm,
    /// Float patterns of note.
    Fspecial,
}

impl Kind {
    /// The kind named in the index.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "zero" => Self::Zero,
            "index" => Self::Index,
            "small" => Self::Small,
            "bits" => Self::Bits,
            "unit" => Self::Unit,
            "floats" => Self::Floats,
            "doubles" => Self::Doubles,
            "matrices" => Self::Matrices,
            "fdenorm" => Self::Fdenorm,
            "fspecial" => Self::Fspecial,
            _ => return None,
        })
    }

    /// Word i of a buffer.
    pub fn word(self, i: u32) -> u32 {
        match self {
            Self::Zero => 0,
            Self::Index => i,
            Self::Small => hash(i) % 16,
            Self::Bits if i.is_multiple_of(3) => BITS[(hash(i) % 24) as usize],
            Self::Bits => hash(i),
            Self::Unit => unit(i).to_bits(),
            Self::Floats => (16.0 * unit(i) - 8.0).to_bits(),
            Self::Doubles => {
                let bits = (16.0 * f64::from(unit(i / 2)) - 8.0).to_bits();
                if i.is_multiple_of(2) { bits as u32 } else { (bits >> 32) as u32 }
            }
            Self::Matrices => {
                let diagonal = if matches!(i % 16, 0 | 5 | 10 | 15) { 1.0 } else { 0.0 };
                ((unit(i) - 0.5) / 4.0 + diagonal).to_bits()
            }
            Self::Fdenorm => hash(i) & 0x80FF_FFFF,
            Self::Fspecial => SPECIAL[(hash(i) % 24) as usize],
        }
    }

    /// The first `words` words of a buffer.
    pub fn words(self, words: u32) -> Vec<u32> {
        (0..words).map(|i| self.word(i)).collect()
    }
}

/// The fill column: which buffer gets which kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    by_binding: Vec<(u32, Kind)>,
    uniform: Option<Kind>,
    storage: Option<Kind>,
}

impl Fill {
    /// Reads the column; none if it has a word that the README does not.
    pub fn parse(column: &str) -> Option<Self> {
        let mut fill = Self::default();
        for word in column.split_whitespace() {
            if word == "zero" {
                continue;
            }
            let (target, kind) = word.split_once('=')?;
            let kind = Kind::parse(kind)?;
            match target {
                "ubo" => fill.uniform = Some(kind),
                "ssbo" => fill.storage = Some(kind),
                _ => fill.by_binding.push((target.parse().ok()?, kind)),
            }
        }
        Some(fill)
    }

    fn named(&self, binding: u32) -> Option<Kind> {
        self.by_binding.iter().find(|(b, _)| *b == binding).map(|(_, k)| *k)
    }

    /// Kind of the uniform block at `binding`.
    pub fn uniform(&self, binding: u32) -> Kind {
        self.named(binding).or(self.uniform).unwrap_or(Kind::Zero)
    }

    /// Kind of the storage buffer at `binding`.
    pub fn storage(&self, binding: u32) -> Kind {
        self.named(binding).or(self.storage).unwrap_or(Kind::Zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read() {
        let fill = Fill::parse("0=bits ubo=unit").unwrap();
        assert_eq!((fill.storage(0), fill.storage(1), fill.uniform(2)), (Kind::Bits, Kind::Zero, Kind::Unit));
        assert_eq!(Fill::parse("zero"), Some(Fill::default()));
        assert_eq!(Fill::parse("0=nonsense"), None);
    }

    #[test]
    fn words_follow_the_readme() {
        // x = 0 in the formula, by hand.
        let mut x = 0x7F4A_7C15u32;
        x ^= x >> 15;
        x = x.wrapping_mul(0x85EB_CA77);
        x ^= x >> 13;
        x = x.wrapping_mul(0xC2B2_AE3D);
        x ^= x >> 16;
        assert_eq!(hash(0), x);
        assert!((0..1000).all(|i| (0.0..1.0).contains(&unit(i))));
        assert_eq!(f32::from_bits(Kind::Matrices.word(5)), (unit(5) - 0.5) / 4.0 + 1.0);
        let double = u64::from(Kind::Doubles.word(6)) | u64::from(Kind::Doubles.word(7)) << 32;
        assert_eq!(f64::from_bits(double), 16.0 * f64::from(unit(3)) - 8.0);
    }
}
