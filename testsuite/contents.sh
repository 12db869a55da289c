# SPDX-License-Identifier: Apache-2.0
#
# What reproducers leave in their buffers, and the kernels of testsuite/gpu in memory,
# is the same with gsan and without, if both take the same order of steps
# (emu/stepwise.c).  testsuite/corpus.sh does it for the corpus, soak for random programs.
. "$top_srcdir/testsuite/lib.sh"
EMU_STEPWISE=1 GSAN_OPTIONS=log_path=/dev/null
export EMU_STEPWISE GSAN_OPTIONS

takes_long

buffers=0
for file in "$top_srcdir"/testsuite/race/*.ptx "$top_srcdir"/testsuite/norace/*.ptx; do
	# How far a launch has come when the host starts the next is no step of either.
	case $file in
	*/race/*) ! grep -q -e '^//@ launch.* pdl' -e '^//@ expect.*\(stream\|host\)-race' "$file" || continue ;;
	esac
	names=$(sed -n 's,^//@ \(buf\|hostbuf\|managed\)  *\([^ ]*\).*,\2,p' "$file" | paste -sd,)
	[ -n "$names" ] || continue
	timeout 60 "$top_builddir/gsan-run" --device=emu --seed=2 --no-instrument --dump="$names" \
		"$file" >want 2>log
	# It cannot run here, or not to its end, with gsan or without.
	[ -s want ] || continue
	timeout 60 "$top_builddir/gsan-run" --device=emu --seed=2 --dump="$names" "$file" >got 2>log
	cmp -s want got || fail "$(basename "$file"): $(diff want got | head -n 4)"
	buffers=$((buffers + $(echo "$names" | tr ',' '\n' | wc -l)))
done
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
