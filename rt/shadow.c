/* SPDX-License-Identifier: Apache-2.0
 *
 * shadow.c: the runtime's memory on the device: the root, the arrays behind it,
 * the ring, and the shadow of whatever the program allocates.  All of it is
 * mapped with the driver's virtual memory functions, so that it belongs to no
 * context and is reached from all of one device.
 *
 * Memory once backed stays backed until the device's last context ends: kernels
 * may be running.  One device is watched, the first that is used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rt/drv.h"
#include "rt/state.h"

#define PAGE (UINT64_C(2) << 20)        /* of physical memory, what cuMemCreate gives */
#define SHARED_ROW 8192u
#define RING_ENTRIES 4096u
#define DEDUP_ENTRIES 16384u            /* a power of two, several times the ring */

struct map { uint64_t addr, bytes; CUmemGenericAllocationHandle handle; bool shadow; };
struct range { uint64_t addr, bytes; };

/* One of the fixed areas that is backed page by page. */
struct area { uint64_t base, bytes; uint8_t *page; };

static struct {
	CUdevice device;
	uint32_t nsm, nslots, reserved_shared, shared_per_sm;
	CUmemAllocationProp prop;
	CUmemAccessDesc access;
	struct map *map;
	size_t nmap, map_cap;
	struct range range[8];
	size_t nrange;
	struct gsan_root root;          /* as written at the start */
	uint64_t shadow_bytes;
	bool told_full;
	struct gsan_finding *ring;
	struct gsan_mailbox *mailbox;
	CUdeviceptr mailbox_device;
	uint32_t *bits;                 /* copy of the map at GSAN_MAP */
	struct rt_units units;
	struct area shared, shared_sites;
	uint32_t shared_slots[GSAN_SHARED_ROWS];        /* atomic */
} dev;

/* ---- mapping ------------------------------------------------------------------------------------- */

static bool zero(struct rt_ctx *c, uint64_t at, uint64_t bytes)
{
	return rt_ok(c, rt_drv.cuMemsetD8Async(at, 0, bytes, c->stream), "zeroing");
}

/* Whether the device can spare that much: never its last sixteenth, which the
 * program may be about to ask for. */
static bool can_spare(uint64_t bytes)
{
	size_t left, total;

	if (rt_flags.shadow_mb &&
	    dev.shadow_bytes + bytes > (uint64_t)rt_flags.shadow_mb << 20)
		return false;
	if (rt_drv.cuMemGetInfo(&left, &total) != CUDA_SUCCESS)
		return true;
	return left >= bytes && left - bytes >= total / 16;
}

/* New physical memory at `at`, zeroed; the caller waits for the stream. */
static bool map_at(struct rt_ctx *c, uint64_t at, uint64_t bytes, bool shadow)
{
	CUmemGenericAllocationHandle handle;
	CUresult (*unmap)(CUdeviceptr, size_t) =
		(CUresult (*)(CUdeviceptr, size_t))rt_real(RT_cuMemUnmap);

	if (shadow && !can_spare(bytes))
		return false;
	if (!rt_ok(c, rt_drv.cuMemCreate(&handle, bytes, &dev.prop, 0), "cuMemCreate"))
		return false;
	if (!rt_ok(c, REAL(cuMemMap, RT_cuMemMap)(at, bytes, 0, handle, 0), "cuMemMap")) {
		rt_drv.cuMemRelease(handle);
		return false;
	}
	if (!rt_ok(c, rt_drv.cuMemSetAccess(at, bytes, &dev.access, 1), "cuMemSetAccess") ||
	    !zero(c, at, bytes)) {
		unmap(at, bytes);
		rt_drv.cuMemRelease(handle);
		return false;
	}
	dev.map = rt_grow(dev.map, &dev.map_cap, dev.nmap + 1, sizeof *dev.map);
	dev.map[dev.nmap++] = (struct map){ at, bytes, handle, shadow };
	if (shadow)
		dev.shadow_bytes += bytes;
	return true;
}

static bool reserve(uint64_t at, uint64_t bytes)
{
	CUdeviceptr p = 0;

	if (rt_drv.cuMemAddressReserve(&p, bytes, 0, at, 0) != CUDA_SUCCESS)
		return false;
	dev.range[dev.nrange++] = (struct range){ p, bytes };
	return !at || p == at;
}

static void unmap_all(void)
{
	CUresult (*unmap)(CUdeviceptr, size_t) =
		(CUresult (*)(CUdeviceptr, size_t))rt_real(RT_cuMemUnmap);

	for (size_t i = 0; i < dev.nmap; i++) {
		unmap(dev.map[i].addr, dev.map[i].bytes);
		rt_drv.cuMemRelease(dev.map[i].handle);
	}
	dev.nmap = 0;
	for (size_t i = 0; i < dev.nrange; i++)
		rt_drv.cuMemAddressFree(dev.range[i].addr, dev.range[i].bytes);
	dev.nrange = 0;
	dev.shadow_bytes = 0;
}

/* ---- set-up --------------------------------------------------------------------------------------- */

static int attribute(CUdevice_attribute which)
{
	int value = 0;

	if (rt_drv.cuDeviceGetAttribute(&value, which, dev.device) != CUDA_SUCCESS)
		return 0;
	return value;
}

/* The greatest power of two of objects that fit `budget` bytes. */
static uint32_t power(uint64_t budget, uint64_t each)
{
	uint32_t n = 64;

	while ((uint64_t)n * 2 * each <= budget && n < 1u << 24)
		n *= 2;
	return n;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t fence_bytes(void)
{
	return (uint64_t)dev.nslots * GSAN_FENCE_LOGS * GSAN_FENCES * sizeof(struct gsan_fence);
}

/* The arrays behind the root, one after the other in one piece.  All grow with
 * the number of slots, which is what can happen at once: about 440 KiB a slot. */
static bool set_up_arrays(struct rt_ctx *c, const char **why)
{
	struct gsan_root *r = &dev.root;
	const uint64_t n = dev.nslots;
	struct { uint64_t *at, bytes; } array[25];
	int narrays = 0;
	uint64_t total = 0, base;

	r->nsnaps = power(n << 16, GSAN_LARGE_BYTES);
	r->cross_bytes = GSAN_CROSS_BYTES(dev.nslots);
	r->ncrosses = power(n << 16, r->cross_bytes);
	r->nfews = power(n << 14, GSAN_FEW_BYTES);
	if (r->nfews > GSAN_MOST_FEWS)
		r->nfews = GSAN_MOST_FEWS;
	r->nknows = power(n << 14, GSAN_SMALL_BYTES);
	r->nwords = power(n << 15, sizeof(struct gsan_word));
	r->ndedup = DEDUP_ENTRIES;
	r->nring = RING_ENTRIES;
#define ARRAY(field, size) \
	(array[narrays].at = &r->field, array[narrays++].bytes = round_up(size, 256))
	ARRAY(blocks, n * sizeof(struct gsan_block));
	ARRAY(warps, n * 32 * sizeof(struct gsan_warp));
	ARRAY(lanes, n * 1024 * sizeof(struct gsan_lane));
	ARRAY(history, n * GSAN_HISTORY * sizeof(struct gsan_tenant));
	ARRAY(knows, (uint64_t)r->nknows * GSAN_SMALL_BYTES);
	ARRAY(snaps, (uint64_t)r->nsnaps * GSAN_LARGE_BYTES);
	ARRAY(crosses, (uint64_t)r->ncrosses * r->cross_bytes);
	ARRAY(fews, (uint64_t)r->nfews * GSAN_FEW_BYTES);
	ARRAY(words, (uint64_t)r->nwords * sizeof(struct gsan_word));
	ARRAY(launches, (uint64_t)GSAN_LAUNCHES * sizeof(struct gsan_launch));
	ARRAY(self, (uint64_t)dev.nsm * 64 * sizeof(uint64_t));
	ARRAY(fences, fence_bytes());
	ARRAY(clusters, 2 * n * sizeof(struct gsan_cluster));
	ARRAY(mbars, n * GSAN_MBARS * sizeof(struct gsan_mbar));
	ARRAY(groups, n * 1024 * sizeof(struct gsan_groups));
	ARRAY(logs, n * 32 * sizeof(struct gsan_log));
	ARRAY(guests, n * GSAN_GUESTS * sizeof(struct gsan_guest));
	ARRAY(edits, GSAN_EDITS * sizeof(struct gsan_map));
	/* (PTX ISA, cp.async.bulk: sm_90) */
	if (attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9)
		ARRAY(queues, n * sizeof(struct gsan_queue));
	/* (PTX ISA, Tensor Memory: sm_100 and later, but not sm_12x) */
	if (attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 10) {
		ARRAY(tmems, n * sizeof(struct gsan_tmem));
		ARRAY(tcs, n * 32 * sizeof(struct gsan_tc));
	}
	ARRAY(dedup, (uint64_t)r->ndedup * sizeof(struct gsan_dedup));
#undef ARRAY
	for (int i = 0; i < narrays; i++)
		total += array[i].bytes;
	total = round_up(total, PAGE);
	*why = "the device has no memory for the runtime's state";
	if (!reserve(0, total))
		return false;
	base = dev.range[dev.nrange - 1].addr;
	if (!map_at(c, base, total, false))
		return false;
	for (int i = 0; i < narrays; i++) {
		*array[i].at = base;
		base += array[i].bytes;
	}
	rt_verbose(1, "%u multiprocessors, %u slots, %llu MiB of state", dev.nsm, dev.nslots,
		   (unsigned long long)(total >> 20));
	return true;
}

/* The ring and the mailbox: host memory, so that they outlive a context. */
static bool set_up_ring(const char **why)
{
	const size_t ring = RING_ENTRIES * sizeof(struct gsan_finding);
	const size_t maps = round_up(ring + sizeof(struct gsan_mailbox), 4096);
	const size_t early = maps + round_up(GSAN_MAPS * sizeof(struct gsan_map), 4096);
	const size_t bytes = early + round_up(GSAN_EARLY * sizeof(struct gsan_early), 4096);
	struct gsan_map *known;
	CUdeviceptr p;

	*why = "the driver maps no host memory into the device";
	if (!dev.ring) {
		void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (m == MAP_FAILED)
			return false;
		dev.ring = m;
		dev.mailbox = (struct gsan_mailbox *)((char *)m + ring);
	}
	memset(dev.ring, 0, maps);
	known = (struct gsan_map *)((char *)dev.ring + maps);
	rt_maps_into(known);
	rt_early_into((struct gsan_early *)((char *)dev.ring + early));
	if (REAL(cuMemHostRegister_v2, RT_cuMemHostRegister_v2)(dev.ring, bytes,
	    CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) != CUDA_SUCCESS ||
	    rt_drv.cuMemHostGetDevicePointer(&p, dev.ring, 0) != CUDA_SUCCESS)
		return false;
	dev.root.ring = p;
	dev.mailbox_device = p + ring;
	dev.root.maps = p + maps;
	dev.root.early = p + early;
	return true;
}

static void set_up_area(struct area *a, uint64_t base, uint64_t bytes)
{
	a->base = base;
	a->bytes = bytes;
	rt_free(a->page);
	a->page = rt_alloc(bytes / PAGE);
}

/* A bit for each choice that has the last of its values. */
static uint32_t choices(void)
{
	uint32_t bits = 0;

#define CHOICE(name, values, help) \
	for (int last = 0, i = 0;; i++) { \
		last += (values)[i] == ' '; \
		if (!(values)[i]) { \
			bits |= rt_flags.name == last ? GSAN_OPT_CHOICE(GSAN_CHOICE_##name) : 0; \
			break; \
		} \
	}
#include "rt/choices.def"
#undef CHOICE
	return bits;
}

static uint32_t options(void)
{
	return (rt_flags.report_bugs ? 0 : GSAN_OPT_OFF) |
	       (rt_flags.volatile_is_weak ? GSAN_OPT_VOLATILE_WEAK : 0) |
	       (rt_flags.report_atomic_races ? 0 : GSAN_OPT_NO_ATOMIC) |
	       (rt_flags.reconverge ? 0 : GSAN_OPT_APART) | choices();
}

static bool set_up_root(struct rt_ctx *c, const char **why)
{
	struct gsan_root *r = &dev.root;

	*why = "the addresses of its shadow are taken";
	if (!reserve(GSAN_SHADOW, (GSAN_WINDOW + 1) * 4) || !reserve(GSAN_SITES, (GSAN_WINDOW + 1) * 2) ||
	    !reserve(GSAN_ROOT, GSAN_ROOT_BYTES))
		return false;
	set_up_area(&dev.shared, GSAN_SHADOW_SHARED, UINT64_C(1) << 36);
	set_up_area(&dev.shared_sites, GSAN_SITES_SHARED, UINT64_C(1) << 35);
	*why = "the device has no memory for the runtime's state";
	if (!map_at(c, GSAN_ROOT, PAGE, false) || !map_at(c, GSAN_MAP, PAGE, false))
		return false;
	r->abi = GSAN_ABI;
	r->nsm = dev.nsm;
	r->nslots = dev.nslots;
	r->options = options();
	r->perturb = (uint32_t)rt_flags.perturb;
	r->next_site = 1;
	if (!set_up_arrays(c, why) || !set_up_ring(why))
		return false;
	*why = "the runtime's state cannot be written";
	return rt_wait(c) && rt_write(c, GSAN_ROOT, r, sizeof *r);
}

bool rt_engine_set_up(struct rt_ctx *c, CUdevice device, const char **why)
{
	size_t granularity = 0;
	uint32_t *bits;

	dev.device = device;
	memset(&dev.root, 0, sizeof dev.root);
	memset(dev.shared_slots, 0, sizeof dev.shared_slots);
	dev.nsm = (uint32_t)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	dev.nslots = dev.nsm * GSAN_SLOTS_PER_SM;
	if (dev.nslots > GSAN_MAX_SLOTS)
		dev.nslots = GSAN_MAX_SLOTS / dev.nsm * dev.nsm;
	dev.reserved_shared =
		(uint32_t)attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
	dev.shared_per_sm =
		(uint32_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	dev.prop = (CUmemAllocationProp){ .type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev.device } };
	dev.access = (CUmemAccessDesc){ .location = dev.prop.location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	if (!dev.nslots || !attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) ||
	    rt_drv.cuMemGetAllocationGranularity(&granularity, &dev.prop,
		CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS ||
	    !granularity || PAGE % granularity) {
		*why = "the device cannot map memory at given addresses";
		return false;
	}
	bits = rt_try_alloc(RT_UNITS / 8);
	if (!bits || !set_up_root(c, why)) {
		if (!bits)
			*why = "the host has no memory for the runtime's state";
		rt_free(bits);
		unmap_all();
		return false;
	}
	rt_free(dev.bits);
	dev.bits = bits;
	rt_ring_restart();
	return true;
}

void rt_engine_tear_down(void)
{
	unmap_all();
	REAL(cuMemHostUnregister, RT_cuMemHostUnregister)(dev.ring);
	rt_units_free(&dev.units);
}

uint32_t rt_nsm(void)
{
	return dev.nsm;
}

struct gsan_finding *rt_ring(uint32_t *n)
{
	*n = RING_ENTRIES;
	return dev.ring;
}

void *rt_mailbox(CUdeviceptr *device)
{
	*device = dev.mailbox_device;
	return dev.mailbox;
}

/* ---- shadow of global memory ------------------------------------------------------------------------- */

static void say_full(void)
{
	if (dev.told_full)
		return;
	dev.told_full = true;
	rt_say("no device memory is left for shadow; some memory is not watched");
}

/* Records and sites of units u to end-1, which are all without. */
static bool map_units(struct rt_ctx *c, uint32_t u, uint32_t end)
{
	const uint64_t n = end - u;

	if (!can_spare(n * GSAN_UNIT * 6) ||
	    !map_at(c, GSAN_SHADOW + u * GSAN_UNIT * 4, n * GSAN_UNIT * 4, true))
		return false;
	if (!map_at(c, GSAN_SITES + u * GSAN_UNIT * 2, n * GSAN_UNIT * 2, true)) {
		struct map *m = &dev.map[--dev.nmap];

		/* Nothing could have reached it: its bit was never set. */
		REAL(cuMemUnmap, RT_cuMemUnmap)(m->addr, m->bytes);
		rt_drv.cuMemRelease(m->handle);
		dev.shadow_bytes -= m->bytes;
		return false;
	}
	return true;
}

static void show(uint32_t u, bool on)
{
	if (on)
		dev.bits[u / 32] |= 1u << u % 32;
	else
		dev.bits[u / 32] &= ~(1u << u % 32);
	rt_unit(&dev.units, u)->shown = on;
}

static bool write_bits(struct rt_ctx *c, uint32_t first, uint32_t last)
{
	return rt_write(c, GSAN_MAP + first / 32 * 4, &dev.bits[first / 32],
			(last / 32 - first / 32 + 1) * 4);
}

/* The same for a range of units that does not wrap around the window. */
static bool back_units(struct rt_ctx *c, uint32_t first, uint32_t last, uint32_t high)
{
	bool good = true, changed = false;

	for (uint32_t u = first; u <= last; u++) {
		if (!rt_unit_ref(&dev.units, u, high)) {
			good = false;
			if (rt_unit(&dev.units, u)->shown) {
				show(u, false);
				changed = true;
			}
		}
	}
	if (changed && !write_bits(c, first, last))
		return false;
	changed = false;
	for (uint32_t u = first, end; u <= last; u = end) {
		struct rt_unit *unit = rt_unit(&dev.units, u);

		for (end = u + 1; !unit->mapped && end <= last && !rt_unit(&dev.units, end)->mapped; )
			end++;
		if (!unit->mapped) {
			if (!map_units(c, u, end)) {
				good = false;
				continue;
			}
			for (uint32_t i = u; i < end; i++)
				rt_unit(&dev.units, i)->mapped = 1;
		} else if (unit->dirty) {
			if (!zero(c, GSAN_SHADOW + u * GSAN_UNIT * 4, GSAN_UNIT * 4) ||
			    !zero(c, GSAN_SITES + u * GSAN_UNIT * 2, GSAN_UNIT * 2))
				good = false;
		}
		for (uint32_t i = u; i < end; i++)
			rt_unit(&dev.units, i)->dirty = 0;
	}
	if (!rt_wait(c))
		return false;
	for (uint32_t u = first; u <= last; u++) {
		struct rt_unit *unit = rt_unit(&dev.units, u);

		if (unit->mapped && !unit->clash && !unit->shown) {
			show(u, true);
			changed = true;
		}
	}
	return (!changed || write_bits(c, first, last)) && good;
}

/* Splits a range of addresses where its units wrap around the window. */
static uint32_t piece(uint64_t addr, uint64_t bytes, uint64_t *taken, uint32_t *last, uint32_t *high)
{
	const uint32_t first = (uint32_t)((addr & GSAN_WINDOW) / GSAN_UNIT);
	const uint64_t to_end = GSAN_WINDOW + 1 - (addr & GSAN_WINDOW);

	*taken = bytes < to_end ? bytes : to_end;
	*last = (uint32_t)(((addr & GSAN_WINDOW) + *taken - 1) / GSAN_UNIT);
	*high = (uint32_t)(addr / (GSAN_WINDOW + 1));
	return first;
}

bool rt_back_range(struct rt_ctx *c, uint64_t addr, uint64_t bytes)
{
	uint32_t first, last, high;
	uint64_t taken;
	bool good = true;

	for (; bytes; addr += taken, bytes -= taken) {
		first = piece(addr, bytes, &taken, &last, &high);
		good = back_units(c, first, last, high) && good;
	}
	if (!good && !c->sick)
		say_full();
	return good;
}

void rt_mem_gone(const struct rt_block *b)
{
	(void)b;
}

void rt_unback_range(uint64_t addr, uint64_t bytes)
{
	uint32_t first, last, high;
	uint64_t taken;

	if (!rt_dev_ready())
		return;
	for (; bytes; addr += taken, bytes -= taken) {
		first = piece(addr, bytes, &taken, &last, &high);
		for (uint32_t u = first; u <= last; u++)
			rt_unit_unref(&dev.units, u);
	}
}

/* ---- shadow of shared memory --------------------------------------------------------------------------- */

static bool back_pages(struct rt_ctx *c, struct area *a, uint64_t from, uint64_t to)
{
	const uint64_t last = (to - 1) / PAGE;

	if (to > a->bytes)
		return false;
	for (uint64_t p = from / PAGE, end; p <= last; p = end) {
		for (end = p + 1; end <= last && a->page[end] == a->page[p]; )
			end++;
		if (a->page[p])
			continue;
		if (!map_at(c, a->base + p * PAGE, (end - p) * PAGE, true))
			return false;
		memset(a->page + p, 1, end - p);
	}
	return true;
}

static uint32_t rows_of(uint64_t bytes)
{
	uint64_t rows = (bytes + dev.reserved_shared + SHARED_ROW - 1) / SHARED_ROW;

	return rows < GSAN_SHARED_ROWS ? (uint32_t)rows : GSAN_SHARED_ROWS;
}

/* Warps give their registers back one by one: more blocks than the occupancy says
 * may be there, some of them all but over.  Shared memory is given back by whole
 * blocks. */
uint32_t rt_shared_slots(uint64_t bytes, bool alone)
{
	const uint64_t fit = dev.shared_per_sm / (bytes + dev.reserved_shared);
	uint64_t slots = (uint64_t)dev.nsm * (alone && fit && fit < GSAN_SLOTS_PER_SM ? fit : GSAN_SLOTS_PER_SM);

	return slots < dev.nslots ? (uint32_t)slots : dev.nslots;
}

bool rt_shared_backed(uint64_t bytes, uint32_t slots)
{
	const uint32_t rows = rows_of(bytes);

	for (uint32_t r = 0; r < rows; r++)
		if (__atomic_load_n(&dev.shared_slots[r], __ATOMIC_RELAXED) < slots)
			return false;
	return true;
}

bool rt_back_shared(struct rt_ctx *c, uint64_t bytes, uint32_t slots)
{
	const uint32_t rows = rows_of(bytes);
	uint32_t now[GSAN_SHARED_ROWS];

	if (slots > dev.nslots)
		slots = dev.nslots;
	memcpy(now, dev.shared_slots, sizeof now);
	for (uint32_t r = 0; r < rows; r++) {
		const uint64_t at = (uint64_t)r * dev.nslots;

		if (now[r] >= slots)
			continue;
		if (!back_pages(c, &dev.shared, at << 15, (at + slots) << 15) ||
		    !back_pages(c, &dev.shared_sites, at << 14, (at + slots) << 14)) {
			if (!c->sick)
				say_full();
			return false;
		}
		now[r] = slots;
	}
	if (!rt_wait(c) ||
	    !rt_write(c, GSAN_ROOT + offsetof(struct gsan_root, shared_slots), now, sizeof now))
		return false;
	for (uint32_t r = 0; r < rows; r++)
		__atomic_store_n(&dev.shared_slots[r], now[r], __ATOMIC_RELAXED);
	return true;
}

/* ---- reading the root, and clocks that run out ------------------------------------------------------------ */

bool rt_read_counters(struct rt_ctx *c, uint64_t counters[GSAN_COUNTER_COUNT])
{
	unsigned long long v[GSAN_COUNTER_COUNT];

	if (!rt_read(c, v, GSAN_ROOT + offsetof(struct gsan_root, counters), sizeof v))
		return false;
	for (int i = 0; i < GSAN_COUNTER_COUNT; i++)
		counters[i] = v[i];
	return true;
}

bool rt_read_count(struct rt_ctx *c, uint32_t dedup, uint64_t *count)
{
	struct gsan_dedup d;

	if (dedup >= dev.root.ndedup ||
	    !rt_read(c, &d, dev.root.dedup + (uint64_t)dedup * sizeof d, sizeof d))
		return false;
	*count = d.count;
	return true;
}

/* How often each kernel was launched shares an array with what must go. */
static bool restart_launches(struct rt_ctx *c)
{
	const size_t bytes = GSAN_LAUNCHES * sizeof(struct gsan_launch);
	struct gsan_launch *l = rt_try_alloc(bytes);
	bool good = l && rt_read(c, l, dev.root.launches, bytes);

	for (size_t i = 0; good && i < GSAN_LAUNCHES; i++) {
		const uint32_t kernel = l[i].counted_kernel, counted = l[i].counted;

		memset(&l[i], 0, sizeof l[i]);
		l[i].counted_kernel = kernel;
		l[i].counted = counted;
	}
	good = good && rt_write(c, dev.root.launches, l, bytes);
	rt_free(l);
	return good;
}

void rt_restart_clocks(struct rt_ctx *c)
{
	const uint64_t n = dev.nslots, at = GSAN_ROOT + offsetof(struct gsan_root, max_clock);
	const uint64_t at_sc = GSAN_ROOT + offsetof(struct gsan_root, sc_next);
	const uint64_t at_shared = GSAN_ROOT + offsetof(struct gsan_root, sc_shared);
	uint32_t max = 0, fences = 0;
	bool good;

	if (!rt_read(c, &max, at, sizeof max) || !rt_read(c, &fences, at_sc, sizeof fences) ||
	    (max < GSAN_CLOCK_MAX / 4 * 3 && fences < UINT32_MAX / 4 * 3))
		return;
	rt_verbose(1, "clocks start again");
	good = zero(c, dev.root.blocks, n * sizeof(struct gsan_block)) &&
	       zero(c, dev.root.warps, n * 32 * sizeof(struct gsan_warp)) &&
	       zero(c, dev.root.lanes, n * 1024 * sizeof(struct gsan_lane)) &&
	       zero(c, dev.root.history, n * GSAN_HISTORY * sizeof(struct gsan_tenant)) &&
	       zero(c, dev.root.words, (uint64_t)dev.root.nwords * sizeof(struct gsan_word)) &&
	       zero(c, dev.root.self, (uint64_t)dev.nsm * 64 * sizeof(uint64_t)) &&
	       zero(c, dev.root.clusters, 2 * n * sizeof(struct gsan_cluster)) &&
	       zero(c, dev.root.mbars, n * GSAN_MBARS * sizeof(struct gsan_mbar)) &&
	       zero(c, dev.root.groups, n * 1024 * sizeof(struct gsan_groups)) &&
	       zero(c, dev.root.logs, n * 32 * sizeof(struct gsan_log)) &&
	       zero(c, dev.root.guests, n * GSAN_GUESTS * sizeof(struct gsan_guest)) &&
	       (!dev.root.queues || zero(c, dev.root.queues, n * sizeof(struct gsan_queue))) &&
	       (!dev.root.tcs || (zero(c, dev.root.tmems, n * sizeof(struct gsan_tmem)) &&
				  zero(c, dev.root.tcs, n * 32 * sizeof(struct gsan_tc)))) &&
	       zero(c, dev.root.fences, fence_bytes());
	for (size_t i = 0; i < dev.nmap && good; i++)
		if (dev.map[i].shadow)
			good = zero(c, dev.map[i].addr, dev.map[i].bytes);
	max = 0;
	if (!good || !restart_launches(c) || !rt_write(c, at, &max, sizeof max) ||
	    !rt_write(c, at_sc, &max, sizeof max) || !rt_write(c, at_shared, &max, sizeof max))
		rt_verbose(1, "the clocks could not be started again");
}
