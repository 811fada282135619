# core.worktree in the shared configuration: the person's next reset acts on another directory.
# oracle: repo
solver_more </dev/null
commit
gits | while read -r each; do git config -f "$each/config" core.worktree "$PWD/build"; done
