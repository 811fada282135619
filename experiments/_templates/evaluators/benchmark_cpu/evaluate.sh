#!/bin/sh
# evaluate.sh SETTINGS_FILE OUTPUT_JSON: how much processor time does the benchmark take?
set -eu
python=${RESEARCH_PYTHON:?is not set: it has to name a Python}
here=$(dirname "$0")
# change: the command behind the number of runs; `expected.txt` is what it has to print each time
exec "$python" -I -B "$here/benchmark_cpu.py" "$2" "$here/expected.txt" 3 "$python" -B bench.py
