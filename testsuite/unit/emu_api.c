/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_api.c: the emulated device's driver API: memory, virtual memory, modules,
 * streams and events, what is refused; and that schedules repeat.
 */

#include "emu_test.h"

#define HEAD ".visible .entry k(.param .u64 p) {\n" \
	".reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<5>;\n" \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x;\n"

static const char nothing[] = PTX(".visible .entry k(.param .u64 p) { ret; }\n");

/* ---- memory ------------------------------------------------------------------------ */

static void bounds_to_the_byte(void **unused)
{
	static const char text[] = PTX(
		".visible .entry k(.param .u64 p) { .reg .b64 %d0; .reg .b16 %h0;\n"
		"ld.param.u64 %d0, [p]; ld.global.u8 %h0, [%d0]; ret; }\n");
	CUdeviceptr p, at;
	void *args[] = {&at};
	CUfunction f;

	(void)unused;
	for (unsigned last = 0; last < 2; last++) {
		load(text);
		ok(cuMemAlloc(&p, 1001));
		ok(cuModuleGetFunction(&f, module, "k"));
		at = p + 1000 + last;
		ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
		assert_int_equal(cuCtxSynchronize(), last ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS);
	}
	/* What was freed is gone. */
	load(text);
	ok(cuMemAlloc(&p, 1001));
	ok(cuMemFree(p));
	assert_int_equal(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	ok(cuModuleGetFunction(&f, module, "k"));
	at = p;
	ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void pointers(void **unused)
{
	CUdeviceptr p, base, q;
	unsigned type = 0;
	int managed = 0;
	size_t n, left, total, now;
	void *h;
	char own[100];

	(void)unused;
	fresh();
	ok(cuMemGetInfo(&left, &total));
	ok(cuMemAlloc(&p, 5000));
	ok(cuMemGetInfo(&now, &total));
	assert_true(now <= left - 5000);
	ok(cuMemGetAddressRange(&base, &n, p + 4999));
	assert_true(base == p && n == 5000);
	assert_int_equal(cuMemGetAddressRange(&base, &n, p + 5000), CUDA_ERROR_NOT_FOUND);
	ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 7));
	assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
	ok(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, out_ptr));
	assert_int_equal(managed, 1);
	ok(cuMemHostAlloc(&h, 100, CU_MEMHOSTALLOC_DEVICEMAP));
	ok(cuMemHostGetDevicePointer(&q, h, 0));
	ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q));
	assert_int_equal(type, CU_MEMORYTYPE_HOST);
	assert_int_equal(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	ok(cuMemHostRegister(own, sizeof own, 0));
	ok(cuMemHostGetDevicePointer(&q, own + 50, 0));
	ok(cuMemHostUnregister(own));
	ok(cuMemFreeHost(h));
	ok(cuMemFree(p));
	ok(cuMemGetInfo(&now, &total));
	assert_int_equal(now, left);
	assert_int_equal(cuMemAlloc(&p, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
}

static void copies_and_fills(void **unused)
{
	uint32_t host[64];
	CUdeviceptr p;

	(void)unused;
	fresh();
	ok(cuMemAlloc(&p, 256));
	for (unsigned i = 0; i < 64; i++)
		host[i] = i;
	ok(cuMemcpyHtoD(p, host, 256));
	ok(cuMemsetD32(p + 16, 0xabcd, 4));
	ok(cuMemsetD16(p + 32, 0x77, 2));
	ok(cuMemcpyDtoD(p + 128, p, 64));
	memset(host, 0, sizeof host);
	ok(cuMemcpyDtoH(host, p, 256));
	assert_int_equal(host[3], 3);
	assert_int_equal(host[4], 0xabcd);
	assert_int_equal(host[7], 0xabcd);
	assert_int_equal(host[8], 0x770077);
	assert_int_equal(host[9], 9);
	assert_int_equal(host[32 + 5], 0xabcd);
	assert_int_equal(cuMemcpyHtoD(p + 200, host, 100), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemsetD8(p, 1, 257), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFree(p));
}

/* What is large is given back where it becomes zero, and nothing beside it. */
static void large_zeros(void **unused)
{
	const size_t bytes = 3 << 20, from = 4100, n = bytes - 3 * from;
	uint8_t *host = malloc(bytes);
	CUdeviceptr p;

	(void)unused;
	assert_non_null(host);
	fresh();
	for (unsigned size = 1; size <= 4; size *= 4) {
		ok(cuMemAlloc(&p, bytes));
		ok(cuMemsetD8(p, 0xa5, bytes));
		ok(size == 1 ? cuMemsetD8(p + from, 0, n) : cuMemsetD32(p + from, 0, n / size));
		ok(cuMemcpyDtoH(host, p, bytes));
		for (size_t i = 0; i < bytes; i++)
			assert_int_equal(host[i], i < from || i >= from + n ? 0xa5 : 0);
		ok(cuMemFree(p));
	}
	free(host);
}

static void virtual_memory(void **unused)
{
	const CUdeviceptr want = 0x200000000000, wide = 0x400000000000;
	const size_t unit = 2 << 20;
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}
	};
	CUmemAccessDesc access = {
		.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE
	};
	CUmemGenericAllocationHandle a, b;
	CUdeviceptr p, q;
	uint32_t v = 0;
	size_t n;

	(void)unused;
	fresh();
	ok(cuMemGetAllocationGranularity(&n, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	assert_int_equal(n, unit);
	ok(cuMemAddressReserve(&p, (size_t)1 << 45, 0, want, 0));
	assert_true(p == want);
	ok(cuMemAddressReserve(&q, (size_t)1 << 44, 0, wide, 0));
	assert_true(q == wide);
	ok(cuMemCreate(&a, unit, &prop, 0));
	ok(cuMemCreate(&b, unit, &prop, 0));
	/* One handle at two places, another between them. */
	ok(cuMemMap(p, unit, 0, a, 0));
	ok(cuMemMap(p + unit, unit, 0, b, 0));
	ok(cuMemMap(p + ((size_t)1 << 44), unit, 0, a, 0));
	assert_int_equal(cuMemMap(p, unit, 0, b, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemsetD32(p, 1, 1), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemSetAccess(p, 2 * unit, &access, 1));
	ok(cuMemSetAccess(p + ((size_t)1 << 44), unit, &access, 1));
	ok(cuMemsetD32(p + unit - 4, 0x55, 2));
	ok(cuMemcpyDtoH(&v, p + ((size_t)1 << 44) + unit - 4, 4));
	assert_int_equal(v, 0x55);
	ok(cuMemcpyDtoH(&v, p + unit, 4));
	assert_int_equal(v, 0x55);
	ok(cuMemRelease(a));
	ok(cuMemRelease(b));
	ok(cuMemUnmap(p, 2 * unit));
	assert_int_equal(cuMemcpyDtoH(&v, p, 4), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAddressFree(p, (size_t)1 << 45), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemUnmap(p + ((size_t)1 << 44), unit));
	ok(cuMemAddressFree(p, (size_t)1 << 45));
	ok(cuMemAddressFree(q, (size_t)1 << 44));
}

/* ---- modules -------------------------------------------------------------------------- */

static void modules(void **unused)
{
	static const char text[] = PTX(".global .align 4 .b8 var[40]; .const .u32 c = 9;\n"
		".visible .entry one(.param .u8 a, .param .u64 b, .param .align 8 .b8 c[24]) { ret; }\n"
		".func f() { ret; }\n"
		".visible .entry two() .maxntid 64 .reqnctapercluster 2 { .shared .b8 s[300];\n"
		"st.shared.u8 [s], 1; ret; }\n");
	const char *name;
	CUfunction f[4];
	CUdeviceptr p;
	size_t n, off;
	unsigned count;
	int v;
	uint32_t word;

	(void)unused;
	load(text);
	ok(cuModuleGetFunctionCount(&count, module));
	assert_int_equal(count, 2);
	ok(cuModuleEnumerateFunctions(f, 4, module));
	ok(cuFuncGetName(&name, f[1]));
	assert_string_equal(name, "two");
	ok(cuFuncGetParamInfo(f[0], 2, &off, &n));
	assert_true(off == 16 && n == 24);
	assert_int_equal(cuFuncGetParamInfo(f[0], 3, &off, &n), CUDA_ERROR_INVALID_VALUE);
	ok(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f[1]));
	assert_int_equal(v, 300);
	ok(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f[0]));
	assert_int_equal(v, 0);
	ok(cuModuleGetGlobal(&p, &n, module, "var"));
	assert_int_equal(n, 40);
	ok(cuModuleGetGlobal(&p, &n, module, "c"));
	ok(cuMemcpyDtoH(&word, p, 4));
	assert_int_equal(word, 9);
	assert_int_equal(cuModuleGetGlobal(&p, &n, module, "f"), CUDA_ERROR_NOT_FOUND);
	assert_int_equal(cuModuleGetFunction(f, module, "f"), CUDA_ERROR_NOT_FOUND);
	/* Launches that the kernel forbids. */
	assert_int_equal(cuLaunchKernel(f[1], 2, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuLaunchKernel(f[1], 3, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL),
			 CUDA_ERROR_INVALID_CLUSTER_SIZE);
	assert_int_equal(cuLaunchKernel(f[1], 2, 1, 1, 64, 1, 1, 49000, NULL, NULL, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuLaunchKernel(f[1], 2, 1, 1, 0, 1, 1, 0, NULL, NULL, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	ok(cuLaunchKernel(f[1], 2, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
	ok(cuModuleUnload(module));
	assert_int_equal(cuFuncGetName(&name, f[1]), CUDA_ERROR_INVALID_HANDLE);
}

static void bad_ptx(void **unused)
{
	char log[500] = "";
	CUjit_option options[] = {
		CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
	};
	void *values[] = {log, (void *)sizeof log};
	struct capture c;
	CUresult r;

	(void)unused;
	fresh();
	assert_int_equal(cuModuleLoadDataEx(&module, PTX(".entry k() { add.u32 %r1, %r2, 3; ret; }"),
					    2, options, values), CUDA_ERROR_INVALID_PTX);
	assert_non_null(strstr(log, ":4:22: error: "));
	/* Newer than the device; not text at all. */
	assert_int_equal(cuModuleLoadDataEx(&module, ".version 9.0\n.target sm_120\n.address_size 64\n",
					    2, options, values), CUDA_ERROR_NO_BINARY_FOR_GPU);
	capture_begin(&c, 2);
	r = cuModuleLoadData(&module, "\177ELF\2\1\1");
	assert_non_null(strstr(capture_end(&c), "machine code (a cubin)"));
	assert_int_equal(r, CUDA_ERROR_NO_BINARY_FOR_GPU);
}

/* A fat binary: the header, and one entry. */
struct fat {
	uint32_t magic;
	uint16_t version, bytes;
	uint64_t rest;
	uint16_t kind, entry_version;
	uint32_t entry_bytes;
	uint64_t size;
	uint32_t packed, options, isa, arch, name, name_len;
	uint64_t flags, zero, unpacked;
	char text[128];
};

static struct fat fat_of(unsigned kind, unsigned arch)
{
	struct fat f = {
		.magic = 0xba55ed50, .version = 1, .bytes = 16, .rest = sizeof f - 16, .kind = (uint16_t)kind,
		.entry_version = 0x101, .entry_bytes = 64, .size = sizeof f.text, .arch = arch
	};

	snprintf(f.text, sizeof f.text, ".version 8.0\n.target sm_%u\n.address_size 64\n.entry k() { ret; }\n",
		 arch < 75 ? 75 : arch);
	return f;
}

static void fat_binary(void **unused)
{
	struct fat f = fat_of(1, 80);
	struct { uint32_t magic, version; const void *data, *more; } wrapper = {0x466243b1, 1, &f, NULL};
	struct capture c;
	CUfunction k;
	CUmodule m;
	FILE *file;

	(void)unused;
	fresh();
	assert_int_equal(cuModuleLoadData(&m, &f), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&k, m, "k"), CUDA_SUCCESS);
	assert_int_equal(cuModuleLoadFatBinary(&m, &wrapper), CUDA_SUCCESS);
	/* Machine code alone, for a newer device, and of a device that is another's alone. */
	capture_begin(&c, 2);
	f.kind = 2;
	assert_int_equal(cuModuleLoadData(&m, &f), CUDA_ERROR_NO_BINARY_FOR_GPU);
	f = fat_of(1, 100);
	assert_int_equal(cuModuleLoadData(&m, &f), CUDA_ERROR_NO_BINARY_FOR_GPU);
	f = fat_of(1, 80);
	f.flags = 0x100000;
	assert_int_equal(cuModuleLoadData(&m, &f), CUDA_ERROR_NO_BINARY_FOR_GPU);
	/* Packed text that is none. */
	f.flags = 0x2000;
	f.unpacked = 4096;
	f.packed = 100;
	assert_int_equal(cuModuleLoadData(&m, &f), CUDA_ERROR_INVALID_IMAGE);
	f.flags = 0x8000;
	assert_int_equal(cuModuleLoadData(&m, &f), CUDA_ERROR_INVALID_IMAGE);
	f.unpacked = UINT64_MAX;
	assert_int_equal(cuModuleLoadData(&m, &f), CUDA_ERROR_INVALID_IMAGE);
	f.unpacked = 4096;
	f.packed = UINT32_MAX;
	assert_int_equal(cuModuleLoadData(&m, &f), CUDA_ERROR_INVALID_IMAGE);
	/* A file that ends early. */
	f = fat_of(1, 80);
	file = fopen("emu_api.fatbin", "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(&f, 1, sizeof f - 60, file), sizeof f - 60);
	fclose(file);
	assert_int_equal(cuModuleLoad(&m, "emu_api.fatbin"), CUDA_ERROR_INVALID_IMAGE);
	remove("emu_api.fatbin");
	assert_non_null(strstr(capture_end(&c), "it holds machine code for sm_80"));
}

static void entry_points(void **unused)
{
	CUdriverProcAddressQueryResult status;
	CUresult (*alloc)(CUdeviceptr *, size_t);
	CUdeviceptr p;
	void *fn;
	const char *s;
	int v;

	(void)unused;
	fresh();
	ok(cuGetProcAddress("cuMemAlloc", &fn, 13000, 0, &status));
	memcpy(&alloc, &fn, sizeof alloc);
	ok(alloc(&p, 16));
	ok(cuMemFree(p));
	assert_int_equal(cuGetProcAddress("cuNothing", &fn, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
	assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	ok(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &s));
	assert_string_equal(s, "CUDA_ERROR_ILLEGAL_ADDRESS");
	assert_int_equal(emu_set_device(74), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(emu_set_device(100), 0);
	ok(cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
	assert_int_equal(v, 10);
	emu_set_device(90);
}

/* ---- streams ------------------------------------------------------------------------------ */

static void set_word(void *arg)
{
	/* The kernel before it in the stream has ended: its word is there. */
	((uint32_t *)arg)[1] = ((uint32_t *)arg)[0] + 1;
}

static void stream_order(void **unused)
{
	CUstream a, b;
	CUevent e;
	CUfunction f;
	void *args[] = {&out_ptr};

	(void)unused;
	load(PTX(HEAD "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 5000; @%p0 bra L;\n"
		 "st.global.u32 [%d0], %r1; ret; }\n"));
	ok(cuModuleGetFunction(&f, module, "k"));
	ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	ok(cuEventCreate(&e, 0));
	ok(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, a, args, NULL));
	assert_int_equal(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
	ok(cuLaunchHostFunc(a, set_word, out));
	ok(cuEventRecord(e, a));
	ok(cuStreamWaitEvent(b, e, 0));
	ok(cuMemcpyDtoDAsync(out_ptr + 8, out_ptr, 8, b));
	ok(cuStreamSynchronize(b));
	assert_int_equal(out[2], 5000);
	assert_int_equal(out[3], 5001);
	ok(cuStreamQuery(a));
	ok(cuEventQuery(e));
	ok(cuEventDestroy(e));
	ok(cuStreamDestroy(a));
	ok(cuStreamDestroy(b));
}

/* Kernels of two streams run at the same time: each waits for the other. */
static void streams_overlap(void **unused)
{
	CUdeviceptr second = out_ptr;
	void *args[] = {&out_ptr}, *args2[] = {&second};
	CUstream a, b;
	CUfunction f, g;

	(void)unused;
	load(PTX(
		".visible .entry k(.param .u64 p) { .reg .b64 %d0; .reg .b32 %r1; .reg .pred %p0;\n"
		"ld.param.u64 %d0, [p]; st.relaxed.gpu.global.u32 [%d0], 1;\n"
		"L: ld.relaxed.gpu.global.u32 %r1, [%d0+4]; setp.eq.u32 %p0, %r1, 0; @%p0 bra L; ret; }\n"
		".visible .entry k2(.param .u64 p) { .reg .b64 %d0; .reg .b32 %r1; .reg .pred %p0;\n"
		"ld.param.u64 %d0, [p]; st.relaxed.gpu.global.u32 [%d0+4], 1;\n"
		"L: ld.relaxed.gpu.global.u32 %r1, [%d0]; setp.eq.u32 %p0, %r1, 0; @%p0 bra L; ret; }\n"));
	second = out_ptr;
	ok(cuModuleGetFunction(&f, module, "k"));
	ok(cuModuleGetFunction(&g, module, "k2"));
	ok(cuStreamCreate(&a, 0));
	ok(cuStreamCreate(&b, 0));
	ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, a, args, NULL));
	ok(cuLaunchKernel(g, 1, 1, 1, 1, 1, 1, 0, b, args2, NULL));
	ok(cuCtxSynchronize());
}

/* The legacy stream waits for blocking streams, and they for it. */
static void legacy_stream(void **unused)
{
	void *args[] = {&out_ptr};
	CUstream a;
	CUfunction f;

	(void)unused;
	load(PTX(HEAD "ld.global.u32 %r1, [%d0]; mul.lo.u32 %r1, %r1, 3; mov.u32 %r2, 0;\n"
		 "L: add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 3000; @%p0 bra L;\n"
		 "add.u32 %r1, %r1, 1; st.global.u32 [%d0], %r1; ret; }\n"));
	ok(cuModuleGetFunction(&f, module, "k"));
	ok(cuStreamCreate(&a, 0));
	for (unsigned i = 0; i < 4; i++)
		ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, i % 2 ? a : NULL, args, NULL));
	ok(cuCtxSynchronize());
	assert_int_equal(out[0], 40);
}

/* The host and a kernel talk to each other while it runs. */
static void zero_copy(void **unused)
{
	volatile uint32_t *flag = out;
	CUfunction f;
	CUdeviceptr p;
	void *args[] = {&p}, *h;

	(void)unused;
	load(PTX(HEAD "st.release.sys.global.u32 [%d0], 1;\n"
		 "L: ld.acquire.sys.global.u32 %r1, [%d0+4]; setp.eq.u32 %p0, %r1, 0; @%p0 bra L;\n"
		 "st.global.u32 [%d0+8], %r1; ret; }\n"));
	ok(cuMemHostAlloc(&h, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	memset(h, 0, 64);
	ok(cuMemHostGetDevicePointer(&p, h, 0));
	flag = h;
	ok(cuModuleGetFunction(&f, module, "k"));
	ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	for (unsigned i = 0; i < 5000 && !flag[0]; i++)
		usleep(1000);
	assert_int_equal(flag[0], 1);
	flag[1] = 8;
	ok(cuCtxSynchronize());
	assert_int_equal(flag[2], 8);
	ok(cuMemFreeHost(h));
}

/* ---- schedules -------------------------------------------------------------------------------- */

/* Threads draw tickets: the order in which they come is the schedule. */
static void order(unsigned seed, uint32_t *to)
{
	load(PTX(HEAD "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 64, %r0; mov.u32 %r3, 0;\n"
		 "L: atom.global.add.u32 %r2, [%d0], 1; mul.wide.u32 %d1, %r2, 4; add.u64 %d1, %d1, %d0;\n"
		 "st.global.u32 [%d1+4], %r1; add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 4; @%p0 bra L;\n"
		 "ret; }\n"));
	emu_set_seed(seed);
	ok(run(8, 64, 0));
	memcpy(to, out, 2048 * 4);
	emu_set_seed(0);
}

static void schedules_repeat(void **unused)
{
	static uint32_t first[2048], again[2048];
	unsigned different = 0;

	(void)unused;
	for (unsigned seed = 0; seed < 6; seed++) {
		static uint32_t other[2048];

		order(seed, first);
		order(seed, again);
		assert_memory_equal(first, again, sizeof first);
		order(seed + 1, other);
		different += memcmp(first, other, sizeof first) != 0;
	}
	assert_int_equal(different, 6);
}

/* More blocks than fit; every one has a place of its own while it runs. */
static void places(void **unused)
{
	int sms, n;
	CUfunction f;

	(void)unused;
	load(PTX(HEAD "mov.u32 %r1, %smid; mov.u32 %r2, %warpid; mad.lo.u32 %r3, %r1, 64, %r2;\n"
		 "mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d1, %d0; mov.u32 %r5, %laneid;\n"
		 "setp.ne.u32 %p1, %r5, 0; @%p1 bra Z; atom.global.add.u32 %r4, [%d1], 1;\n"
		 "setp.ne.u32 %p0, %r4, 0; @%p0 trap; Z: bar.sync 0; @%p1 bra Y;\n"
		 "red.global.add.u32 [%d1], -1; red.global.add.u32 [%d0+32768], 1; Y: ret; }\n"));
	ok(cuModuleGetFunction(&f, module, "k"));
	ok(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 0));
	assert_true(sms * n < 500);
	for (unsigned seed = 0; seed < 3; seed++) {
		emu_set_seed(seed);
		ok(run(500, 128, 0));
	}
	emu_set_seed(0);
	assert_int_equal(out[8192], 3 * 500 * 4);
}

static void cooperative(void **unused)
{
	CUfunction f;
	void *args[] = {&out_ptr};
	int n, sms;

	(void)unused;
	load(nothing);
	ok(cuModuleGetFunction(&f, module, "k"));
	ok(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 0));
	ok(cuLaunchCooperativeKernel(f, (unsigned)(n * sms), 1, 1, 256, 1, 1, 0, NULL, args));
	assert_int_equal(cuLaunchCooperativeKernel(f, (unsigned)(n * sms) + 1, 1, 1, 256, 1, 1, 0, NULL,
						   args), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	ok(cuCtxSynchronize());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_to_the_byte), cmocka_unit_test(pointers),
		cmocka_unit_test(copies_and_fills), cmocka_unit_test(large_zeros), cmocka_unit_test(virtual_memory),
		cmocka_unit_test(modules), cmocka_unit_test(bad_ptx), cmocka_unit_test(fat_binary), cmocka_unit_test(entry_points),
		cmocka_unit_test(stream_order), cmocka_unit_test(streams_overlap),
		cmocka_unit_test(legacy_stream), cmocka_unit_test(zero_copy),
		cmocka_unit_test(schedules_repeat), cmocka_unit_test(places),
		cmocka_unit_test(cooperative)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
