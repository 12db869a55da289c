# SPDX-License-Identifier: Apache-2.0
#
# A newcomer's first hour, on a machine without a GPU: a clone and try.sh, then a program with
# a bug of its own, which is found, mended and held so by a script for CI; and a report that is
# to be lived with.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS

# ---- the clone: what is committed is all that it takes (of a tarball, what is in it)
if [ -d "$top_srcdir/.git" ] && command -v git >/dev/null; then
	git clone -q "$top_srcdir" gsan 2>log || { cat log; hard "git clone"; }
	for file in README.md try.sh check.sh autogen.sh examples/reverse.cu examples/persistent_tma_nofence.ptx; do
		[ -f "gsan/$file" ] || fail "the clone has no $file"
	done
	# What was built is built: the hour goes by without the compiler.
	ln -s "$top_builddir" gsan/build
	cp "$top_srcdir/configure" gsan/
	(cd gsan && ./try.sh) >try.out 2>try.err || fail "try.sh: $(tail -n 5 try.out try.err)"
	cat try.out try.err >tried
	has tried 'WARNING: GSan: data race'
	has tried 'examples/reverse.cu:14'
	has tried 'WARNING: GSan: proxy race'
	# README shows the same: every line but for what differs from run to run.
	sed -n '/^    \$ build\/gsan-nvcc/,/^and then/s/^    //p' "$top_srcdir/README.md" |
		grep -vE '^(and then|=|$)|pid=|\.ptx:|#0|^SUMMARY|0x' >shown
	[ "$(wc -l <shown)" -ge 6 ] || fail "README shows no report"
	while read -r line; do
		has tried "$line"
	done <shown
fi

# ---- a program: each block sums up its part, the blocks' sums are added up; some block says
# who it is
cat >sum.cu <<'EOF'
#include <cstdio>

__global__ void say_who(int *last)
{
	*last = blockIdx.x;
}

__global__ void sum(const int *a, int *out)
{
	__shared__ int part[128];
	int t = threadIdx.x;

	part[t] = a[blockIdx.x * 128 + t];
	for (int d = 64; d; d /= 2) {
		BARRIER
		if (t < d)
			part[t] += part[t + d];
	}
	if (t == 0)
		atomicAdd(out, part[0]);
}

int main()
{
	static int h[512];
	int *a, *out, got[2];

	for (int i = 0; i < 512; i++)
		h[i] = 1;
	cudaMalloc(&a, sizeof h);
	cudaMalloc(&out, 2 * sizeof *out);
	cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
	cudaMemset(out, 0, 2 * sizeof *out);
	sum<<<4, 128>>>(a, out);
	say_who<<<4, 1>>>(out + 1);
	cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
	printf("%d\nlast %d\n", got[0], got[1]);
	return 0;
}
EOF
build()		# build FLAG...
{
	"$top_builddir/gsan-nvcc" -lineinfo -gencode arch=compute_90,code=compute_90 "$@" sum.cu -o sum >log 2>&1 ||
		hard "$(cat log)"
}
gsan_run="timeout 60 $top_builddir/gsan-run --device=emu"

# The bug: nobody waits for the others' steps.
build -DBARRIER=
run 66 $gsan_run -- ./sum
has err 'WARNING: GSan: data race'
has err 'sum.cu:17'
has err 'a __syncthreads() (bar.sync) between'

# Mended, another one is left: which block says who it was last nobody knows.
build '-DBARRIER=__syncthreads();'
run 66 $gsan_run -- ./sum
[ "$(head -n 1 out)" = 512 ] || fail "the sum is $(cat out)"
hasnt err 'sum.cu:17'
has err 'sum.cu:5'
[ "$(grep -c 'WARNING: GSan' err)" = 1 ] || fail "more is left: $(cat err)"

# That is meant so: its own suppression line, as the report gives it.
sed -n 's/^  Suppression: //p' err >known-races
[ "$(wc -l <known-races)" = 1 ] || fail "no suppression line"
run 0 env GSAN_OPTIONS=suppressions=known-races $gsan_run -- ./sum
hasnt err 'WARNING: GSan'
grep -q '^GSan: 0 findings' err || fail "no closing line: $(cat err)"

# Who was last is the seed's to decide, and the same for the same one.
run 0 env GSAN_OPTIONS=suppressions=known-races $gsan_run --seeds=1..8 -- ./sum && grep last out >by-seed
[ "$(sort -u by-seed | wc -l)" -gt 1 ] || fail "eight seeds, and one block was always last: $(cat by-seed)"
run 0 env GSAN_OPTIONS=suppressions=known-races $gsan_run --seed=5 -- ./sum
[ "$(grep last out)" = "$(sed -n 5p by-seed)" ] || fail "another block was last, with the same seed"

# ---- a script for CI: fails for a race, and where nothing was watched
cat >ci.sh <<'EOF'
set -e
export GSAN_OPTIONS=strict=1:suppressions=known-races
"$gsan/gsan-nvcc" -lineinfo -gencode arch=compute_90,code=compute_90 "$@" sum.cu -o sum
"$gsan/gsan-run" --device=emu --timeout=60 --seeds=1..3 -- ./sum
EOF
gsan=$top_builddir
export gsan
run 0 sh ci.sh '-DBARRIER=__syncthreads();'
[ "$(grep -c '^512$' out)" = 3 ] || fail "not three seeds: $(cat out)"
run 66 sh ci.sh -DBARRIER=
"$NVCC" -gencode arch=compute_90,code=compute_90 '-DBARRIER=__syncthreads();' sum.cu -o sum || hard "nvcc"
# It need not be built again; and where no kernel has the name that is asked for, nothing was watched.
run 0 env GSAN_OPTIONS=strict=1:suppressions=known-races $gsan_run -- ./sum
run 65 env GSAN_OPTIONS=strict=1 $gsan_run --kernel=another -- ./sum
has err 'nothing was watched'
done_testing
