#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

// Evaluates a render condition: compares the values of two 16-byte reports (src/encoder/condition.rs).

layout(local_size_x = 1) in;

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Reports { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Predicate { uint draw; };

layout(set = 1, binding = 0, std140) uniform Condition {
    uvec2 reports;
    uvec2 predicate;
    uint equal; // 1: draw if they are equal, 0: if not
} condition;

void main() {
    Reports reports = Reports(condition.reports);
    bool equal = reports.at[0] == reports.at[4] && reports.at[1] == reports.at[5];
    Predicate(condition.predicate).draw = equal == (condition.equal != 0) ? 1 : 0;
}
