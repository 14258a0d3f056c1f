/* streaming: a picture of 16 by 16 tiles, each a texture of its own that comes and goes.
 *
 * The 256 places hold textures in four formats (BC1, BC7, RGBA8, R16F), encoded and tiled by the guest when they
 * come. One comes a frame; it stays for 300 frames, is finalized once the GPU is done with it, and a successor in
 * the next format takes its storage and a descriptor id that has been free for longest. Each tile is a draw with
 * a texture bound by handle. After the last frame everything is finalized. Window origin lower left, depth near is
 * zero, four window textures.
 */
#include <math.h>
#include <string.h>

#include "common/guest.h"

GUEST_SHADER(aux_vs_std);
GUEST_SHADER(fs_alpha_test);

enum {
    FRAMES = 600,
    GRID = 16,
    PLACES = GRID * GRID,
    SIDE = 64, /* texels of a tile */
    LIFE = 300,
    REST = 4, /* frames without use before a texture is finalized: more than can be in flight */
    IDS = PLACES + 32,
    GROW = 20, /* frames in which a tile grows to its size */
};

typedef struct Vertex {
    float position[2];
    float uv[2];
} Vertex;
/* The fragment program's block. */
typedef struct Material {
    float tint[4];
    float cutoff;
} Material;

typedef enum Format { BC1, BC7, RGBA8, R16F, FORMATS } Format;

/* A place of the grid and the texture that it holds, if any. */
typedef struct Place {
    NVNtexture texture;
    GuestSpan storage;
    int alive;
    int born; /* frame */
    int id;
    int generation;
} Place;

static Guest guest;
static Place places[PLACES];
static uint8_t order[PLACES]; /* in which places are filled */

/* ---- The picture: mountains at dusk, over a lake ---- */

static float smooth(float low, float high, float x)
{
    float t = (x - low) / (high - low);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

static float noise1(float x, uint32_t seed)
{
    float cell = floorf(x);
    float a = (float)(guest_hash((uint32_t)(int)cell, seed) >> 8) / 16777216.0f;
    float b = (float)(guest_hash((uint32_t)(int)cell + 1, seed) >> 8) / 16777216.0f;
    float t = smooth(0, 1, x - cell);
    return a + (b - a) * t;
}

/* The height of a chain of mountains at x. */
static float ridge(float x, uint32_t seed, float steps)
{
    float height = 0, amplitude = 0.5f;
    for (int i = 0; i < 6; ++i) {
        height += amplitude * noise1(x * steps, seed + (uint32_t)i);
        steps *= 2.1f;
        amplitude *= 0.48f;
    }
    return height;
}

static void mix(float color[3], float r, float g, float b, float t)
{
    color[0] += (r - color[0]) * t;
    color[1] += (g - color[1]) * t;
    color[2] += (b - color[2]) * t;
}

/* x from 0 to 1, y from 0 at the top to 1 at the shore. */
static void land(float color[3], float x, float y)
{
    color[0] = 0.13f;
    color[1] = 0.17f;
    color[2] = 0.38f;
    mix(color, 0.47f, 0.29f, 0.52f, smooth(0.1f, 0.55f, y));
    mix(color, 0.98f, 0.55f, 0.38f, smooth(0.4f, 0.8f, y));
    mix(color, 1.0f, 0.82f, 0.5f, smooth(0.66f, 0.95f, y));
    /* Stars, the sun and its glow, thin clouds. */
    uint32_t star = guest_hash((uint32_t)(x * 300), (uint32_t)(y * 220));
    if (star % 211 == 0)
        mix(color, 1, 1, 1, 0.8f * smooth(0.42f, 0.0f, y));
    float dx = (x - 0.68f) * 1.6f, dy = y - 0.62f, distance = sqrtf(dx * dx + dy * dy);
    mix(color, 1.0f, 0.72f, 0.42f, 0.55f * expf(-distance * 5.0f));
    mix(color, 1.0f, 0.95f, 0.8f, smooth(0.085f, 0.075f, distance));
    float cloud = ridge(x + y * 0.6f, 90, 4) * ridge(y * 3 - x * 0.3f, 70, 5);
    mix(color, 0.98f, 0.6f, 0.58f, 0.6f * smooth(0.26f, 0.46f, cloud) * smooth(0.1f, 0.35f, y));
    /* Five chains, darker towards the front. */
    for (int i = 0; i < 5; ++i) {
        float near = (float)i / 4;
        float height = ridge(x, 11 * (uint32_t)i + 5, 2.5f + 1.4f * (float)i) - 0.35f;
        float top = 0.6f + 0.24f * near - (0.34f - 0.12f * near) * height;
        float inside = smooth(top - 0.002f, top + 0.002f, y);
        float haze = smooth(top, top + 0.34f, y) * (0.55f - 0.35f * near);
        float layer[3] = {0.44f - 0.39f * near, 0.33f - 0.27f * near, 0.5f - 0.38f * near};
        mix(layer, 0.95f, 0.6f, 0.5f, haze);
        mix(color, layer[0], layer[1], layer[2], inside);
    }
}

static void picture(float color[3], float x, float y)
{
    const float shore = 0.74f;
    if (y < shore) {
        land(color, x, y / shore);
        return;
    }
    /* The lake: the land upside down, in waves that grow towards the front, darker. */
    float depth = (y - shore) / (1 - shore);
    float wave = sinf(90 / (0.25f + depth) + 7 * noise1(x * 22 + depth * 60, 40)) * 0.02f * (0.25f + depth);
    float up = 1 - depth * 0.72f + wave;
    land(color, x + wave * 0.25f, up < 0 ? 0 : up > 1 ? 1 : up);
    mix(color, 0.05f, 0.09f, 0.2f, 0.35f + 0.3f * depth);
    mix(color, 1, 0.9f, 0.75f, 0.1f * smooth(0.05f, 0.0f, depth));
}

/* ---- Encoders ---- */

static int to_byte(float value)
{
    value = value < 0 ? 0 : value > 1 ? 1 : value;
    return (int)(value * 255.0f + 0.5f);
}

/* The corners, in RGB, of the range that 16 texels span along their longest extent. */
static void extent(const float texels[16][3], float low[3], float high[3])
{
    float mean[3] = {0, 0, 0}, axis[3] = {0, 0, 0};
    for (int i = 0; i < 16; ++i) {
        for (int c = 0; c < 3; ++c)
            mean[c] += texels[i][c] / 16;
    }
    /* The principal direction by power iteration, started at grey. */
    float covariance[3][3] = {{0}};
    for (int i = 0; i < 16; ++i) {
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b)
                covariance[a][b] += (texels[i][a] - mean[a]) * (texels[i][b] - mean[b]);
        }
    }
    for (int c = 0; c < 3; ++c)
        axis[c] = 0.577f;
    for (int round = 0; round < 8; ++round) {
        float next[3], length = 1e-12f;
        for (int a = 0; a < 3; ++a) {
            next[a] = covariance[a][0] * axis[0] + covariance[a][1] * axis[1] + covariance[a][2] * axis[2];
            length += next[a] * next[a];
        }
        length = sqrtf(length);
        for (int c = 0; c < 3 && length > 1e-5f; ++c)
            axis[c] = next[c] / length;
    }
    float least = 0, most = 0;
    for (int i = 0; i < 16; ++i) {
        float along = 0;
        for (int c = 0; c < 3; ++c)
            along += (texels[i][c] - mean[c]) * axis[c];
        least = along < least ? along : least;
        most = along > most ? along : most;
    }
    for (int c = 0; c < 3; ++c) {
        low[c] = mean[c] + axis[c] * least;
        high[c] = mean[c] + axis[c] * most;
    }
}

static int nearest(const float texel[3], float palette[][3], int count)
{
    int best = 0;
    float least = 1e9f;
    for (int i = 0; i < count; ++i) {
        float error = 0;
        for (int c = 0; c < 3; ++c)
            error += (texel[c] - palette[i][c]) * (texel[c] - palette[i][c]);
        if (error < least) {
            least = error;
            best = i;
        }
    }
    return best;
}

static int pack565(const float color[3])
{
    return (to_byte(color[0]) * 31 + 127) / 255 << 11 | (to_byte(color[1]) * 63 + 127) / 255 << 5 |
           (to_byte(color[2]) * 31 + 127) / 255;
}

static void unpack565(float color[3], int packed)
{
    color[0] = (float)(packed >> 11) / 31;
    color[1] = (float)(packed >> 5 & 63) / 63;
    color[2] = (float)(packed & 31) / 31;
}

/* Two colours of 16 bits, the larger first, and two bits a texel. */
static void encode_bc1(uint8_t block[8], const float texels[16][3])
{
    float low[3], high[3], palette[4][3];
    extent(texels, low, high);
    int first = pack565(high), second = pack565(low);
    if (first < second) {
        int other = first;
        first = second;
        second = other;
    }
    uint32_t indices = 0;
    if (first != second) {
        unpack565(palette[0], first);
        unpack565(palette[1], second);
        for (int c = 0; c < 3; ++c) {
            palette[2][c] = (2 * palette[0][c] + palette[1][c]) / 3;
            palette[3][c] = (palette[0][c] + 2 * palette[1][c]) / 3;
        }
        for (int i = 0; i < 16; ++i)
            indices |= (uint32_t)nearest(texels[i], palette, 4) << 2 * i;
    }
    for (int i = 0; i < 2; ++i) {
        block[i] = (uint8_t)(first >> 8 * i);
        block[2 + i] = (uint8_t)(second >> 8 * i);
    }
    for (int i = 0; i < 4; ++i)
        block[4 + i] = (uint8_t)(indices >> 8 * i);
}

static void put_bits(uint8_t* block, int* at, int count, int value)
{
    for (int i = 0; i < count; ++i, ++*at)
        block[*at / 8] |= (uint8_t)((value >> i & 1) << *at % 8);
}

/* Mode 6: two RGBA colours of 7 bits a channel and one shared lowest bit, four bits a texel. */
static void encode_bc7(uint8_t block[16], const float texels[16][3])
{
    static const int weights[16] = {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};
    float ends[2][3], palette[16][3];
    int values[2][3];
    extent(texels, ends[0], ends[1]);
    /* Alpha is 255, so the lowest bit of every channel is 1. */
    for (int e = 0; e < 2; ++e) {
        for (int c = 0; c < 3; ++c)
            values[e][c] = to_byte(ends[e][c]) >> 1;
    }
    int indices[16];
    for (int turn = 0; turn < 2; ++turn) {
        for (int i = 0; i < 16; ++i) {
            for (int c = 0; c < 3; ++c) {
                int a = values[0][c] << 1 | 1, b = values[1][c] << 1 | 1;
                palette[i][c] = (float)((a * (64 - weights[i]) + b * weights[i] + 32) >> 6) / 255;
            }
        }
        for (int i = 0; i < 16; ++i)
            indices[i] = nearest(texels[i], palette, 16);
        if (indices[0] < 8)
            break;
        /* The first index has three bits only: the ends change places. */
        for (int c = 0; c < 3; ++c) {
            int other = values[0][c];
            values[0][c] = values[1][c];
            values[1][c] = other;
        }
    }
    int at = 0;
    memset(block, 0, 16);
    put_bits(block, &at, 7, 1 << 6);
    for (int c = 0; c < 3; ++c) {
        put_bits(block, &at, 7, values[0][c]);
        put_bits(block, &at, 7, values[1][c]);
    }
    put_bits(block, &at, 7, 127);
    put_bits(block, &at, 7, 127);
    put_bits(block, &at, 1, 1);
    put_bits(block, &at, 1, 1);
    for (int i = 0; i < 16; ++i)
        put_bits(block, &at, i == 0 ? 3 : 4, indices[i] < 8 || i > 0 ? indices[i] : 7);
}

/* A half float of a number from 0 to 1, rounded to nearest. */
static uint16_t half(float value)
{
    if (value < 6.2e-5f)
        return 0;
    int exponent;
    float fraction = frexpf(value, &exponent); /* 0.5 to 1 */
    int mantissa = (int)(fraction * 2048.0f + 0.5f);
    return (uint16_t)(((exponent + 13) << 10) + mantissa);
}

/* ---- Tiles ---- */

typedef struct Kind {
    NVNformat format;
    int texels, bytes;
} Kind;
static const Kind kinds[FORMATS] = {
    [BC1] = {NVN_FORMAT_RGB_DXT1, 4, 8},
    [BC7] = {NVN_FORMAT_BPTC_UNORM, 4, 16},
    [RGBA8] = {NVN_FORMAT_RGBA8, 1, 4},
    [R16F] = {NVN_FORMAT_R16F, 1, 2},
};

static Format format_of(int place, int generation)
{
    return (Format)((guest_hash((uint32_t)place, 77) + (uint32_t)generation) % FORMATS);
}

/* Draws a place's piece of the picture in a format and makes the texture. Mips are left out: a tile is never
 * smaller than half its texels at the default size. */
static void make_tile(Place* place, int number, Format format)
{
    static float colors[SIDE][SIDE][3];
    static uint8_t encoded[SIDE * SIDE * 4];
    for (int y = 0; y < SIDE; ++y) {
        for (int x = 0; x < SIDE; ++x)
            picture(colors[y][x], ((float)(number % GRID * SIDE + x) + 0.5f) / (GRID * SIDE),
                    ((float)(number / GRID * SIDE + y) + 0.5f) / (GRID * SIDE));
    }
    const int bytes = kinds[format].bytes, across = SIDE / kinds[format].texels;
    for (int y = 0; y < across; ++y) {
        for (int x = 0; x < across; ++x) {
            uint8_t* at = encoded + (y * across + x) * bytes;
            float texels[16][3];
            for (int i = 0; kinds[format].texels == 4 && i < 16; ++i)
                memcpy(texels[i], colors[y * 4 + i / 4][x * 4 + i % 4], sizeof(texels[i]));
            const float* c = colors[y % SIDE][x % SIDE];
            uint16_t value;
            switch (format) {
            case BC1:
                encode_bc1(at, texels);
                break;
            case BC7:
                encode_bc7(at, texels);
                break;
            case RGBA8:
                for (int i = 0; i < 3; ++i)
                    at[i] = (uint8_t)to_byte(c[i]);
                at[3] = 255;
                break;
            default:
                value = half(0.3f * c[0] + 0.55f * c[1] + 0.15f * c[2]);
                memcpy(at, &value, 2);
                break;
            }
        }
    }
    static const NVNtextureSwizzle grey[4] = {NVN_TEXTURE_SWIZZLE_R, NVN_TEXTURE_SWIZZLE_R, NVN_TEXTURE_SWIZZLE_R,
                                              NVN_TEXTURE_SWIZZLE_ONE};
    const uint8_t* data[1] = {encoded};
    GuestPicture description = {kinds[format].format, SIDE, SIDE,
                                kinds[format].texels, bytes, 1, format == R16F ? grey : NULL, data};
    guest_texture_at(&place->texture, &guest.device, &guest.data, place->storage, &description);
}

/* Places outwards from the middle, a little shuffled. */
static void make_order(void)
{
    float keys[PLACES];
    for (int i = 0; i < PLACES; ++i) {
        float x = (float)(i % GRID) - 7.5f, y = (float)(i / GRID) - 7.5f;
        keys[i] = sqrtf(x * x + y * y) + (float)(guest_hash((uint32_t)i, 5) & 255) / 90.0f;
        order[i] = (uint8_t)i;
    }
    for (int i = 1; i < PLACES; ++i) {
        for (int k = i; k > 0 && keys[order[k - 1]] > keys[order[k]]; --k) {
            uint8_t other = order[k];
            order[k] = order[k - 1];
            order[k - 1] = other;
        }
    }
}

/* Free descriptor ids, the one freed first in front. */
static struct {
    int ids[IDS];
    int first, count;
} free_ids;

static void free_id(int id)
{
    free_ids.ids[(free_ids.first + free_ids.count++) % IDS] = id;
}

static int take_id(void)
{
    if (free_ids.count == 0)
        guest_fail("no descriptor is free");
    int id = free_ids.ids[free_ids.first];
    free_ids.first = (free_ids.first + 1) % IDS;
    --free_ids.count;
    return id;
}

static float ease(int age)
{
    float t = age >= GROW ? 1.0f : (float)(age + 1) / GROW;
    return 1 - (1 - t) * (1 - t) * (1 - t);
}

/* The corners of a tile that has lived for `age` frames: it grows out of its middle. */
static void write_tile(Vertex* vertices, int number, int age)
{
    float half_size = (0.5f - 0.012f) * ease(age);
    for (int i = 0; i < 4; ++i) {
        float u = (float)(i % 2), v = (float)(i / 2);
        float x = (float)(number % GRID) + 0.5f + (2 * u - 1) * half_size;
        float y = (float)(number / GRID) + 0.5f + (1 - 2 * v) * half_size;
        vertices[i] = (Vertex){{x * 2 / GRID - 1, 1 - y * 2 / GRID}, {u, 1 - v}};
    }
}

int main(int argc, char** argv)
{
    const GuestOptions options = {NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT, NVN_DEPTH_MODE_NEAR_IS_ZERO, 4, NVN_FALSE,
                                  FRAMES, 8 << 20, 1 << 17};
    guest_start(&guest, argc, argv, &options);

    NVNprogram program;
    const GuestShader stages[] = {guest_shader_aux_vs_std, guest_shader_fs_alpha_test};
    guest_program(&guest, &program, 2, stages);

    GuestSpan vertices[GUEST_FRAMES_IN_FLIGHT], materials[GUEST_FRAMES_IN_FLIGHT];
    for (int i = 0; i < GUEST_FRAMES_IN_FLIGHT; ++i) {
        vertices[i] = guest_alloc(&guest.data, PLACES * 4 * sizeof(Vertex), 256);
        materials[i] = guest_alloc(&guest.data, PLACES * 256, 256);
    }
    /* Room for the largest format. */
    for (int i = 0; i < PLACES; ++i)
        places[i].storage = guest_alloc(&guest.data, SIDE * SIDE * 4, 512);
    make_order();

    NVNsamplerBuilder builder;
    nvnSamplerBuilderSetDefaults(&builder);
    nvnSamplerBuilderSetDevice(&builder, &guest.device);
    nvnSamplerBuilderSetMinMagFilter(&builder, NVN_MIN_FILTER_LINEAR, NVN_MAG_FILTER_LINEAR);
    nvnSamplerBuilderSetWrapMode(&builder, NVN_WRAP_MODE_CLAMP_TO_EDGE, NVN_WRAP_MODE_CLAMP_TO_EDGE,
                                 NVN_WRAP_MODE_CLAMP_TO_EDGE);
    NVNsampler sampler;
    guest_check(nvnSamplerInitialize(&sampler, &builder));
    GuestDescriptors descriptors;
    guest_descriptors(&descriptors, &guest.device, &guest.data, IDS, 1);
    nvnSamplerPoolRegisterSampler(&descriptors.samplers, descriptors.first_sampler, &sampler);
    for (int i = 0; i < IDS; ++i)
        free_id(descriptors.first_texture + i);

    /* Attributes that the fragment program does not read come from the same stream. */
    static const NVNformat formats[7] = {NVN_FORMAT_RG32F, NVN_FORMAT_RG32F, NVN_FORMAT_RG32F, NVN_FORMAT_RG32F,
                                         NVN_FORMAT_RG32F, NVN_FORMAT_RG32I, NVN_FORMAT_RG32UI};
    NVNvertexAttribState attributes[7];
    NVNvertexStreamState stream;
    for (int i = 0; i < 7; ++i) {
        nvnVertexAttribStateSetDefaults(&attributes[i]);
        nvnVertexAttribStateSetFormat(&attributes[i], formats[i],
                                      i == 0 ? offsetof(Vertex, position) : offsetof(Vertex, uv));
    }
    nvnVertexStreamStateSetDefaults(&stream);
    nvnVertexStreamStateSetStride(&stream, sizeof(Vertex));

    int created = 0, finalized = 0;
    for (int frame = 0; frame < guest.frames; ++frame) {
        NVNcommandBuffer* commands = guest_begin(&guest, frame);
        int slot = guest_slot(&guest);

        /* Who has rested goes; then the place is free for the next generation. */
        for (int i = 0; i < PLACES; ++i) {
            Place* place = &places[i];
            if (place->alive && frame >= place->born + LIFE + REST) {
                nvnTextureFinalize(&place->texture);
                free_id(place->id);
                place->alive = 0;
                ++place->generation;
                ++finalized;
            }
        }
        /* In the first round one a frame; later whoever has lost its texture. */
        for (int i = 0; i < PLACES && i <= frame; ++i) {
            Place* place = &places[order[i]];
            if (place->alive)
                continue;
            make_tile(place, order[i], format_of(order[i], place->generation));
            place->id = take_id();
            place->born = frame;
            place->alive = 1;
            nvnTexturePoolRegisterTexture(&descriptors.textures, place->id, &place->texture, NULL);
            ++created;
        }

        const float backdrop[4] = {0.05f, 0.055f, 0.075f, 1.0f};
        nvnCommandBufferClearColor(commands, 0, backdrop, NVN_CLEAR_COLOR_MASK_RGBA);
        guest_states(commands, GUEST_OPAQUE, NVN_FACE_BACK, NVN_FALSE, NVN_FALSE);
        nvnCommandBufferSetTexturePool(commands, &descriptors.textures);
        nvnCommandBufferSetSamplerPool(commands, &descriptors.samplers);
        nvnCommandBufferBarrier(commands, NVN_BARRIER_INVALIDATE_TEXTURE_BIT |
                                              NVN_BARRIER_INVALIDATE_TEXTURE_DESCRIPTOR_BIT);
        nvnCommandBufferBindProgram(commands, &program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        nvnCommandBufferBindVertexAttribState(commands, 7, attributes);
        nvnCommandBufferBindVertexStreamState(commands, 1, &stream);
        nvnCommandBufferBindVertexBuffer(commands, 0, vertices[slot].gpu, vertices[slot].size);
        for (int i = 0; i < PLACES; ++i) {
            const Place* place = &places[i];
            int age = frame - place->born;
            if (!place->alive || age >= LIFE)
                continue;
            write_tile((Vertex*)(void*)vertices[slot].cpu + i * 4, i, age);
            /* Tiles flash as they come; grey ones are tinted. */
            int grey = format_of(i, place->generation) == R16F;
            float flash = 1 + 0.7f * (1 - ease(age));
            Material material = {{flash, flash, flash, 1}, 0};
            static const float tint[3] = {0.95f, 0.9f, 1.12f};
            for (int c = 0; grey && c < 3; ++c)
                material.tint[c] *= tint[c];
            memcpy(materials[slot].cpu + i * 256, &material, sizeof(material));
            nvnCommandBufferBindUniformBuffer(commands, NVN_SHADER_STAGE_FRAGMENT, 0, materials[slot].gpu + i * 256,
                                              sizeof(material));
            nvnCommandBufferBindTexture(
                commands, NVN_SHADER_STAGE_FRAGMENT, 1,
                nvnDeviceGetTextureHandle(&guest.device, place->id, descriptors.first_sampler));
            nvnCommandBufferDrawArrays(commands, NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, i * 4, 4);
        }
        guest_end(&guest);
    }

    nvnQueueFinish(&guest.queue);
    for (int i = 0; i < PLACES; ++i) {
        if (places[i].alive) {
            nvnTextureFinalize(&places[i].texture);
            ++finalized;
        }
    }
    if (created != finalized)
        guest_fail("%d textures were created and %d finalized", created, finalized);
    nvnProgramFinalize(&program);
    nvnSamplerPoolFinalize(&descriptors.samplers);
    nvnTexturePoolFinalize(&descriptors.textures);
    nvnSamplerFinalize(&sampler);
    guest_end_all(&guest);
    return 0;
}
