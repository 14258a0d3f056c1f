/* What the guest programs share: a device with a queue and a window, memory, programs, tiled textures, frames.
 *
 * A guest calls guest_start once, makes its resources out of the heaps, and then per frame guest_begin,
 * records into the command buffer that it gives, and guest_end. Everything goes through nvn.h, as in a program for
 * the console; whatever NVN refuses ends the program with one line on standard error and exit code 1.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stddef.h>
#include <stdint.h>

#include <nvn.h>

#define GUEST_FRAMES_IN_FLIGHT 2
#define GUEST_MAX_WINDOW_TEXTURES 4
#define GUEST_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- Shaders: machine code and control sections, built into the program ---- */

#ifndef SHADER_DIR
#error "define SHADER_DIR as the folder of the .control and .code files (tests/corpus/bin)"
#endif

/* One stage: the control section stays in CPU memory, the code goes into a pool of shader code. */
typedef struct GuestShader {
    const uint8_t* control;
    const uint8_t* code;
    const uint8_t* code_end;
} GuestShader;

#ifdef __APPLE__
#define GUEST_SYMBOL "_"
#define GUEST_READ_ONLY ".section __TEXT,__const\n"
#define GUEST_TEXT ".text\n"
#else
#define GUEST_SYMBOL ""
#define GUEST_READ_ONLY ".pushsection .rodata\n"
#define GUEST_TEXT ".popsection\n"
#endif

/* Brings NAME.control and NAME.code into the program, as guest_shader_NAME. */
#define GUEST_SHADER(name)                                                                            \
    __asm__(GUEST_READ_ONLY ".balign 256\n" GUEST_SYMBOL "guest_control_" #name ":\n"                 \
            ".incbin \"" SHADER_DIR "/" #name ".control\"\n"                                          \
            ".balign 256\n" GUEST_SYMBOL "guest_code_" #name ":\n"                                    \
            ".incbin \"" SHADER_DIR "/" #name ".code\"\n" GUEST_SYMBOL "guest_code_end_" #name ":\n"  \
            ".byte 0\n.balign 16\n" GUEST_TEXT);                                                      \
    extern const uint8_t guest_control_##name[], guest_code_##name[], guest_code_end_##name[];        \
    static const GuestShader guest_shader_##name = {guest_control_##name, guest_code_##name,          \
                                                    guest_code_end_##name}

/* ---- Small things ---- */

/* Prints "PROGRAM: message" to standard error and ends the program with code 1. */
_Noreturn void guest_fail(const char* format, ...);
/* Ends the program unless NVN said true. */
#define guest_check(call) ((call) ? (void)0 : guest_fail("%s answered false", #call))

/* The window's size: NAVIN_SIZE as WxH, else 1280x720. */
void guest_size(int* width, int* height);
/* The number of frames: argv[1] if there is one, else `frames`. Notes the program's name for guest_fail. */
int guest_frames(int argc, char** argv, int frames);

/* A deterministic stream of 32-bit numbers. */
typedef struct GuestRandom {
    uint32_t state;
} GuestRandom;
uint32_t guest_random(GuestRandom* random);
/* In [0, 1). */
float guest_random_unit(GuestRandom* random);
/* Mixes two numbers; equal numbers give equal results. */
uint32_t guest_hash(uint32_t x, uint32_t y);

/* ---- Memory: pools over 4 KB pages, given out in order ---- */

typedef struct GuestHeap {
    NVNmemoryPool pool;
    uint8_t* cpu;         /* the storage, NULL for pools without CPU access */
    NVNbufferAddress gpu; /* its GPU address */
    size_t size;
    size_t used;
} GuestHeap;

typedef struct GuestSpan {
    uint8_t* cpu;
    NVNbufferAddress gpu;
    ptrdiff_t offset; /* in the heap's pool */
    size_t size;
} GuestSpan;

/* Makes a pool of `size` bytes (rounded up to whole pages) with `flags` (NVNmemoryPoolFlags). */
void guest_heap(GuestHeap* heap, NVNdevice* device, size_t size, int flags);
void guest_heap_end(GuestHeap* heap);
GuestSpan guest_alloc(GuestHeap* heap, size_t size, size_t alignment);

/* ---- Textures ---- */

/* Puts one level into storage order: width x height elements (texels, or blocks of a compressed format) of
 * `bytes` bytes go from rows in `source` to GOBs of 64 bytes by 8 rows in `target`, `gobs` of them on top of each
 * other making a block. */
void guest_tile(uint8_t* target, const uint8_t* source, int width, int height, int bytes, int gobs);

/* How a 2D texture lies in memory. */
typedef struct GuestLevel {
    size_t offset, size;
    int width, height; /* in elements */
    int gobs;          /* block height */
} GuestLevel;
/* Fills `levels` for a texture of width x height elements of `bytes` bytes; returns its size. `texels` is the
 * side of an element in texels (1, or 4 for block-compressed formats); width and height are in texels. */
size_t guest_levels(GuestLevel* levels, int count, int width, int height, int texels, int bytes);

/* Makes a 2D texture in `heap` from `levels` pictures in rows, tiled here by the CPU. */
typedef struct GuestPicture {
    NVNformat format;
    int width, height; /* texels of level 0 */
    int texels, bytes; /* side of an element in texels, bytes of an element */
    int levels;
    const NVNtextureSwizzle* swizzle; /* four, or NULL */
    const uint8_t* const* data;       /* one for each level */
} GuestPicture;
size_t guest_picture_size(const GuestPicture* picture);
/* `storage` has the picture's size and is aligned to 512. */
void guest_texture_at(NVNtexture* texture, NVNdevice* device, GuestHeap* heap, GuestSpan storage,
                      const GuestPicture* picture);
void guest_texture(NVNtexture* texture, NVNdevice* device, GuestHeap* heap, const GuestPicture* picture);

/* The pools of descriptors: ids from 256 on are the program's, those before are the driver's. */
typedef struct GuestDescriptors {
    NVNtexturePool textures;
    NVNsamplerPool samplers;
    int first_texture, first_sampler;
} GuestDescriptors;
void guest_descriptors(GuestDescriptors* descriptors, NVNdevice* device, GuestHeap* heap, int textures,
                       int samplers);

/* ---- Device, queue, window, frames ---- */

typedef struct GuestOptions {
    NVNwindowOriginMode origin;
    NVNdepthMode depth_mode;
    int window_textures; /* 2 to 4 */
    NVNboolean depth;    /* with a depth buffer */
    int frames;          /* unless argv[1] says otherwise */
    size_t data_size;    /* bytes of the heap `data` */
    size_t command_size; /* bytes of command memory of a frame */
} GuestOptions;

typedef struct Guest {
    NVNdevice device;
    NVNqueue queue;
    int width, height, frames;

    GuestHeap code;   /* shader code */
    GuestHeap data;   /* what CPU and GPU share */
    GuestHeap target; /* what only the GPU touches */

    NVNwindow window;
    NVNtexture color[GUEST_MAX_WINDOW_TEXTURES];
    NVNtexture depth;
    int window_textures;
    NVNboolean has_depth;
    NVNsync acquired;

    struct {
        NVNcommandBuffer commands;
        GuestSpan command_memory;
        void* control_memory;
        NVNsync done;
    } slot[GUEST_FRAMES_IN_FLIGHT];
    GuestHeap command;
    size_t command_size;

    int frame;   /* number of the current frame */
    int current; /* index of its window texture */
} Guest;

/* Makes everything above. `guest` must stay where it is. */
void guest_start(Guest* guest, int argc, char** argv, const GuestOptions* options);
/* Waits for the GPU and finalizes everything above. */
void guest_end_all(Guest* guest);

/* A program of `count` stages. */
void guest_program(Guest* guest, NVNprogram* program, int count, const GuestShader* stages);

/* The frame's slot: 0 or 1. Whatever the slot's last frame used is free again after guest_begin. */
int guest_slot(const Guest* guest);
/* Begins frame `frame`: waits until its slot is free, acquires a window texture, makes it and the depth buffer
 * the render targets, with viewport and scissor over the whole. */
NVNcommandBuffer* guest_begin(Guest* guest, int frame);
/* Submits and presents. */
void guest_end(Guest* guest);
/* Binds default states with blending, culling and depth test as said. */
typedef enum GuestBlend { GUEST_OPAQUE, GUEST_ADD, GUEST_PREMULTIPLIED } GuestBlend;
void guest_states(NVNcommandBuffer* commands, GuestBlend blend, NVNface cull, NVNboolean depth_test,
                  NVNboolean depth_write);

/* ---- Matrices, column-major, as GLSL has them ---- */

typedef struct GuestMatrix {
    float m[16];
} GuestMatrix;
GuestMatrix guest_identity(void);
GuestMatrix guest_multiply(const GuestMatrix* a, const GuestMatrix* b);
GuestMatrix guest_translation(float x, float y, float z);
GuestMatrix guest_scaling(float x, float y, float z);
/* Around the axis 0 (x), 1 (y) or 2 (z), counterclockwise seen from its tip, in radians. */
GuestMatrix guest_rotation(int axis, float angle);
/* Looks from `eye` to `at`, y up. */
GuestMatrix guest_look(const float eye[3], const float at[3]);
/* Perspective with the field of view's half tangent `slope` up and down. Depth goes from 0 or, where
 * `minus_w`, from -1, to 1. */
GuestMatrix guest_perspective(float slope, float aspect, float near_plane, float far_plane, int minus_w);

#endif
