#version 460
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 color_in[];
layout(location = 0) out vec4 color;
void main() {
    for (int i = 0; i < 3; i++) {
        gl_Position = gl_in[i].gl_Position * vec4(0.5, 0.5, 1.0, 1.0);
        color = color_in[i].bgra;
        EmitVertex();
    }
    EndPrimitive();
}
