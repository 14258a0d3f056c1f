/* navin.h: what libnvn offers beside NVN's own functions (those are in nvn.h). */
#ifndef NAVIN_H
#define NAVIN_H

#if defined(_WIN32) && !defined(NVN_STATIC)
#define NAVIN_API __declspec(dllimport)
#else
#define NAVIN_API
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
