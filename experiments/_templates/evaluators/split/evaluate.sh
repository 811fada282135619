#!/bin/sh
# evaluate.sh SETTINGS_FILE OUTPUT_JSON: how much processor time does the code of the current directory need for fresh requests?
set -eu
exec "${RESEARCH_PYTHON:?is not set: it has to name a Python}" -I -B "$(dirname "$0")/evaluate.py" "$2"
