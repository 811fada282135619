#!/bin/sh
# evaluate.sh - OUTPUT_JSON: how much processor time does the text_stats of the current directory need?
# Clock and answers stay in evaluate.py; the code under test runs in a process of its own (worker.py), behind pipes.
set -eu
exec "${RESEARCH_PYTHON:?is not set: it has to name a Python}" -I -B "$(dirname "$0")/evaluate.py" "$2"
