/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects: every geometry, levels, gradients, gather,
 * layers, cubes, sparse fetches; surfaces with each boundary mode. */
// archs: 75 80 90a 100a 120a
// quick: 75/lineinfo 90a/G
// contents: 0
#include <cuda_runtime.h>

__global__ void fetches(cudaTextureObject_t t, float4 *out)
{
	float x = threadIdx.x * 0.25f, y = blockIdx.x * 0.5f, z = 0.125f;
	float4 v = tex1D<float4>(t, x);
	auto add = [&](float4 a) { v.x += a.x; v.y += a.y; v.z += a.z; v.w += a.w; };

	add(tex1Dfetch<float4>(t, threadIdx.x));
	add(tex1DLod<float4>(t, x, 1));
	add(tex1DGrad<float4>(t, x, 0.1f, 0.2f));
	add(tex2D<float4>(t, x, y));
	add(tex2DLod<float4>(t, x, y, 2));
	add(tex2DGrad<float4>(t, x, y, make_float2(0.1f, 0), make_float2(0, 0.1f)));
	add(tex2Dgather<float4>(t, x, y, 0));
	add(tex2Dgather<float4>(t, x, y, 3));
	add(tex3D<float4>(t, x, y, z));
	add(tex3DLod<float4>(t, x, y, z, 1));
	add(tex1DLayered<float4>(t, x, 1));
	add(tex2DLayered<float4>(t, x, y, 2));
	add(texCubemap<float4>(t, x, y, z));
	add(texCubemapLayered<float4>(t, x, y, z, 1));
	bool resident;
	add(tex2D<float4>(t, x, y, &resident));
	if (resident)
		v.x += 1;
	out[threadIdx.x] = v;
}

__global__ void narrow(cudaTextureObject_t t, int *out, uchar4 *bytes, short2 *shorts)
{
	out[threadIdx.x] = tex2D<int>(t, 1, 2) + tex1Dfetch<unsigned>(t, 3);
	bytes[threadIdx.x] = tex2D<uchar4>(t, 1, 3);
	shorts[threadIdx.x] = tex3D<short2>(t, 1, 3, 5);
}

__global__ void surfaces(cudaSurfaceObject_t s, int n)
{
	int x = threadIdx.x, y = blockIdx.x;

	surf1Dwrite(surf1Dread<int>(s, x * 4) + 1, s, x * 4);
	surf2Dwrite(surf2Dread<float4>(s, x * 16, y, cudaBoundaryModeClamp), s, x * 16, y,
	    cudaBoundaryModeZero);
	surf3Dwrite(surf3Dread<short2>(s, x * 4, y, 1), s, x * 4, y, 2, cudaBoundaryModeTrap);
	surf1DLayeredwrite(surf1DLayeredread<uchar4>(s, x * 4, n), s, x * 4, n + 1);
	surf2DLayeredwrite(surf2DLayeredread<float2>(s, x * 8, y, n), s, x * 8, y, n + 1);
	surfCubemapwrite(surfCubemapread<float>(s, x * 4, y, 0), s, x * 4, y, 5);
	surfCubemapLayeredwrite(surfCubemapLayeredread<char>(s, x, y, 1), s, x, y, 2);
	__syncthreads();
	surf2Dwrite((long long)x, s, x * 8, y);
}

__global__ void staged(cudaTextureObject_t t, cudaSurfaceObject_t s, int w)
{
	__shared__ float tile[16][17];
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;

	tile[threadIdx.y][threadIdx.x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
	__syncthreads();
	if (x < w)
		surf2Dwrite(tile[threadIdx.x][threadIdx.y], s, x * 4, y);
}
