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

#ifdef __cplusplus
}
#endif

#endif /* NAVIN_H */
