# SPDX-License-Identifier: Apache-2.0
#
# ptxs.sh LIST: the reproducers that the list names, each by ptx.sh, told as TAP.  The list is made
# by the Makefile (local.mk); a name is that of a file in the build folder or else in the source's.
list=$PWD/${1:?a list of reproducers}
[ -s "$list" ] || { echo "Bail out! $list names no reproducers"; exit 1; }
: "${top_srcdir:?run by make check, or set top_srcdir and top_builddir}" "${top_builddir:?}"
number=0

echo "1..$(wc -l <"$list")"
while read -r name; do
	file=$top_builddir/$name
	[ -f "$file" ] || file=$top_srcdir/$name
	number=$((number + 1))
	said=$("${SHELL:-sh}" "$top_srcdir/testsuite/ptx.sh" "$file" 2>&1 </dev/null)
	status=$?
	[ -z "$said" ] || printf '%s\n' "$said" | sed 's/^/# /'
	case $status in
	0)  echo "ok $number - $name" ;;
	77) echo "ok $number - $name # SKIP" ;;
	*)  echo "not ok $number - $name" ;;
	esac
done <"$list"
