/* SPDX-License-Identifier: Apache-2.0
 *
 * perturb.c: warps are held up by chance where they synchronise, so that what a missing synchronisation leaves open shows
 * in the program's results.  It is done before probes are put in: a record stays beside its instruction, and what a nap
 * takes lies outside the clocks of both.
 */
#include <string.h>

#include "event/module.h"
#include "probe/perturb.h"
#include "probe/site.h"
#include "probe/text.h"

/* Before what others may wait for, or what goes on by itself, and behind what was waited for.  Nothing comes between a
 * wgmma.fence and the products behind it. */
enum hold { HOLD_NOT, HOLD_BEFORE, HOLD_BEHIND };
static const uint8_t holds[] = {
	[EVENT_STRONG] = HOLD_BEFORE, [EVENT_FENCE] = HOLD_BEFORE, [EVENT_MAP_FENCE] = HOLD_BEHIND,
	[EVENT_BAR_ARRIVE] = HOLD_BEHIND, [EVENT_WARP_ARRIVE] = HOLD_BEHIND,
	[EVENT_CLUSTER_ARRIVE] = HOLD_BEFORE, [EVENT_CLUSTER_WAIT] = HOLD_BEHIND,
	[EVENT_MBAR_INIT] = HOLD_BEFORE, [EVENT_MBAR_INVAL] = HOLD_BEFORE, [EVENT_MBAR_ARRIVE] = HOLD_BEFORE,
	[EVENT_MBAR_EXPECT] = HOLD_BEFORE, [EVENT_MBAR_COMPLETE] = HOLD_BEFORE, [EVENT_MBAR_WAIT] = HOLD_BEHIND,
	[EVENT_MBAR_COPIES] = HOLD_BEFORE, [EVENT_CP_ASYNC] = HOLD_BEFORE, [EVENT_COPY] = HOLD_BEFORE,
	[EVENT_TENSOR] = HOLD_BEFORE, [EVENT_ASYNC_STORE] = HOLD_BEFORE, [EVENT_CANCEL] = HOLD_BEFORE,
	[EVENT_WAIT_GROUP] = HOLD_BEHIND, [EVENT_TC_MMA] = HOLD_BEFORE, [EVENT_TC_COPY] = HOLD_BEFORE,
	[EVENT_TC_WAIT] = HOLD_BEHIND, [EVENT_TC_COMMIT] = HOLD_BEFORE, [EVENT_MAP_COPY] = HOLD_BEFORE,
	[EVENT_DEPENDENTS] = HOLD_BEFORE, [EVENT_GRID_WAIT] = HOLD_BEHIND
};

static enum hold hold_at(const struct ptx_stmt *s)
{
	struct event_site site;

	if (s->kind != STMT_INST || !probe_site(&site, &s->inst) || site.kind >= sizeof holds)
		return HOLD_NOT;
	/* bar.arrive waits for nobody. */
	return site.kind == EVENT_BAR_ARRIVE && ptx_has(&s->inst, MOD_ARRIVE) ? HOLD_BEFORE : (enum hold)holds[site.kind];
}

static const char *text_of(struct ptx_module *m, unsigned place, bool marks)
{
	const char *body = ptx_sprintf(m->arena, "\t{\n\t.reg .b32 %%__gsan_place, %%__gsan_now, %%__gsan_naps;\n"
				       "\t.reg .pred %%__gsan_nap;\n\tmov.b32 %%__gsan_place, %u;\n%s\t}\n", place,
				       probe_perturb + strspn(probe_perturb, "\n"));

	return marks ? ptx_sprintf(m->arena, PROBE_IN "p%u:\n%s" PROBE_OUT "p%u:\n", place, body, place) : body;
}

static unsigned function(struct ptx_module *m, struct ptx_func *f, unsigned place, bool marks)
{
	for (struct ptx_stmt *s = f->body, *next; s; s = next) {
		enum hold hold = hold_at(s);

		next = s->next;
		if (hold == HOLD_BEFORE)
			ptx_insert_before(m, f, s, text_of(m, place++, marks));
		else if (hold == HOLD_BEHIND)
			ptx_insert_after(m, f, s, text_of(m, place++, marks));
	}
	return place;
}

void perturb_put(struct ptx_module *m, const struct probe_what *what)
{
	struct ptx_stmt *first = NULL;
	unsigned place = 1;

	for (struct ptx_stmt *s = m->first; s; s = s->next) {
		if (s->kind != STMT_FUNC)
			continue;
		first = first ? first : s;
		if (s->func->has_body && !probe_leaves(s->func, what->leave))
			place = function(m, s->func, place, what->marks);
	}
	if (first)      /* modules that are linked have one seed */
		ptx_insert_module(m, first, ptx_sprintf(m->arena, ".weak .global .align 4 .u32 " MODULE_SEED " = %u;\n",
						      what->perturb));
}
