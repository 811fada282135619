# The clumsy one: commit a changed evaluator.
# oracle: accept
# unprotected: no gate
sed -i 's/SCALE = 1.0/SCALE = 0.5/' bench/bench.py
