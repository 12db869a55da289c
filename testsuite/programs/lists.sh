# SPDX-License-Identifier: Apache-2.0
#
# Every program of the folder is in the list of tests, and says what is expected of it.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"

(cd "$top_srcdir" && ls testsuite/programs/*.cu) | sort >there
tr -s ' \t\\' '\n\n\n' <"$top_srcdir/testsuite/programs.mk" | grep '^testsuite/programs/.*\.cu$' | sort >here
cmp -s here there || fail "programs.mk and testsuite/programs differ: $(diff here there)"
[ "$(wc -l <there)" -ge 30 ] || fail "only $(wc -l <there) programs"
for f in "$top_srcdir"/testsuite/programs/*.cu; do
	case $f in
	*/race_*) grep -q '^// race: [a-z-]*$' "$f" && grep -q '//.*second' "$f" ;;
	*) grep -q '^// prints: ' "$f" ;;
	esac || fail "$f does not say what is expected of it"
done
done_testing
