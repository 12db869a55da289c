/* SPDX-License-Identifier: Apache-2.0
 *
 * fatbin.h: what is in a fat binary, which is what nvcc puts into programs: a header and, one behind the other, texts of PTX
 * and machine code for several devices, as they are or compressed.  The wrapper that points to it is in
 * fatbinary_section.h of the toolkit; the rest is as fat binaries are seen to be.
 */
#ifndef EVENT_FATBIN_H
#define EVENT_FATBIN_H

#include <stddef.h>
#include <stdint.h>

#define FATBIN_WRAPPER 0x466243b1u
#define FATBIN_MAGIC 0xba55ed50u

struct fatbin_wrapper {
	uint32_t magic, version;        /* version 2: of several, for the device's linker */
	const void *data, *more;
};

struct fatbin_header {
	uint32_t magic;
	uint16_t version, bytes;
	uint64_t rest;                  /* bytes behind this */
};

enum { FATBIN_PTX = 1, FATBIN_CODE = 2 };

#define FATBIN_LZ4 UINT64_C(0x2000)
#define FATBIN_ZSTD UINT64_C(0x8000)
#define FATBIN_ONE_ARCH UINT64_C(0x100000)      /* sm_90a and the like */

struct fatbin_entry {
	uint16_t kind, version;
	uint32_t bytes;                 /* of this; what it holds comes behind */
	uint64_t size;
	uint32_t packed_size, options;
	uint16_t minor, major;
	uint32_t arch, name, name_len;
	uint64_t flags, zero, unpacked_size;    /* unpacked_size: if packed */
};

_Static_assert(sizeof(struct fatbin_entry) == 64, "as it is in files");

/* The entry at `*at` (0: the first), which goes on to the next; NULL: there is none. */
static inline const struct fatbin_entry *fatbin_next(const struct fatbin_header *h, uint64_t *at)
{
	const struct fatbin_entry *e = (const void *)((const char *)h + h->bytes + *at);

	if (*at + sizeof *e > h->rest || e->bytes < sizeof *e || e->size > h->rest || *at + e->bytes + e->size > h->rest)
		return NULL;
	*at += e->bytes + e->size;
	return e;
}

#endif
