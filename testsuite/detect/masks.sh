# SPDX-License-Identifier: Apache-2.0
#
# Where the bits of a record lie is known in event/ alone: who reads or writes records elsewhere
# does it by the accessors of event.h.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"

# masks FILE...: lines that know more.  What an operand means is not told by a record, so that
# an operand may be taken apart: the lanes and columns of a tensor memory address, say.
masks()
{
	# A word of a unit, or of what is to be written; places of operands; a record shifted by hand.
	grep -nE \
		-e '\bw\[[^]]*\] *(>>|<<|&[^&]|\|[^|]|\^)' \
		-e '\bw\[[^]]*\] *\|?= .*(<<|&[^&] *[0-9])' \
		-e '\bput(\.|->)(a|b|word(\[[^]]*\])+) *\|?= .*(<<|&[^&] *[0-9])' \
		-e '\bEVENT_WORD_[0-9AB]' \
		-e '\bevent_word\(.*\) *(>>|&) *[0-9]' \
		-e '\b(records?|recs?|units?|u|e)(\[[^]]*\])?(->w[0-9]?|\.w[0-9]?)?(\[[^]]*\])? *(>>|<<) *[0-9]+ *&[^&]' \
		-e '\b(records?|recs?|units?)(\[[^]]*\])? *& *\(?(0x|[0-9])' \
		-e '\*\((const )?uint(32|64)_t \*\).*\b(records?|recs?|units?)\b' \
		-- "$@" /dev/null
}

cd "$top_srcdir" || hard "no $top_srcdir"
files=$(ls probe/*.[ch] emu/events*.[ch] detect/*.[ch] run/*.[ch] testsuite/detect/*.[ch])
[ "$(echo "$files" | wc -l)" -ge 50 ] || hard "too few files: $files"
masks $files >"$tmp/found"
[ ! -s "$tmp/found" ] || fail "bits of records outside event/:
$(cat "$tmp/found")"

# The check itself: each of these must be seen, and what has nothing to do with it must not.
cd "$tmp" || hard cd
cat >bad <<'E2'
	site = record >> 12 & 0xfff;
	return e->w[0] & 63;
	words = u->w[0] >> 8 & 15;
	unit.w[0] |= kind;
	w[1] = bytes | (uint64_t)mask << 32;
	r->put.a = at | columns << 16;
	put.word[l][0] = from | read << 48;
	at = EVENT_WORD_0 << 16 | 64;
	bytes = event_word(u, lane, 1) & 0xffffffff;
	lanes = records[i] & 0xffffffff;
	first = *(const uint64_t *)(unit + 1);
	kind = e[0].w[0] & 63;
E2
cat >good <<'E2'
	kind = event_kind_of(e);
	column = event_get(u, lane, EVENT_TC_LOAD_AT) & 0xffff;
	key = (uint64_t)e->warp << 32 | e->pos;
	w[0] = it->a;
	value = event_word(u, lane, first + bit / 64) >> bit % 64;
	if (u && w[0] == 3)
E2
masks bad >found
[ "$(wc -l <found)" = "$(wc -l <bad)" ] || fail "unseen: $(sed 's/^bad:[0-9]*://' found | grep -vxFf - bad)"
masks good >found
[ ! -s found ] || fail "seen, though they are none: $(cat found)"
done_testing
