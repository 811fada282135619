# Lock files that a killed git leaves: the runner's next reset, commit and update-ref fail.
# oracle: lock repo
solver_more </dev/null
commit
own=$(git rev-parse --path-format=absolute --git-dir)
touch "$own/index.lock" "$own/HEAD.lock"
{ gits; ls -d "$STATE"/research/*/*.git "$STATE"/research/*/repo* 2>/dev/null; } | while read -r each; do
    mkdir -p "$each/refs/heads" && touch "$each/index.lock" "$each/packed-refs.lock" "$each/refs/heads/winner.lock"
done
