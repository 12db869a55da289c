#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# gpu-run.sh TARBALL [STAGE]...: builds a tarball of `make dist` on a machine
# with a GPU, which needs neither re2c nor lemon, and runs the tests there, the
# GPU's among them.  Stages: build, reproducers, programs (testsuite/gpu), rest;
# and, which have to be asked for, kernels (testsuite/kernels and their mutants,
# beside racecheck), runtime (testsuite/programs, stress/managed.cu), hangs (programs that hang,
# end in a fault or are killed), flood (100 runs whose log fills its region again and again), screen (device_screen), slice (kernels by probes), random
# (2,000 random programs, on GPUS of them), bench.
#
# Reproducers take the driver 0.7 seconds each to make contexts, under locks of its
# own: four at once on a GPU are as fast as it gets (2.8 a second on two H200s; with
# 32 at once 2.0).  In an order by SEED (default: the day) as many are run, on GPUS of
# them by turns, as $REPRODUCER_LIMIT seconds (default: 480) allow.  The build is kept in
# $GPU_RUN_DIR (default: a folder beside the temporary files), so that stages
# can be run one at a time; every stage is under a time limit.  Logs go to $OUT
# if that is set.  Ends with a table and "N passed, N failed, N skipped"; status
# 0 if nothing failed.

tarball=${1:?usage: gpu-run.sh TARBALL [STAGE]...}
shift
[ $# -gt 0 ] || set -- build reproducers programs rest
dir=${GPU_RUN_DIR:-${TMPDIR:-/tmp}/gsan-gpu-run}
jobs=${JOBS:-$(nproc)}
[ "$jobs" -le 8 ] || jobs=8
case $tarball in
/*) ;;
*)  tarball=$PWD/$tarball ;;
esac

stage_build()
{
	rm -rf "$dir"
	mkdir -p "$dir/src" "$dir/build" || return
	tar -xf "$tarball" -C "$dir/src" --strip-components=1 || return
	cd "$dir/build" || return
	timeout 120 ../src/configure >configure.log 2>&1 || { tail -n 20 configure.log; return 1; }
	sed -n '/is configured:$/,$p' configure.log
	timeout 400 make -j"$jobs" >make.log 2>&1 || { tail -n 30 make.log; return 1; }
}

# tests LIMIT JOBS GREP-ARGUMENT...: the tests whose names match, by the harness
tests()
{
	cd "$dir/build" || return
	seconds=$1
	at_once=$2
	shift 2
	list=$(grep "$@" tests.list)
	timeout "$seconds" make -k -j"$at_once" check TESTS="$(echo $list)" >check.log 2>&1
	for t in $list; do
		trs=${t%.*}.trs
		log=${t%.*}.log
		result=$(sed -n 's/^:global-test-result: //p' "$trs" 2>/dev/null)
		printf '%-8s%s\n' "${result:-MISSING}" "$t"
		[ -z "$OUT" ] || { mkdir -p "$OUT/$(dirname "$log")" && cp "$log" "$OUT/$log" 2>/dev/null; }
	done >>table
}

# stage_reproducers: each in a process of its own; those that were not reached are counted
stage_reproducers()
{
	cd "$dir/build" || return
	awk -v seed="${SEED:-$(date +%j)}" 'BEGIN { srand(seed) } { print rand(), $0 }' reproducers.list | sort -n | cut -d' ' -f2 >order
	make -s $(grep '/litmus/' reproducers.list) || return
	rm -rf reached && mkdir reached
	awk -v gpus="${GPUS:-1}" '{ print NR % gpus, $0 }' order | timeout "${REPRODUCER_LIMIT:-480}" xargs -P $((4 * ${GPUS:-1})) -n 2 sh -c '
		gpu=$1
		shift
		[ "${GPUS:-1}" = 1 ] || export CUDA_VISIBLE_DEVICES=$gpu
		log=reached/$(echo "$1" | tr / _)
		file=$1
		[ -f "$file" ] || file=../src/$1
		timeout 120 ./gsan-run --check --device=${DEVICE:-gpu} "$file" >"$log.run" 2>&1
		case $? in
		0)	echo "PASS    $1" ;;
		77)	echo "SKIP    $1" ;;
		*)	echo "FAIL    $1"; cat "$log.run" >&2 ;;
		esac >"$log.result"' sh
	cat reached/*.result >>table || echo "MISSING reproducers" >>table
	echo "$(ls reached/*.result | wc -l) of $(wc -l <order) reproducers reached"
	[ -z "$OUT" ] || { mkdir -p "$OUT" && for f in $(grep -l '^FAIL' reached/*.result); do cp "${f%.result}.run" "$OUT"; done; }
}

# stage_random: what differs is saved beside the logs
stage_random()
{
	cd "$dir/build" || return
	timeout 60 make -j"$jobs" testsuite/gen/soak >>make.log 2>&1 || { tail -n 30 make.log; return 1; }
	rm -rf random-found
	if JOBS=$((12 * ${GPUS:-1})) LIMIT=${RANDOM_LIMIT:-480} sh ../src/testsuite/gen/gpu.sh testsuite/gen/soak 1000; then
		echo "PASS    random"
	else
		echo "FAIL    random"
	fi >random.log
	sed '$d' random.log
	tail -n 1 random.log >>table
	[ -z "$OUT" ] || { mkdir -p "$OUT" && cp -R random.log random-found "$OUT" 2>/dev/null; }
}

# stage_kernels: the table on standard output
stage_kernels()
{
	cd "$dir/build" || return
	top_srcdir=../src top_builddir=. NVCC=${NVCC:-nvcc} timeout 590 sh ../src/testsuite/kernels/run.sh
	case $? in
	0)	echo "PASS    kernels" ;;
	77)	echo "SKIP    kernels" ;;
	*)	echo "FAIL    kernels" ;;
	esac >>table
}

# passed NAME COMMAND...: a line of the table
passed()
{
	name=$1
	shift
	"$@" >passed.log 2>&1
	case $? in
	0)	echo "PASS    $name" ;;
	77)	echo "SKIP    $name" ;;
	*)	echo "FAIL    $name"; cat passed.log >&2 ;;
	esac >>table
}

# stage_drain: the log's region is emptied while the program waits for something
stage_drain()
{
	source=../src/testsuite/stress
	"$NVCC" -std=c++17 -O3 -arch=sm_90 -DMUTATE=0 -ptx $source/fill.cu -o full.ptx && probe/put full.ptx full.probes.ptx full.sites >/dev/null &&
		"${PTXAS:-ptxas}" -arch=sm_90 full.probes.ptx -o fill.cubin &&
		"$NVCC" -O3 -std=c++17 -arch=sm_90 -I ../src -o drain $source/drain.cu log/liblog.a event/libevent.a -lcuda ||
		{ echo "FAIL    drain" >>table; return; }
	for what in nothing cuCtxSynchronize cudaFree cudaMalloc cudaMallocManaged cudaHostAlloc cudaHostRegister cudaMemcpy launches; do
		passed "drain: $what" timeout 60 ./drain fill.cubin full.sites $what
		cat passed.log
	done
}

# stage_runtime: the programs that the emulated device runs
stage_runtime()
{
	cd "$dir/build" || return
	export top_srcdir=../src top_builddir=. NVCC=${NVCC:-nvcc} CUDA_HOME=${CUDA_HOME:-$(dirname "$(dirname "$(command -v "${NVCC:-nvcc}")")")}
	for f in ../src/testsuite/programs/*.cu; do
		DEVICE=gpu passed "$f" timeout 120 sh ../src/testsuite/programs.sh "$f"
	done
	"$NVCC" -std=c++17 -arch=sm_90 -o managed ../src/testsuite/stress/managed.cu && passed "guards of managed memory" timeout 300 ./managed
	cat passed.log
}

# stage_hangs: at a barrier, at an mbarrier, at a word; a trap, an assertion, an illegal address; right ones that take as long
stage_hangs()
{
	cd "$dir/build" || return
	export top_srcdir=../src top_builddir=. NVCC=${NVCC:-nvcc} CUDA_HOME=${CUDA_HOME:-$(dirname "$(dirname "$(command -v "${NVCC:-nvcc}")")")}
	DEVICE=gpu passed hangs timeout 400 sh ../src/testsuite/run/hung.sh
	cat passed.log
	DEVICE=gpu passed killed timeout 180 sh ../src/testsuite/run/killed.sh
	cat passed.log
}

# stage_flood: 100 runs, in each of which the region fills eleven times
stage_flood()
{
	cd "$dir/build" || return
	export top_srcdir=../src top_builddir=. NVCC=${NVCC:-nvcc} CUDA_HOME=${CUDA_HOME:-$(dirname "$(dirname "$(command -v "${NVCC:-nvcc}")")")}
	DEVICE=gpu RUNS=${RUNS:-100} JOBS=$jobs BLOCKS=64 ROUNDS=2000 LOG_MB=${LOG_MB:-24} passed flood timeout 400 sh ../src/testsuite/stress/flood.sh
	cat passed.log
}

# stage_screen: launches that are clear by the device, beside the host's; what that is worth
stage_screen()
{
	cd "$dir/build" || return
	export top_srcdir=../src top_builddir=. NVCC=${NVCC:-nvcc} CUDA_HOME=${CUDA_HOME:-$(dirname "$(dirname "$(command -v "${NVCC:-nvcc}")")")}
	DEVICE=gpu passed screen timeout 200 sh ../src/testsuite/run/device_screen.sh
	cat passed.log
	DEVICE=gpu passed part timeout 200 sh ../src/testsuite/run/part.sh
	cat passed.log
	for value in 0 1; do
		echo "device_screen=$value"
		OPTIONS=device_screen=$value BENCH_LIMIT=20 timeout 180 sh ../src/testsuite/bench/gpu.sh
	done
}

# stage_slice: right kernels RUNS times, and mutants; what orders their logs; what they cost
stage_slice()
{
	cd "$dir/build" || return
	export top_srcdir=../src top_builddir=. NVCC=${NVCC:-nvcc} DEVICE=gpu
	for k in slice/matmul slice/triad slice/histogram kernels/gemm; do
		RUNS=${RUNS:-20} passed "$k by probes" timeout 400 sh ../src/testsuite/slice.sh ../src/testsuite/$k.cu
	done
	SEEDS=${SEEDS:-14} BLOCKS=16 passed lanes timeout 400 sh ../src/testsuite/stress/lanes.sh
	SEEDS=${RINGS:-40} passed rings timeout 200 sh ../src/testsuite/stress/rings.sh
	SEEDS=${TILES:-60} passed tiles timeout 200 sh ../src/testsuite/stress/tiles.sh
	BLOCKS=4 ROUNDS=256 passed full timeout 300 sh ../src/testsuite/stress/full.sh
	cat passed.log
	stage_drain
	SEEDS=${SHAPES:-100} passed shapes timeout 200 sh ../src/testsuite/stress/shapes.sh
	"$NVCC" -O3 -std=c++17 -arch=sm_90a -o clocks ../src/testsuite/stress/clocks.cu && passed clocks timeout 100 ./clocks 1000000
	cat passed.log
	timeout 200 sh ../src/testsuite/bench/slice.sh
}

for stage do
	echo "== $stage"
	case $stage in
	build)
		stage_build || { echo "the build failed"; exit 1; }
		make -s list-tests >tests.list && make -s list-reproducers >reproducers.list
		: >table
		;;
	reproducers) stage_reproducers ;;
	programs) tests 540 1 '^testsuite/gpu/' ;;
	rest)	tests 540 "$jobs" -vE '\.ptxs$|^testsuite/gpu/' ;;
	kernels) stage_kernels ;;
	slice)	stage_slice ;;
	runtime) stage_runtime ;;
	hangs)	stage_hangs ;;
	flood)	stage_flood ;;
	screen)	stage_screen ;;
	random)	stage_random ;;
	bench)	cd "$dir/build" && timeout 580 make bench-gpu ;;
	*)	echo "no such stage: $stage"; exit 2 ;;
	esac
done
cd "$dir/build" || exit 1
grep -v '^PASS' table
awk '{ n[$1]++ } END {
	printf "%d passed, %d failed, %d skipped\n", n["PASS"] + n["XFAIL"],
	    n["FAIL"] + n["ERROR"] + n["XPASS"] + n["MISSING"], n["SKIP"] }' table
! grep -qE '^(FAIL|ERROR|XPASS|MISSING)' table
