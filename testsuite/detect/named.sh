# SPDX-License-Identifier: Apache-2.0
#
# The logs of this folder's folders are all in the list of tests, and name, between them, each row
# of memory-model.md's tables, each of its chapters both ways, each value of each choice, each kind
# of event and what it may say, each kind of finding.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
model=$top_srcdir/memory-model.md
events=$top_srcdir/event/event.def

# ---- what there is to name ------------------------------------------------------------------

# chapter N: its text
chapter()
{
	awk -v n="$1" '/^##* / {on = index($0, "## " n " ") == 1} on' "$model"
}

# Tables: a first column "| X |" of a row as the head of a log spells it.
chapter 1.6 | sed -nE '/^\| (operation|-)/d; s/^\| ([^|]*[^| ]) *\|.*/1.6 \1/p' >rows
[ "$(wc -l <rows)" -ge 8 ] || hard "no table of operations in 1.6"
for table in '2.1 R 11' '2.4 AMB- 20' '2.5 ruling_ 19'; do
	set -- $table
	start=$2
	[ "$1" != 2.5 ] || start=
	chapter "$1" | sed -nE "s/^\| (${start}[0-9]+) \|.*/\1/p" | sed "s/^/$1 /; s/^2.5 /2.5 ruling /" >more
	[ "$(wc -l <more)" -ge "$3" ] || hard "chapter $1 has fewer than $3 rows"
	cat more >>rows
done
chapter 1.2 | sed -nE 's/^([0-9]+)\. .*/1.2.\1/p' >more
[ "$(wc -l <more)" -ge 10 ] || hard "no rules in 1.2"
cat more >>rows
sed -nE 's/^## (1\.[0-9]+) .*/\1/p' "$model" >chapters
[ "$(wc -l <chapters)" -ge 10 ] || hard "no chapters"

# Choices that are none of the detector's: there are no such.
others=
sed -nE 's/^CHOICE\(([a-z_]+), "([^"]*)".*/\1 \2/p' "$top_srcdir/rt/choices.def" |
while read -r name values; do
	for value in $values; do
		case " $others " in
		*" $name "*) ;;
		*) echo "$name=$value" ;;
		esac
	done
done >values
[ "$(wc -l <values)" -ge 25 ] || hard "no choices"

# Kinds of events.  Accesses and strong ones are written as ld, st, update, atom and red; blocks
# begin by a launch.
tr ')' '\n' <"$events" | sed -nE 's/^ ?EVENT\([A-Z_0-9]+, "([^"]*)".*/\1/p' |
	sed 's/^access$/(ld|st|update)/; s/^strong$/(atom|red)/; s/^begin$/launch/' >kinds
[ "$(wc -l <kinds)" -ge 40 ] || hard "no kinds of events"

# Modifiers: all but those that only say what is done by default, or again what operands say: generic
# space, a fence of threads, where a copy comes from.
tr ')' '\n' <"$events" | sed -nE 's/^ ?MODIFIER\("([^"]*)".*/\1/p' |
	grep -vxE 'all_spaces|from_shared|from_global' >modifiers
[ "$(wc -l <modifiers)" -ge 45 ] || hard "no modifiers"

# What operands and sites may say: all but what the detector does not look at.
{
	tr ')' '\n' <"$events" | sed -nE 's/^ ?OPERAND\([A-Z_0-9]+, [A-Z_0-9]+, "([^"]*)".*/\1/p'
	tr ')' '\n' <"$events" | sed -nE 's/^ ?SITE\("([^"]*)".*/\1/p'
} | grep -vxE 's5|threads' | sort -u >operands
[ "$(wc -l <operands)" -ge 45 ] || hard "no operands"

sed -nE '/names\[DETECT_KINDS\]/,/\}/ s/[^"]*"([a-z-]+)"[^"]*/\1 /gp' "$top_srcdir/detect/detect.c" |
	tr ' ' '\n' | grep . >findings
[ "$(wc -l <findings)" -ge 9 ] || hard "no kinds of findings"

# ---- what is named ----------------------------------------------------------------------------

# A line for each log: its name, its rules, whether it expects nothing without options.
heads()
{
	find "$1" -name '*.ev' | sort | xargs awk '
		function out() {
			sub(/: .*/, "", head)
			print name "\t" head ",\t" verdict
		}
		FNR == 1 {
			if (name)
				out()
			name = FILENAME; head = ""; verdict = ""; more = 1
			if ($0 != "# SPDX-License-Identifier: Apache-2.0")
				head = "no licence "
			next
		}
		more && /^# / {head = head (head == "" ? "" : " ") substr($0, 3); next}
		{more = 0}
		/^expect / {verdict = verdict ($2 == "clean" ? "clean" : "found")}
		END {out()}'
}

# missing FOLDER: what its logs do not name
missing()
{
	heads "$1" >"$tmp/heads"
	find "$1" -name '*.ev' -exec cat {} + >"$tmp/logs"
	grep -vE '	rule [0-9]' "$tmp/heads" | sed 's/	.*/ names no rule in its second line/'
	while read -r row; do
		grep -qF -e "$row," "$tmp/heads" || echo "rule $row"
	done <"$tmp/rows"
	while read -r n; do
		of=$(printf '%s' "$n" | sed 's/\./\\./')
		for verdict in clean found; do
			grep -qE "(rule|,) $of(\.[0-9]+|[^0-9.,][^,]*)?,.*	$verdict" "$tmp/heads" || echo "$verdict in $n"
		done
	done <"$tmp/chapters"
	while read -r value; do
		grep -qE "^expect-with ([^ ]*:)?$value(:| )" "$tmp/logs" || echo "choice $value"
	done <"$tmp/values"
	while read -r kind; do
		grep -qE "^([0-9*].* )?$(printf '%s' "$kind" | sed 's/\./\\./')([ .]|\$)" "$tmp/logs" || echo "event $kind"
	done <"$tmp/kinds"
	while read -r modifier; do
		grep -qE "^[0-9*][^#=]*\.$modifier([ .]|\$)" "$tmp/logs" || echo "modifier $modifier"
	done <"$tmp/modifiers"
	while read -r operand; do
		grep -qE "^[0-9*l].* $operand=" "$tmp/logs" || echo "operand $operand"
	done <"$tmp/operands"
	while read -r kind; do
		grep -qE "^expect.* $kind( |\$)" "$tmp/logs" || echo "finding $kind"
	done <"$tmp/findings"
}

# unlisted FOLDER LIST: what one of the two lacks, logs or folders
unlisted()
{
	(cd "$1" && ls testsuite/detect/*/*.ev) >"$tmp/there"
	sed 's,/[^/]*$,.evs,' "$tmp/there" | sort -u - "$tmp/there" >"$tmp/both"
	tr -s ' \t\\' '\n\n\n' <"$2" | grep -E '^testsuite/detect/.*\.evs?$' | sort | diff - "$tmp/both"
}

unlisted "$top_srcdir" "$top_srcdir/testsuite/detect/local.mk" >out ||
	fail "local.mk and testsuite/detect differ: $(cat out)"
missing "$top_srcdir/testsuite/detect" >out
while read -r what; do
	fail "no log: $what"
done <out
[ "$(wc -l <heads)" -ge 420 ] || fail "only $(wc -l <heads) logs"

[ "${REPRODUCERS:-1}" = 1 ] || done_testing     # what follows takes long

# ---- the check itself ---------------------------------------------------------------------------

# without PATTERN WHAT: without the logs that have it, that must be missing
without()
{
	rm -rf "$tmp/some"
	mkdir -p "$tmp/some/testsuite"
	cp -R "$top_srcdir/testsuite/detect" "$tmp/some/testsuite/detect"
	chmod -R u+w "$tmp/some"
	grep -rlE --include='*.ev' -e "$1" "$tmp/some" | xargs rm -f
	missing "$tmp/some/testsuite/detect" >"$tmp/gone"
	grep -qxF -e "$2" "$tmp/gone" || fail "unnoticed: $2"
}
without '^# .*2\.4 AMB-13' 'rule 2.4 AMB-13'
unlisted "$tmp/some" "$top_srcdir/testsuite/detect/local.mk" >out && fail "logs that are gone go unnoticed"
without '^# .*1\.6 clusterlaunchcontrol' 'rule 1.6 clusterlaunchcontrol.try_cancel'
without '^# .*ruling 19' 'rule 2.5 ruling 19'
without '^# .*2\.1 R10' 'rule 2.1 R10'
without '^expect clean' 'clean in 1.8'
without 'async_proxy=per-cta' 'choice async_proxy=per-cta'
without ' tc\.cp' 'event tc.cp'
without 'multimem' 'modifier multimem'
without ' o2=' 'operand o2'
without 'lifetime' 'finding lifetime'

# A log whose verdict is wrong fails, each of them: nothing where something is, something where
# nothing is.
rm -rf "$tmp/some"
cp -R "$top_srcdir/testsuite/detect" "$tmp/some"
chmod -R u+w "$tmp/some"
find "$tmp/some" -name '*.ev' | sort >logs
xargs sed -i -E '/^expect-with/d; s/^expect clean.*/expect WRONG/; s/^expect [^W].*/expect clean/; s/WRONG/race/' <logs
"$top_builddir/testsuite/detect/judge" $(cat logs) >out && fail "the judge takes wrong verdicts"
grep '^ok' out >right && fail "wrong, and taken: $(cat right)"
done_testing
