/* SPDX-License-Identifier: Apache-2.0
 *
 * site.c: the modifiers and constant operands of an instruction, as the fields of a site.
 */
#include <string.h>

#include "probe/site.h"

struct word { enum ptx_mod mod; unsigned value; };

/* The value of the first word that the instruction has; 0: of none. */
static unsigned first_of(const struct ptx_inst *in, const struct word *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (ptx_has(in, words[i].mod))
			return words[i].value;
	return 0;
}
#define FIRST_OF(in, words) first_of(in, words, sizeof(words) / sizeof *(words))

/* All that it has. */
static uint32_t flags_of(const struct ptx_inst *in)
{
	static const struct word words[] = {
		{MOD_ALIGNED, EVENT_ALIGNED}, {MOD_NOINC, EVENT_NOINC}, {MOD_PARITY, EVENT_PARITY}, {MOD_READ, EVENT_SOURCES},
		{MOD_MBARRIER_COMPLETE_TX_BYTES, EVENT_COUNTED}, {MOD_COMPLETE_TX_BYTES, EVENT_COUNTED},
		{MOD_MULTICAST_CLUSTER, EVENT_MULTICAST}, {MOD_MULTICAST_CLUSTER_ALL, EVENT_MULTICAST},
		{MOD_CP_MASK, EVENT_BYTE_MASK}, {MOD_REDUCE, EVENT_REDUCE}, {MOD_IM2COL, EVENT_IM2COL},
		{MOD_IM2COL_NO_OFFS, EVENT_IM2COL}, {MOD_TILE_GATHER4, EVENT_FOUR_ROWS}, {MOD_TILE_SCATTER4, EVENT_FOUR_ROWS},
		{MOD_CTA_GROUP_2, EVENT_PAIR}
	};
	uint32_t flags = 0;

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		flags |= ptx_has(in, words[i].mod) ? words[i].value : 0;
	return flags;
}

static uint8_t sem_of(const struct ptx_inst *in)
{
	static const struct word words[] = {
		{MOD_RELAXED, EVENT_RELAXED}, {MOD_ACQUIRE, EVENT_ACQUIRE}, {MOD_RELEASE, EVENT_RELEASE},
		{MOD_ACQ_REL, EVENT_ACQ_REL}, {MOD_SC, EVENT_SC}, {MOD_VOLATILE, EVENT_VOLATILE}, {MOD_MMIO, EVENT_VOLATILE}
	};

	return (uint8_t)FIRST_OF(in, words);
}

static uint8_t scope_of(const struct ptx_inst *in)
{
	static const struct word words[] = {
		{MOD_SYS, EVENT_SYS}, {MOD_VOLATILE, EVENT_SYS}, {MOD_MMIO, EVENT_SYS}, {MOD_GPU, EVENT_GPU},
		{MOD_GL, EVENT_GPU}, {MOD_CLUSTER, EVENT_CLUSTER}, {MOD_CTA, EVENT_CTA}
	};

	return (uint8_t)FIRST_OF(in, words);
}

/* The n-th state space that it names. */
static uint8_t space_of(const struct ptx_inst *in, unsigned n)
{
	for (unsigned i = 0; i < in->nmods; i++) {
		enum ptx_mod m = (enum ptx_mod)in->mod[i];
		bool shared = m == MOD_SHARED || m == MOD_SHARED_CTA || m == MOD_SHARED_CLUSTER;

		if ((shared || m == MOD_GLOBAL) && !n--)
			return shared ? EVENT_SHARED : EVENT_GLOBAL;
	}
	return EVENT_GENERIC;
}

static void set_elements(struct event_site *s, const struct ptx_inst *in)
{
	s->count = (uint16_t)ptx_inst_vec(in);
	s->size = (uint16_t)(ptx_type_bits(in->type) / 8);
}

/* ---- accesses --------------------------------------------------------------------------- */

static bool in_memory(const struct ptx_inst *in)
{
	return in->space == SPACE_NONE || in->space == SPACE_GLOBAL || in->space == SPACE_SHARED;
}

/* PTX ISA, "Vector and Packed Data-types": elements of a strong access are accesses of their own,
 * those of a packed type in atom and red, too. */
static void atomic(struct event_site *s, const struct ptx_inst *in)
{
	unsigned packed = in->type == TYPE_F16X2 || in->type == TYPE_BF16X2 ? 2 : 1;

	set_elements(s, in);
	s->size = (uint16_t)(s->size / packed);
	s->count = (uint16_t)(s->count * packed);
	s->sem = s->sem ? s->sem : EVENT_RELAXED;       /* PTX ISA, "atom", "red": the default */
	s->does = EVENT_READS | EVENT_WRITES;
	if (in->id != INST_ATOM)
		s->does |= EVENT_NO_RESULT;
}

/* PTX ISA, "wmma.load", "wmma.store": rows of a matrix, or columns, a stride apart. */
static void tile(struct event_site *s, const struct ptx_inst *in)
{
	unsigned m = 0, n = 0, k = 0, rows, columns;

	for (unsigned i = 0; i < in->nmods; i++)
		if (sscanf(in->modtext[i], ".m%un%uk%u", &m, &n, &k) == 3)
			break;
	rows = ptx_has(in, MOD_B) ? k : m;
	columns = ptx_has(in, MOD_A) ? k : n;
	s->shape[0] = (uint16_t)(ptx_has(in, MOD_ROW) ? rows : columns);
	s->shape[1] = (uint16_t)(ptx_has(in, MOD_ROW) ? columns : rows);
	s->shape[2] = (uint16_t)ptx_type_bits(in->type);
	s->size = s->count = 0;
}

static bool access_site(struct event_site *s, const struct ptx_inst *in)
{
	s->space = space_of(in, 0);
	s->left_out = ptx_inst_left_out(in);
	s->proxy = ptx_has(in, MOD_NC) || in->id == INST_LDU ? EVENT_READ_ONLY :
		   in->id == INST_MULTIMEM_LD_REDUCE || in->id == INST_MULTIMEM_ST || in->id == INST_MULTIMEM_RED ?
		   EVENT_MULTIMEM : EVENT_PLAIN;
	set_elements(s, in);
	switch (ptx_insts[in->id].access) {
	case ACCESS_LOAD:
		s->does = EVENT_READS;
		break;
	case ACCESS_STORE:
		s->does = EVENT_WRITES;
		break;
	case ACCESS_ATOM:
	case ACCESS_RED:
		atomic(s, in);
		break;
	case ACCESS_LDMATRIX:
	case ACCESS_STMATRIX:           /* a row of 16 bytes for each address */
		s->does = ptx_insts[in->id].access == ACCESS_LDMATRIX ? EVENT_READS : EVENT_WRITES;
		s->size = 16;
		s->count = 1;
		break;
	case ACCESS_WMMA_LOAD:
	case ACCESS_WMMA_STORE:
		s->does = ptx_insts[in->id].access == ACCESS_WMMA_LOAD ? EVENT_READS : EVENT_WRITES;
		tile(s, in);
		break;
	case ACCESS_ST_BULK:            /* the record says how many bytes */
		s->does = EVENT_WRITES;
		s->size = s->count = 0;
		break;
	case ACCESS_DISCARD:
		s->does = EVENT_WRITES;
		s->size = 128;
		s->count = 1;
		break;
	default:
		return false;
	}
	s->kind = event_strong(s) ? EVENT_STRONG : EVENT_ACCESS;
	return in_memory(in);
}

/* ---- fences ------------------------------------------------------------------------------- */

/* fence.proxy.async and membar.proxy.async: of which space. */
static void async_fence(struct event_site *s, const struct ptx_inst *in)
{
	static const struct word words[] = {
		{MOD_SHARED_CTA, EVENT_SHARED}, {MOD_SHARED_CLUSTER, EVENT_CLUSTER_SHARED}, {MOD_GLOBAL, EVENT_GLOBAL}
	};

	s->variant = EVENT_FENCE_ASYNC;
	s->space = (uint8_t)FIRST_OF(in, words);
}

static bool fence_site(struct event_site *s, const struct ptx_inst *in)
{
	bool acquire = ptx_has(in, MOD_ACQUIRE);

	s->kind = EVENT_FENCE;
	switch (in->id) {
	case INST_MEMBAR:
		s->sem = EVENT_SC;
		/* fall through */
	case INST_FENCE:
		s->variant = EVENT_FENCE_THREAD;
		return true;
	case INST_MEMBAR_PROXY:
		if (ptx_has(in, MOD_ALIAS))
			s->variant = EVENT_FENCE_ALIAS;
		else
			async_fence(s, in);
		return true;
	case INST_FENCE_PROXY_ALIAS:
		s->variant = EVENT_FENCE_ALIAS;
		return true;
	case INST_FENCE_PROXY_ASYNC:
		async_fence(s, in);
		return true;
	case INST_FENCE_PROXY_ASYNC_GENERIC:
		s->variant = acquire ? EVENT_FENCE_ASYNC_ACQUIRE : EVENT_FENCE_ASYNC_RELEASE;
		return true;
	case INST_FENCE_PROXY_TENSORMAP_GENERIC:
		s->variant = EVENT_FENCE_MAP;
		s->kind = acquire ? EVENT_MAP_FENCE : EVENT_FENCE;
		return true;
	case INST_FENCE_MBARRIER_INIT:
		s->variant = EVENT_FENCE_INIT;
		return true;
	case INST_FENCE_ACQUIRE_SYNC_RESTRICT_SHARED_CLUSTER:
		s->variant = EVENT_FENCE_SHARED_ACQUIRE;
		return true;
	case INST_FENCE_RELEASE_SYNC_RESTRICT_SHARED_CTA:
		s->variant = EVENT_FENCE_SHARED_RELEASE;
		return true;
	case INST_TCGEN05_FENCE_BEFORE_THREAD_SYNC:
		s->variant = EVENT_FENCE_TENSOR_BEFORE;
		return true;
	case INST_TCGEN05_FENCE_AFTER_THREAD_SYNC:
		s->variant = EVENT_FENCE_TENSOR_AFTER;
		return true;
	default:
		return false;
	}
}

/* ---- barriers, mbarriers, groups, launches ------------------------------------------------------ */

static bool sync_site(struct event_site *s, const struct ptx_inst *in)
{
	static const struct { enum ptx_inst_id id; uint8_t kind, variant; } rows[] = {
		{INST_BAR, EVENT_BAR_ARRIVE, 0}, {INST_BARRIER, EVENT_BAR_ARRIVE, 0}, {INST_BAR_WARP_SYNC, EVENT_WARP_ARRIVE, 0},
		{INST_BARRIER_CLUSTER_ARRIVE, EVENT_CLUSTER_ARRIVE, 0}, {INST_BARRIER_CLUSTER_WAIT, EVENT_CLUSTER_WAIT, 0},
		{INST_MBARRIER_INIT, EVENT_MBAR_INIT, 0}, {INST_MBARRIER_INVAL, EVENT_MBAR_INVAL, 0},
		{INST_MBARRIER_EXPECT_TX, EVENT_MBAR_EXPECT, 0}, {INST_MBARRIER_COMPLETE_TX, EVENT_MBAR_COMPLETE, 0},
		{INST_MBARRIER_ARRIVE, EVENT_MBAR_ARRIVE, 0}, {INST_MBARRIER_ARRIVE_DROP, EVENT_MBAR_ARRIVE, 0},
		{INST_MBARRIER_TEST_WAIT, EVENT_MBAR_WAIT, 0}, {INST_MBARRIER_TRY_WAIT, EVENT_MBAR_WAIT, 0},
		{INST_CP_ASYNC_MBARRIER_ARRIVE, EVENT_MBAR_COPIES, 0},
		{INST_CP_ASYNC_COMMIT_GROUP, EVENT_COMMIT, EVENT_LIST_CP}, {INST_CP_ASYNC_WAIT_GROUP, EVENT_WAIT_GROUP, EVENT_LIST_CP},
		{INST_CP_ASYNC_WAIT_ALL, EVENT_WAIT_GROUP, EVENT_LIST_CP}, {INST_CP_ASYNC_BULK_COMMIT_GROUP, EVENT_COMMIT, EVENT_LIST_BULK},
		{INST_CP_ASYNC_BULK_WAIT_GROUP, EVENT_WAIT_GROUP, EVENT_LIST_BULK}, {INST_WGMMA_COMMIT_GROUP, EVENT_COMMIT, EVENT_LIST_WGMMA},
		{INST_WGMMA_WAIT_GROUP, EVENT_WAIT_GROUP, EVENT_LIST_WGMMA},
		{INST_GRIDDEPCONTROL_LAUNCH_DEPENDENTS, EVENT_DEPENDENTS, 0}, {INST_GRIDDEPCONTROL_WAIT, EVENT_GRID_WAIT, 0}
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].id != in->id)
			continue;
		s->kind = rows[i].kind;
		s->variant = rows[i].variant;
		s->space = in->space == SPACE_SHARED ? EVENT_SHARED : EVENT_GENERIC;
		/* .expect_tx is an operation, and a part of arrivals. */
		if (s->kind == EVENT_MBAR_EXPECT && (ptx_has(in, MOD_ARRIVE) || ptx_has(in, MOD_ARRIVE_DROP)))
			s->kind = EVENT_MBAR_ARRIVE;
		s->flags |= ptx_has(in, MOD_ARRIVE_DROP) ? EVENT_DROP : 0;
		/* PTX ISA, "bar": the same as barrier.aligned. */
		s->flags |= in->id == INST_BAR ? EVENT_ALIGNED : 0;
		s->flags |= s->kind == EVENT_BAR_ARRIVE && ptx_has(in, MOD_RED) ? EVENT_REDUCE : 0;
		return true;
	}
	return false;
}

/* ---- copies ------------------------------------------------------------------------------------------ */

/* PTX ISA, "st.async", "red.async": to global memory they are stores and reductions with .release. */
static void async_store(struct event_site *s, const struct ptx_inst *in)
{
	bool reduces = in->id == INST_RED_ASYNC || in->id == INST_RED_ASYNC_RELEASE;

	set_elements(s, in);
	s->space = in->space == SPACE_SHARED ? EVENT_SHARED : in->space == SPACE_GLOBAL ? EVENT_GLOBAL : EVENT_GENERIC;
	s->flags |= reduces ? EVENT_REDUCE : 0;
	s->kind = s->flags & EVENT_COUNTED ? EVENT_ASYNC_STORE : EVENT_STRONG;
	if (s->kind == EVENT_STRONG)
		s->does = (uint8_t)(EVENT_WRITES | (reduces ? EVENT_READS | EVENT_NO_RESULT : 0));
}

static bool copy_site(struct event_site *s, const struct ptx_inst *in)
{
	s->space = space_of(in, 0);
	s->from = space_of(in, 1);
	switch (in->id) {
	case INST_CP_ASYNC:
		s->kind = EVENT_CP_ASYNC;
		s->size = in->nops > 2 ? (uint16_t)in->ops[2].ival : 0;
		s->count = 1;
		return true;
	case INST_CP_ASYNC_BULK:
	case INST_CP_REDUCE_ASYNC_BULK:
		s->kind = EVENT_COPY;
		s->size = (uint16_t)(ptx_type_bits(in->type) / 8);
		s->count = 1;
		return true;
	case INST_CP_ASYNC_BULK_TENSOR:
	case INST_CP_REDUCE_ASYNC_BULK_TENSOR:
		s->kind = EVENT_TENSOR;
		s->space = EVENT_SHARED;        /* the record has the box's place in shared memory */
		return true;
	case INST_CLUSTERLAUNCHCONTROL_TRY_CANCEL:
		s->kind = EVENT_CANCEL;
		s->space = in->space == SPACE_SHARED ? EVENT_SHARED : EVENT_GENERIC;
		return true;
	case INST_ST_ASYNC:
	case INST_ST_ASYNC_RELEASE:
	case INST_RED_ASYNC:
	case INST_RED_ASYNC_RELEASE:
		async_store(s, in);
		return true;
	default:
		return false;
	}
}

/* ---- tensor maps ------------------------------------------------------------------------------------------ */

/* The fields of a tensor map, in the order of the PTX ISA's table. */
static bool map_site(struct event_site *s, const struct ptx_inst *in)
{
	static const struct word fields[] = {
		{MOD_GLOBAL_ADDRESS, 0}, {MOD_RANK, 1}, {MOD_BOX_DIM, 2}, {MOD_GLOBAL_DIM, 3}, {MOD_GLOBAL_STRIDE, 4},
		{MOD_ELEMENT_STRIDE, 5}, {MOD_ELEMTYPE, 6}, {MOD_INTERLEAVE_LAYOUT, 7}, {MOD_SWIZZLE_MODE, 8},
		{MOD_SWIZZLE_ATOMICITY, 9}, {MOD_FILL_MODE, 10}
	};

	if (in->id == INST_TENSORMAP_CP_FENCEPROXY) {
		s->kind = EVENT_MAP_COPY;
		s->space = EVENT_GLOBAL;
		s->from = EVENT_SHARED;
		return true;
	}
	if (in->id != INST_TENSORMAP_REPLACE)
		return false;
	s->kind = EVENT_MAP_EDIT;
	s->space = space_of(in, 0);
	s->does = EVENT_READS | EVENT_WRITES;
	s->shape[0] = (uint16_t)FIRST_OF(in, fields);
	s->shape[1] = in->nops > 2 && in->ops[1].kind == OP_INT ? (uint16_t)in->ops[1].ival : 0;
	return true;
}

/* ---- products ------------------------------------------------------------------------------------------------ */

/* Bytes of an element; a matrix of .b1 is one of bytes, of eight columns each. */
static uint16_t bytes_of(enum ptx_type t)
{
	unsigned bits = t == TYPE_TF32 ? 32 : t == TYPE_E4M3 || t == TYPE_E5M2 ? 8 : ptx_type_bits(t);

	return (uint16_t)(bits < 8 ? 1 : bits / 8);
}

/* PTX ISA, "wgmma.mma_async": the rows of A are 64; of a sparse one half of the columns are there. */
static void wgmma_site(struct event_site *s, const struct ptx_inst *in)
{
	bool sparse = in->id == INST_WGMMA_MMA_ASYNC_SP, regs = in->nops > 1 && in->ops[1].kind == OP_VEC;
	unsigned n = 0, k = 0, at = sparse ? 8 : 6;

	for (unsigned i = 0; i < in->nmods; i++)
		if (sscanf(in->modtext[i], ".m64n%uk%u", &n, &k) == 2)
			break;
	s->kind = EVENT_WGMMA;
	s->shape[0] = bytes_of(in->type2);
	s->shape[1] = bytes_of(in->type);
	k = in->type == TYPE_B1 ? k / 8 : k;
	s->shape[2] = (uint16_t)(sparse ? k / 2 : k);
	s->shape[3] = (uint16_t)k;
	s->shape[4] = (uint16_t)n;
	s->flags |= regs ? EVENT_A_ELSEWHERE : 0;
	/* Transposition operands: of A, if it has a descriptor, and of B. */
	if (!regs && in->nops > at)
		s->flags |= in->ops[at++].ival ? EVENT_A_MN : 0;
	if (in->nops > at)
		s->flags |= in->ops[at].ival ? EVENT_B_MN : 0;
}

static uint16_t times(const struct ptx_inst *in)
{
	static const struct word words[] = {
		{MOD_X1, 1}, {MOD_X2, 2}, {MOD_X4, 4}, {MOD_X8, 8}, {MOD_X16, 16}, {MOD_X32, 32}, {MOD_X64, 64}, {MOD_X128, 128}
	};

	return (uint16_t)FIRST_OF(in, words);
}

static void tensor_load(struct event_site *s, const struct ptx_inst *in)
{
	static const struct word columns[] = {
		{MOD_16X32BX2, 1}, {MOD_32X32B, 1}, {MOD_16X64B, 2}, {MOD_16X128B, 4}, {MOD_16X256B, 8}
	};
	unsigned at = in->id == INST_TCGEN05_ST ? 1 : in->id == INST_TCGEN05_LD_RED ? 3 : 2;

	s->shape[0] = (uint16_t)FIRST_OF(in, columns);
	s->shape[1] = (uint16_t)(times(in) * (s->shape[0] == 1 ? 1 : s->shape[0] / 2));
	s->shape[2] = ptx_has(in, MOD_16X32BX2) && in->nops > at ? (uint16_t)in->ops[at].ival : 0;
	s->shape[3] = ptx_has(in, MOD_PACK_16B) || ptx_has(in, MOD_UNPACK_16B);
}

static void tensor_copy(struct event_site *s, const struct ptx_inst *in)
{
	static const struct { enum ptx_mod mod; uint16_t rows, bytes, copies; } shapes[] = {
		{MOD_128X256B, 128, 32, 1}, {MOD_128X128B, 128, 16, 1}, {MOD_4X256B, 4, 32, 1},
		{MOD_64X128B, 64, 16, 2}, {MOD_32X128B, 32, 16, 4}
	};

	for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		if (!ptx_has(in, shapes[i].mod))
			continue;
		s->shape[0] = shapes[i].rows;
		s->shape[1] = shapes[i].bytes;
		s->shape[2] = shapes[i].copies;
	}
	s->shape[3] = ptx_has(in, MOD_WARPX2_01_23);
}

/* PTX ISA, "Block Scaling for tcgen05.mma": a factor for 32 elements of a row, or for 16. */
static void tensor_product(struct event_site *s, const struct ptx_inst *in)
{
	bool wide = ptx_has(in, MOD_KIND_MXF8F6F4);

	s->shape[0] = ptx_has(in, MOD_KIND_F16) ? 2 : ptx_has(in, MOD_KIND_TF32) ? 4 : 1;
	if (ptx_has(in, MOD_BLOCK_SCALE))
		s->shape[1] = ptx_has(in, MOD_SCALE_VEC_4X) || ptx_has(in, MOD_BLOCK16) ? 4 : wide ? 1 : 2;
	s->flags |= in->nops > 1 && in->ops[1].kind == OP_ADDR ? EVENT_A_ELSEWHERE : 0;
	s->shape[2] = in->id == INST_TCGEN05_MMA_SP || in->id == INST_TCGEN05_MMA_WS_SP;
	s->flags |= in->id == INST_TCGEN05_MMA_WS || in->id == INST_TCGEN05_MMA_WS_SP ? EVENT_WS : 0;
}

static bool tensor_site(struct event_site *s, const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_WGMMA_MMA_ASYNC:
	case INST_WGMMA_MMA_ASYNC_SP:
		wgmma_site(s, in);
		return true;
	case INST_TCGEN05_MMA:
	case INST_TCGEN05_MMA_SP:
	case INST_TCGEN05_MMA_WS:
	case INST_TCGEN05_MMA_WS_SP:
		s->kind = EVENT_TC_MMA;
		tensor_product(s, in);
		return true;
	case INST_TCGEN05_CP:
		s->kind = EVENT_TC_COPY;
		tensor_copy(s, in);
		return true;
	case INST_TCGEN05_LD:
	case INST_TCGEN05_LD_RED:
	case INST_TCGEN05_ST:
		s->kind = in->id == INST_TCGEN05_ST ? EVENT_TC_STORE : EVENT_TC_LOAD;
		tensor_load(s, in);
		return true;
	case INST_TCGEN05_WAIT_LD:
	case INST_TCGEN05_WAIT_ST:
		s->kind = EVENT_TC_WAIT;
		s->flags |= in->id == INST_TCGEN05_WAIT_ST ? EVENT_OF_STORES : 0;
		return true;
	case INST_TCGEN05_COMMIT:
		s->kind = EVENT_TC_COMMIT;
		s->space = in->space == SPACE_SHARED ? EVENT_SHARED : EVENT_GENERIC;
		return true;
	case INST_TCGEN05_ALLOC:
		s->kind = EVENT_TC_ALLOC;
		s->space = in->space == SPACE_SHARED ? EVENT_SHARED : EVENT_GENERIC;
		return true;
	case INST_TCGEN05_DEALLOC:
		s->kind = EVENT_TC_FREE;
		return true;
	default:
		return false;
	}
}

bool probe_site(struct event_site *s, const struct ptx_inst *in)
{
	const struct ptx_inst_row *row = &ptx_insts[in->id];

	memset(s, 0, sizeof *s);
	s->sem = sem_of(in);
	s->scope = scope_of(in);
	s->flags = flags_of(in);
	if (row->model == MODEL_SYNC || in->id == INST_UNKNOWN) {
		s->kind = EVENT_OPAQUE;
		return true;
	}
	return row->model == MODEL_FULL && (fence_site(s, in) || sync_site(s, in) || copy_site(s, in) || map_site(s, in) ||
					    tensor_site(s, in) || access_site(s, in));
}
