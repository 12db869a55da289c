#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# gpu.sh SOAK [N [SEED]]: N race-free and N racy random programs on a GPU, those whose
# verdict is the same on the emulated device under all schedules: gsan must give it
# there, too, and what race-free programs leave in memory must be the same on both
# devices, with gsan and without.  Where gsan lacks the race, what it counted may be the
# cause; that is counted here.  Several processes side by side, each with seeds of
# its own; DEVICE=FILE takes another driver, JOBS=N so many processes (12 a GPU at most),
# GPUS=N so many GPUs by turns, LIMIT=SECONDS.
# What differs is named and saved in random-found/.  Status 0 if nothing does.
soak=${1:?usage: gpu.sh SOAK [N [SEED]]}
n=${2:-1000}
seed=${3:-1}
jobs=${JOBS:-$(nproc)}
gpus=${GPUS:-1}
[ "$jobs" -le $((12 * gpus)) ] || jobs=$((12 * gpus))
[ "$jobs" -le "$n" ] || jobs=$n
each=$(((n + jobs - 1) / jobs))
out=$(mktemp -d "${TMPDIR:-/tmp}/gsan-random.XXXXXX") || exit 99
trap 'rm -rf "$out"' EXIT
trap 'exit 99' HUP INT TERM

i=0
while [ "$i" -lt "$jobs" ]; do
	echo "$((seed + i * 1000000)) $out/$i $((i % gpus))"
	i=$((i + 1))
done | xargs -P "$jobs" -L 1 sh -c '[ "$4" = 1 ] || export CUDA_VISIBLE_DEVICES="$7"
	timeout -k 60 "$0" "$1" --device="$2" --each="$3" --seed="$5" --save=random-found --most=20 >"$6" 2>&1' \
	"${LIMIT:-500}" "$soak" "${DEVICE:-libcuda.so.1}" "$each" "$gpus"

grep -hv '^[0-9][0-9]* race-free' "$out"/*
grep -h '^[0-9][0-9]* race-free' "$out"/* | awk -v jobs="$jobs" -v n="$n" '
{
	clean += $1; racy += $3; verdicts += $5; limit += $8
	compared += $13; contents += $16; others += $18; missed += $24; stuck += $32; rare += $40
}
END {
	row = "%-34s%8d\n"
	printf row row row row row row row row row row row, "race-free programs", clean, "racy programs", racy,
	    "verdicts that differ", verdicts, "ran into their limit", limit,
	    "contents compared", compared, "contents that differ", contents,
	    "name other lines as well", others, "lack it for what was counted", missed,
	    "left out: may hang without gsan", stuck, "left out: a race by chance", rare, "processes that came to no end", jobs - NR
	exit verdicts || limit || contents || NR < jobs || clean < n || racy < n
}'
