/* SPDX-License-Identifier: Apache-2.0
 *
 * seen.h: what a function of between.def does, told before it is called.
 */
#ifndef RT_SEEN_H
#define RT_SEEN_H

#include "detect/host.h"
#include "rt/drv.h"

struct rt_deed;
struct rt_seen {
	enum rt_hook which;
	const char *call;
	CUstream stream;
	struct rt_deed *deed;           /* NULL */
	bool waits, queries;            /* behind the call, or if it says yes, the host knows that: */
	struct detect_clock clock;
};

enum rt_form { RT_BLOCKING, RT_ASYNC };

/* False: nobody wants to know what it does. */
bool rt_seen_begin(struct rt_seen *, enum rt_hook, CUstream, const char *call);
void rt_seen_end_of(struct rt_seen *, CUresult);

/* Copies; 0: an array's end. */
void rt_seen_line(struct rt_seen *, uint64_t to, uint64_t from, size_t n, enum rt_form);
void rt_seen_2d(struct rt_seen *, const CUDA_MEMCPY2D *, enum rt_form);
void rt_seen_3d(struct rt_seen *, const CUDA_MEMCPY3D *, enum rt_form);
void rt_seen_peer(struct rt_seen *, const CUDA_MEMCPY3D_PEER *, enum rt_form);
void rt_seen_batch(struct rt_seen *, const CUdeviceptr *to, const CUdeviceptr *from, const size_t *bytes, size_t n);
/* Rows of so many bytes. */
void rt_seen_fill(struct rt_seen *, uint64_t to, size_t pitch, size_t width, size_t height, enum rt_form);
/* Of nodes of graphs, into a deed that is there. */
void rt_seen_copy_node(struct rt_deed *, const CUDA_MEMCPY3D *);
void rt_seen_fill_node(struct rt_deed *, const CUDA_MEMSET_NODE_PARAMS *);
void rt_seen_word(struct rt_seen *, uint64_t to, size_t bytes);         /* a stream writes it strongly */
/* Managed memory, and whether any of it may go to the host. */
void rt_seen_prefetch(struct rt_seen *, const CUdeviceptr *p, const size_t *bytes, size_t n, bool to_host);
bool rt_seen_on_host(const CUmemLocation *, size_t n);
void rt_seen_record(struct rt_seen *, CUevent, unsigned flags);
void rt_seen_wait(struct rt_seen *, CUevent, unsigned flags);
void rt_seen_query(struct rt_seen *);
void rt_seen_end(struct rt_seen *);     /* of a stream */
void rt_seen_open(struct rt_seen *);    /* it orders what cannot be seen */
void rt_seen_blind(struct rt_seen *);   /* it orders streams that are not named */
void rt_seen_plain(struct rt_seen *);   /* it touches nothing that counts */

#endif
