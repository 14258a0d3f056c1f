/* cube: boxes on a platform, textured, lit by face, with an alpha-tested grating to look through.
 *
 * Indexed draws with 16-bit indices and a base vertex, a depth buffer, mipmapped block-linear textures through
 * texture and sampler pools, uniform buffers that the CPU writes anew each frame into one of two slots while the
 * GPU still reads the other. Window origin upper left, depth near is zero.
 */
#include <math.h>
#include <string.h>

#include "common/guest.h"

GUEST_SHADER(vs_transform);
GUEST_SHADER(fs_alpha_test);

enum { FRAMES = 300, SIDE = 256, LEVELS = 9, FACES = 6, MAX_DRAWS = 40 };

typedef struct Vertex {
    float position[3];
    float uv[2];
} Vertex;

/* The uniform blocks of the programs. The texture coordinate goes through the world matrix, as the program was
 * written for normals: so the world matrix is the identity and the whole transform is in `view_projection`. */
typedef struct Camera {
    GuestMatrix view_projection, world;
    float eye[4];
} Camera;
typedef struct Material {
    float tint[4];
    float cutoff;
} Material;

typedef struct Box {
    float center[3], half[3];
    float turn[2];  /* turns around y and x in the whole run */
    float phase[2]; /* where they start, in turns */
    float bob;      /* height of its bobbing */
    float color[3];
    int fine;  /* with the finer texture coordinates */
    int holes; /* the grating: drawn from inside first */
} Box;

static const Box boxes[] = {
    {{0, -1.25f, 0}, {2.6f, 0.15f, 2.6f}, {0, 0}, {0.05f, 0}, 0, {0.46f, 0.52f, 0.66f}, 1, 0},
    {{-1.15f, -0.1f, 0.55f}, {0.62f, 0.62f, 0.62f}, {1, 1}, {0.06f, 0.05f}, 0.08f, {0.98f, 0.44f, 0.34f}, 0, 0},
    {{0.35f, 0.15f, -1.2f}, {0.7f, 0.7f, 0.7f}, {-1, 1}, {0.3f, 0.1f}, 0.1f, {0.28f, 0.74f, 0.72f}, 0, 0},
    {{1.2f, -0.2f, 0.75f}, {0.6f, 0.6f, 0.6f}, {1, -1}, {0.1f, 0.06f}, 0.06f, {1.0f, 0.8f, 0.36f}, 0, 1},
};

static Guest guest;

/* ---- Pictures ---- */

static float noise(int x, int y)
{
    return (float)(guest_hash((uint32_t)x, (uint32_t)y) & 0xFF) / 255.0f - 0.5f;
}

static uint8_t byte(float value)
{
    value = value < 0 ? 0 : value > 1 ? 1 : value;
    return (uint8_t)(value * 255.0f + 0.5f);
}

/* Four bevelled tiles, light and dark. */
static void tile_texel(uint8_t* texel, int x, int y)
{
    int tx = x & 127, ty = y & 127;
    int left = tx < 127 - tx ? tx : 127 - tx, top = ty < 127 - ty ? ty : 127 - ty;
    int edge = left < top ? left : top;
    int dark = ((x >> 7) + (y >> 7)) & 1;
    float value = (dark ? 0.66f : 0.94f) + 0.05f * noise(x, y) + 0.07f * noise(x >> 3, y >> 3);
    if (edge < 4)
        value = 0.3f;
    else if (edge < 10)
        value *= (left < top ? tx < 64 : ty < 64) ? 1.08f : 0.72f;
    texel[0] = byte(value);
    texel[1] = byte(value * 0.985f);
    texel[2] = byte(value * 0.96f);
    texel[3] = 255;
}

/* A plate with round holes, whose alpha is 0. */
static void grating_texel(uint8_t* texel, int x, int y)
{
    float dx = (float)((x & 63) - 32) + 0.5f, dy = (float)((y & 63) - 32) + 0.5f;
    float distance = sqrtf(dx * dx + dy * dy);
    float value = 0.78f + 0.06f * noise(x, y) + 0.06f * noise(x >> 2, y >> 5);
    if (distance < 27)
        value = dy < 0 ? 0.98f : 0.55f;
    texel[0] = texel[1] = texel[2] = byte(value);
    texel[3] = distance < 22 ? 0 : 255;
}

/* A square picture with all its levels, each the average of the one before. */
static void make_texture(NVNtexture* texture, void (*texel)(uint8_t*, int, int))
{
    static uint8_t memory[SIDE * SIDE * 4 * 2];
    const uint8_t* data[LEVELS];
    uint8_t* level = memory;
    for (int y = 0; y < SIDE; ++y) {
        for (int x = 0; x < SIDE; ++x)
            texel(level + (y * SIDE + x) * 4, x, y);
    }
    data[0] = level;
    for (int i = 1, side = SIDE / 2; i < LEVELS; ++i, side /= 2) {
        const uint8_t* from = level;
        level += side * side * 16;
        for (int y = 0; y < side; ++y) {
            for (int x = 0; x < side * 4; ++x) {
                const uint8_t* at = from + (y * side * 8 + x / 4 * 4) * 2 + x % 4;
                level[y * side * 4 + x] = (uint8_t)((at[0] + at[4] + at[side * 8] + at[side * 8 + 4] + 2) / 4);
            }
        }
        data[i] = level;
    }
    GuestPicture picture = {NVN_FORMAT_RGBA8, SIDE, SIDE, 1, 4, LEVELS, NULL, data};
    guest_texture(texture, &guest.device, &guest.data, &picture);
}

/* ---- Shapes ---- */

/* The normal of a face and the directions in which u and v grow, as axis + 3 for its negative. */
static const int face_axes[FACES][3] = {{0, 5, 1}, {3, 2, 1}, {1, 0, 5}, {4, 0, 2}, {2, 0, 1}, {5, 3, 1}};

static float along(int axis, int component)
{
    return axis % 3 != component ? 0.0f : axis < 3 ? 1.0f : -1.0f;
}

/* 24 vertices of a cube of side 2; the picture stands upright: v grows downwards. */
static void write_cube(Vertex* vertices, float repeat)
{
    for (int i = 0; i < FACES * 4; ++i) {
        const int* axes = face_axes[i / 4];
        float u = i % 4 == 1 || i % 4 == 2 ? 1.0f : 0.0f, v = i % 4 < 2 ? 1.0f : 0.0f;
        for (int c = 0; c < 3; ++c)
            vertices[i].position[c] =
                along(axes[0], c) + along(axes[1], c) * (2 * u - 1) - along(axes[2], c) * (2 * v - 1);
        vertices[i].uv[0] = u * repeat;
        vertices[i].uv[1] = v * repeat;
    }
}

static void write_indices(uint16_t* indices)
{
    static const uint16_t corners[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < FACES * 6; ++i)
        indices[i] = (uint16_t)(i / 6 * 4 + corners[i % 6]);
}

static GuestMatrix box_rotation(const Box* box, float time)
{
    const float turn = 6.2831853f;
    GuestMatrix y = guest_rotation(1, turn * (box->turn[0] * time + box->phase[0]));
    GuestMatrix x = guest_rotation(0, turn * (box->turn[1] * time + box->phase[1]));
    return guest_multiply(&y, &x);
}

static GuestMatrix box_transform(const Box* box, const GuestMatrix* rotation, float time)
{
    float rise = box->bob * sinf(6.2831853f * (2 * time + box->phase[0]));
    GuestMatrix move = guest_translation(box->center[0], box->center[1] + rise, box->center[2]);
    GuestMatrix grow = guest_scaling(box->half[0], box->half[1], box->half[2]);
    GuestMatrix turned = guest_multiply(rotation, &grow);
    return guest_multiply(&move, &turned);
}

/* A face's colour: a bluish sky and a warm light from above the right shoulder. */
static Material face_material(const Box* box, const GuestMatrix* rotation, int face, int inside)
{
    static const float sky[3] = {0.36f, 0.41f, 0.5f}, sun[3] = {0.74f, 0.68f, 0.58f};
    static const float light[3] = {0.45f, 0.78f, 0.43f};
    int axis = face_axes[face][0];
    float towards = 0;
    for (int c = 0; c < 3; ++c)
        towards += rotation->m[axis % 3 * 4 + c] * light[c];
    if ((axis >= 3) != inside)
        towards = -towards;
    Material material = {{0, 0, 0, 1}, box->holes ? 1.2f : 0.0f};
    for (int c = 0; c < 3; ++c)
        material.tint[c] =
            box->color[c] * (inside ? 0.6f : 1.0f) * (sky[c] + sun[c] * (towards > 0 ? towards : 0));
    return material;
}

int main(int argc, char** argv)
{
    const GuestOptions options = {NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT, NVN_DEPTH_MODE_NEAR_IS_ZERO, 2, NVN_TRUE,
                                  FRAMES, 2 << 20, 1 << 16};
    guest_start(&guest, argc, argv, &options);

    NVNprogram program;
    const GuestShader stages[] = {guest_shader_vs_transform, guest_shader_fs_alpha_test};
    guest_program(&guest, &program, 2, stages);

    GuestSpan vertices = guest_alloc(&guest.data, 2 * FACES * 4 * sizeof(Vertex), 256);
    GuestSpan indices = guest_alloc(&guest.data, FACES * 6 * sizeof(uint16_t), 256);
    write_cube((Vertex*)(void*)vertices.cpu, 1);
    write_cube((Vertex*)(void*)vertices.cpu + FACES * 4, 3);
    write_indices((uint16_t*)(void*)indices.cpu);
    GuestSpan cameras[GUEST_FRAMES_IN_FLIGHT], materials[GUEST_FRAMES_IN_FLIGHT];
    for (int i = 0; i < GUEST_FRAMES_IN_FLIGHT; ++i) {
        cameras[i] = guest_alloc(&guest.data, GUEST_COUNT(boxes) * 256, 256);
        materials[i] = guest_alloc(&guest.data, MAX_DRAWS * 256, 256);
    }

    NVNtexture tiles, grating;
    make_texture(&tiles, tile_texel);
    make_texture(&grating, grating_texel);
    NVNsampler sampler;
    NVNsamplerBuilder builder;
    nvnSamplerBuilderSetDefaults(&builder);
    nvnSamplerBuilderSetDevice(&builder, &guest.device);
    nvnSamplerBuilderSetMinMagFilter(&builder, NVN_MIN_FILTER_LINEAR_MIPMAP_LINEAR, NVN_MAG_FILTER_LINEAR);
    nvnSamplerBuilderSetWrapMode(&builder, NVN_WRAP_MODE_REPEAT, NVN_WRAP_MODE_REPEAT, NVN_WRAP_MODE_REPEAT);
    guest_check(nvnSamplerInitialize(&sampler, &builder));
    GuestDescriptors descriptors;
    guest_descriptors(&descriptors, &guest.device, &guest.data, 2, 1);
    int first = descriptors.first_texture, sampler_id = descriptors.first_sampler;
    nvnTexturePoolRegisterTexture(&descriptors.textures, first, &tiles, NULL);
    nvnTexturePoolRegisterTexture(&descriptors.textures, first + 1, &grating, NULL);
    nvnSamplerPoolRegisterSampler(&descriptors.samplers, sampler_id, &sampler);
    const NVNtextureHandle handles[2] = {nvnDeviceGetTextureHandle(&guest.device, first, sampler_id),
                                         nvnDeviceGetTextureHandle(&guest.device, first + 1, sampler_id)};

    NVNvertexAttribState attributes[2];
    NVNvertexStreamState stream;
    for (int i = 0; i < 2; ++i)
        nvnVertexAttribStateSetDefaults(&attributes[i]);
    nvnVertexAttribStateSetFormat(&attributes[0], NVN_FORMAT_RGB32F, offsetof(Vertex, position));
    nvnVertexAttribStateSetFormat(&attributes[1], NVN_FORMAT_RG32F, offsetof(Vertex, uv));
    nvnVertexStreamStateSetDefaults(&stream);
    nvnVertexStreamStateSetStride(&stream, sizeof(Vertex));

    const float eye[3] = {1.9f, 2.3f, 4.4f}, at[3] = {0.05f, -0.25f, 0};
    GuestMatrix look = guest_look(eye, at);
    GuestMatrix lens = guest_perspective(0.47f, (float)guest.width / (float)guest.height, 0.5f, 20.0f, 0);
    GuestMatrix view = guest_multiply(&lens, &look);

    for (int frame = 0; frame < guest.frames; ++frame) {
        NVNcommandBuffer* commands = guest_begin(&guest, frame);
        int slot = guest_slot(&guest);
        float time = (float)frame / FRAMES;

        const float backdrop[4] = {0.086f, 0.102f, 0.145f, 1.0f};
        nvnCommandBufferClearColor(commands, 0, backdrop, NVN_CLEAR_COLOR_MASK_RGBA);
        nvnCommandBufferClearDepthStencil(commands, 1.0f, NVN_TRUE, 0, 0);
        nvnCommandBufferSetTexturePool(commands, &descriptors.textures);
        nvnCommandBufferSetSamplerPool(commands, &descriptors.samplers);
        nvnCommandBufferBindProgram(commands, &program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        nvnCommandBufferBindVertexAttribState(commands, 2, attributes);
        nvnCommandBufferBindVertexStreamState(commands, 1, &stream);
        nvnCommandBufferBindVertexBuffer(commands, 0, vertices.gpu, vertices.size);

        int draws = 0;
        for (int b = 0; b < GUEST_COUNT(boxes); ++b) {
            const Box* box = &boxes[b];
            GuestMatrix rotation = box_rotation(box, time);
            GuestMatrix transform = box_transform(box, &rotation, time);
            Camera camera = {guest_multiply(&view, &transform), guest_identity(), {0, 0, 0, 0}};
            memcpy(cameras[slot].cpu + b * 256, &camera, sizeof(camera));
            nvnCommandBufferBindUniformBuffer(commands, NVN_SHADER_STAGE_VERTEX, 0, cameras[slot].gpu + b * 256,
                                              sizeof(camera));
            nvnCommandBufferBindTexture(commands, NVN_SHADER_STAGE_FRAGMENT, 1, handles[box->holes]);
            for (int inside = box->holes; inside >= 0; --inside) {
                guest_states(commands, GUEST_OPAQUE, inside ? NVN_FACE_FRONT : NVN_FACE_BACK, NVN_TRUE, NVN_TRUE);
                for (int face = 0; face < FACES; ++face, ++draws) {
                    if (draws == MAX_DRAWS)
                        guest_fail("more than %d draws", MAX_DRAWS);
                    Material material = face_material(box, &rotation, face, inside);
                    memcpy(materials[slot].cpu + draws * 256, &material, sizeof(material));
                    nvnCommandBufferBindUniformBuffer(commands, NVN_SHADER_STAGE_FRAGMENT, 0,
                                                      materials[slot].gpu + draws * 256, sizeof(material));
                    nvnCommandBufferDrawElementsBaseVertex(commands, NVN_DRAW_PRIMITIVE_TRIANGLES,
                                                           NVN_INDEX_TYPE_UNSIGNED_SHORT, 6,
                                                           indices.gpu + face * 12, box->fine ? FACES * 4 : 0);
                }
            }
        }
        guest_end(&guest);
    }

    nvnQueueFinish(&guest.queue);
    nvnProgramFinalize(&program);
    nvnSamplerPoolFinalize(&descriptors.samplers);
    nvnTexturePoolFinalize(&descriptors.textures);
    nvnSamplerFinalize(&sampler);
    nvnTextureFinalize(&grating);
    nvnTextureFinalize(&tiles);
    guest_end_all(&guest);
    return 0;
}
