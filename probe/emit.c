/* SPDX-License-Identifier: Apache-2.0
 *
 * emit.c: the text of probes: registers, operands, records.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/emit.h"
#include "probe/outside.h"
#include "probe/text.h"

#define R "%%__gsan_"

/* Numbers in the PTX of refill.ptx, and below. */
EVENT_ASSERT(REGION_LAUNCH == 32 && REGION_OVER == 0x80000000u && REGION_GIVEN == 0x80000000u);

void emit(struct emit *p, const char *fmt, ...)
{
	va_list ap;
	char *line;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);          /* names may be of any length */
	va_end(ap);
	if (n < 0)
		abort();
	ptx_puts(&p->out, "\t");
	ptx_put(&p->out, line, (size_t)n);
	ptx_puts(&p->out, ";\n");
	free(line);
}

void emit_label(struct emit *p, unsigned label)
{
	char line[32];

	ptx_put(&p->out, line, (size_t)snprintf(line, sizeof line, "$__gsan_L%u:\n", label));
}

/* ---- text of more than a line ------------------------------------------------------------------ */

/* A line of a text, with words in it replaced. */
static void put_line(struct emit *p, const char *line, size_t n)
{
	char number[16], shift[16], queue[16], sink[16];
	const struct { const char *word, *text; } words[] = {
		{"PIECE", number}, {"SHIFT", shift}, {"QUEUE", queue}, {"SINK", sink}, {"SPACE", p->called ? "global" : "param"},
		/* REGION_LAUNCH */
		{"[LAUNCH+16]", p->called ? "[%__gsan_base+48]" : "[" PROBE_PARAM "+16]"},
		{"[LAUNCH+20]", p->called ? "[%__gsan_base+52]" : "[" PROBE_PARAM "+20]"}
	};
	const unsigned nwords = sizeof words / sizeof *words;

	snprintf(number, sizeof number, "%u", p->piece);
	snprintf(shift, sizeof shift, "%d", __builtin_ctz(p->piece));
	snprintf(queue, sizeof queue, "%d", 16 * REGION_QUEUE);
	snprintf(sink, sizeof sink, "%u", REGION_SINK_LAST + p->piece - 1);
	for (size_t at = 0; at < n;) {
		size_t other = strcspn(line + at, "[ABCDEFGHIJKLMNOPQRSTUVWXYZ");      /* as all words begin */
		unsigned k = 0;

		if (other > n - at)
			other = n - at;
		ptx_put(&p->out, line + at, other);
		at += other;
		if (at == n)
			break;
		while (k < nwords && strncmp(line + at, words[k].word, strlen(words[k].word)))
			k++;
		if (k < nwords)
			ptx_puts(&p->out, words[k].text);
		else
			ptx_put(&p->out, line + at, 1);
		at += k < nwords ? strlen(words[k].word) : 1;
	}
}

/* Where the kernel's variables lie: struct region_places, by block 0; their number comes last. */
static void put_variables(struct emit *p)
{
	if (!p->nvariables)
		return;
	emit(p, "setp.ne.u32 %%q, %%block, 0");
	emit(p, "@%%q bra $__gsan_begun");
	for (uint32_t i = 0; i < p->nvariables; i++) {
		emit(p, "mov.u32 %%x, %s", p->variable[i].name);
		emit(p, "st.global.v2.b32 [" R "base+%d], {%u, %%x}", 16 * REGION_PLACES + 8 + 8 * (int)i, p->variable[i].number);
	}
	emit(p, "mov.u32 %%x, %%dynamic_smem_size");
	emit(p, "st.global.v2.b32 [" R "base+%d], {%u, %%x}", 16 * REGION_PLACES, p->nvariables + 1);
}

/* A text of probe/text.h, in which PIECE stands for the units of a piece, which are 1 << SHIFT, QUEUE for where the
 * queue is, SINK for the last unit of a full piece of REGION_SINK, SPACE and LAUNCH for where the launch's parameter is, or
 * its copy in the region; lines of PLACE, SLOT, VARIABLES and LANE are other texts. */
static void put_text(struct emit *p, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n") + 1;

		if (!strncmp(text, "PLACE", 5))
			put_text(p, p->clusters ? probe_place_cluster : probe_place);
		else if (!strncmp(text, "SLOT", 4))
			put_text(p, probe_slot);
		else if (!strncmp(text, "VARIABLES", 9))
			put_variables(p);
		else if (!strncmp(text, "LANE", 4))
			put_text(p, probe_lane);
		else if (strncmp(text, "//", 2))
			put_line(p, text, n);
		text += n;
	}
}

void emit_registers(struct emit *p)
{
	emit(p, ".reg .b64 " R "base, " R "k, " R "kl, " R "v, " R "x, " R "w, " R "y");
	emit(p, ".reg .b32 " R "p, " R "row, " R "m, " R "n, " R "rank, " R "lo, " R "hi");
	emit(p, ".reg .b32 " R "a, " R "b, " R "c, " R "t, " R "c0, " R "t0, " R "tried, " R "each, " R "own, " R "gc, " R "gt");
	emit(p, ".reg .b16 " R "h");
	if (p->unit || p->given)
		emit(p, ".reg .b32 " R "first, " R "head");
	if (p->unit)
		emit(p, "ld.global.b32 " R "first, [" PROBE_FIRST "%s]", p->unit);
	if (p->polls) {
		emit(p, ".reg .b64 " R "pk, " R "sk");
		emit(p, ".reg .b32 " R "polled, " R "pm");
	}
	emit(p, ".reg .pred " R "leader, " R "full, " R "line, " R "same, " R "guard, " R "private");
}

/* ---- operands ------------------------------------------------------------------------------- */

bool emit_value(struct emit *p, const char *to, const struct ptx_operand *o, unsigned bits)
{
	const char *elem = o && o->elemtext ? o->elemtext : "", *dot = *elem ? "." : "";
	unsigned have;

	if (!o)
		return false;
	if (o->kind == OP_INT || o->kind == OP_FLOAT || o->kind == OP_EXPR) {
		uint64_t v = o->ival;

		emit(p, "mov.b64 " R "%s, 0x%llx", to, (unsigned long long)(bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v));
		return true;
	}
	if (o->kind != OP_SYM || !o->sym || o->neg)
		return false;
	if (o->sym->kind == SYM_VAR) {
		emit(p, "mov.b64 " R "%s, %s", to, o->sym->name);
		return true;
	}
	have = ptx_type_bits(o->sym->kind == SYM_SREG ? TYPE_B32 : o->sym->type);
	if (o->sym->kind != SYM_REG && o->sym->kind != SYM_SREG)
		return false;
	switch (have) {
	case 64:
		emit(p, "mov.b64 " R "%s, %s%s%s", to, o->sym->name, dot, elem);
		return true;
	case 32:
		emit(p, "mov.b32 " R "lo, %s%s%s", o->sym->name, dot, elem);
		emit(p, "cvt.u64.u32 " R "%s, " R "lo", to);
		break;
	case 16:
		emit(p, "mov.b16 " R "h, %s%s%s", o->sym->name, dot, elem);
		emit(p, "cvt.u64.u16 " R "%s, " R "h", to);
		break;
	default:
		return false;
	}
	if (bits < have)
		emit(p, "and.b64 " R "%s, " R "%s, 0x%llx", to, to, (unsigned long long)((UINT64_C(1) << bits) - 1));
	return true;
}

bool emit_address(struct emit *p, const struct ptx_operand *addr)
{
	struct ptx_operand base = addr->list[0];
	int64_t off = base.kind == OP_SYM ? base.off : 0;

	base.off = 0;
	if (!emit_value(p, "v", &base, 64))
		return false;
	if (off)
		emit(p, "add.s64 " R "v, " R "v, %lld", (long long)off);
	/* An offset from 32 bits wraps. */
	if (off && base.sym->kind == SYM_REG && ptx_type_bits(base.sym->type) == 32)
		emit(p, "and.b64 " R "v, " R "v, 0xffffffff");
	return true;
}

void emit_map(struct emit *p, int param)
{
	if (param < 0) {
		put_text(p, probe_hash);
		return;
	}
	put_text(p, "\tld.SPACE.u32 %__gsan_lo, [LAUNCH+16];\n");
	emit(p, "mov.b32 " R "hi, 0x%x", (unsigned)(REGION_MAP(0, (unsigned)param) >> 32));
	emit(p, "mov.b64 " R "x, {" R "lo, " R "hi}");
}

void emit_skip_private(struct emit *p, unsigned label, bool behind)
{
	if (!behind)
		emit(p, "isspacep.local " R "private, " R "v");
	emit(p, "@" R "private bra $__gsan_L%u", label);
}

void emit_skip_lanes(struct emit *p, unsigned lane, unsigned label)
{
	emit(p, "mov.u32 " R "lo, %%laneid");
	emit(p, "setp.ge.u32 " R "full, " R "lo, %u", lane);
	emit(p, "@" R "full bra $__gsan_L%u", label);
}

/* ---- groups and room ------------------------------------------------------------------------------ */

void emit_leader(struct emit *p)
{
	emit(p, "mov.u32 " R "lo, %%lanemask_lt");
	emit(p, "and.b32 " R "lo, " R "lo, " R "m");
	emit(p, "setp.eq.u32 " R "leader, " R "lo, 0");
}

/* While its lanes are together: whoever has a piece to fetch comes later than the others, who may have gone on. */
static void read_group_clocks(struct emit *p)
{
	emit(p, "mov.u32 " R "gt, %%globaltimer_lo");
	emit(p, "mov.u32 " R "gc, %%clock");
	p->untimed = false;
}

/* Where a call makes the group's first record that reads them. */
static void group_clocks_later(struct emit *p)
{
	p->untimed = p->outside != NULL;
	if (!p->untimed)
		read_group_clocks(p);
}

static void read_late_clocks(struct emit *p)
{
	if (p->untimed)
		read_group_clocks(p);
}

void emit_mask_of_lane(struct emit *p, const struct ptx_inst *in, const char *mask)
{
	const char *guard = in && in->guarded ? in->guard->name : NULL;

	emit(p, "mov.u32 " R "lo, %%lanemask_eq");
	emit(p, "%s%s%sor.b32 %s, %s, " R "lo", !guard ? "" : in->guard_neg ? "@!" : "@", guard ? guard : "", guard ? " " : "", mask, mask);
}

void emit_regroup(struct emit *p)
{
	emit(p, "activemask.b32 " R "m");
	if (!p->rows)
		emit(p, "and.b32 " R "m, " R "m, " R "row");
	else
		emit_mask_of_lane(p, NULL, "%__gsan_m");
	group_clocks_later(p);
	emit_leader(p);
}

void emit_regroup_by(struct emit *p, const char *reg)
{
	emit(p, "activemask.b32 " R "m");
	emit(p, "match.any.sync.b32 " R "m, " R "%s, " R "m", reg);
	emit_mask_of_lane(p, NULL, "%__gsan_m");        /* of a constant all have the same, to ptxas */
	group_clocks_later(p);
	emit_leader(p);
}

void emit_alone(struct emit *p)
{
	emit(p, "mov.u32 " R "m, %%lanemask_eq");
	group_clocks_later(p);
	emit(p, "setp.ne.u32 " R "leader, " R "m, 0");
}

void emit_piece(struct emit *p)
{
	put_text(p, probe_refill);
}

static void emit_refill(struct emit *p, const char *unless)
{
	unsigned have = p->labels++;

	emit(p, "@%s bra $__gsan_L%u", unless, have);
	if (p->outside)
		outside_refill(p);
	else
		emit_piece(p);
	emit_label(p, have);
}

/* What comes next is no poll that goes on. */
static void end_polls(struct emit *p)
{
	if (p->polls)
		emit(p, "mov.b32 " R "polled, 0");
}

/* k: what at is counted from. */
static void find_records(struct emit *p)
{
	if (!p->running)
		emit(p, "mad.wide.u32 " R "k, " R "p, 16, " R "base");
}

static int place_of(const struct emit *p, unsigned at)
{
	return 16 * ((int)at - (p->running ? 0 : (int)p->room - 1));
}

/* Its piece has room for so many units, or for those that `ahead` says, or the leader takes another one. */
static void look_for_room(struct emit *p, unsigned units)
{
	read_late_clocks(p);
	units = p->ahead > units ? p->ahead : units;
	if (!p->sure) {
		emit(p, "and.b32 " R "lo, " R "p, %u", p->piece - 1);
		emit(p, "setp.le.or.u32 " R "full, " R "lo, %d, !" R "leader", (int)p->piece - 1 - (int)units);
		emit_refill(p, "%__gsan_full");
	}
	p->sure = p->sure || p->ahead;
}

/* The same for n units. */
static void look_for_n(struct emit *p)
{
	if (p->sure || p->ahead) {
		look_for_room(p, 0);
		return;
	}
	read_late_clocks(p);
	emit(p, "and.b32 " R "lo, " R "p, %u", p->piece - 1);
	emit(p, "add.u32 " R "lo, " R "lo, " R "n");
	emit(p, "setp.lt.or.u32 " R "full, " R "lo, %u, !" R "leader", p->piece);
	emit_refill(p, "%__gsan_full");
}

/* Room for n units; all lanes get the leader's k, which is where they begin. */
static void room_for_all(struct emit *p)
{
	end_polls(p);
	look_for_n(p);
	emit(p, "brev.b32 " R "hi, " R "m");
	emit(p, "clz.b32 " R "hi, " R "hi");
	emit(p, "shfl.sync.idx.b32 " R "lo, " R "p, " R "hi, 31, " R "m");
	emit(p, "add.u32 " R "lo, " R "lo, 1");
	emit(p, "mad.wide.u32 " R "k, " R "lo, 16, " R "base");
	emit(p, "@" R "leader add.u32 " R "p, " R "p, " R "n");
	p->running = true;
}

/* n = units that a record with so many words of 8 / narrow bytes for each lane takes, with a CLOCK. */
static void size_of(struct emit *p, unsigned words, unsigned narrow, unsigned fixed, bool first)
{
	emit(p, "popc.b32 " R "n, " R "m");
	emit(p, "mad.lo.u32 " R "n, " R "n, %u, %u", words, 2 * narrow - 1);
	emit(p, "shr.u32 " R "n, " R "n, %u", narrow);
	emit(p, "add.u32 " R "n, " R "n, %u", fixed + first);
}

/* rank = the lane's number in its group. */
static void find_rank(struct emit *p)
{
	emit(p, "mov.u32 " R "rank, %%lanemask_lt");
	emit(p, "and.b32 " R "rank, " R "m, " R "rank");
	emit(p, "popc.b32 " R "rank, " R "rank");
}

void emit_room(struct emit *p, unsigned units, unsigned each)
{
	if (each) {
		size_of(p, 1, 2, 1, false);
		emit(p, "shl.b32 " R "each, " R "n, 4");
		emit(p, "mad.lo.u32 " R "n, " R "n, %u, %u", each, units);
		room_for_all(p);
		find_rank(p);
		emit(p, "shl.b32 " R "own, " R "rank, 2");
		return;
	}
	end_polls(p);
	look_for_room(p, units);
	emit(p, "@" R "leader add.u32 " R "p, " R "p, %u", units);
	p->room = units;
	p->running = false;
}

/* The first group: the warp as a whole, if that is a row.  The warp's piece in the launch's array is lane 0's. */
static void first_group(struct emit *p)
{
	if (p->rows) {
		emit(p, "setp.eq.u32 " R "full, 0, 0");
		emit(p, "vote.sync.ballot.b32 " R "m, " R "full, 0xffffffff");
		read_group_clocks(p);
		emit_leader(p);
		return;
	}
	put_text(p, probe_rows);
	emit_regroup(p);
	read_late_clocks(p);
	emit(p, "mov.u32 " R "lo, %%lanemask_lt");
	emit(p, "setp.eq.or.u32 " R "full, " R "lo, 0, !" R "leader");
	emit_refill(p, "%__gsan_full");
}

void emit_start(struct emit *p, uint32_t begin)
{
	emit_registers(p);
	end_polls(p);
	put_text(p, probe_start);
	first_group(p);
	emit(p, "@" R "leader add.u32 " R "p, " R "p, 2");
	p->room = 2;
	p->running = false;
	emit_clock_record(p, 0);
	emit(p, "mov.u32 " R "a, %%ntid.x");
	emit(p, "mov.u32 " R "b, %%ntid.y");
	emit(p, "mul.lo.u32 " R "a, " R "a, " R "b");
	emit(p, "mov.u32 " R "b, %%ntid.z");
	emit(p, "mul.lo.u32 " R "a, " R "a, " R "b");
	emit(p, "mov.u32 " R "b, %%total_smem_size");
	emit_short(p, &(struct emit_record){EVENT_BEGIN, begin, 0, false}, 1);
}

void emit_save(struct emit *p)
{
	put_text(p, probe_save);
}

void emit_load(struct emit *p)
{
	end_polls(p);
	put_text(p, probe_load);
}

void emit_called(struct emit *p)
{
	emit_registers(p);
	emit_load(p);
	emit(p, "and.b32 " R "tried, " R "tried, 0x7fffffff");   /* the mark of who called (sync.c) */
	if (!p->rows)
		put_text(p, probe_rows);
}

/* ---- records ----------------------------------------------------------------------------------- */

void emit_clocks(struct emit *p, bool behind)
{
	if (!behind)
		emit(p, "mov.u32 " R "t, %%globaltimer_lo");
	emit(p, "mov.u32 " R "c, %%clock");
	if (behind)
		emit(p, "mov.u32 " R "t, %%globaltimer_lo");
}

static void put_unit(struct emit *p, unsigned at, unsigned head, const char *third, const char *fourth)
{
	if ((p->unit || p->given) && head >> 12) {
		emit(p, "add.u32 " R "head, " R "first, 0x%x", head);
		emit(p, "@" R "leader st.global.v4.b32 [" R "k+%d], {" R "head, " R "m, %s, %s}", place_of(p, at), third, fourth);
		return;
	}
	emit(p, "@" R "leader st.global.v4.b32 [" R "k+%d], {0x%x, " R "m, %s, %s}", place_of(p, at), head, third, fourth);
}

static void put_clock(struct emit *p, unsigned at)
{
	if (p->untimed)
		abort();
	put_unit(p, at, event_head(EVENT_CLOCK, 0, 0, false), "%__gsan_gc", "%__gsan_gt");
}

void emit_clock_record(struct emit *p, unsigned at)
{
	find_records(p);
	put_clock(p, at);
}

static bool addressed(const struct emit_record *r)
{
	return event_form(r->kind) == EVENT_FORM_ADDRESS || event_form(r->kind) == EVENT_FORM_CLOCKED;
}

static unsigned head_of(const struct emit_record *r)
{
	return event_head(r->kind, r->site, r->words, addressed(r) && !r->once) | (unsigned)(r->once && r->words) << 7;
}

static void put_fixed(struct emit *p, const struct emit_record *r, unsigned at)
{
	unsigned head = head_of(r);

	switch (event_form(r->kind)) {
	case EVENT_FORM_CLOCK:
		put_unit(p, at, head, "%__gsan_c", "%__gsan_t");
		break;
	case EVENT_FORM_BARRIER:
		put_unit(p, at, head, "%__gsan_a", "%__gsan_c");
		break;
	case EVENT_FORM_PAIR:
		put_unit(p, at, head, "%__gsan_a", "%__gsan_b");
		break;
	default:
		put_unit(p, at, head, "0", "0");
		break;
	}
}

void emit_short(struct emit *p, const struct emit_record *r, unsigned at)
{
	find_records(p);
	put_fixed(p, r, at);
}

void emit_once(struct emit *p, const struct emit_record *r, unsigned at)
{
	find_records(p);
	put_unit(p, at, event_head_once(r->kind, r->site, 2), "0", "0");
	emit(p, "@" R "leader st.global.v2.b64 [" R "k+%d], {" R "w, " R "v}", place_of(p, at + 1));
}

/* ---- records with an address for all --------------------------------------------------------------- */

bool emit_line(struct emit *p, const struct emit_record *r, const struct ptx_operand *addr, int64_t step, unsigned at)
{
	struct ptx_operand base = addr->list[0];
	unsigned upper = (unsigned)(uint16_t)step << 16, head = event_head(r->kind, r->site, 0, false);
	char high[16];

	find_records(p);
	if (base.kind == OP_SYM)
		base.off = 0;
	if (base.kind == OP_SYM && base.sym->kind == SYM_REG && ptx_type_bits(base.sym->type) == 64) {
		emit(p, "mov.b64 {" R "lo, " R "hi}, %s", base.sym->name);
		if (upper)
			emit(p, "or.b32 " R "hi, " R "hi, 0x%x", upper);
		put_unit(p, at, head, "%__gsan_lo", "%__gsan_hi");
		return true;
	}
	if (base.kind == OP_SYM && base.sym->kind == SYM_REG && ptx_type_bits(base.sym->type) == 32) {
		snprintf(high, sizeof high, "0x%x", upper);
		put_unit(p, at, head, base.sym->name, high);
		return true;
	}
	if (!emit_value(p, "v", &base, 64))
		return false;
	emit(p, "mov.b64 {" R "lo, " R "hi}, " R "v");
	emit(p, "or.b32 " R "hi, " R "hi, 0x%x", upper);
	put_unit(p, at, head, "%__gsan_lo", "%__gsan_hi");
	return true;
}

/* ---- records with words ------------------------------------------------------------------------------ */

static unsigned fixed_units(const struct emit_record *r)
{
	return event_form(r->kind) == EVENT_FORM_CLOCKED ? 2 : 1;
}

static unsigned words_of(const struct emit_record *r)
{
	return r->words + addressed(r);
}

/* Its CLOCK is behind k, and then k is behind that. */
static void put_first(struct emit *p, bool first)
{
	if (!first)
		return;
	put_clock(p, 0);
	emit(p, "add.u64 " R "k, " R "k, 16");
}

/* kl = k + the lane's number in its group, times so many bytes. */
static void find_own(struct emit *p, unsigned bytes)
{
	find_rank(p);
	emit(p, "mad.wide.u32 " R "kl, " R "rank, %u, " R "k", bytes);
}

/* As room_for_all, for the leader alone. */
static void room_for_leader(struct emit *p, unsigned units)
{
	emit_room(p, units, 0);
	emit(p, "mad.wide.u32 " R "k, " R "p, 16, " R "base");
	emit(p, "sub.u64 " R "k, " R "k, %u", 16 * (units - 1));
	p->running = true;
}

/* The plan counts on no more, where others have looked for room. */
static void is_planned(const struct emit *p, const struct emit_record *r, bool first)
{
	unsigned words = r->once ? r->words : words_of(r) * EVENT_LANES;

	if (first + fixed_units(r) + (words + 1) / 2 > p->most)
		abort();
}

void emit_reserve(struct emit *p, const struct emit_record *r, bool first)
{
	is_planned(p, r, first);
	if (p->outside) {
		end_polls(p);
		outside_reserve(p, r, first);
		p->sure = p->sure || p->ahead;
		p->running = true;
		return;
	}
	if (r->once) {
		room_for_leader(p, first + fixed_units(r) + (r->words + 1) / 2);
	} else {
		size_of(p, words_of(r), 1, fixed_units(r), first);
		room_for_all(p);
	}
	put_first(p, first);
	put_fixed(p, r, 0);
	if (event_form(r->kind) == EVENT_FORM_CLOCKED)
		emit(p, "@" R "leader st.global.v2.b32 [" R "k+16], {" R "c, " R "t}");
	if (!r->once)
		find_own(p, words_of(r) * 8);
}

/* ---- polls ---------------------------------------------------------------------------------------------- */

#define SPARE 0x80000000u               /* of `polled`: the last poll's record, at sk, is as that at pk */

/* Where the record at pk ends is where that at sk does, whose place is taken again. */
static void take_spare(struct emit *p, const struct emit_record *r, bool first)
{
	emit(p, "mov.b64 " R "k, " R "sk");
	emit(p, "@" R "leader ld.global.v2.b32 {" R "lo, " R "hi}, [" R "k+24]");
	emit(p, "@" R "leader st.global.v2.b32 [" R "pk+24], {" R "lo, " R "hi}");
	if (first)
		emit(p, "sub.u64 " R "k, " R "k, 16");
	put_first(p, first);
	put_fixed(p, r, 0);
	emit(p, "@" R "leader st.global.v4.b32 [" R "k+16], {" R "c, " R "t, 0, 0}");
}

/* A register or a number: `polled` of that site. */
static const char *polled_of(struct emit *p, const struct emit_record *r, uint32_t spare)
{
	if (!p->given) {
		snprintf(p->number, sizeof p->number, spare ? "0x%x" : "%u", spare | r->site);
		return p->number;
	}
	emit(p, "shr.u32 " R "hi, " R "first, 12");
	emit(p, "add.u32 " R "hi, " R "hi, 0x%x", spare | r->site);
	return "%__gsan_hi";
}

void emit_poll(struct emit *p, const struct emit_record *r, bool first)
{
	unsigned fresh = p->labels++, end = p->labels++;

	if (p->outside) {
		outside_poll(p, r, first);
		p->running = true;
		return;
	}
	read_late_clocks(p);
	emit(p, "setp.eq.u32 " R "same, " R "polled, %s", polled_of(p, r, SPARE));
	emit(p, "setp.eq.and.u32 " R "same, " R "pm, " R "m, " R "same");
	emit(p, "vote.sync.all.pred " R "same, " R "same, " R "m");
	emit(p, "@!" R "same bra $__gsan_L%u", fresh);
	p->running = true;
	take_spare(p, r, first);
	emit(p, "bra $__gsan_L%u", end);
	emit_label(p, fresh);
	p->polls = false;               /* what `polled` says is looked at behind the instruction */
	emit_reserve(p, r, first);
	p->polls = true;
	emit_label(p, end);
	find_own(p, words_of(r) * 8);
}

/* line = the group's lanes hold it. */
static void all_hold(struct emit *p, unsigned unless)
{
	emit(p, "vote.sync.all.pred " R "line, " R "line, " R "m");
	emit(p, "@!" R "line bra $__gsan_L%u", unless);
}

/* line: the records at pk and k are of one piece, which nobody takes while a group writes into it, and so little apart that
 * their clocks' low words tell which is later. */
static void are_near(struct emit *p)
{
	emit(p, "sub.u64 " R "x, " R "pk, " R "base");
	emit(p, "sub.u64 " R "w, " R "k, " R "base");
	emit(p, "xor.b64 " R "x, " R "x, " R "w");
	emit(p, "setp.lt.and.u64 " R "line, " R "x, %u, " R "line", 16 * p->piece);
	emit(p, "ld.global.v2.b32 {" R "lo, " R "hi}, [" R "pk+16]");
	emit(p, "sub.u32 " R "lo, " R "c, " R "lo");
	emit(p, "setp.lt.and.u32 " R "line, " R "lo, 0x40000000, " R "line");
	emit(p, "sub.u32 " R "hi, " R "t, " R "hi");
	emit(p, "setp.lt.and.u32 " R "line, " R "hi, 0x40000000, " R "line");
}

void emit_poll_end(struct emit *p, const struct emit_record *r, bool full)
{
	unsigned other = p->labels++, end = p->labels++;

	if (p->outside) {
		outside_poll_end(p, r, full);
		return;
	}
	emit(p, "and.b32 " R "lo, " R "polled, 0x%x", ~SPARE);
	emit(p, "setp.eq.u32 " R "line, " R "lo, %s", polled_of(p, r, 0));
	emit(p, "setp.eq.and.u32 " R "line, " R "pm, " R "m, " R "line");
	if (full)
		emit(p, "and.pred " R "line, " R "line, " R "same");
	all_hold(p, other);
	are_near(p);
	emit(p, "sub.u64 " R "x, " R "kl, " R "k");
	emit(p, "add.u64 " R "x, " R "x, " R "pk");
	for (unsigned i = 0; i < words_of(r); i++) {
		emit(p, "ld.global.b64 " R "v, [" R "kl+%u]", 16 * fixed_units(r) + 8 * i);
		emit(p, "ld.global.b64 " R "w, [" R "x+%u]", 16 * fixed_units(r) + 8 * i);
		emit(p, "setp.eq.and.b64 " R "line, " R "v, " R "w, " R "line");
	}
	all_hold(p, other);
	emit(p, "mov.b64 " R "sk, " R "k");
	emit(p, "mov.b32 " R "polled, %s", polled_of(p, r, SPARE));
	emit(p, "bra $__gsan_L%u", end);
	emit_label(p, other);
	emit(p, "mov.b64 " R "pk, " R "k");
	emit(p, "mov.b32 " R "pm, " R "m");
	emit(p, "mov.b32 " R "polled, %s", polled_of(p, r, 0));
	emit_label(p, end);
}

bool emit_each(struct emit *p, const struct emit_record *r, const struct ptx_operand *addr, unsigned at)
{
	struct ptx_operand base = addr->list[0];

	if (base.kind == OP_SYM)
		base.off = 0;
	if (!emit_value(p, "v", &base, 64))
		return false;
	put_unit(p, at, event_head_narrow(r->kind, r->site), "0", "0");
	emit(p, "cvt.u64.u32 " R "kl, " R "own");
	emit(p, "add.u64 " R "kl, " R "kl, " R "k");
	emit(p, "cvt.u32.u64 " R "lo, " R "v");
	emit(p, "st.global.b32 [" R "kl+%d], " R "lo", place_of(p, at + 1));
	emit(p, "cvt.u64.u32 " R "kl, " R "each");
	emit(p, "add.u64 " R "k, " R "k, " R "kl");
	return true;
}

/* An address v of 64 bits for each lane. */
static void put_each(struct emit *p, const struct emit_record *r, bool first)
{
	size_of(p, 1, 1, 1, first);
	room_for_all(p);
	put_first(p, first);
	put_unit(p, 0, event_head(r->kind, r->site, 0, true), "0", "0");
	find_own(p, 8);
	emit(p, "st.global.b64 [" R "kl+16], " R "v");
}

/* line, and the step in a. */
static void find_line(struct emit *p, unsigned step)
{
	emit(p, "match.all.sync.b64 " R "lo|" R "same, " R "v, " R "m");
	emit(p, "mov.u32 " R "lo, %%laneid");
	emit(p, "mul.wide.u32 " R "x, " R "lo, %u", step);
	emit(p, "sub.u64 " R "x, " R "v, " R "x");
	emit(p, "match.all.sync.b64 " R "lo|" R "line, " R "x, " R "m");
	emit(p, "or.pred " R "line, " R "line, " R "same");
	emit(p, "selp.b32 " R "a, 0, 0x%x, " R "same", step << 16);
}

void emit_addresses(struct emit *p, const struct emit_record *r, unsigned step, bool first)
{
	unsigned each = p->labels++, end = p->labels++;
	bool shares = p->sure || p->ahead;

	if (p->outside) {
		end_polls(p);
		outside_addresses(p, r, step, first);
		p->sure = shares;
		return;
	}
	emit(p, "and.b64 " R "v, " R "v, 0x%llx", (unsigned long long)EVENT_ADDRESS);
	look_for_room(p, first + 1 + EVENT_LANES / 2);
	p->sure = true;
	find_line(p, step);
	emit(p, "@!" R "line bra $__gsan_L%u", each);
	emit_room(p, 1 + first, 0);
	if (first)
		emit_clock_record(p, 0);
	emit(p, "mov.b64 {" R "lo, " R "hi}, " R "v");
	emit(p, "or.b32 " R "hi, " R "hi, " R "a");
	find_records(p);
	put_unit(p, first, event_head(r->kind, r->site, 0, false), "%__gsan_lo", "%__gsan_hi");
	emit(p, "bra $__gsan_L%u", end);
	emit_label(p, each);
	put_each(p, r, first);
	emit_label(p, end);
	p->sure = shares;
}

void emit_put_address(struct emit *p, const struct emit_record *r)
{
	emit(p, "and.b64 " R "v, " R "v, 0x%llx", (unsigned long long)EVENT_ADDRESS);
	if (r->once)
		emit(p, "@" R "leader st.global.b64 [" R "k+8], " R "v");
	else
		emit(p, "st.global.b64 [" R "kl+%u], " R "v", 16 * fixed_units(r));
}

void emit_put_word(struct emit *p, const struct emit_record *r, unsigned n)
{
	if (r->once)
		emit(p, "@" R "leader st.global.b64 [" R "k+%u], " R "v", 16 * fixed_units(r) + 8 * n);
	else
		emit(p, "st.global.b64 [" R "kl+%u], " R "v", 16 * fixed_units(r) + 8 * (n + addressed(r)));
}

void emit_put_behind(struct emit *p, const struct emit_record *r)
{
	if (event_form(r->kind) == EVENT_FORM_CLOCKED)
		emit(p, "@" R "leader st.global.v2.b32 [" R "k+24], {" R "c, " R "t}");
}
