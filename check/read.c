/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c: parts of a log file, each held against its checksum and its number.  Memory is taken as bytes come, whatever
 * a damaged file says of its size.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

enum { STEP = 1 << 20 };

void reader_damage(struct reader *r, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "gsan-check: %s: offset %llu: ", r->path, (unsigned long long)offset);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	r->damaged = true;
}

/* 1: all of it; 0: the file ends before it; -1: it is damaged. */
static int take(struct reader *r, void *to, size_t n)
{
	const char *why;
	const size_t got = source_read(r->from, to, n, &why);

	if (why)
		reader_damage(r, r->offset + got, "%s", why);
	else if (got && got < n)
		reader_damage(r, r->offset + got, "the file ends here, in the middle of a part");
	r->offset += got;
	return r->damaged ? -1 : got == n;
}

static bool check_head(struct reader *r, const struct log_file *h)
{
	if (memcmp(h->magic, LOG_FILE_MAGIC, sizeof h->magic))
		reader_damage(r, 0, "this is no log of gsan");
	else if (h->order != LOG_FILE_ORDER)
		reader_damage(r, 12, "the log is of a machine of another byte order");
	else if (h->version != LOG_FILE_VERSION)
		reader_damage(r, 8, "the log is of version %u, and version %d can be read", h->version, LOG_FILE_VERSION);
	return !r->damaged;
}

bool reader_open(struct reader *r, const char *path)
{
	struct log_file h = {0};
	const char *why;
	int got;

	*r = (struct reader){.path = path, .from = source_open(path, &why)};
	if (!r->from) {
		reader_damage(r, 0, "%s", why);
		return false;
	}
	got = take(r, &h, sizeof h);
	if (!got)
		reader_damage(r, 0, "the file is empty");
	return got > 0 && check_head(r, &h);
}

/* NULL: it was said why. */
static unsigned char *take_data(struct reader *r, uint32_t bytes)
{
	unsigned char *data = NULL, *more;

	for (uint32_t have = 0, n; have < bytes || !data; have += n) {
		n = bytes - have < STEP ? bytes - have : STEP;
		more = realloc(data, have + n ? have + n : 1);
		if (!more)
			reader_damage(r, r->offset, "there is no memory for a part");
		else if ((data = more) && n && !take(r, data + have, n))
			reader_damage(r, r->offset, "the file ends here, in the middle of a part");
		if (r->damaged) {
			free(data);
			return NULL;
		}
		if (!bytes)
			break;
	}
	return data;
}

static bool check_sum(struct reader *r, const struct part *p)
{
	struct log_part head = p->head;

	head.check = 0;
	if (log_crc(log_crc(0, &head, sizeof head), p->data, head.bytes) == p->head.check)
		return true;
	reader_damage(r, p->offset, "the checksum of the part that begins here is wrong");
	return false;
}

bool reader_next(struct reader *r, struct part *p)
{
	*p = (struct part){.offset = r->offset};
	if (r->damaged || take(r, &p->head, sizeof p->head) <= 0)
		return false;
	if (p->head.bytes > LOG_PART_MOST || p->head.bytes % LOG_FILE_UNIT)
		reader_damage(r, p->offset + offsetof(struct log_part, bytes), "a part cannot have %u bytes", p->head.bytes);
	else if ((p->data = take_data(r, p->head.bytes)) && check_sum(r, p) && p->head.number != r->number++)
		reader_damage(r, p->offset + offsetof(struct log_part, number), "part %u comes where part %u is due", p->head.number,
			      r->number - 1);
	if (!r->damaged)
		return true;
	free(p->data);
	p->data = NULL;
	return false;
}

void reader_close(struct reader *r)
{
	source_close(r->from);
}
