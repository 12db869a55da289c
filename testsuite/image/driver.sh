# SPDX-License-Identifier: Apache-2.0
#
# gsan-run -- PROGRAM, of a program that was never rebuilt and loads PTX by the driver's API: each way to load, each kind of
# image, launches that are chosen, children.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/image/lib.sh"

for way in cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuLibraryLoadData cuLibraryLoadFromFile; do
	run 66 $gsan_run -- ./driver $way racy.ptx
	has err "WARNING: GSan: data race"
	has err ".ptx:14)"
	has err ".ptx:17)"
	has err "GSan: 1 finding; 1 launch, 5 sites watched"
	run 3 $gsan_run -- ./driver $way right.ptx
	has out "63 0"
	has err "GSan: 0 findings; 1 launch, 6 sites watched"
done

# Fat binaries: PTX as it is and compressed, beside machine code and without.
$PTXAS -arch=sm_90 racy.ptx -o racy.cubin || hard "ptxas"
fatbinary=$(dirname "$PTXAS")/fatbinary
for how in "" "--compress-all"; do
	"$fatbinary" --create=racy.fatbin -64 $how --image3=kind=elf,sm=90,file=racy.cubin --image3=kind=ptx,sm=90,file=racy.ptx ||
		hard "fatbinary"
	for way in cuModuleLoadFatBinary cuModuleLoad cuLibraryLoadData; do
		run 66 $gsan_run -- ./driver $way racy.fatbin
		has err "GSan: 1 finding; 1 launch, 5 sites watched"
	done
done
"$fatbinary" --create=code.fatbin -64 --image3=kind=elf,sm=90,file=racy.cubin || hard "fatbinary"
for file in code.fatbin racy.cubin; do
	run 4 $gsan_run -- ./driver cuModuleLoad $file
	has err "GSan: nothing was watched"
	has err "; 1 module that is machine code alone, into which gsan cannot look"
done

# What has probes is left alone.
"$top_builddir/gsan-ptx" racy.ptx -o probes.ptx || hard "gsan-ptx"
run 66 $gsan_run -- ./driver cuModuleLoad probes.ptx
has err "(racy.ptx:17)"
has err "GSan: 1 finding; 1 launch, 5 sites watched"

# What is no PTX fails as it does without gsan, and is named.
sed 's/st.global/store.wherever/' racy.ptx >broken.ptx
run 4 $gsan_run -- ./driver cuModuleLoadData broken.ptx

# Launches that are chosen.
run 66 $gsan_run --kernel='^tu[r]n$' --skip=2 --count=3 -- ./driver cuModuleLoad racy.ptx 9
has err "Launch #3 of turn"
has err "; 6 launches that were not chosen to be watched"
run 3 $gsan_run --kernel='^urn' -- ./driver cuModuleLoad racy.ptx
has err "GSan: nothing was watched: no launch was chosen"
run 3 $gsan_run --skip=1 -- ./driver cuModuleLoad racy.ptx
run 2 $gsan_run --kernel='(' -- ./driver cuModuleLoad racy.ptx
has err "--kernel: no regular expression"
run 2 $gsan_run --count=x -- ./driver cuModuleLoad racy.ptx
run 2 $gsan_run --count=1 racy.ptx

# What frameworks compile with, and keep, where the user has not said it.
XDG_CACHE_HOME=$tmp/xdg CUPY_CACHE_DIR=/own $gsan_run -- env >variables
has variables "TRITON_CACHE_DIR=$tmp/xdg/gsan/triton-"
has variables "CUPY_CACHE_DIR=/own"
hasnt variables "TRITON_PTXAS_PATH"
"$top_builddir/gsan-run" --device=gpu -- env >variables
has variables "/gsan-ptxas"
has variables "/gsan-nvcc"
TRITON_PTXAS_PATH=/own "$top_builddir/gsan-run" --device=gpu -- env >variables
has variables "TRITON_PTXAS_PATH=/own"

# Children, and not.
run 7 $gsan_run -- sh -c './driver cuModuleLoad racy.ptx; [ $? = 66 ] && exit 7'
has err "GSan: 1 finding"
run 7 $gsan_run --no-follow -- sh -c './driver cuModuleLoad racy.ptx; [ $? = 3 ] && exit 7'
hasnt err "GSan"
run 66 $gsan_run --no-follow -- ./driver cuModuleLoad racy.ptx

# A path that LD_PRELOAD cannot name.
mkdir "a b"
for part in libgsan.so.1 gsan-run gsan-image emu; do
	cp -r "$top_builddir/$part" "a b"
done
run 66 timeout 60 "a b/gsan-run" --device=emu -- ./driver cuModuleLoad racy.ptx
rm "a b/gsan-image"
run 3 timeout 60 "a b/gsan-run" --device=emu -- ./driver cuModuleLoad racy.ptx
done_testing
