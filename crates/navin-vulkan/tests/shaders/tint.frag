#version 460
layout(set = 5, binding = 3) uniform Tint { vec4 tint; };
layout(location = 0) out vec4 color;
void main() { color = tint; }
