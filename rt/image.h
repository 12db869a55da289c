/* SPDX-License-Identifier: Apache-2.0
 *
 * image.h: what a program loads under gsan-run, and what is loaded instead of it.
 */
#ifndef RT_IMAGE_H
#define RT_IMAGE_H

#include "rt/entry.h"
#include "rt/rti.h"

/* What gsan-run puts into the environment: the absolute path of gsan-image; and, of a program whose children are not to be
 * watched, the number of its process. */
#define RT_IMAGE_TOOL "GSAN_RUN_TOOL"
#define RT_IMAGE_ONLY "GSAN_RUN_ONLY"

/* ---- image.c ------------------------------------------------------------------------------------------ */

/* Has gsan-run asked for what this process loads to be instrumented? */
bool rt_image_wanted(void);
/* The instrumented PTX of an image (PTX, a fat binary with or without a wrapper, a cubin that NVRTC made), to be freed by
 * rt_free; NULL: it is to be loaded as it is.  name: for messages, or NULL.  relocatable: it goes to the driver's linker.
 * *code: it has no PTX for the device, so that it is watched if its machine code is instrumented and else not. */
char *rt_image_made(const void *image, const char *name, bool relocatable, bool *code);
char *rt_image_of_file(const char *file, bool relocatable, bool *code);
/* Such a one turned out not to be instrumented, or could not be loaded. */
void rt_image_code_alone(void);
/* The driver does not take what was made, but the program's own. */
void rt_image_refused(void);
/* A cubin and the PTX that it was made of; name: for messages. */
void rt_image_note(const void *cubin, size_t bytes, const char *ptx, const char *name);
void rt_image_count(struct rt_totals *);

/* ---- cache.c: answers of gsan-image on disk ------------------------------------------------------------- */

/* What is there under a name, to be freed by rt_free; NULL: nothing that is whole. */
char *rt_cache_get(const char *name, struct entry *);
/* Puts it there at once or not at all; what cannot be written is made again next time. */
void rt_cache_put(const char *name, const char *all, size_t bytes);

/* ---- tool.c ---------------------------------------------------------------------------------------------- */

/* Runs it with that on its standard input; what it writes, to be freed by rt_free.  NULL: *why says why there is nothing. */
char *rt_tool_run(char *const argv[], const void *in, size_t bytes, struct entry *, const char **why);

/* ---- nvrtc.c, jitlink.c: in libgsan.so alone ------------------------------------------------------------------ */

/* Ours in front of a function of NVRTC's, or of nvJitLink's, in that library; NULL: the library's own is right. */
void *rt_nvrtc_hook(void *handle, const char *name) __attribute__((weak, visibility("hidden")));
void *rt_jitlink_hook(void *handle, const char *name) __attribute__((weak, visibility("hidden")));

#endif
