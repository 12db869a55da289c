/* SPDX-License-Identifier: Apache-2.0
 *
 * alias.cuh: accesses by multimem, whose addresses are aliases of others.  (PTX ISA, Data
 * Movement and Conversion Instructions: multimem; Memory Consistency Model: Proxies)
 *
 * Its record is that of a thread's access through another proxy, as peers leave them;
 * between it and an access by another address a fence.proxy.alias has to be somewhere on
 * the way.  All that the address stands for is one place here, that of the address.
 */
#define alias_before    __gsan_v1_alias_before

/* Is there such a fence between a thread's access and the calling lane, which knows of
 * the access?  Whoever ran it, and also if the access is the lane's own: program order says nothing
 * across proxies.  (PTX ISA, Causality Order: Proxy-preserved Base Causality Order) */
SLOW bool alias_fenced(struct gsan_warp *w, u64 prev, u32 end)
{
	u32 slot = GSAN_REC_SLOT(prev);
	bool same = slot == w->slot && GSAN_REC_CLOCK(prev) > w->start;
	if ((load(&w->state) | load(&warp_of(slot, GSAN_REC_WARP(prev))->state)) & (GSAN_WARP_UNMODELLED | GSAN_WARP_LOST))
		return true;
	return !end || fence_reaches(w, prev, end, GSAN_PROXY_ALIAS) || fence_knew(w, prev, same, end, GSAN_PROXY_ALIAS) ||
	       other_fence(w, GSAN_PROXY_ALIAS);
}

SLOW void alias_before(struct gsan_warp *w, u64 addr, u32 info, u32 site)
{
	u32 size = GSAN_INFO_SIZE(info), level = GSAN_INFO_LEVEL(info), number = peer_number(w);
	if (number)
		elements_all(w, w->slot, addr, info,
			     group_record(self_of(w), GSAN_HOW_PEER, peer_level(level) << 19 | GSAN_PEER_ALIAS | number) |
			     (info & GSAN_INFO_WRITE ? ASYNC_WRITES : 0), ISSUE_THREAD | ISSUE_ALIAS, site + __gsan_site_base);
	else
		fetch_add(&w->unbacked, 1);
	if (level)
		words_enter(w, word_key(w, addr, size, false), info);
}

API void __gsan_v1_before_m(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(alias_before(WARP(ctx), addr, info, site););
}

API void __gsan_v1_after_m(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_ELEMS(info) ? GSAN_INFO_ELEMS(info) : 1;
	TOGETHER(
		ROLLED
		for (u32 k = 0; k < n; k++)
			observe(w, word_key(w, addr + k * size, size, false), GSAN_INFO_LEVEL(info), info & GSAN_INFO_ACQUIRE, 0);
	);
}
