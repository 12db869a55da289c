# SPDX-License-Identifier: Apache-2.0
#
# An extension of Python that setuptools builds, whose setup.py gives .cu files to nvcc, as many do, and has the C++ compiler
# link: with NVCC=gsan-nvcc it is watched under gsan-run, or with libgsan preloaded, and else Python's import says what it lacks.
# And under pytest, which keeps to itself what a test writes that passes.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/shim/project.sh"
: "${PYTHON:=python3}"
if ! "$PYTHON" -c 'import setuptools' 2>/dev/null; then
	from_pypi setuptools setuptools || skip "no setuptools"
	PYTHON=$venv/bin/python
fi
"$PYTHON" -c 'import os, sysconfig; os.stat(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null || skip "no Python.h"

cat >module.cpp <<'EOK'
#include <Python.h>
int start();
static PyObject *run(PyObject *, PyObject *) { return PyLong_FromLong(start()); }
static PyMethodDef methods[] = {{"run", run, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "turn", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
PyMODINIT_FUNC PyInit_turn() { return PyModule_Create(&module); }
EOK
cat >setup.py <<'EOK'
import os
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class Build(build_ext):
    def build_extensions(self):
        plain = self.compiler._compile
        self.compiler.src_extensions.append('.cu')

        def compile(obj, src, ext, cc_args, extra, pp_opts):
            if not src.endswith('.cu'):
                return plain(obj, src, ext, cc_args, extra, pp_opts)
            self.spawn([os.environ.get('NVCC', 'nvcc'), '-c', src, '-o', obj, '-lineinfo', '-Xcompiler', '-fPIC',
                        '-gencode', 'arch=compute_90,code=compute_90'] + os.environ.get('DEFS', '').split())

        self.compiler._compile = compile
        super().build_extensions()


lib = os.environ['CUDA_HOME'] + '/lib64'
setup(name='turn', version='1', cmdclass={'build_ext': Build}, ext_modules=[
    Extension('turn', ['module.cpp', 'kernel.cu'], library_dirs=[lib], libraries=['cudart_static', 'dl', 'rt', 'pthread'])])
EOK
export CUDA_HOME

# build FOLDER ENVIRONMENT...
build()
{
	folder=$1
	shift
	run 0 env "NVCC=$g" "$@" "$PYTHON" setup.py -q build --build-base="$folder" --build-lib="$folder" || hard "setup.py"
}

code='import sys, turn; sys.exit(turn.run() and 1 or 3)'
build racy "DEFS="
run 1 env PYTHONPATH=racy "$PYTHON" -c "$code"
has err __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan
PYTHONPATH=racy racy "$PYTHON" -c "$code"
# Preloaded by hand, as gsan-nvcc --print-runtime has it; there is no device then.
run 1 env PYTHONPATH=racy LD_PRELOAD="$("$g" --print-runtime)" "$PYTHON" -c "$code"
has err "GSan: nothing was watched: "
build right DEFS=-DRIGHT
PYTHONPATH=right right 3 $gsan_run -- "$PYTHON" -c "$code"

if ! "$PYTHON" -c 'import pytest' 2>/dev/null; then
	from_pypi pytest pytest || { echo "no pytest"; done_testing; }
	# Of the same Python, or the module could not be imported.
	PYTHON=$venv/bin/python
fi
printf 'import turn\n\ndef test_turn():\n    assert turn.run() == 0\n' >test_turn.py
for way in racy right; do
	rm -f report.*
	run "$([ $way = racy ] && echo 66 || echo 0)" env "PYTHONPATH=$way" GSAN_OPTIONS=log_path="$tmp/report" $gsan_run "$PYTHON" -m pytest -q -p no:cacheprovider
	has out "1 passed"
	cat report.* >err
	[ $way = racy ] || has err "GSan: 0 findings; 1 launch"
	[ $way = right ] || has err "WARNING: GSan: data race"
done
# Without it the status says so, and the closing line, which comes when pytest has ended.
run 66 env PYTHONPATH=racy $gsan_run "$PYTHON" -m pytest -q -p no:cacheprovider
has err "GSan: 1 finding; 1 launch"
done_testing
