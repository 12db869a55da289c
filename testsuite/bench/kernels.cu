/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels whose cost is measured: `kernels NAME` runs one and prints
 *	NAME MILLISECONDS MIB_OF_DATA MIB_IN_USE
 * the time of one launch (the best of several; BENCH_ONCE=1: of the only one,
 * for tools that make it take minutes), the memory that the program asked for,
 * and what is in use on the device, the tool's own memory with it.  Results are
 * verified: a tool that breaks the program shows as status 1. */
#include <cstring>
#include <vector>

#include "measure.h"

template <class T>
static T *device(size_t n, int word)
{
	std::vector<T> h(n);
	T *p;

	for (size_t i = 0; i < n; i++)
		h[i] = (T)((i * word) % 13);
	asked += n * sizeof(T);
	CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
	CHECK(cudaMemcpy(p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
	return p;
}

template <class T>
static T at(const T *p, size_t i)
{
	T v;

	CHECK(cudaMemcpy(&v, p + i, sizeof v, cudaMemcpyDeviceToHost));
	return v;
}

__global__ void triad(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + 3.0f * b[i];
}

__global__ void stencil(const float *a, float *b, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
		b[y * w + x] = 0.2f * (a[y * w + x] + a[y * w + x - 1] + a[y * w + x + 1] +
		    a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}

template <int TILE>
__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum = 0;

	for (int k = 0; k < n; k += TILE) {
		ta[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
		tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
		__syncthreads();
	}
	c[y * n + x] = sum;
}

__global__ void reduce(const int *in, int *out, int n)
{
	__shared__ int room[256];
	int v = 0;

	for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(n, (int)(blockIdx.x + 1) * 1024); i += 256)
		v += in[i];
	room[threadIdx.x] = v;
	__syncthreads();
	for (int s = 128; s > 0; s >>= 1) {
		if (threadIdx.x < s)
			room[threadIdx.x] += room[threadIdx.x + s];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		out[blockIdx.x] = room[0];
}

__global__ void transpose(const float *in, float *out, int n)
{
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

	for (int j = 0; j < 32; j += 8)
		tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (int j = 0; j < 32; j += 8)
		out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void histogram(const int *in, int *bins, int n)
{
	__shared__ int mine[256];

	mine[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * 4096 + threadIdx.x; i < min(n, (int)(blockIdx.x + 1) * 4096); i += 256)
		atomicAdd(&mine[(in[i] * 2654435761u) >> 24], 1);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

static bool near(float a, float b)
{
	return a - b < 1e-3f && b - a < 1e-3f;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	bool right = false;
	float ms;

	if (!strcmp(name, "triad") || !strcmp(name, "triad64M")) {
		int n = name[5] ? 64 << 20 : 4 << 20;
		float *a = device<float>(n, 3), *b = device<float>(n, 5), *c = device<float>(n, 0);

		ms = time_of(true, [=] { triad<<<(n + 255) / 256, 256>>>(a, b, c, n); });
		right = at(c, n - 1) == at(a, n - 1) + 3 * at(b, n - 1);
	} else if (!strcmp(name, "stencil")) {
		int w = 4096, h = 2048;
		float *a = device<float>(w * h, 3), *b = device<float>(w * h, 0);

		ms = time_of(true, [=] { stencil<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(a, b, w, h); });
		int i = 5 * w + 7;
		right = near(at(b, i), 0.2f * (at(a, i) + at(a, i - 1) + at(a, i + 1) +
		    at(a, i - w) + at(a, i + w)));
	} else if (!strcmp(name, "matmul1024") || !strcmp(name, "matmul512")) {
		int n = atoi(name + 6);
		float *a = device<float>(n * n, 3), *b = device<float>(n * n, 5), *c = device<float>(n * n, 0);

		if (n == 1024)
			ms = time_of(true, [=] { matmul<32><<<dim3(32, 32), dim3(32, 32)>>>(a, b, c, n); });
		else
			ms = time_of(true, [=] { matmul<16><<<dim3(32, 32), dim3(16, 16)>>>(a, b, c, n); });
		float want = 0;
		for (int k = 0; k < n; k++)
			want += (float)((size_t)(3 * n + k) * 3 % 13) * (float)((size_t)(k * n + 9) * 5 % 13);
		right = at(c, 3 * n + 9) == want;
	} else if (!strcmp(name, "reduction")) {
		int n = 4 << 20;
		int *a = device<int>(n, 3), *b = device<int>(n / 1024, 0), want = 0;

		ms = time_of(true, [=] { reduce<<<n / 1024, 256>>>(a, b, n); });
		for (int i = 1024; i < 2048; i++)
			want += i * 3 % 13;
		right = at(b, 1) == want;
	} else if (!strcmp(name, "transpose")) {
		int n = 1024;
		float *a = device<float>(n * n, 3), *b = device<float>(n * n, 0);

		ms = time_of(true, [=] { transpose<<<dim3(32, 32), dim3(32, 8)>>>(a, b, n); });
		right = at(b, 77 * n + 5) == at(a, 5 * n + 77);
	} else if (!strcmp(name, "histogram")) {
		int n = 4 << 20;
		int *a = device<int>(n, 3), *b = device<int>(256, 0), launches = 0;
		long total = 0;

		ms = time_of(true, [=, &launches] { launches++; histogram<<<n / 4096, 256>>>(a, b, n); });
		for (int i = 0; i < 256; i++)
			total += at(b, i);
		right = total == (long)n * launches;
	} else {
		fprintf(stderr, "usage: kernels triad|triad64M|stencil|matmul1024|matmul512|reduction|transpose|histogram\n");
		return 2;
	}
	return measured(name, ms, right);
}
