"""A C program, built by make with the system's compiler."""

from tests.cases.conftest import Make
from tests.toolchains.conftest import kept_outside, needs, scene

MAKEFILE = """\
build/prog: build/main.o
	cc -o $@ $<
build/main.o: src/main.c src/steps.h
	mkdir -p build
	cc -O1 -c -o $@ $<
"""
FILES = {
    ".gitignore": "build/\n",
    "Makefile": MAKEFILE,
    "src/steps.h": "#define STEPS 200\n",
    "src/main.c": '#include <stdio.h>\n#include "steps.h"\nint main(void) { printf("METRIC size=%d\\n", STEPS); }\n',
    "exp/evaluate.sh": "#!/bin/sh -e\nmake -q || { echo stale >&2; exit 3; }\nbuild/prog\n",
}
BUILD = "build: {run: [make], timeout_seconds: 60}\n"


def test_each_side_is_built_by_make_and_read_without_building_again(make: Make) -> None:
    needs("make", "cc")
    c = scene(make, FILES, BUILD)
    code, seen = c.turns("sed -i s/200/150/ src/steps.h", "echo 'int x = ;' >> src/main.c", "echo '/* a word */' >> src/main.c")
    assert code == 0
    assert c.statuses == ["keep", "crash", "discard"], c.reasons
    assert c.facts("Decided")[0]["metric_value"] == 150.0
    assert c.facts("Decided")[1]["basis"] == "evaluation_failed"
    assert c.reasons[1].startswith("build: exit code 2; ")
    assert "make: *** [Makefile:5: build/main.o] Error 1" in c.reasons[1]
    assert "src/main.c" in (c.experiment / "artifacts/attempt_0002/gates/build.log").read_text()
    assert c.measured(2) == 0
    said = "the build made the very same files as the incumbent's: a change without effect, or a stale build"
    assert [(k["name"], k["reason"]) for k in c.of_turn("Gated", 3)["checks"] if k["reason"]] == [("build", said)]
    assert said in seen.warnings
    assert kept_outside(c, "build")
