# SPDX-License-Identifier: Apache-2.0
#
# `make bench`, second part: kernels on a GPU, native, under gsan, and under
# compute-sanitizer's racecheck where there is one, each run under a time limit
# (BENCH_LIMIT, 100 s), gsan with GSAN_OPTIONS=$OPTIONS.  Native and under gsan as many launches in a row as fill a
# millisecond natively, until the verdict.  Ratios to native; memory in MiB.
. "$top_srcdir/testsuite/lib.sh"
[ -z "$OPTIONS" ] || export GSAN_OPTIONS="$OPTIONS"
have_gpu || skip "no GPU, or --disable-gpu-tests"
limit="timeout -k 10 ${BENCH_LIMIT:-100}"
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
flags="-std=c++17 -O3 -lineinfo -arch=sm_$arch"
racecheck=$(command -v compute-sanitizer || echo "$CUDA_HOME/bin/compute-sanitizer")
[ -x "$racecheck" ] || racecheck=

# build SOURCE NAME: NAME.native and NAME.watched
build()
{
	"$NVCC" $flags "$top_srcdir/testsuite/$1.cu" -o "$2.native" || hard "nvcc: $1"
	"$top_builddir/gsan-nvcc" $flags "$top_srcdir/testsuite/$1.cu" -o "$2.watched" 2>err || { cat err; hard "gsan-nvcc: $1"; }
}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1

# field FILE N, or "-" if there is no such line
field()
{
	awk -v n="$2" '{ print $n; found = 1; exit } END { if (!found) print "-" }' "$1"
}
ratio()
{
	echo "$1 $2" | awk '{ if ($1 + 0 && $2 + 0) printf "%.1fx", $1 / $2; else print "-" }'
}

printf '%-12s%10s%10s%9s%12s%11s%12s%8s%10s%10s%9s\n' "" native gsan ratio racecheck ratio \
	"rc/gsan" data native gsan more
# measure NAME PROGRAM ARGUMENT
measure()
{
	unset BENCH_LAUNCHES
	$limit "./$2.native" $3 >n 2>err || { fail "$1: native: $(cat err)"; return; }
	BENCH_LAUNCHES=$(awk '{ print int(1 / $2) + 1; exit }' n)
	export BENCH_LAUNCHES
	$limit "./$2.native" $3 >n 2>err
	$limit "./$2.watched" $3 >g 2>err || { : >g; fail "$1: gsan: status $?"; tail -n 5 err; }
	: >r
	# Minutes under racecheck.
	case $racecheck,$1,$2 in
	,* | *,triad64M,* | *,typical) ;;
	*)	BENCH_ONCE=1 $limit "$racecheck" --tool racecheck "./$2.native" $3 2>&1 |
			grep "^$1 " >r || echo "$1 >$((${BENCH_LIMIT:-100} * 1000))" >r ;;
	esac
	n=$(field n 2) g=$(field g 2) r=$(field r 2)
	least=${r#>}
	more=$(echo "$(field g 4) $(field n 4) $(field n 3)" |
		awk '{ if ($1 == "-") print "-"; else printf "%.1f", ($1 - $2) / $3 }')
	printf '%-12s%10s%10s%9s%12s%11s%12s%8s%10s%10s%9s\n' "$1" "$n" "$g" "$(ratio "$g" "$n")" \
		"$r" "$(ratio "$least" "$n")" "$(ratio "$least" "$g")" "$(field n 3)" "$(field n 4)" \
		"$(field g 4)" "$more"
}
build bench/kernels kernels
for k in ${BENCH_KERNELS-triad triad64M stencil matmul1024 matmul512 reduction transpose histogram}; do
	measure $k kernels $k
done
# cp.async
[ "$arch" -ge 80 ] || BENCH_TYPICAL=
[ -z "${BENCH_TYPICAL-all}" ] || build bench/typical typical
for k in ${BENCH_TYPICAL-copy center convolve sgemm hgemm scan rotate}; do
	measure $k typical $k
done
# Those of testsuite/kernels are for one kind of GPU.
[ "$arch" = 90 ] || BENCH_ASYNC=
flags="-std=c++17 -O3 -lineinfo -gencode arch=compute_90a,code=sm_90a"
for k in ${BENCH_ASYNC-gemm attention elementwise multicast}; do
	build kernels/$k $k
	measure $k $k bench
done
echo "times in ms; memory in use on the device in MiB; more: bytes of gsan's memory a byte of data"
done_testing
