/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reading nvcc's command line: what stage it stops at, whether it links a
 * program, what in it keeps device code from passing through PTX.  Every word
 * is handed on as it came, except the few that must go (link-time
 * optimisation) and our own (--gsan-*).  Mistaking an option's value for an
 * input is how compiler wrappers break, so opts.def knows every option that
 * takes one; an unknown option takes none, as nvcc's own forwarding has it.
 */
#include "nvcc-shim/shim.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 16 };	/* options files that name options files */

const struct shim_opt shim_opts[] = {
#define OPT(longname, shortname, value, effect) \
	{ longname, shortname, OPT_##value, EFF_##effect },
#include "nvcc-shim/opts.def"
#undef OPT
};
const size_t shim_nopts = sizeof shim_opts / sizeof shim_opts[0];

static void *
grow(void *p, size_t bytes)
{
	p = realloc(p, bytes);
	if (!p) {
		fprintf(stderr, "%s: out of memory\n", shim_name);
		exit(SHIM_FAILED);
	}
	return p;
}

void
strv_add(struct strv *s, const char *word)
{
	size_t len = strlen(word) + 1;

	if (s->n + 2 > s->cap) {
		s->cap = s->cap ? s->cap * 2 : 16;
		s->v = grow(s->v, s->cap * sizeof *s->v);
	}
	s->v[s->n] = memcpy(grow(NULL, len), word, len);
	s->v[++s->n] = NULL;
}

void
strv_free(struct strv *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct strv){ 0 };
}

char *
shim_format(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return n < 0 ? grow(NULL, (size_t)-1 / 2) : s;
}

/*
 * The option that `word` spells, or NULL.  *value points at a value inside the
 * word ("-o=x", "-Idir"), or is NULL when there is none there.
 */
static const struct shim_opt *
find(const char *word, const char **value)
{
	bool islong = word[1] == '-';
	const char *name = word + (islong ? 2 : 1);
	size_t len = strcspn(name, "=");
	const struct shim_opt *glued = NULL;

	*value = NULL;
	for (size_t i = 0; i < shim_nopts; i++) {
		const struct shim_opt *o = &shim_opts[i];
		const char *s = islong ? o->longname : o->shortname;
		size_t n = strlen(s);

		if (n == 0)
			continue;
		if (n == len && strncmp(s, name, n) == 0) {
			if (name[len] == '=')
				*value = name + len + 1;
			return o;
		}
		if (!islong && o->value == OPT_GLUE && strncmp(s, name, n) == 0)
			glued = o;
	}
	if (glued)
		*value = name + strlen(glued->shortname);
	return glued;
}

/* "lto_90" in a list of targets becomes "sm_90": the same code by way of PTX. */
static char *
without_lto(const char *word)
{
	char *out = grow(NULL, strlen(word) + 1), *o = out;

	for (const char *p = word; *p; ) {
		bool start = p == word || strchr("=,[\"' ", p[-1]);

		if (start && strncmp(p, "lto_", 4) == 0) {
			memcpy(o, "sm_", 3);
			o += 3;
			p += 4;
		} else {
			*o++ = *p++;
		}
	}
	*o = '\0';
	return out;
}

/*
 * nvcc splits options files and NVCC_*_FLAGS at blanks; double quotes and
 * backslashes keep, a single quote is a character like any other.
 */
static void
split(struct strv *words, const char *text)
{
	char *word = grow(NULL, strlen(text) + 1);
	const char *p = text;

	for (;;) {
		size_t n = 0;
		bool quoted = false;

		p += strspn(p, " \t\r\n\f\v");
		if (!*p)
			break;
		for (; *p && (quoted || !strchr(" \t\r\n\f\v", *p)); p++) {
			if (*p == '"')
				quoted = !quoted;
			else if (*p == '\\' && p[1])
				word[n++] = *++p;
			else
				word[n++] = *p;
		}
		word[n] = '\0';
		strv_add(words, word);
	}
	free(word);
}

static bool
slurp(const char *path, char **text)
{
	FILE *f = fopen(path, "r");
	size_t n = 0, cap = 4096, got;
	char *s;

	if (!f)
		return false;
	s = grow(NULL, cap);
	while ((got = fread(s + n, 1, cap - n - 1, f)) > 0) {
		n += got;
		if (cap - n < 2)
			s = grow(s, cap *= 2);
	}
	s[n] = '\0';
	got = (size_t)ferror(f);
	fclose(f);
	if (got) {
		free(s);
		return false;
	}
	*text = s;
	return true;
}

static bool parse_words(struct shim_args *a, size_t n, char *const *v, int depth);

/*
 * An options file stays a file unless something in it must go; then its words
 * take its place.  A file that cannot be read is nvcc's to complain about.
 */
static void
options_files(struct shim_args *a, const char *list, int depth, bool *changed)
{
	struct strv words = { 0 };
	char *names = grow(NULL, strlen(list) + 1), *save = NULL;

	strcpy(names, list);
	for (char *s = strtok_r(names, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		char *text;

		if (!slurp(s, &text)) {
			if (!a->error)
				a->error = shim_format("%s: %s", s, strerror(errno));
			continue;
		}
		split(&words, text);
		free(text);
	}
	free(names);
	*changed = false;
	if (depth < MAX_NESTING) {
		size_t before = a->out.n;

		*changed = parse_words(a, words.n, words.v, depth + 1);
		if (!*changed)
			while (a->out.n > before)
				free(a->out.v[--a->out.n]);
		if (a->out.v)
			a->out.v[a->out.n] = NULL;
	}
	strv_free(&words);
}

static bool
ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

static void
own_option(struct shim_args *a, const char *option)
{
	const char *word, *name;

	strv_add(&a->held, option);
	word = a->held.v[a->held.n - 1];
	name = word + strlen("--gsan-");

	if (shim_how(&a->how, word))
		;
	else if (strcmp(name, "help") == 0)
		a->gsan_help = true;
	else if (strcmp(name, "version") == 0)
		a->gsan_version = true;
	else if (strcmp(name, "show") == 0)
		a->gsan_show = true;
	else if (strcmp(name, "verbose") == 0)
		a->gsan_verbose = true;
	else if (strcmp(name, "keep") == 0)
		a->gsan_keep = true;
	else if (strncmp(name, "keep=", 5) == 0 && name[5]) {
		a->gsan_keep = true;
		a->gsan_keep_dir = name + 5;
	} else
		a->gsan_unknown = word;
}

/*
 * One option.  Adds to a->out what is handed on; returns true if that differs
 * from what came in.
 */
static bool
option(struct shim_args *a, const struct shim_opt *o, const char *word,
    const char *value, const char *next, int depth)
{
	bool changed = false;
	char *s;

	switch (o->effect) {
	case EFF_PLAIN:
		break;
	case EFF_COMPILE:
		a->compile_only = true;
		break;
	case EFF_PREPROCESS:
		a->preprocess = true;
		break;
	case EFF_INFO:
		a->info = true;
		break;
	case EFF_QUIET:
		a->quiet = true;
		break;
	case EFF_OTHERLINK:
		a->otherlink = true;
		break;
	case EFF_SHARED:
		a->shared = true;
		break;
	case EFF_CUDART:
		a->cudart_apart = strcmp(next ? next : value ? value : "", "static") != 0;
		break;
	case EFF_LTO:
		/* it also implies relocatable device code, which must stay */
		a->lto = true;
		strv_add(&a->out, "-rdc=true");
		return true;
	case EFF_ARCH:
		s = without_lto(next ? next : word);
		changed = strcmp(s, next ? next : word) != 0;
		a->lto |= changed;
		if (next)
			strv_add(&a->out, word);
		strv_add(&a->out, s);
		free(s);
		return changed;
	case EFF_NOPTX:
		a->noptx = o->longname;
		break;
	case EFF_REFUSE:
		a->refused = o->longname;
		break;
	case EFF_OPTFILE:
		options_files(a, next ? next : value ? value : "", depth, &changed);
		if (changed)
			return true;
		break;
	case EFF_LANGUAGE:
		break;
	}
	strv_add(&a->out, word);
	if (next)
		strv_add(&a->out, next);
	return false;
}

static bool
parse_words(struct shim_args *a, size_t n, char *const *v, int depth)
{
	bool changed = false;

	for (size_t i = 0; i < n; i++) {
		const char *word = v[i], *value, *next = NULL;
		const struct shim_opt *o;

		if (strcmp(word, "--print-runtime") == 0 || strcmp(word, "--print-libs") == 0) {
			a->print_runtime |= word[8] == 'r';
			a->print_libs |= word[8] == 'l';
			changed = true;
			continue;
		}
		if (strncmp(word, "--gsan-", 7) == 0) {
			own_option(a, word);
			changed = true;
			continue;
		}
		if (word[0] != '-' || word[1] == '\0') {
			a->ninputs++;
			if (ends(word, ".cubin") || ends(word, ".fatbin"))
				strv_add(&a->machine, word);
			strv_add(&a->out, word);
			continue;
		}
		o = find(word, &value);
		if (!o) {
			strv_add(&a->out, word);
			continue;
		}
		if (o->value != OPT_NONE && !value && i + 1 < n)
			next = v[++i];
		else if (o->value != OPT_NONE && !value)
			a->cut |= depth == 0;
		changed |= option(a, o, word, value, next, depth);
	}
	return changed;
}

void
shim_parse(struct shim_args *a, int argc, char *const *argv)
{
	parse_words(a, (size_t)argc, argv, 0);
}

/*
 * NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS: nvcc applies them by itself, so
 * they are read for what they mean and not handed on.
 */
void
shim_parse_env(struct shim_args *a, const char *flags)
{
	struct strv words = { 0 };
	struct shim_args env = { 0 };

	if (!flags)
		return;
	split(&words, flags);
	parse_words(&env, words.n, words.v, 0);
	a->compile_only |= env.compile_only;
	a->preprocess |= env.preprocess;
	a->info |= env.info;
	a->quiet |= env.quiet;
	a->otherlink |= env.otherlink;
	a->shared |= env.shared;
	a->cudart_apart |= env.cudart_apart;
	if (!a->noptx)
		a->noptx = env.lto ? "dlink-time-opt" : env.noptx;
	if (!a->refused)
		a->refused = env.refused;
	strv_free(&words);
	shim_args_free(&env);
}

/* ptxas's words with the contents of its options files in their place. */
static void
ptxas_words(struct strv *out, size_t n, char *const *v, int depth)
{
	for (size_t i = 0; i < n; i++) {
		struct strv words = { 0 };
		const char *file = NULL;
		char *text;

		if (strcmp(v[i], "--options-file") == 0 || strcmp(v[i], "-optf") == 0)
			file = i + 1 < n ? v[i + 1] : NULL;
		else if (strncmp(v[i], "--options-file=", 15) == 0)
			file = v[i] + 15;
		else if (strncmp(v[i], "-optf=", 6) == 0)
			file = v[i] + 6;
		if (!file || depth == MAX_NESTING || !slurp(file, &text)) {
			strv_add(out, v[i]);
			continue;
		}
		i += file == v[i + 1];
		split(&words, text);
		free(text);
		ptxas_words(out, words.n, words.v, depth + 1);
		strv_free(&words);
	}
}

void
shim_ptxas_words(struct strv *out, int argc, char *const *argv)
{
	ptxas_words(out, (size_t)argc, argv, 0);
}

void
shim_args_free(struct shim_args *a)
{
	strv_free(&a->out);
	strv_free(&a->machine);
	strv_free(&a->held);
	strv_free(&a->how);
	free(a->error);
	*a = (struct shim_args){ 0 };
}
