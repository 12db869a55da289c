# SPDX-License-Identifier: Apache-2.0
#
# masks.sh: no mask of activemask is one that ptxas could take for the same in all lanes that are there
# (doc/hardware.md 12): the program's own, under a guard too, nor the probes'.
. "$top_srcdir/testsuite/lib.sh"

# shape ID: a kernel in which lanes draw numbers by groups; its lanes are numbered by tid.x alone, or by ID
shape()
{
	cat <<-E
	.version 8.0
	.target sm_90
	.address_size 64
	.visible .entry k(.param .u64 a)
	{
	.reg .b32 %r<9>;
	.reg .b64 %x<3>;
	.reg .pred %p<3>;
	ld.param.u64 %x1, [a];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, $1;
	setp.gt.u32 %p1, %r1, 7;
	@%p1 bra DONE;
	@%p1 bra OTHER;
	activemask.b32 %r3;
	bra BOTH;
	OTHER:
	@!%p1 activemask.b32 %r3;
	BOTH:
	popc.b32 %r4, %r3;
	atom.global.add.u32 %r5, [%x1], %r4;
	add.u32 %r5, %r5, %r2;
	shfl.sync.idx.b32 %r6, %r5, 0, 31, %r3;
	st.global.u32 [%x1+4], %r6;
	bar.warp.sync 0xff;
	DONE:
	ret;
	}
	E
}

for id in %tid.x %tid.y; do
	shape $id >k.ptx
	"$top_builddir/probe/put" k.ptx out.ptx sites >said || { cat said; fail "$id: not put"; }
	"$PTXAS" -arch=sm_90 out.ptx -o out.cubin >err 2>&1 || { cat err; fail "$id: ptxas refuses it"; }
	# What each mask becomes in one of the next three instructions.
	awk '
	{ guard = "" }
	/^[ \t]*@/ { guard = $1; $1 = ""; $0 = $0 }
	/activemask\.b32/ { mask = $NF; sub(";", "", mask); left = 3; n++; under = guard; next }
	# What match.any makes of it is the lane\047s own, but for what a barrier names (%__gsan_a): that may be a constant.
	left && /match\.any\.sync/ && $2 == mask "," && $3 != "%__gsan_a," { left = 0; made++; next }
	left && guard == under && $1 ~ /^(or|and)\.b32$/ && $2 == mask "," { left = 0; made++; next }
	left { left-- }
	END { print n + 0, made + 0 }' out.ptx >masks
	read -r n made <masks
	[ "$n" -ge 4 ] || fail "$id: $n masks"
	[ "$n" = "$made" ] || fail "$id: $((n - made)) of $n masks are as activemask has them"
done
done_testing
