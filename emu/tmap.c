/* SPDX-License-Identifier: Apache-2.0
 *
 * tmap.c: tensor maps: cuTensorMapEncode* and the walk over the bytes that a copy
 * moves (PTX ISA, "Tensors": tiled mode, im2col mode, interleave layout, swizzling modes,
 * bounding box, traversal strides, out-of-boundary access).
 *
 * Interleaved layouts are as an H200 has them.  The dimensions are W, H, D, C / slice and
 * N: those without D, or without H and D, of a smaller rank.  What lies along dimension 0
 * are slices of 16 or 32 bytes, whose channels are in no dimension; one slice of each
 * pixel is copied, whatever the box says, and they lie side by side in shared memory.
 */
#include <string.h>

#include "emu/api.h"
#include "emu/tmap.h"

_Static_assert(sizeof(struct emu_tmap) == 128, "a tensor map has 128 bytes");
_Static_assert(sizeof(CUtensorMap) == 128, "a tensor map has 128 bytes");

unsigned emu_tmap_elem_bytes(const struct emu_tmap *t)
{
	static const uint8_t bytes[TMAP_ELEMS] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};

	return t->elem < TMAP_ELEMS ? bytes[t->elem] : 0;
}

/* Bytes of a row of the box, and the distance of rows in shared memory: with a
 * swizzle, rows are as wide as its span (CUDA C++ Programming Guide, "Swizzle modes":
 * shared memory must have room for the full width).  Slices are rows of their own. */
static uint32_t inner(const struct emu_tmap *t)
{
	return t->interleave ? 8u << t->interleave : t->box[0] * emu_tmap_elem_bytes(t);
}

static uint32_t pitch(const struct emu_tmap *t)
{
	return t->swizzle && !t->interleave ? 16u << t->swizzle : inner(t);
}

/* The innermost dimension that tells rows apart. */
static unsigned first(const struct emu_tmap *t)
{
	return t->interleave ? 0 : 1;
}

static uint64_t alignment(const struct emu_tmap *t)
{
	return t->interleave == 2 ? 32 : 16;
}

const char *emu_tmap_wrong(const struct emu_tmap *t)
{
	if (t->magic != EMU_TMAP_MAGIC)
		return "no tensor map";
	if (!t->rank || t->rank > 5 || (t->mode != TMAP_TILED && t->rank < 3))
		return "a tensor map of a rank that there is not";
	if (t->interleave > 2 || (t->interleave && (t->rank < 3 || t->atomicity)))
		return "a tensor map with an interleaved layout that there is not";
	if (t->mode == TMAP_IM2COL_WIDE)
		return "a tensor map of the wide im2col mode, which is not emulated";
	if (t->elem >= TMAP_ELEMS)
		return "a tensor map of packed elements, which are not emulated";
	if (t->swizzle > 3 || t->atomicity > 3 || t->fill > 1 ||
	    (t->atomicity && t->swizzle != 3))
		return "a tensor map with a swizzle or fill mode that there is not";
	if (inner(t) % 16 || (t->swizzle && inner(t) > pitch(t)))
		return "a tensor map whose box has rows that do not fit";
	if (t->address & (alignment(t) - 1))
		return "a tensor map whose tensor is not aligned to 16 bytes, or to slices of 32";
	for (unsigned i = 0; i + 1 < t->rank; i++)
		if (t->stride[i] & (alignment(t) - 1))
			return "a tensor map with a stride that is no multiple of 16, or of a slice of 32";
	for (unsigned i = 0; i < t->rank; i++)
		if (!t->step[i] || t->step[i] > 8 ||
		    (t->mode == TMAP_TILED && (!t->box[i] || t->box[i] > 256)))
			return "a tensor map with an empty box";
	return NULL;
}

/* ---- walking ---------------------------------------------------------------------------- */

/* Where the 16 bytes at an address of the box lie in shared memory.  Address bits take
 * part, not offsets: the pattern repeats every 128 * 8 bytes of the address space. */
static uint32_t swizzled(const struct emu_tmap *t, uint32_t a)
{
	if (!t->swizzle)
		return a;
	switch (t->atomicity) {
	case 1:
	case 2:
		return a ^ (a >> 2 & 0x60);
	case 3:
		return a ^ (a >> 1 & 0x40);
	default:
		return a ^ (a >> 3 & ((1u << t->swizzle) - 1) << 4);
	}
}

static bool flipped(const struct emu_tmap *t, uint32_t a)
{
	return t->swizzle && t->atomicity == 2 && a >> 7 & 1;
}

static bool tell(const struct emu_box *b, uint32_t off, uint64_t global, uint32_t n)
{
	uint32_t a;

	if (!n || (!global && !b->load))
		return true;
	a = b->base + off;
	if (flipped(b->map, a)) {               /* 8 bytes at a time */
		uint32_t first = 8 - (a & 7) < n ? 8 - (a & 7) : n;

		return b->bytes(b->arg, (swizzled(b->map, a) ^ 8) - b->base, global, first) &&
		       (first == n || tell(b, off + first, global ? global + first : 0, n - first));
	}
	return b->bytes(b->arg, swizzled(b->map, a) - b->base, global, n);
}

/* One row: channels or elements of dimension 0 from b->at[0] on, or a slice.  `global` is
 * where element 0 of it lies, 0 if the whole row is out of bounds. */
static bool walk_row(const struct emu_box *b, uint32_t row, uint64_t global)
{
	const struct emu_tmap *t = b->map;
	bool slice = t->interleave;
	int64_t es = slice ? inner(t) : emu_tmap_elem_bytes(t), width = slice ? 1 : t->box[0];
	int64_t at = slice ? 0 : b->at[0], size = slice ? 1 : (int64_t)t->last[0] + 1;
	int64_t lo = -at, hi = size - at;
	uint32_t unit = t->swizzle ? 16 : 128;

	/* [lo, hi): bytes of the row that are in bounds */
	lo = (lo < 0 ? 0 : lo > width ? width : lo) * es;
	hi = (hi < 0 ? 0 : hi > width ? width : hi) * es;
	if (!global)
		lo = hi = 0;
	for (uint32_t i = 0; i < inner(t); i += unit) {
		int64_t end = i + unit < inner(t) ? i + unit : inner(t), from = i, to = end;
		uint32_t off = row * pitch(t);

		if (from < lo)
			from = lo < end ? lo : end;
		if (to > hi)
			to = hi > from ? hi : from;
		if (!tell(b, off + i, 0, (uint32_t)(from - i)) ||
		    !tell(b, off + (uint32_t)from, global + (uint64_t)(at * es + from),
			  (uint32_t)(to - from)) ||
		    !tell(b, off + (uint32_t)to, 0, (uint32_t)(end - to)))
			return false;
	}
	return true;
}

/* Address of element 0 of the row at these coordinates, or of the slice; 0 if it is out of
 * bounds. */
static uint64_t row_at(const struct emu_tmap *t, const int64_t *at)
{
	uint64_t a = t->address;

	for (unsigned i = first(t); i < t->rank; i++) {
		if (at[i] < 0 || at[i] > (int64_t)t->last[i])
			return 0;
		a += (uint64_t)at[i] * (i ? t->stride[i - 1] : inner(t));
	}
	return a;
}

static uint32_t count(const struct emu_tmap *t, unsigned i)
{
	return t->interleave && i + 2u == t->rank ? 1 : (t->box[i] + t->step[i] - 1u) / t->step[i];
}

static bool walk_tile(const struct emu_box *b)
{
	const struct emu_tmap *t = b->map;
	uint32_t n[5] = {0}, row = 0;

	for (;;) {
		int64_t at[5];
		unsigned i;

		for (i = first(t); i < t->rank; i++)
			at[i] = b->at[i] + (int64_t)n[i] * t->step[i];
		if (!walk_row(b, row++, row_at(t, at)))
			return false;
		for (i = first(t); i < t->rank && ++n[i] == count(t, i); i++)
			n[i] = 0;
		if (i >= t->rank)
			return true;
	}
}

/* Pixels are taken in order of W, H, D, N within the bounding box, from the one at the
 * coordinates on; each is read at its own place plus the offsets. */
static bool walk_im2col(const struct emu_box *b)
{
	const struct emu_tmap *t = b->map;
	unsigned spatial = t->rank - 2u, w = first(t);
	int64_t at[5], to[5];

	memcpy(at, b->at, sizeof at);
	for (uint32_t p = 0; p < t->box[1]; p++) {
		unsigned i;

		memcpy(to, at, sizeof to);
		for (i = 0; i < spatial; i++)
			to[i + w] += b->offset[i];
		if (!walk_row(b, p, row_at(t, to)))
			return false;
		for (i = 0; i < spatial; i++) {
			at[i + w] += t->step[i + w];
			if (at[i + w] <= (int64_t)t->last[i + w] + t->upper[i])
				break;
			at[i + w] = t->lower[i];
		}
		if (i == spatial)
			at[t->rank - 1]++;
	}
	return true;
}

static uint32_t rows_of(const struct emu_box *b)
{
	const struct emu_tmap *t = b->map;
	uint32_t n = 1;

	if (b->rows)
		return 4;
	if (t->mode == TMAP_IM2COL)
		return t->box[1];
	for (unsigned i = first(t); i < t->rank; i++)
		n *= count(t, i);
	return n;
}

uint32_t emu_box_span(const struct emu_box *b)
{
	return rows_of(b) * pitch(b->map);
}

/* An H200 takes these for illegal instructions; PTX ISA says nothing of them.  Only
 * interleaved layouts were tried. */
const char *emu_box_wrong(const struct emu_box *b)
{
	const struct emu_tmap *t = b->map;

	for (unsigned i = 0; t->interleave && i < t->rank; i++) {
		if (!b->load && b->at[i] < 0)
			return "a store that begins before an interleaved tensor";
		if (t->mode == TMAP_IM2COL && i + 2 < t->rank && b->at[i] < t->lower[i])
			return "a copy that begins before the bounding box of an interleaved tensor";
	}
	return NULL;
}

bool emu_box_walk(const struct emu_box *b)
{
	if (b->rows) {
		for (uint32_t i = 0; i < 4; i++) {
			int64_t at[5] = {0, b->rows[i]};

			if (!walk_row(b, i, row_at(b->map, at)))
				return false;
		}
		return true;
	}
	return b->map->mode == TMAP_IM2COL ? walk_im2col(b) : walk_tile(b);
}

void emu_tmap_fill(const struct emu_tmap *t, uint8_t *to, uint32_t n)
{
	static const uint8_t nan[TMAP_ELEMS][8] = {
		[TMAP_F16] = {0xff, 0x7f}, [TMAP_BF16] = {0xff, 0x7f},
		[TMAP_F32] = {0xff, 0xff, 0xff, 0x7f}, [TMAP_F32_FTZ] = {0xff, 0xff, 0xff, 0x7f},
		[TMAP_TF32] = {0xff, 0xff, 0xff, 0x7f}, [TMAP_TF32_FTZ] = {0xff, 0xff, 0xff, 0x7f},
		[TMAP_F64] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	};
	unsigned es = emu_tmap_elem_bytes(t);

	for (uint32_t i = 0; i < n; i++)
		to[i] = t->fill ? nan[t->elem][i % es] : 0;
}

/* ---- cuTensorMapEncode* ----------------------------------------------------------------- */

struct encode {
	CUtensorMapDataType type;
	cuuint32_t rank;
	void *address;
	const cuuint64_t *dim, *stride;
	const cuuint32_t *step;
	CUtensorMapInterleave interleave;
	CUtensorMapSwizzle swizzle;
	CUtensorMapL2promotion l2;
	CUtensorMapFloatOOBfill fill;
};

/* What every kind of map has.  False: some value is not allowed. */
static bool common(struct emu_tmap *t, const struct encode *e, enum emu_tmap_mode mode)
{
	static const uint8_t elems[] = {
		TMAP_U8, TMAP_U16, TMAP_U32, TMAP_S32, TMAP_U64, TMAP_S64, TMAP_F16, TMAP_F32,
		TMAP_F64, TMAP_BF16, TMAP_F32_FTZ, TMAP_TF32, TMAP_TF32_FTZ,
		TMAP_ELEMS, TMAP_ELEMS + 1, TMAP_ELEMS + 2
	};
	uint64_t address = (uint64_t)(uintptr_t)e->address;

	memset(t, 0, sizeof *t);
	if ((unsigned)e->type >= sizeof elems || !e->rank || e->rank > 5 || !e->dim || !e->step ||
	    (e->rank > 1 && !e->stride) || (unsigned)e->interleave > 2 ||
	    (unsigned)e->swizzle > (e->interleave ? 3 : 6) || (unsigned)e->l2 > 3 || (unsigned)e->fill > 1)
		return false;
	if ((mode != TMAP_TILED || e->interleave) && e->rank < 3)
		return false;
	t->magic = EMU_TMAP_MAGIC;
	t->mode = (uint8_t)mode;
	t->rank = (uint8_t)e->rank;
	t->elem = elems[e->type];
	t->interleave = (uint8_t)e->interleave;
	t->flags = TMAP_LARGE;
	t->address = address;
	if (address & (alignment(t) - 1))
		return false;
	t->swizzle = e->swizzle > 3 ? 3 : (uint8_t)e->swizzle;
	t->atomicity = e->swizzle > 3 ? (uint8_t)(e->swizzle - 3) : 0;
	t->fill = (uint8_t)e->fill;
	for (unsigned i = 0; i < e->rank; i++) {
		if (!e->dim[i] || e->dim[i] > UINT64_C(1) << 32 || !e->step[i] || e->step[i] > 8)
			return false;
		t->last[i] = (uint32_t)(e->dim[i] - 1);
		t->step[i] = (uint8_t)e->step[i];
	}
	for (unsigned i = 0; i + 1 < e->rank; i++) {
		if ((e->stride[i] & (alignment(t) - 1)) || e->stride[i] >> 40)
			return false;
		t->stride[i] = e->stride[i];
	}
	return !t->fill || (t->elem >= TMAP_F16 && t->elem < TMAP_ELEMS);
}

/* Rows of the box must be of whole 16 bytes, as if without slices, and fit the swizzle's
 * span. */
static bool rows_fit(const struct emu_tmap *t)
{
	return t->elem >= TMAP_ELEMS ||
	       (t->box[0] * emu_tmap_elem_bytes(t) % 16 == 0 && (!t->swizzle || inner(t) <= pitch(t)));
}

static CUresult deliver(CUtensorMap *to, const struct emu_tmap *t, bool ok)
{
	ENTER(ctx);
	if (!ok || !to || (uintptr_t)to % 64)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (emu_m.sm_version < 90)
		LEAVE(CUDA_ERROR_NOT_SUPPORTED);
	memcpy(to, t, sizeof *t);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *to, CUtensorMapDataType type,
						cuuint32_t rank, void *address,
						const cuuint64_t *dim, const cuuint64_t *stride,
						const cuuint32_t *box, const cuuint32_t *step,
						CUtensorMapInterleave interleave,
						CUtensorMapSwizzle swizzle,
						CUtensorMapL2promotion l2,
						CUtensorMapFloatOOBfill fill)
{
	const struct encode e = {type, rank, address, dim, stride, step, interleave, swizzle, l2, fill};
	struct emu_tmap t;
	bool ok = common(&t, &e, TMAP_TILED) && box;
	uint64_t bytes = emu_tmap_elem_bytes(&t);

	for (unsigned i = 0; ok && i < rank; i++) {
		ok = box[i] && box[i] <= 256;
		t.box[i] = (uint16_t)box[i];
		bytes *= box[i];
	}
	/* As an H200's driver reckons it, which is not what is copied. */
	if (interleave && bytes > emu_m.block_smem)
		ok = false;
	return deliver(to, &t, ok && rows_fit(&t));
}

static CUresult im2col(CUtensorMap *to, const struct encode *e, enum emu_tmap_mode mode,
		       unsigned corners, const int *lower, const int *upper, cuuint32_t channels,
		       cuuint32_t pixels)
{
	static const int bits[] = {0, 15, 7, 4};        /* by number of offsets */
	struct emu_tmap t;
	bool ok = common(&t, e, mode) && lower && upper && channels && channels <= 256 && pixels &&
		  pixels <= 1024;

	for (unsigned i = 0; ok && i < corners; i++) {
		int limit = 1 << bits[corners];
		/* Of W, H, D, as an H200 copies; the driver's manual says D, H, W. */
		int lo = lower[i], hi = upper[i];

		ok = lo >= -limit && lo < limit && hi >= -limit && hi < limit &&
		     (int64_t)t.last[i + first(&t)] + hi >= lo;
		t.lower[i] = (int16_t)lo;
		t.upper[i] = (int16_t)hi;
	}
	t.box[0] = (uint16_t)channels;
	t.box[1] = (uint16_t)pixels;
	return deliver(to, &t, ok && rows_fit(&t));
}

EMU_API CUresult CUDAAPI cuTensorMapEncodeIm2col(CUtensorMap *to, CUtensorMapDataType type,
						 cuuint32_t rank, void *address,
						 const cuuint64_t *dim, const cuuint64_t *stride,
						 const int *lower, const int *upper,
						 cuuint32_t channels, cuuint32_t pixels,
						 const cuuint32_t *step,
						 CUtensorMapInterleave interleave,
						 CUtensorMapSwizzle swizzle,
						 CUtensorMapL2promotion l2,
						 CUtensorMapFloatOOBfill fill)
{
	const struct encode e = {type, rank, address, dim, stride, step, interleave, swizzle, l2, fill};

	return im2col(to, &e, TMAP_IM2COL, rank < 3 || rank > 5 ? 0 : rank - 2, lower, upper,
		      channels, pixels);
}

EMU_API CUresult CUDAAPI cuTensorMapEncodeIm2colWide(CUtensorMap *to, CUtensorMapDataType type,
						     cuuint32_t rank, void *address,
						     const cuuint64_t *dim,
						     const cuuint64_t *stride, int lower, int upper,
						     cuuint32_t channels, cuuint32_t pixels,
						     const cuuint32_t *step,
						     CUtensorMapInterleave interleave,
						     CUtensorMapIm2ColWideMode mode,
						     CUtensorMapSwizzle swizzle,
						     CUtensorMapL2promotion l2,
						     CUtensorMapFloatOOBfill fill)
{
	const struct encode e = {type, rank, address, dim, stride, step, interleave, swizzle, l2, fill};

	if (emu_m.sm_version < 100)
		return CUDA_ERROR_NOT_SUPPORTED;
	if ((unsigned)mode > 1)
		return CUDA_ERROR_INVALID_VALUE;
	return im2col(to, &e, TMAP_IM2COL_WIDE, 1, &lower, &upper, channels, pixels);
}

EMU_API CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
	ENTER(ctx);
	struct emu_tmap t;

	if (!map || ((uintptr_t)address & 15))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	memcpy(&t, map, sizeof t);
	if (t.magic != EMU_TMAP_MAGIC)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	t.address = (uint64_t)(uintptr_t)address;
	memcpy(map, &t, sizeof t);
	LEAVE(CUDA_SUCCESS);
}
