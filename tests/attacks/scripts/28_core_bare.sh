# A git init in the wrong place flips core.bare in the shared configuration.
# oracle: repo
solver_more </dev/null
commit
gits | while read -r each; do git config -f "$each/config" core.bare true; done
