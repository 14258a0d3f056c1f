#version 460
layout(local_size_x = 64) in;
layout(set = 1, binding = 3) uniform Add { uint add; };
layout(set = 1, binding = 18) buffer Words { uint words[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < words.length()) words[i] = i * 3u + add;
}
