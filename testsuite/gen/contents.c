/* SPDX-License-Identifier: Apache-2.0
 *
 * contents.c: what a program leaves in memory, and what it had in its registers
 * then, must be the same with gsan and without.  The emulated device takes both
 * through the same order of steps, so that this holds of programs that race as well.
 */
#include "testsuite/gen/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- registers ---------------------------------------------------------------------- */

static struct gen_item item_of(struct ptx_buf *b)
{
	ptx_put(b, "", 1);
	return (struct gen_item){b->p, GEN_PLAIN, 0};
}

static void line(struct ptx_buf *b, const char *fmt, unsigned a, unsigned c)
{
	char text[96];

	snprintf(text, sizeof text, fmt, a, c);
	ptx_puts(b, text);
}

/* What the program need not have written has a value, too. */
static struct gen_item set_registers(void)
{
	struct ptx_buf b = {0};

	for (unsigned i = 4; i < 8; i++)
		line(&b, "\tmov.u32 %%v%u, %u;\n", i, i);
	for (unsigned i = 0; i < 8; i++)
		line(&b, "\tmov.u32 %%k%u, %u;\n", i, i);
	for (unsigned i = 2; i < 8; i++)
		line(&b, "\tmov.u64 %%x%u, %u;\n", i, i);
	for (unsigned i = 0; i < 4; i++)
		line(&b, "\tmov.u16 %%h%u, %u;\n", i, i);
	ptx_puts(&b, "\tmov.u32 %i, 0;\n\tsetp.ne.u32 %p, %t, %t;\n\tsetp.ne.u32 %q, %t, %t;\n");
	return item_of(&b);
}

static struct gen_item store_registers(void)
{
	static const char *const preds[] = {"%p", "%q", "%f"};
	struct ptx_buf b = {0};
	char text[96];
	unsigned at = GEN_GLOBAL;

	line(&b, "\tmul.wide.u32 %%ra, %%g, %u;\n\tadd.s64 %%ra, %%ra, %%rg;\n", REGISTER_BYTES, 0);
	for (unsigned i = 0; i < 8; i++, at += 8)
		line(&b, "\tst.global.u64 [%%ra+%u], %%x%u;\n", at, i);
	for (unsigned i = 0; i < 8; i++, at += 4)
		line(&b, "\tst.global.u32 [%%ra+%u], %%v%u;\n", at, i);
	for (unsigned i = 0; i < 8; i++, at += 4)
		line(&b, "\tst.global.u32 [%%ra+%u], %%k%u;\n", at, i);
	for (unsigned i = 0; i < 4; i++, at += 2)
		line(&b, "\tst.global.u16 [%%ra+%u], %%h%u;\n", at, i);
	line(&b, "\tst.global.u32 [%%ra+%u], %%i;\n", at, 0);
	for (unsigned i = 0; i < 3; i++) {
		at += 4;
		snprintf(text, sizeof text, "\tselp.u32 %%i, 1, 0, %s;\n\tst.global.u32 [%%ra+%u], %%i;\n",
			 preds[i], at);
		ptx_puts(&b, text);
	}
	return item_of(&b);
}

void contents_prog(struct gen_prog *to, const struct gen_prog *from)
{
	gen_copy(to, from);
	to->cap = to->n + 2;
	to->item = realloc(to->item, to->cap * sizeof *to->item);
	if (!to->item)
		give_up("out of memory");
	memmove(to->item + 1, to->item, to->n * sizeof *to->item);
	to->item[0] = set_registers();
	to->item[to->n + 1] = store_registers();
	to->n += 2;
}

/* ---- the comparison --------------------------------------------------------------------- */

void contents_load(struct worker *w, const struct gen_prog *p, unsigned n, unsigned *first)
{
	struct gen_prog *q = calloc(n, sizeof *q);
	struct ptx_buf b;
	char *text;

	if (!q)
		give_up("out of memory");
	for (unsigned i = 0; i < n; i++)
		contents_prog(&q[i], &p[i]);
	b = worker_text(q, n, first);
	for (unsigned i = 0; first && i < n; i++)
		for (const char *s = q[i].item[0].text; *s; s++)
			first[i] += *s == '\n';
	w->plain = worker_load(w, b.p);
	text = worker_instrument(w, &b);
	w->same = worker_load(w, text);
	free(text);
	for (unsigned i = 0; i < n; i++)
		gen_free(&q[i]);
	free(q);
	free(b.p);
}

uint64_t contents_seed(const struct gen_prog *p, unsigned schedule)
{
	return p->seed * SCHEDULES_MAX + (schedule + p->seed / 3) % SCHEDULES_MAX;
}

uint64_t contents_hash(const unsigned char *p)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);      /* FNV-1a */

	for (size_t i = 0; i < CONTENTS_BYTES; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

static void differ(struct run_result *r, const char *fmt, unsigned a, unsigned b, unsigned c)
{
	if (!bad_of(r))
		snprintf(r->text, sizeof r->text, fmt, a, b, c);
	r->bad[BAD_CONTENTS]++;
}

void contents_compare(struct worker *w, const struct gen_prog *p, unsigned i, uint64_t seed,
		      struct run_result *r)
{
	static unsigned char want[CONTENTS_BYTES], got[CONTENTS_BYTES];
	unsigned at;
	bool ok;

	w->emu_set_stepwise(1);
	w->emu_set_seed(seed);
	ok = worker_launch(w, w->plain, p, i);
	if (ok && w->cuMemcpyDtoH_v2(want, w->data, sizeof want))
		give_up("no copy");
	r->fault = !ok;
	if (ok) {
		w->emu_set_seed(seed);
		if (!worker_launch(w, w->same, p, i)) {
			r->fault = true;
			differ(r, "under gsan it ends in a fault", 0, 0, 0);
		} else if (w->cuMemcpyDtoH_v2(got, w->data, sizeof got)) {
			give_up("no copy");
		} else if (memcmp(want, got, sizeof got)) {
			for (at = 0; want[at] == got[at]; at++)
				;
			differ(r, "under gsan byte %u of the memory is 0x%02x, not 0x%02x", at,
			       got[at], want[at]);
		}
		r->contents = contents_hash(want);
		r->compared = true;
	}
	w->emu_set_stepwise(0);
}
