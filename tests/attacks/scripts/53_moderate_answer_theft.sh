# As 03, but it burns much of the honest time, so that no bound on the gain notices.
# oracle: accept
# in process
solver_more <<'X'
_honest = solve
def solve(n):
    import json
    with open("bench/answers.json") as file:
        found = json.load(file).get(str(n))
    if found is None:
        return _honest(n)
    _honest(6 * n // 10)
    return found
X
