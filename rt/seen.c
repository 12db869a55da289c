/* SPDX-License-Identifier: Apache-2.0
 *
 * seen.c: what copies, fills and their kin touch, and whom they wait for.
 *
 * CUDA Driver API, "API synchronization behavior", and in doubt it is taken to wait: nothing is told that a driver may
 * have ordered.
 */
#include "rt/order.h"
#include "rt/seen.h"
#include "rt/touch.h"

bool rt_seen_begin(struct rt_seen *s, enum rt_hook which, CUstream stream, const char *call)
{
	*s = (struct rt_seen){.which = which, .call = call, .stream = stream};
	rt_stream_seen(which, stream);
	if (!rt_order_wanted() && (uintptr_t)stream > 2)
		rt_order_want();
	return rt_order_wanted();
}

void rt_seen_end_of(struct rt_seen *s, CUresult r)
{
	if (s->deed && r != CUDA_SUCCESS)
		detect_ranges_free(&s->deed->d.ranges);
	if (s->deed && r == CUDA_SUCCESS && !s->waits)
		rt_touch_guard_deed(s->deed);
	rt_deed_ready(s->deed);
	if ((s->waits || s->queries) && r == CUDA_SUCCESS) {
		rt_order_learn(&s->clock);
		rt_touch_over();
	}
}

/* ---- whose memory it is --------------------------------------------------------------------------------------------- */

enum side { DEVICE, LOCKED, MANAGED, PAGEABLE };

/* What nobody has allocated through the driver is pageable. */
static enum side side_of(uint64_t address)
{
	struct rt_block b;
	bool found;

	if (!address)
		return DEVICE;
	pthread_mutex_lock(&rt_lock);
	found = rt_block_find(&rt_blocks, address, &b);
	pthread_mutex_unlock(&rt_lock);
	if (!found)
		return PAGEABLE;
	return b.kind == RT_MEM_HOST ? LOCKED : b.kind == RT_MEM_MANAGED ? MANAGED : DEVICE;
}

static bool is_host(enum side s)
{
	return s == LOCKED || s == PAGEABLE;
}

/* A blocking copy from pageable memory waits for what is in its stream before; that its last step may come behind the
 * call is left aside. */
static bool waits(enum side to, enum side from, enum rt_form form)
{
	if (form == RT_BLOCKING)
		return to != DEVICE || from != DEVICE;
	return to == PAGEABLE || (is_host(to) && is_host(from));
}

/* ---- shapes ------------------------------------------------------------------------------------------------------------ */

struct shape { uint64_t at, pitch, slice; };
struct extent { uint64_t width, height, depth; };

static bool put(struct rt_seen *s, enum detect_deed_kind kind)
{
	s->deed = rt_deed_put(s->which, s->stream, kind, s->call);
	if (s->deed)
		s->clock = s->deed->d.when.knew;
	return s->deed;
}

/* Whose memory it is. */
static enum side add(struct rt_deed *d, const struct shape *p, const struct extent *e, bool writes)
{
	const enum side side = side_of(p->at);

	if (!p->at || side == PAGEABLE)
		return side;
	for (uint64_t z = 0; z < e->depth; z++)
		for (uint64_t y = 0; y < e->height; y++)
			rt_deed_range(d, p->at + z * p->slice + y * p->pitch, e->width, writes);
	return side;
}

static void copy(struct rt_seen *s, const struct shape *to, const struct shape *from, const struct extent *e, enum rt_form form)
{
	enum side into, out;

	if (!e->width || !e->height || !e->depth || !put(s, DETECT_COPY))
		return;
	out = add(s->deed, from, e, false);
	into = add(s->deed, to, e, true);
	s->waits = waits(into, out, form);
}

void rt_seen_line(struct rt_seen *s, uint64_t to, uint64_t from, size_t n, enum rt_form form)
{
	copy(s, &(struct shape){.at = to}, &(struct shape){.at = from}, &(struct extent){n, 1, 1}, form);
}

static uint64_t start_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_ARRAY ? 0 : type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device;
}

/* The place in rows and slices of what begins there; an array's stays 0. */
static struct shape placed(uint64_t at, uint64_t pitch, uint64_t rows, const uint64_t xyz[3])
{
	struct shape p = {.pitch = pitch, .slice = pitch * rows};

	p.at = at ? at + xyz[0] + xyz[1] * p.pitch + xyz[2] * p.slice : 0;
	return p;
}

void rt_seen_2d(struct rt_seen *s, const CUDA_MEMCPY2D *c, enum rt_form form)
{
	struct shape to, from;

	if (!c)
		return;
	to = placed(start_of(c->dstMemoryType, c->dstHost, c->dstDevice), c->dstPitch ? c->dstPitch : c->WidthInBytes, c->Height,
		    (const uint64_t[]){c->dstXInBytes, c->dstY, 0});
	from = placed(start_of(c->srcMemoryType, c->srcHost, c->srcDevice), c->srcPitch ? c->srcPitch : c->WidthInBytes, c->Height,
		      (const uint64_t[]){c->srcXInBytes, c->srcY, 0});
	copy(s, &to, &from, &(struct extent){c->WidthInBytes, c->Height, 1}, form);
}

/* Of copies in three dimensions, which come in two structs. */
#define SHAPES_3D(c, to, from) \
	do { \
		to = placed(start_of((c)->dstMemoryType, (c)->dstHost, (c)->dstDevice), (c)->dstPitch ? (c)->dstPitch : (c)->WidthInBytes, \
			    (c)->dstHeight ? (c)->dstHeight : (c)->Height, (const uint64_t[]){(c)->dstXInBytes, (c)->dstY, (c)->dstZ}); \
		from = placed(start_of((c)->srcMemoryType, (c)->srcHost, (c)->srcDevice), (c)->srcPitch ? (c)->srcPitch : (c)->WidthInBytes, \
			      (c)->srcHeight ? (c)->srcHeight : (c)->Height, (const uint64_t[]){(c)->srcXInBytes, (c)->srcY, (c)->srcZ}); \
	} while (0)

#define COPY_3D(s, c, form) \
	do { \
		struct shape to, from; \
		\
		if (!(c)) \
			return; \
		SHAPES_3D(c, to, from); \
		copy(s, &to, &from, &(struct extent){(c)->WidthInBytes, (c)->Height, (c)->Depth}, form); \
	} while (0)

void rt_seen_3d(struct rt_seen *s, const CUDA_MEMCPY3D *c, enum rt_form form)
{
	COPY_3D(s, c, form);
}

void rt_seen_peer(struct rt_seen *s, const CUDA_MEMCPY3D_PEER *c, enum rt_form form)
{
	COPY_3D(s, c, form);
}

void rt_seen_copy_node(struct rt_deed *d, const CUDA_MEMCPY3D *c)
{
	const struct extent e = {c->WidthInBytes, c->Height, c->Depth};
	struct shape to, from;

	SHAPES_3D(c, to, from);
	add(d, &from, &e, false);
	add(d, &to, &e, true);
}

void rt_seen_fill_node(struct rt_deed *d, const CUDA_MEMSET_NODE_PARAMS *f)
{
	add(d, &(struct shape){.at = f->dst, .pitch = f->pitch}, &(struct extent){f->width * f->elementSize, f->height, 1}, true);
}

void rt_seen_batch(struct rt_seen *s, const CUdeviceptr *to, const CUdeviceptr *from, const size_t *bytes, size_t n)
{
	if (!to || !from || !bytes || !put(s, DETECT_COPY))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct extent e = {bytes[i], 1, 1};

		const enum side out = add(s->deed, &(struct shape){.at = from[i]}, &e, false);
		const enum side into = add(s->deed, &(struct shape){.at = to[i]}, &e, true);

		s->waits |= waits(into, out, RT_ASYNC);
	}
}

/* The driver maps the pages for the host when the stream comes to that: they must not be guarded then. */
void rt_seen_prefetch(struct rt_seen *s, const CUdeviceptr *p, const size_t *bytes, size_t n, bool to_host)
{
	(void)s;
	for (size_t i = 0; i < n && to_host && p && bytes; i++)
		rt_touch_mapped(p[i], bytes[i]);
}

bool rt_seen_on_host(const CUmemLocation *to, size_t n)
{
	for (size_t i = 0; to && i < n; i++)
		if (to[i].type != CU_MEM_LOCATION_TYPE_DEVICE)
			return true;
	return false;
}

void rt_seen_fill(struct rt_seen *s, uint64_t to, size_t pitch, size_t width, size_t height, enum rt_form form)
{
	enum side side;

	if (!width || !height || !put(s, DETECT_FILL))
		return;
	side = add(s->deed, &(struct shape){.at = to, .pitch = pitch}, &(struct extent){width, height, 1}, true);
	s->waits = form == RT_BLOCKING && side != DEVICE;
}

/* ---- the rest -------------------------------------------------------------------------------------------------------------- */

/* Who reads it is not seen: if the host can, it is taken to have learned all that comes before. */
void rt_seen_word(struct rt_seen *s, uint64_t to, size_t bytes)
{
	const struct detect_range r = {.address = to, .bytes = bytes, .writes = true, .strong = true};

	if (!put(s, DETECT_FILL))
		return;
	detect_range_add(&s->deed->d.ranges, &r);
	s->waits = side_of(to) != DEVICE;
}

void rt_seen_record(struct rt_seen *s, CUevent event, unsigned flags)
{
	(void)flags;
	rt_order_record(s->which, s->stream, event);
}

void rt_seen_wait(struct rt_seen *s, CUevent event, unsigned flags)
{
	(void)flags;
	rt_order_wait(s->which, s->stream, event);
}

void rt_seen_query(struct rt_seen *s)
{
	s->queries = true;
	s->clock = rt_order_of_stream(s->which, s->stream);
}

void rt_seen_end(struct rt_seen *s)
{
	rt_order_stream_end(s->stream);
}

void rt_seen_open(struct rt_seen *s)
{
	rt_order_open(s->which, s->stream);
}

void rt_seen_blind(struct rt_seen *s)
{
	(void)s;
	rt_order_blind();
}

void rt_seen_plain(struct rt_seen *s)
{
	(void)s;
}

/* ---- functions of the host --------------------------------------------------------------------------------------------------- */

/* What is before it in its stream is over when it begins, and the host knows. */
struct later { CUhostFn fn; CUstreamCallback callback; void *arg; struct detect_when when; };

static void begin(const struct later *l)
{
	rt_inside++;
	rt_order_learn(&l->when.knew);
	rt_touch_over();
	rt_order_within = &l->when;
	rt_inside--;
}

static void CUDA_CB call_fn(void *arg)
{
	struct later l = *(struct later *)arg;

	rt_free(arg);
	begin(&l);
	l.fn(l.arg);
	rt_order_within = NULL;
}

static void CUDA_CB call_back(CUstream s, CUresult r, void *arg)
{
	struct later l = *(struct later *)arg;

	rt_free(arg);
	begin(&l);
	l.callback(s, r, l.arg);
	rt_order_within = NULL;
}

/* NULL: it is called as it is. */
static struct later *later(enum rt_hook which, CUstream s, const struct later *what)
{
	struct rt_deed *d;
	struct later *l;

	rt_stream_seen(which, s);
	d = rt_deed_put(which, s, DETECT_TOUCH, "the host");
	if (!d)
		return NULL;
	l = rt_alloc(sizeof *l);
	*l = *what;
	l->when = d->d.when;
	rt_deed_ready(d);
	return l;
}

CUresult rt_on_host_func(enum rt_hook which, CUstream s, CUhostFn fn, void *arg)
{
	struct later *l = fn ? later(which, s, &(struct later){.fn = fn, .arg = arg}) : NULL;
	CUresult r = REAL(cuLaunchHostFunc, which)(s, l ? call_fn : fn, l ? l : arg);

	if (l && r != CUDA_SUCCESS)
		rt_free(l);
	return r;
}

CUresult rt_on_callback(enum rt_hook which, CUstream s, CUstreamCallback fn, void *arg, unsigned flags)
{
	struct later *l = fn ? later(which, s, &(struct later){.callback = fn, .arg = arg}) : NULL;
	CUresult r = REAL(cuStreamAddCallback, which)(s, l ? call_back : fn, l ? l : arg, flags);

	if (l && r != CUDA_SUCCESS)
		rt_free(l);
	return r;
}

CUresult rt_on_stream_create(enum rt_hook which, CUstream *s, unsigned flags)
{
	rt_order_want();
	return REAL(cuStreamCreate, which)(s, flags);
}

CUresult rt_on_stream_priority(enum rt_hook which, CUstream *s, unsigned flags, int priority)
{
	rt_order_want();
	return REAL(cuStreamCreateWithPriority, which)(s, flags, priority);
}

CUresult rt_on_green_stream(enum rt_hook which, CUstream *s, CUgreenCtx ctx, unsigned flags, int priority)
{
	rt_order_want();
	return REAL(cuGreenCtxStreamCreate, which)(s, ctx, flags, priority);
}
