/* SPDX-License-Identifier: Apache-2.0
 *
 * lex.re: the scanner.  Opcodes and names are not keywords: `add` may be a
 * register.  A dotted word (".shared::cta", ".1d") is one token, and a name with
 * dotted words right behind it ("ld.global.u32", "%tid.x") is one as well; the
 * grammar knows which of the two it is.  Directives are dotted words with a
 * terminal of their own, which the grammar lets fall back to plain DOT.
 *
 * The text ends in NULs; nothing is read beyond the first one at the end.
 */
#include "ptxparse/parse.h"
#include "ptxparse/gram.h"

#include <string.h>

/* A block comment; `s` stands behind its opening.  NULL if it does not end. */
static const char *skip_comment(struct parser *p, const char *s)
{
	for (; s < p->end; s++)
		if (*s == '*' && s[1] == '/')
			return s + 2;
	return NULL;
}

/* The bytes of a .section up to its closing brace.  It may be most of the file
 * and means nothing here; only comments could hide a brace. */
static const char *skip_section(struct parser *p, const char *s)
{
	bool open = false;

	for (; s < p->end; s++) {
		switch (*s) {
		case '{':
			if (open)
				return NULL;
			open = true;
			break;
		case '}':
			return open ? s + 1 : NULL;
		case ';':
			return NULL;
		case '/':
			if (s[1] == '/') {
				s = memchr(s, '\n', (size_t)(p->end - s));
				if (!s)
					return NULL;
				s--;
			} else if (s[1] == '*') {
				s = skip_comment(p, s + 2);
				if (!s)
					return NULL;
				s--;
			}
			break;
		}
	}
	return NULL;
}

static int bad(struct parser *p, const char *cur, struct span *t, const char *what)
{
	p->cur = t->e = cur;
	p->bad = true;
	ptx_error_at(p, t->s, "%s", what);
	return T_BAD;
}

static bool line_start(const struct parser *p, const char *s)
{
	while (s > p->text && (s[-1] == ' ' || s[-1] == '\t'))
		s--;
	return s == p->text || s[-1] == '\n';
}

static inline const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* Most statements are an opcode and operands that need no grammar: names, numbers,
 * addresses, vectors.  All of those and the semicolon are read as one token, since
 * every token and every step of the grammar costs the same few nanoseconds, however
 * little it says.  False: there is something else among them, and ptx_lex sees for
 * itself what it is. */
static bool lex_operands(struct parser *p, struct span *t)
{
	const char *cur = skip_blanks(p->cur), *s = cur, *mark, *off;
	struct item *i = p->items, *vec = NULL;
	unsigned nops = 0;
	/*!stags:re2c format = "const char *@@;"; */

	/* What is taken for an opcode may be a term: v.x -5 is a sum. */
	if (*cur == '-')
		return false;
next:
	if (i == p->items + MAX_ITEMS)
		return false;
	cur = skip_blanks(cur);
	i->at.s = cur;
	/*!re2c
	re2c:flags:tags = 1;
	re2c:define:YYCTYPE = "unsigned char";
	re2c:define:YYCURSOR = cur;
	re2c:define:YYMARKER = mark;
	re2c:yyfill:enable = 0;

	name	= [a-zA-Z_] [a-zA-Z0-9_$]* | [$%] [a-zA-Z0-9_$]+;
	number	= "-"? ("0" [xX] [0-9a-fA-F]+ | "0" [0-7]* | [1-9] [0-9]*);
	float	= "0" ([fF] [0-9a-fA-F]{8} | [dD] [0-9a-fA-F]{16});
	sum	= "+" number;

	name	{ i->kind = OP_SYM; goto item; }
	number	{ i->kind = OP_INT; goto item; }
	float	{ i->kind = OP_FLOAT; goto item; }
	"[" ("_" | "WARP_SZ") sum? "]"	{ return false; }
	"[" name @off sum? "]" {
		i->kind = OP_ADDR;
		i->off = (struct span){ off, cur - 1 };
		goto item;
	}
	"{"	{
		if (vec)
			return false;
		i->kind = OP_VEC;
		vec = i++;
		goto next;
	}
	*	{ return false; }
	*/
item:
	i++->at.e = cur;
	cur = skip_blanks(cur);
	if (*cur == '}' && vec) {
		vec->n = (unsigned)(i - vec) - 1;
		vec = NULL;
		cur = skip_blanks(cur + 1);
	}
	nops += !vec;
	if (*cur == ',') {
		cur++;
		goto next;
	}
	if (*cur != ';' || vec || cur - s > MAX_TOKEN)
		return false;
	p->nops = nops;
	t->s = s;
	p->cur = t->e = cur + 1;
	return true;
}

int ptx_lex(struct parser *p, struct span *t)
{
	const char *cur = p->cur, *mark, *s;
	int major;

	p->bad = false;
	if (p->dotted) {
		p->dotted = false;
		if (lex_operands(p, t))
			return T_OPERANDS;
	}
again:
	s = t->s = cur;
	/*!re2c
	re2c:define:YYCTYPE = "unsigned char";
	re2c:define:YYCURSOR = cur;
	re2c:define:YYMARKER = mark;
	re2c:yyfill:enable = 0;

	id	= [a-zA-Z_$%] [a-zA-Z0-9_$]*;
	dot	= "." [a-zA-Z0-9_$]+ (("::" [a-zA-Z0-9_]+)+ (":" [0-9]+)?)?;
	dec	= [0-9]+;
	exp	= [eE] [-+]? dec;

	[ \t\n\r\v]+	{ goto again; }
	"//" [^\n\x00]*	{ goto again; }
	"/*"		{
		cur = skip_comment(p, cur);
		if (!cur)
			return bad(p, p->end, t, "comment does not end");
		if (memchr(s, 0, (size_t)(cur - s)))
			return bad(p, cur, t, "NUL byte in a comment");
		goto again;
	}
	"#" [^\n\x00]*	{
		if (line_start(p, s))
			goto again;
		return bad(p, cur, t, "stray '#'");
	}
	"\x00"		{
		if (s < p->end)
			return bad(p, cur, t, "NUL byte");
		p->cur = t->e = s;
		return 0;
	}

	id		{ major = T_ID; goto done; }
	"." dec exp?	{ major = T_FLOAT; goto done; }
	id dot+		{ major = T_DOTTED; goto done; }
	dot		{ major = T_DOT; goto done; }

	"0" [xX] [0-9a-fA-F]+ "U"?	{ major = T_INT; goto done; }
	"0" [bB] [01]+ "U"?		{ major = T_INT; goto done; }
	"0" [0-7]* "U"?			{ major = T_INT; goto done; }
	[1-9] [0-9]* "U"?		{ major = T_INT; goto done; }
	"0" [fF] [0-9a-fA-F]{8}		{ major = T_FLOAT; goto done; }
	"0" [dD] [0-9a-fA-F]{16}	{ major = T_FLOAT; goto done; }
	dec "." [0-9]* exp?		{ major = T_FLOAT; goto done; }
	dec exp				{ major = T_FLOAT; goto done; }
	[0-9] [0-9a-zA-Z_$]*		{
		return bad(p, cur, t, "malformed number");
	}
	["] [^"\n\x00]* ["]		{ major = T_STRING; goto done; }
	["]				{
		return bad(p, cur, t, "string does not end on its line");
	}

	";"	{ major = T_SEMI; goto done; }
	","	{ major = T_COMMA; goto done; }
	":"	{ major = T_COLON; goto done; }
	"["	{ major = T_LB; goto done; }
	"]"	{ major = T_RB; goto done; }
	"("	{ major = T_LP; goto done; }
	")"	{ major = T_RP; goto done; }
	"{"	{ major = T_LC; p->brace++; goto done; }
	"}"	{ major = T_RC; p->brace--; goto done; }
	"@"	{ major = T_AT; goto done; }
	"!"	{ major = T_BANG; goto done; }
	"="	{ major = T_EQ; goto done; }
	"|"	{ major = T_BAR; goto done; }
	"+"	{ major = T_PLUS; goto done; }
	"-"	{ major = T_MINUS; goto done; }
	"*"	{ major = T_STAR; goto done; }
	"/"	{ major = T_SLASH; goto done; }
	"&"	{ major = T_AMP; goto done; }
	"^"	{ major = T_CARET; goto done; }
	"~"	{ major = T_TILDE; goto done; }
	"?"	{ major = T_QM; goto done; }
	"<"	{ major = T_LT; goto done; }
	">"	{ major = T_GT; goto done; }
	"<="	{ major = T_LE; goto done; }
	">="	{ major = T_GE; goto done; }
	"=="	{ major = T_EQEQ; goto done; }
	"!="	{ major = T_NEQ; goto done; }
	"<<"	{ major = T_SHL; goto done; }
	">>"	{ major = T_SHR; goto done; }
	"&&"	{ major = T_ANDAND; goto done; }
	"||"	{ major = T_OROR; goto done; }

	[\x80-\xff]+	{
		return bad(p, cur, t, "non-ASCII byte");
	}
	*		{
		return bad(p, cur, t, "stray character");
	}
	*/
done:
	p->cur = t->e = cur;
	if (cur - s > MAX_TOKEN)
		return bad(p, cur, t, "token is too long");
	/* Alone it divides. */
	if (major == T_ID && cur - s == 1 && (*s == '%' || *s == '$'))
		return *s == '%' ? T_PERCENT : bad(p, cur, t, "stray character");
	p->dotted = major == T_DOTTED;
	if (major == T_DOT) {
		const struct word *w = ptx_word_of(p, t);

		if (!w->dir)
			return T_DOT;
		major = w->dir;
		if (major == T_SECTION) {
			cur = skip_section(p, cur);
			if (!cur)
				return bad(p, p->cur, t, "section has no end");
			if (memchr(s, 0, (size_t)(cur - s)))
				return bad(p, cur, t, "NUL byte in a section");
			p->cur = t->e = cur;
		}
	}
	return major;
}
