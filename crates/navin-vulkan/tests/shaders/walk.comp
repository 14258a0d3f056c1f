#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// Reads a word at each GPU address of slot 0 through the page table and writes it to slot 1.
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Leaf { uvec2 pages[4096]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Word { uint word; };
layout(set = 0, binding = 33) readonly buffer Root { uvec2 leaves[4096]; };
layout(set = 1, binding = 18) readonly buffer Addresses { uvec2 addresses[]; };
layout(set = 1, binding = 19) buffer Words { uint words[]; };
uint add_low(uvec2 address, uint offset, out uint high) {
    uint carry;
    uint low = uaddCarry(address.x, offset, carry);
    high = address.y + carry;
    return low;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec2 gpu = addresses[i];
    uint leaf = ((gpu.y & 0xffu) << 4) | (gpu.x >> 28);
    uvec2 page = Leaf(leaves[leaf]).pages[(gpu.x >> 16) & 0xfffu];
    uint high;
    uint low = add_low(page, gpu.x & 0xffffu, high);
    words[i] = Word(uvec2(low, high)).word;
}
