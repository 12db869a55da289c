/* SPDX-License-Identifier: Apache-2.0
 *
 * clear.cu: the screen's passes (detect/screen.h) as kernels, of launches that are over: y says which of several.
 */
extern "C" {
#include "detect/screen.h"
}
#include "rt/clear_start.h"
#include "detect/bounds.h"
namespace gpu {
#include "detect/screen.c"
#include "detect/global.c"
#include "detect/interval.c"
#include "detect/order.c"
#include "detect/twin.c"
}

static __device__ const struct screen *the_launch(const struct screen *all)
{
	static __shared__ struct screen s;

	if (threadIdx.x + threadIdx.y == 0) {
		s = all[blockIdx.y];
		s.log.next = ((const struct region_head *)s.log.unit)->next;
	}
	__syncthreads();
	return &s;
}

template <void pass(const struct screen *, uint32_t piece)>
static __device__ void each_piece(const struct screen *all)
{
	const struct screen *s = the_launch(all);

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < screen_pieces(&s->log); i += gridDim.x * blockDim.x)
		pass(s, i);
}

extern "C" __global__ void gsan_link(const struct screen *all)
{
	each_piece<gpu::screen_link>(all);
}

extern "C" __global__ void __launch_bounds__(32) gsan_blocks(const struct screen *all)
{
	const struct screen *s = the_launch(all);

	if (!s->form && s->log.shared)
		gpu::screen_block(s, blockIdx.x);
}

extern "C" __global__ void gsan_compare(const struct screen *all)
{
	const struct screen *s = the_launch(all);
	uint32_t warp = blockIdx.x * blockDim.y + threadIdx.y;

	if (s->form && s->twins && warp < s->log.blocks * s->log.warps)
		gpu::screen_compare(s, warp);
}

extern "C" __global__ void __launch_bounds__(32) gsan_judge(const struct screen *all)
{
	const struct screen *s = the_launch(all);

	if (s->form && blockIdx.x < s->log.blocks)
		gpu::screen_judge(s, blockIdx.x);
}

extern "C" __global__ void gsan_writes(const struct screen *all)
{
	each_piece<gpu::screen_writes>(all);
}

/* The pass that comes last leaves pieces as they were before the first. */
static __device__ void read_and_forget(const struct screen *s, uint32_t piece)
{
	gpu::screen_reads(s, piece);
	gpu::screen_unlink(s, piece);
}

extern "C" __global__ void gsan_reads(const struct screen *all)
{
	each_piece<read_and_forget>(all);
}

/* ---- logs ------------------------------------------------------------------------------------------------------------- */

template <class T>
static __device__ void copy(T *to, const struct event_unit *from)
{
	for (uint32_t i = threadIdx.x; i < sizeof(T) / 4; i += blockDim.x)
		((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
}

extern "C" __global__ void gsan_begin(const struct clear_begin b)
{
	if (threadIdx.x < REGION_PLACES)
		b.region[threadIdx.x] = b.unit[threadIdx.x];
}

/* Each entry's number is the one of `entries` in a row, from q.number on, that belongs there. */
extern "C" __global__ void gsan_queue(const struct clear_queue q)
{
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < q.all; i += gridDim.x * blockDim.x) {
		uint32_t number = q.number + ((i - q.number) & (q.entries - 1));

		q.at[i].ticket = i < q.entries ? number * q.piece : 0;
		q.at[i].piece = 0;
	}
}

extern "C" __global__ void gsan_starts(const struct clear_region *region, struct clear_start *start)
{
	const struct event_unit *unit = region[blockIdx.y].unit;
	struct clear_start *s = &start[blockIdx.y];

	copy(&s->head, unit);
	copy(&s->places, unit + REGION_PLACES);
	copy(&s->block, unit + region[blockIdx.y].heads);
}

/* Of launches that are clear; their head stays, which other blocks may still read. */
extern "C" __global__ void gsan_empty(const struct screen *all)
{
	const struct screen *s = the_launch(all);
	uint4 *unit = (uint4 *)s->log.unit;
	uint32_t first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;

	for (uint32_t i = 0; i < SCREEN_WHYS; i++)
		if (s->why[i])
			return;
	for (uint32_t i = REGION_PLACES + first; i < REGION_QUEUE; i += step)
		unit[i] = make_uint4(0, 0, 0, 0);
	for (uint32_t i = s->log.heads + first; i < s->log.next; i += step)
		unit[i] = make_uint4(0, 0, 0, 0);
}
