//! How exactly results agree: the compare column of the index, applied to what two runs left behind.

use crate::texel::{Channel, Texel};

/// What the words of a plane are.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A storage buffer.
    Buffer,
    /// A colour target of floats, four words a pixel; only the first channels are written.
    FloatTarget {
        /// Channels that the program writes.
        channels: u32,
    },
    /// A colour target of integers, four words a pixel.
    IntTarget,
    /// A depth buffer, one word a pixel.
    Depth,
    /// A storage image in its format, its bytes padded to words at the end.
    Image(Texel),
}

/// Something that a run left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// What it is, for messages: `storage 1`, `target 0 layer 2`.
    pub name: String,
    /// What its words are.
    pub content: Content,
    /// Pixels a row, where it is a picture.
    pub width: u32,
    /// The words.
    pub words: Vec<u32>,
    /// Whether the run is known to have left it as it was.
    pub untouched: bool,
}

/// The first difference of two runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Mismatch {
    /// Plane.
    pub plane: String,
    /// Index of the first element that differs: word of a buffer, pixel or texel of a picture.
    pub element: usize,
    /// Channel of the pixel or texel; 0 for buffers.
    pub channel: usize,
    /// The reference's word.
    pub reference: u32,
    /// The guest form's word.
    pub guest: u32,
    /// Elements that differ.
    pub count: usize,
    /// Elements of the plane.
    pub of: usize,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { plane, element, channel, reference, guest, count, of } = self;
        let float = |w: u32| f32::from_bits(w);
        write!(f, "{plane} [{element}].{channel}: reference {reference:#010x} ({}) ", float(*reference))?;
        write!(f, "guest {guest:#010x} ({}), {count} of {of} differ", float(*guest))
    }
}

/// The compare column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    exact: bool,
    relative: Option<f64>,
    absolute: Option<f64>,
    doubles: bool,
    nan_any: bool,
    nan_minmax: bool,
    denorm_any: bool,
    half_denorm_any: bool,
    half_ulp: Option<u32>,
    unorm_ulp: Option<u32>,
    last_bit: bool,
    mostly: bool,
    edges: bool,
    sorted: Option<usize>,
    sorted_tiles: bool,
    histogram: bool,
}

/// Lights that a tile of `sorted-tiles` may list.
const LIGHTS: u32 = 256;
/// Words of a tile of `sorted-tiles`.
const TILE: usize = 33;
/// Tolerance of float targets where the column names none.
const TARGET_TOLERANCE: f64 = 0.01;
/// How far a pixel of an edge may be from its neighbour in the reference: a step of the gradients used here.
const EDGE_TOLERANCE: f32 = 0.1;

impl Rule {
    /// Reads the column; none if it has a word that the README does not.
    pub fn parse(column: &str) -> Option<Self> {
        let mut rule = Self::default();
        let mut words = column.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "exact" => rule.exact = true,
                "exact-mostly" => (rule.exact, rule.mostly) = (true, true),
                "rel" => rule.relative = Some(words.next()?.parse().ok()?),
                "abs" => rule.absolute = Some(words.next()?.parse().ok()?),
                "f64" => rule.doubles = true,
                "nan-any" => rule.nan_any = true,
                "nan-minmax" => rule.nan_minmax = true,
                "denorm-any" => rule.denorm_any = true,
                "half-denorm-any" => rule.half_denorm_any = true,
                "half-ulp" => rule.half_ulp = Some(words.next()?.parse().ok()?),
                "unorm-ulp" => rule.unorm_ulp = Some(words.next()?.parse().ok()?),
                "last-bit" => rule.last_bit = true,
                "mostly" => rule.mostly = true,
                "edges" => rule.edges = true,
                "sorted" => rule.sorted = Some(words.next()?.parse().ok()?),
                "sorted-tiles" => rule.sorted_tiles = true,
                "histogram" => rule.histogram = true,
                _ => return None,
            }
        }
        Some(rule)
    }

    /// Compares what two runs left behind, plane by plane; none if they agree.
    pub fn compare(&self, reference: &[Plane], guest: &[Plane]) -> Option<Mismatch> {
        if reference.len() != guest.len() {
            return Some(Mismatch {
                plane: format!("{} planes against {}", reference.len(), guest.len()),
                element: 0,
                channel: 0,
                reference: 0,
                guest: 0,
                count: 1,
                of: 1,
            });
        }
        reference.iter().zip(guest).find_map(|(r, g)| self.compare_plane(r, g))
    }

    fn compare_plane(&self, reference: &Plane, guest: &Plane) -> Option<Mismatch> {
        let (a, b) = (self.normalised(reference), self.normalised(guest));
        if a == b {
            return None;
        }
        let per_element = match reference.content {
            Content::Buffer if self.doubles => 2,
            Content::Buffer | Content::Depth => 1,
            Content::FloatTarget { .. } | Content::IntTarget => 4,
            Content::Image(texel) => return self.compare_image(reference, &texel, &a, &b),
        };
        let elements = a.len() / per_element;
        let differs = |i: usize| -> Option<usize> {
            let (x, y) = (&a[i * per_element..][..per_element], &b[i * per_element..][..per_element]);
            match reference.content {
                Content::Buffer if self.doubles => (!self.double_agrees(x, y)).then_some(0),
                Content::Buffer => (!self.word_agrees(x[0], y[0])).then_some(0),
                Content::IntTarget => (0..4).find(|c| x[*c] != y[*c]),
                Content::Depth => (!self.target_agrees(x[0], y[0])).then_some(0),
                _ => {
                    let Content::FloatTarget { channels } = reference.content else { return None };
                    (0..channels as usize).find(|c| !self.target_agrees(x[*c], y[*c]))
                }
            }
        };
        let picture = !matches!(reference.content, Content::Buffer);
        let wrong = |i: &usize| {
            differs(*i).is_some()
                && !(picture && self.edges && on_edge(&a, &b, per_element, reference.width as usize, *i))
        };
        let mut bad = (0..elements).filter(wrong);
        let first = bad.next()?;
        let count = 1 + bad.count();
        // "A few" of the README: one in fifty.
        if self.mostly && count * 50 <= elements {
            return None;
        }
        let channel = differs(first).unwrap_or(0);
        Some(Mismatch {
            plane: reference.name.clone(),
            element: first,
            channel,
            reference: a[first * per_element + channel],
            guest: b[first * per_element + channel],
            count,
            of: elements,
        })
    }

    fn compare_image(&self, plane: &Plane, texel: &Texel, a: &[u32], b: &[u32]) -> Option<Mismatch> {
        let (a, b): (&[u8], &[u8]) = (bytemuck::cast_slice(a), bytemuck::cast_slice(b));
        let size = texel.bytes as usize;
        let differs = |i: usize| {
            let (x, y) = (texel.codes(&a[i * size..][..size]), texel.codes(&b[i * size..][..size]));
            (0..texel.bits.len()).find(|c| !self.channel_agrees(texel, *c, x[*c], y[*c])).map(|c| (c, x[c], y[c]))
        };
        let of = a.len() / size;
        let mut bad = (0..of).filter(|i| differs(*i).is_some());
        let element = bad.next()?;
        let count = 1 + bad.count();
        if self.mostly && count * 50 <= of {
            return None;
        }
        let (channel, reference, guest) = differs(element)?;
        Some(Mismatch { plane: plane.name.clone(), element, channel, reference, guest, count, of })
    }

    fn channel_agrees(&self, texel: &Texel, channel: usize, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        if self.last_bit {
            let bits = texel.bits[channel];
            // Neighbouring codes, over the wrap of signed ones as well.
            return a.abs_diff(b) <= 1 || a.abs_diff(b) == u32::MAX >> (32 - bits);
        }
        if self.exact || matches!(texel.channel, Channel::Uint | Channel::Sint) {
            return false;
        }
        self.within(texel.value(channel, a), texel.value(channel, b), 0.0)
    }

    /// The words in an order that does not matter made the same.
    fn normalised(&self, plane: &Plane) -> Vec<u32> {
        let mut words = plane.words.clone();
        if plane.content != Content::Buffer {
            return words;
        }
        if let Some(from) = self.sorted {
            // Word 0 counts the items from `from` on.
            let count = words.first().map_or(0, |n| *n as usize);
            let end = (from + count).min(words.len());
            if from < end {
                words[from..end].sort_unstable();
            }
        }
        if self.sorted_tiles {
            for tile in words.chunks_exact_mut(TILE) {
                let count = (tile[0] as usize).min(TILE - 1);
                let list = &mut tile[1..=count];
                list.sort_unstable();
                // Of more lights than a list has room for, those that come first are in it: any of them.
                let are_lights = list.windows(2).all(|pair| pair[0] < pair[1]) && list.iter().all(|n| *n < LIGHTS);
                if count == TILE - 1 && are_lights {
                    list.fill(0);
                }
            }
        }
        words
    }

    fn target_agrees(&self, a: u32, b: u32) -> bool {
        if self.relative.is_none() && self.absolute.is_none() && !self.exact {
            return a == b || self.within(f32::from_bits(a).into(), f32::from_bits(b).into(), TARGET_TOLERANCE);
        }
        self.word_agrees(a, b)
    }

    fn word_agrees(&self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        if self.histogram {
            return a.abs_diff(b) <= 2;
        }
        if let Some(ulp) = self.half_ulp {
            return (0..2).all(|h| ordered_half(a >> (16 * h)).abs_diff(ordered_half(b >> (16 * h))) <= ulp);
        }
        if let Some(ulp) = self.unorm_ulp {
            let near = |bits: u32| {
                (0..32 / bits).all(|i| {
                    let piece = |w: u32| w >> (i * bits) & (u32::MAX >> (32 - bits));
                    piece(a).abs_diff(piece(b)) <= ulp
                })
            };
            return near(8) || near(16);
        }
        if self.exact {
            return false;
        }
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        if self.nan_any && x.is_nan() && y.is_nan() || self.nan_minmax && (x.is_nan() || y.is_nan()) {
            return true;
        }
        let small = |limit: f32| x.abs() <= limit && y.abs() <= limit;
        if self.denorm_any && small(f32::MIN_POSITIVE) {
            return true;
        }
        if self.half_denorm_any && small(6.103_515_6e-5) && (x == 0.0 || y == 0.0) {
            return true;
        }
        self.within(x.into(), y.into(), 0.0)
    }

    fn double_agrees(&self, a: &[u32], b: &[u32]) -> bool {
        let double = |w: &[u32]| f64::from_bits(u64::from(w[0]) | u64::from(w[1]) << 32);
        a == b || self.within(double(a), double(b), 0.0)
    }

    /// Within A + R times the size; both NaN agree under a tolerance.
    fn within(&self, a: f64, b: f64, least: f64) -> bool {
        let absolute = self.absolute.unwrap_or(0.0).max(least);
        let relative = self.relative.unwrap_or(0.0);
        if absolute == 0.0 && relative == 0.0 {
            return false;
        }
        a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= absolute + relative * a.abs().max(b.abs())
    }
}

/// Half-float bits as whole numbers in the order of the values.
fn ordered_half(bits: u32) -> u32 {
    let bits = bits & 0xFFFF;
    if bits & 0x8000 == 0 { 0x8000 + bits } else { 0x8000 - (bits & 0x7FFF) }
}

/// Whether pixel `i` lies on the edge of a primitive in the reference, and the guest's pixel there shows what the
/// reference has next to it: a line or border that fell to the other pixel, and not just any colour.
///
/// The background is what the target was cleared to, which is what corners show unless a primitive covers them.
fn on_edge(reference: &[u32], guest: &[u32], per_pixel: usize, width: usize, i: usize) -> bool {
    let width = width.max(1);
    let height = reference.len() / per_pixel / width;
    let pixel = |x: usize, y: usize| &reference[(y * width + x) * per_pixel..][..per_pixel];
    let (x, y) = (i % width, i / width);
    let here = pixel(x, y);
    let corners = [pixel(0, 0), pixel(width - 1, 0), pixel(0, height - 1), pixel(width - 1, height - 1)];
    let background = |p: &[u32]| corners.iter().filter(|c| **c == p).count() >= 2;
    let (x0, x1) = (x.saturating_sub(1), (x + 1).min(width - 1));
    let (y0, y1) = (y.saturating_sub(1), (y + 1).min(height - 1));
    let around = || (y0..=y1).flat_map(|ny| (x0..=x1).map(move |nx| pixel(nx, ny)));
    let shown = &guest[i * per_pixel..][..per_pixel];
    let similar = |p: &[u32]| {
        p == shown
            || p.iter().zip(shown).all(|(a, b)| (f32::from_bits(*a) - f32::from_bits(*b)).abs() <= EDGE_TOLERANCE)
    };
    around().any(|p| background(p) != background(here)) && around().any(similar)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(words: &[u32]) -> Vec<Plane> {
        vec![Plane {
            name: "storage 1".into(),
            content: Content::Buffer,
            width: 0,
            words: words.to_vec(),
            untouched: false,
        }]
    }

    fn floats(values: &[f32]) -> Vec<Plane> {
        buffer(&values.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
    }

    fn agree(rule: &str, a: &[Plane], b: &[Plane]) -> bool {
        Rule::parse(rule).unwrap().compare(a, b).is_none()
    }

    #[test]
    fn exact_is_word_for_word() {
        assert!(agree("exact", &buffer(&[1, 2]), &buffer(&[1, 2])));
        let rule = Rule::parse("exact").unwrap();
        let mismatch = rule.compare(&buffer(&[1, 2, 3]), &buffer(&[1, 9, 4])).unwrap();
        assert_eq!((mismatch.element, mismatch.reference, mismatch.guest, mismatch.count), (1, 2, 9, 2));
        assert!(!agree("exact", &floats(&[0.0]), &floats(&[-0.0])));
    }

    #[test]
    fn tolerances() {
        assert!(agree("abs 0.01", &floats(&[1.0]), &floats(&[1.009])));
        assert!(!agree("abs 0.01", &floats(&[1.0]), &floats(&[1.02])));
        assert!(agree("rel 1e-5", &floats(&[1e6]), &floats(&[1e6 + 5.0])));
        assert!(!agree("rel 1e-5", &floats(&[1.0]), &floats(&[1.0001])));
        assert!(!agree("abs 0.01", &floats(&[f32::NAN]), &floats(&[0.0])));
        assert!(!agree("abs 0.01", &floats(&[f32::INFINITY]), &floats(&[f32::MAX])));
        assert!(agree("nan-any", &buffer(&[0x7FC0_0000]), &buffer(&[0xFFC0_0001])));
        assert!(agree("denorm-any", &buffer(&[0x0000_1234]), &buffer(&[0])));
        assert!(!agree("denorm-any", &buffer(&[0x0090_0000]), &buffer(&[0])));
        assert!(agree("nan-any nan-minmax", &floats(&[2.0]), &floats(&[f32::NAN])));
        assert!(agree("half-ulp 1", &buffer(&[0x3C00_8000]), &buffer(&[0x3C01_0000])));
        assert!(!agree("half-ulp 1", &buffer(&[0x3C00_3C00]), &buffer(&[0x3C02_3C00])));
        assert!(agree("unorm-ulp 1", &buffer(&[0x7F80_00FF]), &buffer(&[0x8080_00FE])));
        assert!(!agree("unorm-ulp 1", &buffer(&[0x7F80_00FF]), &buffer(&[0x8280_00FE])));
        let double = |v: f64| [v.to_bits() as u32, (v.to_bits() >> 32) as u32];
        assert!(agree("f64 rel 1e-14 abs 0", &buffer(&double(1.0)), &buffer(&double(1.0 + 5e-15))));
        assert!(!agree("f64 rel 1e-14 abs 0", &buffer(&double(1.0)), &buffer(&double(1.0 + 5e-13))));
    }

    #[test]
    fn order_that_does_not_matter() {
        assert!(agree("sorted 1", &buffer(&[3, 7, 5, 6, 9]), &buffer(&[3, 5, 6, 7, 9])));
        assert!(!agree("sorted 1", &buffer(&[3, 7, 5, 6, 9]), &buffer(&[3, 5, 6, 8, 9])));
        let mut tile = vec![0; 66];
        tile[33..36].copy_from_slice(&[2, 8, 4]);
        let mut other = tile.clone();
        other[34..36].copy_from_slice(&[4, 8]);
        assert!(agree("sorted-tiles", &buffer(&tile), &buffer(&other)));
        other[35] = 9;
        assert!(!agree("sorted-tiles", &buffer(&tile), &buffer(&other)));
        // A full list holds any of the lights that wanted to be in it, each once.
        let full = |from: u32| buffer(&[&[32][..], &(from..from + 32).collect::<Vec<_>>()].concat());
        assert!(agree("sorted-tiles", &full(0), &full(100)));
        assert!(!agree("sorted-tiles", &full(0), &full(250)), "there are 256 lights");
        assert!(!agree("sorted-tiles", &full(0), &buffer(&[&[32][..], &[7; 32]].concat())), "one light twice");
    }

    #[test]
    fn edges_may_differ_and_insides_may_not() {
        let picture = |change: Option<(usize, f32)>| {
            let mut words = vec![0u32; 16 * 16 * 4];
            for y in 4..12 {
                for x in 4..12 {
                    words[(y * 16 + x) * 4] = 1.0f32.to_bits();
                }
            }
            if let Some((i, value)) = change {
                words[i * 4] = value.to_bits();
            }
            vec![Plane {
                name: "target 0".into(),
                content: Content::FloatTarget { channels: 4 },
                width: 16,
                words,
                untouched: false,
            }]
        };
        assert!(agree("edges", &picture(None), &picture(Some((4 * 16 + 6, 0.0)))));
        assert!(agree("edges", &picture(None), &picture(Some((3 * 16 + 6, 1.0)))));
        assert!(!agree("edges", &picture(None), &picture(Some((3 * 16 + 6, 0.5)))), "no colour of the neighbourhood");
        assert!(!agree("edges", &picture(None), &picture(Some((8 * 16 + 8, 0.0)))));
        assert!(!agree("abs 0.01", &picture(None), &picture(Some((4 * 16 + 6, 0.0)))));
    }

    #[test]
    fn images_by_channel() {
        let image = |texel: [u8; 4]| {
            let content = Content::Image(Texel::named("rgba8").unwrap());
            vec![Plane {
                name: "image 2".into(),
                content,
                width: 1,
                words: vec![u32::from_le_bytes(texel)],
                untouched: false,
            }]
        };
        assert!(agree("last-bit", &image([1, 2, 3, 255]), &image([2, 2, 3, 254])));
        assert!(!agree("last-bit", &image([1, 2, 3, 255]), &image([3, 2, 3, 255])));
        assert!(agree("abs 0.01", &image([1, 2, 3, 255]), &image([3, 2, 3, 255])));
        assert!(!agree("exact", &image([1, 2, 3, 255]), &image([2, 2, 3, 255])));
    }
}
