/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: initialised with numbers, addresses, strings and tables; constant,
 * managed, aligned, in functions, in templates; kept and taken by address. */
// archs: 75 80 90a 100a 120a
// quick: 75/rdc 100a/G
// contents: 1 16 addresses
#include <cuda_runtime.h>

__device__ int counter = 5, zeroed[100];
__device__ volatile unsigned flag;
__device__ float table[] = { 1.5f, -0.0f, 3e38f, 1e-40f };
__device__ double wide = 2.5;
__device__ long long big = -0x123456789abcdefll;
__device__ int *into = &zeroed[10];
__device__ int **twice = &into;
__device__ const char text[] = "text with \\ and \" and \n and \x01";
__device__ const char *messages[] = { "first", "", "third" };
__device__ __align__(256) unsigned char buffer[1024];
__device__ struct { char c; short s; int *p; float f[3]; bool b; } record = { 'x', -2, &counter, { 1, 2, 3 }, true };
__constant__ int primes[] = { 2, 3, 5, 7, 11 };
__constant__ float4 vectors[2] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } };
__constant__ int *constant_pointer = &counter;
__managed__ int managed = 3;
__managed__ float managed_array[32];
static __device__ int hidden = 9;

template <int N>
struct holder {
	static __device__ int *get()
	{
		static int value[N];

		return value;
	}
};

__device__ int kept(int n)
{
	static int calls;
	static const int steps[] = { 1, 10, 100 };

	return atomicAdd(&calls, steps[n % 3]);
}

namespace inner {
__device__ int counter = 1;
static inline __device__ int shared_by_name = 4;
}

__global__ void touch(int *out, int n)
{
	int t = threadIdx.x;

	counter += primes[n % 5];
	zeroed[t % 100] = counter;
	flag = t;
	table[n % 4] *= 2;
	wide += vectors[n % 2].y;
	big ^= t;
	(*twice)[t % 8] = into[1];
	*constant_pointer = 1;
	buffer[t] = text[n % 5];
	out[t] = messages[n % 3][0] + *record.p + record.f[n % 3] + record.s;
	record.b = false;
	managed += 1;
	managed_array[t % 32] += kept(n);
	holder<3>::get()[n % 3]++;
	holder<7>::get()[n % 7]++;
	inner::counter += inner::shared_by_name + hidden;
	__threadfence_system();
	while (flag == 77)
		;
}

__global__ void addresses(void **out)
{
	out[0] = &counter;
	out[1] = (void *)&primes[1];
	out[2] = &buffer[17];
	out[3] = (void *)text;
	out[4] = &managed;
	out[5] = (void *)&record.f[2];
}
