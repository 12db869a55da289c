/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_impl.h: what the parts of the pretended driver share.
 */
#ifndef FAKE_IMPL_H
#define FAKE_IMPL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "rt/clear_start.h"
#include "testsuite/rt/fake.h"

#undef cuGetProcAddress

#define API __attribute__((visibility("default")))
#define OWN 8                           /* bytes of a kernel's own parameter */
#define VALUES (OWN + sizeof(struct region_launch))
#define ROOM sizeof(struct clear_begin) /* of the parameters of any kernel */

enum { SMS = 3, THREADS = 128 /* of a multiprocessor */, PAGE = 2 << 20 };

/* ---- fake.c: devices and contexts ------------------------------------------------------------------- */

/* Contexts are not freed, so that who uses one that has ended is found out. */
struct context { int device; CUresult sick; bool ended; struct context *next; };

struct context *fake_current(void);
CUresult fake_state(void);              /* why nothing can be done, or CUDA_SUCCESS */
void fake_fault(CUresult);              /* a kernel's: all contexts of the process end */
bool fake_fails(const char *name);      /* Is this call to fail? */
void fake_may_shut_down(const char *when);
_Noreturn void fake_misused(const char *what);  /* a handle that is none any more */

/* ---- fake_stream.c ------------------------------------------------------------------------------------- */

struct launch {
	const struct fn *fn;
	struct context *ctx;
	unsigned grid[3], block[3];
	unsigned char value[ROOM];      /* of its parameters */
	struct launch *next;
};

/* Its kernels run one after the other, in a thread of the stream's. */
struct stream {
	struct context *ctx;
	uint64_t issued, done;
	struct launch *first, **last;
	pthread_t thread;
	bool runs;                      /* the thread does */
	struct graph *captured;
	struct stream *next;
};

struct stream *fake_stream(CUstream);
CUresult fake_issue(struct stream *, const struct launch *);
CUresult fake_wait(const struct stream *);
void fake_wait_all(const struct context *);     /* also for what hangs, if the context has ended */

/* ---- fake_memory.c ------------------------------------------------------------------------------------- */

void fake_memory_end(const struct context *);   /* its memory goes with it */
extern bool fake_deaf;                  /* nothing can be copied from the device; atomic */

/* ---- fake_module.c -------------------------------------------------------------------------------------- */

struct module { const struct fake_image *image; struct fn *fns, *kernels; bool unloaded; };
struct fn { struct module *module; const struct fake_kernel *k; bool kernel; };

bool fake_logs(const struct fn *);
/* Copies the values of parameters.  False: there are others than the kernel's. */
bool fake_values(const struct fn *, void **params, void **extra, unsigned char value[ROOM]);

/* ---- fake_screen.c: the runtime's own kernels -------------------------------------------------------------- */

extern const struct fake_image fake_screen;
bool fake_is_fatbin(const void *image);
bool fake_has_screen(void);
void fake_screen_values(const struct fn *, void **params, unsigned char value[ROOM]);
void fake_screen_run(const struct launch *);

/* ---- fake_kernel.c: what kernels do ---------------------------------------------------------------------- */

void fake_run(const struct launch *);

/* ---- fake_graph.c ----------------------------------------------------------------------------------------- */

struct graph;
CUresult fake_capture(struct graph *, const struct launch *);

#endif
