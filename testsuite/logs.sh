# SPDX-License-Identifier: Apache-2.0
#
# Kept logs (keep.sh), judged again: each has the verdict that LIST says, under the log's own options and under others.
# REPRODUCERS=N: one log in N, by their names, is judged.
# A line is NAME [KEY=VALUE[,KEY=VALUE]...] STATUS KIND@FILE:LINE,FILE:LINE ...
. "$top_srcdir/testsuite/lib.sh"
logs=${1:-$top_srcdir/testsuite/logs}
. "$top_srcdir/testsuite/logs/lib.sh"
grep -q '^#define HAVE_ZSTD' "$top_builddir/config.h" || skip "gsan-check was built without zstd"

grep -v -e '^#' -e '^$' "$logs/LIST" >list || hard "no list"
while read -r name first rest; do
	case $first in
	*=*) options=$first want=$rest ;;
	*) options= want="$first${rest:+ $rest}" ;;
	esac
	[ -f "$logs/$name.zst" ] || { fail "$name is not there"; continue; }
	[ "${REPRODUCERS:-1}" = 1 ] || [ $(($(echo "$name" | cksum | cut -d' ' -f1) % REPRODUCERS)) = 0 ] || continue
	got=$(verdict "$logs/$name.zst" "$options")
	[ "$got" = "$want" ] || fail "$name $options:
  has    $got
  not    $want"
done <list
cut -d' ' -f1 list | sort -u >listed
ls "$logs" | sed -n 's/\.zst$//p' | sort >there
cmp -s listed there || fail "LIST and the logs differ: $(diff listed there)"

# The check itself: another verdict, and a log that nobody names, must be seen; and keep.sh writes what is here.
unset REPRODUCERS
if [ $# = 0 ]; then
	name=$(sed -n 's/ .*//p' list | head -n 1)
	mkdir wrong kept
	cp "$logs/$name.zst" wrong
	sed -n "s/^$name [^ =]*$/&1/p; s/^$name \([^ =]*\) .*/& data-race@x:1,y:2/p" list >wrong/LIST
	run 1 sh "$top_srcdir/testsuite/logs.sh" "$tmp/wrong" && has out "  has    "
	cp "$logs/LIST" wrong
	run 1 sh "$top_srcdir/testsuite/logs.sh" "$tmp/wrong" && has out " is not there"
	other=$(sed -n 's/ .*//p' list | grep -vx "$name" | head -n 1)
	cp "$logs/$other.zst" wrong
	grep "^$other " list >wrong/LIST
	run 1 sh "$top_srcdir/testsuite/logs.sh" "$tmp/wrong" && has out "LIST and the logs differ"
	if command -v zstd >/dev/null; then
		zstd -q -d "$logs/$name.zst" -o "kept/$name.12.gsanlog" || fail "zstd"
		run 0 env KEEP="$tmp/kept" sh "$top_srcdir/testsuite/logs/keep.sh" kept
		[ "$(cat kept/LIST)" = "$(grep "^$name [^=]*$" list)" ] || fail "keep.sh writes $(cat kept/LIST)"
		run 1 env KEEP="$tmp/kept" sh "$top_srcdir/testsuite/logs/keep.sh" wrong
		echo nothing >kept/other.1.gsanlog
		run 1 env KEEP="$tmp/kept" sh "$top_srcdir/testsuite/logs/keep.sh" kept && has err "cannot be judged: status 3"
	fi
fi
done_testing
