# SPDX-License-Identifier: Apache-2.0
#
# gsan-nvcc beside nvcc, on the command lines that there are.  A dry run must show the commands that nvcc's shows, with
# gsan-ptx in front of every cicc and ptxas and the runtime where a program or a library is linked, and nothing else; what
# is compiled must leave the same files, with the same status.
#
# MATRIX=full: what is compiled is compiled by nvcc as well, and not only one row in eight.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/shim/stub.sh"
g=$gsan_nvcc

printf 'int helper(void) { return 1; }\n' >h.c
printf 'int helper2(void) { return 1; }\n' >hpp.cpp
cp k.cu "with blank.cu"
cp k.cu noext
cp k.cu k.cc
mkdir "a folder" odir kd
printf '#define FROM_HEADER 1\n' >"a folder/head.h"
echo 'int x = ;' >bad.cu
printf -- '-arch=sm_80 -c\n' >plain.opt
printf -- '-I "a folder" -DTEXT="a b"\n' >blank.opt
printf -- '-c\n' >c.opt
"$NVCC" -arch=sm_80 -ptx k.cu -o given.ptx && "$NVCC" -arch=sm_80 -cubin given.ptx -o given.cubin &&
	"$NVCC" -arch=sm_80 -rdc=true -c k.cu -o given.o && ar rc libgiven.a given.o || hard "nvcc"

# What gsan-nvcc adds is taken away; temporary files have the process's number, and blanks do not count.
as_nvcc()
{
	sed -e 's|'"'"'*[^ '"'"']*gsan home/gsan-ptx'"'"'* --wrap ||' -e 's| -include "[^"]*gsan-link.h"||g' \
		-e 's| -Xlinker -u -Xlinker __gsan_v1_[a-z_]*||' -e 's| -L"[^"]*gsan-lib"||' \
		-e 's| -lgsan -ldl -lpthread||' -e 's| "[^"]*gsan-hide.o"||' "$1" | plain
}

plain()
{
	sed -e 's/tmpxft_[0-9a-f]*_/tmpxft_/g' -e 's/_[0-9a-f]*\(_std[a-z]* \)/\1/g' -e 's/_[0-9a-f]*\(_std[a-z]*\)$/\1/' -e 's/  */ /g' "$@"
}

# dry STATUS N LINKED WORD...: nvcc's status, so many commands behind gsan-ptx (+: one at least); what is linked: none,
# program, library
dry()
{
	status=$1 n=$2 linked=$3
	shift 3
	"$NVCC" --dryrun "$@" >want.out 2>want
	got=$?
	[ $got = "$status" ] || fail "nvcc's status is $got: $*"
	as_wanted "$@"
}

# as_wanted WORD...: gsan-nvcc's dry run is what lies in want, but for what it adds
as_wanted()
{
	rows=$((rows + 1))
	"$g" --dryrun "$@" >got.out 2>got.err
	got=$?
	[ $got = "$status" ] || fail "status $got, not $status: $*"
	plain want | sort >want.plain           # with -t their order is any
	as_nvcc got.err | sort >got.plain
	cmp -s want.plain got.plain && cmp -s want.out got.out ||
		fail "other commands: $*: $(diff want.plain got.plain | cut -c1-1500 | head -n 6; diff want.out got.out | head -n 4)"
	behind=$(grep -c '^#\$ .*gsan-ptx.* --wrap ' got.err)
	all=$(grep -cE '^#\$ ("\$CICC_PATH/cicc"|ptxas) ' want)
	[ "$n" != + ] || [ "$behind" = 0 ] || n=$behind
	[ "$behind" = "$n" ] && [ "$behind" = "$all" ] || fail "$behind of $all commands are behind gsan-ptx, not $n: $*"
	runtime=none
	grep -q '^#\$ .*-lgsan' got.err && runtime=program
	grep -q '^#\$ .*gsan-hide' got.err && runtime=library
	[ "$runtime" = "$linked" ] || fail "linked: $runtime, not $linked: $*"
}
rows=0

# Where link-time optimisation is left out, it is what nvcc does for WORDS.
without_lto()
{
	n=$1 linked=$2 words=$3 status=0
	shift 3
	"$NVCC" --dryrun $words >want.out 2>want || fail "nvcc: $words"
	as_wanted "$@"
}

# real STATUS N FILES WORD...: it is compiled in a folder of its own, by such a status, so many PTX files are instrumented,
# and there are these new files ("same": those that nvcc leaves)
real()
{
	status=$1 n=$2 files=$3
	shift 3
	rows=$((rows + 1))
	in_folder ours "$g" "$@"
	[ $got = "$status" ] || { fail "status $got, not $status: $*"; tail -n 5 ours.err; }
	touch "$home/log"
	got=$(grep -cE '^(rewritten|instrumented input)' "$home/log")
	[ "$got" = "$n" ] || fail "$got PTX files are instrumented, not $n: $*"
	rm "$home/log"
	[ "$files" = same ] || [ "$(cat ours.files)" = "$files" ] || fail "files: $(cat ours.files), not $files: $*"
	[ "$files" = same ] || [ "${MATRIX-}" = full ] || [ $((rows % 8)) = 0 ] || return 0
	in_folder nvccs "$NVCC" "$@"
	[ $got = "$status" ] || fail "nvcc's status is $got: $*"
	cmp -s ours.files nvccs.files || fail "files: $(cat ours.files), nvcc's: $(cat nvccs.files): $*"
	cmp -s ours.out nvccs.out || fail "stdout differs: $*: $(diff nvccs.out ours.out | head -n 5)"
}

# in_folder NAME COMMAND...: $got is its status, NAME.files the files that are new
in_folder()
{
	name=$1
	shift
	rm -rf work
	mkdir work
	cp k.cu main.cu h.c hpp.cpp noext given.* libgiven.a "with blank.cu" plain.opt bad.cu work
	mkdir "work/a folder" work/odir work/kd
	(cd work && find . ! -type d | sort >../before && "$@" <k.cu >"../$name.out" 2>"../$name.err")
	got=$?
	(cd work && find . ! -type d | sort) | comm -13 before - | sed 's/^\.\///' | tr '\n' ' ' | sed 's/ $//' >$name.files
}

s=-arch=sm_80
# -- stages
dry 0 4 program $s k.cu main.cu
dry 0 2 none $s -c k.cu
dry 0 2 none $s --compile k.cu
dry 0 2 none $s -dc k.cu
dry 0 2 none $s -dw k.cu
dry 0 2 none $s --device-c k.cu -o k.o
dry 0 0 none $s -dlink given.o -o d.o
dry 0 2 none $s -dlink k.cu -rdc=true -o d.o
dry 0 2 none $s -lib k.cu -o libk.a
dry 0 1 none $s -ptx k.cu
dry 0 2 none $s -cubin k.cu
dry 0 2 none $s -fatbin k.cu
dry 0 2 none $s -cuda k.cu
dry 0 0 none $s -E k.cu
dry 0 0 none $s -M k.cu
dry 0 0 none $s -MM k.cu -MT k.o -MF k.d
dry 0 2 none $s -MD -MF k.d -MT k.o -MP -c k.cu
dry 0 2 none $s -MMD -c k.cu
# -- targets
dry 0 2 none -arch=sm_90 -c k.cu
dry 0 4 none -arch=sm_90a -c k.cu
dry 0 2 none -arch sm_90 -c k.cu
dry 0 2 none --gpu-architecture=compute_90 --gpu-code=sm_90,compute_90 -c k.cu
dry 0 2 none --gpu-architecture sm_100 -c k.cu
dry 0 2 none -arch=compute_90 -c k.cu
dry 0 + none -arch=native -c k.cu
dry 0 + none -arch=all -c k.cu
dry 0 + none -arch=all-major -c k.cu
dry 0 2 none -gencode arch=compute_80,code=[sm_80,compute_80] -c k.cu
dry 0 4 none -gencode=arch=compute_80,code=sm_80 --generate-code=arch=compute_90,code=sm_90 -c k.cu
dry 0 3 none -gencode 'arch=compute_80,code="sm_80,sm_86"' -c k.cu
dry 0 2 none -gencode arch=compute_80,code=\"sm_80,compute_80\" -c k.cu
# -- what is compiled, and how
dry 0 2 none $s -rdc=true -c k.cu
dry 0 2 none $s -rdc true -c k.cu
dry 0 2 none $s --relocatable-device-code=true -c k.cu
dry 0 4 program $s -rdc=true k.cu main.cu -lcudadevrt
dry 0 2 none $s -G -g -c k.cu
dry 0 2 none $s -lineinfo -c k.cu
dry 0 2 none $s -O3 -c k.cu
dry 0 2 none $s -O 0 -Xptxas -O1 -c k.cu
dry 0 2 none $s -Xptxas=-v,-warn-spills -c k.cu
dry 0 2 none $s --ptxas-options -v -c k.cu
dry 0 2 none $s -Xcompiler -fPIC,-Wall -c k.cu
dry 0 2 none $s -Xcompiler="-fPIC -Wall" --compiler-options -O1 -c k.cu
dry 0 2 program $s -Xlinker -rpath,/x --linker-options=-s k.cu
dry 0 2 none $s -ccbin g++ -c k.cu
dry 0 2 none $s --compiler-bindir=g++ -c k.cu
dry 0 2 none $s -std=c++17 -c k.cu
dry 0 2 none $s -std c++20 -c k.cu
dry 0 2 none $s -x cu -c k.cc
dry 0 2 none $s -x=cu -c noext
dry 0 0 none $s -x c++ -c k.cc
dry 0 2 none $s -maxrregcount=32 -use_fast_math -ftz=true -prec-div false -fmad=false -c k.cu
dry 0 2 none $s --expt-relaxed-constexpr --expt-extended-lambda --extended-lambda -c k.cu
dry 0 2 none $s -diag-suppress 177,20012 -Werror all-warnings -c k.cu
dry 0 2 none $s --default-stream per-thread -c k.cu
dry 0 2 none $s -ftemplate-depth 100 -ftemplate-backtrace-limit=5 -c k.cu
dry 0 2 none $s -split-compile=2 -t2 -c k.cu
dry 0 4 none -t 0 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -c k.cu
dry 0 2 none $s -time t.csv -c k.cu
dry 0 2 none $s -forward-unknown-to-host-compiler -fPIC -march=x86-64 -c k.cu
dry 0 2 none $s -forward-unknown-opts -funroll-loops -c k.cu
dry 0 2 program $s -forward-unknown-to-host-linker -z k.cu
dry 0 2 none $s -res-usage -restrict -src-in-ptx -lineinfo -c k.cu
dry 0 2 none $s -I. -I "a folder" -I=odir -isystem kd --system-include=. -include "a folder/head.h" -c k.cu
dry 0 2 none $s -DA -D B=1 -D=C -DTEXT='"a b"' -UA -U B --define-macro=E --undefine-macro F -c k.cu
dry 0 2 none $s -Xfatbin -compress-all -Xcudafe --diag_suppress=177 -Xnvlink=-v -Xcicc -v -c k.cu
dry 0 2 none $s -compress-mode=size -w -Wno-deprecated-gpu-targets -allow-unsupported-compiler -c k.cu
dry 0 2 none $s -ewp -dopt=on -G -c k.cu
dry 0 2 none $s -forward-unknown-to-host-compiler -gdwarf-4 -Wall -pthread -fopenmp -Wl,-z,now -c k.cu
dry 0 2 none $s -pg -noeh -c k.cu
dry 0 2 none $s -fdevice-time-trace trace.json -c k.cu
dry 0 0 none $s -clean -c k.cu
# -- outputs
dry 0 2 none $s -c k.cu -o x.o
dry 0 2 none $s -c k.cu -o=x.o
dry 0 2 none $s -c k.cu --output-file x.o
dry 0 2 none $s -c k.cu --output-file=x.o
dry 1 0 none $s -c k.cu -ox.o
dry 0 2 none $s -c k.cu -odir odir
dry 0 2 none $s -c k.cu -keep
dry 0 2 none $s -c k.cu --keep --keep-dir kd
dry 0 2 none $s -c k.cu -save-temps -keep-dir=kd
dry 0 2 none $s -c "with blank.cu" -o "a folder/x y.o"
dry 0 0 none $s -E k.cu -o k.ii
dry 0 0 none $s -M k.cu -o k.d
dry 0 2 none $s -MD -c k.cu -o odir/k.o
dry 0 2 none $s -c k.cu -o /dev/null
# -- inputs
dry 0 2 none $s -ptx k.cu main.cu
dry 0 4 none $s -cubin k.cu main.cu
dry 0 4 program $s k.cu main.cu given.o -o "a folder/prog"
dry 0 0 none $s -lib given.o -o libx.a
dry 0 4 none $s -c k.cu main.cu
dry 0 2 program $s main.cu h.c hpp.cpp given.o libgiven.a -L. -lgiven
dry 0 0 none -c h.c hpp.cpp
dry 0 0 program h.c hpp.cpp given.o -o prog
dry 0 1 none $s -cubin given.ptx
dry 0 1 none $s -fatbin given.ptx
dry 1 0 none $s -c given.ptx
dry 0 0 none $s -fatbin given.cubin
dry 0 2 none $s -x cu -c -
# -- links
dry 0 2 program $s k.cu -cudart static
dry 0 2 program $s k.cu -cudart=shared
dry 0 2 program $s k.cu --cudart none
dry 0 2 library $s -shared -Xcompiler -fPIC k.cu -o libk.so
dry 0 2 program $s -link k.cu
dry 0 2 none $s -r k.cu -o r.o
dry 0 2 program $s k.cu -run
dry 0 2 program $s k.cu -run -run-args "a b"
dry 0 0 program $s -nodlink given.o
# -- link-time optimisation
without_lto 2 none "$s -rdc=true -c k.cu" $s -dlto -c k.cu
without_lto 2 none "$s -rdc=true -c k.cu" $s -c k.cu -lto
without_lto 2 program "$s -rdc=true k.cu" $s --dlink-time-opt k.cu
without_lto 2 none "-rdc=true -gencode arch=compute_80,code=sm_80 -c k.cu" -gencode arch=compute_80,code=lto_80 -rdc=true -c k.cu
# -- options from elsewhere
NVCC_PREPEND_FLAGS="$s -DA" NVCC_APPEND_FLAGS="-c -DB"
export NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
dry 0 2 none k.cu
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
dry 0 2 none -optf plain.opt k.cu
dry 0 2 none --options-file=plain.opt,blank.opt k.cu
dry 0 2 none $s --options-file c.opt k.cu
printf -- '-optf c.opt\n' >nested.opt
dry 0 2 none $s -optf nested.opt k.cu
printf -- '-dlto -c\n' >lto.opt
without_lto 2 none "$s -rdc=true -c k.cu" $s -optf lto.opt k.cu
dry 1 0 none $s -c k.cu @plain.opt
dry 1 0 none $s -optf missing.opt k.cu
# -- words that are wrong, or only ask
dry 1 0 none
dry 1 0 none $s
dry 1 0 none $s -no-such-option -c k.cu
dry 1 0 none -arch=sm_1 -c k.cu
dry 1 0 none $s -rdc -c k.cu
dry 1 0 none $s -c k.cu main.cu -o x.o
dry 1 0 none $s -generate-code arch=compute_80,code=sm_80 -c k.cu
dry 1 0 none $s -c k.cu -D
dry 1 0 none $s -c k.cu -o
dry 1 0 none $s -c k.cu -x
dry 1 0 none $s -c k.cu -O
dry 0 2 none $s -c k.cu --output-file=
dry 1 0 none $s --std=c++1 -c k.cu
dry 1 0 none $s k.unknown
dry 0 0 none --version
dry 0 0 none -V -c k.cu
dry 0 0 none --help
dry 0 0 none -arch-ls
dry 0 0 none --list-gpu-code

# -- compiled
real 0 1 k.o $s -c k.cu
real 0 2 "k.o main.o" $s -c k.cu main.cu
real 0 1 k.ptx $s -ptx k.cu
real 0 1 "a folder/x y.cubin" $s -cubin "with blank.cu" -o "a folder/x y.cubin"
real 0 2 k.fatbin -gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90,code=sm_90 -t2 -fatbin k.cu
real 0 1 k.cubin $s -G -O0 -Xptxas -O0 -cubin k.cu
real 0 1 k.cubin $s -split-compile=2 -lineinfo -cubin k.cu
real 0 1 odir/k.ptx $s -ptx -odir odir k.cu
real 0 1 "k.d k.ptx" $s -MD -MF k.d -ptx k.cu
real 0 1 "k.ptx t.csv" $s -time t.csv -ptx k.cu
real 0 1 same $s -keep -c k.cu
real 0 1 same $s --keep --keep-dir kd -ptx k.cu
real 0 1 same $s -save-temps -cubin k.cu
real 0 1 k.o $s -dc k.cu
real 0 0 d.o $s -dlink given.o -o d.o
real 0 1 libk.a $s -lib k.cu -o libk.a
real 0 1 x.ptx $s -x cu -ptx noext -o x.ptx
real 0 1 x.ptx $s -x cu -ptx - -o x.ptx
real 0 1 given.cubin2 $s -cubin given.ptx -o given.cubin2
real 0 0 "h.o hpp.o" -c h.c hpp.cpp
real 0 1 a.out $s main.cu h.c hpp.cpp libgiven.a -L. -lgiven
real 7 1 a.out $s main.cu -run
real 0 1 libk.so $s -shared -Xcompiler -fPIC k.cu -o libk.so
real 0 1 k.o -optf plain.opt k.cu
real 2 0 "" $s -c bad.cu
real 1 0 "" $s -c missing.cu
real 0 0 k.o $s -fdevice-syntax-only -c k.cu
real 0 0 "" $s -MM k.cu
real 0 0 "" --list-gpu-arch

[ $rows -gt 100 ] || fail "only $rows rows"
done_testing
