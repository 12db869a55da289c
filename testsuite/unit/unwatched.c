/* SPDX-License-Identifier: Apache-2.0
 *
 * unwatched.c: a launch of a kernel with probes whose parameter nobody has filled in, or with anything: it does what it does
 * without probes, and stores what it logs in REGION_SINK alone.
 */

#include "emu_test.h"
#include "event/region.h"
#include "probe/probe.h"

enum { BLOCKS = 3, THREADS = 80, UNITS = 1 << 14 /* of what a parameter may say is its region */ };

/* Threads hand values on in shared memory, take a lock by turns, add, and call, in a loop in which pieces fill. */
static const char text[] = PTX(
	".global .align 4 .b32 lock;\n"
	".func (.reg .b32 %to) next(.reg .b32 %from, .reg .b64 %p)\n"
	"{\n.reg .b32 %x;\n"
	"	atom.global.add.u32 %x, [%p], %from;\n"
	"	add.u32 %to, %from, 3;\n"
	"	ret;\n}\n"
	".visible .entry k(.param .u64 p_out)\n"
	"{\n.reg .b64 %out, %own;\n.reg .b32 %t, %n, %i, %v, %at, %other;\n.reg .pred %p;\n"
	".shared .align 4 .b8 cells[1024];\n"
	"	ld.param.u64 %out, [p_out];\n"
	"	mov.u32 %t, %tid.x;\n"
	"	mov.u32 %n, %ntid.x;\n"
	"	mov.u32 %v, %ctaid.x;\n"
	"	mad.lo.u32 %v, %v, %n, %t;\n"
	"	mad.wide.u32 %own, %v, 8, %out;\n"
	"	add.u64 %own, %own, 64;\n"
	"	mov.u32 %at, cells;\n"
	"	xor.b32 %other, %t, 21;\n"
	"	mad.lo.u32 %other, %other, 4, %at;\n"
	"	mad.lo.u32 %at, %t, 4, %at;\n"
	"	mov.u32 %i, 0;\n"
	"AGAIN:\n"
	"	st.shared.u32 [%at], %v;\n"
	"	bar.sync 0;\n"
	"	setp.lt.u32 %p, %t, 64;\n"
	"	@%p ld.shared.u32 %v, [%other];\n"
	"	bar.sync 0;\n"
	"	call (%v), next, (%v, %out);\n"
	"	st.global.u32 [%own], %v;\n"
	"	st.global.u32 [%own+4], %i;\n"
	"	add.u32 %i, %i, 1;\n"
	"	setp.lt.u32 %p, %i, 60;\n"
	"	@%p bra AGAIN;\n"
	"	and.b32 %i, %t, 31;\n"
	"	setp.ne.u32 %p, %i, 0;\n"
	"	@%p bra END;\n"
	"TAKE:\n"
	"	atom.acquire.gpu.global.cas.b32 %i, [lock], 0, 1;\n"
	"	setp.ne.u32 %p, %i, 0;\n"
	"	@%p bra TAKE;\n"
	"	ld.global.u32 %i, [%out+4];\n"
	"	add.u32 %i, %i, 1;\n"
	"	st.global.u32 [%out+4], %i;\n"
	"	atom.release.gpu.global.exch.b32 %i, [lock], 0;\n"
	"END:\n"
	"	ret;\n}\n");

/* Fields of a parameter as they might be, and as they cannot be. */
static const struct region_launch parameters[] = {
	{.heads = REGION_QUEUE, .slots = 4 * REGION_PIECE_MAX, .launch = 1, .last = 32 * REGION_PIECE_MAX},
	{.heads = UINT32_MAX, .slots = UINT32_MAX, .launch = UINT32_MAX, .last = UINT32_MAX, .queue = UINT32_MAX,
	 .magic = UINT32_MAX},
	{.heads = 0x12345678, .slots = 0x9abcdef0, .launch = 7, .last = 0x87654321, .queue = 0xfedcba98,
	 .magic = EVENT_MAGIC ^ 1},
	{.heads = 1, .slots = 1, .launch = 1, .last = REGION_OVER, .queue = 1, .magic = EVENT_MAGIC << 1},
	{0}
};

static uint32_t expected[OUT_WORDS];
static CUdeviceptr spare;               /* where a parameter says that its region is */

static void load_probes(const char *unit)
{
	struct probe_sites sites;
	char *probes = probe_module("unwatched", text, (struct probe_what){.unit = unit}, &sites, NULL, NULL);
	size_t bytes, warps;
	CUdeviceptr lanes, table;
	int multiprocessors;

	assert_non_null(probes);
	assert_int_equal(sites.left_out, 0);
	load(probes);
	ok(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	ok(cuModuleGetGlobal(&lanes, &bytes, module, PROBE_LANES));
	warps = (size_t)multiprocessors * REGION_WARPS;
	ok(cuMemAlloc(&table, warps * EVENT_LANES * sizeof(struct region_lane)));
	ok(cuMemcpyHtoD(lanes, &table, sizeof table));
	ok(cuMemAlloc(&spare, UNITS * sizeof(struct event_unit)));
	probe_sites_free(&sites);
	free(probes);
}

static void launch(struct region_launch parameter)
{
	void *args[] = {&out_ptr, &parameter};
	CUfunction f;

	ok(cuModuleGetFunction(&f, module, "k"));
	ok(cuLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL));
	ok(cuCtxSynchronize());
}

/* How many units of where a parameter says that its region is are not as they were. */
static unsigned stored(void)
{
	static struct event_unit units[UNITS], as_it_was;
	unsigned n = 0;

	memset(&as_it_was, 0x55, sizeof as_it_was);
	ok(cuMemcpyDtoH(units, spare, sizeof units));
	for (unsigned i = 0; i < UNITS; i++)
		n += memcmp(&units[i], &as_it_was, sizeof as_it_was) != 0;
	return n;
}

static struct region_head sink_head(void)
{
	struct region_head head;
	CUdeviceptr sink;
	size_t bytes;

	ok(cuModuleGetGlobal(&sink, &bytes, module, PROBE_SINK));
	assert_int_equal(bytes, REGION_SINK * sizeof(struct event_unit));
	ok(cuMemcpyDtoH(&head, sink, sizeof head));
	return head;
}

static void is_unwatched(const char *unit)
{
	for (unsigned i = 0; i < sizeof parameters / sizeof *parameters; i++) {
		struct region_launch parameter = parameters[i];

		load_probes(unit);
		parameter.region = parameter.heads ? spare : 0;
		ok(cuMemsetD8(spare, 0x55, UNITS * sizeof(struct event_unit)));
		launch(parameter);
		assert_memory_equal(out, expected, sizeof expected);
		assert_int_equal(stored(), 0);
		assert_true(sink_head().lost > BLOCKS * THREADS / EVENT_LANES);
	}
}

static void alone(void **unused) { (void)unused; is_unwatched(NULL); }
static void linked(void **unused) { (void)unused; is_unwatched("unit"); }

/* What is looked for can be seen. */
static void watched(void **unused)
{
	struct region_launch parameter = parameters[0];
	struct region_head head = {.next = 8 * REGION_PIECE_MAX, .last = parameter.last, .cut = 1, .since = UINT64_MAX};

	(void)unused;
	load_probes(NULL);
	parameter.region = spare;
	parameter.magic = EVENT_MAGIC;
	ok(cuMemsetD8(spare, 0x55, UNITS * sizeof(struct event_unit)));
	ok(cuMemcpyHtoD(spare, &head, sizeof head));
	ok(cuMemcpyHtoD(spare + REGION_LAUNCH, &parameter, sizeof parameter));
	launch(parameter);
	assert_memory_equal(out, expected, sizeof expected);
	assert_true(stored() > 1000);
	assert_int_equal(sink_head().lost, 0);
}

static int without_probes(void **unused)
{
	(void)unused;
	load(text);
	ok(run(BLOCKS, THREADS, 0));
	memcpy(expected, out, sizeof expected);
	assert_int_equal(out[1], BLOCKS * ((THREADS + EVENT_LANES - 1) / EVENT_LANES));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(alone), cmocka_unit_test(linked), cmocka_unit_test(watched)};

	return cmocka_run_group_tests(tests, without_probes, NULL);
}
