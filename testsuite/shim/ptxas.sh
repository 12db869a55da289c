# SPDX-License-Identifier: Apache-2.0
#
# gsan-ptxas: ptxas behind gsan-ptx, for a command line as Triton writes it and
# for the forms that must not be touched.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/shim/stub.sh"
g=$gsan_ptxas

"$NVCC" -arch=sm_80 -ptx k.cu -o k.ptx || hard "nvcc"
run 0 "$g" -lineinfo -v --gpu-name=sm_80 k.ptx -o k.cubin
has "$home/log" "-lineinfo -v --gpu-name=sm_80 k.ptx -o k.cubin"
has "$home/log" "instrumented input k.ptx"
[ -s k.cubin ] || fail "no cubin"
has err "ptxas info"
rm "$home/log"
echo '-arch=sm_80 "k.ptx" -o k2.cubin' >f.opt
run 0 "$g" -optf f.opt
has "$home/log" "instrumented input k.ptx"
rm "$home/log"
run 0 "$PTXAS" --version && mv out want
run 0 "$g" --version && cmp -s out want || fail "--version is not ptxas's"
[ -f "$home/log" ] && fail "--version ran gsan-ptx"
run 0 "$g" --gsan-version
has out "gsan-ptxas (gsan)"
echo nonsense >bad.ptx
"$PTXAS" -arch=sm_80 bad.ptx -o bad.cubin >want 2>&1
status=$?
run $status "$g" -arch=sm_80 bad.ptx -o bad.cubin
cat out err | cmp -s - want || fail "an error does not read as ptxas's"
run 120 env GSAN_PTXAS=/nonexistent "$g" k.ptx
mkdir empty
run 0 env GSAN_HOME="$tmp/empty" "$g" -arch=sm_80 k.ptx -o k.cubin
has err "nothing is instrumented"
done_testing
