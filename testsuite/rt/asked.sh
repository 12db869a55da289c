# SPDX-License-Identifier: Apache-2.0
#
# What the CUDA runtimes of 11.8 to 13.0 ask the driver for (asked/, one file for each, as asked.c has seen it), what the
# runtime of the toolkit does, and what the toolkit's header knows: each of it is hooked, or stands in `unhooked` with the
# reason.  A hook has the parameters that the header has for that version, and is the one for per-thread default streams
# where that is asked for.
. "$top_srcdir/testsuite/lib.sh"
here=$top_srcdir/testsuite/rt
nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && skip "the runtime needs a sanitizer's"
typedefs=$CUDA_HOME/include/cudaTypedefs.h

$CC -D_GNU_SOURCE -I "$top_srcdir" -fPIC -shared -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 -o libcuda.so.1 "$here/every.c" ||
	hard "libcuda.so.1"
$CC -D_GNU_SOURCE "$here/asked.c" -o asked -ldl || hard "asked.c"
LD_LIBRARY_PATH=$tmp${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# -- what is asked for, one file for each who asks
mkdir who
for file in "$here"/asked/*; do
	[ "$(wc -l <"$file")" -gt 300 ] || hard "$file is no list"
	cp "$file" who
done
for lib in "$CUDA_HOME"/lib64/libcudart.so.1[0-9]; do
	[ -f "$lib" ] || continue
	ASKED=$tmp/raw timeout 60 ./asked "$lib" || hard "$lib cannot be asked"
	sort -u raw >"who/toolkit-${lib##*.}"
	[ "$(wc -l <raw)" -gt 300 ] || fail "$lib asks for nothing"
done
# The names of types say all: PFN_cuMemcpy_v7000_ptds.  What is newer than rt/drv.def is not asked for.
if [ -f "$typedefs" ]; then
	grep -o 'PFN_cu[A-Za-z0-9]*_v[0-9]*[a-z_]*' "$typedefs" | sed 's/^PFN_//; s/_v\([0-9]*\)/ \1/; s/_pts[zd]$/ ptsz/; s/_ptds$/ ptsz/' |
		sort -u | awk '$2 <= 13000' >who/header
	[ "$(wc -l <who/header)" -gt 400 ] || fail "cannot read $typedefs"
fi

# -- who answers
sort -u who/* >all
LD_PRELOAD=$top_builddir/libgsan.so timeout 60 ./asked <all >answers 2>err || hard "cannot ask: $(cat err)"
[ "$(wc -l <answers)" = "$(wc -l <all)" ] || hard "not all is answered"

awk '/^#/ || !NF { next }
	/^= / { why = $0; next }
	{ for (i = 1; i <= NF; i++) print why == "" ? "(" $i ": no reason)" : $i }' "$here/unhooked" >listed
sort listed | uniq -d >twice
[ -s twice ] && fail "twice in unhooked: $(tr '\n' ' ' <twice)"

# without HOOK: neither hooked nor listed; listed for nothing; the wrong one of two
awk 'NR == FNR { listed[$1] = 1; next }
	{ known[$1] = known[$1 ":" $2] = 1 }
	$4 == "-" { if (!listed[$1] && !listed[$1 ":" $2]) print "neither hooked nor listed:", $1, $2, $3; next }
	listed[$1] || listed[$1 ":" $2] { print "listed, and hooked:", $1, $2, $3 }
	$3 == "ptsz" && $4 !~ /_pt(sz|ds)$/ || $3 != "ptsz" && $4 ~ /_pt(sz|ds)$/ { print "the wrong variant:", $0 }
	END { for (name in listed) if (!known[name] && '"$([ -f "$typedefs" ] && echo 1 || echo 0)"') print "listed, and nobody knows it:", name }
' listed answers >wrong
while read -r line; do fail "$line$(cd who && grep -lxE "$(echo "$line" | sed 's/.*: \([^ ]* [0-9]*\).*/\1/')( ptsz)?" ./* 2>/dev/null | sed 's/^\.\// /' | tr '\n' ' ')"; done <wrong

# Another runtime than ours answers for none of them.
timeout 60 ./asked <all >alone || hard "cannot ask without libgsan.so"
[ "$(awk '$4 != "-"' alone | wc -l)" = 0 ] || fail "hooks without the runtime"
[ "$(awk '$4 != "-"' answers | wc -l)" -gt 200 ] || fail "next to nothing is hooked"

# -- the hooks' own parameters
if [ -f "$typedefs" ]; then
	cat >rows.c <<'END'
#define HOOK(symbol, base, version, ptsz, action, params, args) ROW #symbol base (version) ptsz
#include "rt/drv.def"
END
	cat >version.c <<'END'
#include <cuda.h>
VERSION CUDA_VERSION
END
	version=$($CC -E -I "$CUDA_HOME/include" version.c | sed -n 's/^VERSION //p')
	$CC -E -P -I "$top_srcdir" rows.c | tr '\n' ' ' | sed 's/ROW /\n/g' | tr -d '"()' |
		awk 'NF >= 4 { v = $3 > 7000 || !/\?/ ? $3 : 7000; print $1, $2, v, $NF }' >rows
	[ "$(wc -l <rows)" -gt 200 ] || hard "cannot read rt/drv.def"
	{
		echo '#include <cuda.h>'
		echo '#include <cudaTypedefs.h>'
		echo '#include "rt/drv.h"'
		echo '#define HOOK(symbol, base, version, ptsz, action, params, args) CUresult symbol params;'
		echo '#include "rt/drv.def"'
		while read -r symbol base v ptsz; do
			[ "$v" -le "$version" ] || continue
			suffix=
			[ "$ptsz" = 0 ] || suffix=_${symbol##*_}
			type=PFN_${base}_v$v$suffix
			# cuGraphInstantiate means that since 12.0, of which the header has no type.
			[ "$symbol $v" != "cuGraphInstantiateWithFlags 12000" ] || type=PFN_${symbol}_v11040
			grep -q "\b$type)" "$typedefs" || { echo "#error $symbol: the header has no $base of version $v$suffix"; continue; }
			grep -m 1 "^ *typedef .*\b$type)" "$typedefs"  # it may be in a part that is left out
			echo "_Static_assert(__builtin_types_compatible_p(__typeof__(&$symbol), $type), \"$symbol\");"
		done <rows
	} >types.c
	$CC -std=gnu11 -fsyntax-only -Wno-deprecated-declarations -I "$top_srcdir" -I "$top_builddir" -I "$CUDA_HOME/include" types.c 2>err ||
		fail "hooks are not as the header has them: $(grep error err | head -n 5)"
fi
done_testing
