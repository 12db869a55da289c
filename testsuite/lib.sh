# SPDX-License-Identifier: Apache-2.0
#
# What the shell tests share.  Source it first:  . "$top_srcdir/testsuite/lib.sh"
# It leaves the test in an empty folder of its own, $tmp, removed at the end.
# Exit status as Automake reads it: 0 pass, 77 skip, 99 hard error, else fail.

LC_ALL=C
export LC_ALL
unset GSAN_OPTIONS GSAN_HOME GSAN_NVCC GSAN_PTXAS GSAN_NVCC_STRICT
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
: "${top_srcdir:?run by make check, or set top_srcdir and top_builddir}"
: "${top_builddir:?run by make check, or set top_srcdir and top_builddir}"
: "${NVCC:=nvcc}" "${PTXAS:=ptxas}" "${CC:=cc}"
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)

test_name=$(basename "$0")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gsan-test.XXXXXX") || exit 99
trap 'cd /; rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM
cd "$tmp" || exit 99

# What gsan-run keeps of a test is the test's.
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME

failures=0

# fail TEXT: this point failed; the test goes on
fail()
{
	echo "FAIL: $test_name: $*"
	failures=$((failures + 1))
}

# skip TEXT: what is left of the test cannot be done here; what failed before it has failed all the same
skip()
{
	[ "$failures" = 0 ] || done_testing
	echo "SKIP: $test_name: $*"
	exit 77
}

hard()
{
	echo "ERROR: $test_name: $*"
	exit 99
}

# takes_long: it is left out where a few of the tests are enough, see ptx.sh
takes_long()
{
	[ "${REPRODUCERS:-1}" = 1 ] || skip "it takes long"
}

# one_of_many FILE: where a few of the tests are enough, REPRODUCERS=N, it is left out unless it is one in N, by its name
one_of_many()
{
	[ "${REPRODUCERS:-1}" = 1 ] || [ $(($(echo "$1" | cksum | cut -d' ' -f1) % REPRODUCERS)) = 0 ] || skip "not one of those in $REPRODUCERS"
}

# done_testing: the last line of every test
done_testing()
{
	[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
	exit 0
}

# run STATUS COMMAND...: the command must end with that status; its output is
# in the files out and err
run()
{
	want=$1
	shift
	got=0
	"$@" >out 2>err || got=$?
	[ "$got" = "$want" ] && return 0
	fail "status $got, expected $want: $*"
	sed 's/^/  out: /' out | tail -n 20
	sed 's/^/  err: /' err | tail -n 20
	return 1
}

# has FILE TEXT / hasnt FILE TEXT: the file contains the text as it stands
has()
{
	grep -qF -e "$2" "$1" && return 0
	fail "$1 lacks: $2"
	tail -n 20 "$1" | sed 's/^/  /'
	return 1
}

hasnt()
{
	grep -qF -e "$2" "$1" || return 0
	fail "$1 has: $2"
	return 1
}

# pretended_driver: libcuda.so.1 in this folder, that of testsuite/rt.  It keeps to itself, as the real one does:
# what its own look-ups give is its own, whichever libraries come before it.
pretended_driver()
{
	$CC -I "$top_srcdir" -I "$top_builddir" -I "$CUDA_HOME/include" -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden \
		-Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 -o libcuda.so.1 "$top_srcdir"/testsuite/rt/fake*.c \
		"$top_srcdir/event/event.c" -lpthread || hard "libcuda.so.1"
}

# from_pypi NAME PACKAGE...: $venv is a virtual environment with these packages of PyPI and what they need, which the next test finds
# in the build tree under that name.  Status 1: it cannot be had.
from_pypi()
{
	venv=$top_builddir/testsuite/pypi-$1
	shift
	[ ! -f "$venv/done" ] || return 0
	rm -rf "$venv"
	timeout 60 "${PYTHON:-python3}" -m venv "$venv" >/dev/null 2>&1 &&
		timeout 300 "$venv/bin/pip" install -q --retries 0 --timeout 10 "$@" >/dev/null 2>&1 && : >"$venv/done" && return
	rm -rf "$venv"
	return 1
}

# newer_ptxas VERSION: $newer is a ptxas that takes PTX of that version: $NEWER_PTXAS, $PTXAS, or that of PyPI's package
# nvidia-cuda-nvcc.  Status 1: there is none.
newer_ptxas()
{
	printf '.version %s\n.target sm_90\n.address_size 64\n' "$1" >newer.ptx
	for newer in ${NEWER_PTXAS:+"$NEWER_PTXAS"} "$PTXAS"; do
		"$newer" -arch=sm_90 newer.ptx -o newer.cubin >/dev/null 2>&1 && return
	done
	from_pypi ptxas --no-deps nvidia-cuda-nvcc || return
	for newer in "$venv"/lib/python*/site-packages/nvidia/*/bin/ptxas; do
		"$newer" -arch=sm_90 newer.ptx -o newer.cubin >/dev/null 2>&1 && return
	done
	return 1
}

have_gpu()
{
	[ "${GSAN_GPU_TESTS:-0}" = 1 ]
}

# judge_some N REST LEAST OPTION...: one reproducer in N, by their names, has the expected verdict with these options of gsan-run
# --check, where launches alone are judged, whose log is left; $judged: how many have, LEAST at least.
judge_some()
{
	export one_in="$1" rest="$2" options="--check --device=emu"
	least=$3
	shift 3
	options="$options $*"
	rm -f ./*.status
	ls "$top_srcdir"/testsuite/race/*.ptx "$top_srcdir"/testsuite/norace/*.ptx | xargs -P 2 -n 1 timeout 120 sh -c '
		file=$0 name=$(basename "$0" .ptx)
		! grep -q -e "^//@ expect.*\(stream\|host\)-race" -e "^//@ expect.* deadlock" -e "^//@ faults" "$file" || exit 0
		[ $(($(echo "$name" | cksum | cut -d" " -f1) % one_in)) = "$rest" ] || exit 0
		"$top_builddir/gsan-run" $options "$file" >"$name.log" 2>&1
		status=$?
		echo "$status $options $file" >"$name.status"
		[ $status = 0 ] || cat "$name.log"'
	cat ./*.status | awk '$1 != 0' >wrong
	[ ! -s wrong ] || fail "not the expected verdict: $(cat wrong)"
	judged=$(cat ./*.status | grep -c '^0 ')
	[ "$judged" -ge "$least" ] || fail "only $judged were judged"
}

# check_contents SEED...: what a "// contents: BUFFER WORDS" line of $file says is in
# memory after a run on the emulated device, as it is by each seed and with gsan; WORDS
# are the buffer's: V, N*V (N times), A..B.
check_contents()
{
	words=$(sed -n 's,^// contents: ,,p' "$file")
	[ -n "$words" ] || return 0
	buffer=${words%% *}
	echo "${words#* }" | tr ' ' '\n' | awk '
		/\*/ { split($0, p, "*"); for (i = 0; i < p[1]; i++) printf "%08x\n", p[2]; next }
		/\.\./ { split($0, p, "\\.\\."); for (i = p[1]; i <= p[2]; i++) printf "%08x\n", i; next }
		{ printf "%08x\n", $0 }' >want
	for seed do
		buffer_holds --no-instrument --seed="$seed"
	done
	buffer_holds --seed=4
}

buffer_holds()
{
	run 0 timeout 60 "$top_builddir/gsan-run" --device=emu --dump="$buffer" "$@" "$file" || return
	awk '{ for (i = 2; i <= NF; i++) print $i }' out >got
	cmp -s want got || fail "$buffer with $*: $(diff want got | grep '^[<>]' | sort | uniq -c |
		head -n 5 | tr -s ' \n' ' ')"
}
