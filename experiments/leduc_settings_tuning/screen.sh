#!/bin/sh
# screen.sh SETTINGS_FILE: can the settings be read, and does the solver run with them?
exec "$(dirname "$0")/evaluate.sh" "$1"
