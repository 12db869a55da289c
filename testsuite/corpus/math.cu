/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic in all widths: libdevice's long functions with their tables in
 * local memory, 128-bit integers, carries, bit fiddling, dot products. */
// archs: 75 80 90a 100a 120a
// quick: 80/plain 90a/lineinfo
// contents: 3
#include <cmath>
#include <cuda_runtime.h>

template <class T>
__device__ T functions(T x, T y)
{
	T r = sin(x) + cos(y) * tan(x);

	r += exp(x) + log(fabs(y)) + pow(fabs(x), y);
	r += sqrt(fabs(x)) + rsqrt(fabs(y)) + cbrt(x) + hypot(x, y);
	r += erf(x) + tgamma(y) + lgamma(fabs(x)) + j0(x);
	r += floor(x) + ceil(y) + trunc(x) + round(y) + fmod(x, y) + remainder(x, y);
	r += x / y + fma(x, y, r) + copysign(x, y) + ldexp(x, 3) + atan2(x, y);
	return isnan(r) || isinf(r) ? T(0) : r;
}

__global__ void reals(float *f, double *d)
{
	f[threadIdx.x] = functions(f[threadIdx.x], f[threadIdx.x + 1]) + __sinf(f[0]) + __fdividef(f[1], f[2]) + __expf(f[3]);
	d[threadIdx.x] = functions(d[threadIdx.x], d[threadIdx.x + 1]) + __dadd_ru(d[0], d[1]) + __ddiv_rz(d[2], d[3]);
}

__global__ void integers(unsigned *u, unsigned long long *l, int n)
{
	unsigned a = u[threadIdx.x], b = u[threadIdx.x + 1];
	unsigned long long c = l[threadIdx.x];
	__int128 w = (__int128)c * (long long)a;
	unsigned __int128 q = ((unsigned __int128)c << 64 | a) / (b | 1);

	u[threadIdx.x] = __clz(a) + __popc(b) + __ffs(a) + __brev(b) + __byte_perm(a, b, 0x5410) +
	    __funnelshift_l(a, b, n) + __umulhi(a, b) + __sad(a, b, 3) + __vsadu4(a, b) +
	    __dp4a(a, b, 7u) + __vaddss2(a, b) + a / b + a % (b + 3) + __mul24(a, b);
	l[threadIdx.x] = (unsigned long long)(w >> 64) + (unsigned long long)q + __umul64hi(c, a) +
	    __clzll(c) + __brevll(c) + c / (a + 1) + (c >> n) + __double2ull_rn(__ull2double_rz(c));
	u[threadIdx.x + 2] = __float2uint_rz(__uint2float_rn(a)) + __float_as_uint(__int_as_float(b)) +
	    __double2hiint(__hiloint2double(a, b));
}

__global__ void local_arrays(int *p, int n)
{
	int hist[64] = { };
	unsigned char order[128];

	for (int i = 0; i < n; i++)
		hist[p[i] & 63]++;
	for (int i = 0; i < 128; i++)
		order[i] = hist[i % 64] + i;
	for (int i = 1; i < 128; i++)
		for (int j = i; j > 0 && order[j - 1] > order[j]; j--) {
			unsigned char t = order[j];
			order[j] = order[j - 1];
			order[j - 1] = t;
		}
	p[threadIdx.x] = order[p[0] & 127];
}
