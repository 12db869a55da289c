/* SPDX-License-Identifier: Apache-2.0
 *
 * flags.c: reads `key=value` lists into struct rt_flags, and prints them for
 * help=1.  The keys are the rows of flags.def.  It decides nothing: what an
 * error means is the caller's business.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rt/pairs.h"
#include "rt/rti.h"

struct rt_flags rt_flags;

enum type { T_BOOL, T_INT, T_TEXT, T_CHOICE };

static const struct row {
	const char *name;
	enum type type;
	size_t offset;
	int value, least, most;
	const char *text;               /* T_CHOICE: the values, blanks between them */
	const char *help;
} rows[] = {
#define BOOL(name, value, help) \
	{ #name, T_BOOL, offsetof(struct rt_flags, name), value, 0, 1, NULL, help },
#define INT(name, value, least, most, help) \
	{ #name, T_INT, offsetof(struct rt_flags, name), value, least, most, NULL, help },
#define TEXT(name, value, help) \
	{ #name, T_TEXT, offsetof(struct rt_flags, name), 0, 0, 0, value, help },
#define CHOICE(name, values, help) \
	{ #name, T_CHOICE, offsetof(struct rt_flags, name), 0, 0, 0, values, help },
#include "rt/flags.def"
};

#define NROWS (sizeof rows / sizeof rows[0])

static int *number(struct rt_flags *f, const struct row *r)
{
	return (int *)((char *)f + r->offset);
}

static char **text(struct rt_flags *f, const struct row *r)
{
	return (char **)((char *)f + r->offset);
}

void rt_flags_default(struct rt_flags *f)
{
	for (size_t i = 0; i < NROWS; i++) {
		if (rows[i].type == T_TEXT)
			*text(f, &rows[i]) = rt_copy(rows[i].text);
		else
			*number(f, &rows[i]) = rows[i].value;
	}
}

void rt_flags_free(struct rt_flags *f)
{
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].type == T_TEXT)
			rt_free(*text(f, &rows[i]));
}

static bool one_of(const char *s, const char *a, const char *b, const char *c)
{
	return !strcmp(s, a) || !strcmp(s, b) || !strcmp(s, c);
}

/* The n-th word of `words`, and its length; NULL: there are not so many. */
static const char *word(const char *words, int n, size_t *len)
{
	while (n--) {
		words = strchr(words, ' ');
		if (!words)
			return NULL;
		words++;
	}
	*len = strcspn(words, " ");
	return words;
}

static int which(const char *words, const char *value)
{
	const char *w;
	size_t len;

	for (int n = 0; (w = word(words, n, &len)); n++)
		if (strlen(value) == len && !strncmp(w, value, len))
			return n;
	return -1;
}

/* Stores `value` in the row's flag; false if it is none of the flag's values. */
static bool store(struct rt_flags *f, const struct row *r, const char *value)
{
	char *end;
	long n;

	switch (r->type) {
	case T_BOOL:
		if (one_of(value, "1", "yes", "true"))
			*number(f, r) = 1;
		else if (one_of(value, "0", "no", "false"))
			*number(f, r) = 0;
		else
			return false;
		return true;
	case T_INT:
		errno = 0;
		n = strtol(value, &end, 0);
		if (end == value || *end || errno || n < r->least || n > r->most)
			return false;
		*number(f, r) = (int)n;
		return true;
	case T_TEXT:
		if (!strcmp(r->name, "color") && !one_of(value, "auto", "always", "never"))
			return false;
		rt_free(*text(f, r));
		*text(f, r) = rt_copy(value);
		return true;
	case T_CHOICE:
		*number(f, r) = which(r->text, value) < 0 ? *number(f, r) : which(r->text, value);
		return which(r->text, value) >= 0;
	}
	return false;
}

static void complain(const struct row *r, const char *value, struct rt_buf *err)
{
	rt_printf(err, "bad value '%s' for %s: ", value, r->name);
	switch (r->type) {
	case T_BOOL:
		rt_puts(err, "it is 0 or 1, no or yes, false or true");
		break;
	case T_INT:
		rt_printf(err, "it is a number from %d to %d", r->least, r->most);
		break;
	case T_TEXT:
		rt_puts(err, "it is auto, always or never");
		break;
	case T_CHOICE:
		rt_printf(err, "it is one of: %s", r->text);
		break;
	}
}

static const struct row *find(const char *key)
{
	for (size_t i = 0; i < NROWS; i++)
		if (!strcmp(rows[i].name, key))
			return &rows[i];
	return NULL;
}

static bool is_gone(const char *key)
{
	static const char *const gone[] = {
#define GONE(name) #name,
#include "rt/flags.def"
	};

	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		if (!strcmp(gone[i], key))
			return true;
	return false;
}

static char *cut(const char *from, size_t len)
{
	return memcpy(rt_alloc(len + 1), from, len);
}

static bool take(struct rt_flags *f, const char *key, const char *value, struct rt_buf *err, struct rt_buf *warn)
{
	const struct row *r = find(key);

	if (!r && is_gone(key)) {
		rt_printf(warn, "'%s' means nothing any more and is ignored\n", key);
	} else if (!r) {
		rt_printf(warn, "unknown key '%s'; help=1 lists the known ones\n", key);
	} else if (!store(f, r, value)) {
		complain(r, value, err);
		return false;
	}
	return true;
}

bool rt_flags_parse(struct rt_flags *f, const char *s, struct rt_buf *err, struct rt_buf *warn)
{
	enum rt_pair_state state = RT_PAIR_END;
	struct rt_pair p;
	bool good = true;

	while (good && s && (state = rt_pair_next(&s, &p)) != RT_PAIR_END) {
		char *key = cut(p.key, p.key_len), *value = cut(p.value, p.len);

		if (state == RT_PAIR)
			good = take(f, key, value, err, warn);
		else if (state == RT_PAIR_BARE)
			rt_printf(err, "'%s' is not followed by '=' and a value", key);
		else
			rt_printf(err, "no closing %c after %s=", *p.value, key);
		good = good && state == RT_PAIR;
		rt_free(key);
		rt_free(value);
	}
	return good;
}

void rt_flags_choices(const struct rt_flags *f, rt_choice *tell, void *arg)
{
	static const char *const names[] = {
#define CHOICE(name, values, help) #name,
#include "rt/choices.def"
#undef CHOICE
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct row *r = find(names[i]);
		struct rt_flags now = *f;
		size_t len = 0;
		const char *w = word(r->text, *number(&now, r), &len);
		char *value = cut(w, len);

		tell(arg, names[i], value);
		rt_free(value);
	}
	tell(arg, "volatile_is_weak", f->volatile_is_weak ? "1" : "0");
}

void rt_flags_help(const struct rt_flags *f, struct rt_buf *b)
{
	struct rt_flags now = *f;

	rt_puts(b, "GSan: keys of GSAN_OPTIONS, and their values now\n");
	for (size_t i = 0; i < NROWS; i++) {
		rt_printf(b, "    %s\n        %s (", rows[i].name, rows[i].help);
		if (rows[i].type == T_TEXT) {
			rt_printf(b, "'%s')\n", *text(&now, &rows[i]));
		} else if (rows[i].type == T_CHOICE) {
			size_t len = 0;
			const char *w = word(rows[i].text, *number(&now, &rows[i]), &len);

			rt_printf(b, "'%.*s' of %s)\n", (int)len, w, rows[i].text);
		} else {
			rt_printf(b, "%d)\n", *number(&now, &rows[i]));
		}
	}
}
