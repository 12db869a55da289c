/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * sameelf A B: do two cubins hold the same machine code?  Every section of one
 * must be in the other, under the same name, at the same place in the table,
 * with the same bytes.  What may differ is what tells of the PTX's lines, which
 * printing is free to change: the sections that hold its text and its line
 * numbers (with -g and -lineinfo), and the line that ends the symbol of a
 * variable declared in a function (with -c).  Exit status 0 same, 1 different, 2 trouble.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NVIDIA's type for the shared memory of a kernel: a size, no bytes. */
enum { SHT_CUDA_SHARED_NOBITS = 0x7000000a };

struct file {
	const char *path;
	unsigned char *bytes;
	size_t size;
	Elf64_Ehdr head;
	Elf64_Shdr *sections;
	const char *names;
	size_t names_size;
};

static void
die(const char *path, const char *what)
{
	fprintf(stderr, "sameelf: %s: %s\n", path, what);
	exit(2);
}

static int
inside(const struct file *f, size_t at, size_t n)
{
	return at <= f->size && n <= f->size - at;
}

static int
no_bits(const Elf64_Shdr *s)
{
	return s->sh_type == SHT_NOBITS || s->sh_type == SHT_CUDA_SHARED_NOBITS;
}

static void
load(struct file *f, const char *path)
{
	FILE *in = fopen(path, "rb");
	size_t bytes;
	long n;

	f->path = path;
	if (!in || fseek(in, 0, SEEK_END) || (n = ftell(in)) < 0 || fseek(in, 0, SEEK_SET))
		die(path, "cannot read it");
	f->size = (size_t)n;
	f->bytes = malloc(f->size + 1);
	if (!f->bytes || fread(f->bytes, 1, f->size, in) != f->size)
		die(path, "cannot read it");
	fclose(in);
	if (f->size < sizeof f->head || memcmp(f->bytes, ELFMAG, SELFMAG) != 0)
		die(path, "not an ELF file");
	memcpy(&f->head, f->bytes, sizeof f->head);
	bytes = f->head.e_shnum * sizeof *f->sections;
	if (f->head.e_ident[EI_CLASS] != ELFCLASS64 || f->head.e_shnum == 0 ||
	    f->head.e_shentsize != sizeof *f->sections ||
	    !inside(f, f->head.e_shoff, bytes) || f->head.e_shstrndx >= f->head.e_shnum)
		die(path, "no section table");
	f->sections = malloc(bytes);
	if (!f->sections)
		die(path, "out of memory");
	memcpy(f->sections, f->bytes + f->head.e_shoff, bytes);
	for (unsigned i = 0; i < f->head.e_shnum; i++) {
		const Elf64_Shdr *s = &f->sections[i];

		if (!no_bits(s) && !inside(f, s->sh_offset, s->sh_size))
			die(path, "a section lies outside the file");
	}
	f->names = (const char *)f->bytes + f->sections[f->head.e_shstrndx].sh_offset;
	f->names_size = f->sections[f->head.e_shstrndx].sh_size;
	if (f->names_size == 0 || f->names[f->names_size - 1] != '\0')
		die(path, "no section names");
}

static void
unload(struct file *f)
{
	free(f->bytes);
	free(f->sections);
}

static const char *
name(const struct file *f, const Elf64_Shdr *s)
{
	if (s->sh_name >= f->names_size)
		die(f->path, "a section without a name");
	return f->names + s->sh_name;
}

static int
tells_of_lines(const char *s)
{
	return strstr(s, "nv_debug_ptx_txt") != NULL ||
	    strstr(s, "nv_debug_line_sass") != NULL;
}

/* The same symbol, but for the line behind the last "__" of "$___ZZ...__123". */
static int
same_symbol(const char *s, const char *t)
{
	size_t n = strlen(s), m = strlen(t);

	if (strncmp(s, "$___", 4) == 0) {
		while (n > 0 && s[n - 1] >= '0' && s[n - 1] <= '9')
			n--;
		while (m > 0 && t[m - 1] >= '0' && t[m - 1] <= '9')
			m--;
	}
	return n == m && memcmp(s, t, n) == 0;
}

static const char *
symbol(const struct file *f, const Elf64_Shdr *table, const Elf64_Sym *s)
{
	const Elf64_Shdr *names;

	if (table->sh_link >= f->head.e_shnum)
		die(f->path, "symbols without names");
	names = &f->sections[table->sh_link];
	if (s->st_name >= names->sh_size || f->bytes[names->sh_offset + names->sh_size - 1])
		die(f->path, "a symbol without a name");
	return (const char *)f->bytes + names->sh_offset + s->st_name;
}

static int
same_symbols(const struct file *a, const Elf64_Shdr *s, const struct file *b, const Elf64_Shdr *t)
{
	size_t n = s->sh_size / sizeof(Elf64_Sym);

	if (s->sh_size != t->sh_size)
		return 0;
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym x, y;

		memcpy(&x, a->bytes + s->sh_offset + i * sizeof x, sizeof x);
		memcpy(&y, b->bytes + t->sh_offset + i * sizeof y, sizeof y);
		if (!same_symbol(symbol(a, s, &x), symbol(b, t, &y)) ||
		    x.st_info != y.st_info || x.st_other != y.st_other ||
		    x.st_shndx != y.st_shndx || x.st_value != y.st_value ||
		    x.st_size != y.st_size)
			return 0;
	}
	return 1;
}

static int
same_bytes(const struct file *a, const Elf64_Shdr *s, const struct file *b, const Elf64_Shdr *t)
{
	return s->sh_size == t->sh_size && (no_bits(s) ||
	    memcmp(a->bytes + s->sh_offset, b->bytes + t->sh_offset, s->sh_size) == 0);
}

static int
same_section(const struct file *a, const Elf64_Shdr *s, const struct file *b, const Elf64_Shdr *t)
{
	if (s->sh_type != t->sh_type || s->sh_flags != t->sh_flags || s->sh_info != t->sh_info)
		return 0;
	/* ".symtab", and ".nv.merc.symtab" beside it */
	if (strstr(name(a, s), "symtab") && s->sh_entsize == sizeof(Elf64_Sym))
		return same_symbols(a, s, b, t);
	if (strstr(name(a, s), "strtab") && !strstr(name(a, s), "shstrtab"))
		return 1;	/* read by way of the symbols */
	return same_bytes(a, s, b, t);
}

int
main(int argc, char **argv)
{
	struct file a, b;
	int different = 0, different_tables;

	if (argc != 3) {
		fprintf(stderr, "usage: sameelf A B\n");
		return 2;
	}
	load(&a, argv[1]);
	load(&b, argv[2]);
	if (a.head.e_shnum != b.head.e_shnum || a.head.e_flags != b.head.e_flags ||
	    a.head.e_machine != b.head.e_machine) {
		printf("the headers differ\n");
		different = 1;
	}
	different_tables = different;
	for (unsigned i = 0; !different_tables && i < a.head.e_shnum; i++) {
		const Elf64_Shdr *s = &a.sections[i], *t = &b.sections[i];

		if (strcmp(name(&a, s), name(&b, t)) != 0) {
			printf("section %u: %s and %s\n", i, name(&a, s), name(&b, t));
			different = 1;
		} else if (!tells_of_lines(name(&a, s)) && !same_section(&a, s, &b, t)) {
			printf("section %s differs\n", name(&a, s));
			different = 1;
		}
	}
	unload(&a);
	unload(&b);
	return different;
}
