#version 460
#extension GL_GOOGLE_include_directive : require

// Rows to block-linear storage. Bytes outside the region stay as they are.

#include "tiling.glsl"

void main() {
    Copy region;
    Plan p;
    if (!plan(region, p)) {
        return;
    }
    uvec4 pieces[STEPS];
    for (uint i = 0; i < STEPS; i++) {
        if (inside(region, p, i)) {
            pieces[i] = p.linear.at[p.to + i * p.to_step];
        }
    }
    if (p.x >= region.x0 && p.x + 16u <= region.x1) {
        for (uint i = 0; i < STEPS; i++) {
            if (inside(region, p, i)) {
                p.storage.at[p.from[i]] = pieces[i];
            }
        }
        return;
    }
    // The region begins or ends in this piece, which no other thread writes.
    uint first = max(region.x0, p.x) - p.x;
    uint last = min(region.x1, p.x + 16u) - p.x;
    uvec4 mask;
    for (uint word = 0; word < 4; word++) {
        uint low = clamp(first, word * 4u, word * 4u + 4u) - word * 4u;
        uint high = clamp(last, word * 4u, word * 4u + 4u) - word * 4u;
        // Bits low * 8 to high * 8; a shift by 32 has no result.
        uint below_high = high == 4u ? 0xFFFFFFFFu : (1u << (8u * high)) - 1u;
        uint below_low = low == 4u ? 0xFFFFFFFFu : (1u << (8u * low)) - 1u;
        mask[word] = below_high & ~below_low;
    }
    for (uint i = 0; i < STEPS; i++) {
        if (inside(region, p, i)) {
            uvec4 old = p.storage.at[p.from[i]];
            p.storage.at[p.from[i]] = (old & ~mask) | (pieces[i] & mask);
        }
    }
}
