/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.h: what modules carry, where a launch logs, who reads that and judges it.
 */
#ifndef RT_JUDGE_H
#define RT_JUDGE_H

#include "detect/detect.h"
#include "event/module.h"
#include "log/drain.h"
#include "log/region.h"
#include "rt/drv.h"

/* ---- what modules carry -------------------------------------------------------------------------- */

/* Sites of all units of a module, in a row. */
struct rt_linked { struct event_sites sites; uint32_t nvariables; bool lets_go /* griddepcontrol.launch_dependents */; bool talks /* by memory that not only a block has */; uint32_t kept; };

/* What a translation unit carries; `n` has the counts. */
struct rt_tables {
	const struct rt_module *module;
	char *name;                     /* of the kernel that tells of it */
	struct rt_linked *linked;
	uint32_t base;                  /* of its first site among those, */
	uint32_t variables;             /* and of its first variable of shared memory */
	struct module_tables n;
	const struct event_site *site;
	const struct event_run *run;
	const struct module_spot *spot;
	const struct module_frame *frame;
	const struct module_kernel *kernel;
	const struct module_global *global;
	const struct event_origin *origin;
	const struct module_variable *variable;
	const char *strings;
	uint32_t kept;                  /* its number, from 1, in the file of log=DIR, as that of the module; 0: it is not there */
	struct rt_tables *next;
};

static inline const char *rt_string(const struct rt_tables *t, uint32_t at) { return at < t->n.nstrings ? t->strings + at : ""; }
/* ---- units.c; with rt_lock: */
struct rt_tables *rt_units(void);       /* all */
void rt_unit_add(struct rt_tables *);   /* links it: `linked` and `base` */
/* Without: the unit that has a site of its module; sites of all that are linked. */
const struct rt_tables *rt_unit_of(const struct rt_tables *, uint32_t site);
struct event_sites rt_sites_linked(const struct rt_tables *);
/* The name of a variable of shared memory, by its number among all that are linked; "": there is none. */
const char *rt_variable_name(const struct rt_tables *, uint32_t variable);

/* ---- tables.c ------------------------------------------------------------------------------------ */

/* Of a function that is launched; NULL: it does not log. */
const struct module_kernel *rt_kernel_of(struct rt_func *, const struct rt_tables **);

/* ---- way.c --------------------------------------------------------------------------------------- */

/* Whoever uses one of these has called rt_way_begin(), and calls rt_way_end() behind it: then the context that owns the
 * log's memory is current.  One is for the thread that drains, the other one for whoever has the lock. */
enum rt_way { RT_WAY_DRAIN, RT_WAY_TAKE, RT_WAYS };
void rt_way_forget(void);       /* nobody can read by them any more */
const struct log_way *rt_way_begin(enum rt_way);        /* NULL: a driver call failed */
void rt_way_end(enum rt_way);
/* The same in a context of the program's, which is current, and need not be switched: it can write what a kernel will log
 * into.  NULL: it is not known. */
const struct log_way *rt_way_here(CUcontext);
void rt_way_leave(void);
/* In a stream that was given to that hook, in front of what comes there next: for what a region begins with, if
 * rt_clear_can_write(). */
struct log_way rt_way_in_stream(enum rt_hook, CUstream);
const struct log_way *rt_way_to_drain(void);    /* for log_drain_begin(), without being on it */

uint64_t rt_lanes(void);                /* that the device can hold */
/* Memory for a launch's log, of at least so many bytes, all zero but for what log_prepare() writes and a queue; with RT_WAY_TAKE.
 * queue: the shape of the launch whose it is; of none at first.  frees: what is spare may be given back for it.  False: there is
 * none now. */
struct rt_memory { CUdeviceptr at; uint64_t bytes; struct log_shape queue; struct rt_slab *slab; };
bool rt_memory_get(const struct log_way *, uint64_t bytes, bool frees, struct rt_memory *);
uint64_t rt_memory_most(void);          /* bytes, of all together */
bool rt_memory_spare(uint64_t bytes, struct rt_memory *);       /* such as was given back; without being on a way */
void rt_memory_put(const struct rt_memory *);           /* as it was */
void rt_memory_lose(const struct rt_memory *);          /* of a launch that may go on */

/* ---- judge.c ------------------------------------------------------------------------------ */

/* Is a launch clear, by the device?  UNASKED: it was not asked, or cannot tell. */
enum rt_clear { RT_CLEAR_UNASKED, RT_CLEAR_NOT, RT_CLEAR };

/* A launch, from before it starts until it is judged. */
struct rt_launch {
	uint32_t number;                /* among all, from 1 */
	uint32_t nth;                   /* of its kernel */
	struct rt_func *func;
	const struct rt_tables *tables;
	const struct module_kernel *kernel;
	CUcontext ctx;
	uint64_t stream;
	CUevent behind;                 /* recorded behind it; NULL: not yet; */
	bool unsettled;                 /* it is to be, when something comes behind it (rt_judge_settle) */
	enum rt_state { RT_READYING, RT_READY, RT_ISSUED, RT_OVER, RT_DROPPED } state;  /* atomic */
	bool failed, running, late;     /* it ended in an error; it was left running; the device ended it: it took too long */
	uint32_t grid[3], block[3], cluster[3];
	bool early;                     /* it need not wait for the one before it */
	bool beside;                    /* a graph's: others of its stream may run beside it */
	struct rt_memory memory;
	bool kept;                      /* that is not used again */
	struct log_shape shape;
	struct log_drain *drain;
	uint64_t since;                 /* ms: when it was launched */
	uint64_t looked;                /* ms: when somebody looked last whether its region is full; 0: nobody yet */
	bool full;                      /* it is over, and its region was full while it ran */
	bool asked;                     /* whether it is clear; and what came of that: */
	enum rt_clear there;
	bool large;                     /* its log is one that is judged in portions */
	uint64_t *note;                 /* of so many blocks: what the device has against them, as rt_question has it */
	uint32_t notes;
	struct event_map *map;          /* tensor maps that are its parameters */
	size_t nmaps, map_cap;
	struct event_place *place;      /* of its kernel's variables of shared memory */
	uint32_t nplaces;
	struct rt_deed *deed;           /* order.h; NULL: nobody wants to know what it touches */
	struct rt_hang *hang;           /* hang.h; NULL: it has not been looked at */
	struct rt_launch *next;
};

/* ---- event.c ---------------------------------------------------------------------------------------- */

/* An event behind the launch (behind), in the stream that it was put into through that hook.  Without one the launch is over
 * when the program has waited for it. */
void rt_event_record(struct rt_launch *, enum rt_hook, CUstream);
bool rt_event_over(CUcontext, CUevent);         /* all before it is */
void rt_event_leave(CUcontext, CUevent);        /* nobody asks about it any more */
void rt_events_forget(CUcontext);               /* it ends, and they with it */

/* ---- judge.c, again ------------------------------------------------------------------------------------ */

/* In front of the first watched launch in a context, which is current. */
void rt_judge_begin(CUcontext);
/* Gives it a number; it is early only right behind the launch before it.  Then: its memory is ready, and from now on
 * drained; it was launched, for the nth time of its kernel, and if `record` the event behind it can be recorded now; or it
 * was not launched, and is forgotten. */
void rt_judge_add(struct rt_launch *);
const char *rt_judge_ready(struct rt_launch *); /* NULL, or why it cannot be drained */
void rt_judge_issued(struct rt_launch *, uint32_t nth, enum rt_hook, CUstream, bool record);
void rt_judge_drop(struct rt_launch *);
/* Something comes into a stream that waits for all before it: records what events have not been recorded yet. */
void rt_judge_settle(CUcontext, enum rt_hook, CUstream, uint64_t key);
/* Launches of that stream, or of the context's (NULL), are over up to a number: of the last one before it was asked. */
uint32_t rt_judge_last(void);
void rt_judge_over(CUcontext, const uint64_t *key, uint32_t upto);
uint32_t rt_judge_known_over(void);     /* all up to that number are known to be over */
bool rt_judge_under_way(void);          /* Is there a launch that is not judged yet? */
uint32_t rt_judge_done(void);           /* all are judged up to that number */
bool rt_judge_drains(void);             /* Is there somebody who empties regions? */
/* Judges what is over.  wait: everything that is known to be over; else as much as can be done now. */
void rt_judge_catch_up(bool wait);
/* In a copy of the process that is gone, whose only thread it is: all that was under way.  later: launches that the copy lacks. */
void rt_judge_alone(uint64_t later);
/* ---- count.c -------------------------------------------------------------------------------------------- */

/* A launch that could not be watched; counted, and each reason (a literal) said once; NULL: it was said. */
void rt_judge_unwatched(const char *why);

/* ---- issue.c -------------------------------------------------------------------------------------------- */

/* What is launched.  params: its own, or NULL. */
struct rt_issue {
	struct rt_func *f;
	const struct rt_tables *tables;
	const struct module_kernel *k;  /* NULL: it does not log */
	CUcontext ctx;
	uint64_t stream;
	uint32_t grid[3], block[3], cluster[3];
	bool early, beside;
	bool in_stream;                 /* what it needs may go into its stream in front of it: */
	enum rt_hook which;
	CUstream s;
	void **params;
	struct rt_deed *deed;           /* NULL */
};

/* One that is not watched though it should be, and why; NULL: for what is counted elsewhere.  It is counted if it is launched:
 * behind a fault none is. */
struct rt_missed { bool any; const char *why; };
void rt_issue_missed(const struct rt_missed *);
/* The parameter behind its own ones, whether it is watched or not (NULL). */
struct rt_launch *rt_issue_launch(const struct rt_issue *, struct region_launch *, struct rt_missed *);
/* Of a launch that nobody watches. */
struct region_launch rt_issue_nowhere(void);
void rt_issue_learn(const struct rt_launch *, uint32_t next);   /* it is over; next: of its region's head */
uint32_t rt_issue_count(struct rt_func *, CUcontext); /* it was launched, for the n-th time */
void *rt_param_buffer(void **extra, size_t *size);     /* that of `extra`, or NULL */

/* ---- tmap.c ------------------------------------------------------------------------------------------- */

/* What 128 bytes say; false: nobody has seen how they were made. */
bool rt_map_find(const void *, struct event_map *);
/* The i-th one that was made; false: there are fewer. */
bool rt_map_get(size_t i, struct event_map *);

/* ---- past.c ------------------------------------------------------------------------------------------- */

/* The blocks when that launch was issued, and those that had been freed; with rt_lock, until it is called again. */
const struct rt_blocks *rt_mem_at(const struct rt_launch *);

/* ---- made.c; with rt_lock: */

/* Adds what had been freed when the launch was issued, and was not used again since; `to` NULL: is there any? */
bool rt_freed_at(const struct rt_launch *, struct rt_blocks *to);

/* ---- verdict.c; one is one thread's at a time ------------------------------------------------------------- */

/* By the choices of the flags; process: of its reports, NULL: this one. */
struct rt_verdict *rt_verdict_new(const struct rt_flags *, const struct rt_process *);
/* Its reports have their counts, and stay. */
void rt_verdict_close(struct rt_verdict *);
void rt_verdict_map(struct rt_verdict *, const struct event_map *);     /* that the driver made */
const struct event_map *rt_verdict_maps(const struct rt_verdict *, size_t *n);
/* The program's memory is as the blocks say, which findings from now on are looked up in. */
void rt_verdict_memory(struct rt_verdict *, const struct rt_blocks *);
const struct rt_blocks *rt_verdict_blocks(const struct rt_verdict *);
bool rt_verdict_block(const struct rt_verdict *, uint64_t address, struct rt_block *);
/* As the detector is told of them. */
const struct event_block *rt_verdict_ground(const struct rt_verdict *, size_t *n);
bool rt_verdict_is_strict(const struct rt_verdict *);   /* as detect_is_strict() */
/* A launch that is over: it belongs to the verdict now, and reports may tell of it.  Then, if it is judged, and all of
 * its pieces are right (event_piece_wrong): where its log is cut, or NULL; its pieces; and its findings are reported. */
void rt_verdict_take(struct rt_verdict *, struct rt_launch *);
const struct rt_launch *rt_verdict_launch(const struct rt_verdict *, uint32_t number);  /* NULL: it is forgotten */
void rt_verdict_begin(struct rt_verdict *, const struct rt_launch *, const uint64_t *cut);
const char *rt_verdict_feed(struct rt_verdict *, const struct event_piece *);   /* as detect_feed() */
/* What was fed so far is judged, and what is found reported.  Returns whether any of that is one that is
 * told (rt_is_told()), though perhaps not for the first time. */
bool rt_verdict_look(struct rt_verdict *);
/* False: there was no memory to judge it, nor what comes behind it (rt_ran_out). */
bool rt_verdict_end(struct rt_verdict *, const struct rt_launch *);
/* Does that, which may ask the detector or the screen; false: there was no memory for it, and it was left as it was
 * (rt_ran_out). */
bool rt_with_memory(void (*work)(void *), void *arg);
void rt_verdict_count(const struct rt_verdict *, struct rt_report *);   /* brings its count up to date */
void rt_verdict_totals(const struct rt_verdict *, struct rt_totals *);  /* adds what it counted */

/* ---- found.c ------------------------------------------------------------------------------------------ */

struct rt_report *rt_found(const struct detect_finding *, const struct rt_verdict *);

/* ---- keep.c: the file of log=DIR; with the lock of the verdict ------------------------------------------ */

/* A launch that the verdict has taken, before it is judged. */
void rt_keep_launch(const struct rt_verdict *, const struct rt_launch *, const struct log_copy *, const struct log_fill *, uint32_t n);
bool rt_keeps(void);                    /* it is asked for */
int rt_keep_file(void);                 /* its descriptor; -1: there is none (yet, or any more) */
void rt_keep_no_more(void);             /* than are in a file that is there: none is opened */
void rt_keep_count(struct rt_totals *);
void rt_keep_end(const struct rt_totals *);     /* the process ends, and has counted that */

#endif
