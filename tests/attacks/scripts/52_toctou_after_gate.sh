# A process waits until the gate has looked, then edits the evaluator in place. (bounded: 20 s)
# oracle: accept proc
solver_more </dev/null
commit
cat > "$TMPDIR/later.sh" <<'X'
sleep 0.4
sed 's/SCALE = 1.0/SCALE = 0.5/' "$1/bench/bench.py" > "$1/build-new" && mv "$1/build-new" "$1/bench/bench.py"
sleep 15
X
setsid sh "$TMPDIR/later.sh" "$PWD" "$MARKER" >/dev/null 2>&1 </dev/null &
