/* SPDX-License-Identifier: Apache-2.0
 *
 * ev.h: logs that people write as text.
 */
#ifndef EV_H
#define EV_H

#include "event/event.h"

struct ev {
	unsigned char *log;             /* pieces */
	struct event_host *host;        /* each is told before the pieces of its launch */
	struct event_site *site;        /* number 0: none; .line: of the text */
	struct event_origin *origin;
	size_t bytes;
	uint32_t nhost, nsites, norigins;
};

static inline struct event_sites ev_sites(const struct ev *t)
{
	struct event_sites s = {0};

	s.site = t->site;
	s.nsites = t->nsites;
	s.origin = t->origin;
	s.norigins = t->norigins;
	return s;
}

/* Reads it; false: "path:line: error: ..." is in `error`.  Lines that begin with # or expect
 * are left to the caller, who gives all back by ev_free(), also behind an error. */
bool ev_read(struct ev *, const char *path, const char *text, char *error, size_t size);
void ev_free(struct ev *);

#endif
