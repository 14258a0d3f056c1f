#version 460
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color_in;
layout(location = 0) out vec4 color;
void main() {
    color = color_in;
    gl_Position = vec4(position, 0.25, 1.0);
}
