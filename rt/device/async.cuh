/* SPDX-License-Identifier: Apache-2.0
 *
 * async.cuh: asynchronous operations: their records in shadow memory, and who knows
 * that one is over.  What is compared when one is issued: issue.cuh.  (PTX ISA, Memory
 * Consistency Model: Async Operations; Data Movement and Conversion Instructions:
 * Asynchronous copy)
 *
 * A record is no thread's: it names what completes the operation.  Who waited for
 * that is remembered with his clock, and everybody who knows of that clock knows
 * that the operation is over.
 */
#define event_known     __gsan_v1_event_known
#define mbar_over       __gsan_v1_mbar_over
#define mbar_past       __gsan_v1_mbar_past
#define tc_over         __gsan_v1_tc_over
#define group_over      __gsan_v1_group_over
#define async_over      __gsan_v1_async_over
#define over_for_all    __gsan_v1_over_for_all
#define peer_over       __gsan_v1_peer_over
#define wgmma_over      __gsan_v1_wgmma_over
#define open_kind       __gsan_v1_open_kind
#define tx_reached      __gsan_v1_tx_reached
#define end_fenced      __gsan_v1_end_fenced
#define generic_fenced  __gsan_v1_generic_fenced
#define apart           __gsan_v1_apart
#define read_elsewhere  __gsan_v1_read_elsewhere
#define peer_kind       __gsan_v1_peer_kind
#define peer_status     __gsan_v1_peer_status
#define any_fence       __gsan_v1_any_fence
#define fence_next      __gsan_v1_fence_next
#define groups_now      __gsan_v1_groups_now
#define wait_noted      __gsan_v1_wait_noted
#define proxy_status    __gsan_v1_proxy_status
#define map_status      __gsan_v1_map_status
#define alias_fenced    __gsan_v1_alias_fenced

FN u32 async_what(u64 r) { return GSAN_REC_CLOCK(r) & (GSAN_ASYNC_MBAR | GSAN_ASYNC_WRITE); }
FN u32 async_how(u64 r) { return GSAN_REC_CLOCK(r) >> GSAN_ASYNC_HOW_SHIFT & 7; }
FN u32 mbar_in(u64 r) { return GSAN_REC_CLOCK(r) >> 18 & (GSAN_MBARS - 1); }
FN u32 phase_in(u64 r) { return (GSAN_REC_CLOCK(r) & 0x1ffff) << 8 | ((u32)(r >> 14) & 0xff); }
#define ASYNC_WRITES    ((u64)GSAN_ASYNC_WRITE << 35)
#define MBAR_REDUCES    (1ull << 12 | ASYNC_WRITES)
#define MBAR_GENERIC    (1ull << 13 | ASYNC_WRITES)     /* through the generic proxy */
/* Of what is read: */
#define MBAR_MAP        (1ull << 12)    /* a tensor copy's map */
#define MBAR_MANY       (1ull << 13)    /* by a copy to several blocks, see read_elsewhere */
#define MBAR_PEER       (1ull << 52)    /* issued by another block than the mbarrier's */

/* A thread is slot << 10 | number in its block: bits 12 to 34 of a record. */
FN u64 group_record(u32 who, u32 how, u32 number)
{
	return (u64)(GSAN_ASYNC_CLOCK | how << GSAN_ASYNC_HOW_SHIFT | number) << 35 | (u64)who << 12 |
	       GSAN_KIND_ASYNC << 8;
}

FN u64 mbar_record(u32 slot, u32 index, u32 phase)
{
	return (u64)(GSAN_ASYNC_CLOCK | GSAN_ASYNC_MBAR | index << 18 | phase >> 8) << 35 | (u64)slot << 22 |
	       (u64)(phase & 0xff) << 14 | GSAN_KIND_ASYNC << 8;
}

/* Is it a tensor copy's read of its tensor map? */
FN bool reads_map(u64 r)
{
	if (async_what(r) & GSAN_ASYNC_MBAR)
		return (r & (MBAR_MAP | ASYNC_WRITES)) == MBAR_MAP;
	return async_how(r) == GSAN_HOW_MAP;
}

FN struct gsan_groups *groups_of(u32 who) { return at<struct gsan_groups>(ROOT(groups)) + who; }
FN struct gsan_log *log_of(u32 who) { return at<struct gsan_log>(ROOT(logs)) + (who >> 5); }
FN struct gsan_mbar *mbars_of(u32 slot) { return at<struct gsan_mbar>(ROOT(mbars)) + (u64)slot * GSAN_MBARS; }
FN u32 self_of(const struct gsan_warp *w) { return w->id << 5 | lane_in(w); }

/* Is the block that has `slot` one of this launch?  What others left is over. */
FN bool of_launch(const struct gsan_warp *w, const struct gsan_block *b)
{
	return load(&b->launch_number) == own_block(w)->launch_number;
}

/* Whose knowledge counts: the calling lane's, that of the whole block, or that of each lane
 * of its warp, for which it has read. */
enum { OF_LANE, OF_BLOCK, OF_WARP };

#define ANY_LANE        (1u << 31)      /* with a thread: whichever of its warp */

/* Is thread `who` known of up to `clock`? */
SLOW bool event_known(struct gsan_warp *w, u32 who, u32 clock, u32 all)
{
	u64 rec = (u64)clock << 35 | (u64)(who & ~ANY_LANE) << 12 | (who & ANY_LANE ? GSAN_KIND_ASYNC << 8 : 0);
	who &= ~ANY_LANE;
	/* Launches that had ended when this one began are known to all of it. */
	if (clock < w->launch_base || (who >> 10 == w->slot && clock <= w->floor))
		return true;
	if (all == OF_BLOCK)
		return false;
	u32 end = end_of(w, rec);
	return !end || lane_knows(w, rec, all != OF_WARP, end);
}

/* Events of thread `who` at clocks below are known to all of the block. */
FN u32 settled_below(const struct gsan_warp *w, u32 who)
{
	u32 base = w->launch_base, floor = who >> 10 == w->slot ? w->floor + 1 : 0;
	return base > floor ? base : floor;
}

/* Was that known at a moment? */
FN bool event_knew(struct gsan_warp *w, struct moment then, u32 who, u32 clock)
{
	u64 rec = (u64)clock << 35 | (u64)who << 12;
	u32 end = end_of(w, rec);
	return !end || then_knew(w, then, rec, end);
}

/* tcgen05.cuh */
SLOW bool tc_over(struct gsan_warp *w, u32 who, u32 group, u32 all, struct moment then);

/* Did one of `lanes` of the slot's warp `k`, who saw a phase over at `clock`, reach whom is
 * asked about? */
FN bool seen_known(struct gsan_warp *w, u32 slot, u32 k, u32 lanes, u32 clock, u32 all, struct moment then)
{
	ROLLED
	for (; lanes; lanes &= lanes - 1) {
		u32 who = slot << 10 | k << 5 | (__ffs(lanes) - 1);
		if (then.at && !all ? event_knew(w, then, who, clock) : event_known(w, who, clock, all))
			return true;
	}
	return false;
}

/* Is a phase of the mbarrier over, as far as was known then?  What is loaded is loaded together:
 * to wait for memory is all that takes long here. */
SLOW bool mbar_past(struct gsan_warp *w, u32 slot, u32 index, u32 phase, u32 all, struct moment then)
{
	struct gsan_block *b = block_of(slot);
	struct gsan_mbar *m = mbars_of(slot) + index;
	u32 me = slot == w->slot ? w->id & 31 : 32;
	uint4 head = load_cg(m), phases = load_cg(&m->phase), begun = load_cg(&b->start), launch = load_cg(&b->launch_number);
	u64 own = me < 32 ? load64((u64 *)&m->seen[phase & 1][me]) : 0;
	u32 flags = head.w, n = phases.x, left = (n - phase) & GSAN_MBAR_PHASES;
	bool chain = launch.x == own_block(w)->launch_number || launch_beside(w, launch.x, load(&b->chain));
	bool here = chain && head.x == begun.x && !(flags & GSAN_MBAR_LOST);

	/* It counts in the next phase, see copy_phase. */
	if (left == GSAN_MBAR_PHASES && here)
		return false;
	if (!here || ((phase - phases.y) & GSAN_MBAR_PHASES) > GSAN_MBAR_PHASES / 2 || left > GSAN_MBAR_PHASES / 2)
		return true;
	bool either_one = left && left < 3 && (flags & GSAN_MBAR_EITHER << (phase & 1));
	/* Bytes that came too late for their phase count in the next. */
	if (left && left < 3 && !either_one && (flags & GSAN_MBAR_SHORT << (phase & 1))) {
		phase++;
		left--;
		own = me < 32 ? load64((u64 *)&m->seen[phase & 1][me]) : 0;
	}
	if (!left)
		return false;
	/* Of an earlier phase the later one tells that stands there; of the own block's, which asks
	 * about those. */
	u32 warps = left < 3 || me < 32 ? (begun.w + 31) >> 5 : 0, mask = (u32)(own >> 32);
	if (all == OF_WARP && mask == ~0u)
		return true;
	if (!all && (mask & then.self) && (!then.at || (u32)own <= then.at->clock))
		return true;
	u32 rows = (warps + 7) & ~7u, all_rows = either_one && left == 2 ? 2 * rows : rows;
	u32 below = then.at && !all && !is_ghost(w) ? 0 : settled_below(w, slot << 10);         /* a ghost's floors are as they were */
	ROLLED
	for (u32 row = 0; row < all_rows; row += 8) {
		u32 next = row >= rows, k = next ? row - rows : row, asks = 0;
		const struct gsan_seen *seen = m->seen[phase + next & 1];
		uint4 v[4];             /* clock mask, of two warps */
		bool known = false;
#pragma unroll
		for (u32 i = 0; i < 4; i++)
			v[i] = load_cg(&seen[k + 2 * i]);
#pragma unroll
		for (u32 i = 0; i < 4; i++) {
			u32 there = (k + 2 * i < warps && v[i].y ? 1 : 0) | (k + 2 * i + 1 < warps && v[i].w ? 2 : 0);
			known |= ((there & 1) && v[i].x < below) || ((there & 2) && v[i].z < below);
			asks |= there << 2 * i;
		}
		if (known)
			return true;
		ROLLED
		for (u32 a = all == OF_BLOCK ? 0 : asks; a; a &= a - 1) {
			u32 i = __ffs(a) - 1;
			uint4 p = i & 4 ? (i & 2 ? v[3] : v[2]) : i & 2 ? v[1] : v[0];
			if (seen_known(w, slot, k + i, i & 1 ? p.w : p.y, i & 1 ? p.z : p.x, all, then))
				return true;
		}
	}
	if (((load(&m->phase) - phase) & GSAN_MBAR_PHASES) < 3)
		return false;
	/* Longer ago than is remembered. */
	if (all != OF_BLOCK)
		count(GSAN_COUNT_ASYNC_LOST, 1);
	return true;
}

SLOW bool mbar_over(struct gsan_warp *w, u32 slot, u32 index, u32 phase, u32 all)
{
	return mbar_past(w, slot, index, phase, all, present(w));
}

/* Is an entry of a warp's log (clock mask upto from) a wait of one of `kinds` by one of `lanes` that
 * tells of group `number`?  Whoever knows of a later wait of a thread knows of the first; a later
 * arrival, at another mbarrier or phase, speaks for itself.
 * (PTX ISA, cp.async.mbarrier.arrive: all prior cp.async operations) */
FN bool tells_of(uint4 e, u32 kinds, u32 lanes, u32 number)
{
	u32 kind = e.z >> 28;
	return (kinds >> kind & 1) & ((e.y & lanes) != 0) & ((e.z & 0xfffffff) >= number) &
	       (((e.w & 0xffffff) < number) | (kind == GSAN_WAIT_CP_MBAR));
}

/* Which of the log's entries do?  They are looked at all at once, *one is the last that does; one
 * may be overwritten by the time that it is asked about. */
FN u32 waits_for(const struct gsan_log *log, u32 kinds, u32 lanes, u32 number, uint4 *one)
{
	u32 found = 0;
	ROLLED
	for (u32 k = 0; kinds && k < GSAN_LOG; k += 8) {
		uint4 e[8];
#pragma unroll
		for (u32 i = 0; i < 8; i++)
			e[i] = load_cg(&log->wait[k + i]);
#pragma unroll
		for (u32 i = 0; i < 8; i++) {
			bool tells = tells_of(e[i], kinds, lanes, number);
			found |= tells ? 1u << (k + i) : 0;
			one->x = tells ? e[i].x : one->x;
			one->y = tells ? e[i].y : one->y;
			one->z = tells ? e[i].z : one->z;
			one->w = tells ? e[i].w : one->w;
		}
	}
	return found;
}

/* Is the thread's group over, as far as the calling lane knows? */
SLOW bool group_over(struct gsan_warp *w, u64 r, u32 all)
{
	u32 who = (u32)(r >> 12) & 0x7fffff, slot = who >> 10, number = GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX;
	const struct gsan_block *b = block_of(slot);
	const struct gsan_groups *g = groups_of(who);
	const struct gsan_log *log = log_of(who);
	bool cp = async_how(r) == GSAN_HOW_CP, write = async_what(r) & GSAN_ASYNC_WRITE;
	uint4 now = load_cg(g), waited = load_cg(g->waited);    /* start cp bulk first */
	u32 start = load(&b->start), launch = load(&b->launch_number), waits = load(&log->waits), below = settled_below(w, who);
	/* Mostly the last entry of the log is the wait, or a later one. */
	uint4 last = load_cg(&log->wait[(waits - 1) % GSAN_LOG]);       /* clock mask upto from */

	if (now.x != start || number < now.w >> 1 ||
	    (launch != own_block(w)->launch_number && !launch_beside(w, launch, load(&b->chain))))
		return true;
	/* A source is free when it has been read. */
	u32 kind = cp ? GSAN_WAIT_CP : GSAN_WAIT_BULK, end = cp ? GSAN_WAIT_CP_MBAR : write ? GSAN_WAIT_BULK : GSAN_WAIT_READ, kinds = 0;
	ROLLED
	for (; kind <= end; kind++)
		kinds |= number <= (kind & 2 ? (kind & 1 ? waited.w : waited.z) : kind & 1 ? waited.y : waited.x) ? 1u << kind : 0;
	bool asked = (kinds & ~(1u << GSAN_WAIT_CP_MBAR)) >> (last.z >> 28) & 1 && (last.y >> (who & 31) & 1) && (last.z & 0xfffffff) >= number;
	if (asked && (last.x < below || (all != OF_BLOCK && event_known(w, who, last.x, all))))
		return true;
	u32 lost = kinds;
	uint4 one = four(0, 0, 0, 0);
	u32 found = waits_for(log, kinds, 1u << (who & 31), number, &one);
	ROLLED
	for (u32 m = found; m; m &= m - 1) {
		uint4 e = found & (found - 1) ? load_cg(&log->wait[__ffs(m) - 1]) : one;
		if (!tells_of(e, kinds, 1u << (who & 31), number))
			continue;
		kind = e.z >> 28;
		lost &= (e.w & 0xffffff) < number ? ~(1u << kind) : ~0u;
		/* Not once more about the last one. */
		if (kind != GSAN_WAIT_CP_MBAR && asked && e.x == last.x)
			continue;
		if (kind == GSAN_WAIT_CP_MBAR ? mbar_over(w, slot, e.w >> 24, e.x, all) : event_known(w, who, e.x, all))
			return true;
	}
	/* The wait is not remembered any more: a later one of the thread will do. */
	ROLLED
	for (u32 k = 0; lost && k < GSAN_LOG; k++) {
		uint4 e = load_cg(&log->wait[k]);
		if ((lost & ~(1u << GSAN_WAIT_CP_MBAR)) >> (e.z >> 28) & 1 && (e.y >> (who & 31) & 1) && (e.z & 0xfffffff) >= number &&
		    event_known(w, who, e.x, all))
			return true;
	}
	if (lost)
		count(GSAN_COUNT_ASYNC_LOST, 1);
	return lost;
}

/* peer.cuh */
SLOW bool peer_over(struct gsan_warp *w, u64 r, u32 all);
FN u32 level_in(u64 r) { return GSAN_REC_CLOCK(r) >> 19 & 3; }

/* Is the record a thread's access to a peer's memory? */
FN bool by_peer(u64 r)
{
	return GSAN_REC_KIND(r) == GSAN_KIND_ASYNC && !(async_what(r) & GSAN_ASYNC_MBAR) && async_how(r) == GSAN_HOW_PEER;
}

/* By multimem, then. */
FN bool by_multimem(u64 r) { return by_peer(r) && (GSAN_REC_CLOCK(r) & GSAN_PEER_ALIAS); }

/* alias.cuh */
SLOW bool alias_fenced(struct gsan_warp *w, u64 prev, u32 end);

/* Does an mbarrier lie there?  Which of its slot. */
FN bool by_object(u64 r)
{
	return GSAN_REC_KIND(r) == GSAN_KIND_ASYNC && !(async_what(r) & GSAN_ASYNC_MBAR) && async_how(r) == GSAN_HOW_OBJECT;
}

FN u32 mbar_object(u64 r) { return GSAN_REC_CLOCK(r) & (GSAN_MBARS - 1); }
/* With what tells the slot's tenants apart: another may have its own at that number. */
FN u32 object_number(u32 index, u32 start) { return (start * GSAN_MBARS | index) & GSAN_ASYNC_GROUP_MAX; }

/* The scope of a thread's access; in two bits where it is a peer's. */
FN u32 scope_of(u64 r)
{
	return by_peer(r) ? level_in(r) : GSAN_REC_KIND(r) == GSAN_KIND_ASYNC ? GSAN_WEAK : kind_level(GSAN_REC_KIND(r));
}

/* Accesses of threads, unordered, of which one is to a peer's memory: the kind of the
 * finding and why << 8; 0 if they are atomic to each other.  Both are in one cluster, or
 * even in one block. */
SLOW u32 peer_kind(struct gsan_warp *w, u64 prev, u64 now, u32 slot, u32 who_clock)
{
	u32 a = scope_of(prev), b = scope_of(now), need = slot == w->slot ? GSAN_CTA : GSAN_CLUSTER;
	if (a && b && (a < b ? a : b) >= need && !((prev ^ now) & 255))
		return 0;
	if (a && b && !((prev ^ now) & 255))
		return GSAN_SCOPE_RACE | GSAN_WHY_SCOPE_ATOMIC << 8;
	if (missed_knows(own_block(w), slot, (u32)(prev >> 17) & 31, 1u << ((u32)(prev >> 12) & 31), who_clock, GSAN_CLOCK_MAX))
		return GSAN_SCOPE_RACE | GSAN_WHY_SCOPE_SYNC << 8;
	if (a && b)
		return GSAN_DATA_RACE | GSAN_WHY_MIXED_SIZE << 8;
	return GSAN_DATA_RACE | (slot == w->slot ? GSAN_WHY_SAME_BLOCK : GSAN_WHY_OTHER_BLOCK) << 8;
}

/* `kind`, which `red` and `r` would be, unless one is a red.async and the other a thread's atomic access of the
 * same bytes: 0, if they are atomic to each other.  (PTX ISA, red.async: relaxed, at cluster scope; it is
 * by another block) */
FN u32 red_kind(u64 red, u64 r, u32 kind)
{
	u64 what = MBAR_REDUCES | MBAR_GENERIC | (u64)GSAN_ASYNC_MBAR << 35;
	bool atomic = GSAN_REC_KIND(red) == GSAN_KIND_ASYNC && (red & what) == what && scope_of(r) && !((red ^ r) & 255);
	return !atomic ? kind : scope_of(r) >= GSAN_CLUSTER ? 0 : GSAN_SCOPE_RACE | GSAN_WHY_SCOPE_ATOMIC << 8;
}

/* The clock of a thread's access; of a peer's, its interval's. */
FN u32 clock_of(u64 r)
{
	struct gsan_log *log = log_of((u32)(r >> 12) & 0x7fffff);
	u32 number = GSAN_REC_CLOCK(r) & GSAN_PEER_MAX;
	return by_peer(r) ? load(&log->peer[number % GSAN_LOG_PEERS][1]) : GSAN_REC_CLOCK(r);
}

/* Is the warpgroup's wgmma over, as far as the calling lane knows?  Its warps wait for
 * it one by one, and one speaks for all. */
SLOW bool wgmma_over(struct gsan_warp *w, u64 r, u32 all)
{
	u32 who = (u32)(r >> 12) & 0x7fffff, number = GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX;
	const struct gsan_block *b = block_of(who >> 10);
	const struct gsan_log *logs = log_of(who & ~127u);
	/* First the calling lane's own warp. */
	u32 first = (self_of(w) ^ who) & ~127u ? 0 : w->id & 3, below = settled_below(w, who), waits[4], clock[4];
	uint4 now[4];           /* start, group under way, waited */
	u32 start = load(&b->start), launch = load(&b->launch_number), began = load(&logs[who >> 5 & 3].wgmma_start);
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		const struct gsan_log *log = logs + (i + first & 3);
		now[i] = load_cg(&log->wgmma_start);
		waits[i] = load(&log->waits);
	}
	if (launch != own_block(w)->launch_number || began != start)
		return true;
	/* What its own warp waited for the calling lane knows. */
	if (all != OF_BLOCK && !is_ghost(w) && !((self_of(w) ^ who) & ~127u) && now[0].x == start && number <= now[0].z)
		return true;
	/* Mostly the last entry of a log is the wait, or a later one. */
	u32 waited = 0, later = 0, it = 0;
	uint4 e[4];
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		const struct gsan_log *log = logs + (i + first & 3);
		e[i] = load_cg(&log->wait[(waits[i] - 1) % GSAN_LOG]);
		/* It may not have come to a wgmma yet. */
		waited |= (now[i].x == start) & (number <= now[i].z) ? 1u << i : 0;
	}
	bool known = false;
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		bool tells = (waited >> i & 1) & (e[i].z >> 28 == GSAN_WAIT_WGMMA) & (e[i].y != 0) & ((e[i].z & 0xfffffff) >= number);
		clock[i] = e[i].x;
		later |= tells ? 1u << i : 0;
		it |= tells & ((e[i].w & 0xffffff) < number) ? 1u << i : 0;
		known |= tells & (e[i].x < below);
	}
	if (known)
		return true;
	/* Each lane of a warp waited, and any may be who told of it. */
	u32 ask = all == OF_WARP ? OF_LANE : all;
	ROLLED
	for (; waited; waited &= waited - 1) {
		u32 i = __ffs(waited) - 1, warp = (who & ~127u) + 32 * (i + first & 3), found = 0;
		u32 c = i & 2 ? (i & 1 ? clock[3] : clock[2]) : i & 1 ? clock[1] : clock[0];
		const struct gsan_log *log = logs + (i + first & 3);
		bool lost = !(it >> i & 1);
		uint4 one = four(c, 0, 0, 0);
		if (lost)
			found = waits_for(log, 1u << GSAN_WAIT_WGMMA, ~0u, number, &one);
		else if (all != OF_BLOCK && event_known(w, warp | ANY_LANE, c, ask))
			return true;
		ROLLED
		for (u32 m = found; m; m &= m - 1) {
			uint4 v = found & (found - 1) ? load_cg(&log->wait[__ffs(m) - 1]) : one;
			if (!tells_of(v, 1u << GSAN_WAIT_WGMMA, ~0u, number))
				continue;
			if (v.x < below || (all != OF_BLOCK && event_known(w, warp | ANY_LANE, v.x, ask)))
				return true;
			lost = false;
		}
		if (!lost)
			continue;
		/* The wait is not remembered any more: a later one will do. */
		if (all == OF_BLOCK || !(later >> i & 1) || !event_known(w, warp | ANY_LANE, c, ask))
			count(GSAN_COUNT_ASYNC_LOST, 1);
		return true;
	}
	return false;
}

/* choices.cuh */
SLOW bool tx_reached(struct gsan_warp *w, u64 r, u32 all);
SLOW bool end_fenced(struct gsan_warp *w, u64 r, u32 space);
SLOW bool generic_fenced(struct gsan_warp *w, u64 r, u32 space);
SLOW bool apart(struct gsan_warp *w, u64 r);

SLOW bool async_over(struct gsan_warp *w, u64 r, u32 all)
{
	if (!(async_what(r) & GSAN_ASYNC_MBAR) && async_how(r) == GSAN_HOW_WGMMA)
		return wgmma_over(w, r, all);
	if (!(async_what(r) & GSAN_ASYNC_MBAR) && async_how(r) == GSAN_HOW_TCGEN05)
		return tc_over(w, (u32)(r >> 12) & 0x7fffff, GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX, all, present(w));
	if (async_what(r) & GSAN_ASYNC_MBAR)
		return mbar_over(w, GSAN_REC_SLOT(r), mbar_in(r), phase_in(r), all) && (!(r & MBAR_PEER) || tx_reached(w, r, all));
	if (async_how(r) == GSAN_HOW_PEER)
		return peer_over(w, r, all);
	if (async_how(r) == GSAN_HOW_OBJECT) {
		struct gsan_mbar *m = mbars_of(GSAN_REC_SLOT(r)) + mbar_object(r);
		u32 start = load(&block_of(GSAN_REC_SLOT(r))->start);
		return (GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX) != object_number(mbar_object(r), start) ||
		       load(&m->start) != start || !(load(&m->flags) & GSAN_MBAR_LIVE);
	}
	return group_over(w, r, all);
}

/* Was it an operation of an earlier launch, or of an earlier tenant of the slot, as far
 * as its record tells? */
FN bool async_gone(struct gsan_warp *w, u64 r)
{
	struct gsan_block *b = block_of(GSAN_REC_SLOT(r));
	u32 start = load(&b->start);
	if (!of_launch(w, b))
		return true;
	if (async_what(r) & GSAN_ASYNC_MBAR) {
		struct gsan_mbar *m = mbars_of(GSAN_REC_SLOT(r)) + mbar_in(r);
		return load(&m->start) != start || ((phase_in(r) - load(&m->first)) & GSAN_MBAR_PHASES) > GSAN_MBAR_PHASES / 2;
	}
	u32 how = async_how(r);
	if (how == GSAN_HOW_WGMMA) {
		const struct gsan_log *log = log_of((u32)(r >> 12) & 0x7fffff);
		return load(&log->wgmma_start) != start || (GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX) <= load(&log->wgmma_before);
	}
	if (how == GSAN_HOW_OBJECT || how == GSAN_HOW_PEER || how == GSAN_HOW_TCGEN05)
		return false;
	struct gsan_groups *g = groups_of((u32)(r >> 12) & 0x7fffff);
	return load(&g->start) != start || (GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX) < load(&g->first) >> 1;
}

/* Is it over for all who may come to that memory?  Of global memory, no thread can tell
 * within its launch. */
SLOW bool over_for_all(struct gsan_warp *w, u64 r, bool shared)
{
	return shared ? async_over(w, r, OF_BLOCK) : async_gone(w, r);
}

/* What an operation that is not over is a finding of: it would be, had a wait been wider? */
SLOW u32 open_kind(struct gsan_warp *w, u64 r)
{
	if (chosen(GSAN_CHOICE_tx_scope) && (async_what(r) & GSAN_ASYNC_MBAR) && (r & MBAR_PEER) &&
	    mbar_over(w, GSAN_REC_SLOT(r), mbar_in(r), phase_in(r), false))
		return GSAN_SCOPE_RACE | GSAN_WHY_SCOPE_SYNC << 8;
	return (reads_map(r) ? GSAN_TENSORMAP_RACE : GSAN_ASYNC_RACE) | GSAN_WHY_ASYNC << 8;
}

/* Did a product that is over, as far as the calling lane knows, come behind `prev` and
 * read all its bytes?  A commit tells of the product alone; what it came behind is over
 * as well.  Had it not come behind, that would have been told, and what came later took
 * its place. */
SLOW bool behind_product(struct gsan_warp *w, const u64 *sh, u64 prev)
{
	ROLLED
	for (u32 k = 0; k < 4; k++) {
		u64 z = load64(sh + k);
		if (by_product(z) && !(prev & ~z & 255) && z != prev && async_over(w, z, false))
			return true;
	}
	return false;
}

/* Phases of its mbarrier that were over before the record's. */
FN u32 phases_behind(u64 r)
{
	return (phase_in(r) - load(&(mbars_of(GSAN_REC_SLOT(r)) + mbar_in(r))->first)) & GSAN_MBAR_PHASES;
}

/* cluster.cuh: what `r` reads is copied to several blocks; has one of them got it?  Nothing says that the others
 * are to wait for the first, which `r` names. */
SLOW bool read_elsewhere(struct gsan_warp *w, u64 r);

/* A write behind a read by the operation `r`, which is over: does a fence lack, for who asks for
 * one there? */
FN bool is_unfenced(struct gsan_warp *w, u64 r, bool write, u64 where)
{
	return write && !(async_what(r) & GSAN_ASYNC_WRITE) && chosen(GSAN_CHOICE_async_read_fence) &&
	       !end_fenced(w, r, where & 1 ? GSAN_PROXY_SHARED : GSAN_PROXY_GLOBAL);
}

/* What the lane accesses next is mostly of the same operation, see plain_copied. */
FN void note_over(struct gsan_warp *w, u64 r, u32 kind)
{
	store_ca32(&lane_of(w, sreg_laneid())->over[kind], over_hash(w, r));
}

/* A plain access of `kind` by the calling lane, in its block's shared memory, finds an
 * operation's record: is there nothing to say?  Then that is noted. */
SLOW bool settled(struct gsan_warp *w, u64 r, u32 kind)
{
	if (GSAN_REC_SLOT(r) != w->slot || by_peer(r) || by_object(r))
		return false;
	if (!async_over(w, r, OF_LANE) || is_unfenced(w, r, kind & 1, 1))
		return false;
	note_over(w, r, kind);
	return true;
}

/* An access of a thread finds an operation's record, see judge. */
SLOW void judge_async(struct gsan_warp *w, u64 *sh, u32 *st, u32 i, u64 prev, u32 word, u64 now, u64 where, u32 site)
{
	bool group = GSAN_REC_KIND(now) == GSAN_KIND_WARP_READ, over = async_over(w, prev, group ? OF_WARP : OF_LANE);
	bool unfenced = over && is_unfenced(w, prev, now & 0x100, where);
	bool aliases = over && by_multimem(prev) && ((now & 0x100) || (prev & ASYNC_WRITES)) &&
		       !alias_fenced(w, (u64)clock_of(prev) << 35 | (prev & 0x7fffffull << 12), end_of(w, (u64)clock_of(prev) << 35 | (prev & 0x7fffffull << 12)));
	/* What nobody can be in the way of any more, or what this write stands for. */
	bool covered = GSAN_REC_KIND(now) == GSAN_KIND_WRITE && !(prev & ~now & 255);
	if (over && (covered || over_for_all(w, prev, where & 1)))
		swap(sh + i, prev, 0ull);
	if (over && !unfenced && !aliases) {
		u32 kind = GSAN_REC_KIND(now);
		if (kind < 2 && GSAN_REC_SLOT(prev) == w->slot && !by_multimem(prev) && !by_object(prev))
			note_over(w, prev, kind);
		return;
	}
	if (!over && (where & 1) && behind_product(w, sh, prev)) {
		/* The product, which is judged last, goes as well. */
		if (covered)
			swap(sh + i, prev, 0ull);
		return;
	}
	if (!over && (now & 0x100) && read_elsewhere(w, prev))
		return;
	/* It is not over for the others. */
	if (group && !over && async_over(w, prev, OF_LANE))
		now ^= 1ull << 12;
	u32 psite = site_found(sh, st, i, word, prev, site);
	u32 kind = unfenced ? GSAN_PROXY_RACE | GSAN_WHY_READ_FENCE << 8 :
		   aliases ? GSAN_PROXY_RACE | GSAN_WHY_ALIAS << 8 : red_kind(prev, now, open_kind(w, prev));
	if (by_peer(prev) && !aliases)
		kind = peer_kind(w, prev, now, GSAN_REC_SLOT(prev), clock_of(prev));
	/* (PTX ISA, mbarrier: only its own operations may be performed on it) */
	if (by_object(prev))
		kind = now & 0x100 ? GSAN_MBARRIER_MISUSE | GSAN_WHY_MBAR_LIVE << 8 : 0;
	if (kind)
		tell(w, kind & 255, kind >> 8, where & ~(WHERE_LATE | 6), site, now, psite, prev, own_block(w)->cta);
}

/* The groups of the calling lane; in a new block they go on from the last one's, all from one
 * number, so that those of earlier tenants are known by theirs. */
SLOW struct gsan_groups *groups_now(struct gsan_warp *w)
{
	struct gsan_groups *g = groups_of(self_of(w));
	if (load(&g->start) == w->start)
		return g;
	u32 cp = load(&g->cp), bulk = load(&g->bulk), last = cp > bulk ? cp : bulk;
	ROLLED
	for (u32 k = GSAN_WAIT_CP; k <= GSAN_WAIT_READ; k++)
		store(&g->waited[k], last);
	store(&g->cp, last + 1);
	store(&g->bulk, last + 1);
	store(&g->first, (last + 1) << 1);
	fence();
	store(&g->start, w->start);
	return g;
}

/* `lanes` waited for their groups from `from` (exclusive) to `upto`. */
FN void wait_entered(struct gsan_log *log, u32 lanes, u32 kind, u32 from, u32 upto, u32 clock, u32 index)
{
	if (upto <= from)
		return;
	u32 n = fetch_add(&log->waits, 1) % GSAN_LOG;
	store_cg(&log->wait[n], four(clock, lanes, upto | kind << 28, from | index << 24));
	fence();
}

SLOW void wait_noted(struct gsan_warp *w, u32 lanes, u32 kind, u32 from, u32 upto, u32 clock, u32 index)
{
	wait_entered(log_of(w->id << 5), lanes, kind, from, upto, clock, index);
}

/* Is it a reduction? */
FN bool reduces(u64 r)
{
	return async_what(r) & GSAN_ASYNC_MBAR ? (r & MBAR_REDUCES) == MBAR_REDUCES : async_how(r) == GSAN_HOW_REDUCE;
}

/* Did it access memory through the generic proxy? */
FN bool generic_too(u64 r)
{
	return async_what(r) & GSAN_ASYNC_MBAR ? (r & MBAR_GENERIC) == MBAR_GENERIC : async_how(r) == GSAN_HOW_CP;
}

/* Reductions do not mind each other, through one proxy, and red.async of the same bytes.  (PTX ISA,
 * cp.reduce.async.bulk, red.async: each is a relaxed atomic operation) */
FN bool both_reduce(u64 a, u64 b)
{
	bool generic = generic_too(a);
	return reduces(a) && reduces(b) && generic == generic_too(b) && !(generic && ((a ^ b) & 255));
}
