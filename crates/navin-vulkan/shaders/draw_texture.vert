#version 460

// A rectangle of a texture on a rectangle of the target (src/encoder/draw_texture.rs): four corners of a strip.

layout(set = 1, binding = 0) uniform Place {
    vec4 to;   // clip space: left, low, right, high
    vec4 from; // texture coordinates, likewise
    uint handle;
} place;

layout(location = 0) out vec2 at;
layout(location = 1) flat out uint handle;

void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(mix(place.to.xy, place.to.zw, corner), 0.0, 1.0);
    at = mix(place.from.xy, place.from.zw, corner);
    handle = place.handle;
}
