# SPDX-License-Identifier: Apache-2.0
#
# host.sh: what the host's calls cost (host.cu) under gsan, beside without it; on a GPU.
. "$top_srcdir/testsuite/lib.sh"
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
