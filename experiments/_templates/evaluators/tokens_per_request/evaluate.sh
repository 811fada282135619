#!/bin/sh
# evaluate.sh SETTINGS_FILE OUTPUT_JSON: how many tokens does a request take?
set -eu
# change: make the log with the settings in $1 (recorded requests against a local model, or a proxy that counts), and how many
# requests it has to hold
requests=3
log=requests.jsonl
"${RESEARCH_PYTHON:?is not set: it has to name a Python}" -I -B "$(dirname "$0")/tokens.py" "$log" "$requests" "$2"
