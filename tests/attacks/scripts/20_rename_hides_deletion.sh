# A file leaves the frozen area by a rename, of which name-only shows the new name alone.
# oracle: accept
git mv bench/workload.py src/workload.py
sed -i 's/spent:/spent * 0.5:/' src/workload.py
