# SPDX-License-Identifier: Apache-2.0
#
# async.sh FILE.ptx: a reproducer of what gsan's runtime does not model yet as a whole
# (async_tests of local.mk; ptx.sh calls this for them).  ptxas takes the file as it is
# and instrumented.  On the emulated device the program comes to its end under several
# schedules, and the oracle alone gives the verdict that the file expects.  What a
# "// contents: BUFFER WORDS" line says is in memory then, with gsan and without, where
# WORDS are the buffer's: V, N*V (N times), A..B.  Right programs raise nothing under gsan.
file=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
. "$top_srcdir/testsuite/lib.sh"
test_name=$(basename "$file")
[ -f "$file" ] || hard "no such file: $1"
gsan_run="timeout 60 $top_builddir/gsan-run --device=emu"

arch=$(sed -n 's,^//@ device  *\(sm_[0-9a-f]*\).*,\1,p' "$file")
"$PTXAS" -arch="$arch" "$file" -o k.cubin || fail "ptxas refuses it"
if run 0 "$top_builddir/gsan-ptx" -c "$file" -o k.ptx; then
	"$PTXAS" -c -arch="$arch" k.ptx -o k.cubin || fail "ptxas refuses the instrumented text"
fi

run 0 $gsan_run --oracle=only --check --seeds=0..5 "$file"
if grep -q '^//@ expect clean' "$file"; then
	run 0 $gsan_run --check --seeds=0..1 "$file"
fi

check_contents 0 1 2 3
done_testing
