#version 460
// A triangle that covers the viewport.
void main() {
    vec2 corner = vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1);
    gl_Position = vec4(corner, 0.0, 1.0);
}
