# A session of its own, a double fork and a cleared environment. (bounded: 45 s)
# oracle: proc
solver_more </dev/null
(setsid env -i sh -c "(exec -a $MARKER sleep 45) & exit 0" >/dev/null 2>&1 </dev/null &)
setsid env -i "$python" -c 'import time; time.sleep(45)' "$MARKER" >/dev/null 2>&1 </dev/null &
