# SPDX-License-Identifier: Apache-2.0
#
# What compilers say is about the program: figures of its own functions, and what ptxas says
# of its own PTX.  The rest is there for who asks.
. "$top_srcdir/testsuite/lib.sh"
takes_long
g=$top_builddir/gsan-nvcc
mkdir tmpdir
TMPDIR=$tmp/tmpdir
export TMPDIR

cat >k.cu <<'EOF'
__device__ __noinline__ int sum(int n, int *p) { return n <= 0 ? p[0] : sum(n - 1, p) + sum(n - 2, p) * p[n]; }
__global__ void one(int *p) { p[0] = sum(p[1], p); }
__global__ void two(int *p, int n) { __shared__ int s[64]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[n] = s[n] + sum(n, p); }
EOF
# names FILE: the functions that it speaks of
names()
{
	sed -n "s/.*Compiling entry function '\([^']*\)'.*/entry \1/p; s/.*Function properties for \([^ ]*\).*/\1/p; s/.*spilled to local memory in function '\([^']*\)'.*/spills \1/p" "$1" |
		sed 's/\$[0-9]*$//' | sort -u
}
note="gsan-ptx: the figures of kernels and functions include their instrumentation"
for options in '-arch=sm_80 -Xptxas -v' '-arch=sm_80 -res-usage' '-arch=sm_80 -rdc=true -Xptxas -v' \
	'-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 -Xptxas=-v'; do
	"$NVCC" $options -c k.cu -o plain.o >plain 2>&1 || hard "nvcc $options"
	run 0 "$g" $options -c k.cu -o k.o
	cat out err >said
	names plain >want
	names said >got
	[ -s want ] || hard "nvcc $options has no figures"
	cmp -s want got || fail "$options: $(diff want got)"
	hasnt said __gsan_
	hasnt said Overriding
	[ "$(grep -c "^$note\$" said)" = 1 ] || fail "$options: the note is there $(grep -c "^$note\$" said) times"
	run 0 "$g" --gsan-verbose $options -c k.cu -o k.o
	has err __gsan_v3_init_
	hasnt err "$note"
done
run 0 "$g" -arch=sm_80 -Xptxas --warn-on-spills -c k.cu -o k.o
names err >got
grep -q '^spills ' got || fail "no spills: $(cat err)"
grep -v -e '^spills _Z3onePi$' -e '^spills _Z3twoPii$' -e '^spills _Z3sumiPi$' got && fail "spills of others"
[ "$(grep -c "^$note\$" err)" = 1 ] || fail "no note"
run 0 "$g" -arch=sm_80 -c k.cu -o k.o
[ -s err ] && fail "-c says something: $(cat err)"

# A ptxas that has something to say of all PTX, and something of instrumented PTX alone.
cat >as <<'EOF'
#!/bin/sh
in= out= prev= what=plain
for word do
	case $word in *.ptx) in=$word ;; esac
	case $word in -o=*) out=${word#-o=} ;; esac
	[ "$prev" = -o ] && out=$word
	prev=$word
done
grep -q __gsan_v3_init_ "$in" && what=instrumented
echo $what >"$out"
echo "ptxas $in, line $(wc -l <"$in"); warning : of all of it, line $(wc -l <"$in")" >&2
echo "ptxas info    : (C1) $what is slow in function 'one'" >&2
[ $what = plain ] || echo "ptxas info    : (C2) all of __gsan_v3_init_ is called" >&2
EOF
chmod +x as
"$NVCC" -arch=sm_80 -ptx k.cu -o k.ptx || hard "-ptx"
GSAN_PTXAS=$tmp/as
export GSAN_PTXAS
for form in '-o k.cubin' -o=k.cubin; do
	rm -f k.cubin
	run 0 "$top_builddir/gsan-ptxas" k.ptx $form
	[ "$(cat k.cubin)" = instrumented ] || fail "$form: the output is $(cat k.cubin)"
	has err "warning : of all of it"
	hasnt err "(C1)"
	hasnt err "(C2)"
	hasnt err "$note"
	run 0 "$top_builddir/gsan-ptxas" --gsan-verbose k.ptx $form
	has err "(C1) instrumented is slow"
	has err "(C2)"
done
# What the program's PTX was is not known.
run 0 "$top_builddir/gsan-ptx" k.ptx -o marked.ptx
run 0 "$top_builddir/gsan-ptxas" marked.ptx -o k.cubin
has err "(C1) instrumented is slow"
hasnt err "(C2)"
[ -z "$(ls tmpdir)" ] || fail "left $(ls tmpdir)"
unset GSAN_PTXAS

# Link-time optimisation: a word for a build, not for every object.
for n in 1 2; do
	run 0 "$g" -arch=sm_80 -dlto -c k.cu -o lto$n.o
	[ -s err ] && fail "-dlto -c says $(cat err)"
done
echo 'int main() { return 0; }' >main.cu
run 0 "$g" -arch=sm_80 -dlto lto1.o main.cu -o lto
[ "$(grep -c "link-time optimisation is left out" err)" = 1 ] || fail "-dlto: $(cat err)"

# -v: what nvcc says once is said once.
for options in '-v -c' '-v -Xptxas -v -c' '-v -rdc=true -c' '-v -dlto -c' '-dryrun -c'; do
	"$NVCC" -arch=sm_80 $options k.cu -o v.o 2>&1 | sort | uniq -d >want
	"$g" -arch=sm_80 $options k.cu -o v.o 2>&1 | sort | uniq -d >got
	grep -vxFf want got >more && fail "$options: twice: $(head -n 5 more)"
done
done_testing
