/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the GPU programs share: errors end them with status 2, wrong results
 * with 1, and each prints one line that the same program built by plain nvcc
 * must print as well.
 */
#ifndef GPU_COMMON_H
#define GPU_COMMON_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) check((call), #call, __LINE__)

static inline void check(cudaError_t e, const char *what, int line)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(e));
	exit(2);
}

/* FNV-1a over the result: one number to hold two runs together by. */
static inline uint64_t digest(const void *p, size_t n)
{
	const unsigned char *b = (const unsigned char *)p;
	uint64_t h = 14695981039346656037ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 1099511628211ull;
	return h;
}

static inline uint32_t next_random(uint32_t &s)
{
	s ^= s << 13;
	s ^= s >> 17;
	s ^= s << 5;
	return s;
}

static inline int verdict(const char *name, bool right, uint64_t h)
{
	printf("%s: %s %016llx\n", name, right ? "right" : "WRONG", (unsigned long long)h);
	return right ? 0 : 1;
}

template <class T>
T *device(size_t n)
{
	T *p;

	CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
	CHECK(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

template <class T>
T *device(const std::vector<T> &v)
{
	T *p = device<T>(v.size());

	CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
	return p;
}

template <class T>
std::vector<T> host(const T *p, size_t n)
{
	std::vector<T> v(n);

	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
	return v;
}

#endif
