#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

// Adds up query results and writes counters: one task a thread (src/encoder/count.rs). 64-bit values are pairs of
// words, the low one first, so that no device needs 64-bit integers.

layout(local_size_x = 64) in;

struct Task {
    uvec2 to;    // device address
    uint range;  // its first range
    uint ranges; // number of ranges
    uint sum;    // which running sum to begin with, NONE for 0
    uint stamp;  // which timestamp result, NONE for the fallback
    uint kind;   // what is written: SUM, REPORT or ZEROS
    uint unused;
};

const uint NONE = 0xFFFFFFFFu;
const uint SUM = 0;    // 8 bytes
const uint REPORT = 1; // 8 bytes and the time
const uint ZEROS = 2;  // 16 bytes of zeros

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Tasks { Task at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Ranges { uvec4 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Words { uvec2 at[]; };

layout(set = 1, binding = 0, std140) uniform Fold {
    uvec2 tasks;
    uvec2 ranges;
    uvec2 results;
    uvec2 sums;
    uvec2 epoch;  // device ticks at the clock's base
    uvec2 mask;   // valid bits of device ticks
    uvec2 factor; // guest ticks in a device tick, 32.32
    uvec2 base;   // guest ticks at the epoch
    uvec2 now;    // the time of a device without timestamps, guest ticks
    uint count;
} fold;

uvec2 add(uvec2 a, uvec2 b) {
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

uvec2 subtract(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

// The middle 64 bits of the 128-bit product: a times the 32.32 number b.
uvec2 scale(uvec2 a, uvec2 b) {
    uint high, low;
    umulExtended(a.x, b.x, high, low);
    uvec2 result = uvec2(high, 0);
    umulExtended(a.x, b.y, high, low);
    result = add(result, uvec2(low, high));
    umulExtended(a.y, b.x, high, low);
    result = add(result, uvec2(low, high));
    return uvec2(result.x, result.y + a.y * b.y);
}

void main() {
    if (gl_GlobalInvocationID.x >= fold.count) {
        return;
    }
    Task task = Tasks(fold.tasks).at[gl_GlobalInvocationID.x];
    uvec2 sum = task.sum == NONE ? uvec2(0) : Words(fold.sums).at[task.sum];
    for (uint range = task.range; range < task.range + task.ranges; range++) {
        uvec4 part = Ranges(fold.ranges).at[range]; // first, number, stride
        for (uint n = 0; n < part.y; n++) {
            sum = add(sum, Words(fold.results).at[part.x + n * part.z]);
        }
    }
    Words to = Words(task.to);
    if (task.kind == ZEROS) {
        to.at[0] = uvec2(0);
        to.at[1] = uvec2(0);
        return;
    }
    to.at[0] = sum;
    if (task.kind == REPORT) {
        uvec2 time = fold.now;
        if (task.stamp != NONE) {
            uvec2 ticks = Words(fold.results).at[task.stamp];
            ticks = subtract(ticks, fold.epoch) & fold.mask;
            time = add(scale(ticks, fold.factor), fold.base);
        }
        to.at[1] = time;
    }
}
