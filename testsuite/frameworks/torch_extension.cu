/* SPDX-License-Identifier: Apache-2.0
 *
 * torch_extension.cu: a module of Python that PyTorch's CUDAExtension builds, whose kernel turns a row round in shared memory.
 */
#include <Python.h>

__global__ void turn(int *p)
{
	__shared__ int s[64];
	int t = threadIdx.x;

	s[t] = p[t];
#ifdef RIGHT
	__syncthreads();
#endif
	p[t] = s[63 - t];
}

static PyObject *run(PyObject *, PyObject *)
{
	int *p;

	cudaMalloc(&p, 256);
	turn<<<1, 64>>>(p);
	return PyLong_FromLong(cudaDeviceSynchronize());
}

static PyMethodDef methods[] = {{"run", run, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "torch_extension", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_torch_extension()
{
	return PyModule_Create(&module);
}
