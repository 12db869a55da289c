/* SPDX-License-Identifier: Apache-2.0
 *
 * mem.c: what memory there is: allocations, their bounds as kernels see them, and
 * the windows of the address space that stand for shared, local and function
 * addresses.  It knows nothing of contexts and streams.
 *
 * Tables of pages are made when needed and never go away, so that a kernel may
 * look at them while the host allocates.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/emu.h"
#include "emu/listen.h"

#define PAGE_BYTES   (UINT64_C(1) << EMU_PAGE_SHIFT)
#define GRANULE      (UINT64_C(1) << EMU_GRANULE_SHIFT)
#define ALLOC_ALIGN  UINT64_C(512)              /* what cuMemAlloc gives on hardware */
#define CHUNK_BYTES  (UINT64_C(32) << 20)       /* small allocations share these */
#define SMALL_BYTES  (UINT64_C(1) << 20)

_Atomic(struct emu_leaf *) emu_leaves[1 << 15];

static struct emu_page full_page;               /* every byte accessible */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Live allocations, sorted by address. */
static struct emu_block_mem *blocks;
static size_t nblocks, capblocks;
static uint64_t used, next_id;

/* Free parts of the chunks, sorted by address, never touching each other.  What the
 * device keeps for itself lies in chunks of its own, so that it never takes the
 * place of something that a program has just freed. */
struct extent { uint64_t base, bytes; };
struct pool { struct extent *list; size_t n, cap; };
static struct pool pools[2];

static void *grow(void *p, size_t *cap, size_t size)
{
	*cap = *cap ? *cap * 2 : 64;
	p = realloc(p, *cap * size);
	if (!p)
		abort();
	return p;
}

/* ---- what kernels may touch --------------------------------------------------- */

static struct emu_page *page_for_write(uint64_t a)
{
	struct emu_leaf *leaf = atomic_load(&emu_leaves[a >> 32]);
	_Atomic(struct emu_page *) *slot;
	struct emu_page *page;

	if (!leaf) {
		leaf = calloc(1, sizeof *leaf);
		if (!leaf)
			abort();
		atomic_store(&emu_leaves[a >> 32], leaf);
	}
	slot = &leaf->page[a >> EMU_PAGE_SHIFT & 0xffff];
	page = atomic_load(slot);
	if (!page || page == &full_page) {
		struct emu_page *own = malloc(sizeof *own);

		if (!own)
			abort();
		memset(own, 0, sizeof *own);
		if (page)
			*own = full_page;
		atomic_store(slot, own);
		page = own;
	}
	return page;
}

static void set_whole_page(uint64_t a, bool on)
{
	struct emu_leaf *leaf = atomic_load(&emu_leaves[a >> 32]);
	_Atomic(struct emu_page *) *slot = leaf ? &leaf->page[a >> EMU_PAGE_SHIFT & 0xffff] : NULL;
	struct emu_page *page = slot ? atomic_load(slot) : NULL;

	if (page && page != &full_page) {       /* a kernel may hold it: change, not free */
		for (unsigned i = 0; i < EMU_GRANULES; i++)
			page->bytes[i] = on ? GRANULE : 0;
		return;
	}
	if (!leaf) {
		page_for_write(a);
		set_whole_page(a, on);
		return;
	}
	atomic_store(slot, on ? &full_page : NULL);
}

/* Bytes [a, end) become accessible or stop being so.  A granule that two
 * allocations share (host memory registered by the byte) is as long as the longer. */
static void set_range(uint64_t a, uint64_t end, bool on)
{
	while (a < end) {
		uint64_t next = (a | (GRANULE - 1)) + 1;
		struct emu_page *page;
		uint16_t *bytes;

		if (!(a & (PAGE_BYTES - 1)) && end - a >= PAGE_BYTES) {
			set_whole_page(a, on);
			a += PAGE_BYTES;
			continue;
		}
		page = page_for_write(a);
		bytes = &page->bytes[a >> EMU_GRANULE_SHIFT & 255];
		if (next > end)
			next = end;
		if (!on)
			*bytes = 0;
		else if (*bytes < next - (a & ~(GRANULE - 1)))
			*bytes = (uint16_t)(next - (a & ~(GRANULE - 1)));
		a = next;
	}
}

static bool range_is(uint64_t a, uint64_t bytes, bool (*is)(uint64_t a, unsigned size))
{
	while (bytes) {
		uint64_t step = GRANULE - (a & (GRANULE - 1));

		if (step > bytes)
			step = bytes;
		if (!is(a, (unsigned)step))
			return false;
		a += step;
		bytes -= step;
	}
	return true;
}

bool emu_mem_range_ok(uint64_t a, uint64_t bytes)
{
	return range_is(a, bytes, emu_mem_within);
}

bool emu_mem_range_open(uint64_t a, uint64_t bytes)
{
	return range_is(a, bytes, emu_mem_ok);
}

/* ---- the list of allocations ----------------------------------------------------- */

/* Index of the first one that ends behind `a`. */
static size_t find(uint64_t a)
{
	size_t lo = 0, hi = nblocks;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (blocks[mid].base + blocks[mid].bytes > a)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static bool add(uint64_t base, uint64_t bytes, enum emu_mem_kind kind, unsigned flags)
{
	size_t at = find(base);

	if (at < nblocks && blocks[at].base < base + bytes)
		return false;
	if (nblocks == capblocks)
		blocks = grow(blocks, &capblocks, sizeof *blocks);
	memmove(blocks + at + 1, blocks + at, (nblocks - at) * sizeof *blocks);
	nblocks++;
	blocks[at] = (struct emu_block_mem){base, bytes, NULL, kind, flags, ++next_id};
	set_range(base, base + bytes, true);
	return true;
}

static bool take(uint64_t base, enum emu_mem_kind kind, struct emu_block_mem *out)
{
	size_t at = find(base);

	if (at == nblocks || blocks[at].base != base || blocks[at].kind != kind)
		return false;
	*out = blocks[at];
	set_range(base, base + out->bytes, false);
	memmove(blocks + at, blocks + at + 1, (nblocks - at - 1) * sizeof *blocks);
	nblocks--;
	return true;
}

bool emu_mem_register(uint64_t base, uint64_t bytes, enum emu_mem_kind kind, unsigned flags)
{
	bool ok;

	pthread_mutex_lock(&lock);
	ok = add(base, bytes, kind, flags);
	pthread_mutex_unlock(&lock);
	return ok;
}

bool emu_mem_unregister(uint64_t base, enum emu_mem_kind kind)
{
	struct emu_block_mem b;
	bool ok;

	pthread_mutex_lock(&lock);
	ok = take(base, kind, &b);
	pthread_mutex_unlock(&lock);
	return ok;
}

bool emu_mem_find(uint64_t a, struct emu_block_mem *out)
{
	size_t at;
	bool ok;

	pthread_mutex_lock(&lock);
	at = find(a);
	ok = at < nblocks && blocks[at].base <= a;
	if (ok)
		*out = blocks[at];
	pthread_mutex_unlock(&lock);
	return ok;
}

/* ---- what is no more ------------------------------------------------------------------------------ */

bool emu_mem_judged;

/* Device memory that was freed last and not given out again, with what is behind it up to the next granule; of those that are
 * not small, which are mapped by themselves, so many bytes stay mapped. */
enum { FREED = 256 };
#define KEPT_MAPPED (UINT64_C(1) << 32)

static struct emu_block_mem freed[FREED];
static size_t nfreed;
static uint64_t kept_mapped;

static uint64_t to_granule(uint64_t a) { return (a + GRANULE - 1) & ~(GRANULE - 1); }
static uint64_t rounded(uint64_t bytes);

static bool is_mapped_alone(const struct emu_block_mem *b) { return rounded(b->bytes) >= SMALL_BYTES; }

static void forget_freed(size_t i)
{
	if (is_mapped_alone(&freed[i])) {
		munmap((void *)(uintptr_t)freed[i].base, rounded(freed[i].bytes));
		kept_mapped -= rounded(freed[i].bytes);
	}
	memmove(freed + i, freed + i + 1, (--nfreed - i) * sizeof *freed);
}

/* Its bytes are anything, and take no room. */
static void note_freed(const struct emu_block_mem *b)
{
	if (nfreed == FREED)
		forget_freed(0);
	if (is_mapped_alone(b)) {
		madvise((void *)(uintptr_t)b->base, rounded(b->bytes), MADV_DONTNEED);
		kept_mapped += rounded(b->bytes);
	}
	freed[nfreed++] = *b;
	for (size_t i = 0; kept_mapped > KEPT_MAPPED && i < nfreed;)
		if (is_mapped_alone(&freed[i]))
			forget_freed(i);
		else
			i++;
}

/* It is given out again. */
static void take_freed(uint64_t base, uint64_t bytes)
{
	for (size_t i = nfreed; i-- > 0;)
		if (freed[i].base < base + bytes && base < freed[i].base + freed[i].bytes)
			forget_freed(i);
}

bool emu_mem_beside(uint64_t a, unsigned size)
{
	bool is = false;
	size_t at;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nfreed && !is; i++)
		is = a >= freed[i].base && a + size <= to_granule(freed[i].base + freed[i].bytes);
	at = find(a);
	at = at < nblocks && blocks[at].base <= a ? at : at - 1;
	if (!is && at < nblocks && (blocks[at].kind == MEM_DEVICE || blocks[at].kind == MEM_MANAGED))
		is = a + size <= to_granule(blocks[at].base + blocks[at].bytes);
	pthread_mutex_unlock(&lock);
	return is;
}

void emu_mem_each(bool gone, emu_mem_seen *see, void *arg)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < (gone ? nfreed : nblocks); i++)
		see(arg, gone ? &freed[i] : &blocks[i]);
	pthread_mutex_unlock(&lock);
}

void emu_mem_freed_in(uint64_t base, const void *stream)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nfreed; i++)
		if (freed[i].base == base)
			freed[i].stream = stream;
	pthread_mutex_unlock(&lock);
}

/* ---- memory that host and device share ---------------------------------------------- */

uint64_t emu_host_window, emu_host_delta;
static struct pool host_pool;
static bool has_asked;

/* Shared memory, mapped twice; without it such memory has one place. */
static void make_window(void)
{
	void *ours, *theirs;

	has_asked = true;
	ours = mmap(NULL, EMU_HOST_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	theirs = mmap(NULL, EMU_HOST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ours == MAP_FAILED || theirs == MAP_FAILED)
		return;
	emu_host_window = (uintptr_t)ours;
	emu_host_delta = (uintptr_t)theirs - (uintptr_t)ours;
}

static void give_extent(struct pool *p, uint64_t base, uint64_t bytes);
static uint64_t take_extent(struct pool *p, uint64_t bytes);
static uint64_t map(uint64_t bytes);

static uint64_t map_shared(uint64_t bytes)
{
	uint64_t a;

	if (!has_asked) {
		make_window();
		if (emu_host_window)
			give_extent(&host_pool, emu_host_window, EMU_HOST_BYTES);
	}
	if (!emu_host_window)
		return map(bytes);
	a = take_extent(&host_pool, bytes);
	/* Of no old bytes a second mapping is made (mremap(2)). */
	if (a && mremap(emu_view(a), 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)a) == MAP_FAILED) {
		give_extent(&host_pool, a, bytes);
		a = 0;
	}
	return a;
}

/* What is got there next is zero. */
static void unmap_shared(uint64_t a, uint64_t bytes)
{
	if (a - emu_host_window >= EMU_HOST_BYTES) {
		munmap((void *)(uintptr_t)a, bytes);
		return;
	}
	madvise(emu_view(a), bytes, MADV_REMOVE);
	if (mmap((void *)(uintptr_t)a, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED)
		give_extent(&host_pool, a, bytes);
}

/* ---- allocating -------------------------------------------------------------------- */

static uint64_t map(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)p;
}

static void give_extent(struct pool *p, uint64_t base, uint64_t bytes)
{
	struct extent *e;
	size_t at = 0;

	while (at < p->n && p->list[at].base < base)
		at++;
	if (at && p->list[at - 1].base + p->list[at - 1].bytes == base) {
		p->list[--at].bytes += bytes;
	} else {
		if (p->n == p->cap)
			p->list = grow(p->list, &p->cap, sizeof *p->list);
		e = p->list + at;
		memmove(e + 1, e, (p->n++ - at) * sizeof *e);
		*e = (struct extent){base, bytes};
	}
	e = p->list + at;
	if (at + 1 < p->n && e[0].base + e[0].bytes == e[1].base) {
		e[0].bytes += e[1].bytes;
		memmove(e + 1, e + 2, (p->n-- - at - 2) * sizeof *e);
	}
}

static uint64_t take_extent(struct pool *p, uint64_t bytes)
{
	for (struct extent *e = p->list; e < p->list + p->n; e++) {
		uint64_t base = e->base;

		if (e->bytes < bytes)
			continue;
		e->base += bytes;
		e->bytes -= bytes;
		if (!e->bytes) {
			p->n--;
			memmove(e, e + 1, (size_t)(p->list + p->n - e) * sizeof *e);
		}
		return base;
	}
	return 0;
}

static struct pool *pool_of(enum emu_mem_kind kind)
{
	return &pools[kind == MEM_PARAMS];
}

static bool on_device(enum emu_mem_kind kind)
{
	return kind == MEM_DEVICE || kind == MEM_MODULE || kind == MEM_HEAP || kind == MEM_MANAGED;
}

/* What an allocation takes, with a gap behind it: an access just beyond the end
 * should not hit the next one. */
static uint64_t rounded(uint64_t bytes)
{
	uint64_t align = bytes < SMALL_BYTES ? ALLOC_ALIGN : PAGE_BYTES;

	return (bytes + ALLOC_ALIGN + align - 1) & ~(align - 1);
}

/* Memory that the host uses, too: mprotect() works on pages. */
static bool is_shared(enum emu_mem_kind kind)
{
	return kind == MEM_HOST || kind == MEM_MANAGED;
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + 4095) & ~UINT64_C(4095);
}

uint64_t emu_mem_new(uint64_t bytes, enum emu_mem_kind kind, unsigned flags)
{
	uint64_t base, size = rounded(bytes);
	bool small = size < SMALL_BYTES && !is_shared(kind);

	if (!bytes || bytes > EMU_MEM_TOTAL)
		return 0;
	if (is_shared(kind))
		size = whole_pages(bytes);
	pthread_mutex_lock(&lock);
	if (on_device(kind) && used + size > EMU_MEM_TOTAL) {
		pthread_mutex_unlock(&lock);
		return 0;
	}
	if (small) {
		base = take_extent(pool_of(kind), size);
		if (!base) {
			base = map(CHUNK_BYTES);
			if (base) {
				give_extent(pool_of(kind), base, CHUNK_BYTES);
				base = take_extent(pool_of(kind), size);
			}
		}
	} else {
		base = is_shared(kind) ? map_shared(size) : map(size);
	}
	if (base)
		take_freed(base, size);
	if (base && add(base, bytes, kind, flags)) {
		if (on_device(kind))
			used += size;
	} else {
		base = 0;
	}
	pthread_mutex_unlock(&lock);
	return base;
}

bool emu_mem_delete(uint64_t base, enum emu_mem_kind kind)
{
	struct emu_block_mem b;
	uint64_t size;
	bool ok;

	pthread_mutex_lock(&lock);
	ok = take(base, kind, &b);
	if (ok) {
		size = rounded(b.bytes);
		if (is_shared(kind))
			unmap_shared(base, whole_pages(b.bytes));
		else if (size < SMALL_BYTES)
			give_extent(pool_of(kind), base, size);
		else if (kind != MEM_DEVICE)
			munmap((void *)(uintptr_t)base, size);
		if (kind == MEM_DEVICE)
			note_freed(&b);
		if (on_device(kind))
			used -= size;
	}
	pthread_mutex_unlock(&lock);
	if (ok && (kind == MEM_DEVICE || kind == MEM_MANAGED || kind == MEM_HOST))
		emu_tell_host_wrote((const void *)(uintptr_t)base, b.bytes);
	return ok;
}

uint64_t emu_mem_used(void)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = used;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- start -------------------------------------------------------------------------- */

static bool reserve(uint64_t at)
{
	void *p = mmap((void *)(uintptr_t)at, EMU_WINDOW_BYTES, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	return p == (void *)(uintptr_t)at;
}

bool emu_mem_init(void)
{
	for (unsigned i = 0; i < EMU_GRANULES; i++)
		full_page.bytes[i] = GRANULE;
	return reserve(EMU_FUNC_WINDOW) && reserve(EMU_PARAM_WINDOW) &&
	       reserve(EMU_LOCAL_WINDOW) && reserve(EMU_SHARED_WINDOW);
}
