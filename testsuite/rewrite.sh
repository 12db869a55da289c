# SPDX-License-Identifier: Apache-2.0
#
# Golden tests of the rewriter: what gsan-ptx says it logs of rewrite/X.ptx is
# rewrite/X.exp.  Also: the result assembles; rewritten again it stays as it is;
# printing it and parsing it changes nothing.  `rewrite.sh --update [X...]` writes X.exp.
update=
if [ "$1" = --update ]; then
	update=1
	shift
fi
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
gsan_ptx=$top_builddir/gsan-ptx
golden=$top_srcdir/testsuite/rewrite

# No ptxas knows the instruction in it.
unassembled=unknown

assemble()
{
	arch=$(sed -n 's/^\.target \(sm_[0-9a-z]*\).*/\1/p' "$1" | sed 's/^sm_[3-7][0-4]$/sm_75/')
	timeout 300 "$PTXAS" "$arch_option$arch" $2 "$1" -o cubin >asm.log 2>&1 && return
	fail "ptxas $2 refuses $1, made from $name.ptx"
	head -n 5 asm.log
}
arch_option=-arch=

one()
{
	options=
	[ "$name" = kernel ] && options='--kernel=pick*'
	cp "$golden/$name.ptx" . || hard "copy"
	timeout 60 "$gsan_ptx" -v --stats -dP $options "$name.ptx" -o whole.ptx >out 2>"$name.got" ||
		{ fail "$name: status $?"; cat "$name.got"; return; }
	[ -s out ] && fail "$name: -o and yet output on stdout"
	if [ -n "$update" ]; then
		cp "$name.got" "$golden/$name.exp"
	elif ! cmp -s "$golden/$name.exp" "$name.got"; then
		fail "$name: differs from $name.exp"
		diff -u "$golden/$name.exp" "$name.got" | head -n 40
	fi
	run 0 "$gsan_ptx" whole.ptx -o again.ptx
	cmp -s whole.ptx again.ptx || fail "$name: rewriting twice is not rewriting once"
	run 0 "$gsan_ptx" --print whole.ptx -o printed.ptx
	run 0 "$gsan_ptx" --print printed.ptx -o again.ptx
	cmp -s printed.ptx again.ptx || fail "$name: printing is not stable"
	case " $unassembled " in
	*" $name "*) ;;
	*)
		assemble "$name.ptx" -c
		assemble whole.ptx -c
		;;
	esac
}

n=0
if [ $# = 0 ]; then
	set -- $(cd "$golden" && ls *.ptx | sed 's/\.ptx$//')
fi
for name do
	one
	n=$((n + 1))
done
[ "$n" -ge 1 ] || hard "no test found"
echo "$n files"
done_testing
