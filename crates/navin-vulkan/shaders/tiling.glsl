// What untile.comp and tile.comp share: which 16 bytes each thread copies (src/tiling/mod.rs tells the plan).
//
// 32 threads take a GOB, in the order of its bytes, so that the block-linear side is read and written in runs of 512
// bytes; eight such rows of threads stand beside or below each other, and each takes STEPS GOBs below each other,
// which follow in memory too.

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 256) in;

const uint STEPS = 4;

// One region of a level, all layers. Sizes and pitches of both sides are in pieces of 16 bytes.
struct Copy {
    uvec2 storage;     // device address of the level in the first layer
    uvec2 linear;      // device address of the piece that holds the region's first byte
    uint first_group;  // first work group of this copy
    uint groups_x;     // work groups across
    uint groups_y;     // work groups down
    uint shape;        // log2 of the rows of threads beside each other; bit 8: order of the successor
    uint x0, x1;       // bytes of a row of the level
    uint y0, y1;       // rows
    uint z0, slices;   // slices
    uint block_height; // log2, GOBs
    uint block_depth;  // log2, slices
    uint block_row;    // from a row of blocks to the next
    uint block_slice;  // from a slice of blocks to the next
    uint layer;        // from a layer to the next
    uint linear_row, linear_slice, linear_layer;
    uint unused0, unused1;
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Copies { Copy at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) restrict buffer Pieces { uvec4 at[]; };

layout(set = 1, binding = 0, std140) uniform Constants {
    uvec2 copies;
    uint count;
    uint groups;
} constants;

// What a thread copies: STEPS pieces below each other.
struct Plan {
    Pieces storage;
    Pieces linear;
    uint from[STEPS]; // in storage
    uint to;          // in the rows, of the first piece
    uint to_step;     // and from piece to piece
    uint y;           // row of the first piece; the others are 8 rows apart
    uint x;           // first byte
};

// False for a thread that has nothing to do.
bool plan(out Copy region, out Plan p) {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (group >= constants.groups) {
        return false;
    }
    Copies copies = Copies(constants.copies);
    uint low = 0, high = constants.count;
    while (high - low > 1) {
        uint middle = (low + high) / 2;
        if (copies.at[middle].first_group <= group) {
            low = middle;
        } else {
            high = middle;
        }
    }
    region = copies.at[low];
    group -= region.first_group;
    uint group_x = group % region.groups_x;
    group /= region.groups_x;
    uint group_y = group % region.groups_y;
    group /= region.groups_y;
    uint z = region.z0 + group % region.slices;
    uint layer = group / region.slices;

    uint wide = region.shape & 0xFFu;
    uint thread = gl_LocalInvocationID.x;
    uint piece = thread & 31u, row = thread >> 5;
    // Bits of the piece's place: x5 y2 y1 x4 y0, on the successor x5 y2 x4 y1 y0 (B305).
    bool successor = (region.shape & 0x100u) != 0u;
    uint x4 = (successor ? piece >> 2 : piece >> 1) & 1u;
    uint y1 = (successor ? piece >> 1 : piece >> 2) & 1u;
    uint gob_x = (piece >> 4) << 1 | x4;
    uint gob_y = (piece >> 3 & 1u) << 2 | y1 << 1 | (piece & 1u);

    uint column = (region.x0 >> 6) + (group_x << wide) + (row & ((1u << wide) - 1u));
    // Steps begin at multiples of STEPS, so that the GOBs of a thread lie in one block where blocks are that high.
    uint first_row = ((region.y0 >> 3) & ~(STEPS - 1u)) + (group_y * (8u >> wide) + (row >> wide)) * STEPS;
    p.x = column * 64u + gob_x * 16u;
    p.y = first_row * 8u + gob_y;
    if (p.x >= region.x1 || p.x + 16u <= region.x0) {
        return false;
    }

    uint height = region.block_height, depth = region.block_depth;
    uint base = layer * region.layer + (z >> depth) * region.block_slice
        + ((z & ((1u << depth) - 1u)) << (height + 5u)) + (column << (height + depth + 5u)) + piece;
    for (uint i = 0; i < STEPS; i++) {
        uint gob_row = first_row + i;
        p.from[i] = base + (gob_row >> height) * region.block_row + ((gob_row & ((1u << height) - 1u)) << 5);
    }
    p.storage = Pieces(region.storage);
    p.linear = Pieces(region.linear);
    // May wrap for rows above the region, which are not copied.
    p.to = layer * region.linear_layer + (z - region.z0) * region.linear_slice + (p.y - region.y0) * region.linear_row
        + (p.x >> 4) - (region.x0 >> 4);
    p.to_step = 8u * region.linear_row;
    return true;
}

bool inside(Copy region, Plan p, uint i) {
    uint y = p.y + 8u * i;
    return y >= region.y0 && y < region.y1;
}
