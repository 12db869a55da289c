/* SPDX-License-Identifier: Apache-2.0
 *
 * source.c: the bytes of a file, of which those that zstd has compressed are decompressed as they are read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "check/check.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* The first bytes of a frame (RFC 8878, 3.1.1), as they lie there. */
static const unsigned char zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};

enum { BUFFER = 1 << 17 };

struct source {
	FILE *file;
	unsigned char buffer[BUFFER];
	size_t at, n;                   /* of the buffer */
#ifdef HAVE_ZSTD
	ZSTD_DStream *zstd;             /* NULL: it is plain */
	size_t more;                    /* 0: a frame has ended, and all of it was given */
	bool full;                      /* there was no room for what it may have to give */
#endif
};

static bool fill(struct source *s, const char **why)
{
	s->at = 0;
	s->n = fread(s->buffer, 1, sizeof s->buffer, s->file);
	if (ferror(s->file))
		*why = strerror(errno);
	return s->n;
}

static bool is_zstd(const struct source *s)
{
	return s->n >= sizeof zstd_magic && !memcmp(s->buffer, zstd_magic, sizeof zstd_magic);
}

struct source *source_open(const char *path, const char **why)
{
	struct source *s = calloc(1, sizeof *s);

	*why = NULL;
	if (!s)
		*why = "out of memory";
	else if (!(s->file = fopen(path, "rbe")))
		*why = strerror(errno);
	else
		fill(s, why);
#ifdef HAVE_ZSTD
	if (!*why && is_zstd(s) && !(s->zstd = ZSTD_createDStream()))
		*why = "out of memory";
#else
	if (!*why && is_zstd(s))
		*why = "it is compressed by zstd, and this gsan-check was built without it";
#endif
	if (!*why)
		return s;
	source_close(s);
	return NULL;
}

static size_t read_plain(struct source *s, unsigned char *to, size_t n, const char **why)
{
	size_t got = 0;

	while (got < n && (s->at < s->n || fill(s, why))) {
		size_t k = s->n - s->at < n - got ? s->n - s->at : n - got;

		memcpy(to + got, s->buffer + s->at, k);
		s->at += k;
		got += k;
	}
	return got;
}

#ifdef HAVE_ZSTD
static size_t read_zstd(struct source *s, unsigned char *to, size_t n, const char **why)
{
	ZSTD_outBuffer out = {to, n, 0};

	while (out.pos < n) {
		ZSTD_inBuffer in;

		if (s->at == s->n && !s->full && !fill(s, why)) {
			if (s->more && !*why)
				*why = "the compressed data ends too early";
			break;
		}
		in = (ZSTD_inBuffer){s->buffer, s->n, s->at};
		s->more = ZSTD_decompressStream(s->zstd, &out, &in);
		s->at = in.pos;
		s->full = s->more && out.pos == n;
		if (ZSTD_isError(s->more)) {
			*why = ZSTD_getErrorName(s->more);
			break;
		}
	}
	return out.pos;
}
#endif

size_t source_read(struct source *s, void *to, size_t n, const char **why)
{
	*why = NULL;
#ifdef HAVE_ZSTD
	if (s->zstd)
		return read_zstd(s, to, n, why);
#endif
	return read_plain(s, to, n, why);
}

void source_close(struct source *s)
{
	if (!s)
		return;
#ifdef HAVE_ZSTD
	ZSTD_freeDStream(s->zstd);
#endif
	if (s->file)
		fclose(s->file);
	free(s);
}
