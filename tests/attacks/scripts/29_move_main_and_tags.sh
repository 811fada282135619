# Refs are shared: move main, drop a tag.
# oracle: repo
solver_more </dev/null
commit
here=$(git rev-parse HEAD)
gits | while read -r each; do
    git --git-dir="$each" update-ref refs/heads/main "$here" || echo "$here" > "$each/refs/heads/main"
    git --git-dir="$each" tag -d v1
done
