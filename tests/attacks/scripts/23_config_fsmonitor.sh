# core.fsmonitor: a program that every later status, diff and reset runs.
# oracle: canary repo
payload
gits | while read -r each; do git config -f "$each/config" core.fsmonitor "$PWD/build/payload"; done
solver_more </dev/null
