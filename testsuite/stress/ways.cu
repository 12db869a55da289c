/* SPDX-License-Identifier: Apache-2.0 */
/* ways.cu: lanes go their own ways as a generator of each one's own says, come together and part again; every step of a
 * lane stores at the next place of its own.  lanes.sh holds the order of what is logged against that. */
//@ device sm_90
//@ buf out 16777216
//@ launch lanes grid=4 block=256 args=out,u32:40,u32:1
struct lane { unsigned *at, state; };

static __device__ __forceinline__ void step(lane &l)
{
	*l.at++ = l.state;
}

static __device__ __forceinline__ unsigned next(lane &l)
{
	l.state = l.state * 1664525u + 1013904223u;
	return l.state >> 24;
}


/* What is called goes its own ways, too, and so deep as each lane's generator says. */
static __device__ __noinline__ unsigned *apart(unsigned *at, unsigned r)
{
	if (r & 1)
		*at++ = r;
	for (unsigned n = 0; n < r % 3; n++)
		*at++ = n;
	return r > 2 && r & 2 ? apart(at, r >> 2) : at;
}

extern "C" __global__ void lanes(unsigned *out, unsigned rounds, unsigned seed)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	lane l = {out + (size_t)thread * PLACES, seed + thread / 4 * 7919};
	unsigned *end = l.at + PLACES - 16;

	for (unsigned i = 0; i < rounds && l.at < end; i++) {
		unsigned r = next(l);

		if (r & 1) {
			step(l);
			if (r & 2)
				step(l);
		} else if (r & 4) {
			continue;
		} else {
			unsigned k = r >> 4;

			while (k) {
				step(l);
				k >>= 1;
			}
		}
		if ((r & 48) == 48)
			__syncwarp(__activemask());
		if (r % 7 == 3)
			l.at = apart(l.at, r);
		switch (r % 5) {
		case 0: step(l); break;
		case 1: step(l); step(l); break;
		case 2: break;
		case 3: for (unsigned n = 0; n < r % 4; n++) step(l); break;
		default: if (r & 32) step(l); else if (r & 64) { step(l); step(l); } break;
		}
		step(l);
	}
}
