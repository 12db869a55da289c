/* SPDX-License-Identifier: Apache-2.0
 *
 * runtime.cu: the device runtime, one translation unit, compiled to PTX at
 * build time and put in front of every instrumented module by gsan-ptx.  So it
 * must stay what ptxas inlines or calls cheaply: no recursion, no indirect
 * call, no printf, few registers, nothing newer than PTX 6.3 (and cluster
 * registers when compiled for sm_90).
 *
 * Memory: a block's own state is written and read on one multiprocessor and
 * goes through L1; what blocks share (shadow, snapshots, words) is read with
 * .cg or volatile loads and published behind a fence.
 */
#include "rt/state.h"

#include "rt/device/base.cuh"
#include "rt/device/order.cuh"
#include "rt/device/cross.cuh"
#include "rt/device/snap.cuh"
#include "rt/device/bring.cuh"
#include "rt/device/value.cuh"
#include "rt/device/report.cuh"
#include "rt/device/perturb.cuh"
#include "rt/device/granule.cuh"
#include "rt/device/access.cuh"
#include "rt/device/column.cuh"
#include "rt/device/words.cuh"
#include "rt/device/fence.cuh"
#include "rt/device/barrier.cuh"
#include "rt/device/async.cuh"
#include "rt/device/issue.cuh"
#include "rt/device/proxy.cuh"
#include "rt/device/line.cuh"
#include "rt/device/link.cuh"
#include "rt/device/lines.cuh"
#include "rt/device/row.cuh"
#include "rt/device/ghost.cuh"
#include "rt/device/post.cuh"
#include "rt/device/peer.cuh"
#include "rt/device/alias.cuh"
#include "rt/device/mbar.cuh"
#include "rt/device/choices.cuh"
#include "rt/device/cluster.cuh"
#include "rt/device/leave.cuh"
#include "rt/device/lanes.cuh"
#include "rt/device/copy.cuh"
#include "rt/device/maps.cuh"
#include "rt/device/tensor.cuh"
#include "rt/device/sweep.cuh"
#include "rt/device/alone.cuh"
#include "rt/device/matrix.cuh"
#include "rt/device/wgmma.cuh"
#include "rt/device/tcgen05.cuh"
#include "rt/device/grid.cuh"
#include "rt/device/block.cuh"

static_assert(sizeof(struct gsan_block) % 16 == 0 && sizeof(struct gsan_warp) % 16 == 0 &&
	      sizeof(struct gsan_lane) % 16 == 0 && sizeof(struct gsan_launch) % 16 == 0 &&
	      sizeof(struct gsan_mbar) % 16 == 0 && sizeof(struct gsan_map) % 16 == 0 &&
	      sizeof(struct gsan_groups) % 16 == 0 && sizeof(struct gsan_log) % 16 == 0 &&
	      sizeof(struct gsan_cells) % 16 == 0 && sizeof(struct gsan_tmem) % 16 == 0 && sizeof(struct gsan_tc) % 16 == 0 &&
	      sizeof(struct gsan_post) % 16 == 0 && sizeof(struct gsan_queue) % 16 == 0 && sizeof(struct gsan_form) % 16 == 0 && sizeof(struct gsan_map) == 160 &&
	      __builtin_offsetof(struct gsan_post, knew) % 16 == 0 && __builtin_offsetof(struct gsan_post, w) % 16 == 0 &&
	      __builtin_offsetof(struct gsan_mbar, phase) % 16 == 0 && __builtin_offsetof(struct gsan_mbar, seen) % 16 == 0 &&
	      __builtin_offsetof(struct gsan_mbar, ahead) % 16 == 0 && __builtin_offsetof(struct gsan_mbar, init_who) % 16 == 0 &&
	      __builtin_offsetof(struct gsan_mbar, tx_expected) % 16 == 0 && __builtin_offsetof(struct gsan_mbar, own) % 16 == 0 &&
	      __builtin_offsetof(struct gsan_mbar, tx_site) % 8 == 0 && __builtin_offsetof(struct gsan_log, inits) % 16 == 0 &&
	      __builtin_offsetof(struct gsan_block, start) % 16 == 0 && __builtin_offsetof(struct gsan_block, launch_number) % 16 == 0 &&
	      __builtin_offsetof(struct gsan_log, wgmma_start) % 16 == 0 &&
	      __builtin_offsetof(struct gsan_queue, e) % 16 == 0 && __builtin_offsetof(struct gsan_queue, form) % 16 == 0 &&
	      __builtin_offsetof(struct gsan_form, inner) % 16 == 0 && __builtin_offsetof(struct gsan_form, begins) % 16 == 0 && __builtin_offsetof(struct gsan_form, m) % 16 == 0 && sizeof(struct gsan_snap) == 64, "loaded in vectors");
