/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz.c: the little that the fuzz targets share.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testsuite/fuzz/fuzz.h"

void fuzz_broken(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", fuzz_target.name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *p = malloc(size + 1);

	if (!p)
		fuzz_broken("out of memory");
	if (size)
		memcpy(p, data, size);
	p[size] = '\0';
	return p;
}

uint64_t fuzz_hash(const uint8_t *data, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		h = (h ^ data[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 29;
}
