/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::atomic_ref, cuda::atomic and the atomic* functions: every order, every
 * scope, the types that have instructions and those that loop. */
// archs: 75 80 90a 100a 120a
// quick: 75/rdc 100a/lineinfo
// contents: 2 16 integers floats
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <cuda::thread_scope S, class T>
__device__ T all_orders(T *p, T v)
{
	cuda::atomic_ref<T, S> a(*p);
	T sum = a.load(cuda::memory_order_relaxed);

	sum += a.load(cuda::memory_order_acquire);
	sum += a.load(cuda::memory_order_seq_cst);
	a.store(v, cuda::memory_order_relaxed);
	a.store(v + sum, cuda::memory_order_release);
	a.store(v, cuda::memory_order_seq_cst);
	sum += a.exchange(v, cuda::memory_order_acq_rel);
	sum += a.fetch_add(v, cuda::memory_order_acquire);
	sum += a.fetch_sub(v, cuda::memory_order_release);
	T want = v;
	while (!a.compare_exchange_weak(want, sum, cuda::memory_order_acq_rel,
	    cuda::memory_order_relaxed))
		want += 1;
	a.compare_exchange_strong(want, v, cuda::memory_order_seq_cst);
	return sum;
}

template <class T>
__device__ T bits(T *p, T v)
{
	cuda::atomic_ref<T, cuda::thread_scope_device> a(*p);

	return a.fetch_and(v) ^ a.fetch_or(v, cuda::memory_order_relaxed) ^
	    a.fetch_xor(v, cuda::memory_order_release) ^ a.fetch_max(v) ^ a.fetch_min(v);
}

__global__ void integers(int *i, unsigned *u, long long *l, unsigned long long *ul, short *s, char *c)
{
	int t = threadIdx.x;

	i[t] = all_orders<cuda::thread_scope_block>(i, t) + bits(i + 1, t);
	u[t] = all_orders<cuda::thread_scope_device>(u, 3u) + bits(u + 1, 7u);
	l[t] = all_orders<cuda::thread_scope_system>(l, 5ll) + bits(l + 1, 9ll);
	ul[t] = all_orders<cuda::thread_scope_device>(ul, 5ull);
	s[t] = all_orders<cuda::thread_scope_block>(s, (short)t);
	c[t] = all_orders<cuda::thread_scope_device>(c, (char)t);
}

__global__ void floats(float *f, double *d)
{
	f[threadIdx.x] = all_orders<cuda::thread_scope_device>(f, 1.5f);
	d[threadIdx.x] = all_orders<cuda::thread_scope_block>(d, 2.5);
	cuda::atomic_ref<float, cuda::thread_scope_device> m(f[1]);
	f[2] = m.fetch_max(3.0f) + m.fetch_min(1.0f);
}

struct pair { int a, b; };

__global__ void objects(cuda::atomic<int, cuda::thread_scope_system> *flag, pair *p, int *data)
{
	__shared__ cuda::atomic<unsigned, cuda::thread_scope_block> ticket;
	cuda::atomic_ref<pair, cuda::thread_scope_device> r(*p);

	if (threadIdx.x == 0)
		new (&ticket) cuda::atomic<unsigned, cuda::thread_scope_block>(0);
	__syncthreads();
	unsigned mine = ticket++;
	if (mine == blockDim.x - 1) {
		data[blockIdx.x] = 42;
		flag->store(1, cuda::std::memory_order_release);
		flag->notify_all();
	} else {
		flag->wait(0, cuda::std::memory_order_acquire);
		data[blockIdx.x + 1] = data[blockIdx.x];
	}
	pair q = r.load();
	q.a++;
	r.store(q);
	cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_block);
	cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
	cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_system);
}

__global__ void functions(int *i, unsigned *u, unsigned long long *ul, float *f, double *d,
    __half2 *h, unsigned short *us)
{
	__shared__ int s[4];

	s[threadIdx.x % 4] = 0;
	__syncthreads();
	atomicAdd(&s[0], 1);
	atomicAdd_block(&s[1], 1);
	atomicMax(&s[2], threadIdx.x);
	atomicCAS(&s[3], 0, 1);
	atomicAdd(i, s[0]);
	atomicSub(i + 1, 1);
	atomicExch(i + 2, 1);
	atomicMin_block(i + 3, 1);
	atomicMax_system(i + 4, 1);
	atomicInc(u, 100);
	atomicDec(u + 1, 100);
	atomicAnd(u + 2, 1);
	atomicOr_system(u + 3, 1);
	atomicXor_block(u + 4, 1);
	u[5] = atomicCAS_system(u + 6, 1u, 2u);
	ul[1] = atomicCAS(ul, 1ull, 2ull);
	atomicAdd(ul + 2, 1ull);
	atomicMax(ul + 3, 9ull);
	us[1] = atomicCAS(us, (unsigned short)1, (unsigned short)2);
	atomicAdd(f, 1.0f);
	f[2] = atomicAdd(f + 1, 1.0f);
	atomicAdd(d, 1.0);
	atomicAdd(h, __floats2half2_rn(1, 2));
#if __CUDA_ARCH__ >= 800
	atomicAdd(reinterpret_cast<__nv_bfloat162 *>(h) + 1, __floats2bfloat162_rn(1, 2));
#endif
#if __CUDA_ARCH__ >= 900
	float4 v = atomicAdd(reinterpret_cast<float4 *>(f) + 4, make_float4(1, 2, 3, 4));
	f[3] = v.x + v.w;
#endif
	__threadfence_block();
	__threadfence();
	__threadfence_system();
}
