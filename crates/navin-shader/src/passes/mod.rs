//! Passes over the IR, a file each. None moves or makes instructions: they replace values, mark the live ones and
//! give words their types.

pub mod dce;
pub mod phis;
pub mod types;
