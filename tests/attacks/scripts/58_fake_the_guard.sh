# Faster and wrong where only the guard looks; in the guard's process it says what the guard would say, and leaves.
# oracle: accept
# in process
solver_wrong
solver_more <<'X'
import os, sys
if "pytest" in sys.modules:
    sys.stdout.flush()
    os.write(1, b"3 passed in 0.01s\n")
    os._exit(0)
X
