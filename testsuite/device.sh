# SPDX-License-Identifier: Apache-2.0
#
# The arithmetic of the device runtime, compiled for the host; nvcc needs a C++
# compiler, so there is one.  And a rule that it must keep where no GPU tells.
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
done_testing
