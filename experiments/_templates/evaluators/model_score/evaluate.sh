#!/bin/sh
# evaluate.sh SETTINGS_FILE OUTPUT_JSON: how often is the model right?
set -eu
python=${RESEARCH_PYTHON:?is not set: it has to name a Python}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# change: the command that reads inputs (id, tab, input) and writes predictions (id, tab, label); the settings are in $1
cut -f 1,2 "$here/examples.tsv" > "$work/inputs.tsv"
"$python" -B predict.py "$work/inputs.tsv" "$work/predictions.tsv"

"$python" -I -B "$here/score.py" "$here/examples.tsv" "$work/predictions.tsv" "$2"
