/* SPDX-License-Identifier: Apache-2.0
 *
 * nvrtc.c: a program that has NVRTC make machine code of a racy kernel, keeps it in a file or takes it from there, and runs it:
 *   nvrtc FILE
 * With -DLOOKED_UP it finds NVRTC by dlopen, as Python's modules do.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>

#include "turn.h"

#ifdef LOOKED_UP
#define GET(name) __typeof__(&name) own_##name = (__typeof__(&name))dlsym(lib, #name)
#define CALL(name) own_##name
#else
#define GET(name) (void)lib
#define CALL(name) name
#endif

static char *compile(size_t *n)
{
	const char *const option[] = {"-arch=sm_90", "-lineinfo"};
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	nvrtcProgram p;
	char *code;
	GET(nvrtcCreateProgram);
	GET(nvrtcCompileProgram);
	GET(nvrtcGetCUBINSize);
	GET(nvrtcGetCUBIN);

	if (CALL(nvrtcCreateProgram)(&p, source, "turn.cu", 0, NULL, NULL) || CALL(nvrtcCompileProgram)(p, 2, option) ||
	    CALL(nvrtcGetCUBINSize)(p, n))
		exit(6);
	code = malloc(*n);
	if (CALL(nvrtcGetCUBIN)(p, code))
		exit(7);
	return code;
}

#ifndef MAIN
#define MAIN main
#endif
int MAIN(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
	char *code = malloc(1 << 20);
	size_t n = f ? fread(code, 1, 1 << 20, f) : 0;
	CUcontext ctx;
	CUdeviceptr at;
	CUfunction fn;
	CUmodule m;
	void *args[] = {&at};

	if (!n) {
		code = compile(&n);
		f = fopen(argv[1], "wb");
		if (fwrite(code, 1, n, f) != n)
			return 5;
	}
	fclose(f);
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx) || cuMemAlloc(&at, 256) ||
	    cuModuleLoadData(&m, code) || cuModuleGetFunction(&fn, m, "turn") ||
	    cuLaunchKernel(fn, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL) || cuCtxSynchronize())
		return 4;
	return 3;
}
