# SPDX-License-Identifier: Apache-2.0
#
# The direction of dependencies between folders: who may include whose headers.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
cd "$top_srcdir" || hard "no $top_srcdir"

# includes FOLDER: the folders (and some headers, by name) that its sources include,
# other than itself
includes()
{
	find "$1" -type f \( -name '*.[chyS]' -o -name '*.re' -o -name '*.def' \
		-o -name '*.cu' -o -name '*.cuh' \) -exec \
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' {} + |
	sort -u | while read -r header; do
		case $header in
		config.h) ;;
		"$1"/*) ;;
		rt/kinds.h|rt/kinds.def|rt/choices.def) echo kinds ;;
		rt/gsan.h) echo gsan.h ;;
		rt/pairs.h) echo pairs ;;
		rt/entry.h) echo entry ;;
		rewrite/rewrite.h) echo rewrite.h ;;
		emu/oracle.h) echo oracle.h ;;
		emu/events.h) echo events.h ;;
		*/*) echo "${header%%/*}" ;;
		*) [ -f "$1/$header" ] || echo "$header" ;;
		esac
	done | sort -u
}

# may FOLDER WHAT...: nothing but that
may()
{
	folder=$1
	shift
	[ -d "$folder" ] || { fail "no folder $folder"; return; }
	for got in $(includes "$folder"); do
		case " $* " in
		*" $got "*) ;;
		*) fail "$folder includes $got; it may only include: ${*:-nothing}" ;;
		esac
	done
}

may ptxparse
may rewrite ptxparse pairs event probe
may rt event detect log
may cudart
may nvcc-shim
may log event
may check log rt
may run ptxparse kinds pairs gsan.h rewrite.h oracle.h events.h event detect log probe
may emu ptxparse event probe
may image emu entry rewrite.h
may event
may probe ptxparse event
may extent event
may detect event extent

# The check itself: an include of a forbidden folder must be seen.
mkdir -p "$tmp/rt"
printf '#include "ptxparse/ptx.h"\n' >"$tmp/rt/x.c"
cd "$tmp" || hard "cd"
[ "$(includes rt)" = ptxparse ] || fail "a forbidden include goes unseen"
done_testing
