/* SPDX-License-Identifier: Apache-2.0
 *
 * base.cuh: registers, loads and stores of a given strength, and the pointers
 * behind the root.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

#define FN static __device__ __forceinline__
/* Not inlined; all names that end up in a user's module are __gsan_v1_*. */
#define SLOW extern "C" __device__ __noinline__
#define take_lock       __gsan_v1_take_lock
#define meet_all        __gsan_v1_meet_all
#define join_own        __gsan_v1_join_own
#define join_cross      __gsan_v1_join_cross
#define snap_knows      __gsan_v1_snap_knows
#define refs_know       __gsan_v1_refs_know
#define join_rows       __gsan_v1_join_rows
#define snap_begin      __gsan_v1_snap_begin
#define snap_make       __gsan_v1_snap_make
#define refs_add        __gsan_v1_refs_add
#define lane_knows      __gsan_v1_lane_knows
#define find_tenant     __gsan_v1_find_tenant
#define first_of        __gsan_v1_first_of
#define judge           __gsan_v1_judge
#define judge_all       __gsan_v1_judge_all
#define judge_late      __gsan_v1_judge_late
#define evict           __gsan_v1_evict
#define plain_slow      __gsan_v1_plain_slow
#define plain_again     __gsan_v1_plain_again
#define plain_rest      __gsan_v1_plain_rest
#define plain_copied    __gsan_v1_plain_copied
#define settled         __gsan_v1_settled
#define plain_one       __gsan_v1_plain_one
#define plain_piece     __gsan_v1_plain_piece
#define plain_wide      __gsan_v1_plain_wide
#define plain_sixteen   __gsan_v1_plain_sixteen
#define row_quick       __gsan_v1_row_quick
#define row_rest        __gsan_v1_row_rest
#define cluster_phases  __gsan_v1_cluster_phases
#define cluster_awaits  __gsan_v1_cluster_awaits
#define gone_astray     __gsan_v1_gone_astray
#define beside_slow     __gsan_v1_beside_slow
#define column_settled  __gsan_v1_column_settled
#define column_put      __gsan_v1_column_put
#define one_granule     __gsan_v1_one_granule
#define line_open       __gsan_v1_line_open
#define range           __gsan_v1_range
#define word_find       __gsan_v1_word_find
#define word_add        __gsan_v1_word_add
#define join_others     __gsan_v1_join_others
#define publish_one     __gsan_v1_publish_one
#define observe_entry   __gsan_v1_observe_entry
#define observe_all     __gsan_v1_observe_all
#define see             __gsan_v1_see
#define lane_private    __gsan_v1_lane_private
#define bring_one       __gsan_v1_bring_one
#define arrive_one      __gsan_v1_arrive_one
#define arrive_full     __gsan_v1_arrive_full
#define arrive_count    __gsan_v1_arrive_count
#define arrive_warp     __gsan_v1_arrive_warp
#define list_matters    __gsan_v1_list_matters
#define leave_full      __gsan_v1_leave_full
#define strong_granules __gsan_v1_strong_granules
#define acquire         __gsan_v1_acquire
#define fence_release   __gsan_v1_fence_release
#define publish         __gsan_v1_publish
#define observe         __gsan_v1_observe
#define access_before   __gsan_v1_access_before
#define access_after    __gsan_v1_access_after
#define fence_sc        __gsan_v1_fence_sc
#define fence_enter     __gsan_v1_fence_enter
#define fence_knows     __gsan_v1_fence_knows
#define log_knows       __gsan_v1_log_knows
#define fence_share     __gsan_v1_fence_share
#define shared_knows    __gsan_v1_shared_knows
#define join_block      __gsan_v1_join_block
#define snap_continue   __gsan_v1_snap_continue
#define snap_within     __gsan_v1_snap_within
#define one_within      __gsan_v1_one_within
#define bring_private   __gsan_v1_bring_private
#define arrive_slow     __gsan_v1_arrive_slow
#define leave_slow      __gsan_v1_leave_slow
#define leave_rest      __gsan_v1_leave_rest
#define arrive_counted  __gsan_v1_arrive_counted
#define leave_counted   __gsan_v1_leave_counted
#define take_pending    __gsan_v1_take_pending
#define share_private   __gsan_v1_share_private
#define hold_up         __gsan_v1_hold_up
#define launch_begin    __gsan_v1_launch_begin
#define launch_deserted __gsan_v1_launch_deserted
#define launch_beside   __gsan_v1_launch_beside
#define launch_enter    __gsan_v1_launch_enter
#define block_begin     __gsan_v1_block_begin
#define clear_bars      __gsan_v1_clear_bars
#define block_end       __gsan_v1_block_end

/* Loops off the fast path stay loops: the text of all this goes through ptxas
 * with every module. */
#define ROLLED _Pragma("unroll 1")
#define API extern "C" __device__ __noinline__

/* The module's own; 0 until its init kernel ran. */
extern "C" __device__ u32 __gsan_site_base;

template<class T> FN T *at(u64 p) { return (T *)p; }

/* Atomics on global memory; those of CUDA C work on generic addresses, and that
 * costs twice as much. */
#define ATOMIC(name, op, type, reg, T) \
FN T name(T *p, T v) \
{ \
	T old; \
	asm volatile("atom.global." op "." type " %0, [%1], %2;" : reg(old) : "l"(p), ATOMIC_##T(v) : "memory"); \
	return old; \
}
#define ATOMIC_u32 "r"
#define ATOMIC_u64 "l"
ATOMIC(fetch_add, "add", "u32", "=r", u32)
ATOMIC(fetch_max, "max", "u32", "=r", u32)
ATOMIC(fetch_and, "and", "b32", "=r", u32)
ATOMIC(fetch_or, "or", "b32", "=r", u32)
ATOMIC(exchange, "exch", "b32", "=r", u32)
ATOMIC(fetch_add64, "add", "u64", "=l", u64)
ATOMIC(exchange64, "exch", "b64", "=l", u64)

FN u32 swap32(u32 *p, u32 old, u32 now)
{
	u32 v;
	asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(v) : "l"(p), "r"(old), "r"(now) : "memory");
	return v;
}

/* Compare and swap whose answer need not be waited for at once. */
FN u64 swap(u64 *p, u64 old, u64 now)
{
	u64 v;
	asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(old), "l"(now) : "memory");
	return v;
}

FN struct gsan_root *root(void) { return at<struct gsan_root>(GSAN_ROOT); }

/* A field of it that the host wrote before any kernel: a function reads it once, and early. */
FN u32 fixed(const uint32_t *p) { u32 v; asm("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
FN u64 fixed(const uint64_t *p) { u64 v; asm("ld.global.nc.u64 %0, [%1];" : "=l"(v) : "l"(p)); return v; }
#define ROOT(field)     fixed(&root()->field)

/* The same where it is written down, to be on its way together with others. */
FN u32 fixed_now(const uint32_t *p) { u32 v; asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
FN u64 fixed_now(const uint64_t *p) { u64 v; asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(v) : "l"(p)); return v; }
#define ROOT_NOW(field) fixed_now(&root()->field)

/* Likewise, of root `r`. */
template<class T, u32 OFF> FN T *fixed_at(const struct gsan_root *r)
{
	u64 v;
	asm volatile("ld.global.nc.u64 %0, [%1+%2];" : "=l"(v) : "l"(r), "n"(OFF));
	return (T *)v;
}
#define ROOT_AT(r, type, field) fixed_at<struct gsan_##type, OF(root, field)>(r)

FN u32 sreg_lanemask_eq(void) { u32 r; asm("mov.u32 %0, %%lanemask_eq;" : "=r"(r)); return r; }
FN u32 sreg_laneid(void) { u32 r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
FN u32 sreg_smid(void) { u32 r; asm volatile("mov.u32 %0, %%smid;" : "=r"(r)); return r; }
FN u32 sreg_warpid(void) { u32 r; asm volatile("mov.u32 %0, %%warpid;" : "=r"(r)); return r; }
FN u64 sreg_gridid(void) { u64 r; asm("mov.u64 %0, %%gridid;" : "=l"(r)); return r; }
FN u32 sreg_shared(void) { u32 r; asm("mov.u32 %0, %%total_smem_size;" : "=r"(r)); return r; }

/* Linear numbers of the thread in its block and of the block in its grid. */
FN u32 thread_number(void)
{
	return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

FN u64 block_number(void)
{
	return blockIdx.x + (u64)gridDim.x * (blockIdx.y + (u64)gridDim.y * blockIdx.z);
}

/* Loads that go past L1: state that other multiprocessors write. */
FN u32 load(const u32 *p)
{
	u32 v;
	asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

FN u64 load64(const u64 *p)
{
	u64 v;
	asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
	return v;
}

FN void store(u32 *p, u32 v)
{
	asm volatile("st.volatile.global.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}

FN uint4 load_cg(const void *p)
{
	uint4 v;
	asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
	return v;
}

FN u32 clock32(void) { u32 v; asm volatile("mov.u32 %0, %%clock;" : "=r"(v)); return v; }

FN void store_cg(void *p, uint4 v)
{
	asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};"
		     :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

FN void store_ca(void *p, uint4 v)
{
	asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
		     :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

/* What only threads of one block write, and by stores alone, as it is now. */
FN uint4 load_ca(const void *p)
{
	uint4 v;
	asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
	return v;
}

FN u64 load_ca64(const void *p)
{
	u64 v;
	asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
	return v;
}

FN u32 load_ca32(const u32 *p)
{
	u32 v;
	asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

/* The same where it may be in local memory, not put off until it is needed. */
FN u32 load_any(const u32 *p)
{
	u32 v;
	asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

FN u64 load_any(const u64 *p)
{
	u64 v;
	asm volatile("ld.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
	return v;
}

FN void store_ca32(u32 *p, u32 v)
{
	asm volatile("st.global.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}

FN void store_ca2(u32 *p, u32 x, u32 y)
{
	asm volatile("st.global.v2.u32 [%0], {%1, %2};" :: "l"(p), "r"(x), "r"(y) : "memory");
}

FN uint4 four(u32 x, u32 y, u32 z, u32 w)
{
	uint4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}

/* The same of what lies at a constant offset, which is part of the instruction: otherwise nvcc adds it up first. */
#define OF(type, field) __builtin_offsetof(struct gsan_##type, field)

#define LOAD4(name, how) \
template<u32 OFF> FN uint4 name(const void *p) \
{ \
	uint4 v; \
	asm volatile("ld.global" how ".v4.u32 {%0, %1, %2, %3}, [%4+%5];" \
		     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p), "n"(OFF) : "memory"); \
	return v; \
}
LOAD4(load_ca, "")
LOAD4(load_cg, ".cg")

template<u32 OFF> FN u32 load(const void *p)
{
	u32 v;
	asm volatile("ld.volatile.global.u32 %0, [%1+%2];" : "=r"(v) : "l"(p), "n"(OFF) : "memory");
	return v;
}

template<u32 OFF> FN u32 load_ca32(const void *p)
{
	u32 v;
	asm volatile("ld.global.u32 %0, [%1+%2];" : "=r"(v) : "l"(p), "n"(OFF) : "memory");
	return v;
}

template<u32 OFF> FN void store_ca(void *p, uint4 v)
{
	asm volatile("st.global.v4.u32 [%0+%1], {%2, %3, %4, %5};"
		     :: "l"(p), "n"(OFF), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

template<u32 OFF> FN void store(void *p, u32 v)
{
	asm volatile("st.volatile.global.u32 [%0+%1], %2;" :: "l"(p), "n"(OFF), "r"(v) : "memory");
}

/* What nvcc computes once, not wherever it is used. */
template<class T> FN T *kept(T *p)
{
	asm volatile("" : "+l"(p));
	return p;
}
FN u64 kept(u64 v) { asm volatile("" : "+l"(v)); return v; }
FN u32 kept(u32 v) { asm volatile("" : "+r"(v)); return v; }

FN bool same4(uint4 a, uint4 b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }

/* The lanes that are together, the caller's own among them.  To ptxas the bare mask is the same in
 * every lane, and what it makes of a .sync by such a mask asks one lane for it; but lanes of two
 * groups are at one place at one moment, the mask of the lane that is asked is complete, all go
 * on, and who is late waits for ever.  A mask with the lane's own bit in it (which it has) is the
 * lane's own. */
FN u32 together(void) { return __activemask() | sreg_lanemask_eq(); }

/* The lanes of `group`, the caller's own, come together. */
SLOW void meet_all(u32 group) { __syncwarp(group); }

FN void meet(u32 group)
{
	if (group & ~__activemask())
		meet_all(group);
}

/* What the rewriter calls ends with all lanes together that came together:
 * ptxas does not bring them together where a call returns.  `group_` are those: who speaks
 * for others speaks for no more, as no more wait for him. */
#define TOGETHER(...) do { \
	u32 group_ = together(); \
	__VA_ARGS__ \
	meet(group_); \
} while (0)

/* The lanes that are together and came by calls of one kind: those of another call of the same
 * function may be at the same place at the same time, and what the first lane says for all
 * of them is not what they say. */
FN u32 of_kind(u32 kind) { return __match_any_sync(__activemask(), kind) | sreg_lanemask_eq(); }

/* What the first of `group` sees holds for all of them: other lanes of the warp
 * may leave the kernel between two looks. */
FN bool agreed(u32 group, bool x) { return __shfl_sync(group, (int)x, __ffs(group) - 1); }

/* What the user chose where the documentation leaves room: has it its last value? */
FN bool chosen(u32 choice) { return ROOT(options) & GSAN_OPT_CHOICE(choice); }

FN void count(u32 which, u64 n) { fetch_add64((u64 *)&root()->counters[which], n); }

/* Between stores, and between loads: what was stored before is seen by who sees what is stored
 * behind it.  Between a store and a load of something else it orders nothing, which takes
 * __threadfence(): that is fence.sc, and waits longer.  (PTX ISA, membar/fence) */
FN void fence(void) { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

FN bool try_lock(u32 *lock)
{
	u32 old;
	asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(lock) : "memory");
	return !old;
}

/* Until nobody has it, at a moment.  By looks, since each atomic operation that acquires empties the
 * multiprocessor's L1, those that are in vain as well. */
FN void wait_lock(const u32 *lock)
{
	ROLLED
	do
		__nanosleep(100);
	while (load(lock));
}

FN void unlock(u32 *lock)
{
	u32 old;
	asm volatile("atom.release.gpu.global.exch.b32 %0, [%1], 0;" : "=r"(old) : "l"(lock) : "memory");
	(void)old;
}

/* By one lane of those that are together: of two, one would have the lock and
 * wait for the other to come along. */
SLOW void take_lock(u32 *lock)
{
	ROLLED
	while (!try_lock(lock))
		wait_lock(lock);
}

/* The lanes that are together do something one after the other.
 *
 * ptxas keeps where lanes meet again in registers of which there are 16, and
 * gives up where a kernel and all it calls need more.  So functions that call
 * others return early instead of nesting, and call with nothing to do rather
 * than not call. */
#define ONE_BY_ONE(...) BY_THESE(together(), __VA_ARGS__)

/* Only `lanes` of them, as all know. */
#define BY_THESE(lanes, ...) do { \
	u32 todo_ = (lanes); \
	ROLLED for (; todo_; todo_ &= todo_ - 1) \
		if (sreg_laneid() == __ffs(todo_) - 1) { \
			__VA_ARGS__ \
		} \
} while (0)

/* The first of `group`, or all of it, as `one` says. */
FN u32 one_or_all(u32 group, bool one) { return one ? group & (0 - group) : group; }

/* What of a shared address is the offset: a block of a cluster may see its own shared
 * memory where its peers do. */
#define SHARED_WINDOW   ((1u << GSAN_RANK_SHIFT) - 1)

FN struct gsan_block *block_of(u32 slot)
{
	return at<struct gsan_block>(ROOT(blocks)) + slot;
}

FN struct gsan_block *own_block(const struct gsan_warp *w) { return at<struct gsan_block>(w->block); }

FN struct gsan_lane *lane_of(const struct gsan_warp *w, u32 lane)
{
	return at<struct gsan_lane>(ROOT(lanes)) + (((u64)w->id << 5) + lane);
}

FN struct gsan_launch *launch_of(const struct gsan_block *b)
{
	return at<struct gsan_launch>(ROOT(launches)) + b->launch;
}

/* w->id is slot << 5 | warp: its slot's first warp context. */
FN struct gsan_warp *warp_of(u32 slot, u32 warp)
{
	return at<struct gsan_warp>(ROOT(warps)) + ((u64)slot << 5) + warp;
}

/* The highest clock of a block's threads so far. */
FN u32 block_clock(const struct gsan_block *b, u32 slot)
{
	u32 top = 0;
	ROLLED
	for (u32 k = 0; k < (b->ntid + 31) >> 5; k++) {
		u32 c = load(&warp_of(slot, k)->clock);
		if (c > top)
			top = c;
	}
	return top;
}

/* The clock's value, and on: where no other group of the warp can be at it. */
FN u32 clock_next(struct gsan_warp *w)
{
	u32 clock = load(&w->clock);
	w->clock = clock + 1;
	return clock;
}

/* Groups of a split warp move the clock one by one: set back by one of them, it
 * would lie below records of the other, which the next release leaves out. */
FN u32 tick_split(struct gsan_warp *w) { return fetch_add(&w->clock, 1); }

/* The clock is `least` at least. */
FN void clock_least(struct gsan_warp *w, u32 least) { fetch_max(&w->clock, least); }

/* What follows is at a later clock than `top`.  `whole`: all lanes of the warp are here. */
FN void clock_behind(struct gsan_warp *w, bool whole, u32 top)
{
	if (!whole)
		clock_least(w, top + 1);
	else if (w->clock <= top)
		w->clock = top + 1;
}

/* A releasing event: what the lane did so far is at the clock returned, what
 * follows at a later one.  `whole`: all lanes of the warp are here, and tick
 * once. */
FN u32 tick(struct gsan_warp *w, bool whole)
{
	if (!whole)
		return tick_split(w);
	return clock_next(w);
}

/* The same, where the clock has been loaded already. */
FN u32 tick_from(struct gsan_warp *w, bool whole, u32 clock)
{
	if (!whole)
		return tick_split(w);
	w->clock = clock + 1;
	return clock;
}

/* What warps keep of their last fences lies in rings, whose readers tell from the oldest
 * entry's clock what was overwritten: the groups of a split warp enter theirs one after
 * the other, from ring_begin to ring_end, with a clock of their own, ring_clock's. */
FN bool ring_begin(struct gsan_warp *w, u32 lanes)
{
	bool split = lanes != load(&w->live);
	if (split)
		take_lock(&w->lock);
	return split;
}

FN u32 ring_clock(struct gsan_warp *w, bool split) { return split ? tick_split(w) : clock_next(w); }

FN void ring_end(struct gsan_warp *w, bool split)
{
	if (split)
		unlock(&w->lock);
}
