# SPDX-License-Identifier: Apache-2.0
#
# The arithmetic of the device runtime, compiled for the host; nvcc needs a C++
# compiler, so there is one.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
command -v "${CXX:=g++}" >/dev/null || skip "no C++ compiler"
"$CXX" -std=c++14 -Wall -Wno-unknown-pragmas -Wno-unused -I"$top_srcdir" \
    -o device "$top_srcdir/testsuite/unit/device.cpp" || { fail "it does not compile"; done_testing; }
./device || fail "see above"
done_testing
