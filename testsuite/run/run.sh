# SPDX-License-Identifier: Apache-2.0
#
# gsan-run carrying scripts out on the emulated device: exit status, verdicts,
# time limits, seeds, options, and what it prints.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
gsan_run="$top_builddir/gsan-run --device=emu"

# kernel LINE...: a reproducer; the script is read from standard input
kernel()
{
	cat
	printf '%s\n' '.version 7.0' '.target sm_75' '.address_size 64' \
		'.visible .entry k(.param .u64 p, .param .u32 n)' '{' \
		'	.reg .pred %q;' '	.reg .b32 %r<4>;' '	.reg .b64 %d<4>;' \
		'	ld.param.u64 %d0, [p];' '	ld.param.u32 %r0, [n];' "$@" '	ret;' '}'
}
launch='//@ launch k grid=2 block=1 args=a,u32:5'

# ---- clean and racy, with and without verdicts
kernel >clean.ptx <<E
//@ buf a 64 iota
$launch
//@ expect clean
E
run 0 $gsan_run clean.ptx
run 0 $gsan_run --check clean.ptx
kernel '	st.global.u32 [%d0], %r0;' >racy.ptx <<E
//@ buf a 64 iota
$launch
//@ expect only data-race 14 14
E
run 66 $gsan_run racy.ptx
has err 'WARNING: GSan: data race'
has err 'racy.ptx:14'
run 0 $gsan_run --check racy.ptx
GSAN_OPTIONS=exitcode=7 run 7 $gsan_run racy.ptx
GSAN_OPTIONS=exitcode=7 run 0 $gsan_run --check racy.ptx
run 0 $gsan_run --no-instrument racy.ptx

for verdict in clean scope-race 'data-race 13 14' 'only scope-race'; do
	sed "s/expect .*/expect $verdict/" racy.ptx >wrong.ptx
	run 1 $gsan_run --check wrong.ptx
	has err "wrong.ptx:3: expected $(echo "$verdict" | cut -d' ' -f1)"
	has err 'got data-race at lines 14 and 14'
done
sed 's/expect .*/expect data-race/' clean.ptx >wrong.ptx
run 1 $gsan_run --check wrong.ptx
has err 'expected data-race, got no finding'

# Every verdict counts, not only the first or the last.
sed 's,^//@ expect.*,//@ expect race\n//@ expect clean,' racy.ptx >wrong.ptx
run 1 $gsan_run --check wrong.ptx
sed 's,^//@ expect.*,//@ expect clean\n//@ expect race,' racy.ptx >wrong.ptx
run 1 $gsan_run --check wrong.ptx

# ---- the emulated device's own detector, alone
oracle_run="$top_builddir/gsan-run --oracle=only"
run 0 $oracle_run clean.ptx
run 66 $oracle_run racy.ptx
has err 'oracle: racy.ptx: data-race at lines 14 and 14'
run 0 $oracle_run --check racy.ptx
sed 's/expect .*/expect scope-race/' racy.ptx >wrong.ptx
run 1 $oracle_run --check wrong.ptx
has err 'expected scope-race, got from the oracle data-race at lines 14 and 14'
run 2 "$top_builddir/gsan-run" --oracle=also clean.ptx
run 2 $oracle_run --device=gpu clean.ptx
# Options that mean nothing to it are somebody else's.
sed 's/expect .*/expect race\n\/\/@ expect-with report_bugs=0 : scope-race/' racy.ptx >wrong.ptx
run 0 $oracle_run --check wrong.ptx
sed -i 's/report_bugs=0/proxy_fence=path/' wrong.ptx
run 1 $oracle_run --check wrong.ptx

# ---- a second set of options
sed 's/expect .*/expect data-race\n\/\/@ expect-with report_bugs=0 : clean/' racy.ptx >with.ptx
run 0 $gsan_run --check with.ptx
sed -i 's/: clean/: data-race/' with.ptx
run 1 $gsan_run --check with.ptx
has err 'with report_bugs=0: data-race, got no finding'

# ---- what the host does
kernel '	st.global.u32 [%d0+4], %r0;' >host.ptx <<'E'
//@ managed a 16 fill 0xab
//@ buf b 16
//@ hostbuf c 32
//@ stream s
//@ event e
//@ launch k grid=1 block=1 stream=s args=a,u32:77
//@ record e s
//@ wait 0 e
//@ copy b a 16
//@ set b+12 0xff 2
//@ sync
//@ hostwrite a 8 4
//@ launch k grid=1 block=1 args=c+8,u32:99
//@ sync stream 0
//@ sync event e
//@ hostread c 0 32
//@ copy c+16 b 16 stream=s
//@ expect clean
E
run 0 $gsan_run --check --dump=b host.ptx
has out 'b+0000: 000000ab 0000004d 000000ab 0000ffff'
run 0 $gsan_run --dump=a,c host.ptx
has out 'a+0000: 000000ab 0000004d 03020100 000000ab'
has out 'c+0000: 00000000 00000000 00000000 00000063 000000ab 0000004d 000000ab 0000ffff'
run 3 $gsan_run --dump=a,nothing host.ptx
run 3 $gsan_run --dump=a,, host.ptx
kernel >dump.ptx <<'E'
//@ buf a 10 iota
//@ buf r 64 rand 1
//@ launch k grid=1 block=1 args=a,u32:1
E
run 0 $gsan_run --dump=a dump.ptx
has out 'a+0000: 00000000 00000001 00000002'
run 0 $gsan_run --dump=r dump.ptx
mv out first
run 0 $gsan_run --dump=r dump.ptx
cmp -s first out || fail "rand is not the same twice"
[ "$(tr -s ' ' '\n' <out | grep -v : | sort -u | wc -l)" -gt 12 ] || fail "rand is not random"

run 66 $gsan_run --keep=kept.ptx racy.ptx
has kept.ptx __gsan_

# ---- scripts that do not fit the kernels
for args in 'a a,u32:5,u32:6' 'a a' 'a u32:5,a' 'a a,u64:5' 'a '; do
	sed "s/args=.*/args=${args#a }/" clean.ptx >wrong.ptx
	run 2 $gsan_run --check wrong.ptx
	has err 'wrong.ptx:2:'
done
sed 's/launch k/launch other/' clean.ptx >wrong.ptx
run 2 $gsan_run wrong.ptx
has err 'wrong.ptx:2:12: error: this file has no kernel "other"'
sed 's/ret;/ret/' clean.ptx >wrong.ptx
run 3 $gsan_run --check wrong.ptx
has err 'wrong.ptx:15:'

# ---- kernels that do not end well
kernel '	mov.u64 %d1, 64;' '	st.global.u32 [%d1], %r0;' >fault.ptx <<E
//@ buf a 64
$launch
//@ expect clean
E
run 3 $gsan_run --check fault.ptx
has err 'gsan-run: cuCtxSynchronize:'

kernel '	st.global.u32 [%d0+8], %r0;' 'WAIT:' '	ld.relaxed.gpu.global.u32 %r1, [%d0+4];' \
	'	setp.ne.u32 %q, %r1, 99;' '	@%q bra WAIT;' >hang.ptx <<E
//@ buf a 64 iota
$launch
//@ expect data-race 15 15
//@ timeout 2
E
run 1 $gsan_run --check hang.ptx
has err 'hang.ptx: not done after 2 seconds'
# The race before it was found all the same.
hasnt err 'expected data-race'
sed 's/expect.*/expect clean/' hang.ptx >wrong.ptx
run 1 $gsan_run --check --timeout=1 wrong.ptx
has err 'not done after 1 second'
has err 'expected clean, got data-race at lines 15 and 15'

# ---- seeds: who comes first decides whether the second store happens
kernel '	atom.global.add.u32 %r1, [%d0+8], 1;' '	mov.u32 %r2, %ctaid.x;' \
	'	setp.ne.u32 %q, %r1, %r2;' '	@%q st.global.u32 [%d0], %r0;' >seeds.ptx <<E
//@ buf a 64
//@ launch k grid=2 block=1 args=a,u32:5
//@ expect data-race 17 17
E
first=none second=none
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	if $gsan_run --check --seed=$seed seeds.ptx >/dev/null 2>&1; then
		first=$seed
	else
		second=$seed
	fi
done
if [ $first != none ] && [ $second != none ]; then
	run 0 $gsan_run --check --seeds=1..12 seeds.ptx
	run 1 $gsan_run --check --seed=$second seeds.ptx
	run 0 $gsan_run --check --seed=$first seeds.ptx
	run 66 $gsan_run --seeds=1..12 seeds.ptx
else
	fail "twelve seeds, and all of them went the same way ($first, $second)"
fi

# ---- what was executed: by whole warps, the kernel by two of them, and what registers its module by one
EMU_PROFILE=profile run 0 $gsan_run --check clean.ptx
awk '
	$6 == "all" { all = $2 }
	$6 != "all" && NR > 1 { sum += $2; if ($3 < 1 || $3 > 32 || $5 < 1 || $5 > $2) wrong = 1 }
	$6 ~ /^__gsan_v3_init_/ && $4 == 1 { registers = 1 }
	$6 == "k" && $4 == 2 && $2 > 2 * 10 && $5 > 10 { kernel = 1 }
	END { exit !(all && all == sum && registers && kernel && !wrong) }' profile ||
	fail "the profile lacks the kernel or what registers it, or is not their sum: $(cat profile)"

# ---- how long it would take: loads that wait for each other, and loads that do not; a warp
# that spins takes as long as the one that it waits for
cat >timing.ptx <<'EOF'
//@ device sm_90
//@ buf data 256
//@ launch chain grid=1 block=32 args=data
//@ launch apart grid=1 block=32 args=data
//@ launch spin grid=1 block=64 args=data
.version 8.0
.target sm_90
.address_size 64
.visible .entry chain(.param .u64 p)
{
	.reg .b64 %a, %r<5>;
	ld.param.u64 %a, [p];
	ld.volatile.global.u64 %r1, [%a];
	add.s64 %r1, %r1, %a;
	ld.volatile.global.u64 %r2, [%r1];
	add.s64 %r2, %r2, %a;
	ld.volatile.global.u64 %r3, [%r2];
	add.s64 %r3, %r3, %a;
	ld.volatile.global.u64 %r4, [%r3];
	add.s64 %r4, %r4, %a;
	ret;
}
.visible .entry apart(.param .u64 p)
{
	.reg .b64 %a, %r<5>;
	ld.param.u64 %a, [p];
	ld.volatile.global.u64 %r1, [%a];
	ld.volatile.global.u64 %r2, [%a+8];
	ld.volatile.global.u64 %r3, [%a+16];
	ld.volatile.global.u64 %r4, [%a+24];
	add.s64 %r1, %r1, %r4;
	ret;
}
.visible .entry spin(.param .u64 p)
{
	.reg .b64 %a;
	.reg .b32 %t, %v;
	.reg .pred %p;
	ld.param.u64 %a, [p];
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 32;
	@%p bra wait;
	membar.gl;
	membar.gl;
	membar.gl;
	membar.gl;
	membar.gl;
	membar.gl;
	st.volatile.global.u32 [%a+64], 1;
	ret;
wait:
	ld.volatile.global.u32 %v, [%a+64];
	setp.eq.u32 %p, %v, 0;
	@%p bra wait;
	ret;
}
EOF
EMU_TIMING=timing run 0 $gsan_run --no-instrument timing.ptx
awk '
	$1 == "kernel" { name = $2; sub(/:/, "", name); cycles[name] = $3 }
	$1 == "warp" { warp[name, $2] = $3 }
	/ld.volatile.global.u64 %r4/ { last[name] = $1 }
	END {
		exit !(cycles["chain"] > 3 * cycles["apart"] && last["chain"] && cycles["spin"] > 2 * cycles["chain"] / 4 &&
			warp["spin", "0:"] > warp["spin", "1:"] && warp["spin", "0:"] < 2 * warp["spin", "1:"])
	}' timing || fail "timing: $(grep -E "^kernel|^warp" timing | tr '\n' ' ')"

# What is gone through again is in the instruction cache if it fits there: 8 KB, and 64.
loop()		# loop NAME OPS
{
	printf '.visible .entry %s(.param .u64 p)\n{\n\t.reg .b32 %%a, %%i;\n\t.reg .pred %%p;\n\tmov.u32 %%i, 0;\nagain:\n' "$1"
	yes '	add.u32 %a, %a, %i;' | head -n "$2"
	printf '\tadd.u32 %%i, %%i, 1;\n\tsetp.lt.u32 %%p, %%i, 5;\n\t@%%p bra again;\n\tret;\n}\n'
}
{
	printf '//@ device sm_90\n//@ buf data 256\n'
	printf '//@ launch %s grid=1 block=32 args=data\n' fits large
	printf '.version 8.0\n.target sm_90\n.address_size 64\n'
	loop fits 256
	loop large 2048
} >code.ptx
EMU_TIMING=timing run 0 $gsan_run --no-instrument code.ptx
awk '
	$1 == "kernel" { name = $2; sub(/:/, "", name) }
	$1 == "warp" { lines[name] = $7 }
	END { exit !(lines["fits"] >= 64 && lines["fits"] < 80 && lines["large"] >= 5 * 512) }' timing ||
	fail "code fetched: $(grep -E "^kernel|^warp" timing | tr '\n' ' ')"

# ---- faults name lines of the file
kernel '	add.u64 %d0, %d0, 1;' '	st.global.u32 [%d0], %r0;' >fault.ptx <<E
//@ buf a 64 iota
$launch
E
for how in "" --oracle --no-instrument; do
	run 3 $gsan_run $how fault.ptx
	has err 'fault.ptx:14: misaligned global address'
done
kernel '	add.u64 %d0, %d0, 1;' '	trap;' >fault.ptx <<E
//@ buf a 64 iota
$launch
E
run 3 $gsan_run fault.ptx
has err 'fault.ptx:14: trap'

# ---- where it runs
sed '1i//@ requires gpu' clean.ptx >gpu.ptx
run 77 $gsan_run --check gpu.ptx
has out 'skipped'
sed '1i//@ requires emu' clean.ptx >emu.ptx
run 0 $gsan_run --check emu.ptx
run 77 "$top_builddir/gsan-run" --device=gpu --check emu.ptx
for sm in sm_75 sm_80 sm_90a sm_100a; do
	sed "1i//@ device $sm" clean.ptx >sm.ptx
	run 0 $gsan_run --check -v sm.ptx
	has err "(${sm%a})"
done
sed '1i//@ device sm_50' clean.ptx >sm.ptx
run 0 $gsan_run --check sm.ptx
done_testing
