/* SPDX-License-Identifier: Apache-2.0
 *
 * issue.cuh: an asynchronous operation is issued: its records are put into the granules that
 * it accesses, and it is compared with what stands there.
 */
#define issue_status    __gsan_v1_issue_status
#define issue_report    __gsan_v1_issue_report
#define async_range     __gsan_v1_async_range
#define async_all       __gsan_v1_async_all
#define elements_all    __gsan_v1_elements_all
#define range_vacant    __gsan_v1_range_vacant
#define granule_look    __gsan_v1_granule_look
#define status_under    __gsan_v1_status_under

#define ISSUE_SHARED    1u
#define ISSUE_THREAD    4u      /* it is the thread's own access, to a peer's memory */
#define ISSUE_PROXY     2u      /* it accesses memory through the async proxy */
#define ISSUE_MAP       8u      /* it reads a tensor map, through those maps' proxy */
#define ISSUE_ALIAS     16u     /* it is a thread's own access by multimem */
#define ISSUE_COVERS    32u     /* for issue_status: to the record that it is asked about STATUS_FINE is as good as _GONE */

/* proxy.cuh */
SLOW u32 proxy_status(struct gsan_warp *w, u64 prev, bool same, u32 end, u32 space);
SLOW bool any_fence(struct gsan_warp *w, u32 space);
SLOW bool fence_next(struct gsan_warp *w, u64 prev, u32 space);
/* peer.cuh */
SLOW u32 peer_status(struct gsan_warp *w, u64 prev);
/* maps.cuh */
SLOW u32 map_status(struct gsan_warp *w, const u64 *sh, u64 prev, u32 end);

enum status { STATUS_GONE, STATUS_FINE, STATUS_BAD };

/* Is it asked of all lanes of the warp, to say if there is nothing to tell of any?  (status_of) */
FN bool of_any_lane(u64 prev) { return !(prev & 255); }

/* What stands between record `prev` and the operation that the calling lane issues:
 * STATUS_* | kind << 8 | why << 16, without regard to whether they conflict. */
SLOW u32 issue_status(struct gsan_warp *w, u64 *sh, u64 prev, u64 now, u32 flags)
{
	u32 slot = GSAN_REC_SLOT(prev), clock = GSAN_REC_CLOCK(prev), launch;
	u32 space = flags & ISSUE_SHARED ? GSAN_PROXY_SHARED : GSAN_PROXY_GLOBAL;
	u64 cta;

	if (GSAN_REC_KIND(prev) == GSAN_KIND_ASYNC) {
		/* What is over for all is for the calling lane. */
		bool group = !(async_what(prev) & GSAN_ASYNC_MBAR) && async_how(prev) <= GSAN_HOW_REDUCE, apt = !(now & ASYNC_WRITES) && !(flags & ISSUE_COVERS);
		bool gone = apt && group && over_for_all(w, prev, flags & ISSUE_SHARED);
		if (!gone && !async_over(w, prev, false)) {
			u32 kind = flags & ISSUE_MAP ? GSAN_TENSORMAP_RACE | GSAN_WHY_ASYNC << 8 :
				   red_kind(now, prev, red_kind(prev, now, open_kind(w, prev)));
			/* A thread's own accesses are in order. */
			if (by_peer(prev) && ((prev ^ now) >> 12 & 0x7fffff) == 0)
				return STATUS_FINE;
			if (by_object(prev))
				kind = now & ASYNC_WRITES ? GSAN_MBARRIER_MISUSE | GSAN_WHY_MBAR_LIVE << 8 : 0;
			if (by_peer(prev) && (flags & ISSUE_THREAD))
				kind = peer_kind(w, prev, now, slot, clock_of(prev));
			return kind ? STATUS_BAD | kind << 8 : STATUS_FINE;
		}
		bool generic = generic_too(prev);
		if ((flags & ISSUE_PROXY) && (generic || apart(w, prev)) && !async_gone(w, prev) &&
		    !(generic ? generic_fenced(w, prev, space) : any_fence(w, space)))
			return STATUS_BAD | GSAN_PROXY_RACE << 8 |
			       (generic && (async_what(prev) & GSAN_ASYNC_MBAR) ? GSAN_WHY_PROXY_END : GSAN_WHY_PROXY) << 16;
		if ((flags & ISSUE_PROXY) && (flags & ISSUE_SHARED) && by_peer(prev)) {
			u32 v = peer_status(w, prev);
			if ((v & 255) == STATUS_BAD)
				return v;
		}
		/* A write takes its place in any case. */
		if (gone || (apt && !group && over_for_all(w, prev, flags & ISSUE_SHARED)))
			return STATUS_GONE;
		return STATUS_FINE;
	}
	bool same = slot == w->slot && clock > w->start, other = false;
	if (same && of_any_lane(prev) && (flags & ~ISSUE_SHARED) == ISSUE_PROXY && fence_next(w, prev, space))
		return STATUS_FINE;
	u32 end = GSAN_CLOCK_MAX, state = load(&w->state);
	if (!same) {
		if (clock < w->launch_base || ((flags & ISSUE_SHARED) && clock <= load(&block_of(slot)->start)))
			return STATUS_GONE;
		end = find_tenant(slot, clock, &launch, &cta);
		if (!end) {
			count(GSAN_COUNT_HISTORY_LOST, 1);
			return STATUS_GONE;
		}
		other = launch != own_block(w)->launch_number;
		if (other && GSAN_TENANT_CHAIN(launch, cta) != own_block(w)->chain)
			return STATUS_GONE;
		if (other && !launch_beside(w, launch, own_block(w)->chain))
			return STATUS_FINE;
		if ((state & GSAN_WARP_UNMODELLED) && scopes_meet(w, GSAN_CLUSTER, GSAN_CLUSTER, slot, clock))
			return STATUS_FINE;
	}
	if (!lane_knows(w, prev, true, end)) {
		u32 pk = GSAN_REC_KIND(prev);
		/* A strong read may have found what this one wrote, and order it. */
		ROLLED
		for (u32 k = 0; k < 4 && (pk & GSAN_KIND_WRITE) && kind_level(pk); k++) {
			u64 z = load64(sh + k);
			if (kind_observed(GSAN_REC_KIND(z)) && !((z ^ prev) & 255)) {
				count(GSAN_COUNT_OBSERVED, 1);
				return STATUS_FINE;
			}
		}
		if (flags & ISSUE_THREAD) {
			u32 kind = peer_kind(w, prev, now, slot, clock);
			return kind ? STATUS_BAD | kind << 8 : STATUS_FINE;
		}
		u32 red = red_kind(now, prev, GSAN_ASYNC_RACE);
		if (red != GSAN_ASYNC_RACE)
			return red ? STATUS_BAD | red << 8 : STATUS_FINE;
		return STATUS_BAD | (flags & ISSUE_MAP ? GSAN_TENSORMAP_RACE : GSAN_ASYNC_RACE) << 8 |
		       (same ? GSAN_WHY_SAME_BLOCK : !other ? GSAN_WHY_OTHER_BLOCK :
			launch < own_block(w)->launch_number ? GSAN_WHY_GRID_NOW : GSAN_WHY_GRID_BEFORE) << 16;
	}
	if (flags & ISSUE_MAP)
		return other ? STATUS_FINE : map_status(w, sh, prev, end);
	if (flags & ISSUE_ALIAS)
		return other || alias_fenced(w, prev, end) ? STATUS_FINE : STATUS_BAD | GSAN_PROXY_RACE << 8 | GSAN_WHY_ALIAS << 16;
	if (!(flags & ISSUE_PROXY))
		return STATUS_FINE;
	return proxy_status(w, prev, same, end, space);
}

/* Was the copy of a ghost issued before the access `prev`, as its clock tells? */
FN bool issued_before(const struct gsan_warp *w, u64 prev)
{
	return is_ghost(w) && GSAN_REC_SLOT(prev) == w->slot && GSAN_REC_CLOCK(prev) > w->start &&
	       GSAN_REC_CLOCK(prev) > post_of(w)->clock[GSAN_REC_WARP(prev)];
}

/* `prev`, of `psite`, and the operation are a finding. */
SLOW void issue_report(struct gsan_warp *w, u32 status, u32 psite, u64 prev, u64 now, u64 where, u32 site)
{
	u32 launch;
	u64 cta = own_block(w)->cta;
	/* What came behind the issue and before the walk. */
	if (GSAN_REC_KIND(prev) != GSAN_KIND_ASYNC && issued_before(w, prev)) {
		tell(w, status >> 8 & 255, GSAN_WHY_ASYNC, where, psite, prev, site, now, cta);
		return;
	}
	if (GSAN_REC_SLOT(prev) != w->slot && GSAN_REC_KIND(prev) != GSAN_KIND_ASYNC)
		find_tenant(GSAN_REC_SLOT(prev), GSAN_REC_CLOCK(prev), &launch, &cta);
	tell(w, status >> 8 & 255, status >> 16, where, site, now, psite, prev, cta);
}

/* An operation that is issued: who issues it, its records, ISSUE_*, and the block of which
 * the shared memory is. */
struct issue {
	struct gsan_warp *w;
	u64 rec;
	u32 flags, site, slot;
	u64 owner;              /* of the shared memory, see tell */
	struct gsan_warp *links;        /* of the block with that memory, as whom its lines are linked; or NULL */
	/* Neighbouring granules are mostly alike, if not in the order of their records: what
	 * was found of the last four. */
	u32 val[4];
	u64 key[4];
	/* The last granule that was looked at with nothing to tell of it, whichever lanes of their
	 * warps its weak accesses were by, and its answer: neighbours are mostly alike. */
	uint4 a, c;
	u64 now;
	u32 look;
	bool single;            /* what was found of a weak access holds for that lane alone */
	/* What all who walk a posted copy found, and for which of its sides; or NULL. */
	struct gsan_post *post;
	u32 side;
	/* Of several products of one group, whose sites follow one another: those that read a column, eight
	 * bits each.  The first one's site stands for it. */
	u64 whose;
	bool product;           /* of matrices: it is asked of by each warp of four, whosever record stands */
};

/* The site of what it accesses in a column of lines, of operations whose first one is `site`. */
FN u32 site_among(u32 site, u32 whose) { return site + __ffs(whose & 255) - 1; }
FN u32 site_of_column(const struct issue *x, u32 column) { return site_among(x->site, (u32)(x->whose >> 8 * column)); }

FN void issue_begin(struct issue *x, struct gsan_warp *w, u32 slot, u64 rec, u32 flags, u32 site)
{
	x->w = w;
	x->rec = rec;
	x->flags = flags;
	x->site = site;
	x->slot = slot;
	x->owner = flags & ISSUE_SHARED ? owner_of(w, slot) : 0;
	x->links = slot == w->slot ? w : 0;
	x->key[0] = x->key[1] = x->key[2] = x->key[3] = 0;
	x->now = 0;
	x->single = false;
	x->post = 0;
	x->side = 0;
	x->whose = ~0ull;
	x->product = false;
}

/* In `y`, of lane `from` of the group, what status_of asks of its operation. */
FN void issue_of(struct issue *y, const struct issue *x, u32 group, u32 from)
{
	y->w = (struct gsan_warp *)__shfl_sync(group, (u64)x->w, from);
	y->post = (struct gsan_post *)__shfl_sync(group, (u64)x->post, from);
	y->flags = __shfl_sync(group, x->flags, from);
	y->side = __shfl_sync(group, x->side, from);
	y->key[0] = y->key[1] = y->key[2] = y->key[3] = 0;
	y->single = false;
}

/* The key of a weak access by whichever lane of its warp, at its clock, and of an operation for which
 * the one that is issued stands as well if it comes behind it. */
#define ID_ANY_LANE     128u
#define ID_COVERED      64u
FN u64 id_any_lane(u64 prev) { return (prev & ~(31ull << 12 | 255)) | ID_ANY_LANE; }

/* Where all who walk a posted copy find what issue_status said of a record, for a side of it. */
FN u64 said_key(u64 id, u32 side) { return id | (side + 1); }
FN uint4 *said_at(struct gsan_post *p, u64 id, u32 side)
{
	return (uint4 *)(p->said + ((u32)(id >> 12 ^ id << 8) * 2654435761u + side >> 20) % GSAN_SAID);
}
FN void said_note(struct gsan_post *p, u64 id, u32 side, u32 status)
{
	u64 key = said_key(id, side);
	store_ca(said_at(p, id, side), four((u32)key, (u32)(key >> 32), status, 0));
}

/* What issue_status says of record `prev`, under a key of its own. */
SLOW u32 status_under(struct issue *x, u64 id, u64 *sh, u64 prev, u64 now)
{
	u32 flags = x->flags | (id & ID_COVERED ? ISSUE_COVERS : 0);
	x->key[3] = x->key[2]; x->key[2] = x->key[1]; x->key[1] = x->key[0];
	x->val[3] = x->val[2]; x->val[2] = x->val[1]; x->val[1] = x->val[0];
	x->key[0] = id;
	if (!x->post)
		return x->val[0] = issue_status(x->w, sh, prev, now, flags);
	uint4 v = load_ca(said_at(x->post, id, x->side));       /* key val */
	if (((u64)v.y << 32 | v.x) == said_key(id, x->side))
		return x->val[0] = v.z;
	x->val[0] = issue_status(x->w, sh, prev, now, flags);
	said_note(x->post, id, x->side, x->val[0]);
	return x->val[0];
}

FN bool status_found(struct issue *x, u64 id, u32 *v)
{
	bool found = false;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		*v = x->key[k] == id ? x->val[k] : *v;
		found |= x->key[k] == id;
	}
	return found;
}

/* Of a weak access, for all lanes of its warp up to its clock: what it says if there is nothing to
 * tell of any. */
FN u32 status_of_all(struct issue *x, u64 *sh, u64 prev, u64 now)
{
	u32 v = 0;
	u64 id = id_any_lane(prev);
	return status_found(x, id, &v) ? v : status_under(x, id, sh, (prev & ~0xfffull) | GSAN_KIND_WARP_READ << 8, now);
}

/* What issue_status says of it.  The lanes of a warp read neighbouring granules and have mostly
 * the same behind them: of a weak access is asked first whether all of its warp up to its
 * clock is known, and fenced, which holds for each. */
FN u32 status_of(struct issue *x, u64 *sh, u64 prev, u64 now)
{
	u32 v = 0;
	bool weak = GSAN_REC_KIND(prev) < 2 && !(x->flags & ~(ISSUE_SHARED | ISSUE_PROXY)) &&
		    !((prev & 0x100) && chosen(GSAN_CHOICE_proxy_war));
	bool covered = GSAN_REC_KIND(prev) == GSAN_KIND_ASYNC && !(prev & ~now & 255) && !((prev | now) & ASYNC_WRITES);
	u64 id = weak ? id_any_lane(prev) : (prev & ~255ull) | (covered ? ID_COVERED : 0);
	if (!status_found(x, id, &v))
		v = status_under(x, id, sh, weak ? (prev & ~0xfffull) | GSAN_KIND_WARP_READ << 8 : prev, now);
	x->single |= !weak && GSAN_REC_KIND(prev) < 2;
	if (!weak || (v & 255) != STATUS_BAD)
		return v;
	x->single = true;
	id = prev & ~255ull;
	return status_found(x, id, &v) ? v : status_under(x, id, sh, prev, now);
}

/* A granule on its way. */
struct granule {
	u64 *sh, now, where;
	u32 *st;
	uint4 a, c;             /* its records */
	u32 pick;               /* where the operation's record was put in; 4: nowhere */
};

#define LOOK_DONE       (1u << 12)
#define LOOK_AGAIN      (1u << 13)      /* there was a mark */
FN void record_now(struct granule *g, u32 k, u64 v)
{
	u32 low = (u32)v, high = (u32)(v >> 32);
	if (k & 2) {
		g->c = k & 1 ? four(g->c.x, g->c.y, low, high) : four(low, high, g->c.z, g->c.w);
		return;
	}
	g->a = k & 1 ? four(g->a.x, g->a.y, low, high) : four(low, high, g->a.z, g->a.w);
}

/* Is what stands there now nothing but what stood there when it was looked at? */
FN bool same_or_gone(uint4 v, uint4 old)
{
	return (!(v.x | v.y) || (v.x == old.x && v.y == old.y)) && (!(v.z | v.w) || (v.z == old.z && v.w == old.w));
}

/* Records as they are whichever lane's they are, if they are weak accesses'. */
FN u32 any_lane(u32 lo, u32 hi) { return lo & 0xe00 || hi >= HIGH(GSAN_ASYNC_CLOCK) ? lo : lo & ~0x1f000u; }
FN uint4 any_lanes(uint4 v) { return four(any_lane(v.x, v.y), v.y, any_lane(v.z, v.w), v.w); }

FN u64 record_in(const struct granule *g, u32 k)
{
	return k & 2 ? (k & 1 ? (u64)g->c.w << 32 | g->c.z : (u64)g->c.y << 32 | g->c.x) :
		       (k & 1 ? (u64)g->a.w << 32 | g->a.z : (u64)g->a.y << 32 | g->a.x);
}

/* The operation is compared with what stands in `g`.  Returns the records whose place it
 * may take, those that it stands for << 4, those of products << 8; LOOK_DONE if its own
 * is in; LOOK_AGAIN alone. */
SLOW u32 granule_look(struct issue *x, const struct granule *g)
{
	u64 now = g->now;
	u32 free = 0, spare = 0, old_ones = 0, products = 0;
	bool shared = x->flags & ISSUE_SHARED, write = now & ASYNC_WRITES, product = by_product(now), in = g->pick < 4, told = in, excused = false;
	if (is_mark(record_in(g, 1)) || of_line(record_in(g, 2))) {
		line_open(x->w, g->sh);
		return LOOK_AGAIN;
	}
	/* At once: records may be displaced at any time. */
	uint4 words = load_cg(g->st);
	x->single = false;
	ROLLED
	for (u32 k = 0; k < 4; k++) {
		u64 prev = record_in(g, k);
		if (!prev) {
			free |= 1u << k;
			continue;
		}
		if (product && by_product(prev) && prev != now && !((prev ^ now) >> 12 & 0x7fffff) && !(prev & ~now & 255))
			old_ones |= 1u << k;
		/* Its own, or that of a read by another of the same group. */
		if (prev == now && (g->pick == k || !write))
			in = true;
		if (!(prev & now & 255) || (prev == now && in))
			continue;
		bool async = GSAN_REC_KIND(prev) == GSAN_KIND_ASYNC;
		bool writes = async ? (prev & ASYNC_WRITES) : (prev & 0x100);
		bool reduce = async && both_reduce(prev, now);
		/* What an earlier launch left would only push out the others. */
		if (!async && GSAN_REC_CLOCK(prev) < x->w->launch_base) {
			free |= 1u << k;
			continue;
		}
		/* Behind the issue and before the walk: what it took the place of is not known. */
		if (!async && issued_before(x->w, prev) && (writes || k == 0 || k == 3))
			fetch_add(&warp_of(x->w->slot, x->w->id & 31)->evicted, 1);
		u32 v = status_of(x, g->sh, prev, now), s = v & 255;
		if ((v & 0xffff) == (STATUS_BAD | GSAN_ASYNC_RACE << 8) && shared && behind_product(x->w, g->sh, prev)) {
			s = STATUS_FINE;
			excused = true;
		}
		if (s == STATUS_GONE || (s == STATUS_FINE && !(prev & ~now & 255) && (write || !writes)))
			old_ones |= 1u << k;
		if (product && s == STATUS_FINE && !(prev & ~now & 255))
			spare |= 1u << k;
		if (!product && by_product(prev))
			products |= 1u << k;
		told |= s == STATUS_BAD;
		if (s == STATUS_BAD && (write || writes) && !reduce && !(async && read_elsewhere(x->w, prev))) {
			u32 word = k & 2 ? (k & 1 ? words.w : words.z) : (k & 1 ? words.y : words.x);
			issue_report(x->w, v, site_found(g->sh, g->st, k, word, prev, x->site), prev, now, g->where, x->site);
		}
	}
	/* What a product excuses goes before it. */
	if (excused)
		old_ones &= ~products;
	u32 look = free | old_ones << 4 | spare << 8 | (in ? LOOK_DONE : 0);
	if (!told && !x->single) {
		x->now = now;
		x->a = any_lanes(g->a);
		x->c = any_lanes(g->c);
		x->look = look;
	}
	return look;
}

/* The same, mostly without a look at each record. */
FN u32 granule_seen(struct issue *x, const struct granule *g)
{
	bool alike = g->pick == 4 && x->now == g->now && same4(x->a, any_lanes(g->a)) && same4(x->c, any_lanes(g->c));
	return alike ? x->look : granule_look(x, g);
}

/* Who comes at one moment starts at another place, and the same one in all granules, so
 * that they stay alike. */
FN u32 first_place(u64 now) { return async_what(now) & GSAN_ASYNC_MBAR ? 3 : (u32)(now >> 19) & 3; }

/* Where it would be put into `g`, were that as the last one; 4: nowhere, or not known. */
FN u32 granule_guess(const struct issue *x, const struct granule *g)
{
	u32 free = (x->look | x->look >> 4) & 15;
	return x->now == g->now && !(x->look & LOOK_DONE) && free ? place_in(free, first_place(g->now), x->flags & ISSUE_SHARED) : 4;
}

/* Which record its own is to take the place of; 4: it gives up. */
FN u32 granule_pick(struct issue *x, const struct granule *g, u32 look)
{
	u32 free = (look | look >> 4) & 15, spare = look >> 8 & 15;
	if (!free) {
		fetch_add(&warp_of(x->w->slot, x->w->id & 31)->evicted, 1);
		/* A read gives up itself, unless it is a product's that stands for what it
		 * came behind, see behind_product. */
		if (!(g->now & ASYNC_WRITES) && !spare)
			return 4;
		free = spare ? spare : 1u << (((u32)(g->where >> 3) ^ clock32()) * 2654435761u >> 30);
	}
	return place_in(free, first_place(g->now), x->flags & ISSUE_SHARED);
}

/* Its record has taken the place of `pick`; others that it stands for are only in the way. */
FN void granule_in(struct issue *x, struct granule *g, u32 look, u32 pick)
{
	g->pick = pick;
	store(g->st + pick, site_word(x->site, g->now));
	ROLLED
	for (u32 m = look >> 4 & 15 & ~(1u << pick); m; m &= m - 1)
		swap(g->sh + (__ffs(m) - 1), record_in(g, __ffs(m) - 1), 0ull);
	record_now(g, pick, g->now);
}

/* The same where it was guessed: is what stands there now, `a` and `c`, as in the last granule?
 * If not, `g` goes on having what was guessed, and is looked at for that. */
FN bool granule_guessed(struct issue *x, struct granule *g, u32 pick, uint4 a, uint4 c)
{
	record_now(g, pick, g->now);
	bool alike = same_or_gone(any_lanes(a), g->a) && same_or_gone(any_lanes(c), g->c);
	g->a = alike ? a : g->a;
	g->c = alike ? c : g->c;
	granule_in(x, g, alike ? x->look : 0, pick);
	return alike;
}

/* Where the records of a granule are.  False: nowhere. */
FN bool granule_at(struct issue *x, struct granule *g, u64 addr, u64 end, u32 limit)
{
	u32 size = end - addr < 8 ? (u32)(end - addr) : 8, off = (u32)addr & SHARED_WINDOW;
	bool shared = x->flags & ISSUE_SHARED;
	g->where = shared ? (off & ~7u) | 1 | x->owner : addr & ~7ull;
	g->now = x->rec | bytes_at(addr, size);
	g->pick = 4;
	if (!shared)
		return shadow_global(addr, &g->sh, &g->st);
	u64 row = (u64)(off >> 13) * x->w->nslots + x->slot;
	g->sh = at<u64>(GSAN_SHADOW_SHARED + (row << 15) + (off & 0x1ff8) * 4);
	g->st = at<u32>(GSAN_SITES_SHARED + (row << 14) + (off & 0x1ff8) * 2);
	return off < limit;
}

/* Where the records of operations go that find nothing of account. */
FN u32 vacant_place(u64 now) { return place_in(15, first_place(now), false); }

/* Record `r` if it is an operation's that an earlier launch or tenant of its slot left, and launches do not
 * overlap; else 0. */
FN u64 left_behind(struct gsan_warp *w, u64 r)
{
	const struct gsan_block *own = own_block(w);
	bool async = GSAN_REC_KIND(r) == GSAN_KIND_ASYNC && !by_object(r);
	return async && load_ca32(&own->chain) == load_ca32(&own->launch_number) && async_gone(w, r) ? r : 0;
}

/* `n` whole granules at `addr` of global memory, in fours, of one line: mostly nothing stands there but
 * what earlier launches left, and what did in one does in the next: a copy's record, say, of the same tile.
 * So the operation's record is put in for that, and looked at behind it, four at once.  Returns the granules of which more is to be
 * asked, and those that have the record << 16.  By all lanes of `group`. */
SLOW u32 range_vacant(struct issue *x, u32 group, u64 addr, u32 n)
{
	u64 *sh = 0, now = x->rec | 255, was = 0;
	u32 *st = 0, bound = HIGH(x->w->launch_base), p = vacant_place(now), word = site_word(x->site, now);
	u32 left = (1u << n) - 1, in = 0;
	if (n && !shadow_global(addr, &sh, &st))
		n = 0;
	meet_all(group);
	u64 gone = was = n ? left_behind(x->w, load64(sh + p)) : 0;
	ROLLED
	for (u32 i = 0, again = 0; __ballot_sync(group, i < n); ) {
		u64 got[4];
		uint4 a[4], c[4];
		u32 missed = 0;
		if (i < n) {
#pragma unroll
			for (u32 k = 0; k < 4; k++) {
				got[k] = in >> (i + k) & 1 ? was : swap(sh + 4 * (i + k) + p, was, now);
				a[k] = load_cg(sh + 4 * (i + k));
				c[k] = load_cg(sh + 4 * (i + k) + 2);
			}
#pragma unroll
			for (u32 k = 0; k < 4; k++) {
				u32 lo = p & 2 ? (p & 1 ? c[k].z : c[k].x) : p & 1 ? a[k].z : a[k].x;
				u32 hi = p & 2 ? (p & 1 ? c[k].w : c[k].y) : p & 1 ? a[k].w : a[k].y;
				bool own = (lo == (u32)now) & (hi == (u32)(now >> 32)), put = got[k] == was;
				bool alone = (a[k].y < bound) + (a[k].w < bound) + (c[k].y < bound) + (c[k].w < bound) == 3;
				if (put)
					store(st + 4 * (i + k) + p, word);
				in |= put ? 1u << (i + k) : 0;
				left &= put & own & alone ? ~(1u << (i + k)) : ~0u;
				missed = !put & (((u32)(got[k] >> 32) < bound) | (got[k] == gone)) ? k + 1 : missed;
			}
			/* Something else of earlier launches. */
			u64 other = missed & 4 ? got[3] : missed == 3 ? got[2] : missed == 2 ? got[1] : got[0];
			was = missed ? other : was;
			again = missed ? again + 1 : 0;
			i += again & 1 ? 0 : 4;
		}
		meet_all(group);
	}
	return left | in << 16;
}

/* If `in`, the operation's record was put in there, and what stands beside it is to be looked at. */
FN void granule_has(struct granule *g, bool in)
{
	if (!in)
		return;
	g->pick = vacant_place(g->now);
	g->a = g->c = four(0, 0, 0, 0);
	record_now(g, g->pick, g->now);
}

/* `bytes` bytes at `addr`, global or in shared memory: the operation puts its records in
 * and is compared with what stands.  All that takes long is to wait for memory, so each
 * lane has two granules on their way, and the lanes of `group`, which all come, stay
 * together: apart, they would wait one after the other. */
SLOW void async_range(struct issue *x, u32 group, u64 addr, u32 bytes)
{
	u32 limit = x->flags & ISSUE_SHARED ? load(&block_of(x->slot)->shared_limit) : 0;
	u64 end = addr + bytes;
	u32 left = ~0u, in = 0;         /* of 16 granules: those to be done, and that have the record */
	bool few = !(x->flags & ISSUE_SHARED) && bytes && !((addr ^ (end - 1)) >> 7) && !((u32)addr & 7) && !(bytes & 31);
	meet_all(group);
	if (__ballot_sync(group, few)) {
		u32 v = range_vacant(x, group, addr, few ? bytes >> 3 : 0);
		left = few ? v & 0xffff : left;
		in = v >> 16;
		addr = left ? addr : end;
	}
	meet_all(group);
	ROLLED
	for (; __ballot_sync(group, addr < end); addr = (addr & ~7ull) + 16, left = few ? left >> 2 : left, in >>= 2) {
		struct granule g, h;
		u64 next = (addr & ~7ull) + 8;
		u32 nowhere = 0;
		bool first = addr < end && (left & 1), second = addr < end && next < end && (left & 2);
		if (first && !granule_at(x, &g, addr, end, limit)) {
			first = false;
			nowhere++;
		}
		if (second && !granule_at(x, &h, next, end, limit)) {
			second = false;
			nowhere++;
		}
		if (nowhere)
			fetch_add(&warp_of(x->w->slot, x->w->id & 31)->unbacked, nowhere);
		granule_has(&g, first && (in & 1));
		granule_has(&h, second && (in & 2));
		/* Most are as their neighbours: put in at once, and looked at behind that. */
		u32 at = first && !(in & 1) ? granule_guess(x, &g) : 4, to = second && !(in & 2) ? granule_guess(x, &h) : 4;
		meet_all(group);
		if (at < 4 || to < 4) {
			u64 was = 0, had = 0, got = 1, found = 1;
			g.a = h.a = x->a;
			g.c = h.c = x->c;
			if (at < 4)
				got = swap(g.sh + at, was = record_in(&g, at), g.now);
			if (to < 4)
				found = swap(h.sh + to, had = record_in(&h, to), h.now);
			u64 *p = at < 4 ? g.sh : h.sh, *q = to < 4 ? h.sh : p;
			uint4 pa = load_cg(p), pc = load_cg(p + 2), qa = load_cg(q), qc = load_cg(q + 2);
			if (at < 4 && got == was)
				first = !granule_guessed(x, &g, at, pa, pc);
			if (to < 4 && found == had)
				second = !granule_guessed(x, &h, to, qa, qc);
		}
		meet_all(group);
		ROLLED
		for (u32 tries = 0; tries < 8 && __ballot_sync(group, first || second); tries++) {
			u32 look = LOOK_DONE, other = LOOK_DONE;
			if (first || second) {
				u64 *p = first ? g.sh : h.sh, *q = second ? h.sh : p;
				uint4 pa = load_cg(p), pc = load_cg(p + 2), qa = load_cg(q), qc = load_cg(q + 2);
				/* The second look is for what came meanwhile. */
				first = first && !(g.pick < 4 && same_or_gone(pa, g.a) && same_or_gone(pc, g.c));
				second = second && !(h.pick < 4 && same_or_gone(qa, h.a) && same_or_gone(qc, h.c));
				g.a = pa; g.c = pc;
				h.a = qa; h.c = qc;
			}
			if (first)
				look = granule_seen(x, &g);
			meet_all(group);
			if (second)
				other = granule_seen(x, &h);
			u32 i = first && !(look & (LOOK_DONE | LOOK_AGAIN)) ? granule_pick(x, &g, look) : 4;
			u32 k = second && !(other & (LOOK_DONE | LOOK_AGAIN)) ? granule_pick(x, &h, other) : 4;
			u64 was = 0, had = 0, got = 0, found = 0;
			meet_all(group);
			if (i < 4)
				got = swap(g.sh + i, was = record_in(&g, i), g.now);
			if (k < 4)
				found = swap(h.sh + k, had = record_in(&h, k), h.now);
			if (i < 4 && got == was)
				granule_in(x, &g, look, i);
			if (k < 4 && found == had)
				granule_in(x, &h, other, k);
			first = first && (i < 4 || look == LOOK_AGAIN);
			second = second && (k < 4 || other == LOOK_AGAIN);
			meet_all(group);
		}
	}
}

/* All of an operation of the calling lane in one range. */
SLOW void async_all(struct gsan_warp *w, u32 slot, u64 addr, u32 bytes, u64 rec, u32 flags, u32 site)
{
	struct issue x;
	issue_begin(&x, w, slot, rec, flags, site);
	async_range(&x, together(), addr, bytes);
}

/* A thread's own access of `info`, whose records are as `rec`: elements of a strong one are accesses of
 * their own.  (PTX ISA, Vector Data-types) */
SLOW void elements_all(struct gsan_warp *w, u32 slot, u64 addr, u32 info, u64 rec, u32 flags, u32 site)
{
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_LEVEL(info) ? GSAN_INFO_ELEMS(info) : 1;
	/* GSAN_REC_WIDE: seven bytes of each granule. */
	bool wide = GSAN_INFO_LEVEL(info) && size == 16;
	ROLLED
	for (u32 k = 0; k < (n ? n : 1); k++, addr += size) {
		async_all(w, slot, addr, wide ? 7 : size, rec, flags, site);
		if (wide)
			async_all(w, slot, addr + 8, 7, rec, flags, site);
	}
}
