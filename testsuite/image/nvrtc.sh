# SPDX-License-Identifier: Apache-2.0
#
# A program that has NVRTC make machine code: its PTX is run instead, in this process and in a later one that has kept the
# machine code.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/image/lib.sh"
library=$(ls "$CUDA_HOME"/lib64/libnvrtc.so.[0-9]* 2>/dev/null | head -n 1)
[ -n "$library" ] || skip "no NVRTC"
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

for way in -DLINKED -DLOOKED_UP; do
	rm -rf cache code
	$CC -I "$CUDA_HOME/include" $way -DLIBRARY="\"$library\"" "$top_srcdir/testsuite/image/nvrtc.c" -o nvrtc \
		"$top_builddir/emu/libcuda.so.1" $([ $way = -DLOOKED_UP ] || echo "$library") -ldl || hard "nvrtc.c"
	for kept in no yes; do
		run 66 $gsan_run -- ./nvrtc code
		has err "turn.cu:4"
		has err "turn.cu:5"
		has err "GSan: 1 finding; 1 launch"
	done
	[ "$(head -c 4 code | tail -c 3)" = ELF ] || fail "the program did not get its machine code"
done
# In a library that is linked with it and loaded apart.
rm -rf cache code
$CC -I "$CUDA_HOME/include" -DLINKED -DMAIN=start -fPIC -shared -DLIBRARY="\"$library\"" "$top_srcdir/testsuite/image/nvrtc.c" \
	-o libapart.so "$top_builddir/emu/libcuda.so.1" "$library" -ldl || hard "nvrtc.c"
loads_apart
run 66 $gsan_run -- ./apart ./libapart.so code
has err "GSan: 1 finding; 1 launch"
# Of other machine code nothing is known.
rm -rf cache
run 4 $gsan_run -- ./nvrtc code
has err "1 module that is machine code alone"
done_testing
