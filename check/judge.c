/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c: judges a log again, as libgsan has judged it (rt/judge.c).
 */
#include <string.h>

#include "check/check.h"

/* Reports tell of them as long as there are any. */
static struct log_of { struct rt_process process; struct log_of *next; } *logs;

struct judge {
	const char *const *options;     /* that are given, the later ones count */
	unsigned noptions;
	struct rt_verdict *verdict;
	const struct rt_launch *launch;
	struct rt_totals *totals;
};

/* What the log was judged by counts where nothing else is given. */
static void begin(void *arg, const struct log_process *p, const char *const string[LOG_PROCESS_STRINGS])
{
	struct judge *j = arg;
	struct log_of *of = rt_alloc(sizeof *of);
	struct rt_buf unused = {0};
	struct rt_flags f = {0};

	rt_flags_default(&f);
	rt_flags_parse(&f, string[3], &unused, &unused);
	for (unsigned i = 0; i < j->noptions; i++)
		rt_flags_parse(&f, j->options[i], &unused, &unused);
	*of = (struct log_of){.process = {.pid = p->pid, .cmdline = string[2]}, .next = logs};
	logs = of;
	j->verdict = rt_verdict_new(&f, &of->process);
	rt_flags_free(&f);
	rt_buf_free(&unused);
}

static void map(void *arg, const struct event_map *m)
{
	rt_verdict_map(((struct judge *)arg)->verdict, m);
}

static void memory(void *arg, const struct rt_blocks *b)
{
	rt_verdict_memory(((struct judge *)arg)->verdict, b);
}

static bool launch(void *arg, struct rt_launch *l, const uint64_t *cut)
{
	struct judge *j = arg;

	j->launch = l;
	rt_verdict_take(j->verdict, l);
	rt_verdict_begin(j->verdict, l, cut);
	return true;
}

static const char *piece(void *arg, const struct event_piece *p)
{
	return rt_verdict_feed(((struct judge *)arg)->verdict, p);
}

static void over(void *arg)
{
	struct judge *j = arg;

	j->totals->lost_logs += !rt_verdict_end(j->verdict, j->launch);
}

/* Each name once, of all logs. */
static void add_names(struct rt_totals *all, const struct rt_totals *t)
{
	const char **names = rt_alloc((all->nbare + t->nbare + 1) * sizeof *names);
	size_t n = all->nbare;

	if (n)
		memcpy(names, all->bare, n * sizeof *names);
	for (size_t i = 0, k; i < t->nbare; i++) {
		for (k = 0; k < n && strcmp(names[k], t->bare[i]); k++)
			;
		names[k] = t->bare[i];
		n += k == n;
	}
	rt_free((void *)all->bare);
	all->bare = names;
	all->nbare = n;
}

static void end(void *arg, const struct log_end *e, const struct rt_totals *told)
{
	struct rt_totals *all = ((struct judge *)arg)->totals;

	all->launches += e ? e->launches : told->launches;
	all->kernels_watched += e ? e->kernels_watched : told->kernels_watched;
	all->sites += e ? e->sites : told->sites;
	all->unmodelled += e ? e->unmodelled : told->unmodelled;
	all->unknown += e ? e->unknown : told->unknown;
	if (!e)
		return;
	all->graphs += e->graphs;
	all->modules += e->modules;
	all->bare_modules += e->bare_modules;
	all->bare_launches += e->bare_launches;
	all->other_device += e->other_device;
	all->unregistered += e->unregistered;
	all->unwatched += e->unwatched;
	all->lost_logs += e->lost_logs;
	all->not_kept += e->not_kept;
	all->memory |= e->flags & LOG_MEMORY_OUT;
	all->still_running |= e->flags & LOG_STILL_RUNNING;
	all->failed = all->failed || !*told->failed ? all->failed : told->failed;
	all->error = all->error || !*told->error ? all->error : told->error;
	all->off = all->off || !*told->off ? all->off : told->off;
	add_names(all, told);
}

bool check_judge(const char *path, const char *const options[], unsigned n, struct rt_totals *t)
{
	static const struct listener to = {begin, map, memory, launch, piece, over, end};
	struct judge j = {.options = options, .noptions = n, .totals = t};
	bool good = log_read_all(path, &to, &j);

	if (j.verdict) {
		rt_verdict_totals(j.verdict, t);
		rt_verdict_close(j.verdict);
	}
	t->memory |= rt_short();
	return good;
}
