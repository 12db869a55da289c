/* SPDX-License-Identifier: Apache-2.0
 *
 * gsan.h: what libgsan offers to programs.  Nothing needs to be called: a
 * program that links libgsan, or has it preloaded, is watched and reports when
 * it ends.  These functions are for programs that want to know more.
 */
#ifndef GSAN_H
#define GSAN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place in the program.  Texts are "" and lines 0 where unknown; they stay
 * valid until the process ends. */
struct gsan_spot {
	const char *function;
	const char *file;               /* source file */
	unsigned line;
	const char *ptx_file;
	unsigned ptx_line;
};

struct gsan_report {
	const char *kind;               /* "data-race", ... */
	struct gsan_spot now, before;   /* the two accesses */
	unsigned long long count;       /* times seen, at least */
	int suppressed;                 /* matched by a suppression, left out by kernel_filter, or a mere warning */
};

/* Reads GSAN_OPTIONS, and loads the driver and puts gsan in front of it, which
 * otherwise happens at the first use of the driver.  0, or -1 if there is no
 * driver. */
int gsan_init(void);

/* The same with the driver in that file instead of libcuda.so.1.  -1 also if a
 * driver is in use already. */
int gsan_use_driver(const char *file);

/* Findings so far, suppressed ones among them; they are complete after a
 * synchronisation. */
size_t gsan_findings(void);

/* The i-th finding, from 0, in the order in which they were found.  0, or -1 if
 * there are fewer. */
int gsan_finding(size_t i, struct gsan_report *);

/* Whether something so far was not seen whole, or not taken exactly, which can hide races: the closing line
 * says what. */
int gsan_incomplete(void);

/* Waits for the device, prints what was not printed yet and the closing line.
 * Returns the number of findings that were not suppressed.  After it, the
 * process ends with its own status and without another closing line. */
int gsan_finish(void);

/* For a program that judges by other means: nothing that is found from here on is
 * told, and the process ends with its own status and without a closing line. */
void gsan_off(void);

/* For a program that carries out another one: this thread is at that place of it, which reports name for what the host does
 * from now on.  NULL: nowhere.  The text is to stay. */
void gsan_at(const char *file, unsigned line);

/* For allocators of a program's own, which hand out parts of what they have allocated: `bytes` at `part` are given out for use in
 * `stream`, a CUstream (cudaStream_t), or are given back in it, behind all that was put into it so far.  Uses of it that are not
 * ordered with these two, in other streams, are reported as stream races, and reports name the part.  The allocator orders the
 * streams that it hands memory on between as it does without gsan: by events, or by waiting.  What it allocated itself is
 * watched anyway.  A part that is given back but was not given out is ignored, and so are parts in an allocation that is freed.
 * A program that is to run without gsan as well has "#pragma weak gsan_allocated" and asks whether it is NULL. */
void gsan_allocated(const void *part, size_t bytes, void *stream);
void gsan_freed(const void *part, void *stream);

/* A program may define these; what they return is read before GSAN_OPTIONS and
 * before the file of suppressions. */
const char *__gsan_default_options(void);
const char *__gsan_default_suppressions(void);

#ifdef __cplusplus
}
#endif

#endif
