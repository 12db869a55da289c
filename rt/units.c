/* SPDX-License-Identifier: Apache-2.0
 *
 * units.c: translation units with probes, and what their modules link of them: sites in a row.
 */
#include <string.h>

#include "rt/judge.h"

/* With rt_lock; they are added in front, and never freed. */
static struct rt_tables *all;

struct rt_tables *rt_units(void)
{
	return all;
}

static struct rt_linked *linked_of(const struct rt_module *m)
{
	for (const struct rt_tables *t = all; t; t = t->next)
		if (t->module == m)
			return t->linked;
	return rt_alloc(sizeof(struct rt_linked));
}

static struct event_origin *link_origins(const struct rt_tables *t, const struct event_sites *was)
{
	struct event_origin *origin = rt_alloc((was->norigins + t->n.norigins + 1) * sizeof *origin);

	if (was->norigins)
		memcpy(origin, was->origin, was->norigins * sizeof *origin);
	for (uint32_t i = 0; i < t->n.norigins; i++) {
		struct event_origin o = t->origin[i];

		o.site += t->base;
		o.variable += t->variables;
		origin[was->norigins + i] = o;
	}
	return origin;
}

/* Adds its sites.  Arrays that somebody may be reading stay. */
static void link_sites(struct rt_tables *t)
{
	struct rt_linked *l = t->linked = linked_of(t->module);
	const struct event_sites was = l->sites;
	struct event_site *site = rt_alloc((was.nsites + t->n.nsites) * sizeof *site);
	struct event_run *run = rt_alloc((was.nruns + t->n.nruns + 1) * sizeof *run);

	if (was.nsites)
		memcpy(site, was.site, was.nsites * sizeof *site);
	if (was.nruns)
		memcpy(run, was.run, was.nruns * sizeof *run);
	for (uint32_t i = 0; i < t->n.nsites; i++) {
		site[was.nsites + i] = t->site[i];
		site[was.nsites + i].run += was.nruns;
		l->lets_go |= t->site[i].kind == EVENT_DEPENDENTS;
		l->talks |= event_strong(&t->site[i]) && t->site[i].space != EVENT_SHARED;
	}
	for (uint32_t i = 0; i < t->n.nruns; i++)
		run[was.nruns + i] = (struct event_run){t->run[i].site + was.nsites, t->run[i].offset};
	t->base = was.nsites;
	t->variables = l->nvariables;
	l->nvariables += t->n.nvariables;
	l->sites = (struct event_sites){.site = site, .run = run, .text = "", .nsites = was.nsites + t->n.nsites,
					.nruns = was.nruns + t->n.nruns, .norigins = was.norigins + t->n.norigins,
					.origin = link_origins(t, &was)};
}

void rt_unit_add(struct rt_tables *t)
{
	link_sites(t);
	t->next = all;
	all = t;
}

const struct rt_tables *rt_unit_of(const struct rt_tables *of, uint32_t site)
{
	const struct rt_tables *found = NULL;

	pthread_mutex_lock(&rt_lock);
	for (const struct rt_tables *t = all; t && !found; t = t->next)
		if (t->module == of->module && site >= t->base && site - t->base < t->n.nsites)
			found = t;
	pthread_mutex_unlock(&rt_lock);
	return found;
}

struct event_sites rt_sites_linked(const struct rt_tables *t)
{
	struct event_sites s;

	pthread_mutex_lock(&rt_lock);
	s = t->linked->sites;
	pthread_mutex_unlock(&rt_lock);
	return s;
}

const char *rt_variable_name(const struct rt_tables *of, uint32_t variable)
{
	const char *name = "";

	pthread_mutex_lock(&rt_lock);
	for (const struct rt_tables *t = all; t && !*name; t = t->next)
		if (t->module == of->module && variable >= t->variables && variable - t->variables < t->n.nvariables)
			name = rt_string(t, t->variable[variable - t->variables].name);
	pthread_mutex_unlock(&rt_lock);
	return name;
}
