/* SPDX-License-Identifier: Apache-2.0
 *
 * shrink.c: makes a program short.  Takes items away, in runs that get shorter,
 * and threads and blocks, as long as the disagreement stays.
 */
#include "testsuite/gen/soak.h"

#include <stdlib.h>

/* Schedules that a candidate is given: more if few show it. */
static unsigned tries;

static int shows(const struct gen_prog *p, enum emu_oracle_word word)
{
	struct run_result r[SCHEDULES_MAX] = {{0}};

	run_all(p, 1, 0, tries, r);
	for (unsigned i = 0; i < tries; i++)
		if (r[i].bad[word])
			return (int)i;
	return -1;
}

/* Without items i to i + n - 1, and without what opens or closes one of them. */
static void without(struct gen_prog *p, unsigned i, unsigned n)
{
	for (unsigned k = i; k < i + n; k++) {
		if (p->item[k].kind == GEN_PLAIN)
			continue;
		for (unsigned m = 0; m < p->n; m++) {
			if (m == k || p->item[m].kind == GEN_PLAIN || p->item[m].pair != p->item[k].pair)
				continue;
			p->item[m].text[0] = 0;         /* both go; empty items are dropped below */
			p->item[k].text[0] = 0;
		}
	}
	for (unsigned k = i; k < i + n; k++)
		p->item[k].text[0] = 0;
	for (unsigned k = p->n; k-- > 0;)
		if (!p->item[k].text[0])
			gen_drop(p, k);
}

/* Takes over what `q` is if it shows the same. */
static bool accept(struct gen_prog *p, struct gen_prog *q, enum emu_oracle_word word)
{
	if (shows(q, word) < 0) {
		gen_free(q);
		return false;
	}
	gen_free(p);
	*p = *q;
	return true;
}

static bool fewer_items(struct gen_prog *p, enum emu_oracle_word word)
{
	bool any = false;

	for (unsigned n = p->n / 2; n; n /= 2) {
		for (unsigned i = 0; i + n <= p->n;) {
			struct gen_prog q;

			gen_copy(&q, p);
			without(&q, i, n);
			if (accept(p, &q, word))
				any = true;
			else
				i += n > 1 ? n / 2 : 1;
		}
	}
	return any;
}

static bool smaller(struct gen_prog *p, unsigned *what, const unsigned *sizes, unsigned n,
		    enum emu_oracle_word word)
{
	for (unsigned i = 0; i < n && sizes[i] < *what; i++) {
		unsigned was = *what;

		if (what == &p->blocks && p->cluster && sizes[i] % p->cluster)
			continue;
		*what = sizes[i];
		if (shows(p, word) >= 0)
			return true;
		*what = was;
	}
	return false;
}

int shrink(struct gen_prog *p, enum emu_oracle_word word)
{
	static const unsigned blocks[] = {1, 2, 3}, threads[] = {1, 2, 32, 33, 64};
	bool again;

	for (tries = 8; shows(p, word) < 0; tries *= 2)
		if (tries == SCHEDULES_MAX)
			return -1;
	do {
		again = fewer_items(p, word);
		again |= smaller(p, &p->blocks, blocks, 3, word);
		again |= smaller(p, &p->threads, threads, 5, word);
	} while (again);
	return shows(p, word);
}
