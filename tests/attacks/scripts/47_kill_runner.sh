# Code under test kills a process of the runner (the lab's dummy, by its number; nothing else).
# oracle: victim
solver_more <<X
import os, signal
if not os.environ.get("LAB_AGENT"):
    try:
        with open("/proc/$VICTIM/cmdline", "rb") as _file:
            if b"sleep" in _file.read():
                os.kill($VICTIM, signal.SIGKILL)
    except OSError:
        pass
X
