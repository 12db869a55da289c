# SPDX-License-Identifier: Apache-2.0
#
# Every reproducer is in the list of tests, every right or racing situation of
# the folders, every line of the table; and each says what it expects.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
mk=$top_srcdir/testsuite/local.mk

# listed PREFIX: what local.mk has under it
listed()
{
	tr -s ' \t\\' '\n\n\n' <"$mk" | grep "^testsuite/$1/.*\.ptx$" | sort
}

for folder in race norace cases; do
	(cd "$top_srcdir" && ls "testsuite/$folder"/*.ptx) | sort >there
	listed $folder >here
	cmp -s here there || fail "local.mk and testsuite/$folder differ: $(diff here there)"
	[ -s there ] || fail "no test in testsuite/$folder"
done
(cd "$top_srcdir" && ls examples/*.ptx) | grep -v reverse | sort >there
tr -s ' \t\\' '\n\n\n' <"$mk" | grep '^examples/.*\.ptx$' | sort >here
cmp -s here there || fail "local.mk and examples differ: $(diff here there)"
awk -f "$top_srcdir/testsuite/litmus/gen.awk" -v list=1 "$top_srcdir/testsuite/litmus/table" |
	sed 's,.*,testsuite/litmus/&.ptx,' | sort >there
listed litmus >here
cmp -s here there || fail "local.mk and testsuite/litmus/table differ: $(diff here there)"

# A race is expected in race/, nothing in norace/ without options; and of cases by their names.
for f in "$top_srcdir"/testsuite/race/*.ptx "$top_srcdir"/testsuite/cases/*_bad.ptx; do
	grep -q '^//@ expect  *[^c]' "$f" || fail "$f expects no race"
done
for f in "$top_srcdir"/testsuite/norace/*.ptx "$top_srcdir"/testsuite/cases/*_ok.ptx; do
	grep -q '^//@ expect  *clean$' "$f" || fail "$f does not expect clean"
done

# Automake finds a test by its name without the extension: it would run but one of two that are called alike.
for f in "$top_srcdir"/testsuite/[!b]*/*.sh; do    # bench/ has no tests
	for other in ptx cu tap evs ptxs; do
		[ ! -e "${f%sh}$other" ] || fail "$f and ${f%sh}$other are called alike"
	done
done

# Every script is understood, and no racing line is named that is not there.
for f in "$top_srcdir"/testsuite/race/*.ptx "$top_srcdir"/testsuite/norace/*.ptx \
	"$top_srcdir"/testsuite/cases/*.ptx; do
	"$top_builddir/gsan-run" --parse-only --check "$f" || fail "$f: status $?"
done
done_testing
