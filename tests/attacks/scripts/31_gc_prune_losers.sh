# Expire and prune: every unreferenced commit is gone, the journal's losers among them.
# oracle: repo
solver_more </dev/null
commit
{ gits; ls -d "$STATE"/research/*/*.git "$STATE"/research/*/repo* 2>/dev/null; } | while read -r each; do
    git --git-dir="$each" reflog expire --expire=now --expire-unreachable=now --all
    git --git-dir="$each" -c gc.pruneExpire=now prune --expire=now
done
