#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_nonuniform_qualifier : require
#include "tables.glsl"
// Bank 2 holds a handle, bank 4 a tint.
layout(set = 5, binding = 2) uniform Handles { uvec4 handles; };
layout(set = 5, binding = 4) uniform Tint { vec4 tint; };
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 color;
void main() { color = sample_2d(handles.x, at) * tint; }
