/* SPDX-License-Identifier: Apache-2.0
 *
 * asked.c: what GSAN_OPTIONS asks of who instruments: same_value=ignore and perturb.  Whether the rest of it is right
 * says the runtime.
 */
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite.h"

static const char gaps[] = " ,:\n\t\r";

static bool is_word(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(s, word, len);
}

static void pair(struct gsan_rewrite_options *o, const char *key, size_t key_len, const char *value, size_t len)
{
	char number[16] = "";

	if (is_word(key, key_len, "same_value"))
		o->stored = is_word(value, len, "ignore");
	if (!is_word(key, key_len, "perturb") || len >= sizeof number)
		return;
	memcpy(number, value, len);
	gsan_rewrite_seed(number, &o->perturb);
}

void gsan_rewrite_asked(struct gsan_rewrite_options *o, const char *list)
{
	while (list && *(list += strspn(list, gaps))) {
		const char *key = list, *value;
		size_t key_len = strcspn(key, " ,:\n\t\r="), len;
		bool quoted;

		if (key[key_len] != '=')
			return;
		value = key + key_len + 1;
		quoted = *value == '\'' || *value == '"';
		len = quoted ? strcspn(value + 1, (char[]){*value, 0}) : strcspn(value, gaps);
		pair(o, key, key_len, value + quoted, len);
		list = value + quoted + len;
		list += quoted && *list;
	}
}

bool gsan_rewrite_seed(const char *text, unsigned *seed)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !v || v > 2147483647)
		return false;
	*seed = (unsigned)v;
	return true;
}
