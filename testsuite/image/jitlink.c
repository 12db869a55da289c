/* SPDX-License-Identifier: Apache-2.0
 *
 * jitlink.c: a program that has nvJitLink make machine code of a racy kernel, and runs it:
 *   jitlink ptx|lto|file|two
 * of one PTX text, of what NVRTC made for optimisation at link time, of a file of PTX, or of two texts.  It finds nvJitLink by
 * dlopen as Python's modules do, or with -DLINKED is linked with it.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turn.h"

#ifdef LINKED
#define GET(name, to) ((to) = (name))
#else
#define GET(name, to) get(#name, &(to))
#endif
#ifdef NVJITLINK_NO_INLINE      /* of 13.0 declares none of them then */
extern nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *, uint32_t, const char **), nvJitLinkComplete(nvJitLinkHandle);
extern nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle, nvJitLinkInputType, const void *, size_t, const char *);
extern nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle, nvJitLinkInputType, const char *);
extern nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle, size_t *), nvJitLinkGetLinkedCubin(nvJitLinkHandle, void *);
extern nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *);
#endif
#ifndef MAIN
#define MAIN main
#endif

static const char other[] = "extern \"C\" __device__ int none(int a) { return a; }\n";

#ifndef LINKED
/* ISO C has no conversion from an object pointer to a function pointer. */
static void get(const char *name, void *fn)
{
	static void *library;
	void *p;

	if (!library)
		library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	p = library ? dlsym(library, name) : NULL;
	if (!p)
		exit(5);
	memcpy(fn, &p, sizeof p);
}
#endif

static char *compile(const char *text, int lto, size_t *n)
{
	const char *const option[] = {lto ? "-dlto" : "-rdc=false", "-lineinfo", "-arch=compute_90"};
	nvrtcProgram p;
	char *out;

	if (nvrtcCreateProgram(&p, text, "turn.cu", 0, NULL, NULL) || nvrtcCompileProgram(p, 3, option) ||
	    (lto ? nvrtcGetLTOIRSize(p, n) : nvrtcGetPTXSize(p, n)))
		exit(6);
	out = malloc(*n);
	if (lto ? nvrtcGetLTOIR(p, out) : nvrtcGetPTX(p, out))
		exit(6);
	return out;
}

static char *link(const char *way)
{
	const int lto = !strcmp(way, "lto");
	const char *option[] = {"-arch=sm_90", "-lto"};
	nvJitLinkResult (*create)(nvJitLinkHandle *, uint32_t, const char **), (*complete)(nvJitLinkHandle), (*destroy)(nvJitLinkHandle *);
	nvJitLinkResult (*add)(nvJitLinkHandle, nvJitLinkInputType, const void *, size_t, const char *);
	nvJitLinkResult (*file)(nvJitLinkHandle, nvJitLinkInputType, const char *);
	nvJitLinkResult (*bytes)(nvJitLinkHandle, size_t *), (*code)(nvJitLinkHandle, void *);
	nvJitLinkHandle h;
	size_t n;
	char *text = compile(source, lto, &n), *out;
	FILE *f;

	GET(nvJitLinkCreate, create);
	GET(nvJitLinkAddData, add);
	GET(nvJitLinkAddFile, file);
	GET(nvJitLinkComplete, complete);
	GET(nvJitLinkGetLinkedCubinSize, bytes);
	GET(nvJitLinkGetLinkedCubin, code);
	GET(nvJitLinkDestroy, destroy);
	if (create(&h, lto ? 2 : 1, option))
		exit(7);
	if (!strcmp(way, "file")) {
		f = fopen("turn.ptx", "w");
		fwrite(text, 1, n - 1, f);
		fclose(f);
		if (file(h, NVJITLINK_INPUT_PTX, "turn.ptx"))
			exit(7);
	} else if (add(h, lto ? NVJITLINK_INPUT_LTOIR : NVJITLINK_INPUT_PTX, text, n, "turn")) {
		exit(7);
	}
	if (!strcmp(way, "two")) {
		text = compile(other, 0, &n);
		if (add(h, NVJITLINK_INPUT_PTX, text, n, "other"))
			exit(7);
	}
	if (complete(h) || bytes(h, &n))
		exit(8);
	out = malloc(n);
	if (code(h, out) || destroy(&h))
		exit(8);
	return out;
}

int MAIN(int argc, char **argv)
{
	CUcontext ctx;
	CUdeviceptr at;
	CUfunction fn;
	CUmodule m;
	void *args[] = {&at};
	char *code;

	if (argc < 2)
		return 9;
	code = link(argv[1]);
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx) || cuMemAlloc(&at, 256) ||
	    cuModuleLoadData(&m, code) || cuModuleGetFunction(&fn, m, "turn") ||
	    cuLaunchKernel(fn, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL) || cuCtxSynchronize())
		return 4;
	return 3;
}
