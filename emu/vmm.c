/* SPDX-License-Identifier: Apache-2.0
 *
 * vmm.c: virtual memory management: reserving addresses, creating memory, mapping
 * one to the other.  Memory is a piece of one file without a name, so that a handle
 * may be mapped in several places; pieces are never used twice, and given back by
 * punching a hole.  What is to be shared with other processes has a file of its own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/api.h"

#define PTR(d) ((void *)(uintptr_t)(d))

struct range { uint64_t base, bytes; struct range *next; };

struct handle {
	CUmemGenericAllocationHandle id;
	int own;                        /* its file; -1: the one of all */
	uint64_t at, bytes;             /* in the file */
	unsigned mapped;
	bool released;
	struct handle *next;
};

struct mapping { uint64_t base, bytes; struct handle *of; bool open; struct mapping *next; };

static struct range *ranges;
static struct handle *handles;
static struct mapping *mappings;
static uint64_t next_id, used, file_end;
static int file = -1;

static void *fresh(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		abort();
	return p;
}

static bool aligned(uint64_t v)
{
	return v && v % EMU_GRANULARITY == 0;
}

EMU_API CUresult CUDAAPI cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
						       CUmemAllocationGranularity_flags option)
{
	(void)option;                   /* the least is the recommended one */
	if (!out || !prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*out = EMU_GRANULARITY;
	return CUDA_SUCCESS;
}

/* A wish for an address is fulfilled if nothing is there. */
EMU_API CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t align,
					     CUdeviceptr want, unsigned long long flags)
{
	ENTER(ctx);
	uint64_t a = align > EMU_GRANULARITY ? align : EMU_GRANULARITY, base, end;
	struct range *r;
	void *p = MAP_FAILED;

	if (!out || !aligned(bytes) || flags || (align & (align - 1)))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (want && want % a == 0) {
		p = mmap(PTR(want), bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
		if (p != MAP_FAILED && p != PTR(want)) {        /* an old kernel took it as a hint */
			munmap(p, bytes);
			p = MAP_FAILED;
		}
	}
	if (p == MAP_FAILED) {
		p = mmap(NULL, bytes + a, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			 -1, 0);
		if (p == MAP_FAILED)
			LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
		base = ((uint64_t)(uintptr_t)p + a - 1) & ~(a - 1);
		end = (uint64_t)(uintptr_t)p + bytes + a;
		if (base != (uint64_t)(uintptr_t)p)
			munmap(p, base - (uint64_t)(uintptr_t)p);
		if (end != base + bytes)
			munmap(PTR(base + bytes), end - base - bytes);
		p = PTR(base);
	}
	r = fresh(sizeof *r);
	r->base = (uint64_t)(uintptr_t)p;
	r->bytes = bytes;
	r->next = ranges;
	ranges = r;
	*out = r->base;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemAddressFree(CUdeviceptr p, size_t bytes)
{
	ENTER(ctx);
	struct range **r, *gone;

	for (r = &ranges; *r && ((*r)->base != p || (*r)->bytes != bytes); r = &(*r)->next)
		;
	if (!*r)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (struct mapping *m = mappings; m; m = m->next)
		if (m->base >= p && m->base < p + bytes)
			LEAVE(CUDA_ERROR_INVALID_VALUE);
	gone = *r;
	*r = gone->next;
	munmap(PTR(p), bytes);
	free(gone);
	LEAVE(CUDA_SUCCESS);
}

/* Beyond the limit on files this is an error alone, and no signal. */
static bool grow(int fd, uint64_t bytes)
{
	const struct timespec now = {0};
	sigset_t one, before;
	bool ok;

	sigemptyset(&one);
	sigaddset(&one, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &one, &before);
	ok = !ftruncate(fd, (off_t)bytes);
	if (!ok && !sigismember(&before, SIGXFSZ))
		sigtimedwait(&one, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ok;
}

static struct handle *add(int own, uint64_t at, uint64_t bytes)
{
	struct handle *h = fresh(sizeof *h);

	*h = (struct handle){.id = ++next_id, .own = own, .at = at, .bytes = bytes, .next = handles};
	handles = h;
	used += bytes;
	return h;
}

/* NULL: there is no memory. */
static struct handle *new_handle(uint64_t bytes)
{
	const uint64_t at = file_end;

	if (file < 0)
		file = memfd_create("emulated device memory", MFD_CLOEXEC);
	if (used + bytes > EMU_MEM_TOTAL || file < 0 || !grow(file, file_end + bytes))
		return NULL;
	file_end += bytes;
	return add(-1, at, bytes);
}

static struct handle *new_shared(uint64_t bytes)
{
	const int own = memfd_create("emulated device memory", MFD_CLOEXEC);

	if (used + bytes <= EMU_MEM_TOTAL && own >= 0 && grow(own, bytes))
		return add(own, 0, bytes);
	if (own >= 0)
		close(own);
	return NULL;
}

EMU_API CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
				     const CUmemAllocationProp *prop, unsigned long long flags)
{
	ENTER(ctx);
	struct handle *h;

	if (!out || !prop || flags || !aligned(bytes) ||
	    prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE && prop->location.id != 0)
		LEAVE(CUDA_ERROR_INVALID_DEVICE);
	h = prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? new_shared(bytes) : new_handle(bytes);
	if (!h)
		LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
	*out = h->id;
	LEAVE(CUDA_SUCCESS);
}

static void handle_reap(struct handle *h)
{
	struct handle **p;

	if (h->mapped || !h->released)
		return;
	for (p = &handles; *p != h; p = &(*p)->next)
		;
	*p = h->next;
	if (h->own >= 0)
		close(h->own);
	else
		fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)h->at, (off_t)h->bytes);
	used -= h->bytes;
	free(h);
}

static struct handle *handle_of(CUmemGenericAllocationHandle id)
{
	for (struct handle *h = handles; h; h = h->next)
		if (h->id == id && !h->released)
			return h;
	return NULL;
}

EMU_API CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle id)
{
	ENTER(ctx);
	struct handle *h = handle_of(id);

	if (!h)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	h->released = true;
	handle_reap(h);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle id, CUmemAllocationHandleType type,
						      unsigned long long flags)
{
	ENTER(ctx);
	const struct handle *h = handle_of(id);
	int fd;

	if (!out || !h || h->own < 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	fd = dup(h->own);
	if (fd < 0)
		LEAVE(CUDA_ERROR_OPERATING_SYSTEM);
	memcpy(out, &fd, sizeof fd);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *os, CUmemAllocationHandleType type)
{
	ENTER(ctx);
	const int fd = (int)(intptr_t)os;
	struct stat st;
	int own;

	if (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat(fd, &st) || !aligned((uint64_t)st.st_size))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		LEAVE(CUDA_ERROR_OPERATING_SYSTEM);
	*out = add(own, 0, (uint64_t)st.st_size)->id;
	LEAVE(CUDA_SUCCESS);
}

static bool reserved(uint64_t p, uint64_t bytes)
{
	for (const struct range *r = ranges; r; r = r->next)
		if (p >= r->base && p - r->base + bytes <= r->bytes)
			return true;
	return false;
}

EMU_API CUresult CUDAAPI cuMemMap(CUdeviceptr p, size_t bytes, size_t offset,
				  CUmemGenericAllocationHandle id, unsigned long long flags)
{
	ENTER(ctx);
	struct handle *h = handle_of(id);
	struct mapping *m;

	if (!h || flags || !aligned(p) || !aligned(bytes) || offset % EMU_GRANULARITY ||
	    offset + bytes > h->bytes || !reserved(p, bytes))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (m = mappings; m; m = m->next)
		if (m->base < p + bytes && p < m->base + m->bytes)
			LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (mmap(PTR(p), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, h->own >= 0 ? h->own : file,
		 (off_t)(h->at + offset)) == MAP_FAILED)
		LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
	m = fresh(sizeof *m);
	m->base = p;
	m->bytes = bytes;
	m->of = h;
	m->next = mappings;
	mappings = m;
	h->mapped++;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemSetAccess(CUdeviceptr p, size_t bytes, const CUmemAccessDesc *desc,
					size_t n)
{
	ENTER(ctx);
	uint64_t covered = 0;
	bool open;

	if (!desc || !n)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	open = desc[0].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
	       desc[0].flags == CU_MEM_ACCESS_FLAGS_PROT_READ;
	for (struct mapping *m = mappings; m; m = m->next)
		if (m->base >= p && m->base + m->bytes <= p + bytes)
			covered += m->bytes;
	if (covered != bytes)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (struct mapping *m = mappings; m; m = m->next) {
		if (m->base < p || m->base + m->bytes > p + bytes || m->open == open)
			continue;
		if (open)
			emu_mem_register(m->base, m->bytes, MEM_VMM, 0);
		else
			emu_mem_unregister(m->base, MEM_VMM);
		m->open = open;
	}
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags, const CUmemLocation *where,
					CUdeviceptr p)
{
	ENTER(ctx);
	if (!flags || !where)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (const struct mapping *m = mappings; m; m = m->next) {
		if (p < m->base || p >= m->base + m->bytes)
			continue;
		*flags = m->open ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
		LEAVE(CUDA_SUCCESS);
	}
	LEAVE(CUDA_ERROR_INVALID_VALUE);
}

EMU_API CUresult CUDAAPI cuMemUnmap(CUdeviceptr p, size_t bytes)
{
	ENTER(ctx);
	uint64_t covered = 0;
	struct mapping **at;
	CUresult r = emu_wait_ctx(ctx);

	if (r != CUDA_SUCCESS)
		LEAVE(r);
	for (struct mapping *m = mappings; m; m = m->next)
		if (m->base >= p && m->base + m->bytes <= p + bytes)
			covered += m->bytes;
	if (!bytes || covered != bytes)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (at = &mappings; *at;) {
		struct mapping *m = *at;

		if (m->base < p || m->base + m->bytes > p + bytes) {
			at = &m->next;
			continue;
		}
		if (m->open)
			emu_mem_unregister(m->base, MEM_VMM);
		if (mmap(PTR(m->base), m->bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
			abort();
		m->of->mapped--;
		handle_reap(m->of);
		*at = m->next;
		free(m);
	}
	LEAVE(CUDA_SUCCESS);
}
