# SPDX-License-Identifier: Apache-2.0
#
# host.sh: what the host's calls cost: gsan's own part of each over a driver that is pretended, by the processor time of the
# thread that calls; and on a GPU the calls of host.cu under gsan, beside without it.
. "$top_srcdir/testsuite/lib.sh"

# own: that table, a row for each of calls.c's loops
own()
{
	printf '%-28s%10s%10s%10s\n' 'ns each, pretended driver' without gsan own
	for what in $("$calls" list); do
		for program in "${calls}_plain" "$calls"; do
			timeout 200 "$program" "$what" "${N:-100000}" || fail "$what"
		done | awk '{ n[NR] = $2 } END { printf "%-28s%10d%10d%10d\n", "'"$what"'", n[1], n[2], n[2] - n[1] }'
	done
}
calls=$top_builddir/testsuite/rt/calls
[ -x "$calls" ] && (
	LD_LIBRARY_PATH=$top_builddir/testsuite/rt${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FAKE_SCREEN=1 GSAN_OPTIONS=quiet=1
	export LD_LIBRARY_PATH FAKE_SCREEN GSAN_OPTIONS
	own
)

have_gpu || skip "no GPU, or --disable-gpu-tests"
source=$(cd "$top_srcdir/testsuite/bench" && pwd)/host.cu
flags="-std=c++17 -O3 -arch=sm_90"
"$NVCC" $flags "$source" -o native || hard "nvcc"
"$top_builddir/gsan-nvcc" $flags "$source" -o watched >log 2>&1 || { cat log; hard "gsan-nvcc"; }
timeout 200 ./native "${N:-100000}" >native.txt || hard "native"
timeout 400 ./watched "${N:-100000}" >watched.txt 2>err || { tail -n 3 err; hard "watched"; }
tail -n 1 err
paste native.txt watched.txt | awk 'BEGIN { printf "%-28s%10s%10s%8s\n", "us each", "native", "gsan", "ratio" }
	{ n = (NF - 2) / 2; what = substr($0, 1, 28); a = substr($0, 29, 10); b = $NF; printf "%-28s%10.2f%10.2f%8.2f\n", what, a, b, b / a }'
