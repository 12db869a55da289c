# SPDX-License-Identifier: Apache-2.0
#
# programs.sh FILE.cu: a program of the CUDA runtime, built by gsan-nvcc and run on the
# emulated device, or with DEVICE=gpu on a GPU, with GSAN_OPTIONS=$OPTIONS.
#
# GSAN_OPTIONS has what a "// options:" line says as well.  Its "// prints:" lines are all that it writes to stdout, and "// says:" lines are in stderr; what "// says emulated:" lines
# have only the emulated device says.  A program with "// needs: emulated" is for that alone: what it does is undefined on a GPU, or not watched there.
# With a "// race: KIND" line findings of that kind must be told, all of them between the lines
# marked "// first" and "// second", with status 66, and perhaps some of the kind in "// also: KIND"; without one nothing must be told.  The
# program has PTX alone, which is what the emulated device runs, since machine code takes most
# of the time to build: a "// flags: ..." line has other flags, in which $CUDA_HOME is the
# toolkit.  PROGRAMS_NVCC is another compiler than gsan-nvcc.
source=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
. "$top_srcdir/testsuite/lib.sh"
name=$(basename "$source" .cu)
test_name=$name
device=${DEVICE:-emu}

field()
{
	sed -n "s,^// $1: ,,p" "$source"
}

[ "$device" = emu ] || [ "$(field needs)" != emulated ] || skip "only for the emulated device"

# marked WORD: the line whose comment has the word
marked()
{
	grep -n "//.*$1" "$source" | cut -d: -f1
}

flags=$(field flags)
eval "set -- ${flags:--gencode arch=compute_90,code=compute_90}"
"${PROGRAMS_NVCC:-$top_builddir/gsan-nvcc}" -std=c++17 -lineinfo "$@" \
	"$source" -o program >log 2>&1 || {
	cat log
	hard "gsan-nvcc refuses the source"
}
race=$(field race)
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
status=0
[ -z "$race" ] || status=66
options=$OPTIONS${OPTIONS:+:}$(field options)
[ -z "$options" ] || export GSAN_OPTIONS="$options"
run $status timeout 120 "$top_builddir/gsan-run" --device="$device" -- ./program
field prints >want
{
	field says
	[ "$device" != emu ] || field 'says emulated'
} | while read -r line; do
	has err "$line"
done >lacks
[ ! -s lacks ] || fail "$(cat lacks)"
cmp -s want out || fail "it prints something else: $(diff want out)"
if [ -n "$race" ]; then
	first=$(marked first) second=$(marked second)
	has err "WARNING: GSan: $(echo "$race" | tr - ' ')"
	[ -z "$first" ] || has err "$name.cu:$first"
	has err "$name.cu:$second"
	also=$(field also)
	grep 'WARNING: GSan' err | grep -v -e "GSan: $(echo "$race" | tr - ' ')" -e "GSan: $(echo "${also:-$race}" | tr - ' ')" &&
		fail "a finding of another kind"
	sed -n "s/^    #0 .*$name.cu:\([0-9][0-9]*\).*/\1/p" err | grep -vx -e "${first:-$second}" -e "$second" &&
		fail "a finding at another line"
else
	hasnt err "WARNING: GSan"
	grep -q '^GSan: 0 findings; [1-9]' err || fail "nothing was watched: $(tail -n 3 err)"
fi
done_testing
