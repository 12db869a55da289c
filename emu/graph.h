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
	unsigned mark;                  /* of the last search that has been here */
	size_t place;                   /* in the graph, when two are compared */
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
/* Nodes as the API's callers name them, and whether all are of that graph. */
struct emu_nodes emu_nodes_of(const CUgraphNode *, size_t);
bool emu_nodes_are_in(const struct CUgraph_st *, const CUgraphNode *, size_t);
/* Edges of the kind that there is, whose data is zeros; NULL: all are. */
bool emu_edges_are_plain(const CUgraphEdgeData *, size_t);
/* What keeps the second graph from the place of the first, whose nodes were made in the same
 * order; `where`: the second's node that differs, NULL: it has too few, or nothing differs. */
CUgraphExecUpdateResult emu_graph_differs(struct CUgraph_st *, struct CUgraph_st *, CUgraphNode *where);
/* The instance's node for a node of the graph that it was made of; NULL: none. */
struct CUgraphNode_st *emu_exec_node(const struct CUgraphExec_st *, const struct CUgraphNode_st *);
CUgraphNodeType emu_node_type(const struct emu_cmd *);

#endif
