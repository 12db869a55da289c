// SPDX-License-Identifier: Apache-2.0
//
// A value is handed on by a volatile flag, with no fence before it is set.
// race: data-race
#include "check.h"

__device__ volatile int ready;
__device__ int value, got;

__global__ void hand_on()
{
	if (blockIdx.x == 0) {
		value = 42;             // first
		ready = 1;
	} else {
		while (!ready)
			;
		__threadfence();
		got = value;            // second
	}
}

int main()
{
	hand_on<<<2, 1>>>();
	CHECK(cudaDeviceSynchronize());
	return 0;
}
