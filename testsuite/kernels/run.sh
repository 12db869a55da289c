#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh: the kernels of this folder and their mutants on a GPU of compute capability
# 9.0, under gsan and under compute-sanitizer's racecheck, in one run.  Right versions
# must raise nothing, print `ok` and end with 0; a mutant must be found with the kind and
# between the lines that its `// mutant` line says, and end with 66; whatever racecheck
# says decides nothing.  Prints a table.  Everything is under a time limit: LIMIT (60) and
# RACECHECK_LIMIT (30) seconds a program; JOBS programs are built at once, GPU_JOBS (4) run.
# KERNELS="gemm" takes some of them, OPTIONS is for GSAN_OPTIONS.  Right versions and mutants 2 run in the benchmark's size, too.  Status 0 if gsan was right everywhere, 77: no GPU.
#
#	top_srcdir=../src top_builddir=. sh ../src/testsuite/kernels/run.sh
here=$(cd "$(dirname "$0")" && pwd)
self=$here/$(basename "$0")
kernels=${KERNELS:-gemm attention elementwise multicast}
flags="-std=c++17 -O3 -lineinfo -gencode arch=compute_90a,code=sm_90a"

# build KERNEL MUTANT: its native and its watched program
build()
{
	"$NVCC" $flags -DMUTATE="$2" "$here/$1.cu" -o "$1.$2.native" >"$1.$2.log" 2>&1 || echo native >"$1.$2.broken"
	"$top_builddir/gsan-nvcc" $flags -DMUTATE="$2" "$here/$1.cu" -o "$1.$2.watched" >>"$1.$2.log" 2>&1 ||
		echo watched >"$1.$2.broken"
}

# timed FILE LIMIT COMMAND...: its output in FILE.out and FILE.err, its status and seconds in FILE.end
timed()
{
	to=$1
	limit=$2
	shift 2
	start=$(date +%s.%N)
	timeout -k 5 "$limit" "$@" >"$to.out" 2>"$to.err" </dev/null
	status=$?
	echo "$status $(echo "$start $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')" >"$to.end"
}

# one KERNEL MUTANT: runs both
one()
{
	[ ! -f "$1.$2.broken" ] || return 0
	timed "$1.$2.n" 20 "./$1.$2.native"
	timed "$1.$2.g" "${LIMIT:-60}" "./$1.$2.watched"
	case $2 in
	0 | 2)	timed "$1.$2.b" "${LIMIT:-60}" "./$1.$2.watched" bench ;;
	esac
	[ -z "$racecheck" ] || timed "$1.$2.r" "${RACECHECK_LIMIT:-30}" "$racecheck" --tool racecheck "./$1.$2.native"
}

case $1 in
build | one)
	"$@"
	exit 0 ;;
esac

. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
. "$here/lib.sh"
[ -z "$OPTIONS" ] || export GSAN_OPTIONS="$OPTIONS"
have_gpu || command -v nvidia-smi >/dev/null || skip "no GPU"
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
[ "$arch" = 9.0 ] || skip "these kernels are for compute capability 9.0, not $arch"
racecheck=$(command -v compute-sanitizer || echo "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer")
[ -x "$racecheck" ] || racecheck=
export NVCC top_srcdir top_builddir racecheck

for k in $kernels; do
	echo "$k 0 clean - - the right version"
	sed -n "s,^// mutant,$k,p" "$here/$k.cu"
done >list
cut -d' ' -f1,2 list | xargs -P "${JOBS:-$(nproc)}" -L 1 sh "$self" build
cut -d' ' -f1,2 list | xargs -P "${GPU_JOBS:-4}" -L 1 sh "$self" one

# verdict KERNEL MUTANT KIND A B: what gsan makes of it, in a word
verdict()
{
	at=$1.$2
	[ -f "$at.g.end" ] || { echo "not-built"; return; }
	read -r status seconds <"$at.g.end"
	case $status in
	124 | 137) echo "no-end"; return ;;
	esac
	grep -q 'GSan: .* sites watched' "$at.g.err" || { echo "not-watched($status)"; return; }
	if [ "$3" = clean ]; then
		if grep -q '^WARNING: GSan' "$at.g.err"; then
			echo "FALSE"
		elif [ "$status" = 0 ] && grep -qx ok "$at.g.out"; then
			echo "clean"
		else
			echo "wrong($status)"
		fi
	elif ! grep -q '^WARNING: GSan' "$at.g.err"; then
		echo "missed"
	elif ! reported "$1" "$3" "$(line "$here/$1.cu" "$4")" "$(line "$here/$1.cu" "$5")" "$at.g.err"; then
		echo "other-lines"
	elif [ "$status" != 66 ]; then
		echo "status($status)"
	else
		echo "found"
	fi
}

# On a full grid.
# full_grid KERNEL: what is wrong with it there, nothing if it is as it should be
full_grid()
{
	for n in 0 2; do
		[ -f "$1.$n.b.end" ] || { echo "mutant $n: not built"; continue; }
		read -r status seconds <"$1.$n.b.end"
		grep -q 'GSan: .* sites watched' "$1.$n.b.err" || { echo "mutant $n: not watched, status $status"; continue; }
		case $n,$(grep -c '^WARNING: GSan' "$1.$n.b.err"),$status in
		0,0,0 | 2,[1-9]*,66) ;;
		*)	echo "mutant $n: $(grep '^GSan: ' "$1.$n.b.err"), status $status" ;;
		esac
	done
}

# racecheck_verdict KERNEL MUTANT KIND
racecheck_verdict()
{
	at=$1.$2
	[ -f "$at.r.end" ] || { echo "-"; return; }
	read -r status seconds <"$at.r.end"
	hazards=$(sed -n 's/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' "$at.r.out" "$at.r.err" | head -n 1)
	case $status,$hazards,$3 in
	124,* | 137,*) echo "no-end" ;;
	*,,*)	echo "failed($status)" ;;
	*,0,clean) echo "clean" ;;
	*,0,*)	echo "missed" ;;
	*,clean) echo "FALSE" ;;
	*)	echo "found" ;;
	esac
}

printf '%-12s %2s  %-18s %-8s %-12s %7s  %-12s %7s  %s\n' kernel "" kind native gsan s racecheck s what
while read -r k n kind a b what; do
	native=-
	[ ! -f "$k.$n.n.end" ] || native=$(tail -n 1 "$k.$n.n.out")
	case $(cat "$k.$n.n.end" 2>/dev/null) in
	124* | 137*) native=no-end ;;
	esac
	g=$(verdict "$k" "$n" "$kind" "$a" "$b")
	r=$(racecheck_verdict "$k" "$n" "$kind")
	printf '%-12s %2s  %-18s %-8s %-12s %7s  %-12s %7s  %s\n' "$k" "$n" "$kind" "${native:--}" "$g" \
		"$(cut -d' ' -f2 "$k.$n.g.end" 2>/dev/null)" "$r" "$(cut -d' ' -f2 "$k.$n.r.end" 2>/dev/null)" "$what"
	echo "$kind $g $r" >>verdicts
	case $kind,$g in
	clean,clean) [ "$native" = ok ] || fail "$k without gsan: $native" ;;
	clean,* | *,missed | *,other* | *,no* | *,status*)
		fail "$k, mutant $n: $g"
		tail -n 4 "$k.$n.log" "$k.$n.g.err" 2>/dev/null | cut -c1-200 | sed 's/^/  /' ;;
	esac
done <list
for k in $kernels; do
	full_grid "$k" >wrong
	[ ! -s wrong ] || { fail "$k on a full grid:"; sed 's/^/  /' wrong; }
done
for tool in 2:gsan 3:racecheck; do
	awk -v at="${tool%:*}" -v name="${tool#*:}" '
		$1 == "clean" { right++; false += $at == "FALSE"; next }
		{ all++; found += $at == "found"; missed += $at == "missed"; other += $at != "found" && $at != "missed" }
		END { printf "%s: %d of %d mutants found, %d missed, %d otherwise; %d false of %d right programs\n",
			name, found, all, missed, other, false, right }' verdicts
done
[ -z "$OUT" ] || { mkdir -p "$OUT/kernels" && cp ./*.out ./*.err ./*.end ./*.log list "$OUT/kernels"; }
done_testing
