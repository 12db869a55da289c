# SPDX-License-Identifier: Apache-2.0
#
# What the tests of faults share.  Source it after testsuite/lib.sh.

inject=$top_builddir/testsuite/faults/inject.so
[ "$(uname -m)" = x86_64 ] || skip "no stubs for this processor"
[ -f "$inject" ] || hard "no inject.so"
# Where the dynamic linker has no audit interface there is nothing to test with.
LD_AUDIT=$inject FAULT_TRACE=$tmp/audit FAULT=getpid,cuInit:1:1:0 true 2>audit.err &&
	[ ! -s audit.err ] || skip "LD_AUDIT does not work here: $(cat audit.err)"

# plain FILE: its text without what differs from run to run
plain()
{
	sed -E 's/0x[0-9a-f]+/ADDR/g; s/pid=[0-9]+/pid=N/' "$1"
}

# closes FILE: there is one closing line
closes()
{
	[ "$(grep -cE '^GSan: ([0-9]+ findings?; |nothing was watched: )' "$1")" = 1 ]
}
