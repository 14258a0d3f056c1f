//! State objects: bound by value, the guest's packed bytes.

use navin_abi::types::*;
use navin_command::record::op;

use super::HOST;
use super::args::{Array, commands, pointee};

commands! {
    []

    fn nvnCommandBufferBindBlendState(state: *const NVNblendState) |buffer| {
        let Some(bytes) = pointee(state, CALL) else { return };
        buffer.record::<op::BindBlendState>(&HOST, (), &bytes);
    }

    fn nvnCommandBufferBindChannelMaskState(state: *const NVNchannelMaskState) |buffer| {
        let Some(bytes) = pointee(state, CALL) else { return };
        buffer.record::<op::BindChannelMaskState>(&HOST, (), &bytes);
    }

    fn nvnCommandBufferBindColorState(state: *const NVNcolorState) |buffer| {
        let Some(bytes) = pointee(state, CALL) else { return };
        buffer.record::<op::BindColorState>(&HOST, (), &bytes);
    }

    fn nvnCommandBufferBindDepthStencilState(state: *const NVNdepthStencilState) |buffer| {
        let Some(bytes) = pointee(state, CALL) else { return };
        buffer.record::<op::BindDepthStencilState>(&HOST, (), &bytes);
    }

    fn nvnCommandBufferBindMultisampleState(state: *const NVNmultisampleState) |buffer| {
        let Some(bytes) = pointee(state, CALL) else { return };
        buffer.record::<op::BindMultisampleState>(&HOST, (), &bytes);
    }

    fn nvnCommandBufferBindPolygonState(state: *const NVNpolygonState) |buffer| {
        let Some(bytes) = pointee(state, CALL) else { return };
        buffer.record::<op::BindPolygonState>(&HOST, (), &bytes);
    }

    /// 16 floats, which the hardware keeps as 8-bit factors.
    fn nvnCommandBufferBindCoverageModulationTable(table: *const f32) |buffer| {
        let Some(table) = Array::new(table, CALL) else { return };
        // The cast cuts, and holds what is no number at 0.
        let factor = |i: usize| (table.at(i).clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
        let words = std::array::from_fn(|word| u32::from_le_bytes(std::array::from_fn(|byte| factor(word * 4 + byte))));
        buffer.record::<op::BindCoverageModulationTable>(&HOST, (), &words);
    }
}
