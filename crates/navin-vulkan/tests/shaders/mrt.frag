#version 460
layout(location = 0) out vec4 first;
layout(location = 1) out uvec4 second;
void main() {
    first = vec4(0.0, 1.0, 0.0, 0.5);
    second = uvec4(7, 8, 9, 10);
}
