#!/bin/sh
# evaluate.sh SETTINGS_FILE OUTPUT_JSON: how many kilobytes does a browser have to load?
set -eu
# change: the folder, and the endings of the files that count
exec "${RESEARCH_PYTHON:?is not set: it has to name a Python}" -I -B "$(dirname "$0")/bundle_size.py" "$2" public .js .css .html
