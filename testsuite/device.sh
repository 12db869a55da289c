# SPDX-License-Identifier: Apache-2.0
#
# The arithmetic of the device runtime, compiled for the host; nvcc needs a C++
# compiler, so there is one.  And rules that it must keep where no GPU tells.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
command -v "${CXX:=g++}" >/dev/null || skip "no C++ compiler"
"$CXX" -std=c++14 -Wall -Wno-unknown-pragmas -Wno-unused -I"$top_srcdir" \
    -o device "$top_srcdir/testsuite/unit/device.cpp" || { fail "it does not compile"; done_testing; }
./device || fail "see above"

# A mask that is kept is the lane's own (together() in base.cuh); testsuite/gpu/merge.cu comes to
# no end otherwise.
if grep -nE '(= |, |: )__activemask\(\)[;,)]' "$top_srcdir"/rt/device/*.cuh; then
	fail "a mask is kept that ptxas takes to be the same in every lane: together() is not"
fi

# No function comes to itself: of one that does ptxas cannot tell how much stack a kernel needs, which
# then overflows on a GPU.  Leaves of the graph of calls are taken off it as long as there are any.
for ptx in runtime runtime_sm90; do
	awk '
		/^(\.visible |\.weak )?\.func/ { sub(/\($/, ""); from = $NF }
		/^\tcall/ { getline; sub(/,.*/, ""); print from, $1 }' "$top_builddir/rt/device/$ptx.ptx" | sort -u >calls
	[ "$(wc -l <calls)" -gt 300 ] || fail "$ptx: only $(wc -l <calls) calls were found"
	awk '
		{ a[NR] = $1; b[NR] = $2 }
		END {
			for (n = NR; ; ) {
				split("", calls)
				for (i = 1; i <= n; i++) calls[a[i]] = 1
				kept = 0
				for (i = 1; i <= n; i++) if (b[i] in calls) { kept++; a[kept] = a[i]; b[kept] = b[i] }
				if (kept == n) break
				n = kept
			}
			for (i = 1; i <= n; i++) print a[i], b[i]
		}' calls >circle
	[ ! -s circle ] || { cat circle; fail "$ptx: these functions come to themselves"; }
done
done_testing
