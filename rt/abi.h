/* SPDX-License-Identifier: Apache-2.0
 *
 * abi.h: what instrumented code, the device runtime and the host runtime agree
 * on.  Included by rewrite (C), rt (C) and rt/device (CUDA C); it includes
 * nothing of ours.  A change of anything here changes GSAN_ABI, and with it the
 * names of all functions below, so that old and new parts never meet.
 *
 *   gsan-ptx output --calls--> __gsan_v1_*  (rt/device, in the same module)
 *   __gsan_v1_*     --reads/writes--> struct gsan_root at GSAN_ROOT, shadow
 *   host runtime    --maps--> both;  --drains--> struct gsan_ring (host memory)
 */
#ifndef GSAN_ABI_H
#define GSAN_ABI_H

#include <stdint.h>

#define GSAN_ABI 1

/* ---- Addresses ------------------------------------------------------------
 *
 * Shadow lies at constant addresses (cuMemAddressReserve honours them), so that
 * an access finds it by mask and shift alone.  Global memory is watched in
 * granules of 8 bytes; the low 43 bits of an address select its granule:
 *
 *   records  GSAN_SHADOW + (addr & GSAN_WINDOW & ~7) * 4    4 records of 8 bytes
 *   sites    GSAN_SITES  + (addr & GSAN_WINDOW & ~7) * 2    4 words of 4 bytes
 *
 * so 6 bytes of shadow a byte, backed per unit of 1 MiB of addresses
 * (GSAN_UNIT) only where something is allocated.  Bit u of the map at GSAN_MAP
 * (32-bit words, little-endian bit order) says that unit u = (addr &
 * GSAN_WINDOW) >> 20 is backed; accesses outside are counted, not watched.
 *
 * Shared memory of the block in slot s has its records at
 *   GSAN_SHADOW_SHARED + (((off >> 13) * nslots + s) << 15) + (off & 0x1ff8) * 4
 * and its sites at
 *   GSAN_SITES_SHARED  + (((off >> 13) * nslots + s) << 14) + (off & 0x1ff8) * 2
 * off being the shared::cta address: rows of 8 KiB of every slot, so that a
 * launch backs the rows it uses for the slots it can occupy.  Row r is backed
 * for slots below root->shared_slots[r].
 */
#define GSAN_SHADOW             0x200000000000ull       /* 2^45 bytes reserved */
#define GSAN_SITES              0x400000000000ull       /* 2^44 bytes reserved */
#define GSAN_WINDOW             ((1ull << 43) - 1)
#define GSAN_UNIT               (1ull << 20)
#define GSAN_ROOT               0x500000000000ull       /* struct gsan_root */
/* Reserved in one piece with what follows: drivers honour a wish for an address
 * only where the piece is large. */
#define GSAN_ROOT_BYTES         (1ull << 40)
#define GSAN_MAP                0x500100000000ull       /* 1 MiB: a bit a unit */
#define GSAN_SHADOW_SHARED      0x501000000000ull       /* 2^36 bytes */
#define GSAN_SITES_SHARED       0x502000000000ull       /* 2^35 bytes */
#define GSAN_SHARED_ROWS        32                      /* of 8 KiB: 256 KiB */
#define GSAN_MAX_SLOTS          8192                    /* 13 bits of a record */
#define GSAN_SLOTS_PER_SM       32                      /* slot = i * nsm + %smid */

/* ---- A shadow record ------------------------------------------------------
 *
 *   63            35 34         22 21   17 16   12 11    8 7        0
 *  +----------------+-------------+-------+-------+-------+----------+
 *  | clock (29)     | slot (13)   | warp  | lane  | kind  | bytes    |
 *  +----------------+-------------+-------+-------+-------+----------+
 * All zero: empty.  kind = level << 1 | write, or one of GSAN_KIND_OBSERVED_*:
 * a strong read (or RMW) that found another thread's strong write already there
 * (memory-model.md 1.2, rule 9), of cluster scope at most or wider; or
 * GSAN_KIND_WARP_READ: the same weak read by all 32 lanes of the warp.  Bit 0
 * says "writes" in all of them.  GSAN_KIND_ASYNC is an asynchronous operation's:
 * no thread's, and nothing orders it but its completion.  Its clock is no clock
 * (it lies above all of them, so that no barrier covers it) but names how it
 * completes, in 26 bits:
 *
 *    25   24    23  21 20                0
 *   +---+------+------+-------------------+
 *   | 0 |writes|how(3)| group (21)        |  warp and lane: the thread whose group
 *   +---+------+------+-------------------+
 *   | 1 |writes| mbarrier (6) | peer, phase (17) |  eight more bits of it | generic | red
 *   +---+------+--------------+-----------+
 *
 * The site word beside it: the site's number ^ a hash of the record.  Of another's word
 * that makes no number of a site, so a reader sees that the two belong together.
 */
#define GSAN_REC_CLOCK(r)       ((uint32_t)((r) >> 35))
#define GSAN_REC_SLOT(r)        ((uint32_t)((r) >> 22) & 0x1fff)
#define GSAN_REC_WARP(r)        ((uint32_t)((r) >> 17) & 31)
#define GSAN_REC_LANE(r)        ((uint32_t)((r) >> 12) & 31)
#define GSAN_REC_KIND(r)        ((uint32_t)((r) >> 8) & 15)
#define GSAN_REC_BYTES(r)       ((uint32_t)(r) & 255)
/* The bytes of both granules of a strong access of 16 bytes: unlike those of any of 8, with which
 * it is not morally strong (PTX ISA, Memory Consistency Model: Morally Strong Operations).  What
 * accesses the last byte alone is not compared with it. */
#define GSAN_REC_WIDE           127u
#define GSAN_CLOCK_MAX          ((1u << 29) - 1)
#define GSAN_ASYNC_CLOCK        (7u << 26)      /* clocks end below */
#define GSAN_ASYNC_MBAR         (1u << 25)
#define GSAN_ASYNC_WRITE        (1u << 24)
#define GSAN_ASYNC_HOW_SHIFT    21
#define GSAN_ASYNC_GROUP_MAX    ((1u << 21) - 1)
#define GSAN_KIND_WRITE         1u
#define GSAN_KIND_OBSERVED_CTA  10u             /* | GSAN_KIND_WRITE: an RMW */
#define GSAN_KIND_OBSERVED_GPU  12u
#define GSAN_KIND_WARP_READ     14u
#define GSAN_KIND_ASYNC         15u
/* In place 1: the granule is one of a linked line (rt/device/line.cuh); and it is locked.  With
 * a number above, which a locked one has not, the line is full (rt/device/lines.cuh).  A record of
 * the line has, with its clock, a kind that no operation has. */
#define GSAN_LINE               (13u << 8)
#define GSAN_MARK               ((uint64_t)(GSAN_ASYNC_CLOCK | GSAN_ASYNC_WRITE | GSAN_HOW_OBJECT << GSAN_ASYNC_HOW_SHIFT) << 35 | \
				 0x7ffffeull << 12 | GSAN_KIND_ASYNC << 8 | 255)
#define GSAN_MARK_LOCKED        (GSAN_MARK | 1ull << 12)
#define GSAN_MARK_NUMBER        ((uint64_t)GSAN_ASYNC_GROUP_MAX << 35)

enum gsan_level {               /* scope of a strong access */
	GSAN_WEAK, GSAN_CTA, GSAN_CLUSTER, GSAN_GPU, GSAN_SYS
};

enum gsan_how {                 /* asynchronous operations that complete by groups */
	GSAN_HOW_CP,            /* cp.async; generic proxy, the others async */
	GSAN_HOW_BULK,          /* cp.async.bulk to global memory */
	GSAN_HOW_REDUCE,        /* cp.reduce.async.bulk: its destination */
	GSAN_HOW_WGMMA,
	GSAN_HOW_OBJECT,        /* none: an mbarrier lies there, of that number */
	GSAN_HOW_PEER,          /* not asynchronous: a thread's access to a peer's shared
				   memory, whose clocks are not its own, or by multimem; the
				   group is level << 19 | multimem << 18 | number of an
				   interval of its warp */
	GSAN_HOW_MAP,           /* cp.async.bulk.tensor to global memory reads its tensor map;
				   where an mbarrier completes it, generic and red say so */
	GSAN_HOW_TCGEN05        /* tcgen05.mma and .cp; the group ends at a commit */
};

/* ---- What the rewriter calls ----------------------------------------------
 *
 * All are .func of the module itself; `ctx` (.b64, register %__gsan_ctx) is
 * what enter or self returned; 0 means "not watched" and every function accepts
 * it.  `site` (.b32) is the number of the site in the module's own table.
 * Every call stands under the guard of the instruction it belongs to.
 *
 *   (.b64 ctx) __gsan_v1_enter(.b32 site)      first thing in every .entry, by all
 *                                              threads; site: the kernel's own
 *   (.b64 ctx) __gsan_v1_self()                first thing in every .func that needs it
 *   __gsan_v1_exit(.b64 ctx)                   before ret of an entry, before exit
 *   __gsan_v1_ended(.b64 ctx)                  before that, where operations may outlive
 *                                              the block's shared memory
 *
 *   X = g (global), s (shared::cta; addr = zero-extended window offset), x (generic)
 *   __gsan_v1_read_X (.b64 ctx, .b64 addr, .b32 info, .b32 site)   before a weak read
 *   __gsan_v1_write_X(.b64 ctx, .b64 addr, .b32 info, .b32 site, .b32 value)   before a
 *                                              weak write; value: see GSAN_INFO_VALUE
 *   __gsan_v1_column_s(.b64 ctx, .b64 addr, .b32 stride, .b32 n, .b32 info, .b32 site)
 *                                              before weak reads of n elements of info's
 *                                              size (1 to 8), `stride` bytes apart, a
 *                                              multiple of 8; sites site to site + n - 1
 *   __gsan_v1_range_X(.b64 ctx, .b64 addr, .b64 bytes, .b32 info, .b32 site)
 *                                              before a weak access to many bytes
 *                                              (discard, st.bulk); info says which
 *   __gsan_v1_rows_X (.b64 ctx, .b64 addr, .b64 stride, .b32 rows, .b32 info, .b32 site)
 *                                              before wmma.load/store: by the whole warp,
 *                                              `rows` rows of info's size, `stride` bytes apart
 *   __gsan_v1_before_X(.b64 ctx, .b64 addr, .b32 info, .b32 site)  before a strong access
 *   __gsan_v1_after_X (.b64 ctx, .b64 addr, .b32 info, .b32 site)  after it, if it reads
 *                                              (ld, atom; not red, not st)
 *
 *   __gsan_v1_before_c, __gsan_v1_after_c      the same of shared::cluster addresses, weak
 *                                              accesses among them
 *   __gsan_v1_before_m, __gsan_v1_after_m      likewise of multimem addresses
 *
 *   (.b32 t) __gsan_v1_arrive(.b64 ctx, .b32 id, .b32 count)   before any bar/barrier;
 *                                              count 0: all threads of the block
 *   __gsan_v1_help(.b64 ctx, .b32 count)       before that, where there are bulk copies, unless
 *                                              it is .arrive
 *   __gsan_v1_leave(.b64 ctx, .b32 id, .b32 t) after .sync and .red (not .arrive)
 *   __gsan_v1_warp_sync(.b64 ctx, .b32 mask)   before bar.warp.sync
 *   __gsan_v1_fence(.b64 ctx, .b32 info)       before fence, membar
 *   (.b32 lanes) __gsan_v1_split(.b64 ctx, .b32 n)     before the module's n-th such branch: who
 *                                              comes to it
 *   __gsan_v1_join(.b32 lanes)                 where both its ways end: they wait for each other
 *   __gsan_v1_mbar(.b64 ctx, .b64 addr, .b32 op, .b32 n, .b32 site)
 *                                              before an operation on an mbarrier that is
 *                                              no wait; n: arrivals or bytes
 *   __gsan_v1_mbar_wait(.b64 ctx, .b64 addr, .b32 op, .b32 state, .b32 done, .b32 site)
 *                                              after test_wait and try_wait; state: the
 *                                              parity, or 0; done: what they returned
 *   __gsan_v1_copy(.b64 ctx, .b64 dst, .b64 src, .b32 bytes, .b32 from, .b64 mbar,
 *                  .b32 op, .b32 site)         before cp.async and raw bulk copies: `bytes`
 *                                              written, `from` read
 *   __gsan_v1_group(.b64 ctx, .b32 op, .b32 n) before a commit_group; after a wait_group,
 *                                              n: groups that may be pending
 *   __gsan_v1_tensor(.b64 ctx, .b64 map, .b64 shared, .b64 mbar, .b32 c0 .. c4, .b32 op,
 *                    .b64 more, .b32 site)     before a tensor copy; more: the blocks of
 *                                              GSAN_COPY_MULTICAST, in 16 bits, and above
 *                                              them the offsets of GSAN_COPY_IM2COL
 *   (.b64 was) __gsan_v1_map_edit(.b64 ctx, .b64 map, .b32 op, .b32 site)
 *                                              before tensormap.replace; op: what it
 *                                              replaces; was: what the map said
 *   __gsan_v1_map_edited(.b64 ctx, .b64 map, .b32 op, .b64 value, .b64 was)   after it
 *   __gsan_v1_map_copy(.b64 ctx, .b64 dst, .b64 src, .b32 info, .b32 site)
 *                                              before tensormap.cp_fenceproxy
 *   __gsan_v1_map_fence(.b64 ctx, .b64 map, .b32 info)   before
 *                                              fence.proxy.tensormap::generic
 *   __gsan_v1_wgmma(.b64 ctx, .b64 from, .b32 n, .b32 op, .b32 site)
 *                                              before the last of n wgmma.mma_async (up to
 *                                              GSAN_PRODUCTS) that follow one another; from:
 *                                              .local address of their descriptors, a and b of
 *                                              each; sites site to site + n - 1
 *   __gsan_v1_wgmma_group(.b64 ctx, .b32 op, .b32 n)   as group, of wgmma
 *   __gsan_v1_tcgen05_fence(.b64 ctx, .b32 op) before tcgen05.fence; op: GSAN_TC_*
 *   __gsan_v1_tcgen05_wait(.b64 ctx, .b32 op)  after tcgen05.wait
 *   __gsan_v1_tcgen05_access(.b64 ctx, .b64 addr, .b32 op, .b32 split, .b32 site)
 *                                              before tcgen05.ld and .st, by the whole warp;
 *                                              split: columns between the halves of .16x32bx2
 *   __gsan_v1_tcgen05_mma(.b64 ctx, .b64 d, .b64 a, .b64 b, .b32 idesc, .b32 off, .b32 op,
 *                         .b32 site)           before tcgen05.mma; off: not 0 if lanes of D
 *                                              are left alone
 *   __gsan_v1_tcgen05_cp(.b64 ctx, .b64 d, .b64 from, .b32 op, .b32 site)
 *                                              before tcgen05.cp
 *   __gsan_v1_tcgen05_commit(.b64 ctx, .b64 mbar, .b32 mask, .b32 op, .b32 site)
 *                                              before tcgen05.commit; op: as of an mbarrier,
 *                                              with GSAN_TC_MULTICAST
 *   __gsan_v1_tcgen05_alloc(.b64 ctx, .b64 addr, .b32 op, .b32 site)
 *                                              before tcgen05.alloc; op: as of an mbarrier
 *   __gsan_v1_tcgen05_free(.b64 ctx, .b32 addr, .b32 n)    before tcgen05.dealloc
 *   __gsan_v1_tcgen05_other(.b64 ctx, .b32 op) before forms whose cells are not known
 *   __gsan_v1_proxy_fence(.b64 ctx, .b32 op)   before fence.proxy.async; op: GSAN_PROXY_*
 *   __gsan_v1_cluster_arrive(.b64 ctx, .b32 info)      before barrier.cluster.arrive
 *   __gsan_v1_cluster_wait(.b64 ctx)           after barrier.cluster.wait
 *   __gsan_v1_init_fence(.b64 ctx)             before fence.mbarrier_init
 *   __gsan_v1_launch_dependents(.b64 ctx)      before griddepcontrol.launch_dependents
 *   __gsan_v1_grid_wait(.b64 ctx)              after griddepcontrol.wait
 *   __gsan_v1_unmodelled(.b64 ctx)             after an instruction of MODEL_SYNC
 *
 * ldmatrix and stmatrix are read_s/write_s of the row each lane addresses,
 * under "lane < number of rows".
 *
 *   info: 31    20 19  18   17   16   15   14   13   12    11   10  8 7      0
 *        +--------+---+----+----+----+----+----+----+-----+----+-----+--------+
 *        | 0      |nc |sc  |red |rel |acq |wr  |rd  |unus |vola|level| size   |
 *        +--------+---+----+----+----+----+----+----+-----+----+-----+--------+
 * size: bytes of one element of a strong access or of the whole weak access
 * (1 to 128); elements: bits 23..20, number of elements of a strong vector or
 * packed access, 0 counts as 1.
 * unus: an atom whose result is not used; vola: .volatile (weak under
 * volatile_is_weak); nc: through the read-only proxy (ld.global.nc, ldu).  Of a
 * fence: level, acq, rel, sc.
 */
#define GSAN_INFO_SIZE(i)       ((i) & 255u)
#define GSAN_INFO_LEVEL(i)      ((i) >> 8 & 7u)
#define GSAN_INFO_ELEMS(i)      ((i) >> 20 & 15u)
#define GSAN_INFO_LEVEL_SHIFT   8
#define GSAN_INFO_VOLATILE      (1u << 11)
#define GSAN_INFO_UNUSED        (1u << 12)
#define GSAN_INFO_READ          (1u << 13)
#define GSAN_INFO_WRITE         (1u << 14)
#define GSAN_INFO_ACQUIRE       (1u << 15)
#define GSAN_INFO_RELEASE       (1u << 16)
#define GSAN_INFO_RED           (1u << 17)      /* reads, but acquires nothing */
#define GSAN_INFO_SC            (1u << 18)
#define GSAN_INFO_NC            (1u << 19)
#define GSAN_INFO_ELEMS_SHIFT   20
/* Of a weak write whose `value` is that of the first ELEMS elements: 1, 2, 3 for elements of
 * 1, 2, 4 bytes; 0: it has none.  The value is v[0] F^(n-1) + ... + v[n-1], modulo 2^32. */
#define GSAN_INFO_VALUE(i)      ((i) >> 24 & 3u)
#define GSAN_INFO_VALUE_SHIFT   24
#define GSAN_VALUE_FACTOR       2654435769u

/* Of `op` for an mbarrier: the operation in bits 0 to 7, then as in info level,
 * acq and rel; and where the address points, if not into shared::cta. */
enum gsan_mbar_op {
	GSAN_MBAR_INIT, GSAN_MBAR_INVAL, GSAN_MBAR_EXPECT, GSAN_MBAR_COMPLETE,
	GSAN_MBAR_ARRIVE, GSAN_MBAR_ARRIVE_EXPECT, GSAN_MBAR_DROP, GSAN_MBAR_DROP_EXPECT,
	GSAN_MBAR_CP_ARRIVE, GSAN_MBAR_CP_ARRIVE_NOINC, GSAN_MBAR_PARITY, GSAN_MBAR_STATE
};
#define GSAN_MBAR_GENERIC       (1u << 20)
#define GSAN_MBAR_CLUSTER       (1u << 21)
#define GSAN_MBAR_PLAIN         (1u << 22)      /* an arrival there that names no scope */

/* Of `op` for a copy: enum gsan_how, or GSAN_COPY_MBAR; and what it touches. */
#define GSAN_COPY_HOW(op)       ((op) & 7u)
#define GSAN_COPY_MBAR          8u              /* completes on an mbarrier */
#define GSAN_COPY_TO_SHARED     16u             /* else to global memory */
#define GSAN_COPY_FROM_SHARED   32u
#define GSAN_COPY_CLUSTER       64u             /* the destination is shared::cluster */
#define GSAN_COPY_NO_SOURCE     128u            /* only the destination is told */
#define GSAN_COPY_MULTICAST     512u            /* `from` is the mask of the blocks */
#define GSAN_COPY_GENERIC       1024u           /* through the generic proxy: st.async */
#define GSAN_COPY_FOUR_ROWS     2048u           /* tensor: gather4, scatter4 */
#define GSAN_COPY_CANCEL        4096u           /* the answer of cluster launch control; with
						   GSAN_COPY_MULTICAST to the whole cluster */
#define GSAN_COPY_ANYWHERE      8192u           /* addresses are generic */
#define GSAN_COPY_IM2COL        16384u          /* tensor: im2col, im2col_no_offs */
#define GSAN_COPY_MASKED        32768u          /* `from` is the mask of bytes of each 16 */
#define GSAN_COPY_PAIR          65536u          /* of GSAN_COPY_MULTICAST: one block of each pair
						   hears of both */

/* Of `op` for a change of a tensor map: the field, the dimension << 4, and where the
 * map lies. */
enum gsan_map_field {
	GSAN_MAP_ADDRESS, GSAN_MAP_RANK, GSAN_MAP_BOX, GSAN_MAP_DIM, GSAN_MAP_STRIDE, GSAN_MAP_STEP,
	GSAN_MAP_TYPE, GSAN_MAP_INTERLEAVE, GSAN_MAP_SWIZZLE, GSAN_MAP_ATOMICITY, GSAN_MAP_FILL
};
#define GSAN_MAP_SHARED         256u            /* else a generic address, or global */

/* Of `op` for a group: enum gsan_how, and which. */
#define GSAN_GROUP_COMMIT       8u
#define GSAN_GROUP_READ         16u             /* wait_group.read */
#define GSAN_GROUP_ALL          32u             /* wait_all: commit, and wait for all */

/* Of `op` for wgmma: rows of B in bits 0 to 15, whether A is in shared memory, too, and
 * which is major in m or n; of a sparse product B's rows are twice as long as A's. */
#define GSAN_WGMMA_A            (1u << 16)
#define GSAN_WGMMA_A_MN         (1u << 17)
#define GSAN_WGMMA_B_MN         (1u << 18)
#define GSAN_WGMMA_SPARSE       (1u << 19)
#define GSAN_PRODUCTS           8

/* Bits of a shared::cluster address from here on say whose block's memory it is. */
#define GSAN_RANK_SHIFT         24

/* Of `op` for tcgen05.  ld, st: columns in bits 0 to 9; cp: rows of the source in bits 0
 * to 7, pieces of 16 bytes in bits 8 to 9; mma: bytes of an element in bits 0 to 2. */
#define GSAN_TC_STORE           (1u << 12)      /* st, wait::st */
#define GSAN_TC_HALF            (1u << 13)      /* 16 lanes, not 32 */
#define GSAN_TC_TWICE           (1u << 14)      /* and 16 more, `split` columns on */
#define GSAN_TC_AFTER           (1u << 15)      /* fence::after_thread_sync, not before */
#define GSAN_TC_LOOSE           (1u << 16)      /* threads may synchronise by relaxed operations */
#define GSAN_TC_PAIR            (1u << 17)      /* cta_group::2 */
#define GSAN_TC_A_TMEM          (1u << 18)      /* A is in tensor memory */
#define GSAN_TC_INTEGER         (1u << 19)      /* D is of 32-bit integers */
#define GSAN_TC_SCALED          (1u << 20)      /* of blocks with scale factors */
#define GSAN_TC_PACKED          (1u << 21)      /* of which two elements are in a byte */
#define GSAN_TC_MULTICAST       (1u << 22)      /* commit: at the mbarriers of several blocks */
#define GSAN_TC_WS              (1u << 23)      /* mma.ws */

#define GSAN_PROXY_SHARED       1u
#define GSAN_PROXY_GLOBAL       2u
#define GSAN_PROXY_RELEASE      4u              /* one of the one-way fences */
#define GSAN_PROXY_ACQUIRE      8u
#define GSAN_PROXY_ALIAS        16u             /* fence.proxy.alias */
#define GSAN_PROXY_CLUSTER      32u             /* shared memory of peers as well */

/* ---- What an instrumented module carries ------------------------------------
 *
 * Every instrumented module (with -rdc, every translation unit) has
 *   .global .u32 __gsan_site_base            local; 0 until registered, and then
 *                                            its first site number (never 0)
 *   .global ... __gsan_module                struct gsan_module, local
 *   .visible .entry __gsan_v1_init_HASH(.param .u64 mailbox)
 *                                            one thread: __gsan_v1_register(mailbox,
 *                                            &__gsan_module)
 * HASH is 16 hexadecimal digits over the module's text, so that linked
 * translation units do not clash.  The host runtime finds the init kernels by
 * cuModuleEnumerateFunctions and runs each once, with a struct gsan_mailbox,
 * before the first launch from that module.  A kernel whose module was never
 * registered runs unwatched.
 */
struct gsan_site {              /* 32 bytes */
	uint32_t func;          /* strings are offsets into the string area; 0 is "" */
	uint32_t ptx_line;
	uint32_t file;          /* from .loc; 0 if there was none */
	uint32_t line;
	uint32_t op;            /* the instruction without operands, "st.shared.u32" */
	uint32_t var;           /* variable its address comes from, if known */
	uint32_t frames;        /* index+1 of the first frame it was inlined into; 0: none */
	uint32_t info;          /* as passed to the runtime */
};

struct gsan_frame {             /* an inlined call: where the callee was called */
	uint32_t func;          /* the calling function */
	uint32_t file, line;
	uint32_t next;          /* index+1 of the frame around it; 0: none */
};

struct gsan_global {            /* a variable of the module in global or shared memory */
	uint64_t addr;          /* generic address (global variables only) */
	uint64_t bytes;
	uint32_t name;
	uint32_t shared;        /* 1: a .shared variable (addr is 0) */
};

struct gsan_module {            /* 8-byte fields first: laid out alike everywhere */
	uint64_t site_base;     /* generic addresses in device memory */
	uint64_t sites, frames, globals, strings;
	uint32_t abi;           /* GSAN_ABI */
	uint32_t nsites, nframes, nglobals, nstrings;   /* strings: bytes */
	uint32_t path;          /* string: the PTX file's name */
	uint32_t elided;        /* accesses left out because provably harmless */
	uint32_t unmodelled;    /* instructions passed through: MODEL_SYNC/COPY/COUNT */
	uint32_t unknown;       /* instructions in no table row */
	uint32_t missed;        /* accesses it could not instrument */
	uint32_t perturb;       /* seed that gsan-ptx --perturb gave it; 0: none */
	uint32_t pad;
};

/* Written by __gsan_v1_register: host memory, mapped. */
struct gsan_mailbox {
	struct gsan_module module;
	uint32_t site_base;     /* as assigned */
	uint32_t done;          /* 1 when all of it is written */
};

/* ---- Findings ----------------------------------------------------------------
 *
 * A ring in host memory (page-locked and mapped, so that it outlives a context
 * that died).  The device takes an index from root->ring_next, fills the entry
 * and sets `ready` last; an entry is used once; findings beyond the end are
 * counted in root->ring_lost.  One entry a pair of sites and kind; `count` is
 * stored again whenever it reaches a power of two.
 */
enum gsan_kind {
#define KIND(id, name) GSAN_##id,
#include "rt/kinds.def"
	GSAN_KIND_COUNT
};

/* What would have been needed; the host runtime words it. */
enum gsan_why {
#define WHY(id, text) GSAN_WHY_##id,
#include "rt/kinds.def"
	GSAN_WHY_COUNT
};

#define GSAN_ACCESS_ASYNC       16u             /* in kind: of an asynchronous operation */

struct gsan_access {
	uint32_t site;          /* module's site_base + local number; 0 if lost */
	uint32_t kind;          /* of the record */
	uint32_t bytes;         /* mask within the granule */
	uint32_t thread;        /* linear thread number in the block */
	uint64_t block;         /* linear block number; ~0 if lost */
	uint32_t slot, clock;
};

#define GSAN_IN_TENSOR          2u

enum gsan_values { GSAN_VALUES_UNKNOWN, GSAN_VALUES_SAME, GSAN_VALUES_DIFFER };

struct gsan_finding {
	uint32_t ready;
	uint32_t kind;          /* enum gsan_kind */
	uint32_t why;           /* enum gsan_why */
	uint32_t shared;        /* 1: addr is a shared::cta offset; GSAN_IN_TENSOR:
				   lane << 16 | column of tensor memory */
	uint64_t addr;          /* of the first byte both touch */
	uint32_t count;         /* times seen so far, see above */
	uint32_t dedup;         /* index in root->dedup: exact count */
	uint32_t launch;        /* number of the launch of that kernel, from 1, see below */
	uint32_t kernel;        /* site number of the kernel */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t values;        /* enum gsan_values, of two weak writes */
	uint32_t owner;         /* of shared memory that is not `now`'s block's: 1 + the rank in
				   the cluster of the block that it belongs to */
	struct gsan_access now, before;
};

struct gsan_dedup { unsigned long long key; uint32_t count; uint32_t entry; };

/* Things that made gsan see less; each is named in the closing line. */
enum gsan_counter {
#define COUNTER(id, text) GSAN_COUNT_##id,
#include "rt/kinds.def"
	GSAN_COUNTER_COUNT
};

/* ---- The root ------------------------------------------------------------------
 *
 * In device memory at GSAN_ROOT, zeroed and then filled in by the host runtime
 * before anything instrumented runs.  The arrays behind the pointers are device
 * memory too, zeroed, of the sizes that rt/state.h gives.
 */
#define GSAN_SC_SHARED  16
#define GSAN_LETTING    64      /* power of two */

struct gsan_root {
	uint32_t abi;
	uint32_t nsm;           /* multiprocessors */
	uint32_t nslots;        /* nsm * GSAN_SLOTS_PER_SM, at most GSAN_MAX_SLOTS */
	uint32_t options;       /* GSAN_OPT_* */
	uint32_t perturb;       /* seed that holds warps up by chance; 0: none */
	uint64_t blocks;        /* struct gsan_block[nslots] */
	uint64_t warps;         /* struct gsan_warp[nslots * 32] */
	uint64_t lanes;         /* struct gsan_lane[nslots * 1024] */
	uint64_t history;       /* struct gsan_tenant[nslots * GSAN_HISTORY] */
	uint64_t knows;         /* small snapshots: nknows objects of 64 bytes, a power of two */
	uint64_t snaps;         /* large snapshots: nsnaps objects, likewise */
	uint64_t crosses;       /* what such know of many other blocks: ncrosses objects of cross_bytes bytes */
	uint64_t fews;          /* of a few: nfews objects, a power of two */
	uint64_t words;         /* struct gsan_word[nwords], a power of two */
	uint64_t launches;      /* struct gsan_launch[GSAN_LAUNCHES] */
	uint64_t self;          /* uint64_t[nsm * 64]: last context seen by %smid, %warpid */
	uint64_t maps;          /* struct gsan_map[GSAN_MAPS], host memory */
	uint64_t early;         /* struct gsan_early[GSAN_EARLY], host memory */
	uint64_t edits;         /* struct gsan_map[GSAN_EDITS] */
	uint64_t guests;        /* struct gsan_guest[nslots * GSAN_GUESTS] */
	uint64_t clusters;      /* struct gsan_cluster[2 * nslots]: of several blocks; of one, by slot */
	uint64_t mbars;         /* struct gsan_mbar[nslots * GSAN_MBARS] */
	uint64_t groups;        /* struct gsan_groups[nslots * 1024] */
	uint64_t logs;          /* struct gsan_log[nslots * 32] */
	uint64_t tmems;         /* struct gsan_tmem[nslots]; 0: no tensor memory */
	uint64_t tcs;           /* struct gsan_tc[nslots * 32], likewise */
	uint64_t queues;        /* struct gsan_queue[nslots]; 0: no bulk copies */
	uint64_t fences;        /* struct gsan_fence[nslots * GSAN_FENCE_LOGS * GSAN_FENCES] */
	uint64_t dedup;         /* struct gsan_dedup[ndedup], a power of two */
	uint64_t ring;          /* struct gsan_finding[nring], host memory */
	uint32_t nknows, nsnaps, ncrosses, cross_bytes, nfews, nwords, ndedup, nring;
	uint32_t next_site;     /* 1 at the start */
	uint32_t ring_next;
	uint32_t know_next;     /* snapshots made so far, small and large */
	uint32_t snap_next, cross_next, few_next;
	uint32_t max_clock;     /* highest clock of any block that ended; start at 0 */
	uint32_t launch_next;   /* launches of instrumented kernels seen, from 0 */
	uint32_t top_slot;      /* highest slot ever claimed + 1 */
	uint32_t launch_lock;
	uint32_t sc_next;       /* fence.sc run so far */
	/* What threads that ran fence.sc had acquired otherwise: by number of the
	 * fence, the last GSAN_SC_SHARED joined snapshots, and when their blocks began. */
	uint32_t sc_lock, sc_busy, sc_shared;
	uint32_t sc_number[GSAN_SC_SHARED], sc_snap[GSAN_SC_SHARED], sc_start[GSAN_SC_SHARED];
	uint32_t let_go;        /* a launch let its dependents go, ever */
	uint32_t letting[GSAN_LETTING]; /* where such are in `launches`, + 1, by GSAN_EARLY_HASH */
	uint32_t shared_slots[GSAN_SHARED_ROWS];
	unsigned long long counters[GSAN_COUNTER_COUNT];
};

#define GSAN_OPT_OFF            1u      /* report_bugs=0: check nothing, measure overhead */
#define GSAN_OPT_VOLATILE_WEAK  2u      /* volatile_is_weak=1 */
#define GSAN_OPT_NO_ATOMIC      8u      /* report_atomic_races=0 */
#define GSAN_OPT_APART          16u     /* reconverge=0: lanes of an if stay apart */
/* Above: what the documentation leaves open, a bit for each that has its last value. */
#define GSAN_OPT_CHOICE(c)      (65536u << (c))
enum gsan_choice {
#define CHOICE(name, values, help) GSAN_CHOICE_##name,
#include "rt/choices.def"
#undef CHOICE
	GSAN_CHOICES
};

#endif
