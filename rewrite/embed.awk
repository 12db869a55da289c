# SPDX-License-Identifier: Apache-2.0
#
# embed.awk: the device runtime's PTX, one file a variant, as C strings for
# attach.c.  Comments and blanks that mean nothing are left out, and so is the
# one pragma that a module older than PTX 8.3 could not carry: it is a hint.
BEGIN {
	print "/* Generated from the device runtime by rewrite/embed.awk. */"
	print "#include \"rewrite/rw.h\""
	print ""
	print "#pragma GCC diagnostic ignored \"-Woverlength-strings\""
	n = 0
}
FNR == 1 {
	if (n)
		print ";"
	printf "\nstatic const char variant%d[] = \"\"\n", n++
}
/^[ \t]*\/\// || /^[ \t]*$/ { next }
/^[ \t]*\.pragma[ \t]*"used_bytes_mask / { next }
{
	sub(/[ \t]*\/\/[^"]*$/, "")
	sub(/^[ \t]+/, "")
	gsub(/[ \t]+/, " ")
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	print "\t\"" $0 "\\n\""
}
END {
	print ";\n\nconst struct rw_text_span rw_runtime[] = {"
	for (i = 0; i < n; i++)
		printf "\t{ variant%d, sizeof variant%d - 1 },\n", i, i
	print "};"
}
