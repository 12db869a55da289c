/* SPDX-License-Identifier: Apache-2.0
 *
 * moves.c: copies and fills that are nodes of graphs.
 */
#include <string.h>

#include "rt/edges.h"
#include "rt/seen.h"
#include "rt/touch.h"

void rt_moves_add(struct rt_moves *m, CUgraphNode handle, CUgraphNodeType type, CUgraphNode child)
{
	struct rt_move new = {.handle = handle, .child = child, .fills = type == CU_GRAPH_NODE_TYPE_MEMSET};
	CUresult r = CUDA_ERROR_NOT_FOUND;

	if (type == CU_GRAPH_NODE_TYPE_MEMCPY && rt_drv.cuGraphMemcpyNodeGetParams)
		r = rt_drv.cuGraphMemcpyNodeGetParams(handle, &new.copy);
	else if (new.fills && rt_drv.cuGraphMemsetNodeGetParams)
		r = rt_drv.cuGraphMemsetNodeGetParams(handle, &new.fill);
	if (r != CUDA_SUCCESS)
		return;
	m->v = rt_grow(m->v, &m->cap, m->n + 1, sizeof *m->v);
	m->v[m->n++] = new;
}

void rt_moves_update(struct rt_moves *m, CUgraphNode child, const struct rt_moves *other)
{
	size_t k = 0;

	for (size_t i = 0; i < m->n && k < other->n; i++) {
		const struct rt_move *from = &other->v[k];
		struct rt_move *x = &m->v[i];

		if (child && x->child != child)
			continue;
		if (x->fills == from->fills) {
			x->copy = from->copy;
			x->fill = from->fill;
		}
		k++;
	}
}

void rt_moves_set(struct rt_moves *m, CUgraphNode handle, const CUDA_MEMCPY3D *copy, const CUDA_MEMSET_NODE_PARAMS *fill)
{
	for (size_t i = 0; i < m->n; i++) {
		struct rt_move *x = &m->v[i];

		if (x->handle == handle && x->fills && fill)
			x->fill = *fill;
		else if (x->handle == handle && !x->fills && copy)
			x->copy = *copy;
	}
}

void rt_moves_put(const struct rt_moves *m, const struct rt_deed *graph, struct rt_edges *e, rt_move_enabled *enabled, const void *of)
{
	for (size_t i = 0; i < m->n && graph; i++) {
		const struct rt_move *x = &m->v[i];
		struct rt_deed *d = enabled(of, x->handle, x->child) ? rt_deed_beside(graph) : NULL;

		if (!d)
			continue;
		d->d.kind = x->fills ? DETECT_FILL : DETECT_COPY;
		d->call = "cuGraphLaunch";
		d->stack = *rt_stack_here();
		rt_edges_put(e, d, x->handle, x->child);
		if (x->fills)
			rt_seen_fill_node(d, &x->fill);
		else
			rt_seen_copy_node(d, &x->copy);
		rt_touch_guard_deed(d);
		rt_deed_ready(d);
	}
}

void rt_moves_free(struct rt_moves *m)
{
	rt_free(m->v);
	*m = (struct rt_moves){0};
}
