# A past loser becomes accepted in the journal.
# oracle: repo
solver_more </dev/null
[ -e "$JOURNAL" ] && sed -i 's/"discard"/"keep"/g; s/"rejected"/"keep"/g; s/"no_change"/"keep"/g' "$JOURNAL"
