/* SPDX-License-Identifier: Apache-2.0
 *
 * site.h: what an instruction is, in the terms of an event (event/event.h).
 */
#ifndef PROBE_SITE_H
#define PROBE_SITE_H

#include "event/event.h"
#include "ptxparse/ptx.h"

/* Fills in all but `line`, `text` and runs.  False: the instruction is no event.  What cannot be
 * logged is one: EVENT_OPAQUE. */
bool probe_site(struct event_site *, const struct ptx_inst *);

#endif
