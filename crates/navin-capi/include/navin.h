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
    uint32_t layers;     /* six for each cube (a single cube may say 1); 1 for targets without layers */
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

/* A box of a level in blocks of the format (texels of uncompressed ones, samples of multisampled ones). */
typedef struct NavinTextureRegion {
    uint32_t x, y, z;
    uint32_t width, height, depth;
} NavinTextureRegion;

/* Each function returns 1, or 0, with nothing written, for what is no texture, level or format and for memory that is
 * too small. */

/* Why the last of these functions that answered 0 (or NULL) on this thread did; "" if none has. The string stays until
 * the next such answer on this thread. */
NAVIN_API const char* navin_texture_error(void);

NAVIN_API int navin_texture_layout(const NavinTextureShape* shape, NavinTextureLayout* layout);

/* A level of one layer between the GPU's order and rows. generation: 1 for NVN (Tegra X1), 2 for NVN2. tiled points at
 * the level's first byte. Pitches are bytes between rows and slices of blocks; 0 is without padding. */
NAVIN_API int navin_texture_untile(const NavinTextureShape* shape, uint32_t generation, uint32_t level,
                                   const void* tiled, size_t tiled_bytes, void* rows, size_t rows_bytes,
                                   size_t row_pitch, size_t slice_pitch);
NAVIN_API int navin_texture_tile(const NavinTextureShape* shape, uint32_t generation, uint32_t level, void* tiled,
                                 size_t tiled_bytes, const void* rows, size_t rows_bytes, size_t row_pitch,
                                 size_t slice_pitch);

/* The same for a region; NULL is the whole level. Tiling leaves what is outside the region as it is. */
NAVIN_API int navin_texture_untile_region(const NavinTextureShape* shape, uint32_t generation, uint32_t level,
                                          const NavinTextureRegion* region, const void* tiled, size_t tiled_bytes,
                                          void* rows, size_t rows_bytes, size_t row_pitch, size_t slice_pitch);
NAVIN_API int navin_texture_tile_region(const NavinTextureShape* shape, uint32_t generation, uint32_t level,
                                        const NavinTextureRegion* region, void* tiled, size_t tiled_bytes,
                                        const void* rows, size_t rows_bytes, size_t row_pitch, size_t slice_pitch);

/* Every step-th block each way of a level, as rows without padding: a small stand-in. Its bytes, and itself. */
NAVIN_API uint64_t navin_texture_pick_bytes(const NavinTextureShape* shape, uint32_t level, uint32_t step);
NAVIN_API int navin_texture_pick(const NavinTextureShape* shape, uint32_t generation, uint32_t level, uint32_t step,
                                 const void* tiled, size_t tiled_bytes, void* rows, size_t rows_bytes);

/* What a sparse texture's levels are made of. */
typedef struct NavinTextureSparse {
    uint32_t tile_width; /* texels of a tile of 64 KB */
    uint32_t tile_height;
    uint32_t tile_depth;
    uint32_t tiled_levels; /* those behind are the tail */
    uint64_t tail_offset;  /* bytes from a layer's start */
    uint64_t tail_size;    /* bytes in each layer; 0 where every level is tiled */
} NavinTextureSparse;

NAVIN_API int navin_texture_sparse(const NavinTextureShape* shape, NavinTextureSparse* sparse);

/* One tile of a sparse level out of the GPU's order. tile is its 65,536 bytes, wherever they are; rows is where the
 * tile's first row goes; covers, if not NULL, is told the part of the level that it is. */
NAVIN_API int navin_texture_untile_sparse_tile(const NavinTextureShape* shape, uint32_t generation, uint32_t level,
                                               uint32_t column, uint32_t row, uint32_t slice, const void* tile,
                                               void* rows, size_t rows_bytes, size_t row_pitch, size_t slice_pitch,
                                               NavinTextureRegion* covers);

/* What a format is. */
typedef struct NavinTextureFormat {
    const char* name; /* NVN's; stays as long as the library */
    uint32_t bytes_per_block;
    uint32_t block_width;
    uint32_t block_height;
    uint32_t components;
    int vk_format; /* VkFormat, 0 where Vulkan has none */
    int srgb;      /* 1 for formats on the sRGB curve */
} NavinTextureFormat;

NAVIN_API int navin_texture_format(int format, NavinTextureFormat* info);

/* The NVNformat of a name: NVN's, with or without NVN_FORMAT_, in either case, or BC7_SRGB, ASTC_6x6 and so on. */
NAVIN_API int navin_texture_format_named(const char* name);

/* One slice of rows without padding as RGBA8, width * height * 4 bytes. */
NAVIN_API int navin_texture_decode(int format, uint32_t width, uint32_t height, const void* rows, size_t rows_bytes,
                                   void* rgba8, size_t rgba8_bytes);

/* The same as RGBA of 8 bits a component (pictures: sRGB numbers as they are), of half floats (16) or of single floats
 * (32), which are the values that a shader reads. */
NAVIN_API int navin_texture_decode_as(int format, uint32_t width, uint32_t height, const void* rows, size_t rows_bytes,
                                      uint32_t bits, void* rgba, size_t rgba_bytes);

/* Textures of a file (BNTX, XTX, DDS, KTX2, PNG, EXR). */
typedef struct NavinTextureFile NavinTextureFile;

/* One of them. Pointers stay until the file is freed. */
typedef struct NavinTextureEntry {
    const char* name; /* "" where the file has none */
    NavinTextureShape shape;
    const void* data; /* rows without padding, layer after layer, in each level after level */
    size_t data_bytes;
    char channels[4]; /* what a shader reads as R, G, B and A: 0 1 r g b a; no string */
} NavinTextureEntry;

/* Reads a file that is in memory; generation is the order of block-linear ones. NULL for what is none. */
NAVIN_API NavinTextureFile* navin_texture_file_read(const void* bytes, size_t size, uint32_t generation);
NAVIN_API uint32_t navin_texture_file_count(const NavinTextureFile* file);
NAVIN_API int navin_texture_file_entry(const NavinTextureFile* file, uint32_t index, NavinTextureEntry* entry);

/* The same textures as a file of another kind, which its extension names ("dds"). Returns the bytes that the file takes;
 * they are written only if there is room for all of them. */
NAVIN_API size_t navin_texture_file_write(const NavinTextureFile* file, const char* kind, uint32_t generation,
                                          void* bytes, size_t size);
NAVIN_API void navin_texture_file_free(NavinTextureFile* file);

#ifdef __cplusplus
}
#endif

#endif /* NAVIN_H */
