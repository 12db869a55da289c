/* SPDX-License-Identifier: Apache-2.0 */
/* What calls into the system: printf, assert, malloc and free, new and delete,
 * trap, clocks, sleeping, profiler counters. */
// archs: 75 80 90a 100a 120a
// quick: 75/G 90a/rdc
// contents: 3 16 once
#include <cassert>
#include <cstdio>

struct node {
	node *next;
	int value;
	__device__ node(node *n, int v) : next(n), value(v) {}
	__device__ ~node() { value = -1; }
};

__device__ const char *const names[] = { "zero", "one", "two" };

__global__ void talk(int n, double d, const char *s, long long l)
{
	printf("plain\n");
	printf("%d %f %s %lld %c %p %5.2e %%\n", n, d, s, l, 'x', (void *)s, d * 2);
	if (n < 3)
		printf("%s: %u\n", names[n], threadIdx.x);
	assert(n >= 0 && "n must not be negative");
	assert(d == d);
	if (l == 17)
		__trap();
	if (l == 18)
		__brkpt();
	__prof_trigger(3);
}

__global__ void lists(int n, int *out)
{
	node *head = nullptr;

	for (int i = 0; i < n; i++) {
		node *fresh = new node(head, i * threadIdx.x);
		if (!fresh)
			break;
		head = fresh;
	}
	int sum = 0;
	while (head) {
		node *next = head->next;
		sum += head->value;
		delete head;
		head = next;
	}
	char *raw = (char *)malloc(n * 3 + 1);
	if (raw) {
		memset(raw, threadIdx.x, n * 3);
		memcpy(raw + n, raw, n);
		sum += raw[n];
		free(raw);
	}
	out[threadIdx.x] = sum;
}

__global__ void time_passes(long long *out)
{
	long long start = clock64();

	__nanosleep(100);
	out[threadIdx.x] = clock64() - start + clock();
	if (threadIdx.x > 2000)
		__builtin_unreachable();
}

__global__ void once(int *ready, const int *data)
{
	__shared__ int total;

	if (threadIdx.x == 0) {
		while (atomicAdd(ready, 0) == 0)
			__nanosleep(20);
		__threadfence();
		total = data[blockIdx.x];
	}
	if (__syncthreads_or(total == 5))
		printf("five in block %d\n", blockIdx.x);
	int c = __syncthreads_count(total > 3);
	if (__syncthreads_and(c))
		assert(c <= blockDim.x);
}
