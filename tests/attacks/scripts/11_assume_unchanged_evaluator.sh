# The same with assume-unchanged.
# oracle: accept
sed -i 's/SCALE = 1.0/SCALE = 0.5/' bench/bench.py
git update-index --assume-unchanged bench/bench.py
solver_more </dev/null
