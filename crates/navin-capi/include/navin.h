/* navin.h: what libnvn offers beside NVN's own functions (those are in nvn.h). */
#ifndef NAVIN_H
#define NAVIN_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && !defined(NVN_STATIC)
#define NAVIN_API __declspec(dllimport)
#else
#define NAVIN_API
#endif

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The library's version, "major.minor.patch". The string lives as long as the library. */
NAVIN_API const char* navin_version(void);

/* Sets the host address of guest address 0: every guest pointer of a later NVN call is taken relative to it.
 * Call it before the guest's first NVN call. NULL, the initial value, is for a guest in the same address space.
 * A null pointer stays null whatever the base. */
NAVIN_API void navin_set_base(void* base);

/* Says which console the guest was built for: 1, the initial value, or 2 (NVN2: the API revision that
 * nvnDeviceGetInteger answers and the order of bytes in textures). Call it before the guest's nvnDeviceInitialize.
 * Returns 1, or 0 for another number, which changes nothing. The setting `generation` wins over it. */
NAVIN_API int navin_set_generation(uint32_t generation);

/* ---- Guest memory ----
 *
 * Memory pools take any memory. From memory that lies in a memfd Navin makes a second mapping for the GPU, so that
 * GPU writes never meet write protection, and pages of it can appear in the CPU's range of a virtual memory pool.
 * (From other memory virtual pools work on the GPU alone.) Linux only: elsewhere there is no such memory. */

/* `size` bytes at a multiple of `alignment` (a power of two), all 0. NULL when there is none. */
NAVIN_API void* navin_alloc(size_t size, size_t alignment);

/* Takes memory of navin_alloc back; NULL is nothing. Memory in which a memory pool lies goes with the pool. */
NAVIN_API void navin_free(void* memory);

/* For an embedder whose guest memory is a memfd: `size` bytes at `memory` are mapped, shared, from the file `fd` at
 * `offset`; all three are multiples of the page size. From then on pools in it are as good as in memory of
 * navin_alloc. `fd` is duplicated. Mapping and file must stay as they are until navin_unregister_memory and until
 * every pool there is finalized. False when the memory is not what is said. */
NAVIN_API bool navin_register_memory(void* memory, size_t size, int fd, uint64_t offset);

/* Forgets memory of navin_register_memory; false when none that begins there was registered. */
NAVIN_API bool navin_unregister_memory(void* memory);

/* Stops all GPU work, as a system asks of a program that goes to the background: returns when nothing runs on the
 * GPU and nothing will until navin_resume. The guest goes on; what it submits is kept and runs after the resume, in
 * order, and its waits for such work wait. Returns 1, or 0 when work that was already with the GPU had not ended
 * after a few seconds (nothing new begins even then). From any thread, also before the guest's first call. */
NAVIN_API int navin_suspend(void);

/* Ends what navin_suspend began, however often it was called. */
NAVIN_API void navin_resume(void);

/* Textures: where their bytes lie, in and out of the GPU's order, as colours. For tools; no device is opened, nothing
 * else need be called before. Numbers are NVN's own (nvn.h). */

/* What a texture is. */
typedef struct NavinTextureShape {
    int format;          /* NVNformat */
    int target;          /* NVNtextureTarget */
    uint32_t width;      /* texels of level 0 */
    uint32_t height;
    uint32_t depth;      /* slices of a 3D texture */
    uint32_t layers;     /* six for each cube; 1 for targets without layers */
    uint32_t levels;
    uint32_t samples;    /* 1, 2, 4 or 8 */
    uint32_t flags;      /* NVNtextureFlags */
    uint32_t has_layout; /* not 0: layout counts */
    uint64_t stride;     /* row stride of linear storage in bytes, or 0 */
    uint8_t layout[8];   /* NVNpackagedTextureLayout */
} NavinTextureShape;

/* Where a level of each layer is. */
typedef struct NavinTextureLevel {
    uint64_t offset;     /* bytes from the start of the layer */
    uint64_t size;       /* bytes */
    uint64_t row_stride; /* of linear storage in bytes, 0 for blocks */
    uint32_t width;      /* texels */
    uint32_t height;
    uint32_t depth;
    uint32_t columns;    /* blocks of the format (texels of uncompressed ones) */
    uint32_t rows;
    uint32_t bytes_per_block;
    uint32_t block_height; /* GOBs; 0 for linear storage */
    uint32_t block_depth;  /* slices; 0 for linear storage */
} NavinTextureLevel;

typedef struct NavinTextureLayout {
    uint64_t size;       /* bytes of storage, as nvnTextureBuilderGetStorageSize answers */
    uint64_t alignment;
    uint64_t layer_size; /* bytes from layer to layer */
    uint32_t layers;
    uint32_t levels;
    NavinTextureLevel level[16];
} NavinTextureLayout;

/* Each function returns 1, or 0, with nothing written, for what is no texture, level or format and for memory that is
 * too small. */

NAVIN_API int navin_texture_layout(const NavinTextureShape* shape, NavinTextureLayout* layout);

/* A level of one layer between the GPU's order and rows. generation: 1 for NVN (Tegra X1), 2 for NVN2. tiled points at
 * the level's first byte. Pitches are bytes between rows and slices of blocks; 0 is without padding. */
NAVIN_API int navin_texture_untile(const NavinTextureShape* shape, uint32_t generation, uint32_t level,
                                   const void* tiled, size_t tiled_bytes, void* rows, size_t rows_bytes,
                                   size_t row_pitch, size_t slice_pitch);
NAVIN_API int navin_texture_tile(const NavinTextureShape* shape, uint32_t generation, uint32_t level, void* tiled,
                                 size_t tiled_bytes, const void* rows, size_t rows_bytes, size_t row_pitch,
                                 size_t slice_pitch);

/* One slice of rows without padding as RGBA8, width * height * 4 bytes. */
NAVIN_API int navin_texture_decode(int format, uint32_t width, uint32_t height, const void* rows, size_t rows_bytes,
                                   void* rgba8, size_t rgba8_bytes);

#ifdef __cplusplus
}
#endif

#endif /* NAVIN_H */
