/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_memory.c: a part of the pretended driver: memory.  What is freed is given again to who asks for as much, and
 * until then nobody may touch it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "testsuite/rt/fake_impl.h"

struct memory { char *at; size_t bytes; const struct context *ctx; bool free; struct memory *next; };

bool fake_deaf;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *all;

static struct memory *find_free(size_t n)
{
	struct memory *m = all;

	while (m && (!m->free || m->bytes != n))
		m = m->next;
	return m;
}

static void *map(void *at, size_t n, int may, int more)
{
	return mmap(at, n, may, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more, -1, 0);
}

static void release(struct memory *m)
{
	m->free = true;
	map(m->at, m->bytes, PROT_NONE, MAP_FIXED);
}

/* Not zero: who wants it zero has to say so.  That of some pages says it as well as all. */
static void *get(size_t n)
{
	struct memory *m;

	pthread_mutex_lock(&lock);
	m = find_free(n);
	if (m) {
		map(m->at, n, PROT_READ | PROT_WRITE, MAP_FIXED);
	} else {
		m = calloc(1, sizeof *m);
		m->at = map(NULL, n, PROT_READ | PROT_WRITE, 0);
		m->bytes = n;
		m->next = all;
		all = m;
	}
	m->free = m->at == MAP_FAILED;
	m->ctx = fake_current();
	pthread_mutex_unlock(&lock);
	if (m->free)
		return NULL;
	memset(m->at, 0xa5, n < 1 << 16 ? n : 1 << 16);
	return m->at;
}

void fake_memory_end(const struct context *ctx)
{
	pthread_mutex_lock(&lock);
	for (struct memory *m = all; m; m = m->next)
		if (m->ctx == ctx && !m->free)
			release(m);
	pthread_mutex_unlock(&lock);
}

/* ---- allocations --------------------------------------------------------------------------------------- */

API CUresult cuMemGetInfo_v2(size_t *left, size_t *total)
{
	*left = (size_t)8 << 30;
	*total = (size_t)16 << 30;
	return fake_fails("cuMemGetInfo") ? CUDA_ERROR_INVALID_CONTEXT : fake_state();
}

API CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
	void *m = fake_fails("cuMemAlloc") || fake_state() != CUDA_SUCCESS ? NULL : get(n);

	*p = (uintptr_t)m;
	return m ? CUDA_SUCCESS : fake_state() != CUDA_SUCCESS ? fake_state() : CUDA_ERROR_OUT_OF_MEMORY;
}

/* It waits for what may be using the memory. */
API CUresult cuMemFree_v2(CUdeviceptr p)
{
	struct memory *m = all;

	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	fake_wait_all(fake_current());
	pthread_mutex_lock(&lock);
	while (m && (m->free || m->at != (char *)(uintptr_t)p))
		m = m->next;
	if (m)
		release(m);
	pthread_mutex_unlock(&lock);
	return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A pool, whose memory stays the process's. */
static struct pooled { void *at; size_t bytes; bool free; struct pooled *next; } *pooled;

API CUresult cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream stream)
{
	struct pooled *m;

	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	fake_stream(stream);
	pthread_mutex_lock(&lock);
	for (m = pooled; m && (!m->free || m->bytes != n); m = m->next)
		;
	if (!m) {
		m = calloc(1, sizeof *m);
		*m = (struct pooled){ map(NULL, n, PROT_READ | PROT_WRITE, 0), n, false, pooled };
		pooled = m;
	}
	m->free = false;
	pthread_mutex_unlock(&lock);
	*p = (uintptr_t)m->at;
	return CUDA_SUCCESS;
}

API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream)
{
	struct pooled *m;

	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	fake_stream(stream);
	pthread_mutex_lock(&lock);
	for (m = pooled; m && (m->free || m->at != (void *)(uintptr_t)p); m = m->next)
		;
	if (m)
		m->free = true;
	pthread_mutex_unlock(&lock);
	return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemHostAlloc(void **p, size_t n, unsigned int flags)
{
	CUdeviceptr d = 0;
	CUresult r = fake_fails("cuMemHostAlloc") ? CUDA_ERROR_OUT_OF_MEMORY : cuMemAlloc_v2(&d, n);

	(void)flags;
	*p = (void *)(uintptr_t)d;
	return r;
}

API CUresult cuMemFreeHost(void *p)
{
	return cuMemFree_v2((uintptr_t)p);
}

API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *d, void *p, unsigned int flags)
{
	(void)flags;
	*d = (uintptr_t)p;
	return fake_fails("cuMemHostGetDevicePointer") ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- addresses and what is mapped there ------------------------------------------------------------------ */

API CUresult cuMemAddressReserve(CUdeviceptr *p, size_t n, size_t alignment, CUdeviceptr at, unsigned long long flags)
{
	void *m = map((void *)(uintptr_t)at, n, PROT_NONE, MAP_FIXED_NOREPLACE);

	(void)alignment, (void)flags;
	*p = (uintptr_t)m;
	return at && m != MAP_FAILED ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API CUresult cuMemMap(CUdeviceptr p, size_t n, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	(void)offset, (void)handle, (void)flags;
	return p % PAGE || map((void *)(uintptr_t)p, n, PROT_READ | PROT_WRITE, MAP_FIXED) == MAP_FAILED ?
	       CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuMemUnmap(CUdeviceptr p, size_t n)
{
	return map((void *)(uintptr_t)p, n, PROT_NONE, MAP_FIXED) == MAP_FAILED ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- memory of others: who wants it says how much it is ------------------------------------------------------- */

#undef cuIpcOpenMemHandle

API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *n, CUdeviceptr p)
{
	struct memory *m = all;

	pthread_mutex_lock(&lock);
	while (m && (m->free || (char *)(uintptr_t)p < m->at || (char *)(uintptr_t)p >= m->at + m->bytes))
		m = m->next;
	pthread_mutex_unlock(&lock);
	*base = m ? (uintptr_t)m->at : 0;
	*n = m ? m->bytes : 0;
	return m ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static struct { CUdeviceptr at; int times; } opened;

/* Again: it is where it was. */
API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *p, CUipcMemHandle handle, unsigned int flags)
{
	CUresult r = CUDA_SUCCESS;
	size_t n;

	(void)flags;
	memcpy(&n, &handle, sizeof n);
	if (!opened.times++)
		r = cuMemAlloc_v2(&opened.at, n);
	*p = opened.at;
	return r;
}

API CUresult cuIpcOpenMemHandle(CUdeviceptr *p, CUipcMemHandle handle, unsigned int flags)
{
	return cuIpcOpenMemHandle_v2(p, handle, flags);
}

API CUresult cuIpcCloseMemHandle(CUdeviceptr p)
{
	return p != opened.at ? CUDA_ERROR_INVALID_VALUE : --opened.times ? CUDA_SUCCESS : cuMemFree_v2(p);
}

API CUresult cuMemPoolImportPointer(CUdeviceptr *p, CUmemoryPool pool, CUmemPoolPtrExportData *from)
{
	size_t n;

	(void)pool;
	memcpy(&n, from, sizeof n);
	return cuMemAlloc_v2(p, n);
}

API CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *p, CUexternalMemory from, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *what)
{
	(void)from;
	return cuMemAlloc_v2(p, what->size);
}

/* ---- copies ------------------------------------------------------------------------------------------------- */

API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream stream)
{
	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	if (__atomic_load_n(&fake_deaf, __ATOMIC_ACQUIRE))
		return CUDA_ERROR_NOT_PERMITTED;
	fake_stream(stream);
	memcpy(to, (const void *)(uintptr_t)from, n);
	return CUDA_SUCCESS;
}

API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream stream)
{
	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	if (fake_fails("cuMemcpyHtoDAsync"))
		return CUDA_ERROR_NOT_PERMITTED;
	fake_stream(stream);
	memcpy((void *)(uintptr_t)to, from, n);
	return CUDA_SUCCESS;
}

API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t n, CUstream stream)
{
	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	fake_stream(stream);
	/* Much of it costs the device something, and not who asks. */
	if (!value && n * sizeof value >= PAGE && to % 4096 == 0 && n * sizeof value % 4096 == 0)
		return map((void *)(uintptr_t)to, n * sizeof value, PROT_READ | PROT_WRITE, MAP_FIXED) == MAP_FAILED ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
	for (unsigned int *at = (unsigned int *)(uintptr_t)to; n; n--)
		*at++ = value;
	return CUDA_SUCCESS;
}

API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n)
{
	CUresult r = cuStreamSynchronize(NULL);

	return r == CUDA_SUCCESS ? cuMemcpyDtoHAsync_v2(to, from, n, NULL) : r;
}
