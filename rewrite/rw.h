/* SPDX-License-Identifier: Apache-2.0
 *
 * rw.h: what the passes of librewrite share.  Grouped by the file that
 * implements each part, in the order in which pass.c runs them.  A pass may
 * rely on everything the earlier ones filled in, and on nothing later.
 */
#ifndef RW_H
#define RW_H

#include <string.h>

#include "ptxparse/ptx.h"
#include "rewrite/rewrite.h"
#include "rt/abi.h"

/* A run of statements that is entered only at its top and left only at its
 * bottom.  Nested scopes do not end one. */
struct rw_block {
	struct ptx_stmt *first, *last;
	struct rw_event *events;        /* elide.c: its own, `nevents` of them */
	unsigned nevents;
	bool falls;             /* control can reach the statement behind `last` */
	bool waits;             /* for others, perhaps: calls functions, or has .sync */
};

/* An `if` whose lanes come together again, see join.c. */
struct rw_join { struct ptx_stmt *branch, *label; };

/* What a register is known to hold, whatever path led there. */
enum rw_where {
	WHERE_NONE,             /* no definition seen */
	WHERE_GLOBAL,           /* an address in global memory (also a generic one) */
	WHERE_SHARED,           /* offset in this block's shared window */
	WHERE_GENERIC_SHARED,   /* generic address of that */
	WHERE_PRIVATE,          /* address in .local, .param or .const of that space */
	WHERE_GENERIC_PRIVATE,  /* generic address of that */
	WHERE_ANY               /* anything else: a number, an address not known */
};

struct rw_value {
	enum rw_where where;
	const struct ptx_sym *var;      /* variable it points into, NULL if not known */
};

enum rw_what {
	WHAT_READ,              /* weak */
	WHAT_WRITE,
	WHAT_RANGE,             /* weak, number of bytes in an operand */
	WHAT_ROWS,              /* weak, a warp's tile */
	WHAT_STRONG,
	WHAT_BARRIER,
	WHAT_WARP_SYNC,
	WHAT_FENCE,
	WHAT_MBAR,              /* any operation of an mbarrier but a wait */
	WHAT_MBAR_WAIT,
	WHAT_COPY,              /* asynchronous */
	WHAT_GROUP,             /* of such copies: commit, wait */
	WHAT_TENSOR,            /* copy of a tile */
	WHAT_MAP_EDIT,          /* tensormap.replace */
	WHAT_MAP_COPY,          /* tensormap.cp_fenceproxy */
	WHAT_MAP_FENCE,         /* fence.proxy.tensormap::generic */
	WHAT_WGMMA,             /* what it reads of shared memory */
	WHAT_TCGEN05,
	WHAT_TCGEN05_OTHER,     /* a form of which it is not known what it touches */
	WHAT_PROXY_FENCE,
	WHAT_INIT_FENCE,        /* fence.mbarrier_init */
	WHAT_CLUSTER_ARRIVE,
	WHAT_CLUSTER_WAIT,
	WHAT_GRID_GO,           /* griddepcontrol.launch_dependents */
	WHAT_GRID_WAIT,
	WHAT_UNMODELLED,
	WHAT_LEAVE              /* the thread ends here: exit, or ret of an entry */
};

/* One thing to tell the runtime of. */
struct rw_event {
	struct ptx_stmt *stmt;
	const struct ptx_operand *addr; /* the OP_ADDR */
	/* What else an asynchronous instruction's call passes, NULL if it is not there.
	 * MBAR: number; MBAR_WAIT: parity; COPY: source, bytes (`stride` without), bytes
	 * read or the blocks it goes to, mbarrier;
	 * TENSOR: shared address, mbarrier, blocks, im2col offsets; MAP_EDIT: value; MAP_COPY: source;
	 * WGMMA: descriptors; GROUP: how many may be pending; TCGEN05: what stands behind the
	 * address. */
	const struct ptx_operand *arg[4];
	const struct ptx_sym *var;      /* what it points into, NULL if not known */
	uint32_t info;                  /* GSAN_INFO_*, or the operation of an asynchronous one */
	uint32_t site;
	union {
		struct { uint16_t rows, row_bytes; };   /* ROWS */
		uint32_t next;          /* of a column: events to its next member */
	};
	uint32_t stride;                /* of a column of `n`, in bytes; all checked by the first's call */
	unsigned char what;             /* enum rw_what */
	unsigned char rule;             /* enum rw_rule: RULE_NONE, or why it gets no call */
	unsigned char lanes;            /* lanes that access; 0: all */
	bool matrix : 1;                /* ldmatrix, stmatrix */
	bool written : 1;               /* a read whose bytes its source line writes next */
	bool put_by : 1;                /* WGMMA: the next one's call tells of it */
	char space;                     /* 'g', 's', 'x'; 'c': shared::cluster; 'm': multimem; 'y': generic, and
					   perhaps a peer's shared memory; 'p': private */
	unsigned char type_bits;        /* ROWS: of one element */
	unsigned char more;             /* bytes behind its own that its call checks as well; of WGMMA: products
					   before it that its call tells of as well */
	unsigned char n;                /* elements of a column behind its own */
};

/* Statements to come back to: memory is what every walk over all of them costs. */
struct rw_list { struct ptx_stmt **p; size_t n, cap; };

/* A function with a body; hangs off ptx_func.user, and off that of a label its
 * block's number. */
struct rw_func {
	struct ptx_func *f;
	struct rw_block *blocks;
	unsigned nblocks;
	struct rw_list candidates;      /* what may be an event, in order */
	struct rw_list bits;            /* what may test bits, see quirk.c */
	struct rw_list masks;           /* activemask */
	const struct ptx_loc *first_loc;        /* where it begins in its source, or NULL */
	bool has_setmaxnreg;
	bool tiles;                     /* its threads hold parts of matrices in registers */
	bool posts, outlives;           /* as in struct rw, of it and what it may call */
	struct rw_value *values;        /* per register number */
	struct rw_event *events;        /* in the order of their statements */
	unsigned nevents;
	struct rw_join *joins;          /* in the order of their statements; none within another */
	unsigned njoins;
	bool watched;                   /* an entry that `kernel` selects, or a .func */
	bool columns;                   /* some calls check a column */
	bool weak;                      /* an entry that calls nothing: weak accesses and barriers alone */
	uint32_t site;                  /* of an entry */
};

/* Every function that instrumented code may call: RW_FN_ENTER and so on. */
enum rw_fn {
#define FN(id, name, result, params) RW_FN_##id,
#include "rewrite/calls.def"
	RW_FN_COUNT
};

/* Text in the making, in the module's arena. */
struct rw_text {
	char *start, *p, *end;
	size_t total;           /* bytes of all texts, for the size of the output */
};

struct rw {
	struct ptx_module *m;
	const char *path;
	const struct gsan_rewrite_options *options;
	struct gsan_rewrite_stats *stats;
	ptx_report_fn *report;
	void *report_arg;
	const char *input;
	size_t input_len;
	struct rw_func **funcs;
	unsigned nfuncs;
	bool peers;                     /* it makes addresses of peers' shared memory */
	bool posts;                     /* it has copies that the runtime may go through later */
	bool outlives;                  /* it has what may use shared memory when a block ends */
	bool loose;                     /* it has relaxed operations, by which threads may synchronise */
	unsigned splits;                /* calls before branches so far */
	struct rw_list vars;            /* declarations of memory, in functions too */
	struct rw_text text;
	struct ptx_buf spare;           /* for an operand on its way there */
	bool used[RW_FN_COUNT];         /* calls that were emitted */
	struct rw_sites *sites;
};

/* ---- pass.c ----------------------------------------------------------------- */

/* Room for so many bytes and some more, malloc'd; NULL, and none, if there is no memory.  In
 * huge pages if the kernel grants them, or all pages at once, because most of the time
 * goes into first touches. */
char *rw_room(size_t *bytes);
/* Reports an error at a line of the input. */
void rw_error(struct rw *, unsigned line, unsigned col, const char *text);

/* ---- resolve.c -------------------------------------------------------------- */

/* True if the module is gsan's own output.  Reports an error (m->nerrors) if it
 * uses reserved names without being that. */
bool rw_resolve(struct rw *);

/* ---- cfg.c ------------------------------------------------------------------ */

void rw_cfg(struct rw *);
void rw_list_add(struct rw *, struct rw_list *, struct ptx_stmt *);
void rw_dump_cfg(const struct rw *, FILE *);

/* ---- space.c ---------------------------------------------------------------- */

void rw_space(struct rw *);
void rw_dump_space(const struct rw *, FILE *);
/* What an address operand points to, before the space of its instruction is
 * looked at. */
struct rw_value rw_address(const struct rw_func *, const struct ptx_operand *addr);

/* ---- class.c ---------------------------------------------------------------- */

void rw_class(struct rw *);
void rw_dump_class(const struct rw *, FILE *);

/* ---- async.c ---------------------------------------------------------------- */

/* What an asynchronous instruction does; false: nothing that is known. */
bool rw_async(const struct rw_func *, const struct ptx_inst *, struct rw_event *);

/* ---- tcgen05.c -------------------------------------------------------------- */

/* The same of tcgen05. */
bool rw_tcgen05(struct rw *, const struct rw_func *, const struct ptx_inst *, struct rw_event *);

/* ---- elide.c ---------------------------------------------------------------- */

void rw_elide(struct rw *);

/* ---- join.c ----------------------------------------------------------------- */

void rw_join(struct rw *);

/* ---- quirk.c ---------------------------------------------------------------- */

/* Whether an instruction belongs on rw_func.bits. */
bool rw_is_bits(const struct ptx_inst *);
/* Makes tests of single bits compare with register `zero`, if there are so many
 * that ptxas would fail.  True if it did: the register must be set to 0 in a way
 * that ptxas cannot see through. */
bool rw_hide_zero(struct rw *, struct ptx_func *, const char *zero);
/* Makes what each activemask returns the lane's own, with register `own` as scratch.  True if there
 * was one. */
bool rw_own_masks(struct rw *, struct ptx_func *, const char *own);
/* Leaves every setmaxnreg out. */
void rw_drop_setmaxnreg(struct ptx_func *);
/* How many registers a kernel may have. */
void rw_bound_registers(struct rw *, const struct rw_func *);

/* ---- text.c ----------------------------------------------------------------- */

void rw_open(struct rw *);
void rw_reserve(struct rw *, size_t bytes);     /* room for so many, and one more */
const char *rw_close(struct rw *);      /* ends what rw_open began; NUL-terminated */
/* Here, because most of what is put has a length that the compiler knows. */
static inline void rw_putn(struct rw *r, const char *s, size_t n)
{
	if ((size_t)(r->text.end - r->text.p) <= n)
		rw_reserve(r, n);
	memcpy(r->text.p, s, n);
	r->text.p += n;
}
void rw_puts(struct rw *, const char *);
void rw_putu(struct rw *, uint64_t);
void rw_puti(struct rw *, int64_t);
void rw_putx(struct rw *, uint64_t);    /* 16 digits */
void rw_put_words(struct rw *, const uint32_t *, size_t n);     /* 1,2,3 */
void rw_put_bytes(struct rw *, const unsigned char *, size_t n);
void rw_put_operand(struct rw *, const struct ptx_operand *);
#define RW_PUT(r, literal) rw_putn((r), (literal), sizeof(literal) - 1)

/* ---- insert.c --------------------------------------------------------------- */

void rw_insert(struct rw *);

/* ---- site.c ----------------------------------------------------------------- */

struct rw_sites *rw_sites_new(struct rw *);
/* Number of a new site; `in` NULL: the entry `f` itself. */
uint32_t rw_site(struct rw *, const struct rw_func *f, const struct ptx_stmt *in,
		 const struct ptx_sym *var, uint32_t info);
/* Appends the tables and struct gsan_module; everything they refer to has been
 * declared before. */
void rw_put_sites(struct rw *);
/* The same for probes (tables.c): where the next site is, `in` NULL: nowhere; a string of theirs; the arrays of
 * spots, frames, globals and strings. */
struct rw_sites_size { uint32_t frames, globals, strings, path; };
void rw_spot(struct rw *, const struct ptx_func *, const struct ptx_stmt *in, const struct ptx_sym *var);
uint32_t rw_string(struct rw *, const char *);
struct rw_sites_size rw_put_spots(struct rw *);
/* An array of words, its address in another one's initialiser (0: there is none), and two words as one of 64 bits. */
void rw_put_array(struct rw *, const char *name, const uint32_t *, size_t n);
void rw_put_address(struct rw *, const char *name, bool there);
void rw_put_pair(struct rw *, uint32_t low, uint32_t high, const char *behind);

/* ---- tables.c --------------------------------------------------------------- */

/* Puts probes into the module, and their tables. */
void rw_probe(struct rw *);

/* ---- attach.c --------------------------------------------------------------- */

void rw_attach(struct rw *);
void rw_raise_header(struct rw *);      /* to the oldest version and target that can be instrumented */
uint64_t rw_hash(const char *, size_t);

/* ---- runtime.c (made by the program embed from the device runtime's PTX) ------- */

/* The runtime for every target, and the one that may use what sm_90 brought. */
enum rw_variant { RW_VARIANT_ANY, RW_VARIANT_SM90, RW_VARIANTS };

/* One function, prototype or variable, without linkage and its last newline. */
struct rw_part {
	const char *name;
	const char *text;
	size_t len;
	const unsigned short *needs;    /* 1 + number of each part it refers to, then 0 */
	unsigned definition;            /* itself, or what it is the prototype of */
};

struct rw_runtime {
	const struct rw_part *parts;
	unsigned n;
	const unsigned short *fns;      /* 1 + number of the part that each rw_fn is, 0 if none */
};
extern const struct rw_runtime rw_runtimes[RW_VARIANTS];

/* ---- phase.c ---------------------------------------------------------------- */

void rw_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Runs a command and returns its status as a shell would give it.  `said`: gets
 * what it wrote to standard error, malloc'd, instead of that; NULL if it could not
 * be kept back. */
int rw_phase(char **argv, char **said);
bool rw_interrupted(void);      /* a signal came */
/* What the signal tells of (SIGXFSZ, SIGPIPE) is an error of write() instead, for us and
 * not for phases. */
void rw_error_instead(int sig);

/* ---- origin.c --------------------------------------------------------------- */

void rw_origin_keep(const char *rewritten, size_t rewritten_len, const char *text, size_t len);
/* What `rewritten` was made of, malloc'd; NULL if nobody kept it. */
char *rw_origin(const char *rewritten, size_t rewritten_len, size_t *len);

/* True the first time that one of the phases of one nvcc asks it of this text. */
bool rw_first(const char *text);

/* ---- said.c ---------------------------------------------------------------- */

/* Of what ptxas said of instrumented code, what is about the program; malloc'd.  plain:
 * what it says of the program's own PTX, NULL if that is not known.  figures: there are
 * some of the program's functions, which instrumentation has changed. */
char *rw_said_of_program(const char *said, const char *plain, bool *figures);

/* ---- wrap.c ----------------------------------------------------------------- */

/* Runs a compiler phase with the PTX that it writes or reads rewritten; returns
 * its exit status. */
int rw_wrap(char **argv, const struct gsan_rewrite_options *);

/* ---- file.c ----------------------------------------------------------------- */

/* All of a file ("-": stdin), malloc'd; NULL with errno set. */
char *rw_read_file(const char *path, size_t *len);
/* Writes a regular file so that it is there whole or not at all, through links; anything
 * else ("-", a pipe, /dev/stdout) as a stream.  False with errno set. */
bool rw_write_file(const char *path, const char *text, size_t len);
/* The regular file that the name leads to, or would if it were there, malloc'd; NULL:
 * to something else. */
char *rw_regular(const char *path);
/* An empty file of a new name beside `path`, malloc'd, open as *fd; NULL with errno set. */
char *rw_beside(const char *path, int *fd);

#endif
