# SPDX-License-Identifier: Apache-2.0
#
# What kernels.sh, slice.sh and run.sh share: where a mutant's accesses are, and whether a
# report is about them.

# line SOURCE MARK: the line of the source that ends with it
line()
{
	grep -n "// $2\$" "$1" | cut -d: -f1
}

# reported KERNEL KIND A B FILE: a report of that kind in the file names both lines
reported()
{
	awk -v kind="$(echo "$2" | tr - ' ')" -v a="/$1.cu:$3( |\$)" -v b="/$1.cu:$4( |\$)" '
		/^WARNING: GSan: / { right = index($0, "GSan: " kind " ("); first = second = 0 }
		$0 ~ a { first = 1 }
		$0 ~ b { second = 1 }
		/^SUMMARY: / { if (right && first && second) found = 1 }
		END { exit !found }' "$5"
}

# ptx_lines LINE NAME FILE.ptx: the lines of the PTX that come from that line of NAME.cu, or
# from what is called there
ptx_lines()
{
	awk -v want="$1" -v file="$2.cu" '
		FNR == NR { if ($1 == ".file" && index($3, "/" file "\"")) id = $2; next }
		$1 == ".loc" {
			here = $2 == id && $3 == want
			for (i = 5; i < NF; i++)
				here = here || $i == "inlined_at" && $(i + 1) == id && $(i + 2) == want
			next
		}
		here && /;/ { print FNR }' "$3" "$3"
}

# found_at TEXT A B FILE: a line of the file has the text, and `at lines`, and two numbers, of
# which one is in the file A and the other one in B
found_at()
{
	awk -v text="$1" -v a="$2" -v b="$3" '
		FILENAME == a { in_a[$1] = 1; next }
		FILENAME == b { in_b[$1] = 1; next }
		index($0, text) && / at lines / {
			$0 = substr($0, index($0, " at lines ") + 10)
			sub(/,.*/, "")
			if (($1 in in_a) && ($3 in in_b) || ($1 in in_b) && ($3 in in_a))
				found = 1
		}
		END { exit !found }' "$2" "$3" "$4"
}
