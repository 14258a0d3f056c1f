/* ui: an immediate-mode interface: every frame the CPU writes all its quads anew into one vertex stream.
 *
 * Panels are nine-slice pieces of an atlas, text is a distance field that the guest makes of a stroke font, boxes
 * and rings are computed by the fragment program (the corpus's UI program). Quads are drawn with 16-bit indices,
 * premultiplied blending and a scissor a batch. Window origin upper left; coordinates are those of a 1280x720
 * screen.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/guest.h"

GUEST_SHADER(aux_vs_std);
GUEST_SHADER(big_atlas_ui);

enum { FRAMES = 300, MAX_QUADS = 4096, MAX_BATCHES = 64, ATLAS = 512, GLYPHS = 256, CELL = 32, WIDGETS = 8 };

/* The fragment program's block. */
typedef struct Widget {
    float atlas[4];  /* corner and extent; of panels half the extent counts */
    float border[4]; /* x, y: twice the border of a panel; z: boldness of text; w: roundness of boxes */
    float fill[4];
    float accent[4];
} Widget;
typedef struct Widgets {
    Widget widgets[WIDGETS];
    float clock[4]; /* x: how full rings are */
} Widgets;

enum Style { PANEL, TEXT, DIM, BRIGHT, BUTTON, TRACK, RING, TITLE };
enum Kind { KIND_PANEL, KIND_TEXT, KIND_BOX, KIND_RING };

static const Widget styles[WIDGETS] = {
    [PANEL] = {{0, 0, 1, 1}, {0.1f, 0.1f, 0, 0}, {0.62f, 0.7f, 0.92f, 1}, {0, 0, 0, 0}},
    [TEXT] = {{0, 0, 1, 1}, {0, 0, 0.1f, 0}, {0.87f, 0.9f, 0.96f, 1}, {0.87f, 0.9f, 0.96f, 0}},
    [DIM] = {{0, 0, 1, 1}, {0, 0, 0, 0}, {0.5f, 0.57f, 0.7f, 1}, {0.5f, 0.57f, 0.7f, 0}},
    [BRIGHT] = {{0, 0, 1, 1}, {0, 0, 0.15f, 0}, {0.36f, 0.93f, 0.82f, 1}, {0.36f, 0.93f, 0.82f, 0}},
    [BUTTON] = {{0, 0, 1, 1}, {0, 0, 0, 0.6f}, {0.2f, 0.72f, 0.68f, 1}, {0.11f, 0.44f, 0.62f, 1}},
    [TRACK] = {{0, 0, 1, 1}, {0, 0, 0, 0.6f}, {0.13f, 0.16f, 0.24f, 1}, {0.19f, 0.23f, 0.34f, 1}},
    [RING] = {{0, 0, 1, 1}, {0, 0, 0, 0}, {0.98f, 0.62f, 0.3f, 1}, {0.17f, 0.2f, 0.3f, 1}},
    [TITLE] = {{0, 0, 1, 1}, {0, 0, 0.1f, 0}, {1, 1, 1, 1}, {0.36f, 0.93f, 0.82f, 0}},
};

typedef struct Vertex {
    float position[2];
    float uv[2];
    int8_t widget[4]; /* style and kind */
    uint8_t color[4];
} Vertex;

typedef struct Batch {
    int first, count;
    int scissor[4]; /* pixels */
    int block;
} Batch;

static Guest guest;

/* What is being built for the frame. */
static struct {
    Vertex* vertices;
    uint16_t* indices;
    int quads;
    Batch batches[MAX_BATCHES];
    int batch_count;
} ui;

/* ---- Font: strokes on a grid of 4 by 6, two digits a point, a space between strokes ---- */

static const char* const strokes[64] = {
    ['!' - 32] = "2024 26",
    ['#' - 32] = "1016 3036 0242 0444",
    ['%' - 32] = "0640 11 35",
    ['\'' - 32] = "2022",
    ['(' - 32] = "30212536",
    [')' - 32] = "10212516",
    ['*' - 32] = "2125 0244 0442",
    ['+' - 32] = "0343 2125",
    [',' - 32] = "2617",
    ['-' - 32] = "1333",
    ['.' - 32] = "26",
    ['/' - 32] = "0640",
    ['0' - 32] = "103041453616050110 1432",
    ['1' - 32] = "112026 1636",
    ['2' - 32] = "01103041420646",
    ['3' - 32] = "01103041423323 334445361605",
    ['4' - 32] = "300444 3036",
    ['5' - 32] = "400002324345361605",
    ['6' - 32] = "413010010516364544331304",
    ['7' - 32] = "004016",
    ['8' - 32] = "130201103041423313 1304051636454433",
    ['9' - 32] = "051636454130100102133342",
    [':' - 32] = "22 25",
    ['<' - 32] = "311335",
    ['=' - 32] = "0242 0444",
    ['>' - 32] = "113315",
    ['?' - 32] = "01103041422324 26",
    ['A' - 32] = "062046 1434",
    ['B' - 32] = "06003041423303 3344453606",
    ['C' - 32] = "4130100105163645",
    ['D' - 32] = "06003041453606",
    ['E' - 32] = "40000646 0333",
    ['F' - 32] = "400006 0333",
    ['G' - 32] = "41301001051636454323",
    ['H' - 32] = "0006 4046 0343",
    ['I' - 32] = "1030 2026 1636",
    ['J' - 32] = "404536160504",
    ['K' - 32] = "0006 4004 1346",
    ['L' - 32] = "000646",
    ['M' - 32] = "0600234046",
    ['N' - 32] = "06004640",
    ['O' - 32] = "103041453616050110",
    ['P' - 32] = "06003041423303",
    ['Q' - 32] = "103041453616050110 2446",
    ['R' - 32] = "06003041423303 2346",
    ['S' - 32] = "413010010213334445361605",
    ['T' - 32] = "0040 2026",
    ['U' - 32] = "000516364540",
    ['V' - 32] = "002640",
    ['W' - 32] = "0016233640",
    ['X' - 32] = "0046 4006",
    ['Y' - 32] = "002340 2326",
    ['Z' - 32] = "00400646",
    ['_' - 32] = "0646",
};

static float segment_distance(float x, float y, const float a[2], const float b[2])
{
    float dx = b[0] - a[0], dy = b[1] - a[1], length = dx * dx + dy * dy;
    float t = length > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypotf(x - a[0] - t * dx, y - a[1] - t * dy);
}

/* Distance of a place in a cell, in texels, from the glyph's strokes. */
static float glyph_distance(const char* text, float x, float y)
{
    float nearest = 1000;
    float last[2] = {0, 0};
    int joined = 0;
    for (; *text != '\0'; ++text) {
        if (*text == ' ') {
            joined = 0;
            continue;
        }
        float point[2] = {9.0f + 3.5f * (float)(text[0] - '0'), 6.0f + 3.4f * (float)(text[1] - '0')};
        float distance = segment_distance(x, y, joined ? last : point, point);
        nearest = distance < nearest ? distance : nearest;
        memcpy(last, point, sizeof(last));
        joined = 1;
        ++text;
    }
    return nearest;
}

static uint8_t byte(float value)
{
    value = value < 0 ? 0 : value > 1 ? 1 : value;
    return (uint8_t)(value * 255.0f + 0.5f);
}

/* 64 cells: a half at the outline of a stroke, less outside. */
static void draw_glyphs(uint8_t* texels)
{
    for (int y = 0; y < GLYPHS; ++y) {
        for (int x = 0; x < GLYPHS; ++x) {
            const char* text = strokes[y / CELL * 8 + x / CELL];
            float distance = 1000;
            if (text != NULL)
                distance = glyph_distance(text, (float)(x % CELL) + 0.5f, (float)(y % CELL) + 0.5f);
            texels[y * GLYPHS + x] = byte(0.5f + (1.5f - distance) / 20.0f);
        }
    }
}

/* The panel's picture, in the first quarter: a dark body with a fine weave, a bright rim, rounded corners. */
static void draw_atlas(uint8_t* texels)
{
    const int side = ATLAS / 2;
    for (int y = 0; y < ATLAS; ++y) {
        for (int x = 0; x < ATLAS; ++x) {
            uint8_t* texel = texels + (y * ATLAS + x) * 4;
            float px = (float)(x % side) + 0.5f - side * 0.5f, py = (float)(y % side) + 0.5f - side * 0.5f;
            const float half = side * 0.5f - 1.0f, round = 7.0f;
            float qx = fabsf(px) - half + round, qy = fabsf(py) - half + round;
            float outside = hypotf(qx > 0 ? qx : 0, qy > 0 ? qy : 0) + fminf(fmaxf(qx, qy), 0) - round;
            float weave = cosf(px * 6.2831853f * 18 / (side * 0.9f)) * cosf(py * 6.2831853f * 18 / (side * 0.9f));
            float value = 0.135f + 0.012f * weave;
            float rim = 1 - fminf(fabsf(outside + 1.2f) / 1.4f, 1);
            value += rim * 0.2f;
            texel[0] = byte(value * 0.92f);
            texel[1] = byte(value);
            texel[2] = byte(value * 1.2f);
            texel[3] = byte(0.96f * fminf(fmaxf(0.5f - outside, 0), 1));
        }
    }
}

/* ---- Quads ---- */

static void begin_batch(float x, float y, float width, float height, int block)
{
    if (ui.batch_count == MAX_BATCHES)
        guest_fail("more than %d batches", MAX_BATCHES);
    float sx = (float)guest.width / 1280.0f, sy = (float)guest.height / 720.0f;
    int left = (int)floorf(x * sx), top = (int)floorf(y * sy);
    int right = (int)ceilf((x + width) * sx), bottom = (int)ceilf((y + height) * sy);
    right = right < guest.width ? right : guest.width;
    bottom = bottom < guest.height ? bottom : guest.height;
    ui.batches[ui.batch_count++] = (Batch){ui.quads * 6, 0, {left, top, right - left, bottom - top}, block};
}

static void whole_screen(int block)
{
    begin_batch(0, 0, 1280, 720, block);
}

static void quad(float x, float y, float width, float height, const float uv[4], enum Style style, enum Kind kind)
{
    static const uint16_t corners[6] = {0, 1, 2, 0, 2, 3};
    if (ui.quads == MAX_QUADS)
        guest_fail("more than %d quads", MAX_QUADS);
    Vertex* vertex = ui.vertices + ui.quads * 4;
    uint16_t* index = ui.indices + ui.quads * 6;
    for (int i = 0; i < 4; ++i) {
        float right = i == 1 || i == 2 ? 1.0f : 0.0f, top = i >= 2 ? 1.0f : 0.0f;
        vertex[i] = (Vertex){
            {(x + width * right) / 640.0f - 1, 1 - (y + height * (1 - top)) / 360.0f},
            {uv[0] + (uv[2] - uv[0]) * right, uv[3] + (uv[1] - uv[3]) * top},
            {(int8_t)style, (int8_t)kind, 0, 0},
            {255, 255, 255, 255},
        };
    }
    for (int i = 0; i < 6; ++i)
        index[i] = (uint16_t)(ui.quads * 4 + corners[i]);
    ui.quads++;
    ui.batches[ui.batch_count - 1].count += 6;
}

static void piece(float x, float y, float width, float height, enum Style style, enum Kind kind)
{
    static const float all[4] = {0, 0, 1, 1};
    quad(x, y, width, height, all, style, kind);
}

static void panel(float x, float y, float width, float height)
{
    piece(x, y, width, height, PANEL, KIND_PANEL);
}

static float text_width(const char* text, float size)
{
    return (float)strlen(text) * size * 0.66f;
}

/* `size` is the height of a line; the letters take three quarters of it. */
static void text(float x, float y, float size, enum Style style, const char* words)
{
    const float drawn = size * 1.18f; /* of a cell, which has room for the field around the letter */
    for (; *words != '\0'; ++words, x += size * 0.66f) {
        int code = *words - 32;
        if (code <= 0 || code >= 64 || strokes[code] == NULL)
            continue;
        const float cell = (float)CELL / GLYPHS;
        float u = (float)(code % 8) * cell, v = (float)(code / 8) * cell;
        const float uv[4] = {u, v, u + cell, v + cell};
        quad(x - drawn * 0.25f, y - size * 0.09f, drawn, drawn, uv, style, KIND_TEXT);
    }
}

static void centered(float x, float y, float size, enum Style style, const char* words)
{
    text(x - text_width(words, size) * 0.5f, y, size, style, words);
}

/* ---- The screen ---- */

static const char* const titles[] = {
    "TRIANGLE",     "CUBE",           "PARTICLES",   "UI",           "STREAMING",     "SHADOWS",
    "REFLECTIONS",  "TERRAIN",        "SKINNING",    "TILED LIGHTS", "BLOOM",         "DEPTH OF FIELD",
    "WATER",        "OCCLUSION",      "TESSELLATION", "CURVES",      "MULTISAMPLING", "CUBE MAPS",
};
static const char* const log_lines[] = {
    "DEVICE READY, ORIGIN UPPER LEFT",
    "POOL 0: 4 KB PAGES, IMPORTED",
    "PROGRAM 0: VERTEX, 57 INSTRUCTIONS",
    "PROGRAM 0: FRAGMENT, 275 INSTRUCTIONS",
    "TEXTURE 256: R8 256X256, DISTANCE FIELD",
    "TEXTURE 257: RGBA8 512X512, PANELS",
    "SAMPLER 256: LINEAR, CLAMP TO EDGE",
    "WINDOW: 2 TEXTURES, INTERVAL 1",
    "SCISSOR: ONE A BATCH",
    "INDICES: 16 BIT",
    "BLEND: PREMULTIPLIED",
    "FRAME PRESENTED",
};
enum { RINGS = 3 };
static const char* const ring_names[RINGS] = {"GPU", "CPU", "POOLS"};

static float ring_level(int ring, float time)
{
    return 0.55f + 0.38f * sinf(time * (1.1f + 0.5f * (float)ring) + 2.1f * (float)ring);
}

/* How long a frame of the imagined graph took, 0 to 1. */
static float graph(int frame)
{
    float slow = sinf((float)frame * 0.11f) * 0.16f + sinf((float)frame * 0.043f) * 0.14f;
    float spike = guest_hash((uint32_t)frame, 7) % 23 == 0 ? 0.34f : 0;
    return 0.4f + slow + spike + (float)(guest_hash((uint32_t)frame, 3) & 255) / 255.0f * 0.1f;
}

static void top_bar(int frame)
{
    char words[32];
    text(24, 12, 48, TITLE, "NAVIN");
    text(212, 28, 22, DIM, "AN INTERFACE DRAWN IN IMMEDIATE MODE");
    snprintf(words, sizeof(words), "FRAME %04d", frame);
    text(1250 - text_width(words, 26), 26, 26, BRIGHT, words);
}

/* Rows gone by after `rows`: each rests for a while and then goes on quickly. */
static float roll_on(float rows)
{
    float whole = floorf(rows), t = (rows - whole - 0.7f) / 0.3f;
    t = t < 0 ? 0 : t;
    return whole + t * t * (3 - 2 * t);
}

static void title_list(float time)
{
    const float x = 12, y = 78, width = 300, row = 44;
    const int count = GUEST_COUNT(titles);
    panel(x, y, width, 630);
    text(x + 22, y + 16, 26, TEXT, "PROGRAMS");
    /* Rolls on for ever; the row in the middle is the chosen one. */
    begin_batch(x + 12, y + 56, width - 24, 556, 0);
    float roll = roll_on(time * 0.75f);
    int first = (int)floorf(roll);
    piece(x + 16, y + 52 + 6 * row, width - 32, row + 6, BUTTON, KIND_BOX);
    for (int i = -1; i < 14; ++i) {
        int which = (first + i + count) % count;
        float at = y + 60 + ((float)i - (roll - (float)first)) * row;
        float away = fabsf(at - (y + 60 + 6 * row)) / row;
        text(x + 34, at + 3, 24, away < 0.5f ? TEXT : DIM, titles[which]);
    }
    whole_screen(0);
}

static void frame_graph(int frame)
{
    const float x = 324, y = 78, width = 560, height = 330;
    panel(x, y, width, height);
    text(x + 22, y + 16, 26, TEXT, "FRAME TIME");
    char words[32];
    snprintf(words, sizeof(words), "%4.1f MS", 16.7 * (double)graph(frame));
    text(x + width - 20 - text_width(words, 26), y + 16, 26, BRIGHT, words);
    for (int i = 0; i < 3; ++i) {
        static const char* const labels[3] = {"16", "8", "0"};
        text(x + 18, y + 66 + 106 * (float)i, 22, DIM, labels[i]);
    }
    begin_batch(x + 58, y + 60, width - 78, height - 80, 0);
    const int bars = 40;
    for (int i = 0; i < bars; ++i) {
        float value = graph(frame - (bars - 1 - i)), full = height - 92;
        float step = (width - 78) / (float)bars;
        enum Style style = value > 0.75f ? RING : i == bars - 1 ? BUTTON : TRACK;
        piece(x + 58 + step * (float)i, y + height - 20 - full * value, step, full * value, style, KIND_BOX);
    }
    whole_screen(0);
}

static void rings(int block, float time)
{
    const float x = 896, y = 78, width = 372, height = 330;
    panel(x, y, width, height);
    text(x + 22, y + 16, 26, TEXT, "LOAD");
    for (int i = 0; i < RINGS; ++i) {
        static const float places[RINGS][3] = {{14, 44, 206}, {212, 38, 146}, {212, 170, 146}};
        float left = x + places[i][0], top = y + places[i][1], size = places[i][2];
        char words[16];
        whole_screen(block + i);
        piece(left, top, size, size, RING, KIND_RING);
        snprintf(words, sizeof(words), "%d%%", (int)(ring_level(i, time) * 100));
        centered(left + size * 0.5f, top + size * 0.5f - 25, i == 0 ? 32 : 26, TEXT, words);
        centered(left + size * 0.5f, top + size * 0.5f + 6, i == 0 ? 20 : 16, DIM, ring_names[i]);
    }
    whole_screen(0);
    text(x + 24, y + 262, 20, DIM, "32 LANES");
    text(x + 24, y + 290, 20, DIM, "1 QUEUE");
}

static void log_window(float time)
{
    const float x = 324, y = 420, width = 560, height = 288, row = 28;
    const int count = GUEST_COUNT(log_lines);
    panel(x, y, width, height);
    text(x + 22, y + 16, 26, TEXT, "LOG");
    begin_batch(x + 14, y + 54, width - 28, height - 70, 0);
    float roll = roll_on(time * 1.4f);
    int first = (int)floorf(roll);
    for (int i = 0; i < 9; ++i) {
        char words[8];
        float at = y + 56 + ((float)i - (roll - (float)first)) * row;
        snprintf(words, sizeof(words), "%03d", (first + i) % 1000);
        text(x + 22, at, 20, DIM, words);
        text(x + 80, at, 20, i == 7 ? BRIGHT : TEXT, log_lines[(first + i) % count]);
    }
    whole_screen(0);
}

static void controls(float time)
{
    static const char* const names[3] = {"CAPTURE", "REPLAY", "STEP"};
    const float x = 896, y = 420, width = 372, height = 288;
    panel(x, y, width, height);
    text(x + 22, y + 16, 26, TEXT, "CONTROLS");
    int pressed = (int)floorf(time * 0.8f) % 3;
    for (int i = 0; i < 3; ++i) {
        float left = x + 14 + 116 * (float)i;
        piece(left, y + 52, 112, 54, i == pressed ? BUTTON : TRACK, KIND_BOX);
        centered(left + 57, y + 68, 20, i == pressed ? TEXT : DIM, names[i]);
    }
    static const char* const sliders[3] = {"SPEED", "SCALE", "DETAIL"};
    for (int i = 0; i < 3; ++i) {
        float top = y + 122 + 54 * (float)i;
        float value = 0.5f + 0.42f * sinf(time * (0.7f + 0.3f * (float)i) + 1.3f * (float)i);
        text(x + 24, top + 8, 22, DIM, sliders[i]);
        piece(x + 132, top + 11, 220, 18, TRACK, KIND_BOX);
        piece(x + 132, top + 11, 18 + 202 * value, 18, BUTTON, KIND_BOX);
        piece(x + 124 + 202 * value, top + 2, 36, 36, BUTTON, KIND_BOX);
    }
}

static void build(int frame)
{
    float time = (float)frame / 60.0f;
    ui.quads = ui.batch_count = 0;
    whole_screen(0);
    top_bar(frame);
    title_list(time);
    frame_graph(frame);
    rings(1, time);
    log_window(time);
    controls(time);
}

static void make_picture(NVNtexture* texture, NVNformat format, int side, int bytes,
                         const NVNtextureSwizzle* swizzle, void (*draw)(uint8_t*))
{
    static uint8_t texels[ATLAS * ATLAS * 4];
    const uint8_t* data[1] = {texels};
    draw(texels);
    GuestPicture picture = {format, side, side, 1, bytes, 1, swizzle, data};
    guest_texture(texture, &guest.device, &guest.data, &picture);
}

int main(int argc, char** argv)
{
    const GuestOptions options = {NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT, NVN_DEPTH_MODE_NEAR_IS_ZERO, 2, NVN_FALSE,
                                  FRAMES, 4 << 20, 1 << 16};
    guest_start(&guest, argc, argv, &options);

    NVNprogram program;
    const GuestShader stages[] = {guest_shader_aux_vs_std, guest_shader_big_atlas_ui};
    guest_program(&guest, &program, 2, stages);

    GuestSpan vertices[GUEST_FRAMES_IN_FLIGHT], indices[GUEST_FRAMES_IN_FLIGHT], blocks[GUEST_FRAMES_IN_FLIGHT];
    const size_t block_size = (sizeof(Widgets) + 255) / 256 * 256;
    for (int i = 0; i < GUEST_FRAMES_IN_FLIGHT; ++i) {
        vertices[i] = guest_alloc(&guest.data, MAX_QUADS * 4 * sizeof(Vertex), 256);
        indices[i] = guest_alloc(&guest.data, MAX_QUADS * 6 * sizeof(uint16_t), 256);
        blocks[i] = guest_alloc(&guest.data, (1 + RINGS) * block_size, 256);
    }

    /* The distance field has one channel; the program reads it as alpha. */
    static const NVNtextureSwizzle as_alpha[4] = {NVN_TEXTURE_SWIZZLE_ONE, NVN_TEXTURE_SWIZZLE_ONE,
                                                  NVN_TEXTURE_SWIZZLE_ONE, NVN_TEXTURE_SWIZZLE_R};
    NVNtexture atlas, glyphs;
    make_picture(&atlas, NVN_FORMAT_RGBA8, ATLAS, 4, NULL, draw_atlas);
    make_picture(&glyphs, NVN_FORMAT_R8, GLYPHS, 1, as_alpha, draw_glyphs);
    NVNsamplerBuilder builder;
    nvnSamplerBuilderSetDefaults(&builder);
    nvnSamplerBuilderSetDevice(&builder, &guest.device);
    nvnSamplerBuilderSetMinMagFilter(&builder, NVN_MIN_FILTER_LINEAR, NVN_MAG_FILTER_LINEAR);
    nvnSamplerBuilderSetWrapMode(&builder, NVN_WRAP_MODE_CLAMP_TO_EDGE, NVN_WRAP_MODE_CLAMP_TO_EDGE,
                                 NVN_WRAP_MODE_CLAMP_TO_EDGE);
    NVNsampler sampler;
    guest_check(nvnSamplerInitialize(&sampler, &builder));
    GuestDescriptors descriptors;
    guest_descriptors(&descriptors, &guest.device, &guest.data, 2, 1);
    int first = descriptors.first_texture, sampler_id = descriptors.first_sampler;
    nvnTexturePoolRegisterTexture(&descriptors.textures, first, &glyphs, NULL);
    nvnTexturePoolRegisterTexture(&descriptors.textures, first + 1, &atlas, NULL);
    nvnSamplerPoolRegisterSampler(&descriptors.samplers, sampler_id, &sampler);
    const NVNtextureHandle handles[2] = {nvnDeviceGetTextureHandle(&guest.device, first + 1, sampler_id),
                                         nvnDeviceGetTextureHandle(&guest.device, first, sampler_id)};

    /* Attributes 2 to 4 and 6 go to varyings that the fragment program does not read. */
    static const struct {
        NVNformat format;
        ptrdiff_t offset;
    } formats[7] = {
        {NVN_FORMAT_RG32F, offsetof(Vertex, position)}, {NVN_FORMAT_RG32F, offsetof(Vertex, uv)},
        {NVN_FORMAT_RGBA8, offsetof(Vertex, color)},    {NVN_FORMAT_RGBA8, offsetof(Vertex, color)},
        {NVN_FORMAT_RGBA8, offsetof(Vertex, color)},    {NVN_FORMAT_RGBA8I, offsetof(Vertex, widget)},
        {NVN_FORMAT_RGBA8UI, offsetof(Vertex, color)},
    };
    NVNvertexAttribState attributes[7];
    NVNvertexStreamState stream;
    for (int i = 0; i < 7; ++i) {
        nvnVertexAttribStateSetDefaults(&attributes[i]);
        nvnVertexAttribStateSetFormat(&attributes[i], formats[i].format, formats[i].offset);
        nvnVertexAttribStateSetStreamIndex(&attributes[i], 0);
    }
    nvnVertexStreamStateSetDefaults(&stream);
    nvnVertexStreamStateSetStride(&stream, sizeof(Vertex));

    for (int frame = 0; frame < guest.frames; ++frame) {
        NVNcommandBuffer* commands = guest_begin(&guest, frame);
        int slot = guest_slot(&guest);
        ui.vertices = (Vertex*)(void*)vertices[slot].cpu;
        ui.indices = (uint16_t*)(void*)indices[slot].cpu;
        build(frame);
        for (int i = 0; i <= RINGS; ++i) {
            Widgets block = {.clock = {i > 0 ? ring_level(i - 1, (float)frame / 60.0f) : 1, 0, 0, 0}};
            memcpy(block.widgets, styles, sizeof(styles));
            static const float hues[RINGS][3] = {{0.98f, 0.62f, 0.3f}, {0.36f, 0.93f, 0.82f}, {0.72f, 0.56f, 1.0f}};
            if (i > 0)
                memcpy(block.widgets[RING].fill, hues[i - 1], sizeof(hues[0]));
            memcpy(blocks[slot].cpu + i * block_size, &block, sizeof(block));
        }

        const float backdrop[4] = {0.043f, 0.051f, 0.078f, 1.0f};
        nvnCommandBufferClearColor(commands, 0, backdrop, NVN_CLEAR_COLOR_MASK_RGBA);
        guest_states(commands, GUEST_PREMULTIPLIED, NVN_FACE_BACK, NVN_FALSE, NVN_FALSE);
        nvnCommandBufferSetTexturePool(commands, &descriptors.textures);
        nvnCommandBufferSetSamplerPool(commands, &descriptors.samplers);
        nvnCommandBufferBindProgram(commands, &program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        nvnCommandBufferBindVertexAttribState(commands, 7, attributes);
        nvnCommandBufferBindVertexStreamState(commands, 1, &stream);
        nvnCommandBufferBindVertexBuffer(commands, 0, vertices[slot].gpu, vertices[slot].size);
        nvnCommandBufferBindTextures(commands, NVN_SHADER_STAGE_FRAGMENT, 1, 2, handles);
        for (int i = 0; i < ui.batch_count; ++i) {
            const Batch* batch = &ui.batches[i];
            if (batch->count == 0)
                continue;
            nvnCommandBufferSetScissor(commands, batch->scissor[0], batch->scissor[1], batch->scissor[2],
                                       batch->scissor[3]);
            nvnCommandBufferBindUniformBuffer(commands, NVN_SHADER_STAGE_FRAGMENT, 0,
                                              blocks[slot].gpu + batch->block * block_size, sizeof(Widgets));
            nvnCommandBufferDrawElements(commands, NVN_DRAW_PRIMITIVE_TRIANGLES, NVN_INDEX_TYPE_UNSIGNED_SHORT,
                                         batch->count, indices[slot].gpu + batch->first * sizeof(uint16_t));
        }
        guest_end(&guest);
    }

    nvnQueueFinish(&guest.queue);
    nvnProgramFinalize(&program);
    nvnSamplerPoolFinalize(&descriptors.samplers);
    nvnTexturePoolFinalize(&descriptors.textures);
    nvnSamplerFinalize(&sampler);
    nvnTextureFinalize(&glyphs);
    nvnTextureFinalize(&atlas);
    guest_end_all(&guest);
    return 0;
}
