// Set 0 as far as the tests use it.
layout(set = 0, binding = 0) readonly buffer TextureIds { uint texture_slots[]; };
layout(set = 0, binding = 1) readonly buffer SamplerIds { uint sampler_slots[]; };
layout(set = 0, binding = 4) uniform texture2D textures_2d[16384];
layout(set = 0, binding = 11) uniform textureBuffer textures_buffer[16384];
layout(set = 0, binding = 12) uniform sampler samplers[4096];

vec4 sample_2d(uint handle, vec2 at) {
    uint texture_slot = texture_slots[handle & 0xfffffu];
    uint sampler_slot = sampler_slots[handle >> 20];
    return texture(nonuniformEXT(sampler2D(textures_2d[texture_slot], samplers[sampler_slot])), at);
}
