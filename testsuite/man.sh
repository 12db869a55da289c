# SPDX-License-Identifier: Apache-2.0
#
# The manual pages are well formed and complete: every option that a program's
# help lists, every key of GSAN_OPTIONS and every kind of finding is in its
# page, and every example in the pages runs as it stands.
. "$top_srcdir/testsuite/lib.sh"
man=$top_srcdir/man

if command -v mandoc >/dev/null; then
	for page in "$man"/*.[157]; do
		(cd "$man" && mandoc -Tlint -Wstyle "$page") >lint 2>&1
		[ -s lint ] && fail "$(cat lint)"
	done
else
	echo "no mandoc, so no linting"
fi

# has_option PAGE LONG: as in "Fl -stats", "Fl v , -verbose"
has_option()
{
	grep -qE "^\.(It|Op).* -$2( |\$)" "$man/$1" || fail "$1 lacks --$2"
}
"$top_builddir/gsan-ptx" --help | grep -oE '^ +(-., )? *--[a-z-]+' | sed 's/.*--//' >ptx
"$top_builddir/gsan-run" --help | grep -oE '^ +(-., )? *--[a-z-]+' | sed 's/.*--//' >run
"$top_builddir/gsan-check" --help | grep -oE '^ +(-., )? *--[a-z-]+' | sed 's/.*--//' >check
"$top_builddir/gsan-nvcc" --gsan-help | grep -oE '^ +--[a-z-]+' | sed 's/.*--//' >nvcc
for program in ptx run check nvcc; do
	[ "$(wc -l <$program)" -ge 4 ] || fail "gsan-$program's help cannot be read"
	while read -r option; do
		has_option gsan-$program.1 "$option"
	done <$program
done
sed -nE 's/^(BOOL|INT|TEXT)\(([a-z_]+), "?([^,"]*)"?,.*/\2 \3/p' "$top_srcdir/rt/flags.def" >keys
sed -nE 's/^CHOICE\(([a-z_]+), "([^ "]*).*/\1 \2/p' "$top_srcdir/rt/choices.def" >>keys
[ "$(wc -l <keys)" -ge 10 ] || fail "flags.def cannot be read"
while read -r key value; do
	grep -q "^\.It Cm $key Pq ${value:-empty}\$" "$man/gsan.7" ||
		fail "gsan.7 lacks $key with its default ${value:-empty}"
done <keys
grep -oE '^\.It Cm [a-z_]+ Pq' "$man/gsan.7" | cut -d' ' -f3 | while read -r key; do
	grep -q "^$key " keys || echo "$key"
done >gone
[ -s gone ] && fail "gsan.7 has keys that are gone: $(cat gone)"
sed -n 's/^KIND([A-Z_]*, *"\([a-z-]*\)").*/\1/p' "$top_srcdir/rt/kinds.def" >kinds
[ "$(wc -l <kinds)" -ge 10 ] || fail "kinds.def cannot be read"
while read -r kind; do
	grep -qE "^\.(It )?Cm $kind( |\$)" "$man/gsan.7" || fail "gsan.7 lacks the kind $kind"
done <kinds

# Approximations: each counter is in its section once, and is counted by somebody;
# what the section says of the closing line stands there.
sed -n '/^\.Sh APPROXIMATIONS/,/^\.Sh [^A]/p' "$man/gsan.7" >approximations
sed -n '/^\.Ss What is counted as/,/^\.Ss What the host/s/^\.It Dq //p' approximations >said
# What a part of the log is lost of is told by launches.
sed -n '/names\[DETECT_COUNTERS\] = {/,/};/p' "$top_srcdir/detect/detect.c" | grep -o '"[^"]*"' | tr -d '"' |
	grep -v '^launches of which' >counters
[ "$(wc -l <counters)" -ge 5 ] || fail "the detector's counters cannot be read"
while read -r text; do
	grep -qxF -e "$text" said || fail "gsan.7 does not say what $text are"
done <counters
while read -r text; do
	grep -qxF -e "$text" counters ||
		grep -qF -e "$text" "$top_srcdir/rt/print.c" "$top_srcdir/rt/kinds.def" || fail "no closing line says $text"
	awk -v it=".It Dq $text" '$0 == it { on = 1; next } /^\.It|^\.El/ { on = 0 }
		on && /^Hidden: / { found = 1 } END { exit !found }' approximations ||
		fail "gsan.7 does not say what is hidden by $text"
done <said
sed -n '/^\.Ss What the host/,/^\.Ss What nothing/p' approximations |
	sed -n 's/^\(\.It \)*Dq \(.*\)/\2/p' | sed 's/ , \\$//' >said
[ "$(wc -l <said)" -ge 8 ] || fail "the host's part of APPROXIMATIONS cannot be read"
while read -r text; do
	grep -qF -e "$text" -e "${text#accesses }" "$top_srcdir/rt/print.c" ||
		fail "no closing line says $text"
done <said

# the examples of gsan-ptx(1), gsan-run(1) and gsan-check(1)
PATH=$top_builddir:$(dirname "$NVCC"):$PATH
export PATH
echo '__global__ void k(int *p) { p[threadIdx.x] = 1; }' >k.cu
ln -s "$top_srcdir/examples" examples
for page in gsan-ptx.1 gsan-run.1 gsan-check.1; do
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/{/^\.Bd/,/^\.Ed/{/^\./!p;};}' "$man/$page" >commands
	[ -s commands ] || fail "$page: no examples"
	while read -r command; do
		sh -c "$command" >log 2>&1
		case $? in
		0) ;;
		66) has log "WARNING: GSan: data race" ;;
		*) fail "$page: $command: $(tail -n 3 log)" ;;
		esac
	done <commands
done
done_testing
