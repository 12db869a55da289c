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

#define EMU_GRANULARITY (UINT64_C(2) << 20)     /* of physical memory, as on hardware */

/* Nodes of a graph, in no order. */
struct emu_nodes {
	struct CUgraphNode_st **node;
	size_t n;
};

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
	struct emu_capture *capture;    /* commands become nodes of its graph */
	struct emu_nodes last;          /* those that the next one comes behind */
	bool doomed;                    /* destroyed; goes away when empty */
};

struct CUevent_st {
	struct CUctx_st *ctx;
	unsigned flags;
	uint64_t recorded;              /* the number of recordings asked for */
	double when;                    /* milliseconds, of the last one reached */
	unsigned users;                 /* commands that hold it */
	struct emu_capture *capture;    /* recorded in a stream that was captured, */
	struct emu_nodes last;          /* behind those nodes */
	bool doomed;
};

/* Whose memory a caller of the API says that it is. */
enum emu_side { SIDE_HOST, SIDE_DEVICE, SIDE_ANY };

/* A copy: addresses, and bytes from one row or slice to the next. */
struct emu_copy {
	uint64_t dst, src, width, height, depth, dst_pitch, src_pitch, dst_slice, src_slice;
	enum emu_side to, from;
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
			struct emu_copy shape;
			void *staged;           /* the source as it was at the call; freed */
		} copy;
		CUDA_MEMSET_NODE_PARAMS set;
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
	struct CUctx_st *ctx __attribute__((unused)); \
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
/* Likewise, or makes a node of it where its stream is captured.  The command is gone in
 * any case. */
CUresult emu_cmd_submit(struct emu_cmd *);
/* A command that does the same, for that stream; the first may be in none. */
struct emu_cmd *emu_cmd_again(const struct emu_cmd *, struct CUstream_st *);
void emu_cmd_free(struct emu_cmd *);    /* one that is in no stream */
/* All wait with the lock held (and let go of it meanwhile). */
CUresult emu_wait_stream(struct CUstream_st *);
CUresult emu_wait_ctx(struct CUctx_st *);
bool emu_ctx_idle(const struct CUctx_st *);
/* A command at the end of the stream, and waits for it. */
CUresult emu_cmd_do(struct emu_cmd *);
void emu_ctx_drop_streams(struct CUctx_st *);

/* Commands that are in no stream yet. */
CUresult emu_launch_cmd(const CUDA_KERNEL_NODE_PARAMS_v2 *, struct emu_cmd **);
CUresult emu_copy_cmd(const CUDA_MEMCPY3D *, struct emu_cmd **);
CUresult emu_set_cmd(const CUDA_MEMSET_NODE_PARAMS *, struct emu_cmd **);

/* Attributes of a launch that has not been started: one, or all that another has.  One that
 * cannot be set changes nothing. */
CUresult emu_grid_set(struct emu_grid *, CUlaunchAttributeID, const CUlaunchAttributeValue *);
CUresult emu_grid_get(const struct emu_grid *, CUlaunchAttributeID, CUlaunchAttributeValue *);
CUresult emu_grid_like(struct emu_grid *, const struct emu_grid *of);

/* launch.c: the same launch with parameters of its own; the first may never have run. */
struct emu_grid *emu_grid_again(const struct emu_grid *);

/* capture.c */
CUresult emu_capture_cmd(struct emu_cmd *);
/* What a command that cannot be captured, or a wait, means to the stream: an error if it
 * is captured, which ends the capture. */
CUresult emu_capture_refuse(struct CUstream_st *);
/* Memory that a captured stream allocates, or frees. */
CUresult emu_capture_memory(struct CUstream_st *, bool alloc, CUdeviceptr, size_t bytes);
CUresult emu_capture_record(struct CUevent_st *, struct CUstream_st *);
CUresult emu_capture_wait(struct CUstream_st *, struct CUevent_st *);
void emu_capture_forget(struct CUevent_st *);
void emu_capture_leave(struct CUstream_st *);

/* pool.c: memory was freed that may have come from a pool. */
void emu_pool_forget(CUdeviceptr);
/* Memory that a graph allocates, which lives as long as the process: a program may free it by
 * itself, or read it behind a launch.  0: there is none. */
CUdeviceptr emu_pool_graph_memory(size_t bytes);
bool emu_pool_is_graph_memory(CUdeviceptr);
/* Whether a pool can be like that, and the device have such access. */
CUresult emu_pool_check(const CUmemPoolProps *);
CUresult emu_pool_check_access(const CUmemAccessDesc *, size_t);

/* module.c */
void emu_modules_free(struct CUctx_st *);
struct emu_func *emu_func_handle(CUfunction);   /* NULL: not a function */
int emu_func_max_dynamic(const struct emu_func *);

#endif
