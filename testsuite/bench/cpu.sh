# SPDX-License-Identifier: Apache-2.0
#
# `make bench`, first part: the rewriter's speed beside ptxas's own time, on
# corpus files of a megabyte of PTX and more.
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
