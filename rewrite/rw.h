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

/* What a register holds, whatever path led there. */
struct rw_value {
	bool defined;                   /* a definition has been seen */
	const struct ptx_sym *var;      /* it is an address in that variable; NULL: not known */
};

/* Statements to come back to: memory is what every walk over all of them costs. */
struct rw_list { struct ptx_stmt **p; size_t n, cap; };

/* A function with a body. */
struct rw_func {
	struct ptx_func *f;
	struct rw_value *values;        /* per register number */
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
	struct rw_func *funcs;
	unsigned nfuncs;
	struct rw_list vars;            /* declarations of memory, in functions too */
	struct rw_text text;
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

/* ---- space.c ---------------------------------------------------------------- */

void rw_space(struct rw *);
void rw_dump_space(const struct rw *, FILE *);
/* The variable that an address operand points into; NULL: not known. */
const struct ptx_sym *rw_variable(const struct rw_func *, const struct ptx_operand *addr);

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
void rw_putx(struct rw *, uint64_t);    /* 16 digits */
void rw_put_words(struct rw *, const uint32_t *, size_t n);     /* 1,2,3 */
void rw_put_bytes(struct rw *, const unsigned char *, size_t n);
#define RW_PUT(r, literal) rw_putn((r), (literal), sizeof(literal) - 1)

/* ---- site.c ----------------------------------------------------------------- */

struct rw_sites *rw_sites_new(struct rw *);
/* Where the next site is, `in` NULL: nowhere; a string of the tables; the arrays of spots, frames, globals and
 * strings. */
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
uint64_t rw_hash(const char *, size_t);

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
