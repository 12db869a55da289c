# SPDX-License-Identifier: Apache-2.0
#
# planted_lib.sh: what the scripts that plant bugs share.  A script sources it, plants bugs one after
# the other in copies of sources below $dir, and ends with planted_end.
found=0
bad=0

# planted_change NAME FROM TO SED: one line of a source, changed; 1: there is no such line any more
planted_change()
{
	sed "$4" "$2" >"$3"
	case $(diff "$2" "$3" | grep -c '^>') in
	1)	return 0 ;;
	0)	echo "$1: there is no such line in $(basename "$2") any more" ;;
	*)	echo "$1: there is more than one such line in $(basename "$2")" ;;
	esac
	bad=$((bad + 1))
	return 1
}

# planted_found NAME BY SECONDS
planted_found()
{
	echo "$1: $2; $3 s"
	found=$((found + 1))
}

# planted_missed NAME FOR
planted_missed()
{
	echo "$1: not found $2"
	bad=$((bad + 1))
}

# planted_end: exit status 1 unless everything was found
planted_end()
{
	echo "$found of $((found + bad)) found"
	[ $bad = 0 ] && rm -rf "$dir"
	exit $((bad != 0))
}
