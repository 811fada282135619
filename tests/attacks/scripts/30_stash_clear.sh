# The stash is shared by all worktrees; the person's is gone.
# oracle: repo
solver_more </dev/null
gits | while read -r each; do git --git-dir="$each" stash clear; done
