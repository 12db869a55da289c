# SPDX-License-Identifier: Apache-2.0
#
# What reproducers leave in their buffers, and the kernels of testsuite/gpu in memory,
# is the same with gsan and without, if both take the same order of steps
# (emu/stepwise.c).  testsuite/corpus.sh does it for the corpus, soak for random programs.
. "$top_srcdir/testsuite/lib.sh"
EMU_STEPWISE=1 GSAN_OPTIONS=log_path=/dev/null
export EMU_STEPWISE GSAN_OPTIONS

takes_long

# Each with its buffers.  How far a launch has come when the host starts the next is no step of either.
awk '
	FNR == 1 { out(); file = FILENAME; names = ""; left_out = 0; race = file ~ /\/race\/[^\/]*$/ }
	/^\/\/@ (buf|hostbuf|managed) / { names = names (names ? "," : "") $3 }
	race && /^\/\/@ (launch.* pdl|expect.*(stream|host)-race)/ { left_out = 1 }
	function out() { if (names && !left_out) print file, names }
	END { out() }' "$top_srcdir"/testsuite/race/*.ptx "$top_srcdir"/testsuite/norace/*.ptx >list
buffers=0
while read -r file names; do
	timeout 60 "$top_builddir/gsan-run" --device=emu --seed=2 --no-instrument --dump="$names" \
		"$file" >want 2>log </dev/null
	# It cannot run here, or not to its end, with gsan or without.
	[ -s want ] || continue
	timeout 60 "$top_builddir/gsan-run" --device=emu --seed=2 --dump="$names" "$file" >got 2>log </dev/null
	cmp -s want got || fail "$(basename "$file"): $(diff want got | head -n 4)"
	commas=$(echo "$names" | tr -dc ,)
	buffers=$((buffers + ${#commas} + 1))
done <list
echo "$buffers buffers"
[ "$buffers" -ge 100 ] || fail "only $buffers buffers were compared"

kernels=0
for file in "$top_srcdir"/testsuite/gpu/*.cu; do
	"$NVCC" -std=c++17 -arch=sm_90 -ptx "$file" -o k.ptx >log 2>&1 || { cat log; hard "$file"; }
	# This one waits for blocks that the launch does not have.
	"$top_builddir/testsuite/samemem" "$top_builddir/emu/libcuda.so.1" k.ptx 16 stepP >log 2>&1 ||
		{ fail "$(basename "$file")"; cat log; }
	kernels=$((kernels + $(sed -n 's/ kernels leave the same.*//p' log | grep . || echo 0)))
done
echo "$kernels kernels"
[ "$kernels" -ge 10 ] || fail "only $kernels kernels were compared"
done_testing
