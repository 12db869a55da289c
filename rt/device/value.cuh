/* SPDX-License-Identifier: Apache-2.0
 *
 * value.cuh: do two unordered writes write one value?  Such a race does no harm, and
 * compilers make them: all threads that have a result store it (memory-model.md, AMB-12).  What a
 * thread stores is noted where its warp finds something beside its record.  What is unordered with it
 * has been noted, too, where both came at one moment, or it stands in memory, at once or soon:
 * calls come before what they are for.
 */
#define in_memory       __gsan_v1_in_memory
#define values_of       __gsan_v1_values_of

/* When and where a store was noted. */
FN u32 value_tag(u32 site, u32 clock) { return site * 2654435761u ^ clock; }

/* Notes what the calling lane is about to store. */
FN void value_put(struct gsan_warp *w, u64 addr, u32 info, u32 site, u32 value)
{
	uint4 v;
	v.x = value_tag(site + __gsan_site_base, w->clock);
	v.y = (u32)addr;
	v.z = info;
	v.w = value;
	store_cg(&lane_of(w, sreg_laneid())->stored, v);
}

/* What stands there, as one number: see GSAN_INFO_VALUE. */
SLOW u32 in_memory(u64 addr, u32 shared, u32 info)
{
	const volatile char *p = (const volatile char *)(shared ? __cvta_shared_to_generic((size_t)addr) : (void *)addr);
	u32 log = GSAN_INFO_VALUE(info) - 1, value = 0;
	ROLLED
	for (u32 k = 0; k < GSAN_INFO_ELEMS(info); k++, p += 1u << log)
		value = value * GSAN_VALUE_FACTOR + (log == 2 ? *(const volatile u32 *)p :
			log == 1 ? *(const volatile unsigned short *)p : *(const volatile unsigned char *)p);
	return value;
}

/* Of the calling lane's write `now`, and `prev`; `both`: their bytes of granule `where`. */
SLOW u32 values_of(struct gsan_warp *w, u64 where, u32 both, u32 site, u64 now, u32 psite, u64 prev)
{
	if (GSAN_REC_KIND(now) != GSAN_KIND_WRITE || GSAN_REC_KIND(prev) != GSAN_KIND_WRITE)
		return GSAN_VALUES_UNKNOWN;
	u32 clock = GSAN_REC_CLOCK(now);
	uint4 mine = load_cg(&lane_of(w, sreg_laneid())->stored);
	u32 bytes = GSAN_INFO_ELEMS(mine.z) << (GSAN_INFO_VALUE(mine.z) - 1);
	/* In a cluster shared addresses have the block's rank in them, and `where` has not. */
	bool shared = where & 1;
	u32 at_byte = ((u32)where & ~7u) - (shared ? mine.y & SHARED_WINDOW : mine.y);
	u32 first = at_byte + __ffs(both) - 1, last = at_byte + 31 - __clz(both);
	if (mine.x != value_tag(site, clock) || first >= bytes || last >= bytes)
		return GSAN_VALUES_UNKNOWN;
	const struct gsan_lane *l = at<struct gsan_lane>(ROOT(lanes)) + ((u32)(prev >> 12) & 0x7fffff);
	u64 addr = shared ? mine.y : (where & ~7ull) - (u64)(long long)(int)at_byte;
	ROLLED
	for (u32 tries = 0; tries < 100; tries++) {
		uint4 other = load_cg(&l->stored);
		if (other.x == value_tag(psite, GSAN_REC_CLOCK(prev)) && other.y == mine.y && other.z == mine.z)
			return other.w == mine.w ? GSAN_VALUES_SAME : GSAN_VALUES_DIFFER;
		if (in_memory(addr, shared, mine.z) == mine.w)
			return GSAN_VALUES_SAME;
		__nanosleep(100);
	}
	return GSAN_VALUES_DIFFER;
}
