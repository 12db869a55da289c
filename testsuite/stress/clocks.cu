/* SPDX-License-Identifier: Apache-2.0 */
/* clocks.cu: may a log order events by clocks (doc/hardware.md)?  A writer reads a clock and releases a number; a reader
 * acquires once, uses what it got, and reads the clock: where it has seen a number, its clock may not be earlier than the
 * writer's.  A line for each form and place: numbers seen, inversions, least distance, of 32-bit clocks of one multiprocessor
 * (cycles) or timers (ns).  Status 1 if there is an inversion where none may be.  `clocks [NUMBERS]`: of each form. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { \
	cudaError_t e_ = (x); \
	if (e_ != cudaSuccess) { \
		fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_)); \
		exit(2); \
	} \
} while (0)

enum form { LD_ACQUIRE, LD_FENCE, ATOM, ATOM_FENCE, TEST_WAIT, TRY_WAIT, BAR_RED, BAR_SYNC, CLUSTER_WAIT };
enum place { SAME, PEER, FAR };         /* the reader's block: the writer's, another of its cluster, another */

/* What they log: the writer its clock by number; the reader what it saw, and when. */
struct log { uint32_t *word, *written, *seen, *when, *count, numbers; };

template <bool TIMER>
static __device__ uint32_t now()
{
	uint32_t t;

	if (TIMER)
		asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(t) :: "memory");
	else
		asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory");
	return t;
}

/* As a probe reads it: behind a predicate that uses the value. */
template <bool TIMER>
static __device__ uint32_t now_behind(uint32_t v)
{
	uint32_t t;

	if (TIMER)
		asm volatile("{.reg .pred p; .reg .b32 c; setp.eq.u32 p, %1, 0x5a5a5a5a; @p mov.u32 c, %%clock; @!p mov.u32 c, %%clock;"
			     " mov.u32 %0, %%globaltimer_lo;}" : "=r"(t) : "r"(v) : "memory");
	else
		asm volatile("{.reg .pred p; setp.eq.u32 p, %1, 0x5a5a5a5a; @p mov.u32 %0, %%clock; @!p mov.u32 %0, %%clock;}"
			     : "=r"(t) : "r"(v) : "memory");
	return t;
}

static __device__ void put(struct log l, uint32_t number, uint32_t when)
{
	uint32_t at = (*l.count)++;

	l.seen[at] = number;
	l.when[at] = when;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

template <form F>
static __device__ uint32_t acquire(uint32_t *p)
{
	uint32_t v;

	if (F == LD_ACQUIRE)
		asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	else if (F == LD_FENCE)
		asm volatile("ld.relaxed.gpu.u32 %0, [%1]; fence.acq_rel.gpu;" : "=r"(v) : "l"(p) : "memory");
	else if (F == ATOM)
		asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 0;" : "=r"(v) : "l"(p) : "memory");
	else
		asm volatile("atom.relaxed.gpu.add.u32 %0, [%1], 0; fence.acq_rel.gpu;" : "=r"(v) : "l"(p) : "memory");
	return v;
}

template <form F, bool TIMER>
static __device__ void words(uint32_t *p, struct log l, bool writes)
{
	for (uint32_t i = 1; writes && i < l.numbers; i++) {
		l.written[i] = now<TIMER>();
		asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(p), "r"(i) : "memory");
		for (unsigned k = 0; k < (i & 15); k++)
			now<TIMER>();
	}
	for (uint32_t was = 0; !writes && was + 1 < l.numbers;) {
		uint32_t v = acquire<F>(p), t = now_behind<TIMER>(v);

		if (v != was)
			put(l, v, t);
		was = v;
	}
}

/* ---- mbarriers: the reader answers by a word, so that a phase is over for one reason ---------------------------- */

static __device__ uint32_t to_shared(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

template <form F>
static __device__ bool is_over(uint32_t bar, uint32_t parity)
{
	uint32_t over;

	if (F == TEST_WAIT)
		asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
			     : "=r"(over) : "r"(bar), "r"(parity) : "memory");
	else
		asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
			     : "=r"(over) : "r"(bar), "r"(parity) : "memory");
	return over;
}

/* bar: of the reader's block, as the writer or the reader names it. */
template <form F, bool TIMER>
static __device__ void phases(uint32_t bar, struct log l, bool writes)
{
	volatile uint32_t *answer = l.word;

	for (uint32_t i = 1; i < l.numbers; i++) {
		if (writes) {
			l.written[i] = now<TIMER>();
			asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(bar) : "memory");
			while (*answer != i)
				;
			continue;
		}
		for (uint32_t over = 0; !over;) {
			over = is_over<F>(bar, ~i & 1);
			uint32_t t = now_behind<TIMER>(over);
			if (over)
				put(l, i, t);
		}
		*answer = i;
	}
}

/* ---- barriers ------------------------------------------------------------------------------------------------------ */

template <form F, bool TIMER>
static __device__ void barriers(struct log l, bool writes, bool reads)
{
	for (uint32_t i = 1; i < l.numbers; i++) {
		uint32_t before = now<TIMER>(), after, some = 0;

		if (writes)
			l.written[i] = before;
		if (F == CLUSTER_WAIT)
			asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
		else if (F == BAR_RED)
			asm volatile("{.reg .pred p, q; setp.eq.u32 p, %1, 7; barrier.cta.red.popc.aligned.u32 %0, 0, p;}" : "=r"(some) : "r"(i) : "memory");
		else
			asm volatile("barrier.cta.sync.aligned 0;" ::: "memory");
		after = F == BAR_RED ? now_behind<TIMER>(some) : now<TIMER>();
		if (reads)
			put(l, i, after);
	}
}

/* ---- all -------------------------------------------------------------------------------------------------------------- */

template <form F, place P>
__global__ void meet(struct log l)
{
	__shared__ uint32_t word;
	__shared__ __align__(8) uint64_t bar;
	uint32_t blocks = P == SAME ? 1 : gridDim.x, mine = to_shared(&bar);
	bool lane = threadIdx.x % 32 == 0, writes = lane && blockIdx.x == 0 && threadIdx.x == 0;
	bool reads = lane && blockIdx.x == blocks - 1 && threadIdx.x == blockDim.x - 32;

	if (threadIdx.x == 0) {
		word = 0;
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(mine) : "memory");
	}
	asm volatile("fence.mbarrier_init.release.cluster; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
	if (P == PEER)
		asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mine) : "r"(to_shared(&bar)), "r"(blocks - 1));
	if (F >= BAR_RED)
		barriers<F, P != SAME>(l, writes, reads);
	else if (F >= TEST_WAIT && (writes || reads))
		phases<F, P != SAME>(writes ? mine : to_shared(&bar), l, writes);
	else if (F < TEST_WAIT && (writes || reads))
		words<F, P != SAME>(P == SAME ? &word : l.word, l, writes);
	asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

static uint32_t numbers = 200000;
static bool wrong;

static struct log make_log(void)
{
	struct log l = {NULL, NULL, NULL, NULL, NULL, numbers};
	uint32_t **const arrays[] = {&l.word, &l.written, &l.seen, &l.when, &l.count};

	for (uint32_t **p : arrays) {
		CHECK(cudaMalloc((void **)p, (numbers + 1) * sizeof **p));
		CHECK(cudaMemset(*p, 0, (numbers + 1) * sizeof **p));
	}
	return l;
}

static std::vector<uint32_t> fetch(const uint32_t *p, size_t n)
{
	std::vector<uint32_t> v(n);

	CHECK(cudaMemcpy(v.data(), p, n * sizeof *p, cudaMemcpyDeviceToHost));
	return v;
}

/* trusted: the detector takes it that there is no inversion. */
template <form F, place P>
static void measure(const char *name, unsigned blocks, bool trusted)
{
	static const char *const places[] = {"one block", "a cluster", "two blocks"};
	struct log l = make_log();
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute at[1];
	uint32_t n, inversions = 0;
	int32_t least = INT32_MAX;

	config.gridDim = blocks;
	config.blockDim = 1024;
	at[0].id = cudaLaunchAttributeClusterDimension;
	at[0].val.clusterDim = {P == PEER ? blocks : 1, 1, 1};
	config.attrs = at;
	config.numAttrs = 1;
	CHECK(cudaFuncSetAttribute((const void *)meet<F, P>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
	CHECK(cudaLaunchKernelEx(&config, meet<F, P>, l));
	CHECK(cudaDeviceSynchronize());
	n = fetch(l.count, 1)[0];
	std::vector<uint32_t> written = fetch(l.written, numbers + 1), seen = fetch(l.seen, n), when = fetch(l.when, n);
	for (uint32_t i = 0; i < n; i++) {
		int32_t distance = (int32_t)(when[i] - written[seen[i]]);

		inversions += distance < 0;
		least = std::min(least, distance);
	}
	printf("| %s | %s of %u | %s | %u | %u | %d |%s\n", name, places[P], blocks, P == SAME ? "clock" : "timer", n, inversions, least,
	       inversions && trusted ? " WRONG" : trusted ? "" : " not relied on");
	fflush(stdout);
	wrong |= trusted && (inversions || n == 0);
	for (uint32_t *p : {l.word, l.written, l.seen, l.when, l.count})
		CHECK(cudaFree(p));
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = {2, 4, 8, 16};

	if (argc > 1)
		numbers = (uint32_t)atoi(argv[1]);
	printf("| form | where | by | seen | inverted | least |\n|---|---|---|---|---|---|\n");
	measure<LD_ACQUIRE, SAME>("ld.acquire", 1, true);
	measure<LD_FENCE, SAME>("ld.relaxed, fence", 1, true);
	measure<ATOM, SAME>("atom.acq_rel", 1, true);
	measure<ATOM_FENCE, SAME>("atom.relaxed, fence", 1, true);
	measure<LD_ACQUIRE, FAR>("ld.acquire", 2, true);
	measure<LD_FENCE, FAR>("ld.relaxed, fence", 2, true);
	measure<ATOM, FAR>("atom.acq_rel", 2, true);
	measure<ATOM_FENCE, FAR>("atom.relaxed, fence", 2, true);
	measure<TEST_WAIT, SAME>("mbarrier.test_wait", 1, true);
	measure<TRY_WAIT, SAME>("mbarrier.try_wait", 1, true);
	measure<BAR_RED, SAME>("bar.red", 1, true);
	measure<BAR_SYNC, SAME>("bar.sync", 1, false);
	for (unsigned blocks : sizes) {
		measure<TEST_WAIT, PEER>("mbarrier.test_wait, remote arrive", blocks, true);
		measure<TRY_WAIT, PEER>("mbarrier.try_wait, remote arrive", blocks, true);
		measure<CLUSTER_WAIT, PEER>("barrier.cluster.wait", blocks, true);
	}
	return wrong;
}
