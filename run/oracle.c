/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle.c: asks the emulated device's own detector, which judges the same
 * execution by the memory model alone, and holds gsan's findings against its.  What
 * gsan lacks is explained by what it says in its closing line that it did not see;
 * nothing explains a finding too many.
 */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "emu/oracle.h"
#include "rt/pairs.h"
#include "rt/gsan.h"
#include "rt/kinds.h"

#define FUNCTION(name) ((__typeof__(name) *)function(#name))

/* POSIX lets a pointer to data be one to a function. */
static void (*function(const char *name))(void)
{
	void *p = run_emu_function(name);
	void (*f)(void);

	memcpy(&f, &p, sizeof f);
	return f;
}

/* Options of gsan's that are the oracle's, too. */
static const char *const own_options[] = {
#define CHOICE(name, values, help) #name,
#include "rt/choices.def"
};

/* Its name; NULL: it is none of those. */
static const char *own_option(const struct rt_pair *p)
{
	for (unsigned i = 0; i < sizeof own_options / sizeof *own_options; i++)
		if (rt_pair_is(p, own_options[i]))
			return own_options[i];
	return NULL;
}

bool run_oracle_knows(const char *options)
{
	enum rt_pair_state state = RT_PAIR_END;
	struct rt_pair p;

	while (options && (state = rt_pair_next(&options, &p)) == RT_PAIR)
		if (!own_option(&p))
			return false;
	return state == RT_PAIR_END;
}

/* Those of the options that are its own. */
static bool use_options(const char *options)
{
	struct rt_pair p;
	char value[32];

	while (options && rt_pair_next(&options, &p) == RT_PAIR) {
		if (!own_option(&p))
			continue;
		if (p.len >= sizeof value)
			return false;
		memcpy(value, p.value, p.len);
		value[p.len] = 0;
		if (FUNCTION(emu_oracle_option)(own_option(&p), value))
			return false;
	}
	return true;
}

void run_emu_source(const struct run_script *s)
{
	__typeof__(emu_source) *source = FUNCTION(emu_source);

	if (source)
		source(s->path, s->text, s->len);
}

void run_emu_judged(void)
{
	__typeof__(emu_judged) *judged = FUNCTION(emu_judged);

	if (judged)
		judged();
}

void run_emu_hang(const struct run_job *job)
{
	__typeof__(emu_hang) *hang = FUNCTION(emu_hang);
	struct run_msg m = {.kind = MSG_FINDING, .finding = {.kind = GSAN_DEADLOCK, .count = 1}};

	if (!hang || !hang(m.finding.line))
		return;
	run_send(job->fd, &m);
	m.kind = MSG_ORACLE;
	run_send(job->fd, &m);
}

bool run_oracle_start(const struct run_script *s)
{
	__typeof__(emu_oracle) *on = FUNCTION(emu_oracle);
	const char *options = getenv("GSAN_OPTIONS");

	if (on && !on(s->text, s->len)) {
		if (use_options(options))
			return true;
		fprintf(stderr, "gsan-run: the oracle does not know %s\n", options);
		return false;
	}
	fputs("gsan-run: the emulated device has no oracle, or it cannot read the PTX\n", stderr);
	return false;
}

static unsigned own_line(const struct run_script *s, const struct gsan_spot *spot)
{
	return !strcmp(spot->ptx_file, s->path) ? spot->ptx_line : 0;
}

/* gsan's findings as the oracle wants them. */
static struct emu_oracle_pair *gsan_pairs(const struct run_script *s, size_t *n)
{
	size_t all = gsan_findings();
	struct emu_oracle_pair *v = calloc(all + 1, sizeof *v);
	struct gsan_report f;

	*n = 0;
	for (size_t i = 0; v && i < all && !gsan_finding(i, &f); i++)
		if (!f.suppressed)
			v[(*n)++] = (struct emu_oracle_pair){
				f.kind, { own_line(s, &f.now), own_line(s, &f.before) }
			};
	return v;
}

struct verdict {
	const struct run_script *s;
	bool explained;         /* gsan counted something that it did not see */
	bool disagreed;
};

static void tell(void *arg, enum emu_oracle_word word, const struct emu_oracle_pair *p)
{
	static const char *const words[] = {
		[ORACLE_NO_RACE] = "gsan reports what is no race",
		[ORACLE_OTHER_KIND] = "gsan gives another kind to a race",
		[ORACLE_LACKS] = "gsan lacks a race"
	};
	struct verdict *v = arg;
	bool explained = word == ORACLE_LACKS && v->explained;

	fprintf(stderr, "gsan-run: oracle: %s: %s: %s at lines %u and %u\n", v->s->path,
		explained ? "explained by what was counted: gsan lacks a race" : words[word],
		p->kind, p->line[0], p->line[1]);
	v->disagreed |= !explained;
}

/* ", st of 4 bytes", or nothing */
static const char *by(const struct emu_oracle_finding *f, unsigned i, char *to, size_t size)
{
	*to = 0;
	if (*f->inst[i] && f->bytes[i])
		snprintf(to, size, ", %s of %llu bytes", f->inst[i], f->bytes[i]);
	else if (*f->inst[i])
		snprintf(to, size, ", %s", f->inst[i]);
	return to;
}

static bool is_host(const struct emu_oracle_pair *p)
{
	return !strcmp(p->kind, "stream-race") || !strcmp(p->kind, "host-race");
}

static bool at_one(const struct emu_oracle_pair *a, const struct emu_oracle_pair *b, bool both)
{
	bool straight = a->line[0] == b->line[0] && a->line[1] == b->line[1], crossed = a->line[0] == b->line[1] && a->line[1] == b->line[0];
	bool any = a->line[0] == b->line[0] || a->line[1] == b->line[1] || a->line[0] == b->line[1] || a->line[1] == b->line[0];

	return !strcmp(a->kind, b->kind) && (both ? straight || crossed : any);
}

unsigned long long run_oracle_launch(void)
{
	__typeof__(emu_oracle_launch) *launch = FUNCTION(emu_oracle_launch);

	return launch ? launch() : 0;
}

/* What is asked of the order that the host made: gsan's are races of two lines that are in order here, or none; of ours
 * each line is in one of gsan's.  Takes those out of gsan's, which are the emulated device's to judge. */
static void judge_host(const struct run_script *s, const struct run_job *job, struct emu_oracle_pair *pairs, size_t *n, struct verdict *v)
{
	__typeof__(emu_oracle_touches) *touches = FUNCTION(emu_oracle_touches);
	const struct emu_oracle_touch *t;
	size_t nt = touches(&t), left = 0;
	unsigned nours;
	const struct emu_oracle_pair *ours = run_host_races(s, t, nt, &nours);

	for (unsigned k = 0; k < nours; k++) {
		struct run_msg m = {.kind = MSG_ORACLE, .finding = {.kind = run_kind_of(ours[k].kind), .count = 1}};
		bool found = job->plain || job->events;

		memcpy(m.finding.line, ours[k].line, sizeof m.finding.line);
		run_send(job->fd, &m);
		fprintf(stderr, "gsan-run: oracle: %s: %s at lines %u and %u\n", s->path, ours[k].kind, ours[k].line[0], ours[k].line[1]);
		for (size_t i = 0; i < *n && !found; i++)
			found = at_one(&pairs[i], &ours[k], false);
		if (!found)
			tell(v, ORACLE_LACKS, &ours[k]);
	}
	for (size_t i = 0; i < *n; i++) {
		bool found = false;

		for (unsigned k = 0; k < nours && !found; k++)
			found = at_one(&pairs[i], &ours[k], true);
		if (!is_host(&pairs[i]))
			pairs[left++] = pairs[i];
		else if (!found)
			tell(v, ORACLE_NO_RACE, &pairs[i]);
	}
	*n = left;
}

static void send_found(const struct run_script *s, const struct emu_oracle_finding *f, int fd)
{
	struct run_msg m = { .kind = MSG_ORACLE };
	char what[2][96];

	m.finding.kind = run_kind_of(f->pair.kind);
	m.finding.line[0] = f->pair.line[0];
	m.finding.line[1] = f->pair.line[1];
	m.finding.count = f->count;
	run_send(fd, &m);
	fprintf(stderr, "gsan-run: oracle: %s: %s at lines %u and %u in %s, %llu times%s: "
		"blocks %llu and %llu, threads %llu and %llu, %s 0x%llx%s%s\n",
		s->path, f->pair.kind, f->pair.line[0], f->pair.line[1], f->kernel, f->count,
		f->certain ? "" : " (uncertain)", f->block[0], f->block[1], f->thread[0],
		f->thread[1], f->shared ? "shared" : "global", f->addr,
		by(f, 0, what[0], sizeof what[0]), by(f, 1, what[1], sizeof what[1]));
}

void run_oracle_end(const struct run_script *s, const struct run_job *job, bool died)
{
	__typeof__(emu_oracle_findings) *findings = FUNCTION(emu_oracle_findings);
	__typeof__(emu_oracle_judge) *judge = FUNCTION(emu_oracle_judge);
	struct verdict v = { .s = s, .explained = died || (!job->plain && gsan_incomplete()) };
	size_t all = findings(NULL, 0), n = 0;
	struct emu_oracle_finding *f = calloc(all + 1, sizeof *f);
	struct emu_oracle_pair *pairs = job->events ? run_events_pairs(s, &n) : gsan_pairs(s, &n);
	struct run_msg m = { .kind = MSG_DISAGREE };

	if (job->events)
		v.explained |= run_events_uncertain();
	if (!f || !pairs) {
		fputs("gsan-run: out of memory\n", stderr);
		v.disagreed = true;
	} else {
		findings(f, all);
		judge_host(s, job, pairs, &n, &v);
		for (size_t i = 0; i < all; i++)
			send_found(s, &f[i], job->fd);
		if (!all)
			fprintf(stderr, "gsan-run: oracle: %s: no race\n", s->path);
		if (!job->plain || job->events)
			judge(pairs, n, tell, &v);
	}
	if (v.disagreed)
		run_send(job->fd, &m);
	free(f);
	free(pairs);
}

void run_oracle_close(const struct run_script *s)
{
	const size_t found = FUNCTION(emu_oracle_findings)(NULL, 0);
	unsigned launches = 0;

	for (unsigned i = 0; i < s->nactions; i++)
		launches += s->actions[i].kind == ACT_LAUNCH;
	fprintf(stderr, "GSan: %zu finding%s; %u launch%s judged by the emulated device's own detector\n", found,
		found == 1 ? "" : "s", launches, launches == 1 ? "" : "es");
}
