/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.h: what gsan-image answers, and what libgsan keeps on disk of it: a line, and behind it so many bytes:
 *   gsan-image 1 WORD BYTES DIGEST
 * WORD is one of entry_words; the bytes are instrumented PTX, or the reason why there is none, and end with no zero.  One
 * that is cut short or changed is not taken.  In a header, since the two share no library.
 */
#ifndef RT_ENTRY_H
#define RT_ENTRY_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum entry_kind {
	ENTRY_IS_PTX,           /* instrumented */
	ENTRY_IS_NONE,          /* the image has no PTX for the device */
	ENTRY_IS_MARKED,        /* it was instrumented before */
	ENTRY_IS_REFUSED,       /* the PTX cannot be instrumented */
	ENTRY_KINDS
};

enum { ENTRY_LINE = 96 };       /* the line, with the zero behind it */

struct entry { enum entry_kind kind; const char *text; size_t bytes; };

struct entry_digest { uint64_t half[2]; };

static const char *const entry_words[ENTRY_KINDS] = { "ptx", "none", "marked", "refused" };

static inline uint64_t entry_rotated(uint64_t v, unsigned by)
{
	return v << by | v >> (64 - by);
}

/* Adds bytes; not against who means harm: the folder is the user's own. */
static inline void entry_mix(struct entry_digest *d, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t a = d->half[0] + n, b = d->half[1] ^ n;

	while (n) {
		const size_t some = n < sizeof(uint64_t) ? n : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, p, some);
		a = entry_rotated(a ^ word, 29) * UINT64_C(0x9e3779b97f4a7c15);
		b = entry_rotated(b + word, 41) * UINT64_C(0xc2b2ae3d27d4eb4f);
		p += some;
		n -= some;
	}
	/* Each half hangs on all bits of both. */
	for (int i = 0; i < 2; i++) {
		a = (a ^ a >> 32 ^ b) * UINT64_C(0xd6e8feb86659fd93);
		b = (b ^ b >> 29 ^ a) * UINT64_C(0xff51afd7ed558ccd);
	}
	d->half[0] = a;
	d->half[1] = b;
}

static inline int entry_line(char line[ENTRY_LINE], const struct entry *e)
{
	struct entry_digest d = {{0}};

	entry_mix(&d, entry_words[e->kind], strlen(entry_words[e->kind]));
	entry_mix(&d, e->text, e->bytes);
	return snprintf(line, ENTRY_LINE, "gsan-image 1 %s %zu %016" PRIx64 "%016" PRIx64 "\n", entry_words[e->kind], e->bytes,
			d.half[0], d.half[1]);
}

/* Reads one, of which *e then has the parts; a zero stands behind its `bytes` bytes.  False: it is none, or damaged. */
static inline bool entry_read(const char *all, size_t bytes, struct entry *e)
{
	const char *end = memchr(all, '\n', bytes < ENTRY_LINE ? bytes : ENTRY_LINE);
	char line[ENTRY_LINE], word[16];

	if (!end || sscanf(all, "gsan-image 1 %15s %zu", word, &e->bytes) != 2)
		return false;
	e->text = end + 1;
	if (e->bytes != bytes - (size_t)(e->text - all))
		return false;
	for (int k = 0; k < ENTRY_KINDS; k++) {
		if (strcmp(word, entry_words[k]))
			continue;
		e->kind = (enum entry_kind)k;
		entry_line(line, e);
		return !strncmp(line, all, (size_t)(e->text - all));
	}
	return false;
}

#endif
