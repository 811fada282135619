#!/bin/sh
# evaluate.sh SETTINGS_FILE OUTPUT_JSON: how soon does the page show what matters?
set -eu
# change: make the report instead of taking one that lies there, e.g.
#   npx serve -l 8080 dist & trap "kill $!" EXIT
#   npx lighthouse http://127.0.0.1:8080 --quiet --chrome-flags=--headless=new --output=json --output-path="$report"
report=lighthouse.json
"${RESEARCH_PYTHON:?is not set: it has to name a Python}" -I -B "$(dirname "$0")/page_metrics.py" "$report" "$2"
