#version 460
// The clear value, from bank 0 of the fragment stage's set.
layout(set = 5, binding = 0) uniform Value { uvec4 value; };
layout(location = 0) out uvec4 color;
void main() { color = value; }
