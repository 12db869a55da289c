# SPDX-License-Identifier: Apache-2.0
#
# slice.sh: the table of testsuite/bench/slice.cu, on a GPU: of kernels native, with probes, and until they are screened.
# Each is compiled as it is, and capped at 32 registers (all but gemm); ptxas is timed, natively and with probes, and says how
# many registers it needs.  --compile: no more than that, without a GPU.
: "${top_srcdir:?}" "${top_builddir:?}" "${NVCC:=nvcc}" "${PTXAS:=ptxas}"
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 99

# ptxas_ms FILE ARGUMENT...: the least of five
ptxas_ms()
{
	for i in 1 2 3 4 5; do
		start=$(date +%s%N)
		"$PTXAS" "$@" -o time.cubin || return
		end=$(date +%s%N)
		echo $(((end - start) / 100000))
	done | sort -n | head -n 1 | awk '{ printf "%.1f", $1 / 10 }'
}

# registers FILE ARCH: of each kernel
registers()
{
	"$PTXAS" -v -arch="$2" "$1" -o registers.cubin 2>&1 |
		sed -n "s/.*Compiling entry function '\([^']*\)'.*/\1/p; s/.*Used \([0-9]*\) registers.*/\1/p" |
		paste -d' ' - - | c++filt | sed 's/(.*) / /'
}

# compile NAME ARCH SOURCE FLAG...
compile()
{
	name=$1 arch=$2 source=$3
	shift 3
	"$NVCC" -std=c++17 -O3 -arch="$arch" -I "$top_srcdir/testsuite/kernels" "$@" -ptx -o "$name.ptx" "$source" &&
	"$top_builddir/probe/put" "$name.ptx" "$name.probes.ptx" "$name.sites" >/dev/null &&
	"$PTXAS" -arch="$arch" "$name.ptx" -o "$name.cubin" && "$PTXAS" -arch="$arch" "$name.probes.ptx" -o "$name.probes.cubin" &&
	echo "$name: ptxas $(ptxas_ms -arch="$arch" "$name.ptx") ms, with probes $(ptxas_ms -arch="$arch" "$name.probes.ptx") ms" &&
	echo "$name: registers" && registers "$name.ptx" "$arch" &&
	echo "$name: registers with probes" && registers "$name.probes.ptx" "$arch"
}

"$NVCC" -O3 -std=c++17 -arch=sm_90 -I "$top_srcdir" -o slice "$top_srcdir/testsuite/bench/slice.cu" \
	"$top_builddir/detect/libparts.a" "$top_builddir/extent/libextent.a" "$top_builddir/event/libevent.a" -lcuda || exit 1
compile plain sm_90 "$top_srcdir/testsuite/bench/kernels.cu" || exit 1
"$PTXAS" -arch=sm_90 -maxrregcount 32 plain.probes.ptx -o plain.capped.cubin || exit 1
compile gemm sm_90a "$top_srcdir/testsuite/kernels/gemm.cu" -DMUTATE=0 || exit 1
[ "$1" != --compile ] || exit 0
./slice plain.cubin plain.probes.cubin plain.sites triad64M matmul1024 histogram
echo "32 registers:"
./slice plain.cubin plain.capped.cubin plain.sites triad64M matmul1024 histogram
./slice gemm.cubin gemm.probes.cubin gemm.sites gemm
