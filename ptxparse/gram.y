/* SPDX-License-Identifier: Apache-2.0
 *
 * gram.y: the grammar of PTX, for Lemon.  A module is a flat list of items; the
 * braces of functions and scopes are items too, and build.c keeps count.  It has
 * no opcode in it: an instruction is any word with operands of any form.  Every
 * action is one call, or two.
 *
 * A statement in error ends in RECOVER, which the driver (build.c) sends after
 * it has skipped to where the next statement begins.
 */
%name ptx_gram
%token_prefix T_
%token_type {struct span}
%default_type {struct span}
%extra_context {struct parser *p}
%stack_size 400

%include {
#include "ptxparse/parse.h"
#include "ptxparse/gram.h"

#include <stdlib.h>

/* No tracing and no assertions in Lemon's inner loop. */
#ifndef NDEBUG
#define NDEBUG
#endif
#include <assert.h>

/* Lemon's own text has parameters that this grammar leaves unused. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"

/* From the first byte of one token to the last of another. */
static inline struct span over(struct span a, struct span b)
{
	return (struct span){a.s, b.e};
}
}

%syntax_error {
	ptx_syntax_error(p, yymajor, &TOKEN);
}
%stack_overflow {
	ptx_error_at(p, p->cur, "nested too deeply");
	p->stop = true;
}

/* A directive's name is an ordinary dotted word wherever it means nothing. */
%fallback DOT VERSION TARGET ADDRSIZE ENTRY FUNC LINK SPACE ALIGN PTR ATTRIBUTE ALIAS
	PRAGMA LOC FILE PROTOTYPE CALLTARGETS BRANCHTARGETS.
%token SECTION BAD RECOVER.

/* A name alone is an operand before it is an expression. */
%nonassoc NAME.
%nonassoc OPERAND.
%right QM COLON.
%left OROR.
%left ANDAND.
%left BAR.
%left CARET.
%left AMP.
%left EQEQ NEQ.
%left LT GT LE GE.
%left SHL SHR.
%left PLUS MINUS.
%left STAR SLASH PERCENT.
%right BANG TILDE UNARY.
%left DOT LB.

module ::= items.
items ::= .
/* Lemon wants three good tokens before it speaks again; the next statement is
 * a fresh start. */
items ::= items error RECOVER.                          { yypParser->yyerrcnt = -1; }

/* --- header and debugging information --- */

items ::= items VERSION FLOAT(V).                       { b_version(p, &V); }
items ::= items TARGET targets(T).                      { b_target(p, T); }
targets(A) ::= ID(I).                                   { A = I; }
targets(A) ::= targets(B) COMMA ID(I).                  { A = over(B, I); }
items ::= items ADDRSIZE INT(N).                        { b_address_size(p, &N); }
items ::= items FILE(D) INT(N) STRING(S).               { b_file(p, &D, &N, &S, NULL); }
items ::= items FILE(D) INT(N) STRING(S) COMMA INT COMMA INT(Z). { b_file(p, &D, &N, &S, &Z); }
items ::= items LOC(D) INT(F) INT(L) INT(C).            { b_loc(p, &D, &F, &L, &C); }
items ::= items LOC(D) INT(F) INT(L) INT(C) COMMA inlined. { b_loc(p, &D, &F, &L, &C); }
inlined ::= ID(K) ID(N) COMMA ID(W) INT(F) INT(L) INT(C).
			{ b_loc_inlined(p, &K, &N, NULL, &W, &F, &L, &C); }
inlined ::= ID(K) ID(N) PLUS INT(O) COMMA ID(W) INT(F) INT(L) INT(C).
			{ b_loc_inlined(p, &K, &N, &O, &W, &F, &L, &C); }
items ::= items SECTION(T).                             { b_text(p, STMT_SECTION, T); }
items ::= items pragma(A) SEMI(Z).                      { b_text(p, STMT_PRAGMA, over(A, Z)); }
pragma(A) ::= PRAGMA(B) STRING.                         { A = B; }
pragma(A) ::= pragma(B) COMMA STRING.                   { A = B; }
items ::= items ALIAS(D) ID(A) COMMA ID(B) SEMI(Z).     { b_alias(p, &D, &A, &B, &Z); }

/* --- a directive that nobody knows: kept as it is --- */

%token_class any ID|DOTTED|DOT|INT|FLOAT|STRING|COMMA|COLON|LB|RB|LP|RP|AT|BANG|EQ|BAR
	|PLUS|MINUS|STAR|SLASH|PERCENT|AMP|CARET|TILDE|QM|LT|GT|LE|GE|EQEQ|NEQ|SHL|SHR
	|ANDAND|OROR.
/* OPERANDS end in a semicolon. */
%token_class end SEMI|OPERANDS.
items ::= items unknown(D) end(Z).                      { b_unknown(p, &D, Z.e); }
items ::= items unknown(D) LC raw RC(Z).                { b_unknown(p, &D, Z.e); }
unknown(A) ::= DOT(D).                                  { A = D; }
unknown(A) ::= unknown(B) any.                          { A = B; }
raw ::= .
raw ::= raw any.
raw ::= raw end.
raw ::= raw LC raw RC.

/* --- variables and registers --- */

items ::= items vars SEMI(Z).                           { b_vars(p, &Z); }
vars ::= head var.
vars ::= vars COMMA var.
head ::= LINK(L) SPACE(S).                              { b_head(p, &L, &S); }
head ::= SPACE(S).                                      { b_head(p, NULL, &S); }
head ::= head DOT(W).                                   { b_head_word(p, &W); }
head ::= head SPACE(W).                                 { b_head_word(p, &W); }
head ::= head PTR(W).                                   { b_head_word(p, &W); }
head ::= head ALIGN(A) INT(N).                          { b_head_align(p, &A, &N); }
head ::= head attribute(T).                             { b_head_text(p, T); }
attribute(A) ::= ATTRIBUTE(T) LP attrs RP(Z).           { A = over(T, Z); }
attrs ::= attr.
attrs ::= attrs COMMA attr.
attr ::= DOT.
attr ::= DOT LP ints RP.
ints ::= INT.
ints ::= ints COMMA INT.

var ::= decl.
var ::= decl EQ init(I).                                { b_init(p, I); }
var ::= ID(N) LT INT(I) GT.                             { b_range(p, &N, &I); }
decl ::= ID(N).                                         { b_declare(p, &N); }
decl ::= decl LB(B) RB.                                 { b_dim(p, &B, NULL); }
decl ::= decl LB(B) INT(N) RB.                          { b_dim(p, &B, &N); }

init(A) ::= expr(X).                                    { A = (struct span){X->s, X->e}; b_init_value(p, X); }
init(A) ::= LC(B) inits RC(Z).                          { A = over(B, Z); }
init(A) ::= LC(B) fields RC(Z).                         { A = over(B, Z); }
inits ::= init.
inits ::= inits COMMA init.
fields ::= ID EQ field.
fields ::= fields COMMA ID EQ field.
field ::= ID.
field ::= INT.

/* --- functions --- */

items ::= items fhead SEMI(Z).                          { b_func_end(p, &Z, false); }
items ::= items fhead LC(Z).                            { b_func_end(p, &Z, true); }
fstart ::= ENTRY(D).                                    { b_func(p, NULL, &D); }
fstart ::= LINK(L) ENTRY(D).                            { b_func(p, &L, &D); }
fstart ::= FUNC(D).                                     { b_func(p, NULL, &D); }
fstart ::= LINK(L) FUNC(D).                             { b_func(p, &L, &D); }
fstart ::= ID(L) COLON PROTOTYPE(D).                    { b_proto(p, &L, &D); }
fstart ::= fstart attribute(T).                         { b_func_text(p, T); }
fname ::= fstart ID(N).                                 { b_func_name(p, &N); }
fname ::= frets ID(N).                                  { b_func_name(p, &N); }
frets ::= fstart LP params RP.                          { b_func_rets(p); }
fparams ::= fname LP params RP.                         { b_func_params(p); }
fhead ::= fname.
fhead ::= fparams.
fhead ::= fhead DOT(D).                                 { b_func_dir(p, &D); }
fhead ::= fhead fargs.
fhead ::= fhead pragma(A) SEMI(Z).                      { b_func_pragma(p, over(A, Z)); }
fargs ::= INT(N).                                       { b_func_arg(p, &N); }
fargs ::= fargs COMMA INT(N).                           { b_func_arg(p, &N); }
params ::= .
params ::= plist.
plist ::= param.
plist ::= plist COMMA param.
param ::= head decl.

/* --- statements --- */

items ::= items LC(T).                                  { b_open(p, &T); }
items ::= items RC(T).                                  { b_close(p, &T); }
items ::= items ID(L) COLON.                            { b_label(p, &L); }
items ::= items ID(L) COLON CALLTARGETS(D) names(X) SEMI. { b_targets(p, &L, &D, X); }
items ::= items ID(L) COLON BRANCHTARGETS(D) names(X) SEMI. { b_targets(p, &L, &D, X); }
%type names {struct xop *}
%type target {struct xop *}
names(A) ::= target(A).
names(A) ::= names(B) COMMA target(X).                  { A = ptx_x_append(B, X); }
target(A) ::= ID(N).                                    { A = ptx_x_name(p, &N); }
target(A) ::= ID(N) LT INT(I) GT.                       { A = ptx_x_labels(p, &N, &I); }
items ::= items inst SEMI.                              { b_inst(p, NULL); }
items ::= items inst ops(X) SEMI.                       { b_inst(p, X); }
items ::= items inst OPERANDS.                          { b_inst_items(p); }
guard ::= AT(A) ID(R).                                  { b_guard(p, &A, &R, false); }
guard ::= AT(A) BANG ID(R).                             { b_guard(p, &A, &R, true); }
inst ::= ID(W).                                         { b_opcode(p, &W, true); }
inst ::= DOTTED(W).                                     { b_opcode(p, &W, true); }
inst ::= guard ID(W).                                   { b_opcode(p, &W, true); }
inst ::= guard DOTTED(W).                               { b_opcode(p, &W, true); }
inst ::= inst DOT(W).                                   { b_opcode(p, &W, false); }

/* --- operands --- */

/* Those that need no grammar are one token, OPERANDS (lex.re). */
%type ops {struct xop *}
%type group {struct xop *}
%type expr {struct xop *}
ops(A) ::= ID(T). [OPERAND]                             { A = ptx_x_name(p, &T); }
ops(A) ::= expr(A).
ops(A) ::= group(A).
ops(A) ::= ops(B) COMMA ID(T). [OPERAND]                { A = ptx_x_append(B, ptx_x_name(p, &T)); }
ops(A) ::= ops(B) COMMA expr(X).                        { A = ptx_x_append(B, X); }
ops(A) ::= ops(B) COMMA group(X).                       { A = ptx_x_append(B, X); }
group(A) ::= vec(A).
group(A) ::= vec(X) BAR expr(Y).                        { A = ptx_x_binary(p, T_BAR, X, Y); }
%type vec {struct xop *}
vec(A) ::= LC(B) ops(X) RC(Z).                          { A = ptx_x_wrap(p, OP_VEC, &B, X, &Z); }

expr(A) ::= ID(T). [NAME]                               { A = ptx_x_name(p, &T); }
expr(A) ::= DOTTED(T).                                  { A = ptx_x_dotted(p, &T); }
expr(A) ::= INT(T).                                     { A = ptx_x_int(p, &T); }
expr(A) ::= FLOAT(T).                                   { A = ptx_x_float(p, &T); }
expr(A) ::= expr(X) DOT(T).                             { A = ptx_x_suffix(p, X, &T); }
expr(A) ::= LB(B) ops(X) RB(Z).                         { A = ptx_x_wrap(p, OP_ADDR, &B, X, &Z); }
expr(A) ::= LP(B) ops(X) RP(Z).                         { A = ptx_x_wrap(p, OP_LIST, &B, X, &Z); }
expr(A) ::= LP(B) RP(Z).                                { A = ptx_x_wrap(p, OP_LIST, &B, NULL, &Z); }
expr(A) ::= LP(B) DOT(T) RP expr(X). [UNARY]            { A = ptx_x_cast(p, &B, &T, X); }
expr(A) ::= ID(N) LB expr(X) RB(Z).                     { A = ptx_x_index(p, &N, X, &Z); }
expr(A) ::= ID(N) LP expr(X) RP(Z).                     { A = ptx_x_apply(p, &N, X, &Z); }
expr(A) ::= INT(N) LP expr(X) RP(Z).                    { A = ptx_x_apply(p, &N, X, &Z); }
expr(A) ::= BANG(T) expr(X).                            { A = ptx_x_unary(p, T_BANG, &T, X); }
expr(A) ::= TILDE(T) expr(X).                           { A = ptx_x_unary(p, T_TILDE, &T, X); }
expr(A) ::= MINUS(T) expr(X). [UNARY]                   { A = ptx_x_unary(p, T_MINUS, &T, X); }
expr(A) ::= PLUS(T) expr(X). [UNARY]                    { A = ptx_x_unary(p, T_PLUS, &T, X); }
expr(A) ::= expr(X) QM expr(Y) COLON expr(Z).           { A = ptx_x_ternary(p, X, Y, Z); }
expr(A) ::= expr(X) OROR expr(Y).                       { A = ptx_x_binary(p, T_OROR, X, Y); }
expr(A) ::= expr(X) ANDAND expr(Y).                     { A = ptx_x_binary(p, T_ANDAND, X, Y); }
expr(A) ::= expr(X) BAR expr(Y).                        { A = ptx_x_binary(p, T_BAR, X, Y); }
expr(A) ::= expr(X) CARET expr(Y).                      { A = ptx_x_binary(p, T_CARET, X, Y); }
expr(A) ::= expr(X) AMP expr(Y).                        { A = ptx_x_binary(p, T_AMP, X, Y); }
expr(A) ::= expr(X) EQEQ expr(Y).                       { A = ptx_x_binary(p, T_EQEQ, X, Y); }
expr(A) ::= expr(X) NEQ expr(Y).                        { A = ptx_x_binary(p, T_NEQ, X, Y); }
expr(A) ::= expr(X) LT expr(Y).                         { A = ptx_x_binary(p, T_LT, X, Y); }
expr(A) ::= expr(X) GT expr(Y).                         { A = ptx_x_binary(p, T_GT, X, Y); }
expr(A) ::= expr(X) LE expr(Y).                         { A = ptx_x_binary(p, T_LE, X, Y); }
expr(A) ::= expr(X) GE expr(Y).                         { A = ptx_x_binary(p, T_GE, X, Y); }
expr(A) ::= expr(X) SHL expr(Y).                        { A = ptx_x_binary(p, T_SHL, X, Y); }
expr(A) ::= expr(X) SHR expr(Y).                        { A = ptx_x_binary(p, T_SHR, X, Y); }
expr(A) ::= expr(X) PLUS expr(Y).                       { A = ptx_x_binary(p, T_PLUS, X, Y); }
expr(A) ::= expr(X) MINUS expr(Y).                      { A = ptx_x_binary(p, T_MINUS, X, Y); }
expr(A) ::= expr(X) STAR expr(Y).                       { A = ptx_x_binary(p, T_STAR, X, Y); }
expr(A) ::= expr(X) SLASH expr(Y).                      { A = ptx_x_binary(p, T_SLASH, X, Y); }
expr(A) ::= expr(X) PERCENT expr(Y).                    { A = ptx_x_binary(p, T_PERCENT, X, Y); }
