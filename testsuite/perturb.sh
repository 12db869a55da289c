# SPDX-License-Identifier: Apache-2.0
#
# GSAN_OPTIONS=perturb=SEED and gsan-ptx --perturb: a race that goes well by itself
# shows in the results, the same seed gives the same results, and a right program's
# results stay as they are.
. "$top_srcdir/testsuite/lib.sh"
takes_long

# Warp 0 writes at once, warp 1 reads long after.  $1: what orders them.
program()
{
	cat <<-END
	//@ device sm_75
	//@ buf out 128
	//@ launch k grid=1 block=64 args=out
	.version 6.4
	.target sm_75
	.address_size 64

	.visible .entry k(.param .u64 p_out)
	{
		.reg .pred %p0, %pw;
		.reg .b32 %t, %i, %v, %a;
		.reg .b64 %gout, %d;
		.shared .align 4 .b32 x[32];

		ld.param.u64 %gout, [p_out];
		cvta.to.global.u64 %gout, %gout;
		mov.u32 %t, %tid.x;
		and.b32 %a, %t, 31;
		shl.b32 %i, %a, 2;
		mul.wide.u32 %d, %a, 4;
		add.u64 %gout, %gout, %d;
		mov.u32 %a, x;
		add.u32 %a, %a, %i;
		setp.lt.u32 %p0, %t, 32;
		bar.sync 0;
		@%p0 st.shared.u32 [%a], 7;
		mov.u32 %i, 0;
	WORK:
		add.u32 %i, %i, 1;
		setp.lt.u32 %pw, %i, 100;
		@%pw bra WORK;
		$1
		ld.shared.u32 %v, [%a];
		@!%p0 st.global.u32 [%gout], %v;
		ret;
	}
	END
}

# result OPTIONS FILE [ARGUMENT...]: out's first word
result()
{
	options=$1
	shift
	GSAN_OPTIONS="$options" "$top_builddir/gsan-run" --device=emu --dump=out "$@" 2>err |
		sed -n 's/^out+0000: \([0-9a-f]*\) .*/\1/p'
}

program >race.ptx
program 'bar.sync 0;' >right.ptx
# In turns of one length, which schedule 0 gives, it goes well by itself.
[ "$(result "" race.ptx)" = 00000007 ] || fail "without perturb"
wrong=0
for seed in $(seq 1 30); do
	got=$(result perturb=$seed race.ptx)
	has err "WARNING: GSan: data race"
	[ "$got" = "$(result perturb=$seed race.ptx)" ] || fail "seed $seed again: another result"
	[ "$got" = 00000007 ] || wrong=$((wrong + 1))
	[ "$(result perturb=$seed right.ptx)" = 00000007 ] || fail "seed $seed: the right program"
	has err "GSan: 0 findings"
done
echo "$wrong of 30 seeds show it"
[ "$wrong" -ge 3 ] && [ "$wrong" -le 27 ] || fail "$wrong of 30 seeds show the race"

# Given at compile time, and overruled when it runs.
for seed in 1 2 3 4 5 6 7 8 9 10; do
	run 0 "$top_builddir/gsan-ptx" --perturb=$seed race.ptx -o made.ptx
	{ grep '^//@' race.ptx; cat made.ptx; } >with.ptx
	[ "$(result "" with.ptx)" = "$(result perturb=$seed race.ptx)" ] || fail "gsan-ptx --perturb=$seed"
	other=$((seed + 20))
	[ "$(result perturb=$other with.ptx)" = "$(result perturb=$other race.ptx)" ] || fail "perturb=$other of --perturb=$seed"
	GSAN_OPTIONS=perturb=$seed "$top_builddir/gsan-ptx" race.ptx | cmp -s - made.ptx || fail "gsan-ptx with perturb=$seed"
done
hasnt err "means nothing"
# What was not built for it is not held up, and that is said.
run 0 "$top_builddir/gsan-ptx" race.ptx -o made.ptx
{ grep '^//@' race.ptx; cat made.ptx; } >with.ptx
for seed in 1 2 3 4 5 6 7 8 9 10; do
	[ "$(result perturb=$seed with.ptx)" = 00000007 ] || fail "held up by seed $seed without --perturb"
	has err "GSan: perturb=$seed means nothing to kernels of race.ptx: they were built without gsan-ptx --perturb"
done
for bad in 0 -1 x 1x 2147483648 ''; do
	run 2 "$top_builddir/gsan-ptx" "--perturb=$bad" race.ptx -o made.ptx
	has err "--perturb: a number from 1 to 2147483647"
done
# ... and where nvcc or ptxas is told.
echo '__global__ void k(int *p) { p[threadIdx.x] = 1; __syncthreads(); p[0] = p[1]; }' >k.cu
run 0 "$top_builddir/gsan-nvcc" --gsan-perturb=77 -arch=sm_80 -ptx k.cu -o nvcc.ptx
has nvcc.ptx "__gsan_seed = 77"
run 0 env GSAN_OPTIONS=perturb=78 "$top_builddir/gsan-nvcc" -arch=sm_80 -ptx k.cu -o nvcc.ptx
has nvcc.ptx "__gsan_seed = 78"
"$NVCC" -arch=sm_80 -ptx k.cu -o k.ptx || hard "nvcc"
run 0 env GSAN_KEEP=1 TMPDIR="$tmp" "$top_builddir/gsan-ptxas" --gsan-perturb=79 -arch=sm_80 k.ptx -o k.cubin
grep -q "__gsan_seed = 79" gsan-ptx-*.ptx || fail "gsan-ptxas --gsan-perturb=79"
"$top_builddir/gsan-nvcc" --gsan-perturb=0 -arch=sm_80 -ptx k.cu -o nvcc.ptx 2>err && fail "gsan-nvcc --gsan-perturb=0"
has err "--perturb: a number from 1 to 2147483647"

# It is logged what is logged without: nothing of the naps, and the rest in its order.  A buffer lies at another multiple
# of 256 in each run.
records()
{
	GSAN_OPTIONS=$1 "$top_builddir/gsan-run" --device=emu --events=probes -v right.ptx 2>&1 |
		sed -n 's,@[0-9]*/[0-9]* ,,; s/g:0x[0-9a-f]*\([0-9a-f][0-9a-f]\)/g:\1/g; /^[0-9]*\.[0-9]*:0x/p'
}
records "" >want
records perturb=3 >got
[ -s want ] || hard "no records"
cmp -s want got || fail "it is not logged the same: $(diff want got)"
# All that synchronises, in right programs and in wrong ones; ptxas takes it, and does not hold products up.
for file in norace/60_wgmma_smem_fence norace/63_tcgen05_mma_ld norace/50_tma_loop_fence race/60_wgmma_smem_nofence \
	race/45_tma_ld_nowait; do
	file=$top_srcdir/testsuite/$file.ptx
	[ -f "$file" ] || hard "no $file"
	case $file in */race/*) want=66 ;; *) want=0 ;; esac
	arch=$(sed -n 's,^//@ device \(.*\),\1,p' "$file")
	for seed in 1 2 3; do
		run $want env GSAN_OPTIONS=perturb=$seed "$top_builddir/gsan-run" --device=emu --seed=$seed "$file"
	done
	run 0 "$top_builddir/gsan-ptx" --perturb=1 "$file" -o made.ptx
	grep -q nanosleep made.ptx || fail "$file: not held up"
	run 0 "$PTXAS" -arch="$arch" -v made.ptx -o made.cubin
	hasnt err "(C75"
done
done_testing
