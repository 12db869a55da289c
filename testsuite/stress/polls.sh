# SPDX-License-Identifier: Apache-2.0
#
# polls.sh: lanes that poll log two records for each lock that they take, however long that takes (waiters.ptx), and the
# detector sees who came behind whom.
. "$top_srcdir/testsuite/lib.sh"

kernel=$top_srcdir/testsuite/stress/waiters.ptx
cas=$(grep -n 'atom.global.cas' "$kernel" | cut -d: -f1)
locks=192                               # 6 blocks, 8 warps, 4 turns
for seed in 0 1 2 3 4 5; do
	timeout 60 "$top_builddir/gsan-run" -v --check --events=probes --device=emu --seed=$seed "$kernel" >out 2>log ||
		fail "seed $seed: status $?"
	polls=$(grep -ac "strong.* line=$cas " log)
	pieces=$(grep -ac "piece of lane" log)          # records of two pieces are not made one
	[ "$polls" -ge $locks ] && [ "$polls" -le $((2 * locks + pieces)) ] || fail "seed $seed: $polls records for $locks locks"
	most=$((polls > ${most:-0} ? polls : ${most:-0}))
done
[ $most -gt $locks ] || fail "nobody has waited"
# Without the fence behind it a lock is none.
sed '/bra TAKE;/{n; s/fence.acq_rel.gpu;//}' "$kernel" >broken.ptx
timeout 60 "$top_builddir/gsan-run" --events=probes --device=emu --seed=1 broken.ptx >out 2>err
[ $? = 66 ] && grep -q data-race err || fail "a lock without a fence is not found"
done_testing
