# SPDX-License-Identifier: Apache-2.0
#
# calls.sh: calls by pointers, of a function by itself, of malloc, free, printf and assert (called.cu), as nvcc makes them, with
# and without -G; files that are linked; what is called and cannot be seen.
. "$top_srcdir/testsuite/lib.sh"
source=$top_srcdir/testsuite/stress/called.cu
arch=sm_90

# judge STATUS NVCC_OPTION...
judge()
{
	expected=$1
	shift
	"$NVCC" -arch=$arch -ptx "$@" "$source" -o body.ptx >nvcc.log 2>&1 || { cat nvcc.log; hard nvcc; }
	{ printf '//@ device %s\n//@ buf p 512 fill 0\n//@ launch k grid=2 block=64 args=p,u32:5\n' $arch; cat body.ptx; } >k.ptx
	timeout 60 "$top_builddir/gsan-run" --events=probes --device=emu --keep=kept.ptx -v k.ptx >out 2>log
	status=$?
	[ $status = "$expected" ] && ! grep -aq skipped log || { tail -n 3 log; fail "$*: status $status"; }
	! grep -aq ' opaque ' log || fail "$*: a call of what can be seen is opaque"
	"$PTXAS" -c -arch=$arch kept.ptx -o kept.cubin >ptxas.log 2>&1 || { cat ptxas.log; fail "$*: ptxas"; }
}
judge 0
judge 0 -G
judge 66 -DRACE
judge 66 -DRACE -G

# Two files that log into one table, each with sites of its own.
cat >one.cu <<'END'
extern __device__ int there(int *, int);
__global__ void k(int *p) { p[threadIdx.x] = there(p + 64, threadIdx.x); }
END
cat >two.cu <<'END'
__device__ __noinline__ int there(int *p, int n) { p[n] = n; __syncthreads(); return p[n ^ 1]; }
END
for unit in one two; do
	"$NVCC" -rdc=true -arch=$arch -ptx $unit.cu -o $unit.ptx >nvcc.log 2>&1 || hard "nvcc -rdc"
	"$top_builddir/probe/put" $unit.ptx $unit.put.ptx $unit.sites $unit >put.log &&
		"$PTXAS" -c -arch=$arch $unit.put.ptx -o $unit.cubin >ptxas.log 2>&1 || { cat put.log ptxas.log; fail "$unit"; }
done
! grep -E '^.@%__gsan_leader st.global.v4.b32 .*\{0x[0-9a-f]+[0-9a-f]{3},' one.put.ptx two.put.ptx ||
	fail "sites that are numbered from 0 on"
if command -v nvlink >/dev/null; then
	nvlink -arch=$arch one.cubin two.cubin -o both.cubin >link.log 2>&1 || { cat link.log; fail "nvlink"; }
	[ "$(readelf -sW both.cubin | grep -c '__gsan_lanes')" = 1 ] || fail "not one table of lanes"
	[ "$(readelf -sW both.cubin | grep -c '__gsan_first_')" = 2 ] || fail "not two numbers of first sites"
fi

# A function that nobody has put probes into may order whatever it likes: here it is CUDA's, by a pointer.
cat >unseen.ptx <<'END'
//@ device sm_90
//@ buf p 8 fill 0
//@ launch k grid=2 block=1 args=p
.version 8.0
.target sm_90
.address_size 64
.extern .func free (.param .b64 a);

.visible .entry k(.param .u64 p)
{
	.reg .b64 %p, %f;

	ld.param.u64 %p, [p];
	st.global.u32 [%p], 1;
	mov.u64 %f, free;
	{
	.param .b64 a;
	st.param.b64 [a], 0;
	kind: .callprototype _ (.param .b64 _);
	call %f, (a), kind;
	}
	ret;
}
END
timeout 60 "$top_builddir/gsan-run" --events=probes --device=emu -v unseen.ptx >out 2>log
status=$?
[ $status = 0 ] && [ "$(grep -ac ' opaque ' log)" = 2 ] || { tail -n 3 log; fail "status $status of a call that cannot be seen"; }
done_testing
