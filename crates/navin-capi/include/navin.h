/* navin.h: what libnvn offers beside NVN's own functions (those are in nvn.h). */
#ifndef NAVIN_H
#define NAVIN_H

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

#ifdef __cplusplus
}
#endif

#endif /* NAVIN_H */
