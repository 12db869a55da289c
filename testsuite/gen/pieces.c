/* SPDX-License-Identifier: Apache-2.0
 *
 * pieces.c: what motifs are made of.  Waiting is bounded, so that no program spins
 * for ever.
 */
#include "testsuite/gen/gen_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- chance ------------------------------------------------------------------------ */

static uint64_t next(struct gen *g)     /* splitmix64 */
{
	uint64_t z = g->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

unsigned below(struct gen *g, unsigned n)
{
	return (unsigned)(next(g) % n);
}

bool chance(struct gen *g, unsigned percent)
{
	return below(g, 100) < percent;
}

/* Does something go wrong here? */
bool slip(struct gen *g, unsigned percent)
{
	bool yes = chance(g, percent * 3 / 2) && !g->p->safe && g->slips;

	g->slips -= yes;
	return yes;
}

/* ---- items ----------------------------------------------------------------------------- */

void put(struct gen *g, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	ptx_puts(&g->text, "\t");
	ptx_puts(&g->text, line);
	ptx_puts(&g->text, "\n");
}

void put_label(struct gen *g, unsigned n)
{
	char line[32];

	snprintf(line, sizeof line, "L%u:\n", n);
	ptx_puts(&g->text, line);
}

static void end(struct gen *g, enum gen_kind kind, unsigned pair)
{
	struct gen_prog *p = g->p;

	if (p->n == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 32;
		p->item = realloc(p->item, p->cap * sizeof *p->item);
		if (!p->item)
			abort();
	}
	ptx_put(&g->text, "", 1);
	p->item[p->n++] = (struct gen_item){g->text.p, kind, pair};
	g->text = (struct ptx_buf){0};
}

void plain(struct gen *g)
{
	end(g, GEN_PLAIN, 0);
}

/* Lanes for which %p is false go around what follows. */
struct open open_if(struct gen *g)
{
	struct open o = {++g->pairs, ++g->labels, 0};

	put(g, "@!%%p bra L%u;", o.label);
	end(g, GEN_OPEN, o.pair);
	return o;
}

void close_if(struct gen *g, struct open o)
{
	put_label(g, o.label);
	end(g, GEN_CLOSE, o.pair);
}

struct open open_eq(struct gen *g, const char *reg, unsigned value)
{
	put(g, "setp.eq.u32 %%p, %s, %u;", reg, value);
	return open_if(g);
}

struct open open_lt(struct gen *g, const char *reg, unsigned value)
{
	put(g, "setp.lt.u32 %%p, %s, %u;", reg, value);
	return open_if(g);
}

/* One thread of the grid. */
struct open open_thread(struct gen *g, unsigned block, unsigned thread)
{
	put(g, "setp.eq.u32 %%p, %%c, %u;", block);
	put(g, "setp.eq.and.u32 %%p, %%t, %u, %%p;", thread);
	return open_if(g);
}

/* Those whose last poll or attempt came to something. */
struct open open_found(struct gen *g)
{
	put(g, "mov.pred %%p, %%f;");
	return open_if(g);
}

struct open open_loop(struct gen *g)
{
	struct open o = {++g->pairs, ++g->labels, g->loops++ % 4};

	put(g, "mov.u32 %%k%u, 0;", o.loop);
	put_label(g, o.label);
	end(g, GEN_OPEN, o.pair);
	return o;
}

void close_loop(struct gen *g, struct open o, unsigned times)
{
	put(g, "add.u32 %%k%u, %%k%u, 1;", o.loop, o.loop);
	put(g, "setp.lt.u32 %%q, %%k%u, %u;", o.loop, times);
	put(g, "@%%q bra L%u;", o.label);
	end(g, GEN_CLOSE, o.pair);
}

/* ---- accesses --------------------------------------------------------------------------- */

/* The element's number in %i. */
static void put_index(struct gen *g, enum index ix)
{
	switch (ix) {
	case IX_THREAD:
		put(g, "mov.u32 %%i, %%t;");
		break;
	case IX_PAIR:
		put(g, "xor.b32 %%i, %%t, 1;");
		break;
	case IX_NEXT:
		put(g, "add.u32 %%i, %%t, 1;");
		put(g, "rem.u32 %%i, %%i, %%n;");
		break;
	case IX_LANE:
		put(g, "mov.u32 %%i, %%l;");
		break;
	case IX_WARP:
		put(g, "mov.u32 %%i, %%w;");
		break;
	case IX_BLOCK:
		put(g, "mov.u32 %%i, %%c;");
		break;
	case IX_GRID:
		put(g, "mov.u32 %%i, %%g;");
		break;
	case IX_BACK:
		put(g, "sub.u32 %%i, %%n, %%t;");
		put(g, "sub.u32 %%i, %%i, 1;");
		break;
	case IX_FOUR:
		put(g, "and.b32 %%i, %%t, 3;");
		break;
	case IX_LAST:
		put(g, "mov.u32 %%i, 15;");
		break;
	case IX_ZERO:
	case IX_COUNT:
		put(g, "mov.u32 %%i, 0;");
		break;
	}
}

/* The operand, after code that has it ready. */
const char *put_address(struct gen *g, const struct place *a)
{
	static char operand[32];

	put_index(g, a->index);
	if (a->space == 's' || a->space == 'y')
		put(g, "mad.lo.u32 %%a, %%i, %u, %%sb;", a->stride);
	else
		put(g, "mul.wide.u32 %%ra, %%i, %u;", a->stride);
	switch (a->space) {
	case 's':
		snprintf(operand, sizeof operand, "[%%a+%u]", a->off);
		return operand;
	case 'y':
		put(g, "cvt.u64.u32 %%ra, %%a;");
		put(g, "cvta.shared.u64 %%ra, %%ra;");
		break;
	default:
		put(g, "add.s64 %%ra, %%ra, %%rg;");
		if (a->own_block)
			put(g, "mad.wide.u32 %%ra, %%c, 4096, %%ra;");
		if (a->space == 'x')
			put(g, "cvta.global.u64 %%ra, %%ra;");
	}
	snprintf(operand, sizeof operand, "[%%ra+%u]", a->off);
	return operand;
}

const char *space_text(const struct place *a)
{
	return a->space == 's' ? ".shared" : a->space == 'g' ? ".global" : "";
}

/* Registers of `n` elements. */
const char *regs(unsigned size, unsigned n)
{
	static char text[64];
	const char *r = size == 8 ? "%x" : "%v";

	if (n == 1)
		snprintf(text, sizeof text, "%s0", r);
	else if (n == 2)
		snprintf(text, sizeof text, "{%s0, %s1}", r, r);
	else
		snprintf(text, sizeof text, "{%s0, %s1, %s2, %s3}", r, r, r, r);
	return text;
}

/* ld or st of n elements; `how`: ".relaxed.gpu" or "" and so on. */
void put_load_store(struct gen *g, bool store, const char *how, const struct place *a,
			   unsigned size, unsigned n)
{
	const char *vec = n == 4 ? ".v4" : n == 2 ? ".v2" : "";
	const char *at = put_address(g, a);

	if (store)
		put(g, "st%s%s%s.u%u %s, %s;", how, space_text(a), vec, size * 8, at, regs(size, n));
	else
		put(g, "ld%s%s%s.u%u %s, %s;", how, space_text(a), vec, size * 8, regs(size, n), at);
}

/* An atomic of 2 (compare-and-swap), 4 or 8 bytes; the old value is in %v0 or %x0. */
void put_atomic(struct gen *g, bool red, const char *how, const struct place *a, unsigned size)
{
	const char *at = put_address(g, a), *sp = space_text(a);
	const char *r = size == 8 ? "%x" : "%v";
	unsigned bits = size * 8;

	if (size == 2) {
		put(g, "atom%s%s.cas.b16 %%h0, %s, %%h1, %%h2;", how, sp, at);
	} else if (red) {
		put(g, "red%s%s.%s%u %s, %s1;", how, sp, PICK(g, "add.u", "max.u", "or.b"), bits, at, r);
	} else {
		switch (below(g, 3)) {
		case 0:
			put(g, "atom%s%s.cas.b%u %s0, %s, %s1, %s2;", how, sp, bits, r, at, r, r);
			break;
		case 1:
			put(g, "atom%s%s.exch.b%u %s0, %s, %s1;", how, sp, bits, r, at, r);
			break;
		default:
			put(g, "atom%s%s.%s%u %s0, %s, %s1;", how, sp, PICK(g, "add.u", "max.u", "or.b"),
			    bits, r, at, r);
		}
	}
}

/* Two 16-bit elements. */
void put_packed(struct gen *g, bool red, const char *how, const struct place *a)
{
	const char *at = put_address(g, a);

	if (red)
		put(g, "red%s%s.add.noftz.f16x2 %s, %%v1;", how, space_text(a), at);
	else
		put(g, "atom%s%s.add.noftz.f16x2 %%v0, %s, %%v1;", how, space_text(a), at);
}

const char *any_scope(struct gen *g)
{
	return PICK(g, ".cta", ".cluster", ".gpu", ".sys");
}

/* One that reaches, unless it slips. */
const char *scope(struct gen *g, bool same_block)
{
	if (same_block || slip(g, 12))
		return any_scope(g);
	return PICK(g, ".gpu", ".gpu", ".sys");
}

/* ---- memory --------------------------------------------------------------------------------- */

static char generic(struct gen *g, char space)
{
	if (!chance(g, 12))
		return space;
	return space == 'g' ? 'x' : 'y';
}

/* Memory of its own for `n` elements; false if there is no more. */
bool take(struct gen *g, struct place *a, bool shared, bool own_block, unsigned stride, unsigned n)
{
	unsigned bytes = (stride * (n + 2) + 15) & ~15u, *used = shared ? &g->shared : &g->global;

	if (own_block && bytes > 2048)
		return false;
	if (*used + bytes > (shared ? 8192u : GEN_GLOBAL / 2 - 4096))
		return false;
	*a = (struct place){generic(g, shared ? 's' : 'g'), *used, stride, IX_THREAD, own_block && !shared};
	/* Parts of blocks are 4096 bytes apart; 16 KiB hold those of 4 blocks. */
	*used += own_block && !shared ? 16384 : bytes;
	return true;
}

unsigned size_of(struct gen *g)
{
	static const unsigned sizes[] = {1, 1, 2, 2, 4, 4, 4, 4, 8, 8};

	return sizes[below(g, 10)];
}

unsigned vec_of(struct gen *g, unsigned size)
{
	unsigned n = chance(g, 75) ? 1 : chance(g, 50) ? 2 : 4;

	return size * n > 16 ? 1 : n;
}

/* ---- synchronisation ------------------------------------------------------------------------- */

/* A barrier of all threads of the block. */
void put_barrier(struct gen *g)
{
	unsigned id = chance(g, 50) ? 0 : below(g, 4), n = g->p->threads;

	switch (below(g, g->whole ? 9 : 6)) {
	case 0:
		put(g, "barrier.sync %u;", id);
		break;
	case 1:
		put(g, "setp.lt.u32 %%q, %%l, 7;");
		put(g, "bar.red.popc.u32 %%v3, %u, %%q;", id + 4);
		break;
	case 2:
		put(g, "setp.lt.u32 %%q, %%l, 9;");
		put(g, "barrier.red.%s.pred %%q, %u, %%q;", PICK(g, "and", "or"), id + 8);
		break;
	case 6:
		put(g, "barrier.sync %u, %u;", id + 12, n);
		break;
	case 7:
		put(g, "bar.sync %u, %u;", id + 12, n);
		break;
	case 8:
		put(g, "mov.u32 %%v3, %u;", id + 12);
		put(g, "barrier.cta.sync %%v3, %%n;");
		break;
	default:
		put(g, "bar.sync %u;", id);
	}
	plain(g);
}

/* All threads of the block have to come here; a slip leaves it out, or orders less. */
void sync_block(struct gen *g)
{
	if (slip(g, 14)) {
		switch (below(g, 5)) {
		case 0:
			put(g, "bar.warp.sync 0xffffffff;");
			plain(g);
			return;
		case 1:
			put(g, "fence.acq_rel%s;", any_scope(g));
			plain(g);
			return;
		case 2:
			put(g, "shfl.sync.idx.b32 %%v3, %%v0, 0, 31, 0xffffffff;");
			plain(g);
			return;
		case 3:
			if (g->whole && g->p->threads == 64) {
				put(g, "add.u32 %%v3, %%w, 1;");
				put(g, "barrier.sync %%v3, 32;");
				plain(g);
			}
			return;
		default:
			return;
		}
	}
	put_barrier(g);
}

void put_fence(struct gen *g, bool release, const char *sc)
{
	switch (below(g, 4)) {
	case 0:
		put(g, "fence.%s%s;", release ? "release" : "acquire", sc);
		break;
	case 1:
		put(g, "fence.sc%s;", sc);
		break;
	case 2:
		if (!strcmp(sc, ".cta") || !strcmp(sc, ".sys")) {
			put(g, "membar%s;", sc);
			break;
		}
		if (!strcmp(sc, ".gpu")) {
			put(g, "membar.gl;");
			break;
		}
		/* fall through */
	default:
		put(g, "fence.acq_rel%s;", sc);
	}
}

const char *strong(const char *sem, const char *sc)
{
	static char text[2][32];
	static unsigned which;
	char *t = text[which ^= 1];

	snprintf(t, sizeof text[0], "%s%s", sem, sc);
	return t;
}

/* Tells others by `flag` that this thread's work is done. */
void put_release(struct gen *g, const struct place *flag, bool same_block)
{
	const char *s1 = scope(g, same_block), *s2 = scope(g, same_block);
	unsigned how = below(g, 7);

	if (slip(g, 10))
		how = 7 + below(g, 3);
	switch (how) {
	case 0:
		put_load_store(g, true, strong(".release", s1), flag, 4, 1);
		break;
	case 1:
		put_atomic(g, true, strong(".release", s1), flag, 4);
		break;
	case 2:
		put(g, "mov.u32 %%v1, 2;");
		put_load_store(g, true, strong(".release", s1), flag, 4, 1);
		if (chance(g, 50))
			put_load_store(g, true, strong(".relaxed", s2), flag, 4, 1);
		break;
	case 3:
	case 4:
		put_fence(g, true, s2);
		put_load_store(g, true, strong(".relaxed", s1), flag, 4, 1);
		break;
	case 5:
		put_fence(g, true, s2);
		put_atomic(g, true, strong(".relaxed", s1), flag, 4);
		break;
	case 6:
		put_fence(g, true, s2);
		put_load_store(g, true, ".volatile", flag, 4, 1);
		break;
	case 7:
		put_load_store(g, true, strong(".relaxed", s1), flag, 4, 1);
		break;
	case 8:
		put_load_store(g, true, "", flag, 4, 1);
		break;
	default:
		put_load_store(g, true, strong(".relaxed", s1), flag, 4, 1);
		put_fence(g, true, s2);
	}
	plain(g);
}

/* Waits a while for `flag`; %f says whether it came. */
void put_acquire(struct gen *g, const struct place *flag, bool same_block)
{
	const char *s1 = scope(g, same_block), *s2 = scope(g, same_block);
	unsigned how = below(g, 6), loop = ++g->labels, done = ++g->labels;

	if (slip(g, 10))
		how = 6 + below(g, 2);
	put(g, "mov.u32 %%k7, 0;");
	put_label(g, loop);
	switch (how) {
	case 0:
	case 1:
		put_load_store(g, false, strong(".acquire", s1), flag, 4, 1);
		break;
	case 2:
		put(g, "mov.u32 %%v1, 0;");
		put(g, "atom%s%s.add.u32 %%v0, %s, %%v1;", strong(".acquire", s1), space_text(flag),
		    put_address(g, flag));
		break;
	case 5:
		put_load_store(g, false, ".volatile", flag, 4, 1);
		break;
	case 7:
		put_load_store(g, false, "", flag, 4, 1);
		break;
	default:
		put_load_store(g, false, strong(".relaxed", s1), flag, 4, 1);
	}
	put(g, "setp.ne.u32 %%f, %%v0, 0;");
	put(g, "@%%f bra L%u;", done);
	put(g, "add.u32 %%k7, %%k7, 1;");
	put(g, "setp.lt.u32 %%q, %%k7, 24;");
	put(g, "@%%q bra L%u;", loop);
	put_label(g, done);
	if (how == 3 || how == 5)
		put_fence(g, false, s2);
	else if (how == 4)
		put_load_store(g, false, strong(".acquire", s2), flag, 4, 1);
	plain(g);
}
