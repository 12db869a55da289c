# SPDX-License-Identifier: Apache-2.0
#
# Files that gsan-run cannot run as they are, and closing lines that libgsan does
# not say.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
gsan_run="$top_builddir/gsan-run --device=emu"

# kernel PARAMETERS: one without a script
kernel()
{
	printf '%s\n' '.version 7.0' '.target sm_75' '.address_size 64' \
		".visible .entry k($1)" '{' '	ret;' '}'
}

# The lines that are offered do what they say.
for parameters in '' '.param .u64 p' '.param .u64 p, .param .u32 n, .param .f32 x' '.param .b64 p,
	.param .u8 c, .param .f64 d, .param .s32 i, .param .u16 h, .param .s64 j, .param .b32 w'; do
	kernel "$parameters" >bare.ptx
	run 2 $gsan_run bare.ptx
	has err 'bare.ptx: error: no script: nothing launches a kernel'
	sed -n 's,^ *//@,//@,p' err >script
	[ "$(grep -c '^//@ launch k grid=1,1,1 block=128,1,1' script)" = 1 ] || fail "offered: $(cat err)"
	cat script bare.ptx >whole.ptx
	run 0 $gsan_run whole.ptx
	has err 'GSan: 0 findings; 1 launch'
done
kernel '.param .align 8 .b8 struct[24]' >bare.ptx
run 2 $gsan_run bare.ptx
has err 'args=...'
# Declarations launch nothing.
{ echo '//@ buf a 64'; kernel ''; } >buffer.ptx
run 2 $gsan_run buffer.ptx
has err '//@ launch k '
printf '%s\n' '.version 7.0' '.target sm_75' '.address_size 64' >empty.ptx
run 2 $gsan_run empty.ptx
has err 'no kernel (.entry)'
# Machine code: of the device, of the host where it cannot be executed.  What can is a program, with or without "--".
printf '%s\n' '.version 7.0' '.target sm_75' '.address_size 64' '.visible .entry k() { ret; }' >machine.ptx
"$PTXAS" -arch=sm_75 machine.ptx -o machine.cubin || hard "ptxas"
chmod +x machine.cubin
cp "$top_builddir/gsan-run" part
chmod -x part
for file in machine.cubin part; do
	run 2 $gsan_run $file
	has err 'machine code (an ELF file)'
	[ "$(wc -l <err)" = 1 ] || fail "more than a line: $(cat err)"
done
printf '#!/bin/sh\necho "$#: $*"\nexit 7\n' >script
chmod +x script
for word in -- ''; do
	run 7 $gsan_run $word ./script --seed=3 -v -- -x
	[ "$(cat out)" = "4: --seed=3 -v -- -x" ] || fail "its arguments: $(cat out)"
	run 2 $gsan_run $word "$top_builddir/gsan-ptx" --no-such-option
	has err "'gsan-ptx --help'"
	run 0 $gsan_run $word printf '%s' "a b"
	[ "$(cat out)" = "a b" ] || fail "a command's output: $(cat out)"
done
chmod +x machine.ptx
run 2 $gsan_run machine.ptx
has err '//@ launch k '
run 1 "$top_builddir/gsan-ptx" "$top_builddir/gsan-run"
has err '1:1: error: machine code (an ELF file), not PTX'
hasnt err stray

# Who judged by other means says that he did.
racy=$top_srcdir/examples/reverse.ptx
for how in --events=probes --events --events=hostile --oracle=only; do
	for strict in 0 1; do
		GSAN_OPTIONS=strict=$strict run 66 $gsan_run $how "$racy"
		[ "$(grep -c '^GSan: ' err)" = 1 ] || fail "$how: $(grep '^GSan: ' err)"
		grep -q '^GSan: [12] findings*; 1 launch judged by the ' err || fail "$how: $(grep '^GSan: ' err)"
	done
	GSAN_OPTIONS=quiet=1 run 66 $gsan_run $how "$racy"
	hasnt err 'GSan: '
done
GSAN_OPTIONS=strict=1 run 65 $gsan_run --no-instrument "$racy"
has err 'GSan: nothing was watched: no kernel that was launched is instrumented'
# Who ends gsan-run has the closing line of what it runs.
cat >hang.ptx <<'E'
//@ buf a 64 iota
//@ launch k grid=1 block=1 args=a
.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %q;
	.reg .b32 %r;
	.reg .b64 %d;
	ld.param.u64 %d, [p];
WAIT:
	ld.relaxed.gpu.global.u32 %r, [%d+4];
	setp.ne.u32 %q, %r, 99;
	@%q bra WAIT;
	ret;
}
E
for signal in INT TERM; do
	timeout -s $signal 2 "$top_builddir/gsan-run" --device=emu hang.ptx >out 2>err
	[ "$(grep -c '^GSan: ' err)" = 1 ] || fail "$signal: $(cat err)"
done
done_testing
