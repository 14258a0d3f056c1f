/* memory: a wall of 32 textures in one sparse pool of 1 GB, whose pages come, go and change under them.
 *
 * Each texture has 16 pages of 4 KB; a page is a rectangle of 16 by 64 texels, so the wall is 512 rectangles. There are
 * two walls, drawn in turn: while the GPU is with the one of the frame before, a dozen pages of the other are mapped to
 * other pages of physical pools, or to nothing, which shows black, and now and then the CPU writes a new colour into a
 * physical page, by plain stores and without a word to NVN. Each wall has two physical pools, one in memory of
 * navin_alloc, one in the program's own. Vertices and material lie in a second sparse pool: the GPU copies the ones
 * into it, the CPU writes the other through the address that nvnMemoryPoolMap gave, and the pages behind both are
 * others every 16 frames. Every hundredth frame the walls change places. Window origin lower left, depth near is zero.
 */
#include <stdlib.h>
#include <string.h>

#include <navin.h>

#include "common/guest.h"

GUEST_SHADER(aux_vs_std);
GUEST_SHADER(fs_alpha_test);

enum {
    FRAMES = 2000,
    ACROSS = 8,
    DOWN = 4,
    TILES = ACROSS * DOWN,
    SIDE = 128, /* texels */
    PAGE = 4096,
    PAGES = SIDE * SIDE * 4 / PAGE, /* of a texture */
    WALLS = 2,
    APART = 16 << 20, /* bytes from one texture to the next */
    POOLS = 2,        /* of a wall */
    POOL_PAGES = 64,
    CHANGES = 12,        /* a frame */
    MATERIAL = PAGE / 2, /* of a page of buffers: vertices before it */
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

static Guest guest;
static NVNmemoryPool wall;
static NVNmemoryPool buffers; /* a page for each wall */
static NVNtexture textures[WALLS][TILES];
static struct {
    NVNmemoryPool pool;
    uint8_t* memory;
} physical[WALLS * POOLS + 1]; /* the last one is behind the buffers */

static void make_pool(NVNmemoryPool* pool, void* memory, size_t size, int flags)
{
    NVNmemoryPoolBuilder builder;
    nvnMemoryPoolBuilderSetDefaults(&builder);
    nvnMemoryPoolBuilderSetDevice(&builder, &guest.device);
    nvnMemoryPoolBuilderSetFlags(&builder, flags);
    nvnMemoryPoolBuilderSetStorage(&builder, memory, size);
    guest_check(nvnMemoryPoolInitialize(pool, &builder));
}

/* Fills a physical page with the colour that it has from frame `since` on. */
static void paint(int page, int since)
{
    uint32_t color = guest_hash((uint32_t)page, 1000 + (uint32_t)since) | 0xff000000u;
    uint8_t* at = physical[page / POOL_PAGES].memory + page % POOL_PAGES * PAGE;
    for (int i = 0; i < PAGE; i += 4)
        memcpy(at + i, &color, 4);
}

/* The wall of a frame. */
static int side_of(int frame)
{
    return (frame + frame / 100) % WALLS;
}

/* What changes before frame `frame` is drawn; the GPU is through with the last one of this wall. */
static void change(int frame)
{
    int side = side_of(frame), own = side * POOLS * POOL_PAGES;
    if (frame % 10 == 5 || frame % 10 == 8)
        paint(own + (int)(guest_hash((uint32_t)frame, 99) % (POOLS * POOL_PAGES)), frame);
    if (frame % 16 < WALLS) {
        NVNmappingRequest request;
        memset(&request, 0, sizeof(request));
        request.physicalPool = &physical[WALLS * POOLS].pool;
        request.physicalOffset = (ptrdiff_t)(guest_hash((uint32_t)frame, 17) % (POOL_PAGES / 2) * 2 + side) * PAGE;
        request.virtualOffset = (ptrdiff_t)side * PAGE;
        request.size = PAGE;
        guest_check(nvnMemoryPoolMapVirtual(&buffers, 1, &request));
    }
    NVNmappingRequest requests[CHANGES];
    memset(requests, 0, sizeof(requests));
    for (int i = 0; i < CHANGES; ++i) {
        uint32_t random = guest_hash((uint32_t)(frame * CHANGES + i), 7);
        int place = (int)(random % (TILES * PAGES));
        int page = own + (int)(random >> 12 & (POOLS * POOL_PAGES - 1));
        requests[i].virtualOffset = (ptrdiff_t)(side * TILES + place / PAGES) * APART + place % PAGES * PAGE;
        requests[i].size = PAGE;
        if (random >> 28 < 4)
            continue; /* to nothing */
        requests[i].physicalPool = &physical[page / POOL_PAGES].pool;
        requests[i].physicalOffset = page % POOL_PAGES * PAGE;
    }
    guest_check(nvnMemoryPoolMapVirtual(&wall, CHANGES, requests));
}

int main(int argc, char** argv)
{
    const GuestOptions options = {NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT, NVN_DEPTH_MODE_NEAR_IS_ZERO, 2, NVN_FALSE,
                                  FRAMES, 1 << 20, 1 << 16};
    guest_start(&guest, argc, argv, &options);
    NVNprogram program;
    const GuestShader stages[] = {guest_shader_aux_vs_std, guest_shader_fs_alpha_test};
    guest_program(&guest, &program, 2, stages);

    /* The textures exist before anything is mapped. */
    make_pool(&wall, NULL, (size_t)WALLS * TILES * APART,
              NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS | NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                  NVN_MEMORY_POOL_FLAGS_VIRTUAL);
    make_pool(&buffers, NULL, 1 << 16,
              NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                  NVN_MEMORY_POOL_FLAGS_VIRTUAL);
    uint8_t* mapped = nvnMemoryPoolMap(&buffers);
    NVNbufferAddress bound = nvnMemoryPoolGetBufferAddress(&buffers);
    if (mapped == NULL || bound == 0)
        guest_fail("a sparse pool has no address");
    GuestDescriptors descriptors;
    guest_descriptors(&descriptors, &guest.device, &guest.data, WALLS * TILES, 1);
    for (int i = 0; i < WALLS * TILES; ++i) {
        NVNtexture* texture = &textures[i / TILES][i % TILES];
        NVNtextureBuilder builder;
        nvnTextureBuilderSetDefaults(&builder);
        nvnTextureBuilderSetDevice(&builder, &guest.device);
        nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
        nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetSize2D(&builder, SIDE, SIDE);
        nvnTextureBuilderSetStorage(&builder, &wall, (ptrdiff_t)i * APART);
        if (nvnTextureBuilderGetStorageSize(&builder) != SIDE * SIDE * 4)
            guest_fail("a texture takes %zu bytes", nvnTextureBuilderGetStorageSize(&builder));
        guest_check(nvnTextureInitialize(texture, &builder));
        nvnTexturePoolRegisterTexture(&descriptors.textures, descriptors.first_texture + i, texture, NULL);
    }
    for (int i = 0; i <= WALLS * POOLS; ++i) {
        void* memory = i % 2 == 0 ? navin_alloc(POOL_PAGES * PAGE, PAGE) : aligned_alloc(PAGE, POOL_PAGES * PAGE);
        if (memory == NULL)
            guest_fail("no memory");
        physical[i].memory = memory;
        make_pool(&physical[i].pool, memory, POOL_PAGES * PAGE,
                  NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                      NVN_MEMORY_POOL_FLAGS_PHYSICAL);
    }
    for (int i = 0; i < WALLS * POOLS * POOL_PAGES; ++i)
        paint(i, 0);

    NVNsamplerBuilder builder;
    nvnSamplerBuilderSetDefaults(&builder);
    nvnSamplerBuilderSetDevice(&builder, &guest.device);
    nvnSamplerBuilderSetMinMagFilter(&builder, NVN_MIN_FILTER_NEAREST, NVN_MAG_FILTER_NEAREST);
    nvnSamplerBuilderSetWrapMode(&builder, NVN_WRAP_MODE_CLAMP_TO_EDGE, NVN_WRAP_MODE_CLAMP_TO_EDGE,
                                 NVN_WRAP_MODE_CLAMP_TO_EDGE);
    NVNsampler sampler;
    guest_check(nvnSamplerInitialize(&sampler, &builder));
    nvnSamplerPoolRegisterSampler(&descriptors.samplers, descriptors.first_sampler, &sampler);

    GuestSpan vertices = guest_alloc(&guest.data, TILES * 4 * sizeof(Vertex), 256);
    for (int i = 0; i < TILES * 4; ++i) {
        float u = (float)(i % 2), v = (float)(i / 2 % 2); /* from the texture's first row down */
        float x = (float)(i / 4 % ACROSS) + u, y = (float)(i / 4 / ACROSS) + v;
        Vertex vertex = {{x * 2 / ACROSS - 1, 1 - y * 2 / DOWN}, {u, v}};
        memcpy(vertices.cpu + (size_t)i * sizeof(Vertex), &vertex, sizeof(vertex));
    }
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

    for (int frame = 0; frame < guest.frames; ++frame) {
        int side = side_of(frame);
        NVNcommandBuffer* commands = guest_begin(&guest, frame);
        if (frame > 0 && side == side_of(frame - 1))
            nvnQueueFinish(&guest.queue);
        change(frame);
        static const Material plain = {{1, 1, 1, 1}, 0};
        memcpy(mapped + side * PAGE + MATERIAL, &plain, sizeof(plain));
        NVNbufferAddress at = bound + (NVNbufferAddress)side * PAGE;
        nvnCommandBufferCopyBufferToBuffer(commands, vertices.gpu, at, vertices.size, NVN_COPY_FLAGS_NONE);
        nvnCommandBufferBarrier(commands, NVN_BARRIER_ORDER_PRIMITIVES_BIT | NVN_BARRIER_INVALIDATE_SHADER_BIT);
        guest_states(commands, GUEST_OPAQUE, NVN_FACE_NONE, NVN_FALSE, NVN_FALSE);
        nvnCommandBufferSetTexturePool(commands, &descriptors.textures);
        nvnCommandBufferSetSamplerPool(commands, &descriptors.samplers);
        nvnCommandBufferBarrier(commands, NVN_BARRIER_INVALIDATE_TEXTURE_BIT);
        nvnCommandBufferBindProgram(commands, &program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        nvnCommandBufferBindVertexAttribState(commands, 7, attributes);
        nvnCommandBufferBindVertexStreamState(commands, 1, &stream);
        nvnCommandBufferBindVertexBuffer(commands, 0, at, vertices.size);
        nvnCommandBufferBindUniformBuffer(commands, NVN_SHADER_STAGE_FRAGMENT, 0, at + MATERIAL, sizeof(Material));
        for (int i = 0; i < TILES; ++i) {
            nvnCommandBufferBindTexture(commands, NVN_SHADER_STAGE_FRAGMENT, 1,
                                        nvnDeviceGetTextureHandle(
                                            &guest.device, descriptors.first_texture + side * TILES + i,
                                            descriptors.first_sampler));
            nvnCommandBufferDrawArrays(commands, NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, i * 4, 4);
        }
        guest_end(&guest);
    }

    nvnQueueFinish(&guest.queue);
    for (int i = 0; i < WALLS * TILES; ++i)
        nvnTextureFinalize(&textures[i / TILES][i % TILES]);
    nvnMemoryPoolFinalize(&buffers);
    nvnMemoryPoolFinalize(&wall);
    for (int i = 0; i <= WALLS * POOLS; ++i) {
        nvnMemoryPoolFinalize(&physical[i].pool);
        if (i % 2 == 0)
            navin_free(physical[i].memory);
        else
            free(physical[i].memory);
    }
    nvnProgramFinalize(&program);
    nvnSamplerPoolFinalize(&descriptors.samplers);
    nvnTexturePoolFinalize(&descriptors.textures);
    nvnSamplerFinalize(&sampler);
    guest_end_all(&guest);
    return 0;
}
