# SPDX-License-Identifier: Apache-2.0
#
# What the tests of the runtime share: prog.c's program over fake.c's driver.
# Source it after testsuite/lib.sh.

LD_LIBRARY_PATH=$top_builddir/testsuite/rt${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
prog=$top_builddir/testsuite/rt/prog

# go STATUS OPTIONS COMMAND...: the program with these GSAN_OPTIONS; 3 is its own
# status
go()
{
	want=$1
	options=$2
	shift 2
	run "$want" env GSAN_OPTIONS="$options" timeout 60 "$prog" "$@"
}

# count N TEXT: err contains it so often
count()
{
	n=$(grep -cF -e "$2" err)
	[ "$n" = "$1" ] || { fail "$n times, not $1: $2"; sed 's/^/  /' err; }
}
