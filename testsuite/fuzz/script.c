/* SPDX-License-Identifier: Apache-2.0
 *
 * script.c: fuzz target for the //@ lines of a reproducer.  A script that is
 * accepted must hold only what launch.c and check.c may rely on: numbers of
 * objects that exist and have the right kind, ranges inside their blocks, lines
 * that the file has.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/kinds.h"
#include "run/run.h"
#include "testsuite/fuzz/fuzz.h"

static const char *const folders[] = { "testsuite/race", "testsuite/norace", "examples", NULL };
const struct fuzz_target fuzz_target = { "script", ".ptx", folders, 200000, false };

static bool is_memory(enum run_obj_kind k)
{
	return k == OBJ_BUF || k == OBJ_HOSTBUF || k == OBJ_MANAGED;
}

static const struct run_obj *object(const struct run_script *s, int i)
{
	if (i < 0 || i >= s->nobjs)
		fuzz_broken("object %d of %d", i, s->nobjs);
	return &s->objs[i];
}

static void is_stream(const struct run_script *s, int i)
{
	if (object(s, i)->kind != OBJ_STREAM)
		fuzz_broken("object %d is no stream", i);
}

static void is_event(const struct run_script *s, int i)
{
	if (object(s, i)->kind != OBJ_EVENT)
		fuzz_broken("object %d is no event", i);
}

static void inside(const struct run_script *s, int i, uint64_t off, uint64_t bytes)
{
	const struct run_obj *o = object(s, i);

	if (!is_memory(o->kind))
		fuzz_broken("object %d is no memory", i);
	if (off > o->bytes || bytes > o->bytes - off)
		fuzz_broken("%llu bytes at %llu are not inside %llu", (unsigned long long)bytes,
			    (unsigned long long)off, (unsigned long long)o->bytes);
}

static void check_tmap(const struct run_script *s, const struct run_tmap *t)
{
	uint64_t last = 0, unit;

	if (!t || !t->rank || t->rank > 5)
		fuzz_broken("a tensor map without dimensions");
	unit = t->slice ? t->slice : t->bytes;
	for (unsigned i = 0; i < t->rank; i++) {
		if (!t->dims[i] || !t->elem[i] || t->elem[i] > 8)
			fuzz_broken("a tensor map with an empty dimension");
		if (i < t->nbox && (!t->box[i] || t->box[i] > 256))
			fuzz_broken("a tensor map with an empty box");
		last += (t->dims[i] - 1) * (i ? t->strides[i - 1] : unit);
	}
	if (t->nlower ? t->nlower + 2 != t->rank || t->nupper != t->nlower || t->nbox != 2 : t->nbox != t->rank)
		fuzz_broken("a tensor map of %u dimensions with a box of %u", t->rank, t->nbox);
	if (t->slice && t->rank < 3)
		fuzz_broken("an interleaved tensor map of %u dimensions", t->rank);
	inside(s, t->buf, t->off, last + unit);
}

static void check_arg(const struct run_script *s, const struct run_arg *a)
{
	if (a->size != 1 && a->size != 2 && a->size != 4 && a->size != 8 && a->size != 128)
		fuzz_broken("an argument of %u bytes", a->size);
	if (a->obj == ARG_VALUE) {
		if (a->size < 8 && a->bits >> 8 * a->size)
			fuzz_broken("a value wider than its type");
	} else if (a->size == 128) {
		if (object(s, a->obj)->kind != OBJ_TMAP)
			fuzz_broken("an argument that is no tensor map");
		check_tmap(s, object(s, a->obj)->tmap);
	} else {
		inside(s, a->obj, a->bits, 0);
	}
}

static void check_action(const struct run_script *s, const struct run_action *a)
{
	switch (a->kind) {
	case ACT_LAUNCH:
		for (int i = 0; i < 3; i++)
			if (!a->grid[i] || !a->block[i])
				fuzz_broken("a launch of nothing");
		if ((uint64_t)a->block[0] * a->block[1] * a->block[2] > 1024)
			fuzz_broken("a block of too many threads");
		for (unsigned i = 0; i < a->nargs; i++)
			check_arg(s, &a->args[i]);
		is_stream(s, a->stream);
		break;
	case ACT_SYNC:
		if (a->event >= 0)
			is_event(s, a->event);
		is_stream(s, a->stream);
		break;
	case ACT_RECORD:
	case ACT_WAIT:
		is_event(s, a->event);
		is_stream(s, a->stream);
		break;
	case ACT_COPY:
		inside(s, a->src, a->src_off, a->bytes);
		inside(s, a->dst, a->dst_off, a->bytes);
		is_stream(s, a->stream);
		break;
	case ACT_SET:
		inside(s, a->dst, a->dst_off, a->bytes);
		if (a->byte > 255)
			fuzz_broken("byte %u", a->byte);
		is_stream(s, a->stream);
		break;
	case ACT_FREE:
	case ACT_ALLOC:
		if (object(s, a->dst)->kind != OBJ_BUF)
			fuzz_broken("a block that is no buf");
		inside(s, a->dst, 0, a->bytes);
		is_stream(s, a->stream);
		break;
	case ACT_HOSTREAD:
	case ACT_HOSTWRITE:
		inside(s, a->dst, a->dst_off, a->bytes);
		if (object(s, a->dst)->kind == OBJ_BUF)
			fuzz_broken("the host touches device memory");
		break;
	}
}

static void check_expect(const struct run_script *s, const struct run_expect *e)
{
	if (e->nlines > 2)
		fuzz_broken("%u lines", e->nlines);
	for (unsigned i = 0; i < e->nlines; i++)
		if (!e->lines[i] || e->lines[i] > s->nlines)
			fuzz_broken("line %u of %u", e->lines[i], s->nlines);
	if (e->clean ? e->nlines || e->only :
	    e->kind != KIND_ANY_RACE && (e->kind < 0 || e->kind >= GSAN_KIND_COUNT))
		fuzz_broken("a verdict that is none");
	if (e->options && !*e->options)
		fuzz_broken("no options");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct run_script s;

	if (run_parse(&s, "fuzz.ptx", text, size)) {
		if (!s.nobjs || strcmp(s.objs[0].name, "0") || s.objs[0].kind != OBJ_STREAM)
			fuzz_broken("the null stream is missing");
		for (int i = 0; i < s.nobjs; i++)
			if (is_memory(s.objs[i].kind) &&
			    (!s.objs[i].bytes || s.objs[i].bytes > UINT64_C(1) << 40))
				fuzz_broken("a block of %llu bytes", (unsigned long long)s.objs[i].bytes);
		for (unsigned i = 0; i < s.nactions; i++)
			check_action(&s, &s.actions[i]);
		for (unsigned i = 0; i < s.nexpects; i++)
			check_expect(&s, &s.expects[i]);
		if (!s.timeout)
			fuzz_broken("no time at all");
	}
	run_free(&s);
	free(text);
	return 0;
}
