# SPDX-License-Identifier: Apache-2.0
#
# The detector is C that is C++ as well: nvcc compiles the same sources for the device.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
cd "$top_srcdir" || hard "no $top_srcdir"

# C++20 has designated initialisers.  A compound literal is an extension that every compiler has.
flags='-x c++ -std=c++20 -fsyntax-only -Wall -Wno-missing-braces -Werror -I.'
compilers=$(for c in g++ clang++; do command -v $c >"$tmp/where" && $c $flags /dev/null 2>"$tmp/log" && echo $c; done)
[ -n "$compilers" ] || skip "no C++ compiler"

for c in $compilers; do
	for file in event/*.c extent/*.c detect/*.c; do
		$c $flags "$file" >"$tmp/log" 2>&1 || fail "$c does not take $file: $(head -n 3 "$tmp/log")"
	done
	# The check itself: what is C alone must be refused.
	printf '#include <stdlib.h>\nint *p;\nvoid f(void) { p = malloc(4); }\n' >"$tmp/x.c"
	$c $flags "$tmp/x.c" 2>"$tmp/log" && fail "$c takes what is no C++"
done
done_testing
