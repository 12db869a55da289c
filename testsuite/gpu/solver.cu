/* SPDX-License-Identifier: Apache-2.0 */
// flags: -fmad=false
/* Products and sums stay apart: ptxas joins those that it finds side by side, and
 * what stands side by side is another matter in instrumented code. */
/* A right program: conjugate gradients on a grid of points, the whole solver one
 * cooperative kernel with grid-stride loops and the grid's barrier between its
 * steps.  Sums are taken in an order that does not depend on the machine. */
#include <cmath>
#include <cooperative_groups.h>

#include "common.h"

namespace cg = cooperative_groups;

const int SIDE = 256, N = SIDE * SIDE, BLOCKS = 64, THREADS = 256;

struct system_t {
	double *x, *r, *p, *q;
	double *partial;	/* one per block */
	double *value;		/* 0: r.r, 1: p.q, 2: the next r.r */
};

__device__ double laplace(const double *p, int i)
{
	int x = i % SIDE, y = i / SIDE;
	double v = 4.5 * p[i];

	if (x > 0)
		v -= p[i - 1];
	if (x < SIDE - 1)
		v -= p[i + 1];
	if (y > 0)
		v -= p[i - SIDE];
	if (y < SIDE - 1)
		v -= p[i + SIDE];
	return v;
}

__device__ void dot(cg::grid_group grid, const double *a, const double *b, double *partial, double *to)
{
	__shared__ double room[THREADS];
	double sum = 0;

	for (int i = grid.thread_rank(); i < N; i += grid.num_threads())
		sum += a[i] * b[i];
	room[threadIdx.x] = sum;
	__syncthreads();
	for (int s = THREADS / 2; s > 0; s /= 2) {
		if (threadIdx.x < s)
			room[threadIdx.x] += room[threadIdx.x + s];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		partial[blockIdx.x] = room[0];
	grid.sync();
	if (grid.thread_rank() == 0) {
		double total = 0;

		for (int i = 0; i < BLOCKS; i++)
			total += partial[i];
		*to = total;
	}
	grid.sync();
}

__global__ void solve(system_t s, int rounds)
{
	auto grid = cg::this_grid();
	int first = grid.thread_rank(), step = grid.num_threads();

	dot(grid, s.r, s.r, s.partial, &s.value[0]);
	for (int k = 0; k < rounds; k++) {
		for (int i = first; i < N; i += step)
			s.q[i] = laplace(s.p, i);
		grid.sync();
		dot(grid, s.p, s.q, s.partial, &s.value[1]);
		double alpha = s.value[0] / s.value[1];
		for (int i = first; i < N; i += step) {
			s.x[i] += alpha * s.p[i];
			s.r[i] -= alpha * s.q[i];
		}
		dot(grid, s.r, s.r, s.partial, &s.value[2]);
		double beta = s.value[2] / s.value[0];
		for (int i = first; i < N; i += step)
			s.p[i] = s.r[i] + beta * s.p[i];
		grid.sync();
		if (first == 0)
			s.value[0] = s.value[2];
		grid.sync();
	}
}

int main()
{
	std::vector<double> b(N);
	uint32_t seed = 5;

	for (double &v : b)
		v = (int)(next_random(seed) % 200) - 100;
	system_t s = { device<double>(N), device(b), device(b), device<double>(N),
		device<double>(BLOCKS), device<double>(3) };
	int rounds = 16;
	void *args[] = { &s, &rounds };
	CHECK(cudaLaunchCooperativeKernel((void *)solve, dim3(BLOCKS), dim3(THREADS), args, 0, nullptr));
	std::vector<double> x = host(s.x, N);

	/* the residual of what it found, computed here */
	double worst = 0, scale = 0;
	for (int i = 0; i < N; i++) {
		int cx = i % SIDE, cy = i / SIDE;
		double v = 4.5 * x[i];

		v -= (cx > 0 ? x[i - 1] : 0) + (cx < SIDE - 1 ? x[i + 1] : 0);
		v -= (cy > 0 ? x[i - SIDE] : 0) + (cy < SIDE - 1 ? x[i + SIDE] : 0);
		worst = fmax(worst, fabs(b[i] - v));
		scale = fmax(scale, fabs(b[i]));
	}
	return verdict("solver", worst < 0.01 * scale, digest(x.data(), N * sizeof(double)));
}
