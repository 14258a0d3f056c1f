//! `nvnMultisampleState*`.

use navin_abi::records::state::MultisampleState;
use navin_abi::types::*;

use crate::entry::object::{accessors, array, boolean, live, output, store};
use crate::entry::table::entries;

pub(crate) extern "C" fn nvnMultisampleStateSetDefaults(multisample: *mut NVNmultisampleState) {
    store(multisample, MultisampleState::DEFAULT);
}

/// Sets `count` entries of the location table from entry `first` on; two floats each, in pixels.
fn set_locations(s: &mut MultisampleState, first: i32, count: i32, locations: *const f32) -> bool {
    let Ok(first) = usize::try_from(first) else { return false };
    // The table has 16 entries; the guest's array is not read past what they take.
    if !(0..=16).contains(&count) {
        return false;
    }
    let Some(values) = array(locations, count * 2) else { return false };
    values.chunks_exact(2).enumerate().all(|(i, at)| s.set_location(first.saturating_add(i), [at[0], at[1]]))
}

accessors! {
    NVNmultisampleState as MultisampleState;
    get nvnMultisampleStateGetMultisampleEnable -> NVNboolean: |s| boolean(s.fields.enable());
    set nvnMultisampleStateSetMultisampleEnable(on: NVNboolean): |s| s.fields.set_enable(on != 0);
    get nvnMultisampleStateGetSamples -> i32: |s| s.fields.samples();
    set nvnMultisampleStateSetSamples(samples: i32): |s| s.fields.set_samples(samples);
    set nvnMultisampleStateSetRasterSamples(samples: i32): |s| s.fields.set_raster_samples(samples);
    get nvnMultisampleStateGetAlphaToCoverageEnable -> NVNboolean: |s| boolean(s.fields.alpha_to_coverage());
    set nvnMultisampleStateSetAlphaToCoverageEnable(on: NVNboolean): |s| s.fields.set_alpha_to_coverage(on != 0);
    get nvnMultisampleStateGetAlphaToCoverageDither -> NVNboolean: |s| boolean(s.fields.alpha_to_coverage_dither());
    set nvnMultisampleStateSetAlphaToCoverageDither(on: NVNboolean): |s| s.fields.set_alpha_to_coverage_dither(on != 0);
    get nvnMultisampleStateGetCoverageModulationMode -> NVNcoverageModulationMode: |s| s.fields.coverage_modulation();
    set nvnMultisampleStateSetCoverageModulationMode(mode: NVNcoverageModulationMode):
        |s| s.fields.set_coverage_modulation(mode);
    get nvnMultisampleStateGetCoverageToColorEnable -> NVNboolean: |s| boolean(s.fields.coverage_to_color());
    set nvnMultisampleStateSetCoverageToColorEnable(on: NVNboolean): |s| s.fields.set_coverage_to_color(on != 0);
    get nvnMultisampleStateGetCoverageToColorOutput -> i32: |s| s.fields.coverage_to_color_output();
    set nvnMultisampleStateSetCoverageToColorOutput(target: i32): |s| s.fields.set_coverage_to_color_output(target);
    get nvnMultisampleStateGetSampleLocationsEnable -> NVNboolean: |s| boolean(s.fields.locations_enable());
    set nvnMultisampleStateSetSampleLocationsEnable(on: NVNboolean): |s| s.fields.set_locations_enable(on != 0);
    get nvnMultisampleStateGetSampleLocationsGridEnable -> NVNboolean: |s| boolean(s.fields.locations_grid_enable());
    set nvnMultisampleStateSetSampleLocationsGridEnable(on: NVNboolean): |s| s.fields.set_locations_grid_enable(on != 0);
    set nvnMultisampleStateSetSampleLocations(first: i32, count: i32, locations: *const f32):
        |s| set_locations(s, first, count, locations);
}

// The two getters whose object is not `const` in NVN's headers.

pub(crate) extern "C" fn nvnMultisampleStateGetRasterSamples(multisample: *mut NVNmultisampleState) -> i32 {
    live::<MultisampleState, _>(multisample, "nvnMultisampleStateGetRasterSamples")
        .map_or(0, |s| s.fields.raster_samples())
}

pub(crate) extern "C" fn nvnMultisampleStateGetSampleLocationsGrid(
    multisample: *mut NVNmultisampleState,
    width: *mut i32,
    height: *mut i32,
) {
    let Some(s) = live::<MultisampleState, _>(multisample, "nvnMultisampleStateGetSampleLocationsGrid") else { return };
    let [w, h] = s.location_grid();
    output(width, w);
    output(height, h);
}

entries! {
    nvnMultisampleStateGetAlphaToCoverageDither,
    nvnMultisampleStateGetAlphaToCoverageEnable,
    nvnMultisampleStateGetCoverageModulationMode,
    nvnMultisampleStateGetCoverageToColorEnable,
    nvnMultisampleStateGetCoverageToColorOutput,
    nvnMultisampleStateGetMultisampleEnable,
    nvnMultisampleStateGetRasterSamples,
    nvnMultisampleStateGetSampleLocationsEnable,
    nvnMultisampleStateGetSampleLocationsGrid,
    nvnMultisampleStateGetSampleLocationsGridEnable,
    nvnMultisampleStateGetSamples,
    nvnMultisampleStateSetAlphaToCoverageDither,
    nvnMultisampleStateSetAlphaToCoverageEnable,
    nvnMultisampleStateSetCoverageModulationMode,
    nvnMultisampleStateSetCoverageToColorEnable,
    nvnMultisampleStateSetCoverageToColorOutput,
    nvnMultisampleStateSetDefaults,
    nvnMultisampleStateSetMultisampleEnable,
    nvnMultisampleStateSetRasterSamples,
    nvnMultisampleStateSetSampleLocations,
    nvnMultisampleStateSetSampleLocationsEnable,
    nvnMultisampleStateSetSampleLocationsGridEnable,
    nvnMultisampleStateSetSamples,
}
