/* SPDX-License-Identifier: Apache-2.0 */
/* The C++ library on the device: tuples, optionals, spans, mdspan, variants,
 * algorithms, functional objects and lambdas, with the long names they give. */
// archs: 75 80 90a 100a 120a
// quick: 75/lineinfo 100a/plain
// contents: 3
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

namespace cs = cuda::std;

template <class F, class... Ts>
__device__ auto for_all(F f, cs::tuple<Ts...> t)
{
	return cs::apply([&](auto... v) { return (f(v) + ...); }, t);
}

template <class... Ts>
__global__ void tuples(float *out, Ts... v)
{
	out[threadIdx.x] = for_all([out](auto x) { return out[(int)x] + x; }, cs::make_tuple(v...));
}
template __global__ void tuples(float *, int, float, double, short, unsigned long);

__global__ void views(float *p, int n, int m)
{
	cs::mdspan<float, cs::dextents<int, 2>> a(p, n, m);
	cs::mdspan<float, cs::extents<int, 4, cs::dynamic_extent>, cs::layout_left> b(p + n * m, m);
	cs::span<float> s(p, n * m);

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		for (int j = 0; j < m; j++)
			b(i % 4, j) += a(i, j);
	__syncthreads();
	for (float &x : s.subspan(threadIdx.x, 2))
		x *= 2;
}

__device__ cs::optional<int> find(cs::span<const int> s, int v)
{
	for (size_t i = 0; i < s.size(); i++)
		if (s[i] == v)
			return (int)i;
	return cs::nullopt;
}

__global__ void values(const int *in, int *out, cs::complex<double> *c)
{
	cs::array<int, 8> a = { };
	cs::variant<int, float, cs::array<short, 4>> v = 3;

	if (auto at = find({ in, 32 }, threadIdx.x))
		a[*at % 8] = 1;
	if (in[0] > 2)
		v = 2.5f;
	else if (in[0] < -2)
		v = cs::array<short, 4>{ 1, 2, 3, 4 };
	out[threadIdx.x] = cs::visit([](auto &x) {
		if constexpr (cs::is_arithmetic_v<cs::remove_reference_t<decltype(x)>>)
			return (int)x;
		else
			return (int)x[1];
	}, v) + a[in[1] % 8] + cs::popcount((unsigned)in[2]) + cs::bit_ceil((unsigned)in[3]);
	c[threadIdx.x] = c[threadIdx.x] * cs::polar(1.0, 0.5) / c[threadIdx.x + 1];
}

template <int N>
struct unrolled {
	template <class F>
	static __device__ void run(F f)
	{
		unrolled<N - 1>::run(f);
		f(cs::integral_constant<int, N>());
	}
};
template <>
struct unrolled<0> {
	template <class F>
	static __device__ void run(F) {}
};

__global__ void compile_time(int *p)
{
	__shared__ int s[33];

	s[threadIdx.x % 33] = 0;
	__syncthreads();
	unrolled<24>::run([&](auto n) { atomicAdd(&s[n.value], p[n.value * threadIdx.x]); });
	__syncthreads();
	p[threadIdx.x] = s[threadIdx.x % 33];
}
