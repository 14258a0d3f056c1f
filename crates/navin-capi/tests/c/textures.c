/* Every texture function of navin.h as a C program calls it. Ends with 0, or names the line that was not as expected. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "navin.h"

#define CHECK(what)                                                                                            \
    do {                                                                                                       \
        if (!(what)) {                                                                                         \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what, navin_texture_error());                      \
            return 1;                                                                                          \
        }                                                                                                      \
    } while (0)

enum { RGBA8 = 37, TARGET_2D = 1, TARGET_3D = 2, TARGET_CUBEMAP = 8, SPARSE = 0x20 };

static NavinTextureShape shape_of(int format, int target, uint32_t width, uint32_t height) {
    NavinTextureShape shape;
    memset(&shape, 0, sizeof shape);
    shape.format = format;
    shape.target = target;
    shape.width = width;
    shape.height = height;
    shape.depth = shape.layers = shape.levels = shape.samples = 1;
    return shape;
}

static int regions(uint32_t generation) {
    NavinTextureShape shape = shape_of(RGBA8, TARGET_2D, 100, 60);
    NavinTextureLayout layout;
    CHECK(navin_texture_layout(&shape, &layout) && layout.levels == 1);
    uint8_t* tiled = calloc(1, layout.size);
    uint32_t* rows = malloc(100 * 60 * 4);
    uint32_t* back = malloc(100 * 60 * 4);
    for (uint32_t i = 0; i < 100 * 60; ++i) rows[i] = i * 2654435761u;
    CHECK(navin_texture_tile(&shape, generation, 0, tiled, layout.size, rows, 100 * 60 * 4, 0, 0));
    CHECK(navin_texture_untile(&shape, generation, 0, tiled, layout.size, back, 100 * 60 * 4, 0, 0));
    CHECK(memcmp(rows, back, 100 * 60 * 4) == 0);

    /* A region in, the same out, and nothing else touched. */
    NavinTextureRegion region = {33, 7, 0, 5, 3, 1};
    uint32_t small[15], seen[15];
    for (uint32_t i = 0; i < 15; ++i) small[i] = 0xABC00000u + i;
    CHECK(navin_texture_tile_region(&shape, generation, 0, &region, tiled, layout.size, small, sizeof small, 0, 0));
    CHECK(navin_texture_untile_region(&shape, generation, 0, &region, tiled, layout.size, seen, sizeof seen, 0, 0));
    CHECK(memcmp(small, seen, sizeof small) == 0);
    CHECK(navin_texture_untile(&shape, generation, 0, tiled, layout.size, back, 100 * 60 * 4, 0, 0));
    for (uint32_t y = 0; y < 60; ++y)
        for (uint32_t x = 0; x < 100; ++x) {
            int inside = x >= 33 && x < 38 && y >= 7 && y < 10;
            CHECK(back[y * 100 + x] == (inside ? small[(y - 7) * 5 + x - 33] : rows[y * 100 + x]));
        }
    region.x = 99;
    CHECK(!navin_texture_untile_region(&shape, generation, 0, &region, tiled, layout.size, seen, sizeof seen, 0, 0));
    CHECK(strstr(navin_texture_error(), "not inside"));

    /* Every fourth texel. */
    CHECK(navin_texture_pick_bytes(&shape, 0, 4) == 25 * 15 * 4);
    CHECK(navin_texture_pick(&shape, generation, 0, 4, tiled, layout.size, back, 100 * 60 * 4));
    CHECK(back[0] == rows[0] && back[1] == rows[4] && back[25] == rows[400]);
    free(tiled);
    free(rows);
    free(back);
    return 0;
}

static int cubes_and_sparse(void) {
    NavinTextureShape cube = shape_of(RGBA8, TARGET_CUBEMAP, 32, 32);
    NavinTextureLayout layout;
    CHECK(navin_texture_layout(&cube, &layout) && layout.layers == 6 && layout.size == 6 * 4096);
    cube.layers = 4;
    CHECK(!navin_texture_layout(&cube, &layout) && strstr(navin_texture_error(), "six"));

    NavinTextureShape shape = shape_of(RGBA8, TARGET_2D, 300, 200);
    NavinTextureSparse sparse;
    CHECK(!navin_texture_sparse(&shape, &sparse) && strstr(navin_texture_error(), "SPARSE"));
    shape.flags = SPARSE;
    shape.levels = 9;
    CHECK(navin_texture_sparse(&shape, &sparse) && navin_texture_layout(&shape, &layout));
    CHECK(sparse.tile_width == 128 && sparse.tile_height == 128 && sparse.tiled_levels == 1);
    CHECK(sparse.tail_offset == layout.level[1].offset && sparse.tail_size == layout.size - sparse.tail_offset);
    /* The level by tiles is the level at once. */
    uint8_t* tiled = malloc(layout.size);
    for (uint64_t i = 0; i < layout.size; ++i) tiled[i] = (uint8_t)(i * 31 + (i >> 9) + (i >> 16) * 5);
    size_t bytes = 300 * 200 * 4;
    uint8_t* once = malloc(bytes);
    uint8_t* tiles = calloc(1, bytes);
    CHECK(navin_texture_untile(&shape, 1, 0, tiled, layout.level[0].size, once, bytes, 0, 0));
    for (uint32_t row = 0; row < 2; ++row)
        for (uint32_t column = 0; column < 3; ++column) {
            size_t at = ((size_t)row * 128 * 300 + column * 128) * 4;
            NavinTextureRegion covers;
            CHECK(navin_texture_untile_sparse_tile(&shape, 1, 0, column, row, 0, tiled + (row * 3 + column) * 65536,
                                                   tiles + at, bytes - at, 300 * 4, 0, &covers));
            CHECK(covers.x == column * 128 && covers.y == row * 128);
            CHECK(covers.width == (column == 2 ? 44 : 128) && covers.height == (row == 1 ? 72 : 128));
        }
    CHECK(memcmp(once, tiles, bytes) == 0);
    CHECK(!navin_texture_untile_sparse_tile(&shape, 1, 0, 3, 0, 0, tiled, tiles, bytes, 0, 0, NULL));
    CHECK(strstr(navin_texture_error(), "3 x 2 x 1"));
    free(tiled);
    free(once);
    free(tiles);
    return 0;
}

static int formats_and_colours(void) {
    NavinTextureFormat info;
    int bc7 = navin_texture_format_named("bc7_srgb");
    CHECK(bc7 > 0 && navin_texture_format(bc7, &info));
    CHECK(strcmp(info.name, "NVN_FORMAT_BPTC_UNORM_SRGB") == 0 && info.srgb);
    CHECK(info.bytes_per_block == 16 && info.block_width == 4 && info.block_height == 4 && info.vk_format == 146);
    CHECK(navin_texture_format(RGBA8, &info) && info.components == 4 && info.vk_format == 37 && !info.srgb);
    CHECK(!navin_texture_format(0, &info) && !navin_texture_format_named("rgba9"));
    CHECK(strstr(navin_texture_error(), "rgba9"));

    uint8_t texel[4] = {255, 0, 51, 102}, eight[4];
    float single[4];
    uint16_t half[4];
    CHECK(navin_texture_decode(RGBA8, 1, 1, texel, 4, eight, 4) && memcmp(texel, eight, 4) == 0);
    CHECK(navin_texture_decode_as(RGBA8, 1, 1, texel, 4, 32, single, sizeof single));
    CHECK(single[0] == 1.0f && single[1] == 0.0f && single[2] == 0.2f && single[3] == 0.4f);
    CHECK(navin_texture_decode_as(RGBA8, 1, 1, texel, 4, 16, half, sizeof half) && half[0] == 0x3C00 && half[1] == 0);
    CHECK(!navin_texture_decode_as(RGBA8, 1, 1, texel, 4, 32, single, 8) && strstr(navin_texture_error(), "8 bytes"));
    CHECK(!navin_texture_decode_as(RGBA8, 1, 1, texel, 4, 12, single, 16));
    CHECK(!navin_texture_decode(RGBA8, 2, 1, texel, 4, eight, 4));
    return 0;
}

static int files(void) {
    /* A DDS of 2 x 2 BGRA8 texels, as DirectX 9 had them. */
    uint32_t dds[32 + 4] = {0x20534444, 124, 0x1007, 2, 2, 0, 0, 1};
    dds[19] = 32;
    dds[20] = 0x41;
    dds[22] = 32;
    dds[23] = 0xFF0000;
    dds[24] = 0xFF00;
    dds[25] = 0xFF;
    dds[26] = 0xFF000000;
    dds[27] = 0x1000;
    for (uint32_t i = 0; i < 4; ++i) dds[32 + i] = 0x11223300u + i;
    NavinTextureFile* file = navin_texture_file_read(dds, sizeof dds, 1);
    CHECK(file && navin_texture_file_count(file) == 1);
    NavinTextureEntry entry;
    CHECK(navin_texture_file_entry(file, 0, &entry));
    CHECK(entry.shape.width == 2 && entry.shape.format == navin_texture_format_named("BGRA8"));
    CHECK(entry.data_bytes == 16 && memcmp(entry.data, dds + 32, 16) == 0 && memcmp(entry.channels, "rgba", 4) == 0);
    CHECK(!navin_texture_file_entry(file, 1, &entry));
    /* As KTX2 and back. */
    size_t size = navin_texture_file_write(file, "ktx2", 1, NULL, 0);
    CHECK(size > 16);
    void* ktx2 = malloc(size);
    CHECK(navin_texture_file_write(file, "ktx2", 1, ktx2, size) == size);
    NavinTextureFile* again = navin_texture_file_read(ktx2, size, 1);
    CHECK(again && navin_texture_file_entry(again, 0, &entry));
    CHECK(entry.data_bytes == 16 && memcmp(entry.data, dds + 32, 16) == 0);
    navin_texture_file_free(again);
    CHECK(navin_texture_file_write(file, "doc", 1, NULL, 0) == 0 && strstr(navin_texture_error(), "doc"));
    navin_texture_file_free(file);
    CHECK(!navin_texture_file_read(dds, 60, 1) && strstr(navin_texture_error(), "offset"));
    CHECK(!navin_texture_file_read(NULL, 0, 1) && navin_texture_file_count(NULL) == 0);
    navin_texture_file_free(NULL);
    return 0;
}

int main(void) {
    return regions(1) || regions(2) || cubes_and_sparse() || formats_and_colours() || files();
}
