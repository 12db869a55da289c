# SPDX-License-Identifier: Apache-2.0
#
# gpu.sh FILE.cu: a CUDA program, built by gsan-nvcc, on a GPU.
#
# A "// race: KIND [FILE]" line makes it two tests: as it stands it must report
# that kind between the lines marked "// first" and "// second" (of FILE) and
# end with status 66; with -DRIGHT it must report nothing.  Without that line it
# must report nothing.  What it computes must be what plain nvcc's build of it
# computes.  A "// flags: ..." line adds to the compiler's; a "// needs: FILE" line names a source whose PTX goes beside it.
source=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
. "$top_srcdir/testsuite/lib.sh"
name=$(basename "$source" .cu)
test_name=$name
folder=$(dirname "$source")
have_gpu || skip "no GPU, or --disable-gpu-tests"
limit="timeout -k 10 ${GPU_LIMIT:-120}"

field()
{
	sed -n "s,^// $1: ,,p" "$source"
}

# The architecture of the first GPU: what the programs are compiled for.
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
[ -n "$arch" ] || hard "nvidia-smi does not say what the GPU is"
flags="-std=c++17 -O2 -lineinfo -arch=sm_$arch $(field flags)"

build()		# build OUT COMPILER FLAG...
{
	out=$1
	compiler=$2
	shift 2
	"$compiler" $flags "$@" "$source" -o "$out" >log 2>&1 || {
		cat log
		hard "$compiler refuses the source"
	}
	needs=$(field needs)
	[ -z "$needs" ] || "$compiler" $flags "$@" -ptx "$folder/$needs" -o "$out.ptx" ||
		hard "$compiler refuses $needs"
}

seconds()
{
	date +%s.%N
}

# silent NAME FLAG...: this build must run as plain nvcc's does and find nothing
silent()
{
	label=$1
	shift
	build native "$NVCC" "$@"
	build watched "$top_builddir/gsan-nvcc" "$@"
	$limit ./native >want 2>native.err || { cat native.err; hard "$label: it fails without gsan too"; }
	start=$(seconds)
	run 0 $limit ./watched
	echo "$label: $(echo "$start $(seconds)" | awk '{ printf "%.1f", $2 - $1 }') s under gsan"
	cmp -s want out || fail "$label: computes something else: $(cat out) instead of $(cat want)"
	hasnt err "WARNING: GSan"
	grep -i 'gsan:.* 0 ' err >/dev/null || fail "$label: no closing line"
	tail -n 2 err | sed 's/^/  /'
}

race=$(field race)
if [ -n "$race" ]; then
	kind=${race%% *}
	where=$name.cu
	[ "$kind" = "$race" ] || where=${race#* }
	first=$(grep -n '//.*first' "$folder/$where" | cut -d: -f1)
	second=$(grep -n '//.*second' "$folder/$where" | cut -d: -f1)
	build racy "$top_builddir/gsan-nvcc"
	run 66 $limit ./racy
	has err "WARNING: GSan: $(echo "$kind" | tr - ' ')"
	has err "$where:$first"
	has err "$where:$second"
	echo "$name, racy:"
	sed 's/^/  /' err | head -n 20
	silent "$name, right" -DRIGHT
else
	silent "$name"
fi
done_testing
