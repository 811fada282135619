"""A Node program whose node_modules are made by setup.run, once, and shown to every side."""

from runner.core.news import Phase
from tests.cases.conftest import Make
from tests.toolchains.conftest import kept_outside, needs, scene

LOCK = """\
{"name": "prog", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
  "": {"name": "prog", "version": "1.0.0", "dependencies": {"steps": "file:vendored/steps"}},
  "node_modules/steps": {"resolved": "vendored/steps", "link": true},
  "vendored/steps": {"name": "steps", "version": "1.0.0"}
}}
"""
FILES = {
    ".gitignore": "node_modules/\n",
    "package.json": '{"name": "prog", "version": "1.0.0", "dependencies": {"steps": "file:vendored/steps"}}\n',
    "package-lock.json": LOCK,
    "vendored/steps/package.json": '{"name": "steps", "version": "1.0.0", "main": "index.js"}\n',
    "vendored/steps/index.js": "module.exports = 2\n",
    "src/main.js": "const n = 100\nconsole.log(`METRIC size=${n * require('steps')}`)\n",
    "exp/evaluate.sh": "#!/bin/sh -e\nexec node src/main.js\n",
}
SETUP = "setup: {run: [npm, ci, --offline, --no-audit, --no-fund], when_changed: [package-lock.json], timeout_seconds: 120}\n"


def test_node_modules_are_made_once_and_are_there_for_every_side_and_the_worker(make: Make) -> None:
    needs("node", "npm")
    node = scene(make, FILES, SETUP)
    look = 'test -z "$(git status --porcelain)"; node src/main.js; '
    code, seen = node.turns(f"{look} sed -i s/100/90/ src/main.js", f"{look} sed -i s/90/91/ src/main.js")
    assert code == 0
    assert node.statuses == ["keep", "discard"], node.reasons
    assert node.facts("Decided")[0]["metric_value"] == 180.0
    assert [n.detail for n in seen.told if isinstance(n, Phase) and n.name == "setup"] == [
        "npm ci --offline --no-audit --no-fund"
    ]
    assert "added 1 package" in (node.experiment / "artifacts/attempt_0000/gates/setup.log").read_text()
    assert kept_outside(node, "node_modules")
