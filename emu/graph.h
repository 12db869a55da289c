/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.h: graphs: nodes that are commands in no stream, and what each comes behind.
 */
#ifndef EMU_GRAPH_H
#define EMU_GRAPH_H

#include "emu/api.h"

struct CUgraphNode_st {
	struct CUgraph_st *graph;
	struct CUgraphNode_st *next;    /* in the order in which they were made */
	CUgraphNodeType type;
	struct emu_nodes before;        /* it comes behind those */
	struct emu_cmd *cmd;            /* NULL: nothing is done */
	struct CUgraph_st *child;       /* owned */
	struct CUgraphNode_st *of;      /* the node that it is a copy of */
	CUdeviceptr memory;             /* that it allocates or frees */
	size_t bytes;
	void **params;                  /* of a kernel: pointers into the grid's */
	bool disabled;
	unsigned mark;
};

struct CUgraph_st {
	struct CUgraphNode_st *first, **end;
};

struct CUgraphExec_st {
	struct CUgraph_st *graph;
	struct emu_nodes order;         /* all of its nodes, each behind what it comes behind */
	uint64_t flags;
};

struct CUgraph_st *emu_graph_new(void);
struct CUgraph_st *emu_graph_copy(const struct CUgraph_st *);
void emu_graph_free(struct CUgraph_st *);
/* A node of a graph; it owns the command (NULL: none) from then on. */
struct CUgraphNode_st *emu_node_new(struct CUgraph_st *, CUgraphNodeType, const struct emu_nodes *before,
				    struct emu_cmd *);
/* Whether `node` is one of those, or one of those comes behind it. */
bool emu_nodes_reach(const struct emu_nodes *from, const struct CUgraphNode_st *node);
void emu_nodes_set(struct emu_nodes *, const struct emu_nodes *);
void emu_nodes_add(struct emu_nodes *, const struct emu_nodes *);
void emu_nodes_drop(struct emu_nodes *);
/* Nodes as the API's callers name them. */
struct emu_nodes emu_nodes_of(const CUgraphNode *, size_t);
/* The instance's node for a node of the graph that it was made of; NULL: none. */
struct CUgraphNode_st *emu_exec_node(const struct CUgraphExec_st *, const struct CUgraphNode_st *);
CUgraphNodeType emu_node_type(const struct emu_cmd *);

#endif
