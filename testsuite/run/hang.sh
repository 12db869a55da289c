# SPDX-License-Identifier: Apache-2.0
#
# Kernels that come to no end on the emulated device: where their warps stand is said, and
# the seeds behind go on.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
gsan_run="timeout 60 $top_builddir/gsan-run --device=emu"

# kernel LINE...: a script from stdin, and a kernel over 256 bytes and an mbarrier
kernel()
{
	cat
	printf '%s\n' '.version 8.0' '.target sm_90' '.address_size 64' '.visible .entry k(.param .u64 a) {' \
		'	.reg .u32 %r<8>; .reg .u64 %d<8>; .reg .pred %p<4>;' '	.shared .align 8 .b64 m;' \
		'	ld.param.u64 %d0, [a];' '	mov.u32 %r0, %tid.x;' "$@" '	ret;' '}'
}

# A barrier with a count, to which half of each warp does not come.
kernel '	and.b32 %r1, %r0, 31;' '	setp.ge.u32 %p0, %r1, 16;' '	@%p0 bra REST;' '	barrier.sync 1, 64;' \
	'REST:' '	barrier.sync 0;' >bar.ptx <<E
//@ buf a 256
//@ launch k grid=1,1,1 block=64,1,1 args=a
E
run 3 $gsan_run --no-instrument --seeds=4..6 bar.ptx
has err 'emu: deadlock:'
where='bar.ptx:14, warp 0, lanes 0x[0-9a-f]*: waits at barrier 1, where 0 of 2 warps are;'
where="$where lanes 0x[0-9a-f]* of this warp have not come"
grep -q "$where" err || fail "not said of barrier 1: $(cat err)"
has err ': waits at barrier 0, where 32 of 64 threads are'
grep -q 'why: barrier 1 of block 0 lacks 2 warps, waited for at bar.ptx:14; warp [01] of block 0 could arrive, and waits at bar.ptx:[0-9]* for barrier 0' err ||
	fail "not said who could arrive: $(cat err)"
has err 'why: a circle: '
for seed in 4 5 6; do
	has err "bar.ptx: a deadlock (seed $seed)"
done
sed 's,^//@ launch.*,&\n//@ expect clean,' bar.ptx >checked.ptx
run 1 $gsan_run --check --no-instrument --seed=4 checked.ptx

# A phase of which one arrival and some bytes are missing.
kernel '	setp.ne.u32 %p0, %r0, 0;' '	@%p0 bra WAIT;' '	mbarrier.init.shared.b64 [m], 2;' \
	'	mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 64;' 'WAIT:' '	bar.sync 0;' 'AGAIN:' \
	'	mbarrier.try_wait.parity.shared.b64 %p1, [m], 0;' '	@!%p1 bra AGAIN;' >mbar.ptx <<E
//@ buf a 256
//@ launch k grid=1,1,1 block=32,1,1 args=a
E
where='mbar.ptx:[12][0-9], warp 0, lanes 0xffffffff: waits at the mbarrier at 0x[0-9a-f]*:'
where="$where phase 0 is under way, for which 1 of 2 arrivals are missing and 64 bytes\$"
for how in --no-instrument ''; do
	run 3 $gsan_run $how mbar.ptx
	has err 'emu: deadlock:'
	grep -q "$where" err || fail "not said of the mbarrier $how: $(cat err)"
	has err 'mbar.ptx: a deadlock'
	grep -q 'why: the mbarrier at 0x[0-9a-f]* of block 0 lacks 1 arrival and 64 bytes, waited for at mbar.ptx:[12][0-9]; the last arrivals came by mbar.ptx:14; nobody is left who could arrive' err ||
		fail "not said who could arrive $how: $(cat err)"
done

# It is looked for long, but not for ever: until a register, the time, a word of another lane's, or a copy says so.
waits()
{
	kernel '	setp.ne.u32 %p0, %r0, 0;' '	@%p0 bra WAIT;' '	mbarrier.init.shared.b64 [m], 1;' '	st.shared.u32 [w], 0;' 'WAIT:' \
		'	.shared .align 4 .u32 w;' '	bar.sync 0;' '	mov.u32 %r4, 0;' '	mov.u32 %r6, %clock;' "$@"
}
cat >script <<E
//@ buf a 256
//@ launch k grid=1,1,1 block=64,1,1 args=a
E
again='	@!%p1 bra AGAIN;'
look='	mbarrier.try_wait.parity.shared.b64 %p1, [m], 0;'
waits 'AGAIN:' "$look" '	add.u32 %r4, %r4, 1;' '	setp.eq.u32 %p2, %r4, 100000;' '	or.pred %p1, %p1, %p2;' "$again" <script >counts.ptx
waits 'AGAIN:' "$look" '	mov.u32 %r4, %clock;' '	sub.u32 %r4, %r4, %r6;' '	setp.gt.u32 %p2, %r4, 400000;' \
	'	or.pred %p1, %p1, %p2;' '	mov.u32 %r4, 0;' "$again" <script >clock.ptx
waits '	setp.eq.u32 %p3, %r0, 40;' '	@%p3 bra LONG;' 'AGAIN:' '	ld.volatile.shared.u32 %r4, [w];' '	setp.ne.u32 %p1, %r4, 0;' \
	"$again" '	bra OUT;' 'LONG:' '	add.u32 %r4, %r4, 1;' '	setp.ne.u32 %p2, %r4, 100000;' '	@%p2 bra LONG;' \
	'	st.volatile.shared.u32 [w], 1;' 'OUT:' <script >word.ptx
for long in counts clock word; do
	for how in --no-instrument '--no-instrument --seeds=1..2' ''; do
		run 0 $gsan_run $how $long.ptx
		hasnt err deadlock
	done
done
sed '/st.volatile/d' word.ptx >never.ptx
run 3 $gsan_run --no-instrument never.ptx
has err 'never.ptx: a deadlock'

# Who comes first decides whether there is an end: the seeds behind one that has none are run.
kernel '	atom.global.add.u32 %r1, [%d0], 1;' '	mov.u32 %r2, %ctaid.x;' '	setp.eq.u32 %p0, %r1, %r2;' 'SPIN:' \
	'	ld.relaxed.gpu.global.u32 %r3, [%d0+4];' '	@!%p0 bra SPIN;' >seeds.ptx <<E
//@ buf a 256
//@ launch k grid=2,1,1 block=1,1,1 args=a
//@ timeout 1
E
run 3 $gsan_run --no-instrument --seeds=3..6 --dump=a seeds.ptx
hung=$(grep -c 'seeds.ptx: not done after 1 seconds (seed [3-6])' err)
ended=$(wc -l <out)
[ "$hung" -ge 1 ] && [ "$ended" -ge 1 ] || fail "$hung of 4 seeds hang, $ended end"

# A program.
cat >spin.cu <<'E'
#include <cstdio>
__global__ void spin(volatile int *a)
{
	while (*a == 0)
		;
}
int main()
{
	int *a;

	cudaMalloc(&a, 4);
	cudaMemset(a, 0, 4);
	spin<<<1, 32>>>(a);
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return 5;
}
E
"$NVCC" -gencode arch=compute_90,code=compute_90 -lineinfo -o spin spin.cu || hard "nvcc"
run 5 $gsan_run --timeout=1 --seeds=1..2 -- ./spin
[ "$(grep -c 'the launch timed out and was terminated' out)" = 2 ] || fail "not both seeds: $(cat out)"
has err 'emu: a kernel still runs after 1 seconds'
grep -q 'spin.cu:4), warp 0, lanes 0x[0-9a-f]*: goes on' err || fail "not said of the program: $(cat err)"
done_testing
