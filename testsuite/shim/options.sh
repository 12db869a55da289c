# SPDX-License-Identifier: Apache-2.0
#
# opts.def against `nvcc --help`: every option that nvcc lists is there with
# its short name and takes a value exactly if nvcc's does; the table is sorted.
. "$top_srcdir/testsuite/lib.sh"
table=$top_srcdir/nvcc-shim/opts.def

"$NVCC" --help | sed -n 's/^--\([^ ]*\) *\(\(.*[^ ]\)  *\)\{0,1\}(-\([^ ]*\)) *$/\1 \4 \3/p' >listed
[ "$(wc -l <listed)" -gt 100 ] || hard "cannot read nvcc --help"
sed -n 's/^OPT("\([^"]*\)", *"\([^"]*\)", *\([A-Z]*\),.*/\1 \2 \3/p' "$table" >ours
grep -c '^OPT(' "$table" >n
[ "$(wc -l <ours)" = "$(cat n)" ] || fail "a row of the table cannot be read"
sed 's/^\([^ ]*\).*/\1/' ours >names
sort -c names 2>/dev/null || fail "the table is not sorted: $(sort -c names 2>&1)"
[ -z "$(uniq -d names)" ] || fail "twice: $(uniq -d names)"
while read -r long short value; do
	row=$(grep -F -e "$long $short " ours | grep -e "^$long $short ")
	case $row in
	"")	fail "not in the table: --$long (-$short)" ;;
	*" NONE")
		[ -z "$value" ] || fail "--$long takes a value: $value" ;;
	*)	[ -n "$value" ] || fail "--$long takes no value" ;;
	esac
done <listed
done_testing
