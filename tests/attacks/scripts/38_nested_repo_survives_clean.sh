# An untracked nested repository, which a clean with one -f passes over: state for the next turn.
# oracle: left
mkdir nested-left
git -C nested-left init -q
echo left > nested-left/left
solver_more </dev/null
untracked=nested-left
