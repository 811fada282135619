# A daemon that the agent leaves stops the incumbent's runs for moments. (bounded: 25 s)
# oracle: accept proc
solver_more </dev/null
commit
cat > build-daemon.py <<'X'
import os, signal, sys, time
end = time.monotonic() + 25
while time.monotonic() < end:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            here = os.readlink(f"/proc/{pid}/cwd")
            if here == sys.argv[2] and int(pid) != os.getpid():
                for _ in range(9):
                    os.kill(int(pid), signal.SIGSTOP)
                    time.sleep(0.02)
                    os.kill(int(pid), signal.SIGCONT)
                    time.sleep(0.005)
        except OSError:
            pass
    time.sleep(0.01)
X
mv build-daemon.py "$TMPDIR/daemon.py"
for each in $BESIDE; do
    setsid "$python" "$TMPDIR/daemon.py" "$MARKER" "$each" >/dev/null 2>&1 </dev/null &
done
