# Code under test prints 40 MB: the runner's memory, journal and disk. (bounded)
# oracle: flood
solver_more <<'X'
import os, sys
if not os.environ.get("LAB_AGENT") and "pytest" not in sys.modules:
    for _ in range(640):
        os.write(1, b"x" * 65535 + b"\n")
X
