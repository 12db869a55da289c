/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c: runs programs as they are, has the detector judge what the emulated device logs of
 * them, and holds that against the oracle: as a whole, in portions, by detect=reference, and where a part of it is lost.
 */
#include "testsuite/gen/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/judge.h"

enum soak_events soak_events;

struct logger {
	struct worker w;
	__typeof__(emu_events) *events;
};

static void load(struct logger *l, const struct gen_prog *p, unsigned n)
{
	void *lib = worker_start(&l->w, soak_emu);
	struct ptx_buf b = worker_text(p, n, l->w.first);
	struct emu_events_sink sink;
	struct judge_log log;

	worker_find(lib, "emu_set_seed", &l->w.emu_set_seed);
	worker_find_oracle(&l->w, lib);
	worker_find(lib, "emu_events", &l->events);
	judge_start(&log, &sink);
	if (l->w.oracle(b.p, b.len - 1) || l->events(&sink, EMU_CLOCKS_FRIENDLY, 0))
		give_up("nobody listens");
	l->w.module[0] = worker_load(&l->w, b.p);
	l->events(NULL, EMU_CLOCKS_FRIENDLY, 0);
	free(b.p);
}

/* ---- one run ---------------------------------------------------------------------------- */

static struct emu_oracle_pair *pairs_of(const struct judge_log *log, const struct detect *d, size_t *n)
{
	const struct detect_finding *f;
	struct emu_oracle_pair *pairs;

	*n = detect_findings(d, &f);
	pairs = calloc(*n + 1, sizeof *pairs);
	if (!pairs)
		give_up("out of memory");
	for (size_t i = 0; i < *n; i++)
		pairs[i] = (struct emu_oracle_pair){
			detect_kind_name(f[i].kind), {judge_line(log, &f[i], 1), judge_line(log, &f[i], 0)}
		};
	return pairs;
}

static void hold_plant(struct logger *l, const struct gen_prog *p, unsigned first, const struct detect *d, const struct judge_log *log,
		       struct run_result *r)
{
	struct plant_said said = {.who = "gsan"};
	struct emu_oracle_pair *pairs = pairs_of(log, d, &said.n);

	said.pair = pairs;
	plant_check(&l->w, p, first, &said, r);
	free(pairs);
}

/* `causes`: why a race may be missing. */
static void compare(struct logger *l, const struct judge_log *log, const struct detect *d, uint32_t causes, struct run_result *r)
{
	size_t n;
	struct emu_oracle_pair *pairs = pairs_of(log, d, &n);

	for (unsigned i = 0; i < DETECT_COUNTERS; i++)
		causes |= (uint32_t)(detect_count(d, (enum detect_counter)i) != 0) << i;
	worker_judge(&l->w, pairs, n, causes, r);
	free(pairs);
}

/* Another verdict about the same run; what it counts is counted for the first one alone. */
static void compare_again(struct logger *l, const struct judge_log *log, const struct detect *other, uint32_t causes,
			  struct run_result *r)
{
	struct run_result so_far = *r;

	compare(l, log, other, causes, r);
	memcpy(so_far.bad, r->bad, sizeof so_far.bad);
	memcpy(so_far.text, r->text, sizeof so_far.text);
	*r = so_far;
}

static void say_differs(const struct judge_log *log, const char *way, const char *wrong, const struct detect_finding *f,
			struct run_result *r)
{
	if (!bad_of(r))
		snprintf(r->text, sizeof r->text, "%s differ: %s at lines %u and %u", way, wrong ? wrong : detect_kind_name(f->kind),
			 f ? judge_line(log, f, 0) : 0, f ? judge_line(log, f, 1) : 0);
	r->bad[BAD_WAY]++;
}

/* Another way to judge the same log finds the same, though of accesses that stand for each other it may be another that is
 * named; that one races, too. */
static void check_reference(struct logger *l, const struct judge_log *log, const struct detect *d, struct run_result *r)
{
	struct detect *other = judge_new(NULL, "detect=reference");
	const char *wrong = judge_log(other, log, false);
	const struct detect_finding *f = wrong ? NULL : judge_unlike(log, d, other);

	f = wrong || f ? f : judge_unlike(log, other, d);
	if (wrong || f)
		say_differs(log, "detect=reference", wrong, f, r);
	else if (judge_differs(log, d, other))
		compare_again(l, log, other, 0, r);
	detect_free(other);
}

/* Orders that are taken too many become more with the log: where they were counted a portion may show a race that all of it
 * hides. */
static void check_portions(struct logger *l, const struct judge_log *log, const struct detect *d, struct run_result *r)
{
	struct detect *other = judge_new(NULL, NULL);
	const char *wrong = judge_log(other, log, true);
	const struct detect_finding *f = wrong ? NULL : judge_differs(log, d, other);

	if (wrong || (f && !judge_counted(d)))
		say_differs(log, "portions", wrong, f, r);
	else if (judge_counted(d))
		compare_again(l, log, other, 0, r);
	detect_free(other);
}

/* A log of which a part is lost shows no race that there is not. */
static void check_cut(struct logger *l, const struct judge_log *log, uint64_t seed, struct run_result *r)
{
	struct detect *d = judge_new(NULL, NULL);
	struct judge_log part;
	const char *wrong;

	judge_cut(&part, log, seed);
	wrong = judge_log(d, &part, false);
	if (wrong)
		give_up(wrong);
	compare_again(l, log, d, 0, r);
	detect_free(d);
	judge_free(&part);
}

/* Blocks that are judged first show what all show, and with the others then all is found, though of accesses that stand for
 * each other it may be another that is named.  Without the others races are missing, as where logs are lost. */
static void check_part(struct logger *l, const struct judge_log *log, const struct detect *d, uint64_t seed, struct run_result *r)
{
	for (int rest = 0; rest < 2; rest++) {
		struct detect *other = judge_new(NULL, NULL);
		unsigned blocks;
		const char *wrong = judge_part(other, log, seed, rest, &blocks);
		const struct detect_finding *f = wrong || !blocks ? NULL : rest ? judge_differs(log, d, other) : judge_more(log, d, other);

		if (wrong || (f && !rest && judge_unlike(log, d, other)))
			say_differs(log, rest ? "blocks and the rest" : "some blocks", wrong, f, r);
		else if (f)
			compare_again(l, log, other, rest ? 0 : 1u << CAUSE_LOST, r);
		detect_free(other);
	}
}

static void one(struct logger *l, const struct gen_prog *p, unsigned i, unsigned schedule, struct run_result *r)
{
	uint64_t seed = schedule ? p->seed * SCHEDULES_MAX + schedule : 0;
	struct emu_events_sink sink;
	struct judge_log log;
	struct detect *d;
	const char *wrong;

	judge_start(&log, &sink);
	l->w.forget();
	l->w.emu_set_seed(seed);
	l->events(&sink, soak_events == SOAK_HOSTILE ? EMU_CLOCKS_HOSTILE : EMU_CLOCKS_FRIENDLY, p->seed + schedule);
	r->fault = !worker_launch(&l->w, l->w.module[0], p, i);
	l->events(NULL, EMU_CLOCKS_FRIENDLY, 0);
	d = judge_new(NULL, NULL);
	wrong = judge_log(d, &log, false);
	if (wrong)
		give_up(wrong);
	compare(l, &log, d, 0, r);
	if (p->seed >= GEN_ERRORS)
		hold_plant(l, p, l->w.first[i], d, &log, r);
	/* What polls for ever logs the same again and again. */
	if (p->may & GEN_POLLS)
		goto done;
	check_reference(l, &log, d, r);
	if (log.cuts)
		check_portions(l, &log, d, r);
	check_part(l, &log, d, p->seed + schedule, r);
	check_cut(l, &log, p->seed + schedule, r);
done:
	detect_free(d);
	judge_free(&log);
	r->done = true;
}

void events_child(const struct job *j, int fd, unsigned done)
{
	struct logger l = {0};

	load(&l, j->p, j->n);
	for (unsigned k = done; k < j->n * j->schedules; k++) {
		struct run_result r = {0};

		one(&l, &j->p[k / j->schedules], k / j->schedules, j->first + k % j->schedules, &r);
		worker_send(fd, k, &r);
		if (r.fault)            /* the context is lost */
			break;
	}
}
