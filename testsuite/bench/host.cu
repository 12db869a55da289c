// SPDX-License-Identifier: Apache-2.0
//
// What the host's calls cost, in microseconds each: N empty launches, issued and until they are over; N of cudaMallocAsync with
// cudaFreeAsync, a launch between them or not; N of cudaMalloc with cudaFree; N small copies.
//   host [N]
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void empty(int *)
{
}

__global__ void store(int *a)
{
	a[threadIdx.x] = threadIdx.x;
}

static double now()
{
	return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void say(const char *what, double from, int n)
{
	printf("%-28s%10.2f\n", what, (now() - from) / n);
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 100000;
	cudaStream_t s;
	int *a, *b, host[64];
	double from;

	if (cudaStreamCreate(&s) || cudaMalloc(&a, 1 << 20))
		return 1;
	for (int warm = 0; warm < 2; warm++) {
		const int k = warm ? n : 1000;

		from = now();
		for (int i = 0; i < k; i++)
			empty<<<1, 64, 0, s>>>(a);
		if (warm)
			say("empty launch, issued", from, k);
		cudaStreamSynchronize(s);
		if (warm)
			say("empty launch, over", from, k);
		from = now();
		for (int i = 0; i < k; i++) {
			cudaMallocAsync(&b, 1 << 16, s);
			cudaFreeAsync(b, s);
		}
		if (warm)
			say("malloc and free, async", from, k);
		cudaStreamSynchronize(s);
		from = now();
		for (int i = 0; i < k / 10; i++) {
			cudaMallocAsync(&b, 1 << 16, s);
			store<<<1, 64, 0, s>>>(b);
			cudaFreeAsync(b, s);
		}
		cudaStreamSynchronize(s);
		if (warm)
			say("the same around a launch", from, k / 10);
		from = now();
		for (int i = 0; i < k / 10; i++) {
			cudaMalloc(&b, 1 << 22);
			cudaFree(b);
		}
		if (warm)
			say("malloc and free", from, k / 10);
		from = now();
		for (int i = 0; i < k / 10; i++)
			cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, s);
		cudaStreamSynchronize(s);
		if (warm)
			say("small copy", from, k / 10);
	}
	return cudaGetLastError() != cudaSuccess;
}
