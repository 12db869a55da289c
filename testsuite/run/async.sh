# SPDX-License-Identifier: Apache-2.0
#
# The asynchronous world through gsan-run on the emulated device: tensor maps,
# clusters and dependent launches of scripts give the right memory contents under
# every seed when the program is right; and the mistakes that this tool is for
# give wrong ones under some seed.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
gsan_run="$top_builddir/gsan-run --device=emu --no-instrument"

# sum SEED FILE: how often each word is in the buffer out
sum()
{
	$gsan_run --seed="$1" --dump=out "$2" >dumped 2>err || { fail "$2, seed $1: $(cat err)"; return; }
	awk '{ for (i = 2; i <= NF; i++) print $i }' dumped | sort | uniq -c |
		awk '{ printf "%s*%s ", $1, $2 }'
}

# always FILE CONTENTS: under every seed
always()
{
	for seed in 0 1 2 3 4 5 6 7 8 9 10 11; do
		got=$(sum $seed "$1")
		[ "$got" = "$2" ] || { fail "$1, seed $seed: $got instead of $2"; return; }
	done
}

# sometimes FILE CONTENTS: under some seed, and under some other not
sometimes()
{
	right=0 wrong=0
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
		if [ "$(sum $seed "$1")" = "$2" ]; then right=$((right + 1)); else wrong=$((wrong + 1)); fi
		[ $right -gt 0 ] && [ $wrong -gt 0 ] && return
	done
	fail "$1: right $right times, wrong $wrong times"
}

head='.version 9.0
.target sm_90a
.address_size 64'

# ---- A persistent loop: each tile is loaded, read by all, written back.
# loop NAME SYNC: SYNC is what stands between the reads and the next load
loop()
{
	cat >"$1.ptx" <<E
//@ device sm_90a
//@ buf in 8192 iota
//@ buf out 8192 fill 0xffffffff
//@ tmap src in u32 dims=64,32 box=64,4
//@ launch k grid=1 block=256 args=src,out
//@ expect clean
$head
.visible .entry k(.param .align 64 .b8 src[128], .param .u64 out)
{
	.reg .b32 %r<20>;
	.reg .b64 %d<8>;
	.reg .pred %p<4>;
	.shared .align 128 .b8 tile[1024];
	.shared .align 8 .b64 full;
	mov.b64 %d0, src;
	cvta.param.u64 %d0, %d0;
	ld.param.u64 %d1, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, tile;
	mov.u32 %r2, full;
	setp.eq.u32 %p0, %r0, 0;
	@%p0 mbarrier.init.shared.b64 [%r2], 1;
	bar.sync 0;
	mov.u32 %r3, 0;
	mov.u32 %r4, 0;
	shl.b32 %r5, %r0, 2;
	add.u32 %r6, %r5, %r1;
	mul.wide.u32 %d2, %r0, 4;
	add.u64 %d2, %d2, %d1;
LOOP:
	@!%p0 bra WAIT;
	mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024;
	shl.b32 %r7, %r3, 2;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0, {%r4, %r7}], [%r2];
WAIT:
	and.b32 %r8, %r3, 1;
TRY:
	mbarrier.try_wait.parity.shared.b64 %p1, [%r2], %r8;
	@!%p1 bra TRY;
	ld.shared.u32 %r9, [%r6];
	$2
	shr.u32 %r10, %r9, 8;
	st.global.u32 [%d2], %r10;
	add.u64 %d2, %d2, 1024;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p2, %r3, 8;
	@%p2 bra LOOP;
	ret;
}
E
}
tiles='256*00000000 256*00000001 256*00000002 256*00000003 256*00000004 256*00000005 256*00000006 256*00000007 '
loop right 'fence.proxy.async.shared::cta; bar.sync 0;'
always right.ptx "$tiles"
loop nofence 'bar.sync 0;'
sometimes nofence.ptx "$tiles"

# ---- What threads wrote goes out by a tensor store.
# store NAME SYNC
store()
{
	cat >"$1.ptx" <<E
//@ device sm_90a
//@ buf out 4096 fill 0xffffffff
//@ tmap dst out u32 dims=32,32 box=32,8 swizzle=128
//@ launch k grid=4 block=256 args=dst
//@ expect clean
$head
.visible .entry k(.param .align 64 .b8 dst[128])
{
	.reg .b32 %r<20>;
	.reg .b64 %d<8>;
	.reg .pred %p<4>;
	.shared .align 1024 .b8 tile[1024];
	mov.b64 %d0, dst;
	cvta.param.u64 %d0, %d0;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, tile;
	mov.u32 %r2, %ctaid.x;
	setp.eq.u32 %p0, %r0, 0;
	shl.b32 %r3, %r0, 2;
	add.u32 %r3, %r3, %r1;
	add.u32 %r4, %r2, 7;
	st.shared.u32 [%r3], %r4;
	$2
	@!%p0 ret;
	mov.u32 %r5, 0;
	shl.b32 %r6, %r2, 3;
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d0, {%r5, %r6}], [%r1];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ret;
}
E
}
rows='256*00000007 256*00000008 256*00000009 256*0000000a '
store stored 'fence.proxy.async.shared::cta; bar.sync 0;'
always stored.ptx "$rows"
store after 'bar.sync 0; fence.proxy.async.shared::cta;'
always after.ptx "$rows"
store unfenced 'bar.sync 0;'
sometimes unfenced.ptx "$rows"
store wrongspace 'fence.proxy.async.global; bar.sync 0;'
sometimes wrongspace.ptx "$rows"
store nobarrier 'fence.proxy.async.shared::cta;'
[ "$(sum 1 nobarrier.ptx)" != "$rows" ] || fail 'nobarrier.ptx gives the right contents'

# ---- Clusters of a launch: a multicast into all blocks, and a store into the next.
cat >cluster.ptx <<E
//@ device sm_90a
//@ buf in 4096 iota
//@ buf out 2048 fill 0xffffffff
//@ tmap src in u32 dims=1024 box=64
//@ launch k grid=8 block=32 cluster=4 args=src,out
//@ expect clean
$head
.visible .entry k(.param .align 64 .b8 src[128], .param .u64 out)
{
	.reg .b32 %r<20>;
	.reg .b64 %d<8>;
	.reg .b16 %h<2>;
	.reg .pred %p<4>;
	.shared .align 128 .b8 tile[1024];
	.shared .align 8 .b64 full;
	mov.b64 %d0, src;
	cvta.param.u64 %d0, %d0;
	ld.param.u64 %d1, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, tile;
	mov.u32 %r2, full;
	mov.u32 %r3, %cluster_ctarank;
	mov.u32 %r4, %ctaid.x;
	setp.eq.u32 %p0, %r0, 0;
	@%p0 mbarrier.init.shared.b64 [%r2], 1;
	@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	// each block sends its 64 words to all four, each to a place of its own
	@!%p0 bra WAIT;
	shl.b32 %r5, %r4, 6;
	shl.b32 %r6, %r3, 8;
	add.u32 %r6, %r6, %r1;
	mov.u16 %h0, 15;
	cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r6], [%d0, {%r5}], [%r2], %h0;
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
	@!%p1 bra WAIT;
	// words 0, 64, 128 and 192 of the cluster's 256, by lanes 0 to 3
	shl.b32 %r7, %r0, 8;
	add.u32 %r7, %r7, %r1;
	setp.lt.u32 %p2, %r0, 4;
	mov.u32 %r8, 0x1000;
	@%p2 ld.shared.u32 %r8, [%r7];
	shl.b32 %r9, %r4, 5;
	add.u32 %r9, %r9, %r0;
	mul.wide.u32 %d2, %r9, 4;
	add.u64 %d2, %d2, %d1;
	st.global.u32 [%d2], %r8;
	// and a word for the next block, by way of its shared memory
	barrier.cluster.arrive;
	barrier.cluster.wait;
	add.u32 %r10, %r3, 1;
	and.b32 %r10, %r10, 3;
	mapa.shared::cluster.u32 %r11, %r1, %r10;
	or.b32 %r12, %r3, 0x2000;
	@%p0 st.shared::cluster.u32 [%r11], %r12;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ld.shared.u32 %r13, [%r1];
	setp.eq.u32 %p3, %r0, 31;
	add.u64 %d3, %d1, 1024;
	mul.wide.u32 %d4, %r4, 4;
	add.u64 %d3, %d3, %d4;
	@%p3 st.global.u32 [%d3], %r13;
	ret;
}
E
always cluster.ptx '4*00000000 4*00000040 4*00000080 4*000000c0 4*00000100 4*00000140 4*00000180 4*000001c0 224*00001000 2*00002000 2*00002001 2*00002002 2*00002003 248*ffffffff '

# ---- A launch that may start early: it waits for its predecessor, or does not.
# pdl NAME WAIT WORD
pdl()
{
	cat >"$1.ptx" <<E
//@ device sm_90a
//@ buf a 1024
//@ buf out 1024 fill 0xffffffff
//@ stream s
//@ launch first grid=2 block=128 stream=s args=a
//@ launch second grid=2 block=128 stream=s $3 args=a,out
//@ expect clean
$head
.visible .entry first(.param .u64 a)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	.reg .pred %p<2>;
	ld.param.u64 %d0, [a];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mad.lo.u32 %r2, %r1, 128, %r0;
	mul.wide.u32 %d1, %r2, 4;
	add.u64 %d1, %d1, %d0;
	griddepcontrol.launch_dependents;
	mov.u32 %r3, 0;
SPIN:
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p0, %r3, 300;
	@%p0 bra SPIN;
	st.global.u32 [%d1], 5;
	ret;
}
.visible .entry second(.param .u64 a, .param .u64 out)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	ld.param.u64 %d0, [a];
	ld.param.u64 %d3, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mad.lo.u32 %r2, %r1, 128, %r0;
	mul.wide.u32 %d1, %r2, 4;
	add.u64 %d2, %d1, %d0;
	add.u64 %d3, %d1, %d3;
	$2
	ld.global.u32 %r3, [%d2];
	st.global.u32 [%d3], %r3;
	ret;
}
E
}
pdl waits 'griddepcontrol.wait;' pdl
always waits.ptx '256*00000005 '
pdl inorder '' ''
always inorder.ptx '256*00000005 '
pdl early '' pdl
[ "$(sum 0 early.ptx)" != '256*00000005 ' ] || fail "seed 0: the second kernel waits though nothing says so"

# ---- Instrumented, right programs are still right.
gsan_run="$top_builddir/gsan-run --device=emu"
got=$(sum 3 right.ptx)
[ "$got" = "$tiles" ] || fail "right.ptx instrumented: $got"
got=$(sum 3 stored.ptx)
[ "$got" = "$rows" ] || fail "stored.ptx instrumented: $got"

# Of cp.async and a bulk copy it is the latter that goes through the async proxy.
file=$top_srcdir/testsuite/race/cp_async_then_store_nofence.ptx
run 66 $gsan_run "$file"
line=$(grep -n 'cp.async.ca.* // W' "$file" | cut -d: -f1)
has err "Missing: a fence.proxy.async by the thread that ran cp_async_then_store_nofence.ptx:$line,"

# But of the two that one may still be under way which came first.
file=$top_srcdir/testsuite/race/cp_async_then_store_nowait.ptx
run 66 $gsan_run "$file"
line=$(grep -n 'cp.async.ca.* // W' "$file" | cut -d: -f1)
has err "Missing: the completion of cp_async_then_store_nowait.ptx:$line, seen by this thread before"

# A wait that passes by an older phase is named, with the phase that it should have been for.
file=$top_srcdir/testsuite/race/36_tma_parity_stuck.ptx
run 66 $gsan_run "$file"
line=$(grep -n '// W' "$file" | cut -d: -f1)
wait=$(grep -n 'try_wait.*, 0;' "$file" | cut -d: -f1)
has err "Missing: a wait for phase 1 of the mbarrier (parity 1), which 36_tma_parity_stuck.ptx:$line is of; the wait at 36_tma_parity_stuck.ptx:$wait"

# Nor does st.async, of which another thread sees the end; and a fence for the own block's memory is not one for a peer's.
file=$top_srcdir/testsuite/race/58_st_async_tma_nofence.ptx
run 66 $gsan_run "$file"
has err "Missing: a fence.proxy.async by a thread that has waited for ${file##*/}:$(grep -n 'st.async.* // W' "$file" | cut -d: -f1),"
file=$top_srcdir/testsuite/race/54_bulk_dsmem_over_store_fence_cta.ptx
run 66 $gsan_run "$file"
has err "Missing: a fence.proxy.async for the shared memory of the whole cluster"

# Of cp.async and a plain access it is the former whose completion is missing, whichever came first.
file=$top_srcdir/testsuite/race/cp_async_surplus_lanes_no_sync.ptx
run 66 $gsan_run "$file"
has err "Missing: the completion of ${file##*/}:$(grep -n 'cp.async.cg' "$file" | cut -d: -f1), seen by this thread before ${file##*/}:$(grep -n 'ld.shared' "$file" | cut -d: -f1) "

# An init that fence.mbarrier_init told of is followed, in a block without peers, too.
run 0 $gsan_run "$top_srcdir/testsuite/norace/mbar_init_cluster_of_one.ptx"
grep -q ' sites\{0,1\} watched$' err || fail "something is counted: $(cat err)"

# What uses an mbarrier that is not there is one access.
cat >none.ptx <<'END'
//@ device sm_90
//@ launch k grid=1 block=1 args=
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	.shared .align 8 .b64 bar;
	.reg .b64 %s;
	mbarrier.arrive.shared.b64 %s, [bar];
	ret;
}
END
"$top_builddir/gsan-run" --device=emu none.ptx >out 2>err
has err "WARNING: GSan: mbarrier misuse"
has err "Missing: mbarrier.init there before none.ptx:10, "
! grep -q Previous err || fail "another access: $(cat err)"

# located FILE BLOCK OFFSET: whose shared memory it is
located()
{
	run 66 $gsan_run "$top_srcdir/testsuite/race/$1.ptx"
	has err "Location is shared memory of block $2 at offset $3"
}

# A peer's memory is the peer's, and a block's own begins at 0 whatever its rank.
located 29_dsmem_exit "(1,0,0)" 0x400
located 53_tma_multicast_one_releases "(1,0,0)" 0x400
# Of a copy whose blocks have both ended its source is told first.
located 54_bulk_dsmem_ended "(0,0,0)" 0x400
# Whichever of its threads comes first.
located 54_bulk_dsmem_early "(1,0,0)" 0x4
located dsmem_loaded_by_peer_relaxed "(0,0,0)" 0x4
located 29_mbar_remote_exit "(0,0,0)" 0x400
# Who used it is named, whoever of them ends first.
for seed in 0 1 2 3 4 5; do
	run 66 $gsan_run --seed=$seed "$top_srcdir/testsuite/race/29_mbar_remote_exit.ptx"
	has err "  mbarrier.arrive of size 8 at 0x400 by thread (0,0,0) block (1,0,0):"
done
# Tensor memory is its block's as well.
file=$top_srcdir/testsuite/race/53_peer_hears_of_warps.ptx
run 66 $gsan_run "$file"
has err "Missing: a release at cluster scope after ${file##*/}:$(grep -n '// R' "$file" | cut -d: -f1) that is acquired at cluster scope before"
run 66 $gsan_run "$top_srcdir/testsuite/race/tcgen05_pair_drained_no_before.ptx"
has err "block (1,0,0):"
has err "Location is tensor memory of block (1,0,0) at lane "

# What some schedules showed: two parts of a warp at a fence at once, a warp whose clock is behind.
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28; do
	run 0 $gsan_run --check --seed=$seed "$top_srcdir/testsuite/norace/tcgen05_pair_drained_halves.ptx"
	[ $((seed % 2)) = 0 ] || continue
	run 0 $gsan_run --check --seed=$seed "$top_srcdir/testsuite/race/cluster_barrier_slow_warp.ptx"
	run 0 $gsan_run --check --seed=$seed "$top_srcdir/testsuite/race/tcgen05_pair_no_after.ptx"
done

# Two calls of one function at the same place at the same time, in some of these schedules.
for seed in 21 22 23 24 25 26 27 28 29 30; do
	run 0 $gsan_run --check --seed=$seed "$top_srcdir/testsuite/race/column_apart.ptx"
	run 0 $gsan_run --check --seed=$seed "$top_srcdir/testsuite/norace/column_apart.ptx"
done
done_testing
