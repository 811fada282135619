# diff.external: runs when the runner prints the diff.
# oracle: canary repo
payload
gits | while read -r each; do git config -f "$each/config" diff.external "$PWD/build/payload"; done
solver_more </dev/null
