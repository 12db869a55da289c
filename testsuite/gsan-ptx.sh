# SPDX-License-Identifier: Apache-2.0
#
# gsan-ptx's command line: operands, statuses, messages, --wrap.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
g=$top_builddir/gsan-ptx

cat >k.ptx <<'EOF'
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd1;
	ld.param.u64 %rd1, [p];
	st.global.u32 [%rd1], 1;
	ret;
}
EOF

# -- files and streams
run 0 "$g" k.ptx -o one.ptx
[ -s out ] && fail "-o and yet output on stdout"
[ -s err ] && fail "output on stderr for nothing"
has one.ptx ".param .align 8 .b8 __gsan_launch"
has one.ptx "__gsan_v2_init_"
run 0 "$g" k.ptx
cmp -s out one.ptx || fail "stdout differs from -o"
"$g" - <k.ptx >two.ptx || fail "stdin"
sed 's/[0-9]*,//g; s/\[[0-9]*\]//g' one.ptx >a
sed 's/[0-9]*,//g; s/\[[0-9]*\]//g' two.ptx >b
[ "$(wc -l <a)" = "$(wc -l <b)" ] || fail "stdin reads otherwise"
run 0 "$g" -o - k.ptx
cmp -s out one.ptx || fail "-o - is not stdout"
run 0 "$g" one.ptx -o three.ptx
cmp -s one.ptx three.ptx || fail "rewriting twice is not rewriting once"
run 0 "$g" -v one.ptx -o three.ptx
has err "instrumented before"
chmod 640 three.ptx
run 0 "$g" k.ptx -o three.ptx
[ "$(stat -c %a three.ptx)" = 640 ] || fail "the mode of an existing file changed"
run 0 "$g" k.ptx -o k.ptx
cmp -s k.ptx one.ptx || fail "in place is not the same"
printf '%s\n' '.version 7.0' '.target sm_70' '.address_size 64' '.entry k() { bar.sync 0; ret; }' >k.ptx

# -- what is said about the program itself
run 0 "$g" --help
has out "usage: gsan-ptx"
run 0 "$g" --version
head -n 1 out | grep -q '^gsan-ptx (gsan) [0-9]' || fail "--version"
run 0 "$g" --list-insts
grep -q '^ld  *full  *load' out || fail "--list-insts: ld"
grep -q "^sust  *count  *surface-store" out || fail "--list-insts: sust"
[ "$(wc -l <out)" -gt 150 ] || fail "--list-insts is short"
run 3 sh -c "exec '$g' --help >/dev/full"

# -- usage
run 2 "$g"
has err "no input file"
run 2 "$g" k.ptx k.ptx
run 2 "$g" --nonsense k.ptx
run 2 "$g" -d Z k.ptx
has err "no such pass"
run 2 "$g" --wrap
run 2 "$g" k.ptx --wrap true

# -- files that cannot be read or written
run 3 "$g" nowhere.ptx -o x.ptx
has err "nowhere.ptx"
run 3 "$g" k.ptx -o no/such/folder.ptx
run 3 "$g" k.ptx -o /dev/full
[ -e x.ptx ] && fail "an output although there was no input"

# -- rejected input: no output, and the message says where
rejected()
{
	rm -f x.ptx
	run 1 "$g" "$1" -o x.ptx
	[ -e x.ptx ] && fail "$1: rejected, and yet there is an output"
	has err "$2"
}
printf '.version 7.0\n.target sm_70\n.address_size 64\n.entry k() {\n\tmov.u32 %%r1 %%r2;\n}\n' >bad.ptx
rejected bad.ptx "bad.ptx:5:"
has err "error: "
has err "	mov.u32 %r1 %r2;"
ls | grep -q 'x\.ptx\.' && fail "a temporary file was left"
head=$(printf '.version 7.0\n.target sm_70\n.address_size 64\n_')
head=${head%_}
reserved()
{
	printf '%s%b\n' "$head" "$1" >res.ptx
	rejected res.ptx "$2"
	has err "is reserved"
}
reserved '.global .u32 __gsan_x;' 'res.ptx:4:'
reserved '.entry __gsan_k() { ret; }' "'__gsan_k'"
reserved '.entry k(.param .u64 __gsan_p) { ret; }' "'__gsan_p'"
reserved '.entry k() {\n.reg .b32 %__gsan_r<4>;\nret; }' 'res.ptx:5:'
reserved '.entry k() {\n__gsan_l: ret; }' "'__gsan_l'"
reserved '.entry k() {\n{ .shared .b32 a, __gsan_s; }\nret; }' "'__gsan_s'"
reserved '.extern .func __gsan_v1_enter(.param .b32 s);' "'__gsan_v1_enter'"
reserved '.func __gsan_v9_enter(.param .b32 s) { ret; }' "'__gsan_v9_enter'"
printf '%s%s\n' "$head" '// __gsan_ in a comment
.entry k() { ret; }
.section .debug_str { .b8 1 }' >res.ptx
run 0 "$g" res.ptx -o x.ptx

# -- 32-bit modules pass through
printf '.version 7.0\n.target sm_70\n.address_size 32\n.entry k() { ret; }\n' >k32.ptx
run 0 "$g" k32.ptx -o x.ptx
cmp -s k32.ptx x.ptx || fail "a 32-bit module was changed"
has err "32-bit"

# -- options that change the result
run 0 "$g" --print k.ptx
hasnt out "__gsan"
has out "bar.sync 0;"
run 0 "$g" k.ptx
cp out all
run 0 "$g" --kernel='x*' k.ptx
cmp -s out all && fail "--kernel changes nothing"
run 0 "$g" --stats k.ptx
has err "k.ptx: 2 instructions, 1 entries"
for letter in S A; do
	run 0 "$g" -d $letter k.ptx -o x.ptx
	has err "k"
done
run 0 "$g" -d P k.ptx -o x.ptx
has err "line 4: bar.arrive"
run 0 "$g" -c k.ptx
cmp -s out all || fail "-c changes something"
[ "$(cat err)" = "gsan-ptx: -c is ignored: instrumented code calls no runtime" ] || fail "-c: $(cat err)"

# -- --wrap
cat >cicc <<'EOF'
#!/bin/sh
echo "cicc says $*"
for word do [ "$prev" = -o ] && out=$word; prev=$word; done
[ -n "$FROM" ] && cp "$FROM" "$out"
exit ${STATUS:-0}
EOF
cat >myas <<'EOF'
#!/bin/sh
echo "as says $#"
for word do
	case $word in *.ptx) [ "$prev" = -o ] || { cp "$word" seen; echo "$word" >name; } ;; esac
	prev=$word
done
exit ${STATUS:-0}
EOF
chmod +x cicc myas
mkdir tmpdir
TMPDIR=$tmp/tmpdir
export TMPDIR
run 0 env FROM=k.ptx "$g" --wrap ./cicc --lang 'a b' -o w.ptx
has out "cicc says --lang a b -o w.ptx"
has w.ptx "__gsan_v2_init_"
run 0 env FROM=w.ptx "$g" --wrap ./cicc -o w2.ptx
cmp -s w.ptx w2.ptx || fail "--wrap rewrites twice"
rm w.ptx
run 5 env FROM=k.ptx STATUS=5 "$g" --wrap ./cicc -o w.ptx
[ -e w.ptx ] && fail "--wrap: there is an output of a failed cicc"
printf 'BC\300\336' >bitcode
run 0 env FROM=bitcode "$g" --wrap ./cicc -o w.lto
cmp -s bitcode w.lto || fail "--wrap: changed what is not PTX"
[ -s err ] && fail "--wrap: said something about what is not PTX"
run 0 env FROM=bad.ptx "$g" --wrap ./cicc -o w.ptx
cmp -s bad.ptx w.ptx || fail "--wrap: a file that cannot be rewritten was changed"
has err "not instrumented"
run 1 env GSAN_NVCC_STRICT=1 FROM=bad.ptx "$g" --wrap ./cicc -o w.ptx
run 0 env FROM=k32.ptx "$g" --wrap ./cicc -o w.ptx
has err "not instrumented: 32-bit"

run 0 "$g" --wrap ./myas -arch sm_75 k.ptx -o k.cubin
# Its five words, and that kernels are assembled side by side.
has out "as says 6"
has seen "__gsan_v2_init_"
[ "$(cat name)" = k.ptx ] && fail "--wrap: the assembler was given the original"
hasnt k.ptx "__gsan"
[ -z "$(ls tmpdir)" ] || fail "--wrap: left $(ls tmpdir)"
run 0 env GSAN_KEEP=1 "$g" --wrap ./myas k.ptx -o k.cubin
[ "$(ls tmpdir | wc -l)" = 1 ] || fail "GSAN_KEEP keeps nothing"
rm -f tmpdir/*
run 9 env STATUS=9 "$g" --wrap ./myas k.ptx -o k.cubin
[ -z "$(ls tmpdir)" ] || fail "--wrap: left $(ls tmpdir)"
run 0 "$g" --wrap ./myas bad.ptx -o k.cubin
[ "$(cat name)" = bad.ptx ] || fail "--wrap: what cannot be rewritten was not passed on"
rm name
run 1 env GSAN_NVCC_STRICT=1 "$g" --wrap ./myas bad.ptx -o k.cubin
[ -e name ] && fail "GSAN_NVCC_STRICT: the assembler ran all the same"
run 0 "$g" --wrap ./myas one.ptx
[ "$(cat name)" = one.ptx ] || fail "--wrap: copied what needs no rewriting"
run 127 "$g" --wrap ./no-such-command x.ptx
cat >dies <<'EOF'
#!/bin/sh
kill -TERM $$
EOF
chmod +x dies
run 143 "$g" --wrap ./dies
cat >waits <<'EOF'
#!/bin/sh
trap 'exit 42' TERM
: >started
i=0
while [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
EOF
chmod +x waits
"$g" --wrap ./waits k.ptx &
pid=$!
i=0
while [ ! -e started ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status = 42 ] || fail "a signal does not reach the phase: status $status"
[ -z "$(ls tmpdir)" ] || fail "--wrap: left $(ls tmpdir) behind after a signal"

# -- and the real assembler
run 0 "$g" --wrap "$PTXAS" -arch=sm_75 k.ptx -o k.cubin
[ -s k.cubin ] || fail "no cubin"
done_testing
