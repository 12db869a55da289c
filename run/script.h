/* SPDX-License-Identifier: Apache-2.0
 *
 * script.h: the parser of scripts, from inside: what script.c reads its lines
 * with.
 */
#ifndef RUN_SCRIPT_H
#define RUN_SCRIPT_H

#include "run/run.h"

#define MAX_WORDS 256
#define MAX_ERRORS 20           /* enough to see a pattern */

struct word {
	const char *s;          /* NUL-terminated */
	unsigned col;
};

struct parser {
	struct run_script *s;
	unsigned line;
	struct word w[MAX_WORDS];
	unsigned n, at;         /* words of this line; the next to read */
	unsigned end_col;       /* behind the line's last word */
	unsigned nerrors;
	bool acting;            /* an action has been seen */
	bool bad;               /* this line has an error: say no more about it */
	bool have_device, have_devices, have_place;
	int obj_cap;
	unsigned action_cap, expect_cap;
};

/* The first error of a line is the precise one; what follows from it is noise. */
#define fail(p, c, ...) do { \
	if (!(p)->bad) { \
		(p)->bad = true; \
		if ((p)->nerrors++ < MAX_ERRORS) \
			run_error((p)->s, (struct run_pos){ (p)->line, (c) }, __VA_ARGS__); \
	} \
} while (0)

/* ---- words.c ---------------------------------------------------------------- */

void *run_alloc(struct run_script *, size_t n);         /* zeroed */
char *run_copy(struct run_script *, const char *, size_t n);
/* Room for one more element; old storage stays in the arena. */
void *run_more(struct run_script *, void *old, size_t size, unsigned n, unsigned *cap);

/* Makes a line the one whose words are read, from `start` on. */
void run_split(struct parser *, const char *line, size_t len, size_t start);
bool run_done(const struct parser *);   /* no word is left, or none that is worth reading */
struct word run_next(struct parser *, const char *what);
void run_no_more(struct parser *);
uint64_t run_number(struct parser *, struct word, uint64_t max, const char *what);
bool run_is_name(const char *);
/* "key=value": value's place if the word starts with key and '='. */
bool run_option(struct word, const char *key, struct word *value);
void run_once(struct parser *, struct word, bool *seen);

#endif
