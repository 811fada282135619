#!/bin/sh
# evaluate.sh SETTINGS_FILE OUTPUT_JSON: how exploitable are the strategies these settings lead to?
# The measuring script lies beside this file; the solver it measures is the one in the current directory.
set -eu
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
exec "${RESEARCH_PYTHON:?is not set: it has to name a Python with NumPy and PyYAML}" -I -B "$(dirname "$0")/evaluate.py" "$@"
