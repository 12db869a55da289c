/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c: a program that loads what it is told to, by the driver's API, and knows nothing of gsan:
 *   driver WAY FILE [LAUNCHES]
 * It launches the kernel turn of FILE, prints the first and the last word that this leaves, and ends with status 3.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) must(call, #call)

static void must(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	printf("%s: error %d\n", what, (int)r);
	exit(4);
}

static char *contents(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);

	if (!f || !fread(text, 1, (1 << 20) - 1, f))
		exit(5);
	fclose(f);
	return text;
}

static CUfunction of_library(const char *way, const char *file)
{
	CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
	void *value = NULL;
	CUlibrary lib;
	CUkernel kernel;
	CUfunction f;

	if (!strcmp(way, "cuLibraryLoadFromFile"))
		MUST(cuLibraryLoadFromFile(&lib, file, NULL, NULL, 0, NULL, NULL, 0));
	else
		MUST(cuLibraryLoadData(&lib, contents(file), NULL, NULL, 0, &option, &value, 1));
	MUST(cuLibraryGetKernel(&kernel, lib, "turn"));
	MUST(cuKernelGetFunction(&f, kernel));
	return f;
}

static CUfunction get(const char *way, const char *file)
{
	CUjit_option option[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	char log[256] = "";
	void *value[] = {log, (void *)sizeof log};
	CUmodule m;
	CUfunction f;

	if (!strncmp(way, "cuLibrary", 9))
		return of_library(way, file);
	if (!strcmp(way, "cuModuleLoad"))
		MUST(cuModuleLoad(&m, file));
	else if (!strcmp(way, "cuModuleLoadDataEx"))
		MUST(cuModuleLoadDataEx(&m, contents(file), 2, option, value));
	else if (!strcmp(way, "cuModuleLoadFatBinary"))
		MUST(cuModuleLoadFatBinary(&m, contents(file)));
	else
		MUST(cuModuleLoadData(&m, contents(file)));
	MUST(cuModuleGetFunction(&f, m, "turn"));
	return f;
}

int main(int argc, char **argv)
{
	int launches = argc > 3 ? atoi(argv[3]) : 1;
	unsigned out[64];
	CUdeviceptr at;
	CUcontext ctx;
	CUfunction f;
	void *args[] = {&at};

	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&ctx, 0));
	MUST(cuCtxSetCurrent(ctx));
	MUST(cuMemAlloc(&at, sizeof out));
	f = get(argv[1], argv[2]);
	while (launches--)
		MUST(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
	MUST(cuMemcpyDtoH(out, at, sizeof out));
	printf("%u %u\n", out[0], out[63]);
	return 3;
}
