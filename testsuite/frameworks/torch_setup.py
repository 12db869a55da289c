# SPDX-License-Identifier: Apache-2.0
"""Builds the extension torch_extension, as setup.py files with CUDAExtension do; with DEFS=-DRIGHT in the environment it has its
barrier.

torch_setup.py build --build-base=FOLDER --build-lib=FOLDER
"""
import os
import shutil

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

shutil.copy(os.path.join(os.path.dirname(__file__), "torch_extension.cu"), ".")
setup(name="torch_extension", version="1", cmdclass={"build_ext": BuildExtension}, ext_modules=[
    CUDAExtension("torch_extension", ["torch_extension.cu"],
                  extra_compile_args={"cxx": [], "nvcc": ["-lineinfo"] + os.environ.get("DEFS", "").split()})])
