/* SPDX-License-Identifier: Apache-2.0 */
/* A right program: a scan in one pass.  Each block publishes its sum, then its
 * prefix, and looks back over the blocks before it until it meets a prefix. */
#include <cuda/atomic>

#include "common.h"

const int THREADS = 256, ITEMS = 8, PART = THREADS * ITEMS;
enum : unsigned { EMPTY, SUM, PREFIX };
using state_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__global__ void scan(const unsigned *in, unsigned *out, unsigned *ticket,
    unsigned *state, unsigned *sums, unsigned *prefixes)
{
	__shared__ unsigned room[THREADS], part, before;
	int t = threadIdx.x;

	if (t == 0)
		part = atomicAdd(ticket, 1u);	/* parts start in order, so looking back ends */
	__syncthreads();
	unsigned p = part, v[ITEMS], mine = 0;
	for (int i = 0; i < ITEMS; i++)
		v[i] = mine += in[p * PART + t * ITEMS + i];
	room[t] = mine;
	__syncthreads();
	for (int d = 1; d < THREADS; d *= 2) {
		unsigned u = t >= d ? room[t - d] : 0;
		__syncthreads();
		room[t] += u;
		__syncthreads();
	}
	if (t == 0) {
		unsigned total = room[THREADS - 1], sum = 0;

		if (p > 0) {
			sums[p] = total;
			state_ref(state[p]).store(SUM, cuda::memory_order_release);
			for (unsigned q = p - 1;; q--) {
				unsigned s;
				while ((s = state_ref(state[q]).load(cuda::memory_order_acquire)) == EMPTY)
					;
				if (s == PREFIX) {
					sum += prefixes[q];
					break;
				}
				sum += sums[q];
			}
		}
		prefixes[p] = sum + total;
		state_ref(state[p]).store(PREFIX, cuda::memory_order_release);
		before = sum;
	}
	__syncthreads();
	unsigned start = before + (t ? room[t - 1] : 0);
	for (int i = 0; i < ITEMS; i++)
		out[p * PART + t * ITEMS + i] = start + v[i];
}

int main()
{
	const int parts = 2000, n = parts * PART;
	std::vector<unsigned> in(n), want(n);
	uint32_t seed = 3;
	unsigned sum = 0;

	for (int i = 0; i < n; i++)
		want[i] = sum += in[i] = next_random(seed);
	unsigned *a = device(in), *b = device<unsigned>(n), *ticket = device<unsigned>(1);
	unsigned *state = device<unsigned>(parts), *sums = device<unsigned>(parts);
	unsigned *prefixes = device<unsigned>(parts);
	scan<<<parts, THREADS>>>(a, b, ticket, state, sums, prefixes);
	std::vector<unsigned> got = host(b, n);
	return verdict("scan", got == want, digest(got.data(), n * sizeof(unsigned)));
}
