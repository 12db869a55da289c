/* SPDX-License-Identifier: Apache-2.0
 *
 * context.c: contexts that end, by their last release, a reset, or destruction.
 * Before the driver ends one, what was launched in it is judged and reported; afterwards it is forgotten, so that a program that
 * starts anew is watched anew.  And our own calls in a context, which may tell that it is gone.
 */

#include "rt/drv.h"

#define DEVICES 64
#define MOST_OF_A_TABLE (UINT32_C(1) << 28)     /* bytes; more is no table of ours */

/* How often the program retained each primary context; with rt_lock. */
static struct { CUcontext ctx; int retains; } primary[DEVICES];

/* ---- contexts that end ---------------------------------------------------------------------- */

static void ending(CUcontext ctx)
{
	if (!rt_ctx_known(ctx))
		return;
	rt_context_ends(ctx);
	rt_modules_forget(ctx);
	if (rt_ctx_ends(ctx, !rt_still_running()))
		rt_mem_forget();
	rt_wait_forget(ctx);
}

CUresult rt_on_init(enum rt_hook which, unsigned int flags)
{
	return REAL(cuInit, which)(flags);
}

CUresult rt_on_retain(enum rt_hook which, CUcontext *ctx, CUdevice dev)
{
	CUresult r = REAL(cuDevicePrimaryCtxRetain, which)(ctx, dev);

	if (r == CUDA_SUCCESS && dev >= 0 && dev < DEVICES) {
		pthread_mutex_lock(&rt_lock);
		primary[dev].ctx = *ctx;
		primary[dev].retains++;
		pthread_mutex_unlock(&rt_lock);
	}
	return r;
}

/* The primary context that ends with this release or reset, or NULL. */
static CUcontext primary_ending(CUdevice dev, bool reset)
{
	CUcontext ctx = NULL;

	if (dev < 0 || dev >= DEVICES)
		return NULL;
	pthread_mutex_lock(&rt_lock);
	if (reset || primary[dev].retains == 1)
		ctx = primary[dev].ctx;
	if (!reset && primary[dev].retains > 0)
		primary[dev].retains--;
	pthread_mutex_unlock(&rt_lock);
	return ctx;
}

CUresult rt_on_release(enum rt_hook which, CUdevice dev)
{
	CUcontext ctx = primary_ending(dev, false);

	if (ctx)
		ending(ctx);
	return REAL(cuDevicePrimaryCtxRelease_v2, which)(dev);
}

CUresult rt_on_reset(enum rt_hook which, CUdevice dev)
{
	CUcontext ctx = primary_ending(dev, true);

	if (ctx)
		ending(ctx);
	return REAL(cuDevicePrimaryCtxReset_v2, which)(dev);
}

CUresult rt_on_destroy(enum rt_hook which, CUcontext ctx)
{
	ending(ctx);
	return REAL(cuCtxDestroy_v2, which)(ctx);
}

/* ---- calls that may fail ----------------------------------------------------------------------- */

static const char *error_name(CUresult r)
{
	const char *name = NULL;

	if (rt_drv.cuGetErrorName && rt_drv.cuGetErrorName(r, &name) == CUDA_SUCCESS && name)
		return name;
	return "unknown error";
}

bool rt_is_final(CUresult r)
{
	switch ((int)r) {
	case 4:                         /* CUDA_ERROR_DEINITIALIZED */
	case 201:                       /* CUDA_ERROR_INVALID_CONTEXT */
	case 214:                       /* CUDA_ERROR_ECC_UNCORRECTABLE */
	case 220:                       /* CUDA_ERROR_NVLINK_UNCORRECTABLE */
	case 700:                       /* CUDA_ERROR_ILLEGAL_ADDRESS */
	case 702:                       /* CUDA_ERROR_LAUNCH_TIMEOUT */
	case 709:                       /* CUDA_ERROR_CONTEXT_IS_DESTROYED */
	case 710:                       /* CUDA_ERROR_ASSERT */
	case 714: case 715: case 716: case 717: case 718: case 719:     /* ... LAUNCH_FAILED */
	case 721:                       /* CUDA_ERROR_CONTAINED */
	case 911:                       /* CUDA_ERROR_EXTERNAL_DEVICE */
	case 999:                       /* CUDA_ERROR_UNKNOWN */
		return true;
	}
	return false;
}

void rt_context_noted(CUresult r)
{
	if (!rt_is_final(r) || r == CUDA_ERROR_DEINITIALIZED || r == CUDA_ERROR_INVALID_CONTEXT ||
	    r == CUDA_ERROR_CONTEXT_IS_DESTROYED)
		return;
	rt_context_died(r == CUDA_ERROR_LAUNCH_TIMEOUT);
}

bool rt_ok(struct rt_ctx *c, CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return true;
	rt_verbose(1, "%s: %s", what, error_name(r));
	if (c && rt_is_final(r))
		c->sick = true;
	rt_context_noted(r);
	return false;
}

bool rt_wait(struct rt_ctx *c)
{
	return rt_ok(c, REAL(CUresult(CUstream), RT_cuStreamSynchronize)(c->stream), "waiting");
}

bool rt_read(struct rt_ctx *c, void *to, uint64_t from, size_t bytes)
{
	return !bytes || (rt_ok(c, rt_drv.cuMemcpyDtoHAsync(to, from, bytes, c->stream), "reading") &&
			  rt_wait(c));
}

bool rt_write(struct rt_ctx *c, uint64_t to, const void *from, size_t bytes)
{
	return !bytes || (rt_ok(c, rt_drv.cuMemcpyHtoDAsync(to, from, bytes, c->stream), "writing") &&
			  rt_wait(c));
}

/* A table from device memory, with a zero behind it. */
void *rt_fetch(struct rt_ctx *c, uint64_t at, uint32_t n, size_t each)
{
	void *p;

	if (n > MOST_OF_A_TABLE / each)
		return NULL;
	p = rt_try_alloc(n * each + 1);
	if (p && rt_read(c, p, at, n * each))
		return p;
	rt_free(p);
	return NULL;
}
