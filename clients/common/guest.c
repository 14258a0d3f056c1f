/* See guest.h. */
#include "guest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define CONTROL_SIZE 16384u
/* Longest wait for a frame; a device that does not answer for so long will not answer at all. */
#define PATIENCE_NS (120ull * 1000 * 1000 * 1000)

static const char* program_name = "guest";

void guest_fail(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void guest_size(int* width, int* height)
{
    const char* text = getenv("NAVIN_SIZE");
    *width = 1280;
    *height = 720;
    if (text == NULL || *text == '\0')
        return;
    char after = '\0';
    if (sscanf(text, "%dx%d%c", width, height, &after) != 2 || *width < 16 || *height < 16 || *width > 8192 ||
        *height > 8192)
        guest_fail("NAVIN_SIZE is \"%s\"; it takes WIDTHxHEIGHT from 16x16 to 8192x8192", text);
}

int guest_frames(int argc, char** argv, int frames)
{
    if (argc > 0 && argv[0] != NULL) {
        const char* slash = strrchr(argv[0], '/');
        program_name = slash != NULL ? slash + 1 : argv[0];
    }
    if (argc < 2)
        return frames;
    char* end;
    long number = strtol(argv[1], &end, 10);
    if (argc > 2 || *end != '\0' || end == argv[1] || number < 1 || number > 100000000)
        guest_fail("usage: %s [FRAMES], with 1 to 100000000 frames", program_name);
    return (int)number;
}

uint32_t guest_random(GuestRandom* random)
{
    /* A Weyl sequence through a mixer: any start is good. */
    random->state += 0x9E3779B9u;
    return guest_hash(random->state, 0);
}

float guest_random_unit(GuestRandom* random)
{
    return (float)(guest_random(random) >> 8) / 16777216.0f;
}

uint32_t guest_hash(uint32_t x, uint32_t y)
{
    uint32_t h = x * 0x85EBCA6Bu ^ (y * 0xC2B2AE35u + 0x27D4EB2Fu);
    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    h ^= h >> 12;
    h *= 0x297A2D39u;
    h ^= h >> 15;
    return h;
}

/* ---- Memory ---- */

static size_t round_up(size_t size, size_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

void guest_heap(GuestHeap* heap, NVNdevice* device, size_t size, int flags)
{
    memset(heap, 0, sizeof(*heap));
    heap->size = round_up(size, PAGE);
    heap->cpu = aligned_alloc(PAGE, heap->size);
    if (heap->cpu == NULL)
        guest_fail("no memory for a pool of %zu bytes", heap->size);
    memset(heap->cpu, 0, heap->size);

    NVNmemoryPoolBuilder builder;
    nvnMemoryPoolBuilderSetDefaults(&builder);
    nvnMemoryPoolBuilderSetDevice(&builder, device);
    nvnMemoryPoolBuilderSetFlags(&builder, flags);
    nvnMemoryPoolBuilderSetStorage(&builder, heap->cpu, heap->size);
    guest_check(nvnMemoryPoolInitialize(&heap->pool, &builder));
    heap->gpu = nvnMemoryPoolGetBufferAddress(&heap->pool);
    if ((flags & NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS) == 0 && nvnMemoryPoolMap(&heap->pool) != heap->cpu)
        guest_fail("a pool is mapped elsewhere than its storage");
}

void guest_heap_end(GuestHeap* heap)
{
    nvnMemoryPoolFinalize(&heap->pool);
    free(heap->cpu);
}

GuestSpan guest_alloc(GuestHeap* heap, size_t size, size_t alignment)
{
    size_t offset = round_up(heap->used, alignment);
    if (offset + size > heap->size)
        guest_fail("a heap of %zu bytes has no room for %zu at %zu", heap->size, size, offset);
    heap->used = offset + size;
    return (GuestSpan){heap->cpu + offset, heap->gpu + offset, (ptrdiff_t)offset, size};
}

/* ---- Textures ---- */

/* Where byte x of row y of a level with `across` GOBs a row is. */
static size_t tiled(int x, int y, int across, int gobs)
{
    size_t gob = ((size_t)(y / (8 * gobs)) * across + x / 64) * gobs + y / 8 % gobs;
    int in_gob = (x / 32 % 2) << 8 | (y / 2 % 4) << 6 | (x / 16 % 2) << 5 | (y % 2) << 4 | x % 16;
    return gob * 512 + in_gob;
}

void guest_tile(uint8_t* target, const uint8_t* source, int width, int height, int bytes, int gobs)
{
    int row = width * bytes;
    int across = (row + 63) / 64;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < row; ++x)
            target[tiled(x, y, across, gobs)] = source[(size_t)y * row + x];
    }
}

size_t guest_levels(GuestLevel* levels, int count, int width, int height, int texels, int bytes)
{
    int rows = (height + texels - 1) / texels;
    int asked = rows + rows / 2;
    int gobs = asked >= 128 ? 16 : asked >= 64 ? 8 : asked >= 32 ? 4 : asked >= 16 ? 2 : 1;
    size_t offset = 0;
    for (int level = 0; level < count; ++level) {
        int w = width >> level > 0 ? width >> level : 1;
        int h = height >> level > 0 ? height >> level : 1;
        GuestLevel* at = &levels[level];
        at->width = (w + texels - 1) / texels;
        at->height = (h + texels - 1) / texels;
        /* A level uses smaller blocks while half of one still holds it. */
        while (gobs > 1 && at->height <= gobs / 2 * 8)
            gobs /= 2;
        at->gobs = gobs;
        at->offset = offset;
        at->size = round_up((size_t)at->width * bytes, 64) * round_up(at->height, (size_t)gobs * 8);
        offset += at->size;
    }
    return offset;
}

size_t guest_picture_size(const GuestPicture* picture)
{
    GuestLevel levels[16];
    return guest_levels(levels, picture->levels, picture->width, picture->height, picture->texels, picture->bytes);
}

void guest_texture_at(NVNtexture* texture, NVNdevice* device, GuestHeap* heap, GuestSpan storage,
                      const GuestPicture* picture)
{
    GuestLevel levels[16];
    size_t size =
        guest_levels(levels, picture->levels, picture->width, picture->height, picture->texels, picture->bytes);
    for (int level = 0; level < picture->levels; ++level) {
        const GuestLevel* at = &levels[level];
        guest_tile(storage.cpu + at->offset, picture->data[level], at->width, at->height, picture->bytes, at->gobs);
    }

    NVNtextureBuilder builder;
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetDevice(&builder, device);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(&builder, picture->format);
    nvnTextureBuilderSetSize2D(&builder, picture->width, picture->height);
    nvnTextureBuilderSetLevels(&builder, picture->levels);
    if (picture->swizzle != NULL)
        nvnTextureBuilderSetSwizzle(&builder, picture->swizzle[0], picture->swizzle[1], picture->swizzle[2],
                                    picture->swizzle[3]);
    size_t asked = nvnTextureBuilderGetStorageSize(&builder);
    size_t alignment = nvnTextureBuilderGetStorageAlignment(&builder);
    if (asked != size || storage.size < size)
        guest_fail("a texture of %dx%d, format %d, takes %zu bytes; reckoned %zu", picture->width, picture->height,
                   (int)picture->format, asked, size);
    if (alignment == 0 || (size_t)storage.offset % alignment != 0)
        guest_fail("texture storage at %td is not aligned to %zu", storage.offset, alignment);
    nvnTextureBuilderSetStorage(&builder, &heap->pool, storage.offset);
    guest_check(nvnTextureInitialize(texture, &builder));
}

void guest_texture(NVNtexture* texture, NVNdevice* device, GuestHeap* heap, const GuestPicture* picture)
{
    guest_texture_at(texture, device, heap, guest_alloc(heap, guest_picture_size(picture), 512), picture);
}

void guest_descriptors(GuestDescriptors* descriptors, NVNdevice* device, GuestHeap* heap, int textures,
                       int samplers)
{
    int texture_size = 0, sampler_size = 0;
    nvnDeviceGetInteger(device, NVN_DEVICE_INFO_TEXTURE_DESCRIPTOR_SIZE, &texture_size);
    nvnDeviceGetInteger(device, NVN_DEVICE_INFO_SAMPLER_DESCRIPTOR_SIZE, &sampler_size);
    nvnDeviceGetInteger(device, NVN_DEVICE_INFO_RESERVED_TEXTURE_DESCRIPTORS, &descriptors->first_texture);
    nvnDeviceGetInteger(device, NVN_DEVICE_INFO_RESERVED_SAMPLER_DESCRIPTORS, &descriptors->first_sampler);
    if (texture_size <= 0 || sampler_size <= 0)
        guest_fail("descriptors of %d and %d bytes", texture_size, sampler_size);
    textures += descriptors->first_texture;
    samplers += descriptors->first_sampler;
    GuestSpan span = guest_alloc(heap, (size_t)textures * texture_size, PAGE);
    guest_check(nvnTexturePoolInitialize(&descriptors->textures, &heap->pool, span.offset, textures));
    span = guest_alloc(heap, (size_t)samplers * sampler_size, PAGE);
    guest_check(nvnSamplerPoolInitialize(&descriptors->samplers, &heap->pool, span.offset, samplers));
}

/* ---- Device, queue, window ---- */

static size_t target_size(NVNtextureBuilder* builder, Guest* guest, NVNformat format, int flags)
{
    nvnTextureBuilderSetDefaults(builder);
    nvnTextureBuilderSetDevice(builder, &guest->device);
    nvnTextureBuilderSetTarget(builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(builder, format);
    nvnTextureBuilderSetFlags(builder, flags);
    nvnTextureBuilderSetSize2D(builder, guest->width, guest->height);
    return round_up(nvnTextureBuilderGetStorageSize(builder), nvnTextureBuilderGetStorageAlignment(builder)) +
           nvnTextureBuilderGetStorageAlignment(builder);
}

static void make_target(NVNtexture* texture, Guest* guest, NVNformat format, int flags)
{
    NVNtextureBuilder builder;
    target_size(&builder, guest, format, flags);
    GuestSpan storage = guest_alloc(&guest->target, nvnTextureBuilderGetStorageSize(&builder),
                                    nvnTextureBuilderGetStorageAlignment(&builder));
    nvnTextureBuilderSetStorage(&builder, &guest->target.pool, storage.offset);
    guest_check(nvnTextureInitialize(texture, &builder));
}

static void make_window(Guest* guest)
{
    const int color_flags = NVN_TEXTURE_FLAGS_DISPLAY | NVN_TEXTURE_FLAGS_COMPRESSIBLE;
    const int depth_flags = NVN_TEXTURE_FLAGS_COMPRESSIBLE;
    NVNtextureBuilder builder;
    size_t size = target_size(&builder, guest, NVN_FORMAT_RGBA8, color_flags) * guest->window_textures;
    if (guest->has_depth)
        size += target_size(&builder, guest, NVN_FORMAT_DEPTH32F, depth_flags);
    guest_heap(&guest->target, &guest->device, size,
               NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS | NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                   NVN_MEMORY_POOL_FLAGS_COMPRESSIBLE);

    NVNtexture* textures[GUEST_MAX_WINDOW_TEXTURES];
    for (int i = 0; i < guest->window_textures; ++i) {
        make_target(&guest->color[i], guest, NVN_FORMAT_RGBA8, color_flags);
        textures[i] = &guest->color[i];
    }
    if (guest->has_depth)
        make_target(&guest->depth, guest, NVN_FORMAT_DEPTH32F, depth_flags);

    NVNwindowBuilder window;
    nvnWindowBuilderSetDefaults(&window);
    nvnWindowBuilderSetDevice(&window, &guest->device);
    nvnWindowBuilderSetNativeWindow(&window, NULL);
    nvnWindowBuilderSetTextures(&window, guest->window_textures, textures);
    guest_check(nvnWindowInitialize(&guest->window, &window));
    nvnWindowSetPresentInterval(&guest->window, 1);
}

void guest_start(Guest* guest, int argc, char** argv, const GuestOptions* options)
{
    memset(guest, 0, sizeof(*guest));
    guest->frames = guest_frames(argc, argv, options->frames);
    guest_size(&guest->width, &guest->height);
    guest->window_textures = options->window_textures;
    guest->has_depth = options->depth;

    NVNdeviceBuilder device;
    nvnDeviceBuilderSetDefaults(&device);
    nvnDeviceBuilderSetFlags(&device, 0);
    guest_check(nvnDeviceInitialize(&guest->device, &device));
    nvnDeviceSetWindowOriginMode(&guest->device, options->origin);
    nvnDeviceSetDepthMode(&guest->device, options->depth_mode);

    NVNqueueBuilder queue;
    nvnQueueBuilderSetDefaults(&queue);
    nvnQueueBuilderSetDevice(&queue, &guest->device);
    guest_check(nvnQueueInitialize(&guest->queue, &queue));

    const int shared = NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED;
    guest_heap(&guest->code, &guest->device, 1 << 16, shared | NVN_MEMORY_POOL_FLAGS_SHADER_CODE);
    guest_heap(&guest->data, &guest->device, options->data_size, shared);
    guest->command_size = round_up(options->command_size, PAGE);
    guest_heap(&guest->command, &guest->device, guest->command_size * GUEST_FRAMES_IN_FLIGHT, shared);
    make_window(guest);

    guest_check(nvnSyncInitialize(&guest->acquired, &guest->device));
    for (int i = 0; i < GUEST_FRAMES_IN_FLIGHT; ++i) {
        guest_check(nvnCommandBufferInitialize(&guest->slot[i].commands, &guest->device));
        guest_check(nvnSyncInitialize(&guest->slot[i].done, &guest->device));
        guest->slot[i].command_memory = guest_alloc(&guest->command, guest->command_size, PAGE);
        guest->slot[i].control_memory = aligned_alloc(64, CONTROL_SIZE);
        if (guest->slot[i].control_memory == NULL)
            guest_fail("no memory for control memory");
    }
}

void guest_end_all(Guest* guest)
{
    nvnQueueFinish(&guest->queue);
    for (int i = 0; i < GUEST_FRAMES_IN_FLIGHT; ++i) {
        nvnSyncFinalize(&guest->slot[i].done);
        nvnCommandBufferFinalize(&guest->slot[i].commands);
        free(guest->slot[i].control_memory);
    }
    nvnSyncFinalize(&guest->acquired);
    nvnWindowFinalize(&guest->window);
    for (int i = 0; i < guest->window_textures; ++i)
        nvnTextureFinalize(&guest->color[i]);
    if (guest->has_depth)
        nvnTextureFinalize(&guest->depth);
    guest_heap_end(&guest->command);
    guest_heap_end(&guest->target);
    guest_heap_end(&guest->data);
    guest_heap_end(&guest->code);
    nvnQueueFinalize(&guest->queue);
    nvnDeviceFinalize(&guest->device);
}

void guest_program(Guest* guest, NVNprogram* program, int count, const GuestShader* stages)
{
    /* The GPU fetches ahead of the code that it runs: the pool's last bytes stay unused. */
    int padding = 0;
    nvnDeviceGetInteger(&guest->device, NVN_DEVICE_INFO_SHADER_CODE_MEMORY_POOL_PADDING_SIZE, &padding);
    NVNshaderData data[6];
    for (int i = 0; i < count; ++i) {
        size_t size = (size_t)(stages[i].code_end - stages[i].code);
        GuestSpan code = guest_alloc(&guest->code, size, 256);
        if (guest->code.used + padding > guest->code.size)
            guest_fail("the code heap has no room for its padding");
        memcpy(code.cpu, stages[i].code, size);
        data[i].data = code.gpu;
        data[i].control = stages[i].control;
    }
    guest_check(nvnProgramInitialize(program, &guest->device));
    guest_check(nvnProgramSetShaders(program, count, data));
}

/* ---- Frames ---- */

int guest_slot(const Guest* guest)
{
    return guest->frame % GUEST_FRAMES_IN_FLIGHT;
}

NVNcommandBuffer* guest_begin(Guest* guest, int frame)
{
    guest->frame = frame;
    int slot = guest_slot(guest);
    NVNcommandBuffer* commands = &guest->slot[slot].commands;
    if (frame >= GUEST_FRAMES_IN_FLIGHT) {
        NVNsyncWaitResult result = nvnSyncWait(&guest->slot[slot].done, PATIENCE_NS);
        if (result != NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED && result != NVN_SYNC_WAIT_RESULT_CONDITION_SATISFIED)
            guest_fail("frame %d: waiting for frame %d gave %d", frame, frame - GUEST_FRAMES_IN_FLIGHT, (int)result);
    }
    NVNwindowAcquireTextureResult result =
        nvnWindowAcquireTexture(&guest->window, &guest->acquired, &guest->current);
    if (result != NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS || guest->current < 0 ||
        guest->current >= guest->window_textures)
        guest_fail("frame %d: acquiring a texture gave result %d, texture %d", frame, (int)result, guest->current);
    guest_check(nvnQueueWaitSync(&guest->queue, &guest->acquired));

    nvnCommandBufferAddCommandMemory(commands, &guest->command.pool, guest->slot[slot].command_memory.offset,
                                     guest->command_size);
    nvnCommandBufferAddControlMemory(commands, guest->slot[slot].control_memory, CONTROL_SIZE);
    nvnCommandBufferBeginRecording(commands);

    const NVNtexture* target = &guest->color[guest->current];
    nvnCommandBufferSetRenderTargets(commands, 1, &target, NULL, guest->has_depth ? &guest->depth : NULL, NULL);
    nvnCommandBufferSetViewport(commands, 0, 0, guest->width, guest->height);
    nvnCommandBufferSetDepthRange(commands, 0.0f, 1.0f);
    nvnCommandBufferSetScissor(commands, 0, 0, guest->width, guest->height);
    nvnCommandBufferSetSampleMask(commands, ~0);
    return commands;
}

void guest_end(Guest* guest)
{
    int slot = guest_slot(guest);
    NVNcommandHandle handle = nvnCommandBufferEndRecording(&guest->slot[slot].commands);
    if (handle == 0)
        guest_fail("frame %d: nothing was recorded", guest->frame);
    nvnQueueSubmitCommands(&guest->queue, 1, &handle);
    nvnQueueFenceSync(&guest->queue, &guest->slot[slot].done, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    nvnQueuePresentTexture(&guest->queue, &guest->window, guest->current);
}

void guest_states(NVNcommandBuffer* commands, GuestBlend mode, NVNface cull, NVNboolean depth_test,
                  NVNboolean depth_write)
{
    NVNblendState blend;
    nvnBlendStateSetDefaults(&blend);
    if (mode == GUEST_ADD)
        nvnBlendStateSetBlendFunc(&blend, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE,
                                  NVN_BLEND_FUNC_ONE);
    else if (mode == GUEST_PREMULTIPLIED)
        nvnBlendStateSetBlendFunc(&blend, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE_MINUS_SRC_ALPHA,
                                  NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE_MINUS_SRC_ALPHA);
    nvnBlendStateSetBlendEquation(&blend, NVN_BLEND_EQUATION_ADD, NVN_BLEND_EQUATION_ADD);
    nvnCommandBufferBindBlendState(commands, &blend);

    NVNcolorState color;
    nvnColorStateSetDefaults(&color);
    nvnColorStateSetBlendEnable(&color, 0, mode != GUEST_OPAQUE);
    nvnCommandBufferBindColorState(commands, &color);

    NVNchannelMaskState mask;
    nvnChannelMaskStateSetDefaults(&mask);
    nvnCommandBufferBindChannelMaskState(commands, &mask);

    NVNdepthStencilState depth;
    nvnDepthStencilStateSetDefaults(&depth);
    nvnDepthStencilStateSetDepthTestEnable(&depth, depth_test);
    nvnDepthStencilStateSetDepthWriteEnable(&depth, depth_write);
    nvnDepthStencilStateSetDepthFunc(&depth, NVN_DEPTH_FUNC_LEQUAL);
    nvnCommandBufferBindDepthStencilState(commands, &depth);

    NVNpolygonState polygon;
    nvnPolygonStateSetDefaults(&polygon);
    nvnPolygonStateSetCullFace(&polygon, cull);
    nvnPolygonStateSetFrontFace(&polygon, NVN_FRONT_FACE_CCW);
    nvnCommandBufferBindPolygonState(commands, &polygon);

    NVNmultisampleState multisample;
    nvnMultisampleStateSetDefaults(&multisample);
    nvnCommandBufferBindMultisampleState(commands, &multisample);
}

/* ---- Matrices ---- */

GuestMatrix guest_identity(void)
{
    return guest_scaling(1, 1, 1);
}

GuestMatrix guest_multiply(const GuestMatrix* a, const GuestMatrix* b)
{
    GuestMatrix product;
    for (int column = 0; column < 4; ++column) {
        for (int row = 0; row < 4; ++row) {
            float sum = 0;
            for (int k = 0; k < 4; ++k)
                sum += a->m[k * 4 + row] * b->m[column * 4 + k];
            product.m[column * 4 + row] = sum;
        }
    }
    return product;
}

GuestMatrix guest_translation(float x, float y, float z)
{
    return (GuestMatrix){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1}};
}

GuestMatrix guest_scaling(float x, float y, float z)
{
    return (GuestMatrix){{x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1}};
}

GuestMatrix guest_rotation(int axis, float angle)
{
    GuestMatrix rotation = guest_identity();
    int a = (axis + 1) % 3, b = (axis + 2) % 3;
    float c = cosf(angle), s = sinf(angle);
    rotation.m[a * 4 + a] = c;
    rotation.m[a * 4 + b] = s;
    rotation.m[b * 4 + a] = -s;
    rotation.m[b * 4 + b] = c;
    return rotation;
}

static void normalize(float v[3])
{
    float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; ++i)
        v[i] /= length;
}

static void cross(float result[3], const float a[3], const float b[3])
{
    for (int i = 0; i < 3; ++i)
        result[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

GuestMatrix guest_look(const float eye[3], const float at[3])
{
    const float up[3] = {0, 1, 0};
    float back[3] = {eye[0] - at[0], eye[1] - at[1], eye[2] - at[2]};
    float right[3], above[3];
    normalize(back);
    cross(right, up, back);
    normalize(right);
    cross(above, back, right);
    GuestMatrix turn = guest_identity();
    for (int i = 0; i < 3; ++i) {
        turn.m[i * 4] = right[i];
        turn.m[i * 4 + 1] = above[i];
        turn.m[i * 4 + 2] = back[i];
    }
    GuestMatrix move = guest_translation(-eye[0], -eye[1], -eye[2]);
    return guest_multiply(&turn, &move);
}

GuestMatrix guest_perspective(float slope, float aspect, float near_plane, float far_plane, int minus_w)
{
    GuestMatrix matrix = {{0}};
    float depth = far_plane - near_plane;
    matrix.m[0] = 1 / (slope * aspect);
    matrix.m[5] = 1 / slope;
    matrix.m[10] = minus_w ? -(far_plane + near_plane) / depth : -far_plane / depth;
    matrix.m[11] = -1;
    matrix.m[14] = minus_w ? -2 * far_plane * near_plane / depth : -far_plane * near_plane / depth;
    return matrix;
}
