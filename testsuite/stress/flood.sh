# SPDX-License-Identifier: Apache-2.0
#
# flood.sh: testsuite/gpu/flood.cu, whose race does not depend on the schedule, with a log that is at least TIMES (default: 4)
# times as large as its region, RUNS (3) times, each with a schedule of its own, on the emulated device or, with DEVICE=gpu, on
# a GPU, JOBS at once: each run must find the race at its lines.  BLOCKS and ROUNDS say how much it logs, LOG_MB how large the
# region is.
. "$top_srcdir/testsuite/lib.sh"
takes_long
device=${DEVICE:-emu}
source=$top_srcdir/testsuite/gpu/flood.cu
code=compute_90
[ "$device" = emu ] || code=sm_90
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
GSAN_OPTIONS=log_mb=${LOG_MB:-3}:verbosity=2:judge_s=60
export LD_LIBRARY_PATH GSAN_OPTIONS
"$top_builddir/gsan-nvcc" -std=c++17 -O2 -lineinfo -gencode arch=compute_90,code=$code -DBLOCKS="${BLOCKS:-8}" -DROUNDS="${ROUNDS:-900}" \
	"$source" -o flood >log 2>&1 || { cat log; hard "gsan-nvcc refuses the source"; }

# right FILE: did the run with that stderr find the race, and fill its region?
right()
{
	for line in 'WARNING: GSan: data race' "flood.cu:$(grep -n '// first' "$source" | cut -d: -f1)" \
		"flood.cu:$(grep -n '// second' "$source" | cut -d: -f1)"; do
		grep -qF "$line" "$1" || { echo "no $line"; return 1; }
	done
	sed -n 's/.* logged \([0-9]*\) KiB, through a region of \([0-9]*\) KiB$/\1 \2/p' "$1" |
		awk -v times="${TIMES:-4}" '{ ok = $1 >= times * $2; n++ } { print $1, "KiB through", $2 } END { exit n != 1 || !ok }'
}

seq "${RUNS:-3}" | xargs -P "${JOBS:-1}" -I N sh -c 'EMU_SEED=N timeout 120 "$1" --device="$2" -- ./flood >out.N 2>err.N
	echo $? >status.N' sh "$top_builddir/gsan-run" "$device"
for i in $(seq "${RUNS:-3}"); do
	[ "$(cat status.$i)" = 66 ] || fail "run $i: status $(cat status.$i): $(tail -n 3 err.$i)"
	size=$(right err.$i) || fail "run $i: $size"
done
echo "${RUNS:-3} runs, the last one: $size"
done_testing
