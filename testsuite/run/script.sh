# SPDX-License-Identifier: Apache-2.0
#
# The script of a reproducer: what is wrong is named with its place, and what is
# right is taken.  Nothing runs.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
gsan_run=$top_builddir/gsan-run

# wrong COLUMN TEXT LINE...: the last line is in error there
wrong()
{
	column=$1
	text=$2
	shift 2
	printf '%s\n' "$@" >t.ptx
	run 2 "$gsan_run" --parse-only t.ptx
	has err "t.ptx:$#:$column: error: $text"
}

# right LINE...
right()
{
	printf '%s\n' "$@" >t.ptx
	run 0 "$gsan_run" --parse-only t.ptx
}

D='//@ buf a 64'
wrong 5 'unknown directive "bufs"' '//@ bufs a 64'
wrong 5 'unknown directive "Buf"' '//@ Buf a 64'
wrong 4 'expected a directive' '//@'
wrong 8 'expected a directive' '    //@'
wrong 8 'expected a name' '//@ buf'
wrong 10 'expected a size in bytes' '//@ buf a'
wrong 11 'size: "sixty" is not a number' '//@ buf a sixty'
wrong 11 'size: "-4" is not a number' '//@ buf a -4'
wrong 11 'size: "0x" is not a number' '//@ buf a 0x'
wrong 11 'size: "64k" is not a number' '//@ buf a 64k'
wrong 11 'size: at least 1 byte' '//@ buf a 0'
wrong 9 '"1a" is not a name' '//@ buf 1a 64'
wrong 9 '"0" is the null stream' '//@ buf 0 64'
wrong 9 '"a" is already declared on line 1' "$D" '//@ buf a 64'
wrong 14 'unknown way to fill memory: "ones"' '//@ buf a 64 ones'
wrong 19 'unexpected "iota"' '//@ buf a 64 zero iota'
wrong 18 'expected a 32-bit word' '//@ buf a 64 fill'
wrong 19 'fill: 0x100000000 is more than 4294967295' '//@ buf a 64 fill 0x100000000'
wrong 12 '"sm90" is not a device' '//@ device sm90'
wrong 12 '"sm_90x" is not a device' '//@ device sm_90x'
wrong 5 '"device" a second time' '//@ device sm_90' '//@ device sm_90'
wrong 14 '"tpu" is neither emu nor gpu' '//@ requires tpu'
wrong 12 'unexpected "more"' '//@ faults more'
wrong 14 'devices: at least 1' '//@ devices  0'
wrong 5 '"buf" declares something' '//@ sync' "$D"
wrong 15 'unexpected "more"' '//@ requires   emu' '//@ event one more'

wrong 11 'expected a kernel' '//@ launch'
wrong 13 'expected grid=X' '//@ launch k'
wrong 20 'expected block=X' '//@ launch k grid=1'
wrong 28 'expected args=A' '//@ launch k grid=1 block=1'
wrong 14 'unknown word "threads=1" in a launch' '//@ launch k threads=1'
wrong 19 'grid: "x" is not a number' '//@ launch k grid=x block=1 args='
wrong 19 'grid: at least 1' '//@ launch k grid=0 block=1 args='
wrong 21 'grid: "" is not a number' '//@ launch k grid=1,'
wrong 25 'grid: more than three numbers' '//@ launch k grid=1,2,3,4'
wrong 20 'block: 2048 threads are more than 1024' '//@ launch k block=2048'
wrong 20 'block: 1056 threads are more than 1024' '//@ launch k block=33,32 grid=1 args='
wrong 21 '"grid=2" a second time' '//@ launch k grid=1 grid=2'
wrong 34 '"b" is not declared' "$D" '//@ launch k grid=1 block=1 args=b'
wrong 36 'an argument is missing' "$D" '//@ launch k grid=1 block=1 args=a,'
wrong 34 'offset 65 is behind the end of "a" (64 bytes)' "$D" '//@ launch k grid=1 block=1 args=a+65'
wrong 37 'value: 256 is more than 255' '//@ launch k grid=1 block=1 args=u8:256'
wrong 38 'value: 2147483648 is more than 2147483647' '//@ launch k grid=1 block=1 args=s32:2147483648'
wrong 38 '"one" is not a number' '//@ launch k grid=1 block=1 args=f32:one'
wrong 38 '1e39 does not fit in f32' '//@ launch k grid=1 block=1 args=f32:1e39'
wrong 34 '"u128:1" is not declared' '//@ launch k grid=1 block=1 args=u128:1'
wrong 42 '"s" is not declared' '//@ launch k grid=1 block=1 args= stream=s'
wrong 42 '"a" is not a stream' "$D" '//@ launch k grid=1 block=1 args= stream=a'
wrong 10 'expected "stream NAME" or "event NAME"' '//@ sync all'
wrong 15 'expected an event' '//@ sync event'
wrong 12 '"s" is not an event' '//@ stream s' '//@ record s s'
wrong 14 '"a" is not a stream' "$D" '//@ event e' '//@ record e a'
wrong 14 'reaches beyond the end of "a" (64 bytes)' "$D" '//@ copy a a 65'
wrong 16 'reaches beyond the end of "a" (64 bytes)' "$D" '//@ copy a+8 a 57'
wrong 11 'byte: 256 is more than 255' "$D" '//@ set a 256 1'
wrong 14 '"a" is neither a hostbuf nor managed' "$D" '//@ hostread a 0 4'
wrong 18 'reaches beyond the end of "h" (64 bytes)' '//@ hostbuf h 64' '//@ hostread h 0 65'

wrong 11 'expected clean, only or a kind of finding' '//@ expect'
wrong 12 'unknown kind of finding "data_race"' '//@ expect data_race'
wrong 16 'expected a kind of finding' '//@ expect only'
wrong 22 'this file has no line 2' '//@ expect data-race 2'
wrong 22 'this file has no line 0' '//@ expect data-race 0'
wrong 26 'unexpected "1"' '//@ expect data-race 1 1 1'
wrong 18 'unexpected "1"' '//@ expect clean 1'
wrong 20 'expected ":" behind the options' '//@ expect-with a=1'
wrong 17 'expected OPTIONS' '//@ expect-with : clean'
wrong 13 'timeout: at least 1' '//@ timeout 0'
wrong 5 '"timeout" a second time' '//@ timeout 5' '//@ timeout 5'

right '// no directive: // @ buf, /@ buf' ' //@ buf a 0x40 fill 0xffffffff' '	//@ hostbuf h 1 iota' \
	'//@ managed m 5 rand 7' '//@ stream s' '//@ event e' '//@ requires emu' '//@ faults' '//@ device sm_100a' \
	'//@ launch k grid=1,2,3 block=4,5,6 cluster=1,2,3 smem=0x10 stream=s args=a,a+64,h,m+1,u8:255,u16:0xffff,u32:1,u64:0xffffffffffffffff,s32:-2147483648,s64:-1,f32:-1.5e3,f64:0x1p-3' \
	'//@ launch k grid=1 block=1 args= stream=0' \
	'//@ sync' '//@ sync stream s' '//@ sync event e' '//@ record e s' '//@ wait 0 e' \
	'//@ copy a+60 m+1 4 stream=s' '//@ set a 255 64' '//@ hostread h 0 1' '//@ hostwrite m 1 4' \
	'//@ expect clean' '//@ expect only data-race' '//@ expect race 1' '//@ expect only race 2 1' \
	'//@ expect-with a=1 b=2 : only proxy-fence-order 1 1' '//@ timeout 3'
printf '//@ buf a 64\r\n//@ expect clean\r\n' >t.ptx
run 0 "$gsan_run" --parse-only --check t.ptx

# All errors are reported, and each with its line and a caret below.
printf '%s\n' '//@ one' '//@ buf a 64' '//@ two' >t.ptx
run 2 "$gsan_run" --parse-only t.ptx
has err 't.ptx:1:5: error: unknown directive "one"'
has err 't.ptx:3:5: error: unknown directive "two"'
printf '%s\n' 't.ptx:1:5: error: unknown directive "one"' '//@ one' '    ^' >want
head -n 3 err | cmp -s want - || fail "no line and caret: $(head -n 3 err)"

# A reproducer that expects nothing is no test.
printf '%s\n' "$D" >t.ptx
run 0 "$gsan_run" --parse-only t.ptx
run 2 "$gsan_run" --parse-only --check t.ptx
has err 'no expect line'

# What is not there yet says so.
for line in '//@ devices 2' '//@ buf b 64 device=1' '//@ launch k grid=1 block=1 device=1 args='; do
	printf '%s\n' "$D" "$line" '//@ expect clean' >t.ptx
	run 3 "$gsan_run" --check t.ptx
	has err 'not supported yet'
done

# Tensor maps.
wrong 12 '"b" is not declared' "$D" '//@ tmap t b u8 dims=64 box=16'
wrong 12 '"s" is not a memory block' '//@ stream s' '//@ tmap t s u8 dims=64 box=16'
wrong 14 '"u128" is no type of elements' "$D" '//@ tmap t a u128 dims=64 box=16'
wrong 17 '"size=64" has no place in a tensor map' "$D" '//@ tmap t a u8 size=64 box=16'
wrong 17 '"dims=" is no list of numbers' "$D" '//@ tmap t a u8 dims= box=16'
wrong 17 '"dims=4,x" is no list of numbers' "$D" '//@ tmap t a u8 dims=4,x box=16'
wrong 17 '"dims=4,0" has a number that no tensor map can have' "$D" '//@ tmap t a u8 dims=4,0 box=16'
wrong 17 '"dims=1,1,1,1,1,1" has too many numbers' "$D" '//@ tmap t a u8 dims=1,1,1,1,1,1 box=16'
wrong 25 '"dims=64" is given a second time' "$D" '//@ tmap t a u8 dims=64 dims=64 box=16'
wrong 25 '"box=257" has a number' "$D" '//@ tmap t a u8 dims=64 box=257'
wrong 32 '"elem=9" has a number' "$D" '//@ tmap t a u8 dims=64 box=16 elem=9'
wrong 32 '"swizzle=16" is none of none' "$D" '//@ tmap t a u8 dims=64 box=16 swizzle=16'
wrong 16 'expected dims=' "$D" '//@ tmap t a u8'
wrong 24 'expected box=' "$D" '//@ tmap t a u8 dims=64'
wrong 33 'box: another number' "$D" '//@ tmap t a u8 dims=16,4 box=16'
wrong 38 '"lower=1,2,3,4" has too many numbers' "$D" '//@ tmap t a u8 dims=16,2,2 box=16,1 lower=1,2,3,4'
wrong 38 '"lower=--1" is no list of numbers' "$D" '//@ tmap t a u8 dims=16,2,2 box=16,1 lower=--1'
wrong 46 'lower and upper: one for each' "$D" '//@ tmap t a u8 dims=16,2,2 box=16,1 lower=-1'
wrong 56 'box: channels and pixels' "$D" '//@ tmap t a u8 dims=16,2,2 box=16,1,1 lower=-1 upper=0'
wrong 49 'strides: one for each' "$D" '//@ tmap t a u8 dims=16,4 box=16,1 strides=16,16'
wrong 42 'elem: another number' "$D" '//@ tmap t a u8 dims=16,4 box=16,1 elem=1'
wrong 31 'the tensor reaches beyond the end' "$D" '//@ tmap t a u8 dims=65 box=16'
wrong 38 'the tensor reaches beyond the end' "$D" '//@ tmap t a+16 u8 dims=16,4 box=16,1'
wrong 34 'strides: no multiple of 16' "$D" '//@ tmap t a u8 dims=8,4 box=16,1'
wrong 30 "box: its rows are no multiple of 16" "$D" '//@ tmap t a u8 dims=64 box=8'
wrong 42 'box: its rows are wider' "$D" '//@ tmap t a u8 dims=64 box=64 swizzle=32'
wrong 32 '"interleave=8" is neither 16 nor 32' "$D" '//@ tmap t a u8 dims=64 box=16 interleave=8'
wrong 46 '"interleave=32" is given a second time' "$D" '//@ tmap t a u8 dims=64 box=16 interleave=16 interleave=32'
wrong 48 'interleave: fewer than three' "$D" '//@ tmap t a u8 dims=4,1 box=16,1 interleave=16'
wrong 52 'the tensor reaches beyond the end' "$D" '//@ tmap t a u8 dims=1,1,3 box=16,1,1 interleave=32'
wrong 66 'strides: no multiple of 16 bytes, or' "$D" '//@ tmap t a u8 dims=1,1,1 strides=32,16 box=16,1,1 interleave=32'
wrong 51 'box: its rows are no multiple of 16' "$D" '//@ tmap t a u8 dims=1,1,2 box=8,1,1 interleave=16'
right "$D" '//@ tmap t a u8 dims=64 box=16' '//@ tmap u a+16 f16 dims=8,3 box=8,2 elem=1,2 swizzle=none' \
	'//@ tmap v a f32 dims=4,2 strides=32 box=4,1 swizzle=128' \
	'//@ tmap w a u16 dims=1,1,2 box=16,1,1 swizzle=32 interleave=32' \
	'//@ launch k grid=1 block=1 pdl cluster=1 args=t,v,a,w'

# The command line.
run 2 "$gsan_run"
run 2 "$gsan_run" --no-such-option t.ptx
run 2 "$gsan_run" a.ptx b.ptx
run 2 "$gsan_run" --device=tpu t.ptx
run 2 "$gsan_run" --seeds=5 t.ptx
run 2 "$gsan_run" --seeds=5..4 t.ptx
run 2 "$gsan_run" --seed=-1 t.ptx
run 2 "$gsan_run" --timeout=0 t.ptx
run 2 "$gsan_run" --region=64M t.ptx
run 2 "$gsan_run" --no-drain t.ptx
run 2 "$gsan_run" --cuts=3 t.ptx
for size in 0 x 64T 64MM -1 99999999999G; do
	run 2 "$gsan_run" --events=probes --region=$size t.ptx
done
# A kernel that looks at %tid.x alone, whose warps would have several rows.
cat >rows.ptx <<'EOF'
//@ device sm_75
//@ buf data 4096
//@ launch k grid=1 block=BLOCK args=data
.version 6.4
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %t;
	.reg .b64 %d, %o;
	ld.param.u64 %d, [p];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %o, %t, 4;
	add.u64 %d, %d, %o;
	st.global.u32 [%d], %t;
	ret;
}
EOF
for block in 16,1 32,1 32,2; do
	sed "s/BLOCK/$block/" rows.ptx >t.ptx
	timeout 20 "$gsan_run" --device=emu --events=probes t.ptx >out 2>err
	! grep -q "not watched" err || fail "$block: $(cat err)"
done
sed "s/BLOCK/16,2/" rows.ptx >t.ptx
run 3 "$gsan_run" --device=emu --events=probes t.ptx
has err 'k: not watched: a block of 16 x 2 x 1 threads, of which the kernel looks at %tid.x alone'
run 3 "$gsan_run" there-is-none.ptx
run 0 "$gsan_run" --help
has out 'Usage: gsan-run'
run 0 "$gsan_run" --version
has out 'gsan-run (gsan)'
done_testing
