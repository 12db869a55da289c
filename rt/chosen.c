/* SPDX-License-Identifier: Apache-2.0
 *
 * chosen.c: which launches are watched, by launch_kernel, launch_skip and launch_count.  One that is not costs what any
 * instrumented kernel does that logs nothing.
 */
#include <regex.h>

#include "rt/drv.h"

static pthread_once_t compiled = PTHREAD_ONCE_INIT;
static regex_t regex;
static bool has_regex;
static uint64_t matched, left_out;      /* with rt_lock */

static void compile(void)
{
	char why[128];
	int error;

	if (!*rt_flags.launch_kernel)
		return;
	error = regcomp(&regex, rt_flags.launch_kernel, REG_EXTENDED | REG_NOSUB);
	has_regex = !error;
	if (!error)
		return;
	regerror(error, &regex, why, sizeof why);
	rt_say("launch_kernel=%s is no regular expression (%s): all kernels are watched", rt_flags.launch_kernel, why);
}

static bool matches(const char *name)
{
	return !has_regex || !regexec(&regex, name, 0, NULL, 0);
}

/* With rt_lock. */
static bool is_one(uint64_t before)
{
	const uint64_t skip = (uint64_t)rt_flags.launch_skip, count = (uint64_t)rt_flags.launch_count;

	return before >= skip && (!count || before < skip + count);
}

bool rt_launch_chosen(struct rt_func *f)
{
	bool chosen;

	pthread_once(&compiled, compile);
	pthread_mutex_lock(&rt_lock);
	if (f->chosen < 0)
		f->chosen = matches(f->name) || matches(rt_demangle(f->name));
	chosen = f->chosen && is_one(matched++);
	left_out += !chosen;
	pthread_mutex_unlock(&rt_lock);
	return chosen;
}

void rt_chosen_count(struct rt_totals *t)
{
	pthread_mutex_lock(&rt_lock);
	t->unchosen = left_out;
	pthread_mutex_unlock(&rt_lock);
}
