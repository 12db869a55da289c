/* SPDX-License-Identifier: Apache-2.0
 *
 * peer.cuh: shared memory of the other blocks of a cluster: where it is, and
 * accesses to it.  (PTX ISA, State Spaces: Shared State Space; mapa, getctarank)
 *
 * The records of a block's shared memory are by its own threads and clocks.  What
 * a peer accesses there leaves a record as asynchronous operations do, which names
 * the thread and an interval of its warp.
 */
#define peer_number     __gsan_v1_peer_number
#define peer_before     __gsan_v1_peer_before
#define peer_after      __gsan_v1_peer_after
#define guest_enter     __gsan_v1_guest_enter
#define guest_begins    __gsan_v1_guest_begins
#define knows_begun     __gsan_v1_knows_begun
#define words_enter     __gsan_v1_words_enter

#define NOWHERE         (~0ull)

FN struct gsan_cluster *cluster_of(const struct gsan_block *b)
{
	return at<struct gsan_cluster>(ROOT(clusters)) + (b->cluster_at - 1);
}

/* The block of rank `rank` in the cluster: its slot, ~0 if there is none. */
SLOW u32 peer_slot(struct gsan_warp *w, u32 rank)
{
	struct gsan_block *b = own_block(w);
	if (rank == b->rank)
		return w->slot;
	if (!b->cluster_at)
		return ~0u;
	u32 slot = load(&cluster_of(b)->slot[rank & 15]);
	return slot & GSAN_PEER_ENDED ? ~0u : slot - 1;
}

FN u32 own_rank(void)
{
	u32 rank = 0;
#if __CUDA_ARCH__ >= 900
	asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
	return rank;
}

/* Of the block of which rank is an address? */
FN u32 rank_of(u64 addr)
{
	u32 rank = 0;
#if __CUDA_ARCH__ >= 900
	asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"((u32)addr));
#endif
	return rank;
}

/* Where the shared memory of the block of a rank begins, as instructions want it: in a cluster addresses have the rank in them, the
 * block's own as well, and without it are of rank 0. */
FN u32 shared_base(u32 rank)
{
	u32 base = 0;
#if __CUDA_ARCH__ >= 900
	asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(base) : "r"(0), "r"(rank));
#endif
	return base;
}

/* Where an address points that may be in a peer's shared memory: rank << 32 | offset. */
FN u64 cluster_offset(u64 addr)
{
	u32 rank = rank_of(addr);
	return (u64)rank << 32 | (((u32)addr - shared_base(rank)) & SHARED_WINDOW);
}

/* The same: slot << 32 | offset; NOWHERE if that is not known. */
FN u64 cluster_place(struct gsan_warp *w, u64 addr)
{
#if __CUDA_ARCH__ >= 900
	u64 at = cluster_offset(addr);
	/* Mostly the block's own, which is not to be looked up. */
	u32 slot = own_rank() == (u32)(at >> 32) ? w->id >> 5 : peer_slot(w, (u32)(at >> 32));
	return slot == ~0u ? NOWHERE : (u64)slot << 32 | (u32)at;
#else
	return (u64)w->slot << 32 | ((u32)addr & SHARED_WINDOW);
#endif
}

/* `addr` is of a block that is not there: where that is, for tell. */
FN u64 astray(u64 addr)
{
	u64 at = cluster_offset(addr);
	return owned_by((u32)(at >> 32)) | ((u32)at & ~7u) | 1;
}

/* Is a generic address in a peer's shared memory?  Then *addr is its shared::cluster
 * address. */
FN bool is_peer(u64 *addr)
{
#if __CUDA_ARCH__ >= 900
	u32 in;
	asm volatile("{\n\t.reg .pred p;\n\tisspacep.shared::cluster p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}"
		     : "=r"(in) : "l"(*addr));
	if (!in || is_shared(*addr))
		return false;
	asm volatile("cvta.to.shared::cluster.u64 %0, %1;" : "=l"(*addr) : "l"(*addr));
	return true;
#else
	return false;
#endif
}

/* The same by what the instruction says of the address. */
FN u64 place_of(struct gsan_warp *w, u64 addr, u32 op)
{
	if (op & GSAN_MBAR_CLUSTER)
		return cluster_place(w, addr);
	if (!(op & GSAN_MBAR_GENERIC))
		return (u64)w->slot << 32 | ((u32)addr & SHARED_WINDOW);
	if (is_peer(&addr))
		return cluster_place(w, addr);
	return is_shared(addr) ? (u64)w->slot << 32 | (shared_offset(addr) & SHARED_WINDOW) : NOWHERE;
}

/* Is the calling lane ordered after an access to a peer's memory?  `all`: is the
 * whole block? */
SLOW bool peer_over(struct gsan_warp *w, u64 r, u32 all)
{
	u32 who = (u32)(r >> 12) & 0x7fffff, number = GSAN_REC_CLOCK(r) & GSAN_PEER_MAX;
	struct gsan_block *b = block_of(who >> 10);
	struct gsan_log *log = log_of(who);
	u64 v = load64((u64 *)log->peer[number % GSAN_LOG_PEERS]);
	if (!of_launch(w, b) || (u32)(v >> 32) <= load(&b->start))
		return true;
	if ((u32)v != number) {
		count(GSAN_COUNT_ASYNC_LOST, 1);
		return true;
	}
	return event_known(w, who, (u32)(v >> 32), all);
}

/* The calling lane knows of a thread's access to a peer's memory and issues an operation of the async
 * proxy: as proxy_status of a record that the thread itself would have left.  What it does to memory of
 * its own block's peers is that thread's to fence, for all of the cluster's memory, and the issuing block's
 * where it is of another. */
SLOW u32 peer_status(struct gsan_warp *w, u64 prev)
{
	u32 who = (u32)(prev >> 12) & 0x7fffff, number = GSAN_REC_CLOCK(prev) & GSAN_PEER_MAX;
	struct gsan_block *b = block_of(who >> 10);
	u64 v = load64((u64 *)log_of(who)->peer[number % GSAN_LOG_PEERS]);
	u64 rec = (v & ~0xffffffffull) << 3 | (u64)who << 12 | (prev & ASYNC_WRITES ? GSAN_KIND_WRITE << 8 : 0) | (prev & 255);
	bool same = who >> 10 == w->slot;
	u32 end = end_of(w, rec);
	/* As peer_over. */
	if (!of_launch(w, b) || (u32)(v >> 32) <= load(&b->start) || (u32)v != number || !end)
		return STATUS_FINE;
	u32 said = proxy_status(w, rec, same, end, GSAN_PROXY_CLUSTER | (same ? 0 : GSAN_PROXY_SHARED));
	return same && said >> 16 == GSAN_WHY_PROXY ? (said & 0xffff) | GSAN_WHY_PROXY_PEER << 16 : said;
}

/* The number of the warp's interval, for the record of an access to a peer's memory;
 * 0 if there are no more. */
SLOW u32 peer_number(struct gsan_warp *w)
{
	struct gsan_log *log = log_of(w->id << 5);
	u32 n = load(&log->peers), clock = load(&w->clock);
	u64 v = load64((u64 *)log->peer[n % GSAN_LOG_PEERS]);
	if (n && (u32)v == n && (u32)(v >> 32) == clock)
		return n;
	if (n == GSAN_PEER_MAX)
		return 0;
	ONE_BY_ONE(
		n = load(&log->peers);
		if ((u32)(load64((u64 *)log->peer[n % GSAN_LOG_PEERS]) >> 32) != clock && n < GSAN_PEER_MAX) {
			n++;
			store_ca2(log->peer[n % GSAN_LOG_PEERS], n, clock);
			__threadfence();
			store(&log->peers, n);
		}
	);
	return n;
}

/* Scopes in two bits: of a record of a peer's access. */
FN u32 peer_level(u32 level) { return level > GSAN_GPU ? 3 : level; }

FN u64 peer_key(u64 place, u32 size) { return (u64)size << 56 | WORD_SHARED | place; }

/* What a strong access of `info` does at words, its elements' keys from `key` on. */
SLOW void words_enter(struct gsan_warp *w, u64 key, u32 info)
{
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_ELEMS(info) ? GSAN_INFO_ELEMS(info) : 1;
	step(w);
	if (info & GSAN_INFO_READ)
		word_look(w, key);
	if (!(info & GSAN_INFO_WRITE))
		return;
	u32 top = load(&w->clock);
	if (info & GSAN_INFO_RELEASE)
		top = tick(w, __activemask() == load(&w->live));
	ROLLED
	for (u32 k = 0; k < n; k++)
		publish(w, key + k * size, GSAN_INFO_LEVEL(info), info & GSAN_INFO_RELEASE, info & GSAN_INFO_READ, top);
}

/* leave.cuh */
SLOW void guest_enter(struct gsan_warp *w, u32 slot, u32 addr, u32 arrival, u32 site);
SLOW void guest_begins(struct gsan_warp *w, u32 slot, u32 addr, u32 site);

/* An access to shared::cluster memory, weak or strong.  What is its own block's is
 * like any other. */
SLOW void peer_before(struct gsan_warp *w, u64 addr, u32 info, u32 site)
{
	u64 place = cluster_place(w, addr);
	u32 size = GSAN_INFO_SIZE(info), level = GSAN_INFO_LEVEL(info);
	if (place >> 32 == w->slot) {
		if (level)
			__gsan_v1_before_s((u64)w, (u32)place, info, site);
		else if (info & GSAN_INFO_WRITE)
			__gsan_v1_write_s((u64)w, (u32)place, info, site, 0);
		else
			__gsan_v1_read_s((u64)w, (u32)place, info, site);
		return;
	}
	u32 number = place == NOWHERE ? 0 : peer_number(w), slot = (u32)(place >> 32);
	if (number) {
		u64 rec = group_record(self_of(w), GSAN_HOW_PEER, peer_level(level) << 19 | number) | (info & GSAN_INFO_WRITE ? ASYNC_WRITES : 0);
		elements_all(w, slot, (u32)place, info, rec, ISSUE_SHARED | ISSUE_THREAD, site + __gsan_site_base);
		guest_begins(w, slot, (u32)place, site + __gsan_site_base);
		guest_enter(w, slot, (u32)place, 0, site + __gsan_site_base);
	} else {
		fetch_add(&w->unbacked, 1);
	}
	/* (PTX ISA, State Spaces: shared memory of a block is there while it runs) */
	if (place == NOWHERE && own_block(w)->cluster_at) {
		u64 now = record(view_of(w), sreg_laneid(), info & GSAN_INFO_WRITE ? 1 : 0, bytes_at(addr, size));
		tell(w, GSAN_LIFETIME, GSAN_WHY_PEER, astray(addr), site + __gsan_site_base, now, 0, now, ~0ull);
	}
	if (level)
		store(&own_block(w)->wide, 1);
	if (level && place != NOWHERE)
		words_enter(w, peer_key(place, size), info);
}

SLOW void peer_after(struct gsan_warp *w, u64 addr, u32 info, u32 site)
{
	u64 place = cluster_place(w, addr);
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_ELEMS(info) ? GSAN_INFO_ELEMS(info) : 1;
	if (place >> 32 == w->slot) {
		__gsan_v1_after_s((u64)w, (u32)place, info, site);
		return;
	}
	ROLLED
	for (u32 k = 0; k < n && place != NOWHERE; k++)
		observe(w, peer_key(place + k * size, size), GSAN_INFO_LEVEL(info), info & GSAN_INFO_ACQUIRE, 0);
}

API void __gsan_v1_before_c(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(peer_before(WARP(ctx), addr, info, site););
}

API void __gsan_v1_after_c(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(peer_after(WARP(ctx), addr, info, site););
}

/* A generic address where it may be a peer's. */
API void __gsan_v1_before_y(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx)
		return;
	TOGETHER(
		if (is_peer(&addr))
			__gsan_v1_before_c(ctx, addr, info, site);
		else if (GSAN_INFO_LEVEL(info))
			__gsan_v1_before_x(ctx, addr, info, site);
		else if (info & GSAN_INFO_WRITE)
			__gsan_v1_write_x(ctx, addr, info, site, 0);
		else
			__gsan_v1_read_x(ctx, addr, info, site);
	);
}

API void __gsan_v1_after_y(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx)
		return;
	TOGETHER(
		if (is_peer(&addr))
			__gsan_v1_after_c(ctx, addr, info, site);
		else
			__gsan_v1_after_x(ctx, addr, info, site);
	);
}
