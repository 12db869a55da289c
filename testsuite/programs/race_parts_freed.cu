// SPDX-License-Identifier: Apache-2.0
//
// A part is given back in the stream that it was handed out for, while another one uses it.
// race: stream-race
// says: gsan_freed
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"
#include "../../rt/gsan.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;               // first
}

int main()
{
	cudaStream_t s, t;
	int *all;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&all, 8192));
	gsan_allocated(all, 4096, s);
	CHECK(cudaStreamSynchronize(s));
	fill<<<1, 64, 0, t>>>(all, 1);
	gsan_freed(all, s);                             // second
	CHECK(cudaDeviceSynchronize());
	return 0;
}
