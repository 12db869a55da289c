# SPDX-License-Identifier: Apache-2.0
#
# Where the documentation leaves room (rt/choices.def): help=1 lists each choice with its
# values; the oracle takes every value; and for each that is no default there are a
# reproducer whose verdict it changes and one whose verdict it leaves alone, which ptx.sh
# holds for gsan and the oracle alike, or cases.sh for the oracle.
. "$top_srcdir/testsuite/lib.sh"
gsan_run="$top_builddir/gsan-run --device=emu"
sed -nE 's/^CHOICE\(([a-z_]+), "([^"]*)".*/\1 \2/p' "$top_srcdir/rt/choices.def" >choices
[ "$(wc -l <choices)" -ge 8 ] || hard "choices.def cannot be read"
cat >k.ptx <<'E2'
//@ device sm_75
//@ launch k grid=1 block=32 args=
//@ expect clean
.version 7.0
.target sm_75
.address_size 64
.visible .entry k() { ret; }
E2
run 0 env GSAN_OPTIONS=help=1 $gsan_run k.ptx
cp err help
# The first default, and the verdict under `$1`, of each reproducer that names it: same or other.
verdicts()
{
	(cd "$top_srcdir/testsuite" && grep -lF "expect-with $1 :" race/*.ptx norace/*.ptx cases/*.ptx) |
	while read -r file; do
		file=$top_srcdir/testsuite/$file
		plain=$(sed -n 's,^//@ expect ,,p' "$file")
		with=$(sed -n "s,^//@ expect-with $1 : ,,p" "$file")
		[ "$plain" = "$with" ] && echo same || echo other
	done
}
while read -r name values; do
	has help "$name"
	has help "of $values)"
	for value in $values; do
		run 0 env GSAN_OPTIONS="$name=$value" $gsan_run --oracle=only k.ptx
		[ "$value" = "${values%% *}" ] && continue
		verdicts "$name=$value" >got
		grep -q other got || fail "no reproducer whose verdict $name=$value changes"
		grep -q same got || fail "no reproducer whose verdict $name=$value leaves alone"
	done
	run 2 env GSAN_OPTIONS="$name=nonsense" $gsan_run k.ptx
done <choices
# The oracle hears of what it knows, whatever else is said.
late=$top_srcdir/testsuite/race/50_tma_war_fence_late.ptx
run 0 env GSAN_OPTIONS=demangle=1:proxy_war=off:quiet=0 $gsan_run --oracle "$late" && has err "no race"
# stored FILE: with.ptx, whose kernels tell what they store
stored()
{
	run 0 "$top_builddir/gsan-ptx" --stored "$1" -o made.ptx
	{ grep '^//@' "$1"; cat made.ptx; } >with.ptx
}
# What is left out is said, and what is not is marked.
stores=$top_srcdir/testsuite/race/same_value_stores.ptx
stored "$stores"
run 66 $gsan_run with.ptx
has err "  Note: same value: "
hasnt err "left out"
hasnt err "values are not compared"
run 0 env GSAN_OPTIONS=same_value=ignore $gsan_run with.ptx
has err "unordered writes of one value left out"
hasnt err "means nothing"
# gsan-run has kernels tell what they store if that is asked for.
run 0 env GSAN_OPTIONS="quiet=0 same_value='ignore'" $gsan_run "$stores"
has err "unordered writes of one value left out"
# Kernels that do not tell: every pair is reported, and it is said why.
run 0 "$top_builddir/gsan-ptx" "$stores" -o made.ptx
{ grep '^//@' "$stores"; cat made.ptx; } >without.ptx
run 66 $gsan_run without.ptx
has err "values are not compared"
hasnt err "means nothing"
run 66 env GSAN_OPTIONS=same_value=ignore $gsan_run without.ptx
has err "GSan: same_value=ignore means nothing to k: it was built without gsan-ptx --stored"
hasnt err "left out"
# GSAN_OPTIONS says the same to gsan-ptx.
"$top_builddir/gsan-ptx" --stored "$stores" >want
for options in same_value=ignore 'quiet=1,same_value="ignore":color=never'; do
	GSAN_OPTIONS=$options "$top_builddir/gsan-ptx" "$stores" | cmp -s - want || fail "gsan-ptx with $options: not as --stored"
done
for options in same_value=report same_value=ignored no_same_value=ignore log_path=same_value=ignore; do
	GSAN_OPTIONS=$options "$top_builddir/gsan-ptx" "$stores" | cmp -s - made.ptx || fail "gsan-ptx with $options: as --stored"
done
# ... and so does an option to nvcc.
echo '__global__ void k(int *p) { p[0] = 1; }' >k.cu
run 0 "$top_builddir/gsan-nvcc" -arch=sm_80 -ptx k.cu -o k.ptx
cp k.ptx without.ptx
run 0 "$top_builddir/gsan-nvcc" --gsan-stored -arch=sm_80 -ptx k.cu -o k.ptx
cp k.ptx with.ptx
run 0 env GSAN_OPTIONS=same_value=ignore "$top_builddir/gsan-nvcc" -arch=sm_80 -ptx k.cu -o k.ptx
cmp -s with.ptx without.ptx && fail "gsan-nvcc --gsan-stored changes nothing"
cmp -s with.ptx k.ptx || fail "gsan-nvcc with same_value=ignore: not as --gsan-stored"
# Where other values meet at the same lines later, that is told as well, and not left out.
cat >twice.ptx <<'E2'
//@ device sm_75
//@ launch k grid=1 block=32 args=
//@ expect data-race
.version 7.0
.target sm_75
.address_size 64
.visible .entry k()
{
	.reg .pred %p;
	.reg .b32 %t, %v, %i;
	.shared .align 4 .b32 room;

	mov.u32 %t, %tid.x;
	mov.u32 %v, 7;
	mov.u32 %i, 0;
AGAIN:
	st.shared.u32 [room], %v;
	bar.sync 0;
	mov.u32 %v, %t;
	add.u32 %i, %i, 1;
	setp.lt.u32 %p, %i, 2;
	@%p bra AGAIN;
	ret;
}
E2
stored twice.ptx
run 66 $gsan_run with.ptx
[ "$(grep -c "^WARNING: GSan: data race" err)" = 2 ] || fail "not both pairs are told"
[ "$(grep -c "Note: same value" err)" = 1 ] || fail "not the first alone is of one value"
run 66 env GSAN_OPTIONS=same_value=ignore $gsan_run with.ptx
[ "$(grep -c "^WARNING: GSan: data race" err)" = 1 ] || fail "the second alone is to be told"
hasnt err "Note:"
done_testing
