/* SPDX-License-Identifier: Apache-2.0
 *
 * embed.c: a program of the build.  Takes the device runtime apart, one PTX file
 * a variant, and writes it as C: every function and variable with what it needs,
 * so that attach.c can copy the part that a module uses without parsing it.
 *
 *   rewrite/embed runtime.ptx runtime_sm90.ptx >runtime.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rw.h"

static const char *const fn_names[RW_FN_COUNT] = {
#define FN(id, name, result, params) [RW_FN_##id] = name,
#include "rewrite/calls.def"
};

/* The statement that declares a name; what rw_part is made from. */
struct piece {
	struct ptx_stmt *stmt;
	struct ptx_sym *sym;
	bool define;                    /* not just a prototype */
};

static struct piece *pieces;
static unsigned npieces;

static void die(const char *path, const char *text)
{
	fprintf(stderr, "embed: %s: %s\n", path, text);
	exit(EXIT_FAILURE);
}

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	size_t cap = 1 << 20;
	char *p = malloc(cap);

	if (!f || !p)
		die(path, "cannot be read");
	*len = 0;
	for (size_t got; (got = fread(p + *len, 1, cap - *len, f)); ) {
		*len += got;
		if (*len == cap && !(p = realloc(p, cap *= 2)))
			die(path, "out of memory");
	}
	fclose(f);
	return p;
}

/* ---- names ------------------------------------------------------------------ */

/* The runtime's own names carry the reserved prefix; what the compiler named
 * (statics, outlined functions) must not meet a name of the module. */
static void make_local(struct ptx_module *m, struct ptx_sym *sym, const char **link)
{
	*link = NULL;
	if (strncmp(sym->name, "__gsan_", 7)) {
		const char *name = ptx_sprintf(m->arena, "__gsan_v%d_%s", GSAN_ABI, sym->name);

		sym->name = ptx_intern(m->arena, name, strlen(name));
		if (sym->kind == SYM_FUNC)
			sym->func->name = sym->name;
	}
}

/* "used_bytes_mask" is a hint, and too new for a module of PTX 8.2 or older. */
static void drop_pragmas(struct ptx_func *f)
{
	for (struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind != STMT_PRAGMA || !strstr(s->t.text, "used_bytes_mask"))
			continue;
		if (s->prev)
			s->prev->next = s->next;
		else
			f->body = s->next;
		if (s->next)
			s->next->prev = s->prev;
		else
			f->last = s->prev;
	}
}

/* Fills in `pieces`; sym->user becomes 1 + the number of the definition. */
static void list_pieces(struct ptx_module *m, const char *path)
{
	unsigned n = 0;

	for (struct ptx_stmt *s = m->first; s; s = s->next)
		n++;
	pieces = ptx_alloc(m->arena, (n + 1) * sizeof *pieces);
	npieces = 0;
	for (struct ptx_stmt *s = m->first; s; s = s->next) {
		struct piece *p = &pieces[npieces];

		if (s->kind == STMT_FUNC) {
			p->sym = s->func->sym;
			p->define = s->func->has_body;
			make_local(m, p->sym, &s->func->link);
			drop_pragmas(s->func);
		} else if (s->kind == STMT_VAR) {
			if (s->var->next)
				die(path, "two variables in one declaration");
			p->sym = s->var->sym;
			p->define = true;
			make_local(m, p->sym, &s->var->link);
		} else {
			die(path, "neither a function nor a variable");
		}
		p->stmt = s;
		npieces++;
		if (p->define || !p->sym->user)
			p->sym->user = (void *)(uintptr_t)npieces;
	}
}

/* ---- what a piece refers to ---------------------------------------------------- */

static bool *needed;

static void need(const struct ptx_sym *sym)
{
	if (sym && sym->user)
		needed[(uintptr_t)sym->user - 1] = true;
}

static void need_operand(const struct ptx_operand *o)
{
	need(o->sym);
	for (unsigned i = 0; i < o->n; i++)
		need_operand(&o->list[i]);
}

static void need_vars(const struct ptx_var *v)
{
	for (; v; v = v->next)
		for (const struct ptx_init *in = v->inits; in; in = in->next)
			need(in->sym);
}

static void find_needs(const struct ptx_stmt *s)
{
	memset(needed, 0, npieces);
	if (s->kind == STMT_VAR) {
		need_vars(s->var);
		return;
	}
	for (const struct ptx_stmt *b = s->func->body; b; b = b->next) {
		if (b->kind == STMT_VAR)
			need_vars(b->var);
		if (b->kind == STMT_INST)
			for (unsigned i = 0; i < b->inst.nops; i++)
				need_operand(&b->inst.ops[i]);
	}
}

/* ---- the C text ------------------------------------------------------------------- */

static void put_text(const char *s, size_t len)
{
	bool start = true;

	for (size_t i = 0; i < len; i++) {
		/* Indentation is nothing to ptxas, and is a tenth of the text. */
		if (start && (s[i] == '\t' || s[i] == ' '))
			continue;
		if (start)
			fputs("\n\t\"", stdout);
		start = s[i] == '\n';
		if (s[i] == '"' || s[i] == '\\')
			putchar('\\');
		if (start)
			fputs("\\n\"", stdout);
		else
			putchar(s[i]);
	}
	if (!start)
		putchar('"');
}

static void put_variant(const struct ptx_module *m, unsigned variant)
{
	for (unsigned i = 0; i < npieces; i++) {
		struct ptx_buf b = { 0 };

		ptx_print_stmt(&b, pieces[i].stmt);
		printf("\nstatic const char text%u_%u[] =", variant, i);
		/* The printer of the module that it goes into ends the last line. */
		put_text(b.p, b.len - 1);
		fputs(";\n", stdout);
		free(b.p);
		find_needs(pieces[i].stmt);
		printf("static const unsigned short needs%u_%u[] = { ", variant, i);
		for (unsigned k = 0; k < npieces; k++)
			if (needed[k])
				printf("%u, ", k + 1);
		fputs("0 };\n", stdout);
	}
	printf("\nstatic const struct rw_part parts%u[] = {\n", variant);
	for (unsigned i = 0; i < npieces; i++)
		printf("\t{ \"%s\", text%u_%u, sizeof text%u_%u - 1, needs%u_%u, %u },\n",
		       pieces[i].sym->name, variant, i, variant, i, variant, i,
		       (unsigned)(uintptr_t)pieces[i].sym->user - 1);
	puts("};");
	printf("\nstatic const unsigned short fns%u[RW_FN_COUNT] = {", variant);
	for (unsigned f = 0; f < RW_FN_COUNT; f++) {
		const struct ptx_sym *sym = ptx_lookup(m, fn_names[f]);

		printf(" %u,", sym ? (unsigned)(uintptr_t)sym->user : 0);
	}
	puts(" };");
}

int main(int argc, char **argv)
{
	if (argc != 1 + RW_VARIANTS) {
		fputs("usage: embed RUNTIME.ptx RUNTIME_SM90.ptx\n", stderr);
		return 2;
	}
	puts("/* Made from the device runtime by rewrite/embed. */\n"
	     "#include \"rewrite/rw.h\"\n\n"
	     "#pragma GCC diagnostic ignored \"-Woverlength-strings\"");
	for (int i = 1; i < argc; i++) {
		size_t len;
		char *text = read_file(argv[i], &len);
		struct ptx_module *m = ptx_parse(argv[i], text, len, NULL, NULL);

		if (!m)
			return 1;
		list_pieces(m, argv[i]);
		needed = ptx_alloc(m->arena, npieces + 1);
		put_variant(m, (unsigned)i - 1);
		ptx_free(m);
		free(text);
	}
	puts("\nconst struct rw_runtime rw_runtimes[RW_VARIANTS] = {");
	for (int i = 1; i < argc; i++)
		printf("\t{ parts%d, sizeof parts%d / sizeof *parts%d, fns%d },\n", i - 1, i - 1, i - 1, i - 1);
	puts("};");
	return fflush(stdout) ? 3 : 0;
}
