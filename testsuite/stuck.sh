#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# stuck.sh PROGRAM [ARGUMENT]...: runs a program that does not end, and says by cuda-gdb where the warps of one
# multiprocessor stand after AFTER seconds (default 5), and each lane of a warp whose lanes stand apart, with its registers.
# Disassembled by nvdisasm, the kernel's code tells what they wait for.
[ $# -gt 0 ] || { echo "Usage: stuck.sh PROGRAM [ARGUMENT]..." >&2; exit 2; }
command -v cuda-gdb >/dev/null || { echo "stuck.sh: no cuda-gdb" >&2; exit 77; }
out=$(mktemp -d "${TMPDIR:-/tmp}/gsan-stuck.XXXXXX") || exit 99
"$@" >"$out/out" 2>"$out/err" &
pid=$!
trap 'kill -9 $pid 2>/dev/null; rm -rf "$out"' EXIT
trap 'exit 99' HUP INT TERM
sleep "${AFTER:-5}"
kill -0 $pid 2>/dev/null || { echo "stuck.sh: the program has ended" >&2; exit 1; }

# gdb COMMAND...: cuda-gdb, attached for a moment
gdb()
{
	for command; do
		printf '%s\n' "$command"
	done >"$out/commands"
	timeout 60 cuda-gdb -p $pid -batch -x "$out/commands" 2>&1 | grep -v '^\[New\|^\[Thread'
}

gdb "info cuda kernels" "info cuda warps" >"$out/warps"
sed -n '/Kernel Parent/,$p' "$out/warps"
sm=$(sed -n 's/^Device 0 SM \([0-9]*\).*/\1/p' "$out/warps" | tail -n 1)
# A line is: [*] warp, active lanes, divergent lanes, ...
awk '{ sub(/^\*/, "") } $1 ~ /^[0-9]+$/ && $2 ~ /^0x/ && $3 ~ /^0x/ && $3 !~ /^0x0*$/ { print $1, $3 }' "$out/warps" |
while read -r warp mask; do
	echo "warp $warp of multiprocessor $sm: lanes $mask apart"
	lane=0
	while [ $lane -lt 32 ]; do
		[ $(((mask >> lane) & 1)) = 0 ] || break
		lane=$((lane + 1))
	done
	gdb "cuda device 0 sm $sm warp $warp lane $lane" "bt" "info cuda lanes" "x/12i \$pc-96" "info registers" |
		grep -v '^U*R[0-9Z]* *0x0 *0$'
done
