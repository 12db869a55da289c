/* SPDX-License-Identifier: Apache-2.0
 *
 * api.h: what the files of the driver API share: contexts, streams, the commands
 * in them, and the one thread that carries commands out (stream.c).
 *
 * One lock, emu_lock, guards all of this.  The engine lets go of it while it runs
 * kernels, copies and host functions.
 */
#ifndef EMU_API_H
#define EMU_API_H

#include "emu/emu.h"

struct CUctx_st {
	struct CUctx_st *next;
	unsigned flags;
	bool primary;
	unsigned retained;              /* primary */
	CUresult error;                 /* sticky: why the context is of no more use */
	struct CUstream_st *null, *per_thread;
	struct CUstream_st *streams;    /* all, with those two */
	struct emu_module *modules;
	size_t limits[CU_LIMIT_MAX];
};

struct CUstream_st {
	struct CUctx_st *ctx;
	struct CUstream_st *next;
	unsigned flags;
	int priority;
	unsigned long long id;
	struct emu_cmd *head, **tail;   /* the head may be running */
	bool doomed;                    /* destroyed; goes away when empty */
};

struct CUevent_st {
	struct CUctx_st *ctx;
	unsigned flags;
	uint64_t recorded, done;        /* numbers of recordings asked for and reached */
	double when;                    /* milliseconds, of the last one reached */
	unsigned users;                 /* commands that hold it */
	bool doomed;
};

enum emu_cmd_kind { CMD_LAUNCH, CMD_COPY, CMD_SET, CMD_HOST, CMD_RECORD, CMD_WAIT, CMD_FREE };

struct emu_cmd {
	enum emu_cmd_kind kind;
	struct CUstream_st *stream;
	struct emu_cmd *next;
	uint64_t seq;
	bool running;
	bool over;                      /* a launch that ended before one ahead of it */
	union {
		struct emu_grid *grid;
		struct {
			uint8_t *dst;
			const uint8_t *src;
			uint64_t width, height, dst_pitch, src_pitch;
			void *staged;           /* the source as it was at the call; freed */
		} copy;
		struct {
			uint8_t *dst;
			uint64_t width, height, pitch;
			uint32_t value;
			unsigned size;          /* of an element: 1, 2, 4 */
		} set;
		struct {
			CUhostFn fn;
			CUstreamCallback callback;      /* instead of fn */
			void *arg;
		} host;
		struct { struct CUevent_st *event; uint64_t number; } event;
		CUdeviceptr free;
	} u;
};

extern pthread_mutex_t emu_lock;
extern bool emu_started;                /* cuInit was called */
extern struct CUctx_st *emu_contexts;

/* Starts nearly every entry point: takes the lock, finds the current context.
 * Returns from the function with an error if there is none, or it is broken. */
#define ENTER(ctx) \
	struct CUctx_st *ctx; \
	do { \
		CUresult enter_result = emu_enter(&ctx); \
		if (enter_result != CUDA_SUCCESS) \
			return enter_result; \
	} while (0)
#define LEAVE(result) return emu_leave(result)

CUresult emu_enter(struct CUctx_st **);
CUresult emu_leave(CUresult);
struct CUctx_st *emu_ctx_current(void);

/* stream.c */
void emu_engine_start(void);
struct CUstream_st *emu_stream_new(struct CUctx_st *, unsigned flags, int priority);
/* The stream that a handle means in this context; NULL if it means none. */
struct CUstream_st *emu_stream_of(struct CUctx_st *, CUstream);
struct emu_cmd *emu_cmd_new(enum emu_cmd_kind, struct CUstream_st *);
void emu_cmd_put(struct emu_cmd *);     /* the engine may start it from now on */
/* All wait with the lock held (and let go of it meanwhile). */
CUresult emu_wait_stream(struct CUstream_st *);
CUresult emu_wait_ctx(struct CUctx_st *);
bool emu_ctx_idle(const struct CUctx_st *);
/* A command at the end of the stream, and waits for it. */
CUresult emu_cmd_do(struct emu_cmd *);
void emu_ctx_drop_streams(struct CUctx_st *);

/* module.c */
void emu_modules_free(struct CUctx_st *);
struct emu_func *emu_func_handle(CUfunction);   /* NULL: not a function */
int emu_func_max_dynamic(const struct emu_func *);



#endif
