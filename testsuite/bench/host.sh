# SPDX-License-Identifier: Apache-2.0
#
# host.sh: what the host's calls cost: gsan's own part of each over a driver that is pretended, by the processor time of the
# thread that calls; and on a GPU the calls of host.cu under gsan, beside without it.
. "$top_srcdir/testsuite/lib.sh"

calls=$top_builddir/testsuite/rt/calls
own()
{
	LD_LIBRARY_PATH=$top_builddir/testsuite/rt${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FAKE_SCREEN=1 GSAN_OPTIONS=quiet=1 \
		timeout 200 "$@" | awk '{ print $2 }'
}
if [ -x "$calls" ] && [ -x "${calls}_plain" ]; then
	printf '%-28s%10s%10s%10s\n' 'ns each, pretended driver' without gsan own
	for what in $("$calls" list); do
		printf '%-28s%10s%10s\n' "$what" "$(own "${calls}_plain" "$what" "${N:-100000}")" "$(own "$calls" "$what" "${N:-100000}")"
	done | awk '{ printf "%s%10d\n", $0, $3 - $2 }'
fi

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
