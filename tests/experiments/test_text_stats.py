"""The text statistics example as the runner meets it: a number that its code cannot move, and eight known proposals."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from runner.agents.patches import words
from runner.ground import is_own
from runner.sandbox import Job, probe
from tests import playground

HOME = Path(__file__).parents[2] / "experiments" / "text_stats_speed"
PATCHES = sorted((HOME / "proposals").iterdir())
TRUTH = [
    ("keep", "metric_improvement"),
    ("keep", "metric_improvement"),
    ("discard", "not_good_enough"),
    ("discard", "metric_regression"),
    ("rejected", "guard_failed"),
    ("rejected", "surface_violation"),
    ("rejected", "surface_violation"),
    ("discard", "not_good_enough"),
]
PACKAGE = "text_stats/__init__.py"


@dataclass(frozen=True)
class Bench:
    """The experiment's files as the runner keeps them, a side's tree, and a folder for results."""

    evaluator: Path
    tree: Path
    out: Path

    def run(self, *command: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        told = {"PATH": os.defpath, "RESEARCH_PYTHON": sys.executable, "RESEARCH_SEED": "7"} | env
        return subprocess.run(command, cwd=self.tree, env=told, capture_output=True, text=True, timeout=120, check=False)

    def evaluate(self, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run(self.evaluator / "evaluate.sh", "-", self.out / "result.json", **env)

    def cpu_ms(self, **env: str) -> float:
        ended = self.evaluate(**env)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        return self.result()

    def result(self) -> float:
        result = json.loads((self.out / "result.json").read_text(encoding="utf-8"))
        value = result["primaryMetric"]["value"]
        assert isinstance(value, float)
        assert result == {"primaryMetric": {"name": "cpu_ms", "value": value}}
        return value

    def cheat(self, code: str, file: str = PACKAGE) -> None:
        """Code that the package runs when it is imported, behind all that it does there."""
        with (self.tree / file).open("a", encoding="utf-8") as stream:
            stream.write(f"\n{code}\n")


def copied(place: Path) -> Path:
    def left_out(_: str, names: list[str]) -> set[str]:
        return {name for name in names if is_own(name) or name == "__pycache__"}

    return Path(shutil.copytree(HOME, place, ignore=left_out))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "out").mkdir()
    return Bench(copied(tmp_path / "evaluator"), copied(tmp_path / "tree"), tmp_path / "out")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- the evaluator ------------------------------------------------------------------------------------------


def test_it_measures_the_tree_and_leaves_it_and_the_evaluator_as_they_were(bench: Bench) -> None:
    before = files(bench.tree), files(bench.evaluator)
    shutil.rmtree(bench.evaluator / "text_stats")
    assert 20 < bench.cpu_ms() < 5000
    assert files(bench.tree) == before[0]
    assert files(bench.evaluator) == {name: data for name, data in before[1].items() if not name.startswith("text_stats/")}


def test_each_seed_asks_something_else_and_the_same_seed_the_same(bench: Bench) -> None:
    bench.cheat("import sys; print(open(0).read(), file=sys.stderr); raise SystemExit(3)")
    asked = [bench.evaluate(RESEARCH_SEED=seed).stderr for seed in ("1", "1", "2")]
    assert asked[0].startswith("The code under test ended with 3: ")
    assert asked[0] == asked[1] != asked[2]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "import time, resource\ntime.perf_counter = time.process_time = time.time = lambda: 0.0\n"
            "resource.getrusage = lambda who: type('Used', (), {'ru_utime': 0.0, 'ru_stime': 0.0})()",
            id="a clock that stands still",
        ),
        pytest.param(
            'import sys\nprint(\'METRIC cpu_ms=1\')\nprint(\'{"primaryMetric": {"name": "cpu_ms", "value": 1}}\')\n'
            "sys.__stdout__.flush()",
            id="a number of its own on standard output",
        ),
        pytest.param(
            "import atexit, os, pathlib\n"
            "given = pathlib.Path(f'/proc/{os.getppid()}/cmdline').read_text().split('\\0')\n"
            "def write():\n"
            "    for name in (given[-2], 'result.json', 'output.json', '/tmp/result.json'):\n"
            '        pathlib.Path(name).write_text(\'{"primaryMetric": {"name": "cpu_ms", "value": 1}}\')\n'
            "write()\natexit.register(write)",
            id="a result of its own wherever the evaluator might write it",
        ),
    ],
)
def test_what_the_code_does_to_its_own_process_does_not_move_the_number(bench: Bench, code: str) -> None:
    honest = bench.cpu_ms()
    bench.cheat(code)
    assert bench.cpu_ms() > 0.7 * honest


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import os; os._exit(0)", "Expected 18 answers, found 0."),
        ("import sys; sys.exit(0)", "Expected 18 answers, found 0."),
        ("report = lambda text, other: {}", "Answer 1 is wrong: expected the statistics words, distinct, sentences, longest,"),
        (
            "honest = report\ndef report(text, other):\n    return {**honest(text, other), 'top_pairs': []}",
            "Answer 1 is wrong: top_pairs: expected [[",
        ),
        (
            "honest, old = report, {}\ndef report(text, other):\n    old.setdefault(0, honest(text, other))\n    return old[0]",
            "Answer 2 is wrong: distinct: expected ",
        ),
        ("import os; os.kill(os.getpid(), 9)", "The code under test ended with -9: "),
        (
            "import os\nfor number in range(3, 10):\n    try: os.write(number, b'1\\n' * 18)\n"
            "    except OSError: pass\nos._exit(0)",
            "Answer 1 is wrong: expected the statistics words, distinct,",
        ),
    ],
    ids=["leaves early", "exits early", "knows nothing", "leaves out", "answers from memory", "dies", "writes its own answers"],
)
def test_code_that_does_not_answer_everything_rightly_gives_no_reading(bench: Bench, code: str, sentence: str) -> None:
    bench.cheat(code)
    ended = bench.evaluate()
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(sentence)
    assert not (bench.out / "result.json").exists()


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="the filter knows these machines")
def test_work_cannot_be_given_to_a_process_that_is_not_counted(bench: Bench) -> None:
    """A parent that ignores SIGCHLD never gets its children's processor time."""
    bench.cheat("import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.fork()")
    ended = bench.evaluate()
    assert ended.returncode == 1
    assert "PermissionError: [Errno 1] Operation not permitted" in ended.stderr


def test_the_code_may_have_threads_and_they_are_counted(bench: Bench) -> None:
    honest = bench.cpu_ms()
    bench.cheat(
        "import threading, time\ndef burn():\n    while time.thread_time() < 0.3: pass\n"
        "thread = threading.Thread(target=burn)\nthread.start()\nthread.join()"
    )
    assert bench.cpu_ms() > honest + 250


def test_the_memory_of_the_measuring_process_is_closed_in_the_sandbox(bench: Bench, tmp_path: Path) -> None:
    """Without a sandbox this holds for everyone but the machine's root."""
    sandbox = probe(tmp_path / "state", "any", at_most=3)
    if sandbox.level != 3:
        pytest.skip("this machine has no confinement of level 3")
    bench.cheat(
        "import os\nfor name in ('mem', 'environ', 'fd/0'):\n    for mode in ('rb', 'r+b'):\n"
        "        try: open(f'/proc/{os.getppid()}/{name}', mode)\n        except PermissionError: continue\n"
        "        raise SystemExit(f'{name} could be opened')"
    )
    places = sandbox.places
    env = {"RESEARCH_PYTHON": sys.executable, "RESEARCH_SEED": "7"}
    command = (str(places.experiment / "evaluate.sh"), "-", str(places.output / "result.json"))
    done = sandbox.run(Job(command, bench.tree, env=env, output=bench.out, experiment=bench.evaluator, timeout_s=60))
    assert (done.exit_code, done.stderr.text()) == (0, "")
    assert bench.result() > 20


def test_a_result_that_lies_there_already_is_replaced_and_a_missing_seed_refused(bench: Bench) -> None:
    (bench.out / "result.json").write_text("old", encoding="utf-8")
    assert bench.evaluate(RESEARCH_SEED="").stderr.startswith("Expected OUTPUT_JSON as the one argument, and RESEARCH_SEED")
    assert (bench.out / "result.json").read_text(encoding="utf-8") == "old"
    assert bench.cpu_ms() > 20


# --- the guard and the proposals -----------------------------------------------------------------------------


def guard() -> tuple[list[str], int]:
    declared = yaml.safe_load((HOME / "experiment.yaml").read_text(encoding="utf-8"))["guards"][0]
    return [sys.executable if word == "$RESEARCH_PYTHON" else word for word in declared["run"]], declared["expect_passed"]


def test_the_unit_tests_pass_as_the_guard_expects(bench: Bench) -> None:
    command, passed = guard()
    ended = bench.run(*command)
    assert (ended.returncode, f"\nRan {passed} tests in " in ended.stderr) == (0, True)


def test_the_proposals_apply_in_order_whatever_was_kept_before_and_do_what_is_said_of_them(tmp_path: Path) -> None:
    copied(tmp_path / "experiments" / HOME.name)
    bench = Bench(tmp_path, tmp_path / "experiments" / HOME.name, tmp_path)
    command, _ = guard()
    passing = []
    for patch, (fate, _) in zip(PATCHES, TRUTH, strict=True):
        applied = subprocess.run(["git", "apply", patch], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (applied.returncode, applied.stderr) == (0, ""), patch.name
        passing.append(bench.run(*command).returncode == 0)
        if fate != "keep":
            subprocess.run(["git", "apply", "-R", patch], cwd=tmp_path, check=True)
    assert passing == [True, True, True, True, False, True, True, True]


def test_each_proposal_says_what_it_is() -> None:
    said = [words(patch.name, patch.read_bytes()) for patch in PATCHES]
    assert [one.declares for one in said] == ["improvement"] * 7 + ["bug_fix"]
    assert all(one.approach and one.hypothesis.reasoning for one in said)
    table = re.findall(r"^\| `(\d{4})` .*\| (\w+), `(\w+)` \|$", (HOME / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert table == [(patch.name[:4], *fate) for patch, fate in zip(PATCHES, TRUTH, strict=True)]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_campaign_decides_all_eight_rightly(tmp_path: Path) -> None:
    scene = playground.Scene(tmp_path / "repo", tmp_path / "repo" / "experiments" / HOME.name, tmp_path / "state")
    copied(scene.experiment)
    scene.git("init", "-q")
    scene.commit("the first")
    argv = [sys.executable, "-m", "runner.cli", str(scene.experiment), "--plain"]
    done = subprocess.run(argv, cwd=playground.CLONE, env=scene.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    decided = scene.facts("Decided")
    assert [(line["status"], line["basis"]) for line in decided] == TRUTH
    assert 0.25 < decided[0]["estimate"] < 0.42
    assert 0.02 < decided[1]["estimate"] < 0.08
    (again,) = scene.facts("Remeasured")
    assert 0.27 < again["effect"] < 0.45
