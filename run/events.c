/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c: judges a reproducer by the events that the emulated device logs as it executes the PTX
 * as it is; by the whole log, in portions, and by the reference, which have to agree.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#include "run/judge.h"
#include "run/run.h"

#include "emu/oracle.h"

static struct judge_log log_;
static struct emu_events_sink sink_;
static bool verbose_;
static unsigned found_;
static bool judged_;

static void (*function(const char *name))(void)
{
	void *p = run_emu_function(name);
	void (*f)(void);

	memcpy(&f, &p, sizeof f);
	return f;
}
#define FUNCTION(name) ((__typeof__(name) *)function(#name))

static void out_of_memory(void)
{
	fputs("gsan-run: out of memory: what was logged cannot be judged\n", stderr);
	_exit(RUN_OTHER);
}

bool run_events_start(const struct run_job *job)
{
	__typeof__(emu_events) *on = FUNCTION(emu_events);
	const char *seed = getenv("EMU_SEED");

	detect_on_refusal(out_of_memory);
	verbose_ = job->verbose;
	judge_start(&log_, &sink_);
	if (job->events == EVENTS_PROBES)
		return true;
	if (on && !on(&sink_, job->events == EVENTS_HOSTILE ? EMU_CLOCKS_HOSTILE : EMU_CLOCKS_FRIENDLY,
		      seed ? strtoull(seed, NULL, 0) : 0))
		return true;
	fputs("gsan-run: the emulated device logs no events\n", stderr);
	return false;
}

const struct emu_events_sink *run_events_sink(void)
{
	return &sink_;
}

/* proxy_war=warn: a finding, but no error. */
static bool only_warned(const struct detect_finding *f)
{
	const char *options = getenv("GSAN_OPTIONS");
	bool fence = f->kind == DETECT_PROXY_RACE || f->kind == DETECT_PROXY_FENCE_ORDER;

	return fence && !f->side[0].writes && options && strstr(options, "proxy_war=warn");
}

static void print_finding(const struct run_script *s, const struct detect_finding *f)
{
	const struct detect_side *a = &f->side[0], *b = &f->side[1];

	fprintf(stderr, "gsan-run: events: %s: %s (%d) at lines %u and %u, %llu times: block %u thread %u, then block %u thread %u, %s 0x%llx",
		s->path, detect_kind_name(f->kind), (int)f->why, judge_line(&log_, f, 0), judge_line(&log_, f, 1),
		(unsigned long long)f->count, a->block, a->thread, b->block, b->thread,
		a->shared ? "shared" : a->tensor ? "tensor" : "global", (unsigned long long)a->address);
	if (f->kind == DETECT_SHARED_BOUNDS)
		fprintf(stderr, ", %lld bytes %s", (long long)(f->outside < 0 ? -f->outside : f->outside),
			f->outside < 0 ? "before the start" : "past the end");
	if (f->kind == DETECT_GLOBAL_BOUNDS)
		fprintf(stderr, ", %lld bytes past the end of %llu", (long long)f->outside, (unsigned long long)f->ground.bytes);
	if (f->met[0] != DETECT_NO_SITE)
		fprintf(stderr, ", met at lines %u and %u", judge_site_line(&log_, a->launch, f->met[0]),
			judge_site_line(&log_, b->launch, f->met[1]));
	fputc('\n', stderr);
}

static void send_findings(const struct run_script *s, const struct run_job *job, const struct detect *d)
{
	const struct detect_finding *f;
	size_t n = detect_findings(d, &f);

	for (size_t i = 0; i < n; i++) {
		struct run_msg m = { .kind = MSG_FINDING };

		if (only_warned(&f[i]))
			continue;
		m.finding.kind = run_kind_of(detect_kind_name(f[i].kind));
		m.finding.line[0] = judge_line(&log_, &f[i], 1);
		m.finding.line[1] = judge_line(&log_, &f[i], 0);
		m.finding.count = f[i].count;
		run_send(job->fd, &m);
		print_finding(s, &f[i]);
		found_++;
	}
	for (unsigned c = 0; c < DETECT_COUNTERS; c++)
		if ((job->verbose || c == DETECT_CUT) && detect_count(d, (enum detect_counter)c))
			fprintf(stderr, "gsan-run: events: %llu %s\n", (unsigned long long)detect_count(d, (enum detect_counter)c),
				detect_counter_name((enum detect_counter)c));
}

bool run_events_uncertain(void)
{
	bool any;
	struct detect *d = judge_new(getenv("GSAN_OPTIONS"), NULL);

	if (!d)
		return false;
	judge_log(d, &log_, false);
	any = judge_counted(d);
	detect_free(d);
	return any;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool judged(const struct run_script *s, const char *options, const char *more, bool cuts, struct detect **d)
{
	double start = now_ms();
	const char *wrong;

	*d = judge_new(options, more);
	if (!*d) {
		fprintf(stderr, "gsan-run: the detector does not know %s\n", options);
		return false;
	}
	wrong = judge_log(*d, &log_, cuts);
	if (wrong)
		fprintf(stderr, "gsan-run: events: %s: %s\n", s->path, wrong);
	if (verbose_)
		fprintf(stderr, "gsan-run: events: %zu bytes in %.1f ms, %s\n", log_.bytes, now_ms() - start,
			more ? more : cuts ? "in portions" : "as a whole");
	return !wrong;
}

/* The other ways to judge have to find the same.  Orders that are taken too many become more with the
 * log: where they were counted a portion may show a race that all of it hides. */
static bool agrees(const struct run_script *s, const struct detect *d, const char *more, bool cuts)
{
	struct detect *other;
	bool ok = judged(s, getenv("GSAN_OPTIONS"), more, cuts, &other);
	const struct detect_finding *f = ok ? judge_differs(&log_, d, other) : NULL;

	if (f && !(cuts && judge_counted(d))) {
		fprintf(stderr, "gsan-run: events: %s: %s finds something else, such as\n", s->path, cuts ? "a log in portions" : more);
		print_finding(s, f);
		ok = false;
	}
	detect_free(other);
	return ok;
}

/* What is lost hides races and makes none.  Nor does it show one, but where orders were taken too many of which some are
 * lost as well, in a program that races. */
static bool agrees_when_cut(const struct run_script *s, const struct detect *d, unsigned seed)
{
	const struct detect_finding *f;
	struct judge_log l;
	struct detect *other = judge_new(getenv("GSAN_OPTIONS"), NULL);
	const char *wrong;

	judge_cut(&l, &log_, seed);
	wrong = judge_log(other, &l, false);
	f = judge_more(&log_, d, other);
	if (f && judge_counted(d) && detect_findings(d, &(const struct detect_finding *){NULL}))
		f = NULL;
	if (wrong)
		fprintf(stderr, "gsan-run: events: %s: %s in the log that is cut by %u\n", s->path, wrong, seed);
	if (f) {
		fprintf(stderr, "gsan-run: events: %s: the log that is cut by %u shows something else, such as\n", s->path, seed);
		print_finding(s, f);
	}
	detect_free(other);
	judge_free(&l);
	return !f && !wrong;
}

/* Blocks that are judged first show nothing that all of them do not, whatever was counted. */
static bool agrees_in_part(const struct run_script *s, const struct detect *d, unsigned seed)
{
	struct detect *other = judge_new(getenv("GSAN_OPTIONS"), NULL);
	unsigned blocks;
	const char *wrong = judge_part(other, &log_, seed, false, &blocks);
	const struct detect_finding *f = judge_more(&log_, d, other);

	if (wrong)
		fprintf(stderr, "gsan-run: events: %s: %s\n", s->path, wrong);
	if (f) {
		fprintf(stderr, "gsan-run: events: %s: %u blocks that are judged first show something else, such as\n", s->path, blocks);
		print_finding(s, f);
	}
	detect_free(other);
	return !f && !wrong;
}

/* In a launch that is clear there is nothing to find, but by choices of which the screen knows nothing. */
static bool agrees_with_screen(const struct run_script *s, const struct detect *d)
{
	const struct detect_finding *f;
	size_t n = detect_findings(d, &f);

	for (size_t i = 0; i < n && !detect_is_strict(d); i++) {
		if (!run_probes_clear(f[i].side[0].launch) || (!f[i].one && f[i].side[1].launch != f[i].side[0].launch))
			continue;
		fprintf(stderr, "gsan-run: events: %s: a fault in gsan, please report it: the screen (detect/screen.h) holds a launch for "
			"clear in which there is\n", s->path);
		print_finding(s, &f[i]);
		return false;
	}
	return true;
}

bool run_events_end(const struct run_script *s, const struct run_job *job)
{
	struct detect *d;
	bool ok = judged(s, getenv("GSAN_OPTIONS"), NULL, false, &d);

	if (job->verbose)
		judge_print(&log_, stderr);
	if (ok) {
		judged_ = true;
		send_findings(s, job, d);
		ok = agrees(s, d, "detect=reference", false);
		ok = (!log_.cuts || agrees(s, d, NULL, true)) && ok;
		ok = agrees_in_part(s, d, 1) && ok;
		ok = (job->events != EVENTS_PROBES || agrees_with_screen(s, d)) && ok;
		for (unsigned i = 1; i <= job->cuts; i++)
			ok = agrees_when_cut(s, d, i) && ok;
	}
	detect_free(d);
	return ok;
}

void run_events_close(void)
{
	if (judged_)
		fprintf(stderr, "GSan: %u finding%s; %u launch%s judged by the events logged\n", found_, found_ == 1 ? "" : "s",
			log_.launches, log_.launches == 1 ? "" : "es");
	else
		fputs("GSan: nothing was watched: the log could not be judged\n", stderr);
}

struct emu_oracle_pair *run_events_pairs(const struct run_script *s, size_t *n)
{
	const struct detect_finding *f;
	struct emu_oracle_pair *v;
	struct detect *d;

	*n = 0;
	if (!judged(s, getenv("GSAN_OPTIONS"), NULL, false, &d))
		return NULL;
	v = calloc(detect_findings(d, &f) + 1, sizeof *v);
	for (size_t i = 0; v && i < detect_findings(d, &f); i++)
		if (!only_warned(&f[i]))
			v[(*n)++] = (struct emu_oracle_pair){
				detect_kind_name(f[i].kind), { judge_line(&log_, &f[i], 1), judge_line(&log_, &f[i], 0) }
			};
	detect_free(d);
	return v;
}
