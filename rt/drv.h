/* SPDX-License-Identifier: Apache-2.0
 *
 * drv.h: the driver and the device, for the files of the runtime that touch
 * them.  Separate from rti.h so that the rest needs no cuda.h.
 */
#ifndef RT_DRV_H
#define RT_DRV_H

#include <cuda.h>

#include "rt/rti.h"

/* Older versions of these are hooked as well. */
#undef cuGetProcAddress
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuEventElapsedTime
#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphExecUpdate
#undef cuGraphInstantiate
#undef cuGraphKernelNodeSetParams
#undef cuIpcOpenMemHandle
#undef cuMemPrefetchAsync
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuStreamBatchMemOp

/* The emulated device's: is the caller one of its threads, and runs no function of the program's? */
int gsanEmuDeviceThread(void);

/* Newer headers have other versions alone. */
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *, unsigned int, CUdevice);

typedef void rt_any(void);

/* ---- one.c: the runtime of the process -------------------------------------------------- */

struct gsan_report;

/* What others of the same make may ask of a runtime. */
struct rt_one {
	uint32_t hooks, bytes;
	rt_any *(*hook)(unsigned which);
	void *(*look_up)(void *handle, const char *name);
	int (*init)(void);
	int (*use_driver)(const char *);
	size_t (*findings)(void);
	int (*finding)(size_t, struct gsan_report *);
	int (*incomplete)(void);
	int (*finish)(void);
	void (*off)(void);
	int (*end_with)(int status);
	void (*at)(const char *file, unsigned line);
	void (*allocated)(const void *, size_t, void *);
	void (*freed)(const void *, void *);
};

const struct rt_one *rt_other(void);    /* the one that works; NULL: this one */
const struct rt_one *rt_known(void);    /* the one that works; NULL: nobody has asked for it yet */
void rt_stay(void);

/* ---- drv.c: look-ups --------------------------------------------------------------------- */

enum rt_hook {
#define HOOK(symbol, base, version, ptsz, action, params, args) RT_##symbol,
#include "rt/drv.def"
	RT_cuCtxSynchronize,
	RT_HOOK_COUNT
};

/* What we call, next to the hooked ones; NULL where the driver has none. */
struct rt_drv {
#define NEED(name) __typeof__(&name) name;
#define MAY(name) __typeof__(&name) name;
#include "rt/drv.def"
};

extern struct rt_drv rt_drv;

/* Loads the driver at the first call. */
bool rt_drv_load(void);
bool rt_drv_loaded(void);
enum rt_drv_use { RT_DRV_UNUSED, RT_DRV_USED, RT_DRV_MISSING, RT_DRV_BYPASSED };
/* What the program has done with the driver: nothing; calls that we saw; looked for one that
 * is not there; calls that went past us. */
enum rt_drv_use rt_drv_used(void);
void rt_drv_count(struct rt_totals *);
void *rt_look_up_next(const char *name);        /* behind us in the order of look-ups; NULL */
/* The same, or that of a library which was loaded apart from us (RTLD_LOCAL), whose file's name begins with `file`; NULL. */
void *rt_look_up_behind(const char *file, const char *name);
const char *rt_driver_path(void);       /* the file of the driver, which is loaded */
const char *rt_drv_lacks(void);         /* a function that it should have, or NULL */
/* The driver's own function behind a hook; NULL if it has none. */
rt_any *rt_real(enum rt_hook);
rt_any *rt_hook(unsigned which);        /* ours in front of it */
void *rt_dlsym_hook(void *handle, const char *name);
void *rt_dlopen_hook(const char *file, int mode);
bool rt_per_thread(enum rt_hook);       /* the variant whose null stream is the thread's */
#define REAL(type, which) ((__typeof__(type) *)rt_real(which))

/* ---- call.c ------------------------------------------------------------------------------ */

/* Above zero while a thread runs our code or the driver's: what they call is not
 * the program's doing, and passes through the hooks unseen. */
extern _Thread_local int rt_inside;

/* The program's call that a thread is in, or was in last: where it came from, in whose code; the frame of the hook, or NULL: it
 * is not known; and, while it is live, what the driver has said of it. */
struct rt_call {
	const void *from, *frame;
	bool live, has_context, has_captured, captured, has_blocking, blocking, has_stack;
	CUcontext context;
	CUstream stream;                /* that was asked about captures, */
	CUstream other;                 /* and that was asked about flags */
};
extern _Thread_local struct rt_call rt_call;

static inline void rt_call_begin(const void *from, const void *frame)
{
	rt_inside++;
	rt_call = (struct rt_call){.from = from, .frame = frame, .live = true};
}

static inline void rt_call_end(void)
{
	rt_call.live = rt_call.has_context = rt_call.has_captured = rt_call.has_blocking = rt_call.has_stack = false;
	rt_inside--;
}

CUcontext rt_current(void);             /* the program's; NULL: there is none */
uint64_t rt_stream_key(enum rt_hook, CUstream);
bool rt_stream_captured(CUstream);

/* The hooks' actions; mem.c, module.c, issue.c, graph.c, context.c. */
#define UNPACK(...) __VA_ARGS__
#define HOOK(symbol, base, version, ptsz, action, params, args) \
	CUresult action(enum rt_hook, UNPACK params);
#define SEEN(symbol, base, version, ptsz, params, args, stream, act)
#include "rt/drv.def"
CUresult rt_on_ctx_sync(enum rt_hook);

/* ---- device.c, way.c: the device's side ------------------------------------------------------------ */

/* A context of the watched device. */
struct rt_ctx {
	CUcontext ctx;
	CUstream stream;        /* ours, non-blocking */
	bool sick;              /* it reported an error that ends it */
	struct rt_ctx *next;
};

CUstream rt_ctx_stream(CUcontext);       /* ours; NULL: the context is not known */
/* Locks the device for our own work in the current context, setting it up at
 * first; NULL, and nothing locked, if there is nothing to work on. */
struct rt_ctx *rt_dev_begin(void);
void rt_dev_end(void);
/* Whether a context that gave this error does nothing any more. */
bool rt_is_final(CUresult);
/* Whether a driver call of ours succeeded; notices contexts that are gone. */
bool rt_ok(struct rt_ctx *, CUresult, const char *what);
bool rt_read(struct rt_ctx *, void *to, uint64_t from, size_t bytes);
/* A table from device memory, with a zero behind it; to be freed.  NULL: it cannot be had, or is too large. */
void *rt_fetch(struct rt_ctx *, uint64_t at, uint32_t n, size_t each);
bool rt_write(struct rt_ctx *, uint64_t to, const void *from, size_t bytes);
bool rt_wait(struct rt_ctx *);          /* for our stream */

/* way.c: what kernels need, for the first context of the device, which is current; after the last one.
 * False: *why says why nothing can be watched. */
bool rt_way_set_up(CUdevice, const char **why);
void rt_way_tear_down(void);

const char *rt_dev_off(void);           /* why nothing is watched, or NULL */
bool rt_dev_ready(void);
void *rt_mailbox(CUdeviceptr *device);
CUdeviceptr rt_lane_table(void);

CUdevice rt_device(void);
/* The context ends: forgets it, and with the last one, if `teardown`, what is on
 * the device; true if it did that. */
bool rt_ctx_ends(CUcontext, bool teardown);
struct rt_ctx *rt_contexts(void);
bool rt_ctx_known(CUcontext);

/* ---- module.c ------------------------------------------------------------------------------- */

struct rt_module {
	const void *handle;     /* CUmodule or CUlibrary */
	const void *alias;      /* CUmodule of a library */
	bool library;
	bool known;             /* examined at least once */
	bool watched, bare, failed;
	bool code;              /* under gsan-run: what was loaded has no PTX */
	CUcontext *in;          /* where it was registered */
	size_t nin, in_cap;
	struct rt_module *next;
};

struct rt_func {
	const void *handle;     /* CUfunction or CUkernel */
	bool kernel;            /* the latter */
	const char *name;
	struct rt_module *module;
	uint64_t launches;
	bool told_bare;
	signed char left;       /* not instrumented in a module that is: 1, 0; -1: not asked yet */
	const void *tables, *logs;      /* judge.h: of one that logs, once it was asked for */
	bool unmarked;                  /* its module has no probes */
	signed char chosen;             /* by launch_kernel: 1, 0; -1: not asked yet */
	uint32_t cluster[3];            /* of its own, or 0; as it was when so many attributes had been set, and one; 0: not asked yet */
	uint64_t cluster_as_of;
	/* What its launches have logged, the most of them: bytes for each warp; 0: no launch is over yet.  When the first one was
	 * issued, ms; 0: not yet.  Whether somebody has looked for memory for the first one.  All are atomic. */
	uint64_t logged, first_issued;
	bool first_looked;
	struct rt_func *next;
};

/* What is known of a handle that the program launches. */
struct rt_func *rt_func_of(const void *handle);
/* Registers its module in the current context, or all that wait. */
void rt_register(struct rt_func *f);
bool rt_func_watched(const struct rt_func *f);
bool rt_func_bare(const struct rt_func *f);     /* its module is not instrumented */
void rt_modules_forget(CUcontext);      /* contexts that end */
void rt_modules_count(struct rt_totals *);

/* ---- tables.c -------------------------------------------------------------------------------- */

extern const unsigned rt_tables_version;
/* Runs the kernel of a translation unit that says what the module carries; false if that cannot be had. */
bool rt_tables_take(struct rt_ctx *, struct rt_module *, CUfunction, const char *name);
void rt_tables_count(struct rt_totals *);
bool rt_func_left(struct rt_func *f);   /* in an instrumented module, but left alone; with rt_lock */
size_t rt_own_params(struct rt_func *); /* SIZE_MAX: all that it has */

/* ---- mem.c ----------------------------------------------------------------------------------- */

extern struct rt_blocks rt_blocks;      /* with rt_lock */

void rt_mem_new(uint64_t addr, uint64_t bytes, enum rt_mem, const char *call);  /* call: of the program's; NULL: it is no matter */
void rt_mem_of_graph(uint64_t addr, uint64_t bytes, const void *graph);         /* gone with that: rt_mem_owner_gone() */
void rt_mem_owner_gone(const void *owner);
void rt_mem_forget(void);               /* the device's memory is gone */
void rt_mem_gone(const struct rt_block *);      /* with rt_lock: it is in rt_blocks no more; what is launched already may be judged later */

/* ---- made.c ---------------------------------------------------------------------------------- */

struct detect_when;
const struct rt_made *rt_made_here(const char *call);   /* NULL: nobody wants to know */
/* It was freed by that call, and in the order of a stream (NULL: for all that comes). */
void rt_freed_add(const struct rt_block *, const char *call, const struct detect_when *);
void rt_freed_reused(uint64_t address, uint64_t bytes); /* somebody has got memory there, */
void rt_freed_unseen(void);                             /* or wherever it may be */
void rt_freed_forget(void);

/* ---- context.c -------------------------------------------------------------------------------- */

void rt_context_noted(CUresult);        /* of the program's calls: did its context die? */

/* ---- judge.c: contexts ------------------------------------------------------------------------ */

void rt_context_died(bool late);        /* late: since a launch took too long */
void rt_context_ends(CUcontext);        /* it is about to end */
/* Waits for the context and prints what was found in it. */
void rt_context_tell(CUcontext, int timeout_ms);
void rt_context_count(struct rt_totals *);

/* ---- count.c ---------------------------------------------------------------------------------- */

/* With rt_lock: it was launched.  here: in a context that is watched. */
void rt_count_launch(struct rt_func *, bool here);
void rt_count_graph(void);
void rt_launch_count(struct rt_totals *);

/* Every node of a graph but graphs, those of graphs inside it as well; child: the graph's own node that such a one lies
 * in, or NULL. */
typedef void rt_each_node(void *, CUgraphNode, CUgraphNodeType, CUgraphNode child);
void rt_graph_nodes(CUgraph, rt_each_node *, void *);

/* ---- chosen.c -------------------------------------------------------------------------------- */

/* Is this launch one of those to be watched?  Once for each. */
bool rt_launch_chosen(struct rt_func *);
void rt_chosen_count(struct rt_totals *);

/* ---- issue.c --------------------------------------------------------------------------------- */

void rt_stream_seen(enum rt_hook, CUstream);    /* anything but a launch is put into it */

/* ---- wait.c ------------------------------------------------------------------------------------ */

bool rt_thread(void *(*fn)(void *), void *arg);
CUresult rt_wait_all(CUcontext, int timeout_ms);        /* CUDA_ERROR_NOT_READY: it ran out */
bool rt_still_running(void);                    /* a wait ran out */
void rt_wait_forget(CUcontext);                 /* it ends, and what runs in it */

/* ---- tell.c: reports ------------------------------------------------------------------------------ */

/* At once, so that those that are alike are told as one; without those that are NULL. */
void rt_report_add(struct rt_report *const *, size_t n);
size_t rt_reports(void);
bool rt_report_get(size_t i, struct rt_report *);
/* Prints those not told yet that are at least so old; `count`, or NULL, brings the number of times up to date. */
void rt_tell_all(uint64_t older_ms, void (*count)(struct rt_report *, void *), void *arg);
bool rt_anything_to_tell(void);
void rt_findings_count(struct rt_totals *);
void rt_tell_closing(const struct rt_totals *);         /* suppressions that were used, and the closing line */
uint64_t rt_reported(void);
/* A copy over what was read, with no fence: proxy_war=warn tells of it and goes on. */
bool rt_only_warned(const struct rt_report *);
bool rt_is_told(const struct rt_report *);      /* it counts as found: it is neither left out nor let pass */
void rt_tell_fork(void);
char *rt_command_line(void);            /* blanks between the words; to be freed */

/* ---- judge.c: findings as they come ----------------------------------------------------------- */

void rt_watch_start(void);
void rt_watch_stop(void);
void rt_watch_closed(const struct rt_totals *);         /* all has been told, with the closing line */
void rt_drain(void);
/* Prints what was found; counts are exact if the device can be asked now. */
void rt_tell(void);
void rt_tell_idle(void);        /* after a synchronisation */
void rt_watch_fork(void);

#endif
