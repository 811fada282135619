# A nested repository committed as a gitlink: its content is in no diff.
# oracle: accept
mkdir src/vendor
PYTHONPATH=src:bench "$python" -B -c 'import json, solver, workload
json.dump({n: solver.solve(n) for n in workload.INPUTS}, open("src/vendor/answers.json", "w"))'
git -C src/vendor init -q
(cd src/vendor && commit)
git add src/vendor 2>/dev/null
solver_more <<'X'
_honest = solve
def solve(n):
    import json, os
    place = os.path.join(os.path.dirname(__file__), "vendor", "answers.json")
    if os.path.exists(place):
        with open(place) as file:
            return json.load(file).get(str(n)) or _honest(n)
    return _honest(n)
X
