/* SPDX-License-Identifier: Apache-2.0
 *
 * drain.h: empties pieces of a launch's region while its kernel runs, so that its log may be larger than that.
 */
#ifndef LOG_DRAIN_H
#define LOG_DRAIN_H

#include "log/shape.h"
#include "log/way.h"

struct log_drain;

/* From before a launch, whose region is ready (log_prepare), until it is over.  patience: ms that a lane may wait.
 * NULL: there is no memory. */
struct log_drain *log_drain_begin(const struct log_way *, CUdeviceptr region, const struct log_shape *, uint32_t patience);
/* To be called again and again, about every 50 us if log_drain_is_busy() and else every few ms, by one thread at a time.
 * False: nobody is answered any more. */
bool log_drain_look(struct log_drain *);
/* Has its region been full? */
bool log_drain_is_busy(const struct log_drain *);
/* The launch is over: what became of its tickets, until log_drain_free().  NULL: the region was never full, and nothing was
 * taken out. */
const struct log_fill *log_drain_end(struct log_drain *, uint32_t *n);
void log_drain_free(struct log_drain *);

#endif
