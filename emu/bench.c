/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.c: how many instructions of how many threads the emulated device runs in a
 * second, for loops of a known number of instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cuda.h>

#define LOOPS  20000u
#define BLOCKS 4u
#define THREADS 256u

#define HEAD "\tld.param.u64 %d0, [p];\n\tmov.u32 %r0, %tid.x;\n\tmov.u32 %r1, 0;\n\tmov.u32 %r2, %r0;\n" \
	"\tmul.wide.u32 %d1, %r0, 4;\n\tadd.u64 %d1, %d1, %d0;\nL:\n"
#define TAIL "\tadd.u32 %r1, %r1, 1;\n\tsetp.lt.u32 %p0, %r1, 20000;\n\t@%p0 bra L;\n" \
	"\tst.global.u32 [%d1], %r2;\n\tret;\n}\n"
#define KERNEL(name, body) ".visible .entry " name "(.param .u64 p) {\n" \
	"\t.reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<3>;\n" HEAD body TAIL

static const char text[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
	".shared .align 4 .b8 sm[1024];\n"
	".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<2>; ld.param.u32 %r0, [a];\n"
	"\tadd.u32 %r0, %r0, 3; st.param.b32 [r], %r0; ret; }\n"
	KERNEL("arithmetic", "\tmad.lo.u32 %r2, %r2, 1664525, %r1;\n\tshr.u32 %r3, %r2, 7;\n"
	       "\txor.b32 %r2, %r2, %r3;\n\tmul.wide.u32 %d2, %r2, %r3;\n\tcvt.u32.u64 %r4, %d2;\n"
	       "\tsub.u32 %r2, %r4, %r2;\n")
	KERNEL("memory", "\tld.global.u32 %r3, [%d1];\n\tadd.u32 %r2, %r2, %r3;\n"
	       "\tst.global.u32 [%d1+4096], %r2;\n")
	KERNEL("calls", "\t{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;\n"
	       "\tcall.uni (b), f, (a); ld.param.b32 %r2, [b]; }\n")
	KERNEL("divergence", "\tand.b32 %r3, %r2, 1;\n\tsetp.eq.u32 %p1, %r3, 0;\n\t@%p1 bra E;\n"
	       "\tmad.lo.u32 %r2, %r2, 3, 1;\n\tbra J;\nE:\tshr.u32 %r2, %r2, 1;\n\tadd.u32 %r2, %r2, %r1;\n"
	       "J:\n")
	KERNEL("barriers", "\tbar.sync 0;\n")
	KERNEL("atomics", "\tred.global.add.u32 [%d0+8192], 1;\n");

/* Instructions of one round of the loop, as one thread runs it. */
static const struct { const char *name; double insts; } kernels[] = {
	{"arithmetic", 9}, {"memory", 6}, {"calls", 10}, {"divergence", 8}, {"barriers", 4},
	{"atomics", 4}
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(CUresult r, const char *what)
{
	if (r != CUDA_SUCCESS) {
		fprintf(stderr, "%s: error %d\n", what, (int)r);
		exit(1);
	}
}

int main(void)
{
	CUcontext ctx;
	CUmodule module;
	CUdeviceptr p;
	void *args[] = {&p};

	check(cuInit(0), "cuInit");
	check(cuDevicePrimaryCtxRetain(&ctx, 0), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(ctx), "cuCtxSetCurrent");
	check(cuModuleLoadData(&module, text), "cuModuleLoadData");
	check(cuMemAlloc(&p, 1 << 16), "cuMemAlloc");
	for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		double start, s;
		CUfunction f;

		check(cuModuleGetFunction(&f, module, kernels[i].name), "cuModuleGetFunction");
		start = now();
		check(cuLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL), "launch");
		check(cuCtxSynchronize(), kernels[i].name);
		s = now() - start;
		printf("%-12s %7.1f million thread instructions/s\n", kernels[i].name,
		       BLOCKS * THREADS * (double)LOOPS * kernels[i].insts / s / 1e6);
	}
	check(cuMemFree(p), "cuMemFree");
	return 0;
}
