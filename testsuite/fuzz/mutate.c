/* SPDX-License-Identifier: Apache-2.0
 *
 * mutate.c: changes a text by chance, as texts are changed: mostly words and
 * lines of another one are put in, sometimes bytes.  What only bytes are changed
 * of hardly ever gets past a parser.  Serves drive.c and, as a custom mutator,
 * libFuzzer.
 */
#include <stdbool.h>
#include <string.h>

#include "testsuite/fuzz/fuzz.h"

struct text { uint8_t *data; size_t size, most; };

uint64_t fuzz_draw(uint64_t *state, uint64_t below)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return below ? (x >> 11) % below : 0;
}

/* Replaces `cut` bytes at `at` by `n` others, which lie elsewhere. */
static void replace(struct text *t, size_t at, size_t cut, const uint8_t *with, size_t n)
{
	const size_t rest = t->size - at - cut;

	if (at + n + rest > t->most)
		return;
	memmove(t->data + at + n, t->data + at + cut, rest);
	if (n)
		memcpy(t->data + at, with, n);
	t->size = at + n + rest;
}

static bool is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '%' || c == '$' || c == '-';
}

/* A word, or one letter that is in none, at or behind a place by chance. */
static size_t some_word(const uint8_t *data, size_t size, size_t *n, uint64_t *state)
{
	size_t at = fuzz_draw(state, size), end;

	while (at && is_letter(data[at]) && is_letter(data[at - 1]))
		at--;
	for (end = at; end < size && is_letter(data[end]); end++)
		;
	*n = end > at ? end - at : size > at;
	return at;
}

static size_t some_line(const uint8_t *data, size_t size, size_t *n, uint64_t *state)
{
	size_t at = fuzz_draw(state, size), end;

	while (at && data[at - 1] != '\n')
		at--;
	for (end = at; end < size && data[end] != '\n'; end++)
		;
	*n = end + (end < size) - at;
	return at;
}

/* Without moving anything: numbers, and units of 16 bytes; seldom an end. */
static size_t change_numbers(uint8_t *data, size_t size, const uint8_t *other, size_t nother, uint64_t *state)
{
	static const uint32_t values[] = {0, 1, 2, 5, 16, 255, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
	const size_t unit = 16, word = sizeof *values;
	const size_t at = fuzz_draw(state, size / word) * word, to = fuzz_draw(state, size / unit) * unit;
	const size_t from = fuzz_draw(state, nother / unit) * unit;

	switch (fuzz_draw(state, 16)) {
	case 0:
		return fuzz_draw(state, size + 1);
	case 1:
	case 2:
	case 3:
	case 4:
		data[fuzz_draw(state, size)] = (uint8_t)fuzz_draw(state, 256);
		break;
	case 5:
	case 6:
	case 7:
		memcpy(data + to, other + from, unit);
		break;
	case 8:
	case 9:
	case 10:
		memcpy(data + at, &values[fuzz_draw(state, sizeof values / word)], word);
		break;
	default:
		data[fuzz_draw(state, size)] ^= (uint8_t)(1u << fuzz_draw(state, 8));
	}
	return size;
}

size_t fuzz_mutate(uint8_t *data, size_t size, size_t most, const uint8_t *other, size_t nother,
		   uint64_t *state)
{
	static const char *const values[] = { "0", "1", "-1", "255", "4294967295", "2147483648",
		"18446744073709551615", "9223372036854775808", "0x", "00", "1e9", "" };
	struct text t = { data, size, most };
	size_t at, n, from, k;
	uint8_t byte;

	if (fuzz_target.is_binary && size >= 16 && nother >= 16 && fuzz_draw(state, 16))
		return change_numbers(data, size, other, nother, state);
	switch (fuzz_draw(state, 10)) {
	case 0:                         /* a bit */
		if (size)
			data[fuzz_draw(state, size)] ^= (uint8_t)(1u << fuzz_draw(state, 8));
		break;
	case 1:                         /* a byte */
		byte = (uint8_t)fuzz_draw(state, 256);
		at = fuzz_draw(state, size + 1);
		replace(&t, at, size > at ? fuzz_draw(state, 2) : 0, &byte, 1);
		break;
	case 2:                         /* a word is gone */
		at = some_word(data, size, &n, state);
		replace(&t, at, n, NULL, 0);
		break;
	case 3:                         /* a line is gone */
		at = some_line(data, size, &n, state);
		replace(&t, at, n, NULL, 0);
		break;
	case 4:                         /* a line of another text, in place of one or beside it */
	case 5:
		from = some_line(other, nother, &k, state);
		at = some_line(data, size, &n, state);
		replace(&t, at, fuzz_draw(state, 2) ? n : 0, other + from, k);
		break;
	case 6:                         /* a number that is an end of something */
		from = fuzz_draw(state, sizeof values / sizeof *values);
		at = some_word(data, size, &n, state);
		replace(&t, at, n, (const uint8_t *)values[from], strlen(values[from]));
		break;
	default:                        /* a word of another text */
		from = some_word(other, nother, &k, state);
		at = some_word(data, size, &n, state);
		replace(&t, at, n, other + from, k);
	}
	return t.size;
}

/* ---- what libFuzzer calls ---------------------------------------------------------------------- */

#pragma weak LLVMFuzzerMutate
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
				 uint8_t *out, size_t most, unsigned seed);

/* Its own mutations half of the time: they know the dictionary and what the
 * target compared. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	static uint8_t copy[1 << 14];
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	size_t n = size < sizeof copy ? size : sizeof copy;

	if (fuzz_draw(&state, 2))
		return LLVMFuzzerMutate(data, size, most);
	memcpy(copy, data, n);
	return fuzz_mutate(data, size, most, copy, n, &state);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
				 uint8_t *out, size_t most, unsigned seed)
{
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;

	if (na > most)
		na = most;
	memcpy(out, a, na);
	for (uint64_t n = 1 + fuzz_draw(&state, 4); n; n--)
		na = fuzz_mutate(out, na, most, b, nb, &state);
	return na;
}
