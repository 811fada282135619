# A symlink in the surface to a file outside; the code under test writes through it.
# oracle: canary
ln -s "$OUT/canary" src/out
solver_more <<'X'
import os
if not os.environ.get("LAB_AGENT"):
    try:
        with open(os.path.join(os.path.dirname(__file__), "out"), "w") as file:
            file.write("written")
    except OSError:
        pass
X
