/* SPDX-License-Identifier: Apache-2.0 */
/* Small floats: arithmetic, comparisons, conversions and packed forms of
 * __half, __nv_bfloat16, fp8; their shuffles, cached loads and atomics. */
// archs: 75 80 90a 100a 120a
// quick: 75/plain 120a/rdc
// contents: 2
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <class T, class T2>
__device__ T2 arithmetic(T2 a, T2 b, T c)
{
	T2 r = __hadd2(a, __hmul2(b, b));

	r = __hfma2(r, a, b);
	r = __hsub2(r, __h2div(a, b));
	r = __hmax2(r, __hmin2(a, b));
	if (__hbgt2(a, b))
		r = __hneg2(r);
	r = __hadd2(r, h2sqrt(__habs2(a)));
	r.x = c + r.y * c;
	r.y = hexp(r.x) + hlog(c) + hsin(c);
	return r;
}

__global__ void halves(__half2 *p, __half *q, float *f)
{
	int t = threadIdx.x;
	__half2 v = __ldg(&p[t]);

	v = arithmetic(v, p[t + 1], q[t]);
	v = __shfl_xor_sync(~0u, v, 1);
	p[t] = v;
	f[t] = __low2float(v) + __half2float(__high2half(v));
	q[t] = __float2half_rn(f[t + 1]);
	q[t + 1] = __int2half_rz(t);
	f[t + 2] = __half2int_rd(q[t]) + __half2ll_rn(q[t]) + (float)__half_as_short(q[t]);
	atomicAdd(&q[3], q[4]);
	__stcg(&p[t + 7], __ldcs(&p[t + 9]));
	__stwt(&q[t + 9], __ldlu(&q[t]));
	__shared__ __half2 s[64];
	s[t % 64] = v;
	__syncthreads();
	p[t + 8] = s[63 - t % 64];
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__global__ void bfloats(__nv_bfloat162 *p, __nv_bfloat16 *q, float *f)
{
	int t = threadIdx.x;
	__nv_bfloat162 v = arithmetic(p[t], p[t + 1], q[t]);

	p[t] = __shfl_down_sync(~0u, v, 3);
	f[t] = __bfloat162float(q[t]);
	q[t] = __float2bfloat16_rz(f[t + 1]);
	p[t + 2] = __floats2bfloat162_rn(f[t], f[t + 1]);
	atomicAdd(&q[1], q[2]);
}
#endif

__global__ void eighths(__nv_fp8_e4m3 *a, __nv_fp8x4_e5m2 *b, float4 *f, __half *h)
{
	int t = threadIdx.x;

	f[t] = (float4)b[t];
	b[t + 1] = __nv_fp8x4_e5m2(f[t + 1]);
	a[t] = __nv_fp8_e4m3(f[t].x);
	h[t] = (__half)a[t + 1];
}
