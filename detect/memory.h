/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.h: where all of the detector's memory comes from (table.c).
 */
#ifndef DETECT_MEMORY_H
#define DETECT_MEMORY_H

#include <stddef.h>

/* realloc() and calloc() that do not return without memory (detect_on_refusal). */
void *detect_memory(void *p, size_t bytes);
void *detect_zeroed(size_t n, size_t size);

#endif
