# SPDX-License-Identifier: Apache-2.0
#
# The file of log=DIR: where it cannot be, where it has no room, and what is said of one that is damaged.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/check/lib.sh"

one=$race/01_global_plain_race.ptx
several=$race/launches_many.ptx

# said_of OFFSET TEXT: of `bad`, and what comes before it is judged
said_of()
{
	run 3 $check bad
	has err "gsan-check: bad: offset $1: $2"
}

# ---- no place: the program goes on, and it is said once
run 66 env GSAN_OPTIONS=log=nowhere $gsan_run "$several"
[ "$(grep -c "GSan: cannot write nowhere/gsan-run.*(No such file or directory): no launch is kept" err)" = 1 ] ||
	fail "a folder that is not there: $(cat err)"
has err " launches whose log was not kept"
[ ! -e nowhere ] || fail "a folder was made"
mkdir small
if mount -t tmpfs -o size=8k none small 2>/dev/null; then
	run 66 env GSAN_OPTIONS=log=small $gsan_run "$several"
	[ "$(grep -c "GSan: cannot go on with small/.*(No space left on device)" err)" = 1 ] || fail "a full disk: $(cat err)"
	run 0 $check small/* && hasnt err "gsan-check"
	has err " launches whose log was not kept"
	umount small
fi
mkdir logs
(ulimit -f 8; run 66 env GSAN_OPTIONS=log=logs $gsan_run "$several") || fail "a limit on files"
[ "$(grep -c "GSan: cannot go on with logs/.*(File too large)" err)" = 1 ] || fail "a limit on files: $(cat err)"
run 0 $check logs/*
hasnt err "gsan-check"
has err " launches whose log was not kept"
rm -f logs/*

# ---- log_file_mb: what is beyond that is counted, and the file is whole
stores "" "launch k grid=1 block=256 args=out,u32:200" "launch k grid=1 block=256 args=out,u32:400" \
	"launch k grid=1 block=256 args=out,u32:900" "launch k grid=1 block=256 args=out,u32:1" sync "expect clean" >large.ptx
keeps 0 log_file_mb=2 $gsan_run large.ptx
has said "(it may have no more than log_file_mb): launches from now on are not kept"
has said "; 2 launches whose log was not kept"
[ "$(wc -c <kept)" -le 2097152 ] || fail "the file has $(wc -c <kept) bytes"
run 0 $check kept
has err "GSan: 0 findings; 4 launches, "
has err "; 2 launches whose log was not kept"
run 0 $check --print kept
has out "end: 4 launches, 2 here, 2 not kept"

keeps 66 "" $gsan_run "$one"
cp kept good

# ---- damage
run 2 $check
run 2 $check --nonsense good
run 2 $check -o nonsense=1 good && has err "unknown key 'nonsense'"
run 2 $check -o proxy_war=maybe good && has err "bad value 'maybe' for proxy_war"
run 2 env GSAN_OPTIONS=nonsense=1 $check good
run 2 $check -o suppressions=nowhere good
run 3 $check nowhere && has err "gsan-check: nowhere: offset 0: No such file or directory"
run 3 $check . && has err "gsan-check: .: offset 0: Is a directory"
: >bad
said_of 0 "the file is empty"
echo "something else, and so long" >bad
said_of 0 "this is no log of gsan"
head -c 12 good >bad
said_of 12 "the file ends here, in the middle of a part"

# patch OFFSET BYTES: in octal
patch()
{
	cp good bad
	printf "$2" | dd of=bad bs=1 seek="$1" conv=notrunc 2>dd.err
}
patch 8 '\002'
said_of 8 "the log is of version 2, and version 1 can be read"
patch 12 '\001\002\003\004'
said_of 12 "the log is of a machine of another byte order"
patch 100 'X'
said_of 16 "the checksum of the part that begins here is wrong"
has err "GSan: nothing was watched"

# At every length: what is whole is judged, and the rest said.  Where a part ends the file may end, as of a process that
# was killed, but in a launch.
parts good >all
[ "$(cut -d' ' -f2 all | tr '\n' ' ')" = "1 2 3 4 5 6 7 8 end " ] || fail "other parts: $(cat all)"
end=$(sed -n 's/ 8$//p' all)
while read -r at kind; do
	for n in $at $((at + 1)) $((at + 16)) $((at + 40)); do
		head -c "$n" good >bad
		status=3
		case $kind in
		[2345]) [ "$n" != "$at" ] || status=0 ;;
		8) [ "$n" != "$at" ] || status=66 ;;
		end) status=66 ;;
		esac
		run $status $check bad
		case $status,$(grep -c "^gsan-check: bad: offset [0-9]*: " err) in
		3,1|0,0|66,0) ;;
		*) fail "$n bytes: $(cat err)" ;;
		esac
	done
done <all
head -c $((end + 40)) good >bad
run 3 $check bad
has err "WARNING: GSan: data race"
has err "GSan: 1 finding; 1 launch, 3 sites watched"
head -c "$(sed -n 's/ 7$//p' all)" good >bad
said_of "$(sed -n 's/ 5$//p' all)" "the launch that begins here has no end"
has err "GSan: 0 findings; 1 launch"
head -c "$end" good >bad
run 66 $check bad
has err "GSan: 1 finding; 1 launch, 3 sites watched"
run 0 $check --print bad
has out "no end: the process was ended before it could say what it counted"

# Parts that come in another order, or not at all, are right by themselves.
without()
{
	from=$(sed -n "s/ $1$//p" all)
	to=$(sed -n "s/ $(($1 + 1))$//p" all)
	{ head -c "$from" good; tail -c +$((to + 1)) good; } >bad
}
for kind in 1 2 3 4 5 6 7; do
	without $kind
	said_of $((from + 8)) "part $kind comes where part $((kind - 1)) is due"
done
{ cat good; tail -c +17 good; } >bad
said_of $(($(sed -n 's/ end$//p' all) + 8)) "part 0 comes where part 8 is due"

# Parts that are right by themselves, but not together: KIND as it is in `good`, KIND+N with N added to its kind.
made_of()
{
	python3 - "$@" >bad <<'E2'
import struct, sys, zlib
data = open('good', 'rb').read()
parts, at = {}, 16
while at < len(data):
    kind, size = struct.unpack_from('<II', data, at)
    parts[kind] = data[at + 16:at + 16 + size]
    at += 16 + size
sys.stdout.buffer.write(data[:16])
for number, word in enumerate(sys.argv[1:]):
    kind, _, more = word.partition('+')
    body = parts[int(kind)]
    head = struct.pack('<III', int(kind) + int(more or '0', 0), len(body), number)
    check = zlib.crc32(head + bytes(4) + body)
    sys.stdout.buffer.write(head + struct.pack('<I', check) + body)
E2
}

# wrong TEXT PART...: that is said of such a file
wrong()
{
	text=$1
	shift
	made_of "$@"
	run 3 $check bad
	grep -q "^gsan-check: bad: offset [0-9]*: $text" err || fail "$*: not '$text': $(grep offset err)"
}
if command -v python3 >/dev/null; then
	made_of 1 2 3 4 5 6 7 8
	cmp -s good bad || fail "the parts do not make the file"
	made_of 1 2 3 4 4+0x80000000 5 6 7 8
	run 66 $check bad && hasnt err offset
	wrong "a part of kind 104, which is of a newer version" 1 2 3 4 4+100 5 6 7 8
	wrong "it is not said of which process" 2 3 4 5 6 7 8
	wrong "a second process" 1 1
	wrong "a launch of no kernel" 1 3 4 5
	wrong "the launch has not so many pieces" 1 2 3 4 5 7 8
	wrong "the launch has not so many pieces" 1 2 3 4 5 6 6 7 8
	wrong "something comes into a launch" 1 2 3 4 5 6 8
	wrong "pieces of no launch" 1 2 3 4 6
	wrong "no launch is under way" 1 2 3 4 7
	wrong "a launch comes in front of the one before it" 1 2 3 4 5 6 7 5 6 7 8
	wrong "something comes behind the end" 1 2 3 4 5 6 7 8 3
	wrong "the part has not so much" 1 2 3 4 5 6 7 7+1
fi

# What comes behind is judged, and the status says that one is damaged.
run 3 $check nowhere good
has err "GSan: 1 finding; "

# Compressed, whole and cut.
if command -v zstd >/dev/null && grep -q '^#define HAVE_ZSTD' "$top_builddir/config.h"; then
	run 66 $check good && mv err want
	zstd -q good -o good.zst
	run 66 $check good.zst && cmp -s want err || fail "another verdict of a compressed log"
	head -c 200 good.zst >bad
	run 3 $check bad
	has err "the compressed data ends too early"
fi

# What is printed: records with where they are.
run 0 $check --print good
sed -n 's/^\/\/@ launch \([a-z]*\) .*/launch 1, #1 of \1<<</p' "$one" >head
grep -qF -f head out || fail "no $(cat head)"
line=$(grep -n 'st.global' "$one" | head -n 1)
has out " line=${line%%:*}  [st.global.u32]"
has out "end: 1 launches, 1 here, 0 not kept"
run 3 sh -c '"$@" >/dev/full' sh $check --print good
done_testing
