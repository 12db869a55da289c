# SPDX-License-Identifier: Apache-2.0
#
# Device code that is linked: kernels may still have 1,024 threads, and those with
# launch bounds may call what lies in other files.
. "$top_srcdir/testsuite/lib.sh"
takes_long
g=$top_builddir/gsan-nvcc

cat >f.cu <<'EOF'
__device__ int f(int *p) { p[1] = p[0]; __threadfence(); return atomicAdd(p, 1); }
__global__ void plain(int *p) { __threadfence(); atomicAdd(p, 1); }
EOF
cat >k.cu <<'EOF'
__device__ int f(int *p);
__global__ void __launch_bounds__(1024) bound(int *p) { p[threadIdx.x] = f(p); }
int main() { return 0; }
EOF

# registers MOST OPTION...: both kernels link, and use at most so many
registers()
{
	most=$1
	shift
	run 0 "$g" -arch=sm_90 -rdc=true -Xnvlink=-v "$@" f.cu k.cu -o prog || return
	cat out err | sed -n 's/.*used \([0-9]*\) registers.*/\1/p' >n
	[ "$(wc -l <n)" -ge 2 ] || hard "nvlink -v says nothing of registers"
	while read -r used; do
		[ "$used" -le "$most" ] || fail "$used registers, at most $most are there: $*"
	done <n
}
registers 64
registers 64 -maxrregcount=128
registers 64 -maxrregcount 0
registers 64 -Xptxas --maxrregcount=200
registers 40 -maxrregcount=40
run 0 "$g" -arch=sm_90 -rdc=true -c f.cu k.cu
[ -s err ] && fail "said: $(cat err)"
done_testing
