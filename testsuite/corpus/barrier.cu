/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::barrier, cuda::latch and cuda::counting_semaphore at every scope: split
 * arrive and wait, arrive_and_drop, completion functions, waiting by parity. */
// archs: 75 80 90a 100a 120a
// flags: -diag-suppress 20054
// quick: 75/plain 120a/G
// contents: 3 16 across_blocks
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
using device_barrier = cuda::barrier<cuda::thread_scope_device>;

struct swap_halves {
	float **from, **to;
	__device__ void operator()() noexcept
	{
		float *t = *from;
		*from = *to;
		*to = t;
	}
};

__global__ void split_phase(float *data, int rounds)
{
	__shared__ block_barrier ready, filled;
	__shared__ float tile[256];

	if (threadIdx.x == 0) {
		init(&ready, blockDim.x);
		init(&filled, blockDim.x);
	}
	__syncthreads();
	float sum = 0;
	for (int r = 0; r < rounds; r++) {
		auto token = ready.arrive();
		float next = data[(r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
		ready.wait(cuda::std::move(token));
		tile[threadIdx.x] = next;
		filled.arrive_and_wait();
		for (int i = 0; i < 4; i++)
			sum += tile[(threadIdx.x + i * 31) % blockDim.x];
	}
	data[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void completion(float *a, float *b, int n)
{
	__shared__ float *from, *to;
	using barrier = cuda::barrier<cuda::thread_scope_block, swap_halves>;
	__shared__ alignas(barrier) unsigned char room[sizeof(barrier)];
	barrier *bar = reinterpret_cast<barrier *>(room);

	if (threadIdx.x == 0) {
		from = a;
		to = b;
		new (bar) barrier(blockDim.x, swap_halves{ &from, &to });
	}
	__syncthreads();
	for (int i = 0; i < n; i++) {
		to[threadIdx.x] = from[(threadIdx.x + 1) % blockDim.x] * 0.5f;
		bar->arrive_and_wait();
	}
}

__global__ void leaving(int *out)
{
	__shared__ block_barrier bar;

	if (threadIdx.x == 0)
		init(&bar, blockDim.x);
	__syncthreads();
	if (threadIdx.x % 2) {
		bar.arrive_and_drop();
		return;
	}
	bar.arrive_and_wait();
	bool phase = true;
	bar.wait_parity(!phase);
	out[threadIdx.x] = 1;
}

__global__ void across_blocks(device_barrier *bar, cuda::latch<cuda::thread_scope_device> *start,
    cuda::counting_semaphore<cuda::thread_scope_device, 4> *slots, int *data)
{
	start->arrive_and_wait();
	slots->acquire();
	data[blockIdx.x] += 1;
	slots->release();
	bar->wait(bar->arrive(1));
	data[blockIdx.x + gridDim.x] = data[(blockIdx.x + 1) % gridDim.x];
}
