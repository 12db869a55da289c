# SPDX-License-Identifier: Apache-2.0
#
# rules.awk DIR: makes a reproducer of each case of rules.txt, DIR/NAME.ptx.  A case is
# the body of a kernel of one block of 64 threads, or of a cluster of two; around it come
# registers, buffers `in` and `out`, shared memory `y` and two mbarriers.  Letters behind
# // name lines; "wait M PARITY [SEM]" is a loop around try_wait.
function put(line) { text[++n] = line }
function lines_of(e,    w, i, k)
{
	k = split(e, w, " ")
	e = w[1]
	for (i = 2; i <= k; i++)
		e = e " " (w[i] in at ? at[w[i]] : w[i])
	return e
}
function flush_case(    i, out, e)
{
	if (!name)
		return
	put("LAST:")
	put("\tbarrier.cluster.arrive;")
	put("\tbarrier.cluster.wait;")
	put("END:")
	put("\tret;")
	put("}")
	for (i = 1; i <= n; i++)
		if (match(text[i], "// [A-Z]$"))
			at[substr(text[i], RSTART + 3, 1)] = i
	out = dir "/" name ".ptx"
	for (i = 1; i <= n; i++) {
		e = text[i]
		if (e ~ /^\/\/@ expect/)
			e = lines_of(e)
		print e > out
	}
	close(out)
	delete text
	delete at
	n = loops = 0
	name = ""
}
function begin(    i)
{
	name = $2
	grid = counts[0] = counts[1] = 1
	sm = "sm_90a"
	version = "8.6"
	for (i = 3; i <= NF; i++) {
		if ($i == "two")
			grid = 2
		else if ($i ~ /^m[01]=/)
			counts[substr($i, 2, 1)] = substr($i, 4)
		else if ($i ~ /^sm=/)
			sm = substr($i, 4)
		else if ($i ~ /^version=/)
			version = substr($i, 9)
	}
	put("//@ device " sm)
	put("//@ buf in 1024 iota")
	put("//@ buf out 1024")
	put("//@ buf far 1024")
	put("//@ launch k grid=" grid " block=64 cluster=" grid " args=in,out,far")
	head = 1
}
function prologue()
{
	head = 0
	put(".version " version)
	put(".target " sm)
	put(".address_size 64")
	put(".visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u64 p_far)")
	put("{")
	put("\t.reg .pred %p0, %p1, %p32, %low, %pw, %c0, %c1;")
	put("\t.reg .b16 %h;")
	put("\t.reg .b32 %t, %c, %y, %a, %b, %v, %n, %r0, %r1, %ry, %one, %zero;")
	put("\t.reg .b64 %in, %out, %far, %it, %ot, %s, %d;")
	put("\t.shared .align 128 .b32 y[256];")
	put("\t.shared .align 8 .b64 m0;")
	put("\t.shared .align 8 .b64 m1;")
	put("\tld.param.u64 %in, [p_in]; cvta.to.global.u64 %in, %in;")
	put("\tld.param.u64 %out, [p_out]; cvta.to.global.u64 %out, %out;")
	put("\tld.param.u64 %far, [p_far]; cvta.to.global.u64 %far, %far;")
	put("\tmov.u32 %t, %tid.x; mov.u32 %c, %cluster_ctarank; mov.u32 %one, 1; mov.u32 %zero, 0;")
	put("\tsetp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 1; setp.eq.u32 %p32, %t, 32;")
	put("\tsetp.lt.u32 %low, %t, 32; setp.eq.u32 %c0, %c, 0; setp.eq.u32 %c1, %c, 1;")
	put("\tmov.u32 %y, y; shl.b32 %a, %t, 2; add.u32 %a, %a, %y;")
	put("\tmul.wide.u32 %d, %t, 4; add.u64 %it, %in, %d; add.u64 %ot, %out, %d;")
	put("\txor.b32 %n, %c, 1;")
	if (grid == 2) {
		put("\tmov.u32 %r0, m0; mapa.shared::cluster.u32 %r0, %r0, %n;")
		put("\tmov.u32 %r1, m1; mapa.shared::cluster.u32 %r1, %r1, %n;")
		put("\tmapa.shared::cluster.u32 %ry, %y, %n;")
	}
	put("\t@%p0 mbarrier.init.shared.b64 [m0], " counts[0] ";")
	put("\t@%p0 mbarrier.init.shared.b64 [m1], " counts[1] ";")
	put("\tbarrier.cluster.arrive;")
	put("\tbarrier.cluster.wait;")
}
/^case / { flush_case(); begin() }
/^#/ || /^$/ || /^case / { next }
head && /^expect/ { put("//@ " $0); next }
head { prologue() }
$1 == "wait" {
	loops++
	put("L" loops ":")
	put("\tmbarrier.try_wait.parity" ($4 ? "." $4 : "") ".shared::cta.b64 %pw, [" $2 "], " $3 ";")
	put("\t@!%pw bra L" loops ";")
	next
}
/^[A-Z]+[0-9]*:/ { put($0); next }
name { put("\t" $0) }
END { flush_case() }
