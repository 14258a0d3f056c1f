#version 460
// A strip of four corners; bank 3 scales and moves it.
layout(set = 1, binding = 3) uniform Place { vec4 scale_offset; };
layout(location = 0) out vec2 at;
void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    at = corner;
    gl_Position = vec4((corner * 2.0 - 1.0) * scale_offset.xy + scale_offset.zw, 0.5, 1.0);
}
