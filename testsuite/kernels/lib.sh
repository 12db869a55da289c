# SPDX-License-Identifier: Apache-2.0
#
# What kernels.sh and run.sh share: where a mutant's accesses are, and whether a report
# of gsan is about them.

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
