/* SPDX-License-Identifier: Apache-2.0
 *
 * events.h: the emulated device as one who logs: of programs that are not instrumented it
 * tells, as they are executed, the events that probes would (event/event.h).
 *
 * Whoever wants them looks these functions up in the emulated device's library.
 */
#ifndef EMU_EVENTS_H
#define EMU_EVENTS_H

#include "event/event.h"

#define EMU_EVENTS_API __attribute__((visibility("default")))

/* Who gets the log, in the order in which a detector is to read it, from the thread that runs
 * kernels.  All of it has come when the context has been synchronised. */
struct emu_events_sink {
	/* Of the launch that is told next; gone when it returns. */
	void (*sites)(void *arg, const struct event_sites *);
	void (*host)(void *arg, const struct event_host *);
	void (*piece)(void *arg, const struct event_piece *);
	/* All that happened until now has been told, in the middle of a kernel; NULL: that is not
	 * asked for. */
	void (*cut)(void *arg);
	void *arg;
};

/* CLOCKS_HOSTILE: each multiprocessor counts from somewhere else, the timer has coarse steps,
 * a clock is read long before or behind its instruction where that is allowed, and behind a
 * barrier of the block too early. */
enum emu_events_clocks { EMU_CLOCKS_FRIENDLY, EMU_CLOCKS_HOSTILE };

/* From now on, of modules that are loaded from now on; NULL: no more.  -1: nobody else can listen. */
EMU_EVENTS_API int emu_events(const struct emu_events_sink *, enum emu_events_clocks, unsigned long long seed);
/* Launches that ran beside others, of which nothing was told. */
EMU_EVENTS_API unsigned long long emu_events_left_out(void);

#endif
