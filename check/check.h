/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h: gsan-check, from inside.  A source gives the bytes of a file, a reader its parts, and log.c what they say, to
 * whoever listens: who judges (judge.c) or who prints (text.c).
 */
#ifndef CHECK_H
#define CHECK_H

#include "log/file.h"
#include "rt/judge.h"

enum { CHECK_USAGE = 2, CHECK_DAMAGED = 3, CHECK_FOUND = 66 };

/* ---- source.c: a file, plain or compressed by zstd ------------------------------------------------------- */

struct source;
/* NULL: *why says why it cannot be read. */
struct source *source_open(const char *path, const char **why);
/* Fewer bytes than asked for: the file ends there, or *why says what is wrong. */
size_t source_read(struct source *, void *to, size_t n, const char **why);
void source_close(struct source *);

/* ---- read.c: parts ----------------------------------------------------------------------------------------- */

struct reader {
	const char *path;
	struct source *from;
	uint64_t offset;                /* of the next part, in what the file holds */
	uint32_t number;                /* of that */
	bool damaged;                   /* it was said, and nothing more is read */
};

struct part { struct log_part head; uint64_t offset; unsigned char *data; /* malloc'd */ };

/* Says what is wrong, and where. */
void reader_damage(struct reader *, uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool reader_open(struct reader *, const char *path);    /* false: it is damaged */
/* The next part, that is as it was written.  False: there is none, or the file is damaged. */
bool reader_next(struct reader *, struct part *);
void reader_close(struct reader *);

/* ---- log.c: what parts say ------------------------------------------------------------------------------------- */

struct log_told;

/* Who listens.  A launch lives until it is over; or it belongs to who says so (true). */
struct listener {
	void (*process)(void *, const struct log_process *, const char *const string[LOG_PROCESS_STRINGS]);
	void (*map)(void *, const struct event_map *);
	void (*memory)(void *, const struct rt_blocks *);
	bool (*launch)(void *, struct rt_launch *, const uint64_t *cut);
	const char *(*piece)(void *, const struct event_piece *);       /* NULL, or what is wrong with it */
	void (*over)(void *);
	void (*end)(void *, const struct log_end *, const struct rt_totals *);
};

/* Tells all of a log, in its order, up to where it is damaged; false: it is.  What is told lives as long as the process. */
bool log_read_all(const char *path, const struct listener *, void *arg);

/* ---- judge.c, text.c ------------------------------------------------------------------------------------------- */

/* Judges a log by the options, which are those of the log where they are not given; adds to the totals.  False: it is
 * damaged. */
bool check_judge(const char *path, const char *const options[], unsigned n, struct rt_totals *);
bool check_print(const char *path);     /* to stdout */

#endif
