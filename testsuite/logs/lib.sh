# SPDX-License-Identifier: Apache-2.0
#
# What a kept log's verdict is, in a line.

# verdict LOG [OPTIONS]: STATUS KIND@FILE:LINE,FILE:LINE ..., each finding once; the places of one, and the findings, in
# the order of the alphabet; of a place whose source is not known that of the PTX
verdict()
{
	verdict_status=0
	timeout "${LIMIT:-300}" "$top_builddir/gsan-check" -o report_limit=0,color=never,log_path=stdout,print_summary=0 \
		${2:+-o "$2"} \
		"$1" >verdict.out 2>verdict.err || verdict_status=$?
	cat verdict.err >&2
	awk '
		function told() { if (n) print kind "@" (a < b ? a "," b : b "," a); else if (kind) print kind }
		/^WARNING: GSan: / {
			told()
			kind = $0
			sub(/^WARNING: GSan: /, "", kind)
			sub(/ \(pid=[0-9]+\)$/, "", kind)
			gsub(/ /, "-", kind)
			n = 0
		}
		/^    #0 / {
			place = $(NF - 1) ~ /:[0-9]+$/ ? $(NF - 1) : $NF
			gsub(/.*\/|[()]/, "", place)
			if (!n++) a = b = place
			else b = place
		}
		END { told() }' verdict.out | sort -u | tr '\n' ' ' | sed 's/ $//' >verdict.line
	echo "$verdict_status $(cat verdict.line)" | sed 's/ $//'
	rm -f verdict.out verdict.err verdict.line
}
