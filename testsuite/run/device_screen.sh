# SPDX-License-Identifier: Apache-2.0
#
# GSAN_OPTIONS=device_screen: launches in which there is nothing to find are clear on the device as they are on the host, and
# their logs are not read; what is racy is found as without it.  DEVICE=gpu: on a GPU.
. "$top_srcdir/testsuite/lib.sh"
takes_long
: "${DEVICE:=emu}"
code=compute_90a
[ "$DEVICE" = emu ] || code=sm_90a
hardware=
[ "$DEVICE" = emu ] || hardware=-DHARDWARE

build()
{
	"$top_builddir/gsan-nvcc" -std=c++17 -O3 -lineinfo -gencode arch=compute_90a,code=$code $hardware "$@" -o program >log 2>&1 ||
		{ cat log; hard "gsan-nvcc"; }
}

# both STATUS CLEAR [WORD]...: with either value, so many launches are clear by the device
both()
{
	status=$1 number=$2
	shift 2
	for value in 3 2; do
		run "$status" env GSAN_OPTIONS="device_screen=$value:verbosity=2" timeout 120 "$top_builddir/gsan-run" --device="$DEVICE" -- \
			./program "$@"
		hasnt err "a fault in gsan"
		clear=$(grep -c "is clear, by the device" err)
		[ "$clear" = "$number" ] ||
			fail "device_screen=$value: $clear launches are clear by the device, not $number: $* $(tail -n 3 err)"
	done
}

# Barriers; lines of global memory; copies, products and mbarriers, of which a block's twin is known at the second launch.
build "$top_srcdir/testsuite/programs/histogram.cu"
both 0 1
build "$top_srcdir/testsuite/programs/race_tile.cu"
both 66 0
has err "WARNING: GSan: shared bounds"
build -DTILE_N=64 -DRING=3 "$top_srcdir/testsuite/kernels/gemm.cu"
both 0 3
build -DTILE_N=64 -DRING=3 -DMUTATE=1 "$top_srcdir/testsuite/kernels/gemm.cu"
both 66 2
has err "WARNING: GSan: "

# cp.async, of which some may be pending at a barrier; a group more; a stage less, in each of a few blocks.
build "$top_srcdir/testsuite/programs/ring.cu"
both 0 1
for wrong in AHEAD=3 STAGES=3; do
	build -D$wrong -DBLOCKS=8 "$top_srcdir/testsuite/programs/ring.cu"
	both 66 0
	has err "WARNING: GSan: async"
done

# Lanes that come one by one to a barrier; small parts of shared memory beside large ones.
for k in elementwise attention; do
	build "$top_srcdir/testsuite/kernels/$k.cu"
	both 0 3
	build -DMUTATE=1 "$top_srcdir/testsuite/kernels/$k.cu"
	both 66 2
	has err "WARNING: GSan: proxy"
done

# More pages than there is room for at first, together with those of launches before, and by themselves.
cat >small.cu <<'END'
#include <cuda_runtime.h>
__global__ void far(char *p, int pages, int racy)
{
	for (int i = threadIdx.x; i < pages; i += blockDim.x)
		p[(size_t)i << 21] = 1;
	if (racy)
		p[0] = (char)threadIdx.x;
}
static void all_far(bool racy)
{
	char *p;

	cudaMalloc(&p, (size_t)300 << 21);
	far<<<1, 64>>>(p, 40, 0);
	far<<<1, 64>>>(p + ((size_t)40 << 21), 40, 0);
	far<<<1, 64>>>(p, 150, 0);
	far<<<1, 64>>>(p + ((size_t)150 << 21), 150, 0);
	if (racy)
		far<<<1, 64>>>(p, 150, 1);
}
END
# Blocks whose warps have rows, which meet at barriers; and what threads do of their own within lines of global memory.
cat >>small.cu <<'END'
template <int X, int Y>
__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[Y][X], tb[X][X];
	int x = blockIdx.x * X + threadIdx.x, y = blockIdx.y * Y + threadIdx.y;
	float sum = 0;

	for (int k = 0; k < n; k += X) {
		ta[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
		for (int i = threadIdx.y; i < X; i += Y)
			tb[i][threadIdx.x] = b[(k + i) * n + x];
		__syncthreads();
		for (int i = 0; i < X; i++)
			sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
		__syncthreads();
	}
	c[y * n + x] = sum;
}
/* Who has nothing to do leaves: rows, where there is no barrier behind that. */
__global__ void leave(int *p, int rows)
{
	__shared__ int tile[16][16];

	tile[threadIdx.y][threadIdx.x] = threadIdx.x;
	__syncthreads();
	if (threadIdx.y < rows)
		p[threadIdx.y * 16 + threadIdx.x] = tile[15 - threadIdx.y][threadIdx.x];
}
template <class T>
__global__ void own(T *p, int step, int again)
{
	int i = (blockIdx.x * blockDim.x + threadIdx.x) * step;

	for (int k = 0; k < again; k++)
		p[i] = p[i] + 1;
}
__global__ void sums(int *p)
{
	atomicAdd(&p[threadIdx.x % 4], 1);
	p[32 * blockIdx.x + 4 + threadIdx.x % 28] = 1;
}
/* Rows, or warps, that read each other's elements. */
__global__ void meet(int *p, int other)
{
	__shared__ int tile[16][16];

	tile[threadIdx.y][threadIdx.x] = threadIdx.x;
	if (other & 32)
		__syncthreads();
	p[(blockIdx.x * 16 + threadIdx.y) * 16 + threadIdx.x] = tile[threadIdx.y ^ (other & 15)][threadIdx.x];
	if (other & 16)
		__syncthreads();
	tile[threadIdx.y][threadIdx.x] = 0;
}
/* A row is a barrier behind the others of its warp: hardware may wait for ever. */
__global__ void behind(int *p)
{
	__shared__ int tile[16][16];

	if (threadIdx.y & 1)
		__syncthreads();
	else
		__syncthreads();
	tile[threadIdx.y][threadIdx.x] = threadIdx.x;
	__syncthreads();
	p[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.y ^ 1][threadIdx.x];
}
__global__ void beside(int *p)
{
	p[threadIdx.x] = threadIdx.x;
	p[64 + threadIdx.x] = p[threadIdx.x ^ 1];
}
__global__ void across(char *p)
{
	p[blockIdx.x * 31 + threadIdx.x] = (char)blockIdx.x;
}
__global__ void twice(int *p)
{
	p[threadIdx.x / 2] = 1;
	atomicAdd(&p[32], 1);
	if (threadIdx.x == 3)
		p[32] = 0;
}
static void all_rows(bool racy)
{
	const int n = 64;
	float *f;
	int *p;

	cudaMalloc(&f, 3 * n * n * sizeof *f);
	cudaMemset(f, 0, 3 * n * n * sizeof *f);
	p = (int *)f;
	if (!racy) {
		matmul<16, 16><<<dim3(4, 4), dim3(16, 16)>>>(f, f + n * n, f + 2 * n * n, n);
		matmul<8, 8><<<dim3(8, 8), dim3(8, 8)>>>(f, f + n * n, f + 2 * n * n, n);
		matmul<16, 4><<<dim3(4, 16), dim3(16, 4)>>>(f, f + n * n, f + 2 * n * n, n);
		leave<<<1, dim3(16, 16)>>>(p, 5);
		own<<<3, 40>>>(p, 1, 3);
		own<<<3, 40>>>(p, 3, 1);
		own<<<3, 40>>>((char *)p, 1, 2);
		own<<<3, 40>>>((double *)p, 1, 2);
		sums<<<3, 28>>>(p);
		return;
	}
	meet<<<3, dim3(16, 16)>>>(p, 16 + 1);
	meet<<<3, dim3(16, 16)>>>(p, 32 + 2);
#ifndef HARDWARE
	behind<<<1, dim3(16, 16)>>>(p);
#endif
	beside<<<1, 32>>>(p);
	across<<<2, 32>>>((char *)p);
	twice<<<1, 32>>>(p);
}
END
# The second look has room for few pages at first; what it has seen of launches before is forgotten.
cat >>small.cu <<'END'
__global__ void again(int *p, int pages, int racy)
{
	for (int k = 0; k < 2; k++)
		for (int i = threadIdx.x; i < pages; i += blockDim.x)
			p[(size_t)i << 19] += 1 + k;
	if (racy)
		p[(size_t)(threadIdx.x / 2) << 19] = 0;
}
static void all_again(bool racy)
{
	int *p;

	cudaMalloc(&p, (size_t)40 << 21);
	again<<<1, 4>>>(p, 4, 0);
	again<<<1, 8>>>(p, 20, 0);
	again<<<1, 5>>>(p, 20, 0);
	if (racy)
		again<<<1, 8>>>(p, 20, 1);
}
int main(int argc, char **argv)
{
	(argv[1][0] == 'f' ? all_far : argv[1][0] == 'r' ? all_rows : all_again)(argc > 2);
	return cudaDeviceSynchronize();
}
END
build small.cu
both 0 4 far
both 66 4 far racy
has err "WARNING: GSan: data race"
both 0 9 rows
both 66 0 rows racy
both 0 3 again
both 66 3 again racy
# reports VALUE: what is found, but for where the memory lies, which access of two blocks came first, and who of many misuses a barrier
reports()
{
	run 66 env GSAN_OPTIONS="device_screen=$1" timeout 120 "$top_builddir/gsan-run" --device="$DEVICE" -- ./program rows racy
	sed 's/(pid=.*//; s/0x[0-9a-f]*\([0-9a-f]\{4\}\)/0x\1/; s/Previous \([rw]\)/\1/; s/^  R/  r/; s/^  W/  w/; s/^  bar.sync by thread.*/  bar.sync/' err | sort >"found$1"
}
reports 0
reports 2
[ "$DEVICE" != emu ] || cmp -s found0 found2 || fail "device_screen=2: other reports: $(diff found0 found2)"
for kernel in meet behind beside across twice; do
	[ "$kernel$hardware" != behind-DHARDWARE ] || continue
	grep -q "$kernel" found2 || fail "nothing is found in $kernel"
done
done_testing
