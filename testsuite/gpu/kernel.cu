/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of driver.cu: without its barrier a warp reads what the next one
 * writes. */
extern "C" __global__ void rotate(const int *in, int *out)
{
	__shared__ int tile[128];
	int t = threadIdx.x, at = blockIdx.x * 128;

	tile[t] = in[at + t];	// first
#ifdef RIGHT
	__syncthreads();
#endif
	out[at + t] = tile[(t + 32) % 128];	// second
}
