# SPDX-License-Identifier: Apache-2.0
#
# gen.awk: makes a reproducer of each line of a table of memory-model shapes;
# table says how its lines read.
#
#   awk -f gen.awk -v dir=DIR table           all of them, as DIR/NAME.ptx
#   awk -f gen.awk -v name=NAME table         one, on standard output
#   awk -f gen.awk -v list=1 table            the names
#
# Lane 0 of a warp is the thread; its other lanes come along to the barriers.

function bad(what)
{
	printf "%s:%d: error: %s\n", FILENAME, FNR, what > "/dev/stderr"
	failed = 1
	exit 1
}

# A line of output; `mark`: one of the two racing ones.
function emit(text, mark)
{
	line[++nlines] = text
	if (mark)
		marked[++nmarked] = nlines
}

function place(name)
{
	if (!(name in offset))
		offset[name] = 64 * noffsets++
	return "[%m+" offset[name] "]"
}

# The PTX of one access: opcode, location, operands from word `at` on.
function access(w, n, at,    op, text, i)
{
	op = w[at]
	sub(/\*/, "", op)
	if (n < at + 1)
		bad("no location: " op)
	if (op ~ /^ld/)
		text = op ".global.u32 %v, " place(w[at + 1])
	else if (op ~ /^st/)
		text = op ".global.u32 " place(w[at + 1])
	else if (op ~ /^(atom|red)\..*\.(cas|exch)$/)
		text = op ".b32 " (op ~ /^red/ ? "" : "%v, ") place(w[at + 1])
	else if (op ~ /^(atom|red)\./)
		text = op ".u32 " (op ~ /^red/ ? "" : "%v, ") place(w[at + 1])
	else
		bad("unknown access: " op)
	# .global belongs in front of the operation of an atomic.
	if (op ~ /^(atom|red)/)
		sub(/\.(add|exch|cas)\./, ".global&", text)
	for (i = at + 2; i <= n; i++)
		text = text ", " w[i]
	return text ";"
}

# until and try: what must be returned is the operand of ld, the first of cas.
function wait(w, n, bounded,    l, value, mark, text)
{
	l = ++nwaits
	mark = w[2] ~ /\*/
	value = w[4]
	if (w[2] ~ /^ld/)
		n = 3
	text = access(w, n, 2)
	emit("\t@!%q bra PAST" l ";")
	if (bounded)
		emit("\tmov.u32 %i, 0;")
	emit("WAIT" l ":")
	emit("\t" text, mark)
	emit("\tsetp.eq.u32 %p, %v, " value ";")
	emit("\t@%p bra PAST" l ";")
	if (bounded) {
		emit("\tadd.u32 %i, %i, 1;")
		emit("\tsetp.lt.u32 %p, %i, 1000;")
		emit("\t@%p bra WAIT" l ";")
	} else {
		emit("\tbra WAIT" l ";")
	}
	emit("PAST" l ":")
}

function instruction(text,    w, n)
{
	gsub(/^ +| +$/, "", text)
	n = split(text, w, / +/)
	if (w[1] == "until" || w[1] == "try")
		wait(w, n, w[1] == "try")
	else if (w[1] == "sync" || w[1] == "arrive")
		emit("\tbarrier." w[1] " " w[2] ", " w[3] ";")
	else if (w[1] == "set")
		emit("\tmov.u32 %v, " w[2] ";")
	else if (w[1] == "keep")
		emit("\tmov.u32 %k, %v;")
	else if (w[1] == "inc")
		emit("\tadd.u32 %k, %k, 1;")
	else if (w[1] ~ /^(ld|st|atom|red)[.*]?/)
		emit("\t@%q " access(w, n, 1), w[1] ~ /\*/)
	else if (w[1] ~ /^(fence|membar)\./ && n == 1)
		emit("\t@%q " w[1] ";")
	else
		bad("unknown instruction: " text)
}

# The whole reproducer into line[]; the expect line's place is left open.
function build(test, verdict, body,    t, nt, list, i, ni, insts, cta, warp, ncta, nwarp, per, where)
{
	split("", line)
	split("", marked)
	split("", offset)
	nlines = nmarked = noffsets = nwaits = 0
	nt = split(body, t, /\|/)
	ncta = nwarp = 0
	split("", per)
	for (i = 1; i <= nt; i++) {
		gsub(/^ +| +$/, "", t[i])
		if (t[i] !~ /^[0-9]+ /)
			bad(test ": a thread without its block's number")
		cta[i] = t[i] + 0
		sub(/^[0-9]+ +/, "", t[i])
		warp[i] = per[cta[i]]++
		if (cta[i] >= ncta)
			ncta = cta[i] + 1
		if (per[cta[i]] > nwarp)
			nwarp = per[cta[i]]
	}
	emit("// SPDX-License-Identifier: Apache-2.0")
	emit("// " test ": made from testsuite/litmus/table.")
	emit("//@ device sm_75")
	emit("//@ buf m 512")
	emit("//@ launch k grid=" ncta " block=" nwarp * 32 " args=m")
	emit("")
	where = nlines
	emit(".version 7.0")
	emit(".target sm_75")
	emit(".address_size 64")
	emit("")
	emit(".visible .entry k(.param .u64 p_m)")
	emit("{")
	emit("\t.reg .pred %p, %q;")
	emit("\t.reg .b32 %t, %c, %w, %v, %k, %i;")
	emit("\t.reg .b64 %m;")
	emit("")
	emit("\tld.param.u64 %m, [p_m];")
	emit("\tcvta.to.global.u64 %m, %m;")
	emit("\tmov.u32 %v, 0;")
	emit("\tmov.u32 %t, %tid.x;")
	emit("\tmov.u32 %c, %ctaid.x;")
	emit("\tshr.u32 %w, %t, 5;")
	emit("\tand.b32 %i, %t, 31;")
	emit("\tsetp.eq.u32 %q, %i, 0;")
	emit("\tmad.lo.u32 %w, %c, " nwarp ", %w;")
	for (i = 1; i <= nt; i++) {
		emit("\tsetp.eq.u32 %p, %w, " cta[i] * nwarp + warp[i] ";")
		emit("\t@%p bra THREAD" i ";")
	}
	emit("\tret;")
	for (i = 1; i <= nt; i++) {
		emit("THREAD" i ":")
		ni = split(t[i], insts, /;/)
		for (list = 1; list <= ni; list++)
			instruction(insts[list])
		emit("\tret;")
	}
	emit("}")
	if (nmarked && nmarked != 2)
		bad(test ": " nmarked " marked accesses, not 2")
	line[where] = "//@ expect " verdict
	if (nmarked)
		line[where] = line[where] " " marked[1] " " marked[2]
}

/^[ \t]*(#|$)/ { next }

{
	colon = index($0, " : ")
	if (!colon)
		bad("no \" : \"")
	split(substr($0, 1, colon), head, / +/)
	test = head[1]
	verdict = substr($0, length(test) + 2, colon - length(test) - 2)
	if (test in seen)
		bad(test " a second time")
	seen[test] = 1
	if (list) {
		print test
		next
	}
	if (name != "" && name != test)
		next
	build(test, verdict, substr($0, colon + 3))
	found = 1
	out = dir == "" ? "/dev/stdout" : dir "/" test ".ptx"
	for (i = 1; i <= nlines; i++)
		print line[i] > out
	if (dir != "")
		close(out)
}

END {
	if (!failed && name != "" && !found)
		bad("no shape " name)
}
