#version 460
#extension GL_EXT_shader_image_load_formatted : require
#extension GL_EXT_samplerless_texture_functions : require
// Typed and raw storage images at slot 1, a texel buffer at texture slot 2, nothing at slot 3.
layout(local_size_x = 1) in;
layout(set = 0, binding = 4) uniform texture2D textures_2d[16384];
layout(set = 0, binding = 11) uniform textureBuffer textures_buffer[16384];
layout(set = 0, binding = 15) uniform writeonly image2D typed_2d[4096];
layout(set = 0, binding = 25) uniform uimage2D raw_2d[4096];
layout(set = 1, binding = 18) buffer Words { vec4 words[]; };
void main() {
    imageStore(typed_2d[1], ivec2(0, 0), vec4(1.0, 0.5, 0.0, 1.0));
    imageStore(raw_2d[1], ivec2(1, 0), uvec4(0x01020304u));
    words[0] = texelFetch(textures_buffer[2], 1);
    words[1] = texelFetch(textures_2d[3], ivec2(0, 0), 0);
    words[2] = texelFetch(textures_2d[0], ivec2(0, 0), 0);
}
