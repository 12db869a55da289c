/* SPDX-License-Identifier: Apache-2.0
 *
 * rti.h: the host runtime, from inside; a section a file.  What it reads of kernels
 * is in event/module.h and event/region.h, what it offers to programs in rt/gsan.h.  The
 * runtime knows libc and the driver API, nothing else: neither
 * the CUDA runtime, which an instrumented program may link before it, nor the
 * parser.
 *
 * Locks, outermost first: rt_dev_lock (what we do on the device), rt_lock
 * (tables).  rt_lock is never held during a driver call.
 */
#ifndef RTI_H
#define RTI_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <spawn.h>
#include <stdint.h>

#include "rt/kinds.h"

/* ---- util.c: memory, text, output -------------------------------------------- */

struct rt_buf { char *text; size_t len, cap; };

void *rt_alloc(size_t bytes);           /* zeroed; never NULL */
void *rt_try_alloc(size_t bytes);       /* zeroed; what may be large, or NULL */
void rt_free(void *);                   /* all of it is freed by this */
bool rt_short(void);                    /* memory ran out once */
void rt_ran_out(void);                  /* it has, elsewhere */
void *rt_grow(void *p, size_t *cap, size_t need, size_t each);
char *rt_copy(const char *text);
void rt_puts(struct rt_buf *, const char *text);
void rt_putn(struct rt_buf *, const char *text, size_t n);
void rt_printf(struct rt_buf *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rt_buf_free(struct rt_buf *);
/* With `*` for any text, `^` and `$` for the ends, and `*` understood at both
 * ends without them. */
bool rt_glob(const char *pattern, const char *text);
void rt_pause_us(long);                 /* less than a second */
uint64_t rt_now_ms(void);
long rt_pid(void);                      /* of the process that reports are of: this one, or the one that was set */
void rt_pid_set(pid_t);

/* ---- locks ------------------------------------------------------------------------ */

/* Each lock of the runtime is listed where it is made: in the child of a fork nobody holds it.  WHOLE: who makes a copy of the
 * process (copy.h) holds it then, so that what it guards is whole there. */
enum rt_lock_kind { RT_LOCK, RT_LOCK_WHOLE };
struct rt_listed { pthread_mutex_t *lock; enum rt_lock_kind kind; };
#define RT_LISTED_ON(line, lock, kind) \
	static struct rt_listed rt_listed_##line __attribute__((used, section("rt_locks"))) = {&(lock), kind}
#define RT_LISTED_HERE(line, lock, kind) RT_LISTED_ON(line, lock, kind)
#define RT_LIST_LOCK(lock, kind) RT_LISTED_HERE(__LINE__, lock, kind)
/* The linker's: all of them. */
extern struct rt_listed __start_rt_locks[] __attribute__((visibility("hidden"))), __stop_rt_locks[] __attribute__((visibility("hidden")));

/* ---- flags.c: GSAN_OPTIONS ------------------------------------------------------ */

struct rt_flags {
#define BOOL(name, value, help) int name;
#define INT(name, value, least, most, help) int name;
#define TEXT(name, value, help) char *name;
#define CHOICE(name, values, help) int name;     /* which of its values */
#include "rt/flags.def"
};

extern struct rt_flags rt_flags;

/* Of proxy_war, which has a value between the two. */
enum { PROXY_WAR_WARN = 1 };

void rt_flags_default(struct rt_flags *);
void rt_flags_free(struct rt_flags *);
/* Reads `text` over `f`.  False after an error, which `err` then holds; unknown
 * keys are added to `warn`, one line each. */
bool rt_flags_parse(struct rt_flags *f, const char *text, struct rt_buf *err, struct rt_buf *warn);
void rt_flags_help(const struct rt_flags *, struct rt_buf *);
/* What the detector is told of: each choice and its value. */
typedef void rt_choice(void *, const char *name, const char *value);
void rt_flags_choices(const struct rt_flags *, rt_choice *, void *);

/* ---- log.c: where text goes ------------------------------------------------------- */

void rt_log(const char *text, size_t n);        /* to log_path */
int rt_write_all(int fd, const void *, size_t n);       /* 0, or the error that kept it from being written whole */
void rt_log_plain(const char *text, size_t n);  /* the same from a signal's handler */
int rt_log_file(void);                          /* its descriptor; -1: not opened yet */
void rt_log_fork(void);                         /* the child opens its own file */
bool rt_log_color(void);
void rt_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));    /* a line "GSan: ..." */
void rt_verbose(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void rt_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));  /* status 2 */

/* ---- a finding with everything it refers to ----------------------------------------- */

#define RT_FRAMES 16

struct rt_frame {
	const char *func;       /* as in the module; "" if unknown */
	const char *shown;      /* demangled, or the same */
	const char *file;       /* "" if unknown */
	uint32_t line;
};

struct rt_place {               /* one side of a finding */
	bool known;             /* false: the site is lost, and nothing below holds */
	const char *call;       /* not a thread's: what the host called, or "the host"; else NULL */
	const char *verb;       /* of a call that neither reads nor writes: "Free"; else NULL */
	bool stream_known;      /* of a call */
	uint64_t stream;
	bool write, atomic, is_volatile, async, read_only;
	enum gsan_level level;
	uint64_t addr;
	uint32_t size;
	uint32_t thread[3];
	bool block_known;
	uint64_t block[3];
	const char *op;         /* the instruction, "st.shared.u32" */
	const char *var;        /* "" if unknown */
	const char *ptx;
	uint32_t ptx_line;
	unsigned nframes;
	struct rt_frame frame[RT_FRAMES];
};

struct rt_process { long pid; const char *cmdline; };

struct rt_report {
	const struct rt_process *process;       /* it happened in; NULL: this one */
	enum gsan_kind kind;
	enum gsan_why why;
	bool shared, tensor;
	enum gsan_values values;        /* of two writes */
	uint64_t addr;
	uint64_t count;
	bool exact;             /* else at least `count` */
	uint32_t launch;        /* 0: unknown */
	uint32_t owner;         /* of shared memory that is not `now`'s block's: 1 + the rank in the
				   cluster of the block that it belongs to */
	const char *kernel;     /* demangled, without parameters; "" if unknown */
	const char *kernel_raw;
	uint32_t grid[3], block[3], cluster[3];
	bool stream_known;
	uint64_t stream;
	struct rt_place now, before;
	char *where;            /* what follows "Location is " */
	const char *var;        /* the variable it lies in; "" if none */
	/* Why it is WHY_OLDER_PHASE: the arrival or the copy, and the phase that it is of; the wait. */
	struct rt_place arrival, wait;
	uint32_t phase;
	/* GLOBAL_BOUNDS, USE_AFTER_FREE: where the memory was made; `before` is where it was freed. */
	struct rt_place made;
	/* SHARED_BOUNDS: by how many bytes it reaches past the end of `var`, which has so many, or, negative, begins before
	 * its start; and the variable in which it lies there; "": none.  No var: all of a block's memory. */
	int64_t outside;
	uint64_t var_bytes;
	const char *in;
	bool suppressed;        /* by the user's list */
	bool repeated;          /* same source lines as an earlier one, */
	bool merged;            /* to which its count has been added */
	bool filtered;          /* kernel_filter */
	char *hang;             /* DEADLOCK: lines that say why; else NULL */
	uint32_t number;        /* among the findings of the verdict, */
	const struct rt_verdict *verdict;       /* whose finding it is */
	uint64_t seen_ms;
	bool told;
};

const char *rt_kind_name(enum gsan_kind);

/* ---- tool.c ---------------------------------------------------------------------------- */

/* For a program that we run: without what would be loaded into it; to be freed. */
char **rt_plain_environment(void);
/* In it, without blocked signals and handlers, which are the program's affair. */
bool rt_spawn(pid_t *, char *const argv[], const posix_spawn_file_actions_t *);

/* ---- locate.c ------------------------------------------------------------------------- */

struct rt_block;
void rt_locate_barrier(struct rt_buf *, const struct rt_report *);
void rt_locate_tensor(struct rt_buf *, const struct rt_report *);
void rt_locate_shared(struct rt_buf *, struct rt_report *, uint64_t size);     /* of its variable; 0: unknown */
void rt_locate_outside(struct rt_buf *, const struct rt_report *);
void rt_locate_global(struct rt_buf *, const struct rt_report *, const struct rt_block *);
/* Behind a block: `outside` bytes of the access. */
void rt_locate_behind(struct rt_buf *, const struct rt_report *, const struct rt_block *);

/* ---- print.c: text of a report, nothing else ---------------------------------------- */

struct rt_look {                /* how reports look */
	long pid;
	bool color, summary, source;
	const char *strip;      /* prefix of file names */
	const char *cmdline;    /* NULL: none */
};

void rt_print_report(struct rt_buf *, const struct rt_report *, const struct rt_look *);
/* One sentence: what would order the two, and where it would go. */
void rt_print_missing(struct rt_buf *, const struct rt_report *, const struct rt_look *);
void rt_print_spot(struct rt_buf *, const struct rt_place *, const struct rt_look *);

enum { RT_INEXACT = 8 };

struct rt_totals {              /* what the closing line says */
	uint64_t findings, suppressed, beyond_limit, filtered, warned;
	uint64_t launches, graphs, kernels_watched;
	uint64_t sites, unmodelled, unknown, modules, bare_modules;
	uint64_t bare_launches; /* of kernels that are not instrumented */
	const char *const *bare;        /* their names */
	size_t nbare;
	uint64_t other_device, unregistered;
	uint64_t same_values;   /* unordered writes of one value, left out */
	/* Launches in which there was nothing to judge, that could not be watched, whose log was lost, and that were not
	 * judged to their end; and what the detector did not take exactly. */
	uint64_t clear, unwatched, lost_logs, cut;
	uint64_t left_blocks, late_blocks;      /* that were not judged, since others of their launch had findings; for lack of time */
	/* Pairs that synchronise through memory, calls that may order anything, deeds that were not followed (order.h). */
	uint64_t talked, unseen, deeds_dropped;
	uint64_t not_kept;      /* launches that are not in the file that was asked for */
	uint64_t unchosen;      /* launches that launch_kernel, launch_skip and launch_count leave out */
	/* Under gsan-run: modules that have machine code alone, and those that could not be instrumented. */
	uint64_t code_alone, as_they_are;
	struct { const char *name; uint64_t n; } inexact[RT_INEXACT];
	bool still_running;     /* at the end, after the time limit */
	bool memory;            /* ran out */
	bool missing, bypassed; /* the driver: not to be loaded, or called past us */
	const char *failed;     /* the first of the program's calls to fail, or NULL */
	const char *error;      /* its error's name */
	const char *off;        /* why nothing could be watched, or NULL */
};

bool rt_nothing_watched(const struct rt_totals *);
bool rt_incomplete(const struct rt_totals *);   /* something was not seen, or not exactly */

void rt_print_closing(struct rt_buf *, const struct rt_totals *);

/* ---- demangle.c ------------------------------------------------------------------------ */

/* As c++filt would say it, or `name` itself; lives as long as the process. */
const char *rt_demangle(const char *name);
/* The name alone, without return type and parameters. */
char *rt_bare_name(const char *shown);

/* ---- supp.c: suppressions ----------------------------------------------------------------- */

struct rt_supp { char *type, *pattern; int kind; uint64_t hits; };
struct rt_supps { struct rt_supp *list; size_t n, cap; };

extern struct rt_supps rt_supps;

bool rt_supps_parse(struct rt_supps *, const char *text, const char *origin, struct rt_buf *err);
bool rt_supps_load(struct rt_supps *, const char *path, struct rt_buf *err);
bool rt_suppressed(struct rt_supps *, const struct rt_report *);
bool rt_may_suppress(const struct rt_supps *, const struct rt_report *);       /* the same, and no hit */
void rt_supps_list(const struct rt_supps *, struct rt_buf *);  /* the used ones */
void rt_supps_free(struct rt_supps *);
void rt_supp_line(struct rt_buf *, const struct rt_report *);   /* one that matches it */

/* ---- alloc.c: the program's memory ------------------------------------------------------- */

/* FREED: it was there. */
enum rt_mem { RT_MEM_DEVICE, RT_MEM_MANAGED, RT_MEM_HOST, RT_MEM_MAPPED, RT_MEM_VARIABLE, RT_MEM_FREED, RT_MEM_GRAPH };

/* A place of the program's that called the driver, which `fill` puts into a report. */
struct rt_made { void (*fill)(const struct rt_made *, struct rt_place *); };

struct rt_block {
	uint64_t addr, bytes;
	enum rt_mem kind;
	bool part;              /* of another one, by an allocator of the program's own (gsan.h) */
	const void *owner;      /* module of a variable */
	const char *name;       /* of a variable */
	const struct rt_made *made, *freed;     /* NULL: it is not known where */
};

struct rt_blocks { struct rt_block *list; size_t n, cap; uint64_t changes; };

void rt_block_add(struct rt_blocks *, const struct rt_block *);
/* Takes out the block that starts at `addr`, a part or none; false if there is none. */
bool rt_block_take(struct rt_blocks *, uint64_t addr, bool part, struct rt_block *was);
/* Takes out a part that starts in [addr, addr + bytes). */
bool rt_block_take_part(struct rt_blocks *, uint64_t addr, uint64_t bytes, struct rt_block *was);
/* Takes out a mapping that lies in [addr, addr + bytes). */
bool rt_block_take_mapped(struct rt_blocks *, uint64_t addr, uint64_t bytes, struct rt_block *was);
/* Takes out some block of `owner`. */
bool rt_block_take_owned(struct rt_blocks *, const void *owner, struct rt_block *was);
/* Makes one as the other is; the names are shared. */
void rt_blocks_copy(struct rt_blocks *, const struct rt_blocks *);
/* The block that `addr` lies in, the innermost if several are. */
bool rt_block_find(const struct rt_blocks *, uint64_t addr, struct rt_block *was);

/* ---- init.c: starting, forking ----------------------------------------------------------- */

extern pthread_mutex_t rt_lock;         /* tables */
extern pthread_mutex_t rt_dev_lock;     /* what we do on the device */

void rt_start(void);            /* options and suppressions, once */
bool rt_forked(void);           /* in a child that cannot use the device */

/* ---- end.c ------------------------------------------------------------------------------ */

enum { RT_UNWATCHED = 65 };     /* status under strict=1 if nothing was watched */

void rt_end_watch(void);        /* the driver is there: see how the process ends */
void rt_end_fork(bool has_driver);
void rt_exit_soon(bool launched);       /* have the end of the process seen in time */
_Noreturn void rt_halt(void);   /* for halt_on_error */
_Noreturn void rt_end_alone(void);      /* in a copy of the process (copy.h), behind what is judged there */
void rt_end_hung(void);         /* from a thread of ours: the program waits for ever; returns if it ends already */
int rt_finish(void);            /* as gsan_finish, gsan_off */
void rt_off(void);
bool rt_is_off(void);           /* or ended */
int rt_end_with(int status);    /* the process ends with that; returns the status instead */

#endif
