#version 450
// Writes every sample of a 64x64 target with four samples into a buffer, sample after sample.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform usampler2DMS target;
layout(std430, binding = 1) writeonly buffer Out { uvec4 texels[]; };

void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    for (int s = 0; s < 4; ++s)
        texels[(s * 64 + p.y) * 64 + p.x] = texelFetch(target, p, s);
}
