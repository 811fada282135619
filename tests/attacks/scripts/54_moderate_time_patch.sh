# As 01, but only 1.6 times.
# oracle: accept
# in process
solver_more <<'X'
import time as _time
_real, _begin = _time.process_time, _time.process_time()
_time.process_time = lambda: _begin + (_real() - _begin) / 1.6
X
