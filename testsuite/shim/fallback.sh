# SPDX-License-Identifier: Apache-2.0
#
# Instrumented PTX that ptxas refuses: the kernels at fault, or else the file, are
# assembled as the program has them; stderr says so, the status is ptxas's.
. "$top_srcdir/testsuite/lib.sh"
takes_long

# A ptxas that refuses the instrumented kernels named in REFUSE, in the words of SAY:
# K is the kernel, L the line where it looks for its log.  -c: what it makes
# otherwise is not looked at, and takes it longer.  What it says of the program's own PTX,
# with an output that nobody wants, is no attempt.
cat >as <<'EOF'
#!/bin/sh
case "$*" in *" -o "*/gsan-ptx-*) echo "as: done" >&2; exec "$PTXAS" -c "$@" ;; esac
for word do
	case $word in *.ptx) in=$word ;; esac
done
cp "$in" seen
echo x >>runs
said=$(awk -v refuse=" $REFUSE " -v say="$SAY" '
	/\.entry/ { name = $0; sub(/.*\.entry */, "", name); sub(/[^A-Za-z0-9_].*/, "", name) }
	/__gsan_base, \[__gsan_launch\]/ && index(refuse, " " name " ") {
		gsub(/K/, name, say); gsub(/L/, NR, say); print say; exit }' "$in")
[ -z "$said" ] || { echo "as: a note"; printf '%s\n' "$said"; exit 255; } >&2
echo "as: done" >&2
exec "$PTXAS" -c "$@"
EOF
chmod +x as
export PTXAS
GSAN_PTXAS=$tmp/as
export GSAN_PTXAS

{
	printf '.version 7.0\n.target sm_75\n.address_size 64\n'
	for k in one two three; do
		printf '.visible .entry %s(.param .u64 p)\n{\n.reg .b64 %%a;\nld.param.u64 %%a, [p];\nst.global.u32 [%%a], 1;\nret;\n}\n' $k
	done
} >k.ptx
cp k.ptx k.orig

# watched KERNEL...: just these were instrumented in what ptxas saw last
watched()
{
	awk '/\.entry/ { name = $0; sub(/.*\.entry */, "", name); sub(/[^A-Za-z0-9_].*/, "", name) }
		/__gsan_base, \[__gsan_launch\]/ { print name }' "${file-seen}" >got
	printf '%s\n' "$@" | sed '/^$/d' | cmp -s - got || fail "instrumented: $(tr '\n' ' ' <got)"
}

# tried N: ptxas ran so often since the last call
tried()
{
	n=$(wc -l <runs)
	[ "$n" = "$1" ] || fail "ptxas ran $n times, not $1"
	rm -f runs
}

g=$top_builddir/gsan-ptxas
mkdir tmpdir
TMPDIR=$tmp/tmpdir
export TMPDIR
as()
{
	rm -f k.cubin
	run 0 env REFUSE="$1" SAY="$2" "$g" -arch=sm_75 k.ptx -o k.cubin
	[ -s k.cubin ] || fail "no cubin"
	cmp -s k.ptx k.orig || fail "the program's file was changed"
	[ -z "$(ls tmpdir)" ] || fail "left $(ls tmpdir)"
}

as "" ""
watched one two three
tried 1
[ "$(cat err)" = "as: done" ] || fail "said: $(cat err)"

# by name, by line, one after the other
as two "as fatal   : Entry function 'K' is no good"
watched one three
tried 2
has err "gsan-ptx: k.ptx: kernel two is not instrumented: as fatal   : Entry function 'two' is no good"
hasnt err "a note"
has err "as: done"
as "three two" "as x.ptx, line L; error   : no good: L"
watched one
tried 3
grep -q "^gsan-ptx: k.ptx: kernel two is not instrumented: as x.ptx, line [0-9]*; error" err || fail "lacks two: $(cat err)"
grep -q "^gsan-ptx: k.ptx: kernel three is not instrumented: as x.ptx, line [0-9]*; error" err || fail "lacks three: $(cat err)"

# nobody in particular, or everybody
as two "as fatal   : no good"
cmp -s seen k.orig || fail "not the program's own PTX"
tried 2
has err "gsan-ptx: k.ptx: not instrumented: as fatal   : no good"
hasnt err kernel
as "one two three" "as fatal   : 'K' is no good"
cmp -s seen k.orig || fail "not the program's own PTX"
has err "gsan-ptx: k.ptx: not instrumented: as fatal   : 'one' is no good"
hasnt err kernel
rm -f runs

# Where functions are called, which log for their callers, no kernel can be left alone.
{
	sed -n '1,3p' k.orig
	printf '.visible .func f(.param .b64 q)\n{\n.reg .b64 %%a;\nld.param.b64 %%a, [q];\nst.u32 [%%a], 1;\nret;\n}\n'
	sed '1,3d' k.orig
} >k.ptx
cp k.orig k.was
cp k.ptx k.orig
as two "as fatal   : Entry function 'K' is no good"
cmp -s seen k.orig || fail "not the program's own PTX, where functions are called"
has err "gsan-ptx: k.ptx: not instrumented: as fatal   : Entry function 'two' is no good"
cp k.was k.orig
cp k.was k.ptx
rm -f runs

# A function is given up, nobody says which: without optimisation it is taken, whatever words ask for some; strict or not.
cat >lazy <<'EOF'
#!/bin/sh
echo "$*" >>words
case " $* " in *" -O0 "*|*" --opt-level 0 "*) [ -n "$NEVER" ] || exec "$PTXAS" -c "$@" ;; esac
! grep -q __gsan_v3 "$2" || { echo "as fatal   : (C7600) Register allocation failed with register count of '7'" >&2; exit 255; }
exec "$PTXAS" -c "$@"
EOF
chmod +x lazy
for level in "" -O3 -O=3 --opt-level=2 "--opt-level 2"; do
	for strict in 0 1; do
		rm -f k.cubin words
		run 0 env GSAN_NVCC_STRICT=$strict GSAN_PTXAS="$tmp/lazy" "$g" -arch=sm_75 k.ptx -o k.cubin $level
		strings -a k.cubin | grep -q __gsan || fail "$level: not instrumented"
		has err "gsan-ptx: k.ptx: assembled without optimisation (-O0), which is slow: as fatal   : (C7600)"
		hasnt err "redefinition"
		[ "$(wc -l <words)" = 2 ] || fail "$level: not two attempts: $(cat words)"
	done
done
# That does not help either.
run 0 env NEVER=1 GSAN_PTXAS="$tmp/lazy" "$g" -arch=sm_75 k.ptx -o k.cubin
has err "gsan-ptx: k.ptx: not instrumented: as fatal   : (C7600)"
has err "gsan-ptx: what may help: a higher -maxrregcount, or parts of the kernel in functions of their own (__noinline__)"
hasnt err "without optimisation"
run 255 env NEVER=1 GSAN_NVCC_STRICT=1 GSAN_PTXAS="$tmp/lazy" "$g" -arch=sm_75 k.ptx -o k.cubin
tail -n 1 words | grep -q -e -O0 || fail "not tried: $(cat words)"

# strict: the words and the status of the refusal
run 255 env GSAN_NVCC_STRICT=1 REFUSE=two SAY="as fatal   : 'K'" "$g" -arch=sm_75 k.ptx -o k.cubin
has err "as fatal   : 'two'"
tried 1

# The program's own mistakes are ptxas's business, to the letter.
sed 's/^ret;/add.f32 %a, %a, %a; ret;/' k.orig >bad.ptx
"$PTXAS" -arch=sm_75 bad.ptx -o bad.cubin >want 2>&1
status=$?
[ $status != 0 ] || hard "ptxas takes bad.ptx"
run $status env GSAN_PTXAS="$PTXAS" "$g" -arch=sm_75 bad.ptx -o bad.cubin
cat out err | cmp -s want - || fail "a mistake does not read as ptxas's: $(cat err)"

# What cicc wrote is put back where it lies, for nvcc embeds it.
cat >cicc <<'EOF'
#!/bin/sh
cp k.orig "$2"
EOF
chmod +x cicc
w=$top_builddir/gsan-ptx
phases()
{
	: >originals
	(
		GSAN_ORIGINALS=9
		export GSAN_ORIGINALS
		exec 9<>originals
		"$w" --wrap ./cicc -o w.ptx && file=w.ptx watched one two three
		"$w" --wrap ./cicc -o w.ptx
		REFUSE=$1 SAY=$2 "$w" --wrap ./as -arch=sm_75 w.ptx -o w.cubin
	) >out 2>err || fail "status $?"
}
phases two "as fatal   : 'K'"
watched one three
cmp -s seen w.ptx || fail "the PTX does not agree with the machine code"
has err "kernel two is not instrumented"
phases two "as fatal   : all of it"
cmp -s k.orig w.ptx || fail "the PTX was not put back"
has err "gsan-ptx: w.ptx: not instrumented: as fatal   : all of it"
# Nobody kept it: nothing can be done.
"$w" --wrap ./cicc -o w.ptx
run 255 env REFUSE=two SAY="as fatal   : 'K'" "$w" --wrap ./as -arch=sm_75 w.ptx -o w.cubin
has err "as fatal   : 'two'"

# Kernels are assembled side by side, as many at a time as there are processors, if ptxas can and
# nobody says how many.
cat >old <<'EOF'
#!/bin/sh
echo "$*" >>words
case " $* $SPLITS" in
*" --split-compile=0 killed") kill -9 $$ ;;
*" always") ! grep -q __gsan_v3 "$2" || kill -9 $$ ;;
*" --split-compile=0 ") echo "ptxas fatal   : Unknown option '--split-compile'" >&2; exit 1 ;;
esac
exec "$PTXAS" -c "$@"
EOF
chmod +x old
rm -f words
GSAN_PTXAS=$tmp/old
SPLITS=yes run 0 "$g" -arch=sm_75 k.ptx -o k.cubin
[ "$(grep -c -e '--split-compile=0$' words)" = 1 ] || fail "not side by side: $(cat words)"
for why in "" killed; do
	rm words
	SPLITS=$why run 0 "$g" -arch=sm_75 k.ptx -o k.cubin
	hasnt err "split-compile"
	hasnt err "not instrumented"
	[ "$(grep -c -e --split-compile words)" = 1 ] && [ "$(wc -l <words)" = 2 ] || fail "ptxas that is ${why:-old}: $(cat words)"
done
# Nothing helps.
SPLITS=always run 0 "$g" -arch=sm_75 k.ptx -o k.cubin
has err "k.ptx: not instrumented: ptxas was ended by signal 9 (Killed), as it is where memory is short"
has err "gsan-ptx: what may help: kernels in several files, or fewer compilations at a time"
for word in -split-compile=1 '--split-compile 1'; do
	rm words
	SPLITS=yes run 0 "$g" -arch=sm_75 $word k.ptx -o k.cubin
	[ "$(grep -c -e split-compile words)" = 1 ] && ! grep -q -e =0 words || fail "$word: $(cat words)"
done

# nvcc as it is: a warning that only instrumented code gives, made an error.
cat >s.cu <<'EOF'
__global__ void k(int *p)
{
	int v[12], i, r;

	for (i = 0; i < 12; i++)
		v[i] = p[threadIdx.x + 64 * i];
	__threadfence();
	r = atomicAdd(p, 1);
	__syncthreads();
	for (i = 0; i < 12; i++)
		p[threadIdx.x * 16 + i] = v[i] + r;
}
EOF
unset GSAN_PTXAS
as="-rdc=true -maxrregcount=24 -Xptxas -Werror -Xptxas -warn-spills"
"$NVCC" -arch=sm_90 $as -cubin s.cu -o s.cubin || skip "this ptxas warns about plain code"
"$top_builddir/gsan-nvcc" --gsan-verbose -arch=sm_90 -rdc=true -maxrregcount=24 -Xptxas -warn-spills -cubin s.cu -o s.cubin 2>err || hard "gsan-nvcc"
grep -qi spill err || skip "probes spill nothing"
mkdir kept
run 0 "$top_builddir/gsan-nvcc" --gsan-keep=kept -gencode arch=compute_90,code=[sm_90,compute_90] \
	-gencode arch=compute_80,code=sm_80 -t 2 $as -c s.cu -o s.o
has err "s.compute_90.ptx: not instrumented: ptxas error"
has err "gsan-ptx: what may help: no -Werror for ptxas"
grep -l __gsan kept/*.ptx >got && fail "instrumented all the same: $(cat got)"
run 255 env GSAN_NVCC_STRICT=1 "$top_builddir/gsan-nvcc" -arch=sm_90 $as -c s.cu -o s.o
done_testing
