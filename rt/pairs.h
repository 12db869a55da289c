/* SPDX-License-Identifier: Apache-2.0
 *
 * pairs.h: lists of key=value, as GSAN_OPTIONS is one: between pairs stand blanks, commas, colons and ends of lines; a
 * value that has such in it stands between quotes.
 */
#ifndef RT_PAIRS_H
#define RT_PAIRS_H

#include <stdbool.h>
#include <string.h>

struct rt_pair { const char *key; size_t key_len; const char *value; size_t len; };
enum rt_pair_state { RT_PAIR, RT_PAIR_END, RT_PAIR_BARE /* no value */, RT_PAIR_OPEN /* no closing quote */ };

/* The first pair of *list, which moves on behind it; what is not there of it is empty. */
static inline enum rt_pair_state rt_pair_next(const char **list, struct rt_pair *p)
{
	static const char gaps[] = " ,:\n\t\r";
	const char *s = *list + strspn(*list, gaps);

	p->key = s;
	p->key_len = strcspn(s, " ,:\n\t\r=");
	p->value = s += p->key_len;
	p->len = 0;
	*list = s;
	if (!p->key_len && !*s)
		return RT_PAIR_END;
	if (*s != '=')
		return RT_PAIR_BARE;
	p->value = ++s;
	if (*s == '\'' || *s == '"') {
		const char *close = strchr(++s, *p->value);

		*list = s;
		if (!close)
			return RT_PAIR_OPEN;
		p->value = s;
		p->len = (size_t)(close - s);
		*list = close + 1;
		return RT_PAIR;
	}
	p->len = strcspn(s, gaps);
	*list = s + p->len;
	return RT_PAIR;
}

static inline bool rt_pair_is(const struct rt_pair *p, const char *key)
{
	return p->key_len == strlen(key) && !memcmp(p->key, key, p->key_len);
}

#endif
