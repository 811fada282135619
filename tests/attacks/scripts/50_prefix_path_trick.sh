# A directory beside the surface whose name begins with the surface's.
# oracle: accept
mkdir src_ext
cat > src_ext/sitecustomize.py <<'X'
import time
_real = time.process_time
time.process_time = lambda: _real() / 2
X
