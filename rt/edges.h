/* SPDX-License-Identifier: Apache-2.0
 *
 * edges.h: what orders the nodes of a graph among each other, and what its copies and fills touch.
 */
#ifndef RT_EDGES_H
#define RT_EDGES_H

#include "rt/order.h"

/* ---- edges.c ------------------------------------------------------------------------------------------------------ */

/* Of a graph as it is now, for one user; NULL: all its nodes are in order, or are taken for that. */
struct rt_edges;
struct rt_edges *rt_edges_of(CUgraph);
void rt_edges_use(struct rt_edges *);           /* by one more; or NULL, as in the next two */
void rt_edges_drop(struct rt_edges *);
void rt_edges_release(const struct detect_edges *);     /* the same, of what rt_edges_put() has given to a deed */
/* That deed is of a node, in the graph of a node of the outermost graph if `child` is not NULL. */
void rt_edges_put(struct rt_edges *, struct rt_deed *, CUgraphNode, CUgraphNode child);

/* ---- moves.c ------------------------------------------------------------------------------------------------------ */

/* A copy or a fill, in the graph of that node of the outermost one; or NULL. */
struct rt_move { CUgraphNode handle, child; bool fills; CUDA_MEMCPY3D copy; CUDA_MEMSET_NODE_PARAMS fill; };
struct rt_moves { struct rt_move *v; size_t n, cap; };

/* Of a node of any type, which may be neither. */
void rt_moves_add(struct rt_moves *, CUgraphNode, CUgraphNodeType, CUgraphNode child);
/* What was updated has the other's parameters, in order; child: those in the graph of that node; or NULL. */
void rt_moves_update(struct rt_moves *, CUgraphNode child, const struct rt_moves *other);
void rt_moves_set(struct rt_moves *, CUgraphNode, const CUDA_MEMCPY3D *, const CUDA_MEMSET_NODE_PARAMS *);     /* one of the two */
/* They are a part of what `graph` is, at its place, and issued by now.  enabled: is that node? */
typedef bool rt_move_enabled(const void *, CUgraphNode handle, CUgraphNode child);
void rt_moves_put(const struct rt_moves *, const struct rt_deed *graph, struct rt_edges *, rt_move_enabled *, const void *);
void rt_moves_free(struct rt_moves *);

#endif
