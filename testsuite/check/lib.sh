# SPDX-License-Identifier: Apache-2.0
#
# What the tests of kept logs share.  Source it after testsuite/lib.sh.

gsan_run="timeout 100 $top_builddir/gsan-run --device=emu"
check="timeout 100 $top_builddir/gsan-check"
race=$top_srcdir/testsuite/race

# stores FIRST LINE...: a reproducer with these lines of a script, whose threads carry out FIRST, and then store to a word of
# their own as often as they are told to
stores()
{
	first=$1
	shift
	printf '//@ %s\n' "device sm_75" "buf out 1024 zero" "$@"
	cat <<-END
	.version 7.0
	.target sm_75
	.address_size 64
	.visible .entry k(.param .u64 out, .param .u32 rounds)
	{
		.reg .b64 %rd<4>;
		.reg .b32 %r<6>;
		.reg .pred %p;
		ld.param.u64 %rd0, [out];
		ld.param.u32 %r1, [rounds];
		mov.u32 %r0, %tid.x;
		$first
		xor.b32 %r2, %r0, 21;
		mul.wide.u32 %rd1, %r2, 4;
		add.u64 %rd1, %rd0, %rd1;
	again:
		st.global.u32 [%rd1], %r0;
		sub.u32 %r1, %r1, 1;
		setp.ne.u32 %p, %r1, 0;
		@%p bra again;
		ret;
	}
	END
}

# keeps STATUS OPTIONS COMMAND...: the command runs under these options, and its log, which is the only one, is `kept`;
# what it says is in `said`
keeps()
{
	options=$2
	status=$1
	shift 2
	rm -rf logs kept
	mkdir logs
	run "$status" env GSAN_OPTIONS="log=logs:$options" "$@"
	mv err said
	set -- logs/*.gsanlog
	[ $# = 1 ] && mv "$1" kept || fail "no log, or several: $*"
}

# counted FILE: without how often, which at the end is more where several launches were told of as they came
counted()
{
	sed 's/^  \[\([0-9]* times\{0,1\}\)\]$/  [N]/' "$1"
}

# same: gsan-check says what the run said
same()
{
	cmp -s said err || fail "gsan-check says something else: $(diff said err | head -n 20)"
}

# parts FILE: offset and kind of each part, and where the file ends
parts()
{
	od -An -v -tu4 -w16 "$1" | awk '
		NR == 1 { next }
		!left { print (NR - 1) * 16, $1; left = $2 / 16; next }
		{ left-- }
		END { print NR * 16, "end" }'
}
