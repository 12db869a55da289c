/* SPDX-License-Identifier: Apache-2.0
 *
 * symbol.h: names and lines of the host's code.
 */
#ifndef RT_SYMBOL_H
#define RT_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

/* Texts are "" and numbers 0 where unknown, and stay. */
struct rt_symbol { const char *function, *file, *object; unsigned line; uint64_t offset; };

/* behind: it is a return address, and the call is what is asked for. */
void rt_symbol_find(const void *pc, bool behind, struct rt_symbol *);

#endif
