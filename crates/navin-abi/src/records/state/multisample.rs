//! `NVNmultisampleState`: samples, coverage, sample locations.

use crate::enums::NVNcoverageModulationMode;

use super::packed;

/// Entries of the sample location table (device item 0x4D).
const LOCATIONS: usize = 16;

packed! {
    /// The scalar fields of [`MultisampleState`].
    pub struct MultisampleFields(u64) {
        /// Whether multisampling is on.
        enable, set_enable: bool, 0, 1;
        /// Whether alpha makes coverage.
        alpha_to_coverage, set_alpha_to_coverage: bool, 1, 1;
        /// Whether the coverage made from alpha is dithered.
        alpha_to_coverage_dither, set_alpha_to_coverage_dither: bool, 2, 1;
        /// Whether coverage is written into a colour output.
        coverage_to_color, set_coverage_to_color: bool, 3, 1;
        /// Whether the guest's sample locations apply.
        locations_enable, set_locations_enable: bool, 4, 1;
        /// Whether they are a grid of pixels, not one pixel's.
        locations_grid_enable, set_locations_grid_enable: bool, 5, 1;
        /// `NVNcoverageModulationMode`.
        coverage_modulation, set_coverage_modulation: NVNcoverageModulationMode, 6, 2;
        /// The colour output that coverage is written into.
        coverage_to_color_output, set_coverage_to_color_output: i32, 8, 4;
        /// Samples of the targets.
        samples, set_samples: i32, 16, 8;
        /// Samples the rasteriser works with; 0: as the targets.
        raster_samples, set_raster_samples: i32, 24, 8;
    }
}

/// `NVNmultisampleState`, 24 bytes: the fields, then 16 sample locations of a byte each.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
pub struct MultisampleState {
    /// The scalar fields.
    pub fields: MultisampleFields,
    /// Locations in the hardware's sixteenths of a pixel: x in bits 0-3, y in bits 4-7.
    locations: [u8; LOCATIONS],
}

super::super::fits!(MultisampleState in MIN_NVNMULTISAMPLESTATE);

/// What a [`MultisampleState`] says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multisample {
    /// Whether multisampling is on.
    pub enable: bool,
    /// Samples of the targets, at least 1.
    pub samples: u32,
    /// Samples the rasteriser works with; 0: as the targets.
    pub raster_samples: u32,
    /// Whether alpha makes coverage.
    pub alpha_to_coverage: bool,
    /// Whether the coverage made from alpha is dithered.
    pub alpha_to_coverage_dither: bool,
    /// `NVNcoverageModulationMode`.
    pub coverage_modulation: NVNcoverageModulationMode,
    /// The colour output that coverage is written into, if any.
    pub coverage_to_color: Option<u32>,
    /// The guest's sample locations in a pixel (x, y from 0 to 1), when they apply.
    pub locations: Option<[[f32; 2]; LOCATIONS]>,
    /// Whether the locations are a grid of pixels.
    pub locations_grid: bool,
}

impl MultisampleState {
    /// Multisampling on with one sample, dither on, everything else off, locations at pixel centres.
    pub const DEFAULT: Self =
        Self { fields: MultisampleFields::from_bits(1 | 1 << 2 | 1 << 16), locations: [0x88; LOCATIONS] };

    /// Every field at once.
    pub fn decode(&self) -> Multisample {
        let fields = self.fields;
        Multisample {
            enable: fields.enable(),
            samples: fields.samples().max(1) as u32,
            raster_samples: fields.raster_samples() as u32,
            alpha_to_coverage: fields.alpha_to_coverage(),
            alpha_to_coverage_dither: fields.alpha_to_coverage_dither(),
            coverage_modulation: fields.coverage_modulation(),
            coverage_to_color: (fields.coverage_to_color()).then_some(fields.coverage_to_color_output() as u32),
            locations: (fields.locations_enable()).then(|| self.locations()),
            locations_grid: fields.locations_grid_enable(),
        }
    }

    /// The table of sample locations, x and y from 0 to 15/16 of a pixel.
    pub fn locations(&self) -> [[f32; 2]; LOCATIONS] {
        self.locations.map(|at| [f32::from(at & 15) / 16.0, f32::from(at >> 4) / 16.0])
    }

    /// Sets entry `index` of the table, x and y in a pixel from 0 to 1, to the nearest sixteenth below; false
    /// when there is no such entry.
    #[must_use]
    pub fn set_location(&mut self, index: usize, at: [f32; 2]) -> bool {
        let Some(entry) = self.locations.get_mut(index) else { return false };
        // A float conversion saturates and takes NaN to 0.
        let sixteenth = |v: f32| ((v * 16.0) as u8).min(15);
        *entry = sixteenth(at[0]) | sixteenth(at[1]) << 4;
        true
    }

    /// Pixels across and down that share the table's 16 entries at this number of samples: the hardware's grids.
    pub fn location_grid(&self) -> [i32; 2] {
        match self.fields.samples() {
            0 | 1 => [4, 4],
            2 => [2, 4],
            4 => [2, 2],
            8 => [1, 2],
            _ => [1, 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_sixteenths() {
        let mut state = MultisampleState::DEFAULT;
        assert_eq!(state.decode().locations, None);
        assert!(state.fields.set_locations_enable(true));
        assert!(state.set_location(15, [0.25, 0.9375]) && state.set_location(0, [f32::NAN, 7.0]));
        assert!(!state.set_location(16, [0.0; 2]));
        let locations = state.decode().locations.expect("enabled");
        assert_eq!((locations[15], locations[0], locations[1]), ([0.25, 0.9375], [0.0, 0.9375], [0.5, 0.5]));
    }

    #[test]
    fn a_grid_shares_sixteen_entries() {
        for samples in [1, 2, 4, 8] {
            let mut state = MultisampleState::DEFAULT;
            assert!(state.fields.set_samples(samples));
            let [w, h] = state.location_grid();
            assert_eq!(w * h * samples, 16, "{samples} samples");
        }
    }
}
