/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_test.h: what the tests of the emulated device share: a fresh context, a
 * module from PTX text, a launch.
 */
#ifndef EMU_TEST_H
#define EMU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <cuda.h>

/* The module's first lines, in front of every text. */
#define PTX(text) ".version 9.0\n.target sm_90a\n.address_size 64\n" text

int emu_set_device(int sm);
void emu_set_seed(unsigned long long seed);

static CUmodule module;
static uint32_t *out;           /* managed memory: 64 Ki words */
static CUdeviceptr out_ptr;

#define OUT_WORDS 65536

#define ok(call) assert_int_equal(call, CUDA_SUCCESS)

/* A context without errors, and `out` zeroed. */
static inline void fresh(void)
{
	CUcontext ctx;

	ok(cuInit(0));
	cuDevicePrimaryCtxReset(0);
	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	ok(cuCtxSetCurrent(ctx));
	if (out_ptr)
		ok(cuMemFree(out_ptr));
	ok(cuMemAllocManaged(&out_ptr, OUT_WORDS * 4, CU_MEM_ATTACH_GLOBAL));
	out = (uint32_t *)(uintptr_t)out_ptr;
	memset(out, 0, OUT_WORDS * 4);
	module = NULL;
}

static inline void load(const char *text)
{
	fresh();
	ok(cuModuleLoadData(&module, text));
}

/* Launches kernel `k` of the module; its parameter is `out`. */
static inline CUresult run(unsigned blocks, unsigned threads, unsigned smem)
{
	void *args[] = {&out_ptr};
	CUfunction f;
	CUresult r;

	ok(cuModuleGetFunction(&f, module, "k"));
	r = cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, smem, NULL, args, NULL);
	return r ? r : cuCtxSynchronize();
}

/* What goes to a stream between begin and end. */
struct capture { int fd, saved; FILE *file; char text[4096]; };

static inline void capture_begin(struct capture *c, int fd)
{
	fflush(NULL);
	c->file = tmpfile();
	assert_non_null(c->file);
	c->fd = fd;
	c->saved = dup(fd);
	dup2(fileno(c->file), fd);
}

static inline const char *capture_end(struct capture *c)
{
	size_t n;

	fflush(NULL);
	dup2(c->saved, c->fd);
	close(c->saved);
	rewind(c->file);
	n = fread(c->text, 1, sizeof c->text - 1, c->file);
	c->text[n] = 0;
	fclose(c->file);
	return c->text;
}

#endif
