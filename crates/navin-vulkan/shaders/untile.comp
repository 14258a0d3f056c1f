#version 460
#extension GL_GOOGLE_include_directive : require

// Block-linear storage to rows. Pieces that the region covers in part are copied whole: the rows have room for them.

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
            pieces[i] = p.storage.at[p.from[i]];
        }
    }
    for (uint i = 0; i < STEPS; i++) {
        if (inside(region, p, i)) {
            p.linear.at[p.to + i * p.to_step] = pieces[i];
        }
    }
}
