/* SPDX-License-Identifier: Apache-2.0
 *
 * every.c: a libcuda.so.1 that has every function of rt/drv.def, and whose cuGetProcAddress finds whatever it is asked for.
 * None of them does anything.  ASKED=FILE: what is asked for is written there, "NAME VERSION", or "NAME VERSION ptsz" for
 * per-thread default streams.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define cuGetProcAddress none_1
#define cuGetProcAddress_v2 none_2
#define cuInit none_3
#define HOOK(symbol, base, version, ptsz, action, params, args) int symbol(void);
#include "rt/drv.def"
#define HOOK(symbol, base, version, ptsz, action, params, args) int symbol(void) { return 0; }
#include "rt/drv.def"
#undef cuGetProcAddress
#undef cuGetProcAddress_v2
#undef cuInit

int cuCtxSynchronize(void);
int cuDriverGetVersion(int *);
int cuGetExportTable(const void **, const void *);
int cuGetProcAddress(const char *, void **, int, uint64_t);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuInit(unsigned);

typedef int any(void);

static int nothing(void)
{
	return 0;
}

static int refuse(void)
{
	return 801;             /* CUDA_ERROR_NOT_SUPPORTED */
}

static int count_devices(int *n)
{
	*n = 1;
	return 0;
}

int cuCtxSynchronize(void)
{
	return 0;
}

int cuInit(unsigned flags)
{
	return flags ? 1 : 0;
}

int cuDriverGetVersion(int *version)
{
	*version = 13000;
	return 0;
}

/* What the CUDA runtime asks for by numbers: each table begins with its size. */
int cuGetExportTable(const void **table, const void *which)
{
	static union { uintptr_t size; any *fn; } all[64];

	(void)which;
	all[0].size = sizeof all;
	for (size_t i = 1; i < sizeof all / sizeof *all; i++)
		all[i].fn = refuse;
	*table = all;
	return 0;
}

static any *find(const char *name)
{
	static const struct { const char *name; any *fn; } known[] = {
		{"cuGetProcAddress", (any *)cuGetProcAddress_v2}, {"cuDriverGetVersion", (any *)cuDriverGetVersion},
		{"cuGetExportTable", (any *)cuGetExportTable}, {"cuDeviceGetCount", (any *)count_devices},
		{"cuInit", (any *)cuInit}
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].name, name))
			return known[i].fn;
	return nothing;
}

int cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status)
{
	const char *file = getenv("ASKED");
	FILE *f = file && *name ? fopen(file, "a") : NULL;
	any *found = find(name);

	if (f) {
		fprintf(f, "%s %d%s\n", name, version, flags & 2 ? " ptsz" : "");
		fclose(f);
	}
	memcpy(fn, &found, sizeof *fn);
	if (status)
		*status = 0;
	return 0;
}

int cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags)
{
	any *self = (any *)cuGetProcAddress;
	int r = cuGetProcAddress_v2(name, fn, version, flags, NULL);

	if (!strcmp(name, "cuGetProcAddress"))
		memcpy(fn, &self, sizeof *fn);
	return r;
}
