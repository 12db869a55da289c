/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_listen.c: what the emulated device tells of instructions: lanes and the group that
 * executed them, operands, values; of what goes on beside the threads; and that two
 * listeners hear the same, with the oracle between them.
 */
#include "emu_test.h"

#include "emu/async.h"
#include "emu/listen.h"
#include "emu/oracle.h"
#include "emu/tcgen05.h"

#define SM100(text) ".version 9.0\n.target sm_100a\n.address_size 64\n" text
/* Registers; %d0: out; %r0: tid; %d1: out + 4 * tid; sm: 4 KiB; bar: 8 mbarriers. */
#define BEGIN ".shared .align 1024 .b8 sm[4096]; .shared .align 8 .b64 bar[8];\n" \
	".visible .entry k(.param .u64 p) {\n" \
	".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<10>;\n" \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;\n" \
	"setp.eq.u32 %p0, %r0, 0; mov.u32 %r30, sm; mov.u32 %r31, bar;\n"
#define EXIT "ret; }\n"

/* ---- two listeners ------------------------------------------------------------------------- */

/* The values of an event, as its kind has them, by lane. */
struct event {
	enum emu_tell_kind kind;
	enum ptx_inst_id inst;
	unsigned warp;
	uint32_t lanes, group, came[EMU_LANES], mask[4];
	uint64_t one[4], v[4][EMU_LANES];
};

struct heard {
	struct emu_listener l;
	struct event *v;
	unsigned n, cap, loaded, alive;
};

static struct heard first, second;

static void note_access(struct event *e, const struct emu_tell_access *a, unsigned l)
{
	e->one[0] = a->size;
	e->one[1] = a->n;
	e->one[2] = (a->read ? 1 : 0) + (a->wrote ? 2 : 0) + (a->elem ? 4 : 0);
	e->v[0][l] = a->addr[l];
	e->v[1][l] = a->bytes[l];
	e->v[2][l] = a->read ? a->read[l][a->n - 1] : 0;
	e->v[3][l] = a->wrote ? a->wrote[l][a->n - 1] : 0;
	if (a->elem) {
		e->v[2][l] = a->elem[l][a->n - 1];
		e->v[3][l] = a->stride[l];
	}
}

static void note_mbar(struct event *e, const struct emu_tell_mbar *m, unsigned l)
{
	e->one[0] = m->what;
	e->one[1] = m->drop | m->no_complete << 1 | m->expects << 2 | m->parity << 3 | m->try << 4;
	e->mask[0] = m->success;
	e->mask[1] = m->over;
	e->mask[2] = m->wrong;
	e->mask[3] = m->missing;
	e->v[0][l] = m->spot[l].owner ? m->spot[l].at : 0;
	e->v[1][l] = m->what < EMU_MBAR_WAIT ? m->count[l] : 0;
	e->v[2][l] = m->what < EMU_MBAR_WAIT ? m->bytes[l] : 0;
	e->v[3][l] = m->what >= EMU_MBAR_ARRIVE ? m->state[l] : 0;
}

static void note_copy(struct event *e, const struct emu_tell_copy *c, unsigned l)
{
	e->mask[0] = c->folded;
	e->v[0][l] = c->to[l];
	e->v[1][l] = c->from[l];
	e->v[2][l] = c->bytes[l];
	e->v[3][l] = c->async[l] ? c->async[l]->serial : 0;
}

static void note_lane(struct event *e, const struct emu_tell *t, unsigned l)
{
	e->came[l] = t->came ? t->came[l] : 0;
	switch (t->kind) {
	case TELL_ACCESS:
		note_access(e, t->u.access, l);
		break;
	case TELL_MBAR:
		note_mbar(e, t->u.mbar, l);
		break;
	case TELL_COPY:
		note_copy(e, t->u.copy, l);
		break;
	case TELL_WARP_SYNC:
		e->v[0][l] = t->u.members[l];
		break;
	case TELL_CP_ASYNC:
		e->v[0][l] = t->u.cp->to[l];
		e->v[1][l] = t->u.cp->from[l];
		e->v[2][l] = t->u.cp->read[l];
		e->mask[0] = t->u.cp->folded;
		break;
	case TELL_CP_ARRIVE:
		e->one[0] = t->u.cp_arrive->noinc;
		e->v[0][l] = t->u.cp_arrive->spot[l].at;
		e->v[1][l] = t->u.cp_arrive->serial[l];
		break;
	case TELL_TC_ISSUE:
		e->v[0][l] = emu_tc_item_of(t, l)->d;
		e->v[1][l] = emu_tc_item_of(t, l)->b;
		e->v[2][l] = emu_tc_item_of(t, l)->idesc;
		e->v[3][l] = emu_tc_item_of(t, l)->serial;
		break;
	default:
		break;
	}
}

static void note_rest(struct event *e, const struct emu_tell *t)
{
	switch (t->kind) {
	case TELL_BAR_ARRIVE:
	case TELL_BAR_LEAVE:
	case TELL_BAR_OVER:
		e->one[0] = t->u.bar->id;
		e->one[1] = t->u.bar->count;
		e->one[2] = t->u.bar->how;
		e->one[3] = t->u.bar->aligned;
		break;
	case TELL_GROUP_WAIT:
		e->one[0] = t->u.groups->list;
		e->one[1] = t->u.groups->left;
		e->one[2] = t->u.groups->read;
		break;
	case TELL_ARRIVED:
		e->one[0] = t->u.arrived->serial;
		break;
	case TELL_LANDED:
		e->one[0] = t->u.landed->async->serial;
		break;
	case TELL_HOST_WROTE:
		e->one[0] = t->u.host->addr;
		e->one[1] = t->u.host->bytes;
		break;
	case TELL_TC_ALLOC:
		e->one[0] = t->u.room->at;
		e->one[1] = t->u.room->columns;
		break;
	default:
		break;
	}
}

static void hear(void *self, const struct emu_tell *t)
{
	struct heard *h = self;
	struct event *e;

	if (h->n == h->cap) {
		h->cap = h->cap ? h->cap * 2 : 256;
		h->v = realloc(h->v, h->cap * sizeof *h->v);
		assert_non_null(h->v);
	}
	e = &h->v[h->n++];
	memset(e, 0, sizeof *e);
	e->kind = t->kind;
	e->inst = t->op && t->op->stmt ? t->op->stmt->inst.id : INST_UNKNOWN;
	e->warp = t->w ? t->w->index : 0;
	e->lanes = t->lanes;
	e->group = t->group;
	EMU_EACH(l, t->lanes | (t->kind == TELL_MBAR ? t->u.mbar->wrong : 0))
		note_lane(e, t, l);
	note_rest(e, t);
	if (t->kind == TELL_BLOCK_BEGIN) {
		h->alive += !t->b->heard[h->l.slot];
		t->b->heard[h->l.slot] = h;
	}
	if (t->kind == TELL_BLOCK_END)
		h->alive -= t->b->heard[h->l.slot] == h;
}

static void load_func(void *self, struct emu_func *f)
{
	struct heard *h = self;

	h->loaded++;
	f->heard[h->l.slot] = h;
}

static void unload_func(void *self, struct emu_func *f)
{
	struct heard *h = self;

	if (f->heard[h->l.slot])
		h->loaded--;
}

static void listen(struct heard *h)
{
	h->l = (struct emu_listener){.tell = hear, .load = load_func, .unload = unload_func, .self = h};
	assert_true(emu_listen(&h->l));
}

/* Runs kernel `k` of the text with a clean sheet. */
static void told(const char *text, unsigned threads)
{
	load(text);
	first.n = second.n = 0;
	ok(run(1, threads, 0));
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.v, second.v, first.n * sizeof *first.v);
	assert_int_equal(first.alive, 0);
	assert_int_equal(second.alive, 0);
	assert_int_equal(first.loaded, 1);
}

/* The n-th event of that kind; NULL: there are fewer. */
static const struct event *nth(enum emu_tell_kind kind, unsigned n)
{
	for (unsigned i = 0; i < first.n; i++)
		if (first.v[i].kind == kind && !n--)
			return &first.v[i];
	return NULL;
}

static const struct event *the(enum emu_tell_kind kind, unsigned n)
{
	const struct event *e = nth(kind, n);

	if (!e)
		fail_msg("there are only so many events of kind %d: %u", (int)kind, n);
	return e;
}

/* ---- accesses ------------------------------------------------------------------------------- */

static void guards(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "setp.lt.u32 %p1, %r0, 4; add.u32 %r4, %r0, 100; @%p1 st.global.u32 [%d1], %r4;\n"
		 "ld.global.u32 %r5, [%d1]; ld.relaxed.gpu.global.u32 %r5, [%d1]; ld.volatile.global.v2.u32 {_, %r6}, [%d0];\n"
		 "st.shared.v2.u32 [%r30], {%r0, %r4}; membar.gl;" EXIT), 32);
	e = the(TELL_ACCESS, 0);
	assert_int_equal(e->inst, INST_ST);
	assert_int_equal(e->lanes, 0xf);
	assert_int_equal(e->group, EMU_ALL);
	for (unsigned l = 0; l < 4; l++) {
		assert_int_equal(e->v[0][l], out_ptr + 4 * l);
		assert_int_equal(e->v[1][l], 4);
		assert_int_equal(e->v[3][l], 100 + l);
	}
	assert_int_equal(the(TELL_ACCESS, 1)->one[2], 0);       /* a weak load's value is nobody's business */
	e = the(TELL_ACCESS, 2);
	assert_int_equal(e->one[2], 1);
	assert_int_equal(e->v[2][3], 103);
	assert_int_equal(e->v[2][4], 0);
	assert_int_equal(the(TELL_ACCESS, 3)->v[2][9], 101);
	e = the(TELL_ACCESS, 4);
	assert_int_equal(e->one[1], 2);
	assert_int_equal(e->v[1][5], 8);
	assert_int_equal(e->v[3][5], 105);
	assert_int_equal(the(TELL_FENCE, 0)->inst, INST_MEMBAR);
	assert_int_equal(the(TELL_EXIT, 0)->lanes, EMU_ALL);
	assert_null(nth(TELL_ACCESS, 5));
}

static void atomics(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "mov.u32 %r4, 3; atom.global.add.u32 %r4, [%d0], %r4; red.shared.max.u32 [%r30], %r0;\n"
		 "mov.u32 %r5, 96; atom.global.cas.b32 %r6, [%d0], %r5, %r0; atom.global.exch.b32 _, [%d0], %r0;\n"
		 EXIT), 32);
	e = the(TELL_ACCESS, 0);
	for (unsigned l = 0; l < 32; l++) {     /* the result is where the operand was */
		assert_int_equal(e->v[2][l], 3 * l);
		assert_int_equal(e->v[3][l], 3 * l + 3);
	}
	e = the(TELL_ACCESS, 1);
	assert_int_equal(e->inst, INST_RED);
	assert_int_equal(e->v[2][7], 6);
	assert_int_equal(e->v[3][7], 7);
	e = the(TELL_ACCESS, 2);
	assert_int_equal(e->v[2][0], 96);
	assert_int_equal(e->v[3][0], 0);
	assert_int_equal(e->v[2][1], 0);
	assert_int_equal(e->v[3][1], 0);        /* in vain: it leaves what was there */
	e = the(TELL_ACCESS, 3);
	assert_int_equal(e->v[2][5], 4);
	assert_int_equal(e->v[3][5], 5);
}

static void matrices(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "shl.b32 %r4, %r0, 4; add.u32 %r4, %r4, %r30;\n"
		 "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5, %r6}, [%r4]; mov.u32 %r8, 32;\n"
		 "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%r30], %r8;\n"
		 EXIT), 32);
	e = the(TELL_ACCESS, 0);
	assert_int_equal(e->inst, INST_LDMATRIX);
	assert_int_equal(e->lanes, 0xffff);
	assert_int_equal(e->came[3], EMU_ALL);
	assert_int_equal(e->v[0][3] - e->v[0][0], 48);
	assert_int_equal(e->v[1][3], 16);
	e = the(TELL_ACCESS, 1);
	assert_int_equal(e->one[0], 2);
	assert_int_equal(e->one[1], 16);
	assert_int_equal(e->one[2], 4);
	assert_int_equal(e->v[3][7], 32);
	assert_true(e->v[2][7] >= e->v[0][7] && e->v[2][7] < e->v[0][7] + 16 * 64);
}

/* ---- who waits for whom --------------------------------------------------------------------- */

static void barriers(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "setp.ge.u32 %p1, %r0, 32; @%p1 bra OTHER;\n"
		 "bar.sync 0; barrier.arrive 3, 64; bra.uni END;\n"
		 "OTHER: bar.sync 0; barrier.sync 3, 64;\n"
		 "END: setp.lt.u32 %p2, %r0, 48; bar.red.popc.u32 %r4, 1, %p2;\n"
		 "and.b32 %r5, %r0, 31; setp.lt.u32 %p3, %r5, 16; @%p3 barrier.sync 5, 64;" EXIT), 64);
	e = the(TELL_BAR_ARRIVE, 0);
	assert_int_equal(e->lanes, EMU_ALL);
	assert_int_equal(e->group, EMU_ALL);
	assert_int_equal(e->one[1], 0);
	assert_int_equal(e->one[2], EMU_BAR_SYNC);
	assert_true(e->one[3]);
	assert_int_equal(the(TELL_BAR_LEAVE, 0)->warp + the(TELL_BAR_LEAVE, 1)->warp, 1);
	assert_int_equal(the(TELL_BAR_OVER, 0)->one[0], 0);
	for (unsigned i = 2; i < 4; i++) {
		e = the(TELL_BAR_ARRIVE, i);
		assert_int_equal(e->one[0], 3);
		assert_int_equal(e->one[1], 64);
		assert_int_equal(e->one[2], e->warp ? EMU_BAR_SYNC : EMU_BAR_ARRIVE);
		assert_false(e->one[3]);
	}
	e = the(TELL_BAR_LEAVE, 2);             /* who only arrives does not wait */
	assert_int_equal(e->warp, 1);
	assert_int_equal(e->one[1], 64);
	assert_int_equal(the(TELL_BAR_LEAVE, 3)->one[2], EMU_BAR_RED);
	assert_int_equal(the(TELL_BAR_LEAVE, 4)->one[0], 1);
	e = the(TELL_BAR_ARRIVE, 6);
	assert_int_equal(e->lanes, 0xffff);     /* half of each warp; the rest exits */
	assert_int_equal(e->group, EMU_ALL);
	assert_int_equal(the(TELL_BAR_LEAVE, 5)->group, 0xffff);
	assert_null(nth(TELL_BAR_LEAVE, 7));
	assert_null(nth(TELL_BAR_OVER, 4));
}

static void warps(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "setp.lt.u32 %p1, %r0, 4; @%p1 bar.warp.sync 15;\n"
		 "setp.lt.u32 %p2, %r0, 12; @%p2 bra LEFT; bar.warp.sync -1; bra.uni END;\n"
		 "LEFT: add.u32 %r4, %r0, 1; bar.warp.sync -1;\n"
		 "END: st.global.u32 [%d1], %r0;" EXIT), 32);
	e = the(TELL_WARP_SYNC, 0);
	assert_int_equal(e->lanes, 0xf);
	assert_int_equal(e->v[0][2], 15);
	assert_int_equal(e->came[2], EMU_ALL);  /* whose guard is false are of the group as well */
	e = the(TELL_WARP_SYNC, 1);
	assert_int_equal(e->lanes, EMU_ALL);
	assert_int_equal(e->v[0][20], EMU_ALL);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(e->came[l], l < 12 ? 0xfffu : ~0xfffu);
	assert_null(nth(TELL_WARP_SYNC, 2));
}

static void masks(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "setp.ge.u32 %p1, %r0, 2; @%p1 bra OTHERS; bar.warp.sync 12; bra.uni END;\n"
		 "OTHERS: bar.warp.sync 0xfffffffc; END: st.global.u32 [%d1], %r0;" EXIT), 32);
	e = the(TELL_WARP_SYNC, 0);             /* they wait all the same */
	assert_int_equal(e->lanes, 3);
	assert_int_equal(e->v[0][1], 12);
	assert_int_equal(e->came[1], 3);
	e = the(TELL_WARP_SYNC, 1);
	assert_int_equal(e->lanes, ~3u);
	assert_int_equal(e->v[0][2], ~3u);
	assert_int_equal(e->came[2], ~3u);
	assert_null(nth(TELL_WARP_SYNC, 2));
}

/* ---- what is asynchronous -------------------------------------------------------------------- */

static void mbarriers(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "@%p0 mbarrier.init.shared.b64 [%r31+8], 33; bar.warp.sync -1;\n"
		 "mbarrier.arrive.shared.b64 %d4, [%r31+8]; mbarrier.test_wait.shared.b64 %p1, [%r31+8], %d4;\n"
		 "@%p0 mbarrier.arrive.expect_tx.shared.b64 %d5, [%r31+8], 32;\n"
		 "@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r31+8], 32;\n"
		 "mbarrier.try_wait.parity.shared.b64 %p1, [%r31+8], 0; @%p0 mbarrier.inval.shared.b64 [%r31+8];\n" EXIT), 32);
	e = the(TELL_MBAR, 0);
	assert_int_equal(e->one[0], EMU_MBAR_INIT);
	assert_int_equal(e->lanes, 1);
	assert_int_equal(e->group, EMU_ALL);
	assert_int_equal(e->v[1][0], 33);
	e = the(TELL_MBAR, 1);
	assert_int_equal(e->lanes, EMU_ALL);
	assert_int_equal(e->one[0], EMU_MBAR_ARRIVE);
	assert_int_equal(e->v[0][9], the(TELL_MBAR, 0)->v[0][0]);
	assert_int_equal(e->v[1][9], 1);
	assert_int_not_equal(e->v[3][0], e->v[3][31]);
	assert_int_equal(e->mask[1], 0);
	e = the(TELL_MBAR, 2);
	assert_int_equal(e->one[0], EMU_MBAR_WAIT);
	assert_int_equal(e->mask[0], 0);
	assert_int_equal(e->v[3][7], the(TELL_MBAR, 1)->v[3][7]);
	e = the(TELL_MBAR, 3);
	assert_int_equal(e->one[1], 4);
	assert_int_equal(e->v[2][0], 32);
	assert_int_equal(the(TELL_MBAR, 4)->mask[1], 1);        /* that ends the phase */
	e = the(TELL_MBAR, 5);
	assert_int_equal(e->one[1], 8 | 16);
	assert_int_equal(e->mask[0], EMU_ALL);
	assert_int_equal(the(TELL_MBAR, 6)->one[0], EMU_MBAR_INVAL);
	assert_null(nth(TELL_MBAR_OVER, 0));
}

static void misuse(void **unused)
{
	struct capture c;

	(void)unused;
	load(PTX(BEGIN "@%p0 mbarrier.init.shared.b64 [%r31], 3; bar.warp.sync -1; mbarrier.arrive.shared.b64 %d4, [%r31], 2;" EXIT));
	first.n = second.n = 0;
	capture_begin(&c, 2);
	assert_int_not_equal(run(1, 4, 0), CUDA_SUCCESS);
	capture_end(&c);
	assert_int_equal(the(TELL_MBAR, 1)->lanes, 3);
	assert_int_equal(the(TELL_MBAR, 1)->mask[2], 2);        /* one is left when the second brings two */
	/* The launch ends where the program is instrumented. */
	load(PTX(".entry __gsan_v2_init_0() { ret; }\n" BEGIN "mbarrier.arrive.shared.b64 %d4, [%r31];" EXIT));
	first.n = second.n = 0;
	capture_begin(&c, 2);
	assert_int_not_equal(run(1, 4, 0), CUDA_SUCCESS);
	capture_end(&c);
	assert_int_equal(the(TELL_MBAR, 0)->lanes, 0);
	assert_int_equal(the(TELL_MBAR, 0)->mask[2], 1);
	fresh();
	first.alive = second.alive = 0;
}

static void goes_on(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "mbarrier.arrive.shared.b64 %d4, [%r31], 2; mbarrier.test_wait.shared.b64 %p1, [%r31], %d4;\n"
		 "@!%p1 trap; cp.async.mbarrier.arrive.noinc.shared.b64 [%r31]; mbarrier.inval.shared.b64 [%r31];" EXIT), 4);
	e = the(TELL_MBAR, 0);
	assert_int_equal(e->one[0], EMU_MBAR_ARRIVE);
	assert_int_equal(e->lanes, 0xf);
	assert_int_equal(e->mask[2], 0);
	assert_int_equal(e->mask[3], 0xf);
	assert_int_equal(e->v[1][2], 2);
	e = the(TELL_MBAR, 1);
	assert_int_equal(e->mask[0], 0xf);
	assert_int_equal(e->mask[3], 0xf);
	e = the(TELL_CP_ARRIVE, 0);
	assert_int_equal(e->lanes, 0xf);
	assert_int_equal(e->v[1][2], 0);
	assert_int_equal(the(TELL_MBAR, 2)->mask[3], 0xf);
	assert_null(nth(TELL_ARRIVED, 0));
}

static void copies(void **unused)
{
	const struct event *e;
	uint64_t serial;

	(void)unused;
	told(PTX(BEGIN "@%p0 mbarrier.init.shared.b64 [%r31], 8; bar.warp.sync -1;\n"
		 "mad.lo.u32 %r4, %r0, 4, %r30; setp.lt.u32 %p1, %r0, 8; mov.u32 %r5, 2;\n"
		 "@%p1 cp.async.ca.shared.global [%r4], [%d1], 4, %r5; cp.async.commit_group;\n"
		 "@%p1 cp.async.mbarrier.arrive.noinc.shared.b64 [%r31];\n"
		 "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r31], 0; @!%p2 bra W; cp.async.wait_group 1;" EXIT), 32);
	e = the(TELL_CP_ASYNC, 0);
	assert_int_equal(e->lanes, 0xff);
	assert_int_equal(e->group, EMU_ALL);
	assert_int_equal(e->v[1][3], out_ptr + 12);
	assert_int_equal(e->v[2][3], 2);
	assert_int_equal(e->mask[0], 0);
	e = the(TELL_CP_ARRIVE, 0);
	assert_true(e->one[0]);
	serial = e->v[1][0];
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(e->v[1][i], serial + i);
		assert_int_equal(the(TELL_ARRIVED, i)->one[0], serial + i);
	}
	assert_non_null(nth(TELL_MBAR_OVER, 0));
	e = the(TELL_GROUP_WAIT, 0);
	assert_int_equal(e->one[0], EMU_LIST_CP);
	assert_int_equal(e->one[1], 1);
	assert_false(e->one[2]);
}

static void bulk(void **unused)
{
	const struct event *e;

	(void)unused;
	told(PTX(BEGIN "@%p0 mbarrier.init.shared.b64 [%r31], 1; fence.mbarrier_init.release.cluster; bar.warp.sync -1;\n"
		 "@%p0 mbarrier.arrive.expect_tx.shared.b64 %d4, [%r31], 64;\n"
		 "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r30], [%d0], 64, [%r31];\n"
		 "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r31], 0; @!%p2 bra W;\n"
		 "setp.lt.u32 %p1, %r0, 2; add.u64 %d5, %d0, 1024;\n"
		 "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d5], [%r30], 32;\n"
		 "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;" EXIT), 32);
	e = the(TELL_COPY, 0);
	assert_int_equal(e->lanes, 1);
	assert_int_equal(e->group, EMU_ALL);
	assert_int_equal(e->v[1][0], out_ptr);
	assert_int_equal(e->v[2][0], 64);
	assert_true(e->v[3][0]);
	assert_int_equal(the(TELL_LANDED, 0)->one[0], e->v[3][0]);
	assert_null(nth(TELL_LANDED, 1));
	e = the(TELL_COPY, 1);                  /* hardware makes one store of the two */
	assert_int_equal(e->lanes, 3);
	assert_int_equal(e->mask[0], 2);
	assert_int_equal(e->v[0][1], out_ptr + 1024);
	assert_int_equal(e->v[3][1], 0);
	assert_true(the(TELL_GROUP_WAIT, 0)->one[2]);
	assert_false(the(TELL_GROUP_WAIT, 1)->one[2]);
}

static void tensor_memory(void **unused)
{
	const struct event *e;

	(void)unused;
	emu_set_device(100);
	told(SM100(BEGIN "@%p0 mbarrier.init.shared.b64 [%r31], 1; bar.warp.sync -1;\n"
		   "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r31+32], 64; ld.shared.u32 %r4, [%r31+32];\n"
		   "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r0}; tcgen05.wait::st.sync.aligned;\n"
		   "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r31];\n"
		   "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r31], 0; @!%p2 bra W;\n"
		   "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;\n"
		   "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" EXIT), 32);
	emu_set_device(90);
	assert_int_equal(the(TELL_TC_ALLOC, 0)->one[1], 64);
	assert_int_equal(the(TELL_TC_ACCESS, 0)->inst, INST_TCGEN05_ST);
	assert_int_equal(the(TELL_TC_WAIT, 0)->lanes, EMU_ALL);
	e = the(TELL_TC_ISSUE, 0);
	assert_int_equal(e->lanes, 1);
	assert_int_equal(the(TELL_ARRIVED, 0)->one[0], e->v[3][0]);
	assert_non_null(nth(TELL_MBAR_OVER, 0));
	assert_non_null(nth(TELL_TC_DEALLOC, 0));
	assert_non_null(nth(TELL_TC_RELINQUISH, 0));
}

static void host(void **unused)
{
	const struct event *e;
	CUdeviceptr p;

	(void)unused;
	ok(cuMemAlloc(&p, 4096));
	first.n = second.n = 0;
	ok(cuMemsetD32(p + 8, 7, 3));
	ok(cuMemcpyDtoD(p, p + 8, 12));
	ok(cuCtxSynchronize());
	ok(cuMemFree(p));
	e = the(TELL_HOST_WROTE, 0);
	assert_int_equal(e->one[0], p + 8);
	assert_int_equal(e->one[1], 12);
	assert_int_equal(the(TELL_HOST_WROTE, 1)->one[0], p);
	assert_int_equal(the(TELL_HOST_WROTE, 2)->one[1], 4096);
}

static void oracle(void **unused)
{
	struct emu_oracle_finding f;

	(void)unused;
	emu_oracle_forget();
	told(PTX(BEGIN "st.global.u32 [%d1], %r0; bar.sync 0;" EXIT), 64);
	assert_int_equal(emu_oracle_findings(&f, 1), 0);
	told(PTX(BEGIN "st.global.u32 [%d0], %r0; bar.sync 0;" EXIT), 64);
	assert_int_equal(emu_oracle_findings(&f, 1), 1);
	assert_string_equal(f.pair.kind, "data-race");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(guards), cmocka_unit_test(atomics), cmocka_unit_test(matrices),
		cmocka_unit_test(barriers), cmocka_unit_test(warps), cmocka_unit_test(masks),
		cmocka_unit_test(mbarriers), cmocka_unit_test(misuse), cmocka_unit_test(goes_on), cmocka_unit_test(copies),
		cmocka_unit_test(bulk), cmocka_unit_test(tensor_memory), cmocka_unit_test(host), cmocka_unit_test(oracle)
	};

	listen(&first);
	assert_int_equal(emu_oracle(NULL, 0), 0);
	listen(&second);
	emu_set_seed(0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
