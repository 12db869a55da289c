# SPDX-License-Identifier: Apache-2.0
#
# embed.awk: the device runtime's PTX as a C array of lines, for attach.c.
# Comments and empty lines are left out.
BEGIN {
	print "/* Generated from the device runtime by rewrite/embed.awk. */"
	print "#include \"rewrite/rw.h\""
	print ""
	print "const char *const rw_runtime_lines[] = {"
}
/^[ \t]*\/\// || /^[ \t]*$/ { next }
{
	sub(/[ \t]*\/\/[^"]*$/, "")
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	gsub(/\t/, " ")
	print "\t\"" $0 "\\n\","
}
END {
	print "\tNULL"
	print "};"
}
