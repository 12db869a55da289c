#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# keep.sh FOLDER [OPTIONS]...: takes logs that GSAN_OPTIONS=log=FOLDER has left into this folder, compressed, and writes
# what they are judged to be into LIST (logs.sh): under their own options, and under each of OPTIONS (KEY=VALUE[,...]).
# Whoever keeps one has seen that the verdict is right.  A log is called as its file, PROGRAM.PID.gsanlog, without the
# number; another one of that name takes its place.  KEEP is the folder to take them into, if another.
folder=${1:?a folder of logs}
shift
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
top_builddir=${top_builddir:-$top_srcdir/build}
logs=${KEEP:-$top_srcdir/testsuite/logs}
. "$top_srcdir/testsuite/logs/lib.sh"
set -f
options=$*
set +f

touch "$logs/LIST"
kept=
for log in "$folder"/*.gsanlog; do
	[ -f "$log" ] || { echo "keep.sh: no log in $folder" >&2; exit 1; }
	name=$(basename "$log" .gsanlog | sed 's/\.[0-9]*\(\.[0-9]*\)\{0,1\}$//')
	case " $kept " in
	*" $name "*) echo "keep.sh: $log: a second log of $name" >&2; exit 1 ;;
	esac
	kept="$kept $name"
	zstd -q -19 -f "$log" -o "$logs/$name.zst" || exit 1
	awk -v name="$name" '$1 != name' "$logs/LIST" >"$logs/LIST.new"
	for o in "" $options; do
		line=$(verdict "$logs/$name.zst" "$o")
		case $line in
		0|0\ *|66\ *) ;;
		*) echo "keep.sh: $log cannot be judged: status $line" >&2; rm -f "$logs/LIST.new" "$logs/$name.zst"; exit 1 ;;
		esac
		echo "$name ${o:+$o }$line"
	done >>"$logs/LIST.new" || exit 1
	mv "$logs/LIST.new" "$logs/LIST"
done
