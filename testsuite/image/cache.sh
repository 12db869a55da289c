# SPDX-License-Identifier: Apache-2.0
#
# What gsan-image made is kept: the second run does without it, whatever has become of the file; and whatever fails, the
# program runs.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/image/lib.sh"

# tool NAME COMMAND: a gsan-image that leaves a line in `asked` and does that
tool()
{
	printf '#!/bin/sh\necho asked >>"%s/asked"\n%s\n' "$tmp" "$2" >"$1"
	chmod +x "$1"
	: >asked
}
# asked N: it was run so often
asked()
{
	[ "$(wc -l <asked)" = "$1" ] || fail "gsan-image was run $(wc -l <asked) times, not $1: $2"
}
watched()
{
	by_hand 66 "$tmp/tool" ./driver "$@"
	has err "GSan: 1 finding; 1 launch, 5 sites watched"
}
unwatched()
{
	by_hand 3 "$tmp/tool" ./driver cuModuleLoadData right.ptx
	has out "63 0"
	has err "is loaded as it is, and not watched: $1"
	has err "; 1 module that could not be instrumented"
}

tool tool "exec '$top_builddir/gsan-image' \"\$@\""
watched cuModuleLoadData racy.ptx
asked 1 "the first run"
watched cuModuleLoadData racy.ptx
watched cuModuleLoad racy.ptx
watched cuLibraryLoadData racy.ptx
asked 1 "what it made is there"
[ "$(ls cache/gsan | wc -l)" = 1 ] || fail "in the folder: $(ls cache/gsan)"

# Another text, and other options, are another thing.
by_hand 3 "$tmp/tool" ./driver cuModuleLoadData right.ptx
asked 2 "another text"
by_hand 3 "$tmp/tool" env GSAN_OPTIONS=perturb=7 ./driver cuModuleLoadData right.ptx
asked 3 "other options"
# So is what another gsan-image makes.
touch -d '2001-01-01' tool
watched cuModuleLoadData racy.ptx
asked 4 "another gsan-image"

# In what has no PTX at all nothing is looked for.
$PTXAS -arch=sm_90 racy.ptx -o racy.cubin && "$(dirname "$PTXAS")/fatbinary" --create=code.fatbin -64 \
	--image3=kind=elf,sm=90,file=racy.cubin || hard "fatbinary"
by_hand 4 "$tmp/tool" ./driver cuModuleLoad code.fatbin
by_hand 4 "$tmp/tool" ./driver cuModuleLoad code.fatbin
has err "1 module that is machine code alone"
asked 4 "machine code alone"
# Nor is PTX that is too new for the device of use, which is known the second time.
sed 's/sm_90/sm_103/' right.ptx >new.ptx
"$(dirname "$PTXAS")/fatbinary" --create=new.fatbin -64 --image3=kind=ptx,sm=103,file=new.ptx || hard "fatbinary"
for run in first second; do
	by_hand 4 "$tmp/tool" ./driver cuModuleLoad new.fatbin
	has err "1 module that is machine code alone"
done
asked 5 "PTX for another device"

# A file that is damaged is made anew: cut, longer, another letter, empty, somebody's text.
rm -rf cache
watched cuModuleLoadData racy.ptx
file=cache/gsan/$(ls cache/gsan)
cp "$file" whole
size=$(wc -c <whole)
n=6
asked 6 "an empty folder"
for damage in "head -c $((size - 100))" "cat - racy.ptx" "sed s/turn/tern/" "head -c 0" "cat racy.ptx" "head -c 20" "sed s/ptx/none/"; do
	$damage <whole >"$file"
	watched cuModuleLoadData racy.ptx
	n=$((n + 1))
	asked $n "a file that was damaged by $damage"
	cmp -s whole "$file" || fail "it is not made anew behind $damage"
done
rm "$file"
ln -s "$tmp/whole" "$file"
watched cuModuleLoadData racy.ptx
asked $((n + 1)) "a link"

# Nowhere to keep it.
for folder in /dev/null /proc/none relative; do
	: >asked
	XDG_CACHE_HOME=$folder HOME=/dev/null
	export HOME
	watched cuModuleLoadData racy.ptx
	watched cuModuleLoadData racy.ptx
	asked 2 "$folder cannot be written"
	hasnt err "cannot be written"
done
HOME=$tmp/home
unset XDG_CACHE_HOME
watched cuModuleLoadData racy.ptx
[ "$(ls home/.cache/gsan | wc -l)" = 1 ] || fail "nothing is kept in HOME"

# Several at once.
rm -rf home
for i in 1 2 3 4; do
	env GSAN_RUN_TOOL="$tmp/tool" LD_LIBRARY_PATH="$top_builddir/emu" LD_PRELOAD="$top_builddir/libgsan.so.1" \
		timeout 60 ./driver cuModuleLoadData racy.ptx >out$i 2>err$i &
done
wait
for i in 1 2 3 4; do
	has err$i "GSan: 1 finding; 1 launch, 5 sites watched"
done
[ "$(ls home/.cache/gsan | wc -l)" = 1 ] || fail "left: $(ls home/.cache/gsan)"

# A program that takes no notice of its children, or has no standard input and output.
for how in 'trap "" CHLD; exec ./driver cuModuleLoadData racy.ptx' './driver cuModuleLoadData racy.ptx <&- >&-'; do
	rm -rf home
	by_hand 66 "$tmp/tool" sh -c "$how"
	has err "GSan: 1 finding; 1 launch, 5 sites watched"
done

# Whatever becomes of gsan-image, the program runs, and nothing of it is kept.
rm -rf home
tool tool "exit 1"
unwatched "gsan-image failed"
tool tool "exit 127"
unwatched "gsan-image cannot be started: a library that it needs is missing (liblz4, libzstd)"
tool tool "cat whole racy.ptx"
unwatched "gsan-image failed"
tool tool "kill -9 \$\$"
unwatched "gsan-image failed"
tool tool "exec sleep 100"
GSAN_OPTIONS=image_timeout=1
export GSAN_OPTIONS
before=$(date +%s)
unwatched "gsan-image took too long"
[ $(($(date +%s) - before)) -lt 20 ] || fail "image_timeout=1 took $(($(date +%s) - before)) seconds"
unset GSAN_OPTIONS
rm tool
unwatched "gsan-image or the device cannot be found"
mkdir tool
unwatched "gsan-image cannot be run"
[ ! -d home/.cache ] || fail "kept: $(ls home/.cache/gsan)"
done_testing
