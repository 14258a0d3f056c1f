#version 460

// See draw_texture.vert.

layout(set = 0, binding = 0) readonly buffer TextureIds { uint texture_slots[]; };
layout(set = 0, binding = 1) readonly buffer SamplerIds { uint sampler_slots[]; };
layout(set = 0, binding = 4) uniform texture2D textures_2d[16384];
layout(set = 0, binding = 12) uniform sampler samplers[4096];

layout(location = 0) in vec2 at;
layout(location = 1) flat in uint handle;
layout(location = 0) out vec4 color;

void main() {
    uint texture_slot = texture_slots[handle & 0xfffffu];
    uint sampler_slot = sampler_slots[handle >> 20];
    color = texture(sampler2D(textures_2d[texture_slot], samplers[sampler_slot]), at);
}
