# SPDX-License-Identifier: Apache-2.0
#
# tiles.sh: random kernels (tiles.py) of blocks whose warps have several rows, by probes, on the emulated device or, with
# DEVICE=gpu, on a GPU: of SEEDS (default: 100) programs, from FIRST (1) on, the screen (detect/screen.h) holds no launch for
# clear in which the detector finds something; in one that is right nothing is found, and on the emulated device most of
# those are clear.
. "$top_srcdir/testsuite/lib.sh"
takes_long

command -v python3 >/dev/null || skip "no python3"

# judge SEED: what became of it, as lines: of right or wrong kernels so many are clear, and not
judge='
	# Lanes of a warp at two barrier instructions wait for ever on a GPU (doc/hardware.md 18).
	[ "${DEVICE:-emu}" = emu ] || ! grep -q OTHER $0.ptx || exit
	timeout 60 "$top_builddir/gsan-run" -v --events=probes --device="${DEVICE:-emu}" $0.ptx >$0.log 2>&1
	status=$?
	made=$(sed -n "1s,// ,,p" $0.ptx)
	grep -aq "a fault in gsan" $0.log && { echo "FAULT $0"; exit; }
	[ $status = 0 ] || [ $made = wrong ] || { echo "FOUND $0"; exit; }
	[ $status = 0 ] || [ $status = 66 ] || { echo "STATUS $status $0"; exit; }
	[ $status = 0 ] || echo "wrong found"
	grep -ao "gsan-run: k. is [a-z]*" $0.log | sort -u | sed "s/.* is /$made /"
	rm $0.ptx $0.log'
export top_srcdir top_builddir
seeds=$(seq "${FIRST:-1}" $((${FIRST:-1} + ${SEEDS:-100} - 1)))
python3 "$top_srcdir/testsuite/stress/tiles.py" $seeds || hard "tiles.py"
echo "$seeds" | xargs -P 2 -n 1 sh -c "$judge" >all
sort all | uniq -c | grep '[a-z]'
grep -v '^right \|^wrong ' all >bad
[ ! -s bad ] || fail "$(cat bad)"
# On a GPU lanes come apart that stay together on the emulated device: what the first lane of a row does not lead is not clear.
[ "${DEVICE:-emu}" = emu ] || { done_testing; exit; }
right=$(grep -c '^right [cn]' all)
clear=$(grep -c '^right clear' all)
[ $((clear * 10)) -ge $((right * 7)) ] || fail "only $clear of $right right ones are clear"
[ $((3 * $(grep -c '^wrong found' all))) -gt "${SEEDS:-100}" ] || fail "few wrong ones are found"
[ "$(grep -c '^wrong clear' all)" -gt 0 ] || fail "no wrong one is clear"
done_testing
