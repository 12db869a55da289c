// SPDX-License-Identifier: Apache-2.0
//
// Rows with a pitch: allocated, filled, copied there and back; a transposition by tiles.
// prints: pitch at least 140: yes
// prints: element (3,30) is 303, row 34 is all 7
#include "check.h"

enum { W = 35, H = 35, T = 16 };

__global__ void transpose(const int *in, size_t in_pitch, int *out, size_t out_pitch)
{
	__shared__ int tile[T][T + 1];
	int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;

	if (x < W && y < H)
		tile[threadIdx.y][threadIdx.x] = *(const int *)((const char *)in + y * in_pitch + x * sizeof(int));
	__syncthreads();
	x = blockIdx.y * T + threadIdx.x;
	y = blockIdx.x * T + threadIdx.y;
	if (x < H && y < W)
		*(int *)((char *)out + y * out_pitch + x * sizeof(int)) = tile[threadIdx.x][threadIdx.y];
}

int main()
{
	static int h[H][W], back[W][H];
	int *in, *out, sevens = 0;
	size_t in_pitch, out_pitch;

	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			h[y][x] = 100 * y + x;
	CHECK(cudaMallocPitch(&in, &in_pitch, W * sizeof(int), H));
	CHECK(cudaMallocPitch(&out, &out_pitch, H * sizeof(int), W));
	printf("pitch at least 140: %s\n", in_pitch >= 140 && out_pitch >= 140 ? "yes" : "no");
	CHECK(cudaMemcpy2D(in, in_pitch, h, sizeof h[0], sizeof h[0], H, cudaMemcpyHostToDevice));
	CHECK(cudaMemset2D(out, out_pitch, 0, H * sizeof(int), W));
	transpose<<<dim3(3, 3), dim3(T, T)>>>(in, in_pitch, out, out_pitch);
	CHECK(cudaMemset2D((char *)out + 34 * out_pitch, out_pitch, 7, H * sizeof(int), 1));
	CHECK(cudaMemcpy2D(back, sizeof back[0], out, out_pitch, sizeof back[0], W, cudaMemcpyDeviceToHost));
	for (int x = 0; x < H; x++)
		sevens += back[34][x] == 0x07070707;
	printf("element (3,30) is %d, row 34 is %s 7\n", back[30][3] - 27, sevens == H ? "all" : "not all");
	return back[30][3] != 330;
}
