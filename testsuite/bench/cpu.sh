# SPDX-License-Identifier: Apache-2.0
#
# `make bench`, first part: the rewriter's speed beside ptxas's own time, on
# corpus files of a megabyte of PTX and more, on a small one (sort), and on one
# that is made of accesses alone (dense).
. "$top_srcdir/testsuite/lib.sh"

ptx()		# ptx SOURCE ARCH FLAG...
{
	name=$1
	arch=$2
	shift 2
	"$NVCC" -std=c++17 -diag-suppress 20054 -arch="sm_$arch" "$@" -ptx \
		"$top_srcdir/testsuite/corpus/$name.cu" -o "$name-$arch.ptx" || hard nvcc
}
ptx device 75
ptx device 90a
ptx math 120a
ptx pipeline 80 -G
ptx sort 80
# Nothing but accesses of memory, each with an address of its own.
awk 'BEGIN {
	print ".version 8.0\n.target sm_80\n.address_size 64"
	for (i = 0; bytes < 2e6; i++) {
		if (i % 500 == 0) {
			if (i)
				print "\tret;\n}"
			print ".visible .entry dense" i "(.param .u64 p)\n{\n\t.reg .b64 %rd<3>;\n\t.reg .b32 %r<64>;"
			print "\tld.param.u64 \t%rd1, [p];\n\tcvta.to.global.u64 \t%rd2, %rd1;"
		}
		r = "%r" i % 64
		at = "+" 4 * i "]"
		s = i % 3 == 0 ? "ld.global.u32 \t" r ", [%rd2" at : i % 3 == 1 ? "ld.u32 \t" r ", [%rd1" at : \
			"st.global.u32 \t[%rd2" at ", " r
		print "\t" s ";"
		bytes += length(s) + 3
	}
	print "\tret;\n}" }' >dense-80.ptx

printf '%-16s%9s%9s%9s%9s%10s%10s%9s\n' "" "MB" parse print rewrite seconds ptxas share
for file in *.ptx; do
	arch=${file##*-}
	arch=${arch%.ptx}
	as=
	case $file in pipeline-*) as="-g --dont-merge-basicblocks --return-at-end" ;; esac
	start=$(date +%s.%N)
	"$PTXAS" $as -arch="sm_$arch" "$file" -o k.cubin || hard ptxas
	end=$(date +%s.%N)
	"$top_builddir/testsuite/bench/text" "$file" >line || hard text
	echo "$(cat line) $start $end" | awk '{
		as = $8 - $7
		printf "%-16s%9.2f%9.0f%9.0f%9.0f%10.3f%10.3f%8.1f%%\n", $1, $2 / 1e6, $3, $4, $5, $6, as, 100 * $6 / as
	}'
done
echo "parse, print (parse and print) and rewrite (all of gsan-ptx) in MB a second;"
echo "share: what rewriting adds to ptxas's time"
