/* SPDX-License-Identifier: Apache-2.0
 *
 * touch.h: accesses of the host to memory that the device can reach, while something is under way that may touch it: pages
 * are guarded, and a fault tells of the access (doc/design/host.md).  touch.c; libc.c has functions of libc whose system
 * calls would fail.
 */
#ifndef RT_TOUCH_H
#define RT_TOUCH_H

#include "rt/order.h"

/* Such memory: of pages that are its own, or part of the program's. */
enum rt_pages { RT_OWN_PAGES, RT_PROGRAMS_PAGES, RT_MANAGED_PAGES };
void rt_touch_new(uint64_t address, uint64_t bytes, enum rt_pages);
void rt_touch_gone(uint64_t address);   /* about to be given back */
void rt_touch_mapped(uint64_t address, uint64_t bytes); /* the driver will map it for the host itself: it is guarded no more */
/* Behind an asynchronous call: what it may touch is guarded until the host knows that it is over.  A launch: what its
 * parameters point to. */
void rt_touch_guard_deed(const struct rt_deed *);
void rt_touch_guard_params(struct rt_deed *, const struct rt_func *, const struct module_kernel *, void *const *params, void **extra);
/* The host has learned something: what is over is guarded no more. */
void rt_touch_over(void);
/* The kernel will access that on behalf of a system call: it is told, and guarded no more. */
void rt_touch_bytes(const void *, size_t n, bool writes);
bool rt_touch_any(void);                /* rt_touch_bytes() may have something to do */
void rt_touch_end(void);                /* nobody looks any more, or all such memory is gone */
void rt_touch_fork(void);

struct sigaction;
/* The program asks for a signal that guards need; true: it has what it asked for. */
bool rt_touch_sigaction(int sig, const struct sigaction *, struct sigaction *old);
int rt_real_sigaction(int sig, const struct sigaction *, struct sigaction *old);

#endif
