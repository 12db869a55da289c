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

static void newline(struct parser *p, const char *nl)
{
	p->line++;
	p->bol = nl + 1;
}

/* Where a token begins. */
static void start(const struct parser *p, struct tok *t, const char *s)
{
	size_t col = (size_t)(s - p->bol) + 1;

	t->s = s;
	t->line = p->line;
	t->col = col < MAX_COL ? col & MAX_COL : MAX_COL;
}

/* A block comment; `s` stands behind its opening.  NULL if it does not end. */
static const char *skip_comment(struct parser *p, const char *s)
{
	for (; s < p->end; s++) {
		if (*s == '\n')
			newline(p, s);
		else if (*s == '*' && s[1] == '/')
			return s + 2;
	}
	return NULL;
}

/* The bytes of a .section up to its closing brace.  It may be most of the file
 * and means nothing here; only comments could hide a brace. */
static const char *skip_section(struct parser *p, const char *s)
{
	bool open = false;

	for (; s < p->end; s++) {
		switch (*s) {
		case '\n':
			newline(p, s);
			break;
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

static int bad(struct parser *p, const char *cur, struct tok *t, const char *what)
{
	p->cur = cur;
	p->bad = true;
	t->len = (uint32_t)(cur - t->s);
	ptx_error_at(p, t->s, "%s", what);
	return T_BAD;
}

static bool line_start(const struct parser *p, const char *s)
{
	while (s > p->text && (s[-1] == ' ' || s[-1] == '\t'))
		s--;
	return s == p->text || s[-1] == '\n';
}

int ptx_lex(struct parser *p, struct tok *t)
{
	const char *cur = p->cur, *mark, *s;
	int major;

	t->w = NULL;
	t->digits = 0;
	p->bad = false;
again:
	s = cur;
	/*!re2c
	re2c:define:YYCTYPE = "unsigned char";
	re2c:define:YYCURSOR = cur;
	re2c:define:YYMARKER = mark;
	re2c:yyfill:enable = 0;

	id	= [a-zA-Z_$%] [a-zA-Z0-9_$]*;
	dot	= "." [a-zA-Z0-9_$]+ ("::" [a-zA-Z0-9_]+)*;
	dec	= [0-9]+;
	exp	= [eE] [-+]? dec;

	[ \t\r\v]+	{ goto again; }
	"\n"		{ newline(p, s); goto again; }
	"//" [^\n\x00]*	{ goto again; }
	"/*"		{
		start(p, t, s);
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
		start(p, t, s);
		return bad(p, cur, t, "stray '#'");
	}
	"\x00"		{
		start(p, t, s);
		t->len = 0;
		if (s < p->end)
			return bad(p, cur, t, "NUL byte");
		p->cur = s;
		return 0;
	}

	id		{ major = T_ID; goto done; }
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
		start(p, t, s);
		return bad(p, cur, t, "malformed number");
	}
	["] [^"\n\x00]* ["]		{ major = T_STRING; goto done; }
	["]				{
		start(p, t, s);
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
		start(p, t, s);
		return bad(p, cur, t, "non-ASCII byte");
	}
	*		{
		start(p, t, s);
		return bad(p, cur, t, "stray character");
	}
	*/
done:
	start(p, t, s);
	t->len = (uint32_t)(cur - s);
	p->cur = cur;
	if (t->len > MAX_TOKEN)
		return bad(p, cur, t, "token is too long");
	if (major == T_ID) {
		/* Alone it divides. */
		if (t->len == 1 && (*s == '%' || *s == '$'))
			return *s == '%' ? T_PERCENT : bad(p, cur, t, "stray character");
		ptx_tok_split(p, t);
	} else if (major == T_DOT || major == T_DOTTED) {
		t->w = ptx_word(p->arena, s, t->len);
		if (t->w->dir) {
			major = t->w->dir;
			if (major == T_SECTION) {
				cur = skip_section(p, cur);
				if (!cur)
					return bad(p, p->cur, t, "section has no end");
				if (memchr(s, 0, (size_t)(cur - s)))
					return bad(p, cur, t, "NUL byte in a section");
				p->cur = cur;
				t->len = (uint32_t)(cur - s);
			}
		}
	}
	return major;
}
