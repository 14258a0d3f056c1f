#version 460
#extension GL_ARB_shader_viewport_layer_array : require
// A triangle that covers the viewport, one layer an instance.
void main() {
    vec2 corner = vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1);
    gl_Position = vec4(corner, 0.0, 1.0);
    gl_Layer = gl_InstanceIndex;
}
