# SPDX-License-Identifier: Apache-2.0
#
# What asks for the bits of a word (probe/bits.c): ptxas takes norace/vote_bits.ptx with probes in each form that it makes
# one instruction of, for targets where that leaves votes without a predicate, and what lanes find out stays as it is.
. "$top_srcdir/testsuite/lib.sh"
repro=$top_srcdir/testsuite/norace/vote_bits.ptx

# form NAME ASKED AND SETP [SED]: `and` and `setp` of bit N as these say; asked: how they are put with probes
form()
{
	file=$1.ptx
	sed -E "s/and\.b32 %bit, %key, ([0-9]+);/$3/;s/setp\.ne\.u32 %p, %bit, 0;/$4/;s/\.reg \.pred .*/&\n	.reg .b64 %wide;\n	.reg .b16 %half;\n	.reg .b32 %mask;/;$5" \
		"$repro" >"$file"
	run 0 "$PTXAS" -arch=sm_90 "$file" -o k.cubin
	for inline in 0 1000; do
		run 0 "$top_builddir/gsan-ptx" --inline=$inline "$file" -o k.ptx
		[ "$(grep -c "setp$2.* %p, %.*, 0;" k.ptx)" = 7 ] || fail "$1: not seven of setp$2"
		for arch in sm_90 sm_100; do
			"$PTXAS" -arch=$arch k.ptx -o k.cubin >log 2>&1 || fail "$1, --inline=$inline: ptxas for $arch: $(head -n 1 log)"
		done
	done
	run 0 "$top_builddir/gsan-run" --check --oracle --device=emu "$file"
	check_contents 0
}

and='and.b32 %bit, %key, \1;'
form plain .gt.u32 "$and" 'setp.ne.u32 %p, %bit, 0;'
form signed .gt.u32 "$and" 'setp.ne.s32 %p, %bit, 0;'
form bits .gt.u32 "$and" 'setp.ne.b32 %p, %bit, 0;'
form not .le.u32 "$and" 'setp.eq.s32 %p, %bit, 0;' 's/ballot.b32 %lanes, %p/ballot.b32 %lanes, !%p/;s/@!%p not/@%p not/'
form wide .gt.u64 'cvt.u64.u32 %wide, %key; and.b64 %wide, %wide, \1;' 'setp.ne.s64 %p, %wide, 0;'
form half .gt.u16 'cvt.u16.u32 %half, %key; and.b16 %half, %half, \1;' 'setp.ne.s16 %p, %half, 0;'
form widened .gt.u32 'cvt.u16.u32 %half, %key; and.b16 %half, %half, \1; cvt.u32.u16 %bit, %half;' 'setp.ne.s32 %p, %bit, 0;'
form register .gt.u32 'mov.u32 %mask, \1; and.b32 %bit, %key, %mask;' 'setp.ne.s32 %p, %bit, 0;'

# Where it is not put otherwise ptxas gives the kernel up, and takes it without optimisation: gsan-ptxas has it do that.
run 0 "$top_builddir/gsan-ptx" "$repro" -o kept.ptx
sed -i -E 's/setp\.gt\.u32( .*, 0;)/setp.ne.u32\1/' kept.ptx
if ! "$PTXAS" -arch=sm_90 kept.ptx -o k.cubin 2>log; then
	has log "Register allocation failed"
	rm -f k.cubin
	run 0 "$top_builddir/gsan-ptxas" -arch=sm_90 -O3 kept.ptx -o k.cubin
	[ -s k.cubin ] || fail "no machine code"
	has err "assembled without optimisation (-O0)"
fi

# What has another meaning, or is no bit of a word, stays.
for other in 'setp.ne.s32 %p, %key, 0;' 'setp.ne.s32 %p, %bit, 1;' 'setp.gt.s32 %p, %bit, 0;' 'setp.eq.f32 %p, %bit, 0;' 'setp.ne.and.u32 %p, %bit, 0, %few;'; do
	sed "s/setp\.ne\.u32 %p, %bit, 0;/$other/" "$repro" >other.ptx
	run 0 "$top_builddir/gsan-ptx" other.ptx -o k.ptx
	[ "$(grep -cF "$other" k.ptx)" = 7 ] || fail "$other is put in another way"
done
done_testing
