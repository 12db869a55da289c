/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h: gsan-run's parts.  A reproducer's script is parsed once (script.c),
 * carried out by a child process (launch.c) that sends what was found through a
 * pipe (proc.c), and its verdicts are held against that (check.c); main.c has
 * the command line.  The parent never touches the driver: a kernel that hangs
 * or a context that dies takes only the child with it.
 */
#ifndef GSAN_RUN_H
#define GSAN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda.h>

/* Exit status, as reproducer-format says; a sanitized program's own status when
 * something was found is the runtime's business. */
enum run_status {
	RUN_OK, RUN_FAILED, RUN_USAGE, RUN_OTHER, RUN_SKIPPED = 77
};

/* ---- hint.c -------------------------------------------------------------------- */

struct run_script;
/* What a file is that cannot be run; said on stderr, for one without a script with lines
 * that would launch its first kernel. */
bool run_is_machine_code(const char *path, const char *text);
bool run_launches_nothing(const struct run_script *);

/* ---- script.c, words.c ------------------------------------------------------- */

struct run_pos { unsigned line, col; };

enum run_obj_kind { OBJ_BUF, OBJ_HOSTBUF, OBJ_MANAGED, OBJ_TMAP, OBJ_STREAM, OBJ_EVENT };
enum run_init { INIT_ZERO, INIT_IOTA, INIT_FILL, INIT_RAND };

/* tmap.c: a tensor map of a script */
struct run_tmap {
	int buf;                /* number of the memory block */
	uint64_t off;
	int type, swizzle;      /* the driver's enums */
	int interleave;         /* the same */
	unsigned bytes, span;   /* of an element; of the swizzle */
	uint64_t size;          /* from its first byte to its last */
	unsigned slice;         /* of an interleaved layout; 0: none */
	bool have_swizzle;
	unsigned rank, nstrides, nbox, nelem;
	uint64_t dims[5], strides[4], box[5], elem[5];
	unsigned nlower, nupper;        /* im2col: of W, H, D; box is channels and pixels */
	int lower[3], upper[3];
};

/* Whatever has a name in a script.  Number 0 is the null stream, called "0". */
struct run_obj {
	const char *name;
	enum run_obj_kind kind;
	struct run_pos pos;
	uint64_t bytes;         /* BUF, HOSTBUF, MANAGED */
	bool later;             /* BUF: it is allocated by an action */
	enum run_init init;
	uint64_t seed;          /* FILL: the word; RAND: the seed */
	struct run_tmap *tmap;  /* TMAP */
};

enum { ARG_VALUE = -1 };

struct run_arg {
	int obj;                /* number of a buffer or a tensor map, or ARG_VALUE */
	uint64_t bits;          /* the value, or the offset into the buffer */
	unsigned size;          /* bytes of the parameter */
	unsigned col;
};

enum run_action_kind {
	ACT_LAUNCH, ACT_SYNC, ACT_RECORD, ACT_WAIT, ACT_COPY, ACT_SET,
	ACT_HOSTREAD, ACT_HOSTWRITE, ACT_FREE, ACT_ALLOC
};

struct run_action {
	enum run_action_kind kind;
	struct run_pos pos;
	const char *kernel;
	unsigned kernel_col;
	unsigned grid[3], block[3];
	unsigned cluster[3];    /* 0: no cluster asked for */
	unsigned smem;
	bool pdl;               /* it may start before its predecessor ends */
	struct run_arg *args;
	unsigned nargs, args_col;
	int stream;             /* LAUNCH, RECORD, WAIT, COPY, SET, SYNC; 0: null stream */
	int event;              /* RECORD, WAIT, SYNC; -1: none */
	bool context;           /* SYNC: of everything */
	bool ordered;           /* FREE, ALLOC: in the order of the stream */
	int dst, src;           /* COPY, SET, HOSTREAD, HOSTWRITE */
	uint64_t dst_off, src_off, bytes;
	unsigned byte;          /* SET */
};

enum { KIND_ANY_RACE = -1 };

struct run_expect {
	struct run_pos pos;
	const char *options;    /* expect-with; NULL: no options asked for */
	bool clean, only;
	int kind;               /* enum gsan_kind, or KIND_ANY_RACE */
	unsigned nlines, lines[2];
};

enum run_place { PLACE_ANY, PLACE_EMU, PLACE_GPU };

struct run_script {
	const char *path;
	const char *text;       /* NUL-terminated; the caller's */
	size_t len;
	unsigned nlines;
	unsigned sm;            /* least device, 90 for sm_90; 0: none asked for */
	char sm_suffix;         /* 'a', 'f' or 0 */
	enum run_place place;
	bool faults;            /* a kernel may end in a fault, which is the script's end */
	unsigned timeout;       /* seconds */
	bool timeout_given;
	struct run_obj *objs;
	int nobjs;
	struct run_action *actions;
	unsigned nactions;
	struct run_expect *expects;
	unsigned nexpects;
	const char *unsupported;        /* what this version cannot do; NULL */
	struct run_pos unsupported_pos;
	void *chunks;
};

#define RUN_TIMEOUT 60          /* seconds; reproducer-format's default */

/* Reads the script in `text`.  False if there was an error; all have been
 * printed on stderr as "path:line:col: error: ..." by then. */
bool run_parse(struct run_script *, const char *path, const char *text, size_t len);
void run_free(struct run_script *);
void run_error(const struct run_script *, struct run_pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- check.c ---------------------------------------------------------------- */

/* One finding, as a child reports it. */
struct run_finding {
	int kind;               /* enum gsan_kind */
	unsigned line[2];       /* in the reproducer; 0: elsewhere or unknown */
	uint64_t count;
};

struct run_findings {
	struct run_finding *v;
	unsigned n, cap;
};

/* "data-race"; "race" for KIND_ANY_RACE. */
const char *run_kind_name(int kind);
/* Number of a kind; GSAN_KIND_COUNT if there is none of that name. */
int run_kind_of(const char *name);
/* Adds to a set: the same kind at the same two lines is one finding. */
void run_add(struct run_findings *, const struct run_finding *);
/* Whether one verdict holds; says on stderr what was expected and what was
 * found where it does not. */
bool run_holds(const struct run_script *, const struct run_expect *,
	       const struct run_findings *, const char *whose);

/* ---- driver.c: the driver API, real or emulated ------------------------------- */

#define DRIVER_CALLS(X) \
	X(cuInit) X(cuGetErrorName) X(cuGetErrorString) \
	X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) \
	X(cuDevicePrimaryCtxRetain) X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxSynchronize) \
	X(cuModuleLoadDataEx) X(cuModuleGetFunction) X(cuModuleGetGlobal_v2) X(cuFuncSetAttribute) \
	X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemHostAlloc) X(cuMemHostGetDevicePointer_v2) X(cuMemAllocManaged) \
	X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyAsync) X(cuMemsetD8Async) X(cuMemsetD32Async) \
	X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2) \
	X(cuStreamCreate) X(cuStreamSynchronize) X(cuStreamQuery) X(cuStreamWaitEvent) \
	X(cuEventCreate) X(cuEventRecord) X(cuEventSynchronize) \
	X(cuLaunchKernel) X(cuLaunchKernelEx)
/* Later additions; NULL where the driver has none. */
#define DRIVER_EXTRAS(X) X(cuMemAllocAsync) X(cuMemFreeAsync) X(cuFuncGetParamInfo) X(cuTensorMapEncodeTiled) X(cuTensorMapEncodeIm2col)

struct run_driver {
#define X(name) __typeof__(name) *name;
	DRIVER_CALLS(X) DRIVER_EXTRAS(X)
#undef X
	CUresult (*cuCtxCreate_v2)(CUcontext *, unsigned flags, CUdevice);      /* which new cuda.h do not declare */
};

/* ---- tmap.c ----------------------------------------------------------------- */

/* The element type; false if there is no such type. */
bool run_tmap_type(struct run_tmap *, const char *name);
/* One word behind it; NULL, or what is wrong with it. */
const char *run_tmap_word(struct run_tmap *, const char *word);
/* All words have been read; the tensor lies in `bytes` bytes.  NULL, or what is wrong. */
const char *run_tmap_end(struct run_tmap *, uint64_t bytes);
CUresult run_tmap_make(const struct run_tmap *, const struct run_driver *, CUdeviceptr,
		       CUtensorMap *);

/* A function of the emulated device's library, beside the driver API; NULL. */
void *run_emu_function(const char *name);

enum run_device { DEVICE_AUTO, DEVICE_EMU, DEVICE_GPU };

/* Parts of gsan: the emulated device's libcuda.so.1, libgsan.so.1, gsan-image, which that runs, and the compilers. */
enum run_part { RUN_EMU, RUN_RUNTIME, RUN_IMAGE, RUN_PTXAS, RUN_NVCC, RUN_PARTS };
/* Where it was built, or is installed; NULL: it is not there. */
const char *run_path(enum run_part);
/* Whether this machine looks as if it had a GPU. */
bool run_gpu_likely(void);
/* Loads the driver; false after saying why. */
bool run_driver_load(struct run_driver *, bool emu);

/* ---- launch.c: carries a script out, in the child -------------------------------- */

struct run_job {
	bool emu;               /* on the emulated device */
	bool plain;             /* load the PTX as it is */
	bool verbose;
	bool optional;          /* no such device: say so to the parent, not to the user */
	bool oracle;            /* ask the oracle, too */
	/* Judge by them: as the emulated device tells them, with such clocks, or as probes do. */
	enum run_events { EVENTS_NONE, EVENTS_FRIENDLY, EVENTS_HOSTILE, EVENTS_PROBES } events;
	unsigned cuts;          /* judge the events so often as if a part of them were lost */
	uint64_t region;        /* bytes of the log; 0: as many as launches need, and at least 64 MiB */
	bool no_drain;          /* do not empty it while a kernel runs */
	unsigned inline_most;   /* struct probe_what's */
	const char *dump;       /* buffers whose words to print at the end, by commas; or NULL */
	const char *keep;       /* file for the rewritten PTX */
	int fd;                 /* messages to the parent */
};

/* Does anything but libgsan judge? */
bool run_elsewhere(const struct run_job *);

/* How long the emulated device may take to say where warps stand, after the time, in seconds. */
#define RUN_LINGER 10

/* Returns the exit status or END_NO_DEVICE; sends it and every finding to job->fd
 * as well. */
int run_launch(const struct run_script *, const struct run_job *);

/* ---- oracle.c: the emulated device's own detector -------------------------------- */

/* Whether these options, or NULL, mean something to it. */
bool run_oracle_knows(const char *options);
/* Before the module is loaded: the emulated device names its lines. */
void run_emu_source(const struct run_script *);
void run_emu_judged(void);      /* it is judged by probes that it knows nothing of */
/* Likewise.  False after saying why. */
bool run_oracle_start(const struct run_script *);
/* Prints what it found and sends it, then holds gsan's findings against it if gsan
 * was watching.  `died`: a kernel came to no good end, and what it would have counted
 * is lost. */
void run_oracle_end(const struct run_script *, const struct run_job *, bool died);
/* A kernel came to no end: is that a deadlock, as the emulated device sees it?  Then it is a finding. */
void run_emu_hang(const struct run_job *);
/* The closing line where it alone judged. */
void run_oracle_close(const struct run_script *);

/* ---- oracle_host.c: what the host ordered, by the script ------------------------- */

struct emu_oracle_touch;
/* Where its block lies and its source, with their offsets. */
struct run_host_place { uint64_t dst, src; };
/* Memory that the host shares with the device. */
void run_host_block(uint64_t address, uint64_t bytes);
/* That action was performed; launch: the emulated device's number of the last launch. */
void run_host_did(const struct run_script *, unsigned k, const struct run_host_place *, unsigned long long launch);
/* Races of actions that nothing orders; of kinds stream-race and host-race. */
const struct emu_oracle_pair *run_host_races(const struct run_script *, const struct emu_oracle_touch *, size_t, unsigned *n);
/* oracle.c: the number of the last launch, if the oracle is asked. */
unsigned long long run_oracle_launch(void);

/* ---- probes.c: kernels that log for gsan-run itself ------------------------------------------- */

struct gsan_rewrite_options;            /* rewrite/rewrite.h */
/* The PTX with probes, malloc'd; NULL after saying why. */
char *run_probes_text(const struct run_script *, const struct gsan_rewrite_options *);
bool run_probes_whole(void);    /* Is everything logged? */
/* At first, before each launch, and when it is over.  False: a driver call failed, or the log's region is too small,
 * which is said.  A launch has one parameter more, which is returned; NULL: as false. */
bool run_probes_ready(struct run_driver *, CUmodule, CUdevice, const struct run_script *, const struct run_job *);
struct event_block;
void run_probes_memory(const struct event_block *);     /* the launches that come have it; NULL: what was told is gone */
void run_probes_map(const struct run_tmap *, CUdeviceptr base, const CUtensorMap *);
/* How many launches may overlap from that one on, with itself. */
unsigned run_probes_overlap(const struct run_script *, const struct run_action *);
/* In front of those; of the i-th one, before it starts: its parameter; behind the last one, which it waits for. */
bool run_probes_begin(const struct run_action *, unsigned n);
const void *run_probes_launch(unsigned i);
/* Behind that: a tensor map that the launch has as a parameter. */
void run_probes_param(unsigned number, const CUtensorMap *);
bool run_probes_take(void);
/* Has the screen (detect/screen.h) held all launches for clear?  verbose: says why not. */
bool run_probes_clear(uint32_t launch);

/* ---- events.c: the detector, on what was logged -------------------------------------------- */

/* Where a log goes that is told piece by piece. */
const struct emu_events_sink *run_events_sink(void);

/* Before the module is loaded.  False after saying why. */
bool run_events_start(const struct run_job *);
/* Prints and sends what is found.  False: another way to judge finds something else. */
bool run_events_end(const struct run_script *, const struct run_job *);
/* The closing line. */
void run_events_close(void);
/* Has the detector counted something that it could not tell for certain? */
bool run_events_uncertain(void);
/* The same for the oracle; NULL: nothing could be judged. */
struct emu_oracle_pair *run_events_pairs(const struct run_script *, size_t *n);

/* ---- proc.c: the child and what it sends -------------------------------------------- */

/* Fixed-size messages, shorter than PIPE_BUF, so that threads may send them. */
enum run_msg_kind { MSG_FINDING = 1, MSG_ORACLE, MSG_DISAGREE, MSG_END };
/* status of MSG_END: there is no such device; a kernel came to no end, which was said */
enum { END_NO_DEVICE = 100, END_HUNG = 101 };

struct run_msg {
	uint32_t kind, status;
	struct run_finding finding;
};

void run_send(int fd, const struct run_msg *);
int64_t run_now_ms(void);
/* A child that ends with this process, and is told of SIGINT and SIGTERM; less than 0 after
 * saying why there is none. */
pid_t run_fork(void);
/* Waits for its end, as waitpid says it; with our own signal's if there was one. */
int run_await(pid_t);
void run_stay_put(void);        /* memory lies where it lies every time, from exec on */

struct run_child {
	char **argv;            /* this program's own; run again with --child=FD in front */
	const char *options;    /* GSAN_OPTIONS; NULL: as they are */
	const char *device;     /* "emu" or "gpu" */
	bool optional;
	bool oracle;
	bool seeded;
	uint64_t seed;          /* of the emulated device's schedule */
	unsigned sm;            /* the emulated device to be; 0: its own choice */
	unsigned timeout;
};

struct run_result {
	int status;             /* the child's own word; RUN_OTHER if it gave none */
	int exit_status;        /* of the process: 66 and the like */
	bool timed_out;         /* not done in time, or in a deadlock */
	bool deadlock;          /* the latter */
	bool no_device;
	bool disagreed;         /* gsan and the oracle */
};

/* Runs a child to its end or its timeout, adding what it finds, and what the oracle
 * does. */
bool run_spawn(const struct run_child *, struct run_findings *, struct run_findings *oracle,
	       struct run_result *);

/* ---- program.c: programs as they are ------------------------------------------ */

struct run_program {
	char **argv;            /* the program and its arguments */
	enum run_device device;
	bool seeded;
	uint64_t first_seed, last_seed;
	unsigned timeout;       /* seconds; 0: none */
	bool verbose;
	bool alone;             /* do not watch what it starts */
	const char *kernel, *skip, *count;      /* which launches to watch; NULL: all */
};

/* What is wrong with such an expression, in memory that is used again; NULL: nothing. */
/* Does that word name a program: a file that can be executed and is no PTX, or a command of PATH? */
bool run_is_program(const char *word);
const char *run_program_regex(const char *);

/* ---- frameworks.c: what Triton, PyTorch, CuPy and Numba read from the environment, where the user has not set it ---- */

void run_set_frameworks(bool emu);
/* Runs it, for every seed on the emulated device: its status, the first that is not 0;
 * RUN_OTHER if it could not be run, or came to no end. */
int run_program(const struct run_program *);

#endif
