#!/bin/sh
# evaluate.sh SETTINGS_FILE OUTPUT_JSON: how big is the program?
set -eu
# change: the program
exec "${RESEARCH_PYTHON:?is not set: it has to name a Python}" -I -B "$(dirname "$0")/binary_size.py" bin/program "$2"
