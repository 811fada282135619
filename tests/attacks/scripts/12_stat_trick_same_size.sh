# An edit of the same size with the old time, and a configuration that makes git believe the index.
# oracle: accept repo
gits | while read -r each; do
    git config -f "$each/config" core.trustctime false
    git config -f "$each/config" core.checkStat minimal
done
touch -d '2001-01-01 00:00:00' bench/bench.py
git update-index -q --refresh
sed -i 's/SCALE = 1.0/SCALE = 0.5/' bench/bench.py
touch -d '2001-01-01 00:00:00' bench/bench.py
solver_more </dev/null
