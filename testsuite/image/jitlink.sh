# SPDX-License-Identifier: Apache-2.0
#
# A program that has nvJitLink make machine code: PTX of the same is run instead, where that can be had.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/image/lib.sh"
library=$(ls "$CUDA_HOME"/lib64/libnvJitLink.so.[0-9]* 2>/dev/null | head -n 1)
nvrtc=$(ls "$CUDA_HOME"/lib64/libnvrtc.so.[0-9]* 2>/dev/null | head -n 1)
[ -n "$library" ] && [ -n "$nvrtc" ] && [ -f "$CUDA_HOME/include/nvJitLink.h" ] || skip "no nvJitLink"
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# build WAY [OPTION]...
build()
{
	way=$1
	shift
	$CC -I "$CUDA_HOME/include" -DLIBRARY="\"$library\"" $way "$top_srcdir/testsuite/image/jitlink.c" "$@" \
		"$top_builddir/emu/libcuda.so.1" "$nvrtc" -ldl || hard "jitlink.c $way $*"
}

# watched COMMAND...
watched()
{
	for inputs in ptx lto; do
		rm -rf cache
		run 66 $gsan_run -- "$@" $inputs
		has err "turn.cu:4"
		has err "turn.cu:5"
		has err "GSan: 1 finding; 1 launch"
	done
}

build -DLOOKED_UP -o jitlink
watched ./jitlink
# Linked with it, by either of the names that nvJitLink.h gives its functions; and a library that is, loaded apart.
for names in -DINLINE -DNVJITLINK_NO_INLINE; do
	build -DLINKED $names "$library" -o linked
	watched ./linked
	# Before nvJitLink, but nothing is asked of it.
	run 4 env LD_LIBRARY_PATH="$top_builddir/emu:$LD_LIBRARY_PATH" LD_PRELOAD="$top_builddir/libgsan.so.1" ./linked ptx
done
build -DLINKED -DMAIN=start -fPIC -shared "$library" -o liblinked.so
loads_apart
watched ./apart ./liblinked.so
# The emulated device runs no machine code.
for way in file two; do
	rm -rf cache
	run 4 $gsan_run -- ./jitlink $way
	has err "1 module that is machine code alone"
done
done_testing
