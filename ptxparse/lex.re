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

/* Most operands are a name, a number or an address with a comma before it, and are
 * read as one token: every token and every step of the grammar costs the same few
 * nanoseconds, however little it says.  What follows is looked at as well, so that
 * the grammar cannot want to make anything else of the pieces.  0: none of these;
 * ptx_lex sees for itself what it is. */
static int lex_operand(struct parser *p, struct span *t)
{
	const char *cur = p->cur, *mark, *ctx, *s;
	int major;

	while (*cur == ' ' || *cur == '\t')
		cur++;
	s = cur;
	/*!re2c
	re2c:define:YYCTYPE = "unsigned char";
	re2c:define:YYCURSOR = cur;
	re2c:define:YYMARKER = mark;
	re2c:define:YYCTXMARKER = ctx;
	re2c:yyfill:enable = 0;

	blank	= [ \t]*;
	name	= [a-zA-Z_] [a-zA-Z0-9_$]* | [$%] [a-zA-Z0-9_$]+;
	number	= "-"? ("0" [xX] [0-9a-fA-F]+ | "0" [0-7]* | [1-9] [0-9]*);
	address	= "[" name ("+" number)? "]";

	"," blank name / blank [,;}\])]	{ major = T_NEXTNAME; goto done; }
	"," blank number / blank [,;}\])]	{ major = T_NEXTINT; goto done; }
	"," blank address / blank [,;]	{ major = T_NEXTADDR; goto done; }
	";"				{ major = T_SEMI; goto done; }
	*				{ return 0; }
	*/
done:
	if (cur - s > MAX_TOKEN)
		return 0;
	t->s = s;
	p->cur = t->e = cur;
	return major;
}

int ptx_lex(struct parser *p, struct span *t)
{
	const char *cur = p->cur, *mark, *s;
	int major;

	p->bad = false;
	if (p->operands) {
		major = lex_operand(p, t);
		if (major)
			return major;
	}
again:
	s = t->s = cur;
	/*!re2c
	re2c:define:YYCTYPE = "unsigned char";
	re2c:define:YYCURSOR = cur;
	re2c:define:YYMARKER = mark;
	re2c:yyfill:enable = 0;

	id	= [a-zA-Z_$%] [a-zA-Z0-9_$]*;
	dot	= "." [a-zA-Z0-9_$]+ ("::" [a-zA-Z0-9_]+)*;
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
