//! Draws that Vulkan has no form for, made of indices that the CPU writes: quads, quad strips, line loops, restart at
//! other indices than all ones.

use navin_abi::fault;
use navin_vulkan::IndexBuffer;

use super::Piece;
use super::convert::{Rewrite, Topology};
use ash::vk;

/// Most vertices of a primitive that has to be rewritten: a draw of more is cut, not the process's memory filled.
pub(super) const REWRITE_LIMIT: u32 = 1 << 24;

impl Piece<'_> {
    /// Draws with indices that were made here.
    pub(super) fn draw_indices(
        &mut self,
        topology: Topology,
        indices: &[u32],
        base_vertex: i32,
        base_instance: u32,
        instances: u32,
    ) {
        if indices.is_empty() || !self.prepare_draw(topology) {
            return;
        }
        let bytes: &[u8] = bytemuck::cast_slice(indices);
        match self.encoder.upload(bytes, 4) {
            Ok(slice) => {
                let buffer = IndexBuffer { range: slice.range, kind: vk::IndexType::UINT32 };
                self.encoder.set_index_buffer(Some(buffer));
                let result = self.encoder.draw_indexed(0, indices.len() as u32, base_vertex, base_instance, instances);
                self.drawn(result);
            }
            Err(e) => {
                fault!("", "no memory for the indices of a rewritten primitive ({e}): a draw was left out");
            }
        }
    }

    /// The guest's indices, read on the CPU, widened to 32 bits.
    pub(super) fn read_indices(&mut self, address: u64, count: u32, size: u64) -> Option<Vec<u32>> {
        let count = count.min(REWRITE_LIMIT);
        let bytes = u64::from(count) * size;
        let Some(memory) = self.driver.pools.cpu_range(address, bytes) else {
            fault!(
                key = address,
                "",
                "an index buffer of {bytes} bytes at {address:#x} is in no memory pool: draw left out"
            );
            return None;
        };
        // SAFETY: `cpu_range` gives a range inside a live pool's storage.
        let bytes = unsafe { std::slice::from_raw_parts(memory.as_ptr(), bytes as usize) };
        Some(match size {
            1 => bytes.iter().map(|b| u32::from(*b)).collect(),
            2 => bytes.chunks_exact(2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]]))).collect(),
            _ => bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
        })
    }
}

/// The index list of rewritten primitives, begun anew after each `restart` index.
pub(super) fn rewritten(rewrite: Rewrite, vertices: &[u32], restart: Option<u32>) -> Vec<u32> {
    vertices.split(|vertex| Some(*vertex) == restart).flat_map(|run| rewritten_run(rewrite, run)).collect()
}

fn rewritten_run(rewrite: Rewrite, vertices: &[u32]) -> Vec<u32> {
    match rewrite {
        Rewrite::Quads => vertices.chunks_exact(4).flat_map(|q| [q[0], q[1], q[2], q[0], q[2], q[3]]).collect(),
        Rewrite::QuadStrip => {
            vertices.windows(4).step_by(2).flat_map(|q| [q[0], q[1], q[3], q[0], q[3], q[2]]).collect()
        }
        Rewrite::LineLoop => match vertices {
            [] | [_] => Vec::new(),
            [first, .., last] => vertices.windows(2).flat_map(|l| [l[0], l[1]]).chain([*last, *first]).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quads_become_two_triangles_each() {
        assert_eq!(rewritten(Rewrite::Quads, &[4, 5, 6, 7, 8], None), [4, 5, 6, 4, 6, 7]);
        assert_eq!(rewritten(Rewrite::QuadStrip, &[0, 1, 2, 3, 4, 5], None), [0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4]);
        assert_eq!(rewritten(Rewrite::LineLoop, &[0, 1, 2], None), [0, 1, 1, 2, 2, 0]);
        assert!(rewritten(Rewrite::LineLoop, &[1], None).is_empty());
        assert!(rewritten(Rewrite::Quads, &[1, 2, 3], None).is_empty());
    }

    #[test]
    fn a_restart_index_begins_a_new_loop() {
        let loops = rewritten(Rewrite::LineLoop, &[0, 1, 2, 9, 3, 4], Some(9));
        assert_eq!(loops, [0, 1, 1, 2, 2, 0, 3, 4, 4, 3]);
    }
}
