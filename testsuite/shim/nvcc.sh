# SPDX-License-Identifier: Apache-2.0
#
# gsan-nvcc on the command lines that builds use: each compilation's PTX is
# rewritten once, programs get the runtime, output and status are nvcc's.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/shim/stub.sh"
g=$gsan_nvcc
sm="-arch=sm_80"

# -- compiling
run 0 "$g" $sm -c k.cu -o k.o
rewritten 1 "-c"
[ -s err ] && fail "-c says something: $(cat err)"
strings -a k.o | grep -q __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan || fail "k.o does not refer to the runtime"
run 0 "$g" $sm -c -o=k2.o --compile k.cu -lineinfo
rewritten 1 "-o=FILE, -lineinfo"
run 0 "$g" $sm -c -G -O0 -rdc true k.cu --output-file k3.o
rewritten 1 "-G -rdc true"
run 0 "$g" --generate-code=arch=compute_80,code=[compute_80,sm_80] \
	-gencode arch=compute_90,code=sm_90 -c k.cu -o k4.o
rewritten 2 "two targets"
run 0 "$g" -gencode arch=compute_80,code=compute_80 -c k.cu -o k5.o
rewritten 1 "PTX alone is embedded"
run 0 "$g" $sm -ptx k.cu -o k.ptx
rewritten 1 "-ptx"
tail -n 1 k.ptx | grep -q gsan-stub || fail "-ptx: the output was not rewritten"
for form in cubin fatbin; do
	run 0 "$g" $sm -$form k.cu -o k.$form
	rewritten 1 "-$form"
done
run 0 "$g" $sm -c k.cu main.cu
rewritten 2 "two sources"
[ -f k.o ] && [ -f main.o ] || fail "two sources, no objects"
run 0 "$g" $sm -t 2 -gencode=arch=compute_80,code=sm_80 -c k.cu -o k6.o -Xcompiler -fPIC -ccbin "$(command -v g++)" -I . -DX -isystem .
rewritten 1 "options with values"

# -- PTX as an input never meets cicc
"$NVCC" $sm -ptx k.cu -o plain.ptx || hard "nvcc"
run 0 "$g" $sm -cubin plain.ptx -o plain.cubin
grep -q "^instrumented input .*plain.ptx" "$home/log" || fail "a .ptx input is not instrumented"
rewritten 0 "PTX input"

# -- linking
run 0 "$g" $sm main.cu -o prog
rewritten 1 "compile and link"
run 7 ./prog
has out main
has err runtime
run 0 "$g" $sm main.cu k.cu -rdc=true -o prog2
run 7 ./prog2
has err runtime
run 0 "$g" $sm -c main.cu -o main.o
run 0 "$g" main.o k.o -o prog3
run 7 ./prog3
has err runtime
run 0 "$g" $sm -rdc=true -c main.cu -o main.o
run 0 "$g" $sm -rdc=true -c k.cu -o k.o
run 0 "$g" $sm -dlink main.o k.o -o dlink.o
run 0 "$g" main.o k.o dlink.o -nodlink -o prog4
run 7 ./prog4
has err runtime
run 0 "$g" $sm -cudart shared main.cu -o prog5
run 0 "$g" $sm -lib main.cu -o libk.a
hasnt err gsan-nvcc
# a library brings the runtime to a program that knows nothing of it
cat >host.c <<'EOF'
#include <dlfcn.h>
int main(int argc, char **argv) { return argc > 1 && dlopen(argv[1], RTLD_NOW) ? 7 : 1; }
EOF
$CC host.c -o host -ldl || hard "host.c"
run 0 "$g" $sm -shared -Xcompiler -fPIC k.cu -o libk.so
[ -s err ] && fail "-shared says something: $(cat err)"
run 7 ./host ./libk.so
has err runtime
run 0 "$g" $sm -shared -Xcompiler -fPIC -cudart=shared k.cu -o libk.so
has err "gsan-nvcc: this library is watched in programs linked with gsan-nvcc"

# an object of ours without the runtime is a link error, not silence
"$g" $sm -c main.cu -o main.o
run 1 "$NVCC" main.o -o silent
has err __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan

# -- what is left out, or cannot be
rm -f "$home/log"
run 0 "$g" $sm -dlto -c k.cu -o lto.o
rewritten 1 "-dlto"
run 0 "$g" -gencode arch=compute_80,code=lto_80 -dlto -c k.cu -o lto.o
rewritten 1 "code=lto_80"
run 0 "$g" -optix-ir k.cu -o k.optixir
has err "gsan-nvcc: --optix-ir: not instrumented"
run 120 env GSAN_NVCC_STRICT=1 "$g" -optix-ir k.cu -o k.optixir
run 120 "$g" $sm --sanitize racecheck -c k.cu
has err "--sanitize cannot be had"
"$NVCC" $sm -cubin k.cu -o code.cubin
run 0 "$g" $sm -fatbin code.cubin -o code.fatbin
has err "code.cubin: not instrumented: it is machine code"
rm -f "$home/log"

# -- options files and the environment
printf -- '-arch=sm_80 -c\n-DA="1 2"\n' >f.opt
run 0 "$g" -optf f.opt k.cu -o f.o
rewritten 1 "-optf"
hasnt err ld
printf -- '-arch=sm_80 -dlto "-c"\n' >g.opt
run 0 "$g" --options-file=g.opt k.cu -o g.o
[ -s err ] && fail "-dlto -c says $(cat err)"
rewritten 1 "-dlto in an options file"
run 0 env NVCC_APPEND_FLAGS="-c" "$g" $sm main.cu -o env.o
rewritten 1 "-c in NVCC_APPEND_FLAGS"

# -- nvcc's own words
run 0 "$NVCC" --version && mv out want
run 0 "$g" --version && cmp -s out want || fail "--version is not nvcc's"
run 0 "$NVCC" --help && mv out want
run 0 "$g" --help && cmp -s out want || fail "--help is not nvcc's"
run 0 "$g" -E k.cu && mv out got
"$NVCC" -E k.cu >want
cmp -s got want || fail "-E is not nvcc's"
"$NVCC" -M k.cu >want
run 0 "$g" -M k.cu && cmp -s out want || fail "-M is not nvcc's"
run 1 "$g" -v __cmake_determine_cuda
has err '#$ TOP='
hasnt err gsan-nvcc:
run 1 "$g"
run 1 "$g" --no-such-option k.cu
has err "nvcc fatal"
run 1 "$g" $sm -c missing.cu
echo 'int x = ;' >bad.cu
"$NVCC" $sm -c bad.cu >want 2>&1
run 2 "$g" $sm -c bad.cu || :
cat out err >got
cmp -s got want || fail "a compiler error does not read as nvcc's"
run 0 "$g" $sm --dryrun -c k.cu
grep '#\$ .*gsan-ptx. --wrap ' err | grep -q ptxas || fail "-dryrun does not show ptxas behind gsan-ptx"

# -- ours
run 0 "$g" --gsan-version
has out "gsan-nvcc (gsan)"
run 0 "$g" --gsan-help
has out "usage: gsan-nvcc"
for option in --gsan-nonsense --gsan-stored=1 --gsan-perturb; do
	run 120 "$g" $option -c k.cu
done
run 0 "$g" --gsan-show $sm -c k.cu
has err "--cicc-prefix"
for option in --gsan-stored --gsan-perturb=7; do
	run 0 "$g" $option --dryrun $sm -c k.cu
	grep -q "gsan-ptx.* --${option#--gsan-} --wrap .*ptxas" err || fail "$option does not come to gsan-ptx"
done
mkdir kept
run 0 "$g" --gsan-keep=kept $sm -c k.cu
grep -q gsan-stub kept/k.ptx || fail "--gsan-keep: the rewritten PTX is not there"

# -- finding things
run 120 env GSAN_NVCC=/nonexistent/nvcc "$g" --version
has err "cannot find the real nvcc"
ln -s "$g" nvcc
run 120 env GSAN_NVCC="$g" "$g" --version
has err "this is gsan-nvcc itself"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$g" >loop
chmod +x loop
run 120 env GSAN_NVCC="$tmp/loop" "$g" --version
has err "leads back"
run 0 env PATH="$tmp:$(dirname "$NVCC"):$PATH" GSAN_NVCC=nvcc "$g" --version
mkdir empty
run 0 env GSAN_HOME="$tmp/empty" "$g" $sm -c k.cu
has err "gsan-ptx: not instrumented"
run 120 env GSAN_HOME="$tmp/empty" GSAN_NVCC_STRICT=1 "$g" $sm -c k.cu

done_testing
