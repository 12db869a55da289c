/* SPDX-License-Identifier: Apache-2.0
 *
 * choices.c: the detector has the choices of rt/choices.def that are about its rules: the same
 * names and values, and the first value is what it takes when nothing is chosen.
 */
#include <stdio.h>
#include <string.h>

#include "detect/impl.h"

static const struct { const char *name, *values; } choices[] = {
#define CHOICE(name, values, help) {#name, values},
#include "rt/choices.def"
};

/* What the detector is besides: how it asks, and an option of its own; neither is a reading of the documentation. */
static const char *const more[] = {"detect", "volatile_is_weak", "bounds"};

enum { N = sizeof choices / sizeof *choices };

/* A new detector's choices, when that value was chosen; no value: none.  False: it cannot be. */
static bool chosen(const char *name, const char *value, struct choices *to)
{
	struct detect *d = detect_new();
	bool ok = !value || detect_choose(d, name, value);

	*to = d->choices;
	detect_free(d);
	return ok;
}

/* Of choices of which one at most is not the default: its number. */
static unsigned as_number(const struct choices *c)
{
	const uint8_t *v = (const uint8_t *)c;
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof *c; i++)
		sum += v[i];
	return sum;
}

/* The values in their order have the numbers 0, 1, 2; and there are no others. */
static const char *wrong(const char *name, const char *values)
{
	char copy[64], *save;
	struct choices c;
	unsigned n = 0;

	if (!detect_knows(name))
		return "the detector does not know it";
	snprintf(copy, sizeof copy, "%s", values);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (!chosen(name, w, &c))
			return "the detector lacks a value";
		if (as_number(&c) != n++)
			return "the detector has the values in another order";
	}
	return chosen(name, "nonsense", &c) ? "the detector takes any value" : NULL;
}

int main(void)
{
	struct choices c;
	unsigned failed = 0;

	printf("1..%d\n", N + 3);
	for (unsigned i = 0; i < N; i++) {
		const char *why = wrong(choices[i].name, choices[i].values);

		failed += why != NULL;
		printf("%sok %u - %s%s%s\n", why ? "not " : "", i + 1, choices[i].name, why ? ": " : "", why ? why : "");
	}
	chosen(NULL, NULL, &c);
	printf("%sok %u - the default is the first value\n", as_number(&c) ? "not " : "", N + 1);
	failed += as_number(&c) != 0;
	/* A byte each: whoever adds a choice adds a row in both. */
	printf("%sok %u - the detector has no others\n", sizeof c == N + sizeof more / sizeof *more ? "" : "not ", N + 2);
	failed += sizeof c != N + sizeof more / sizeof *more;
	/* The check itself: values in another order, and one too many, are seen. */
	printf("%sok %u - a difference is seen\n", wrong("proxy_fence", "path own") && wrong("proxy_fence", "own path any") &&
	       wrong("nonsense", "on off") ? "" : "not ", N + 3);
	failed += !(wrong("proxy_fence", "path own") && wrong("proxy_fence", "own path any") && wrong("nonsense", "on off"));
	return failed != 0;
}
