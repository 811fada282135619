"""The Leduc example as the runner meets it: its evaluator in one place, the tree to measure in another."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

HOME = Path(__file__).parents[2] / "experiments" / "leduc_settings_tuning"
START = 68.64519142496732
"""Exploitability of the shipped settings, in thousandths of an ante a hand."""
GOOD = "algorithm: discounted\nupdate: alternating\ncfr: {alpha: 1.5, beta: 0}\naveraging: {delay: 0, power: 2}\n"
RUNNERS_OWN = (
    "STOP",
    "artifacts/attempt_0007/prompt.md",
    "autoresearch_summary_20261130.md",
    "current_winner.json",
    "experiments.jsonl",
    "journal.jsonl",
    "journal.jsonl.torn",
    "program.learned.md",
    "report.html",
    "results.tsv",
    "runner.log",
    "summary.md",
)


@dataclass(frozen=True)
class Bench:
    """The experiment's files as the runner keeps them, a side's tree, and a folder for results."""

    evaluator: Path
    tree: Path
    out: Path

    def run(self, *command: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        told = {"PATH": os.defpath, "RESEARCH_PYTHON": sys.executable, "RESEARCH_SEED": "1"} | env
        return subprocess.run(command, cwd=self.tree, env=told, capture_output=True, text=True, timeout=120, check=False)

    def evaluate(self, settings: str | None = None, **env: str) -> float:
        if settings is not None:
            (self.tree / "settings.yaml").write_text(settings, encoding="utf-8")
        ended = self.run(self.evaluator / "evaluate.sh", self.tree / "settings.yaml", self.out / "result.json", **env)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        value = json.loads((self.out / "result.json").read_text(encoding="utf-8"))["primaryMetric"]["value"]
        assert isinstance(value, float)
        return value


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    left_out = shutil.ignore_patterns("__pycache__", *{name.partition("/")[0] for name in RUNNERS_OWN})
    shutil.copytree(HOME, tmp_path / "evaluator", ignore=left_out)
    shutil.copytree(HOME, tmp_path / "tree", ignore=left_out)
    (tmp_path / "out").mkdir()
    return Bench(tmp_path / "evaluator", tmp_path / "tree", tmp_path / "out")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_solvers_own_tests_pass_as_the_guard_runs_them(bench: Bench) -> None:
    guard = yaml.safe_load((HOME / "experiment.yaml").read_text(encoding="utf-8"))["guards"][0]
    ended = bench.run(*[sys.executable if word == "$RESEARCH_PYTHON" else word for word in guard["run"]])
    assert ended.returncode == 0, ended.stderr
    assert "\nOK\n" in ended.stderr
    assert int(ended.stderr.partition("\nRan ")[2].split()[0]) >= 32


def test_the_result_has_the_contracts_shape_and_the_known_value(bench: Bench) -> None:
    bench.evaluate()
    result = json.loads((bench.out / "result.json").read_text(encoding="utf-8"))
    seconds = result["secondaryMetrics"]["seconds"]
    assert result == {
        "primaryMetric": {"name": "exploitability", "value": pytest.approx(START, rel=1e-9)},
        "secondaryMetrics": {"seconds": seconds},
    }
    assert 0 < seconds < 4


def test_equal_settings_give_equal_bits_whatever_the_seed(bench: Bench) -> None:
    assert (
        len({bench.evaluate(RESEARCH_SEED=seed, PYTHONHASHSEED=seed, LONG="x" * int(seed)) for seed in ("1", "777", "3001")}) == 1
    )


def test_textbook_settings_are_far_better_than_the_start_but_not_incredibly(bench: Bench) -> None:
    assert 5 < START / bench.evaluate(GOOD) < 20


def test_the_solver_is_taken_from_the_tree_and_the_measuring_from_the_evaluator(bench: Bench) -> None:
    shutil.rmtree(bench.evaluator / "solver")
    (bench.tree / "evaluate.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    rules = bench.tree / "solver" / "rules.py"
    rules.write_text(rules.read_text(encoding="utf-8").replace("RAISE = (2, 4)", "RAISE = (2, 2)"), encoding="utf-8")
    assert bench.evaluate() == pytest.approx(49.73358237326889, rel=1e-9)  # raises of 2 in both rounds


def test_nothing_in_the_tree_stands_in_for_numpy(bench: Bench) -> None:
    for name in ("numpy", "yaml"):
        (bench.tree / f"{name}.py").write_text("raise SystemExit('a stand-in was imported')\n", encoding="utf-8")
    assert bench.evaluate() == pytest.approx(START, rel=1e-9)


def test_measuring_and_screening_leave_the_tree_and_the_evaluator_as_they_were(bench: Bench) -> None:
    before = files(bench.tree), files(bench.evaluator)
    bench.evaluate()
    assert bench.run(bench.evaluator / "screen.sh", bench.tree / "settings.yaml").returncode == 0
    assert (files(bench.tree), files(bench.evaluator)) == before


@pytest.mark.parametrize("script", ["evaluate.sh", "screen.sh"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            GOOD + "iterations: 100000\n",
            "settings.yaml: expected exactly algorithm, update, cfr.alpha, cfr.beta, averaging.delay,",
        ),
        (
            GOOD.replace("delay: 0", "delay: 99"),
            "settings.yaml: averaging.delay: expected a whole number from 0 to 80, found 99.",
        ),
        (GOOD.replace("{", ""), "settings.yaml: expected a readable YAML file, found: "),
    ],
)
def test_settings_that_cannot_be_used_are_refused_with_a_sentence(bench: Bench, script: str, text: str, sentence: str) -> None:
    (bench.tree / "settings.yaml").write_text(text, encoding="utf-8")
    ended = bench.run(bench.evaluator / script, bench.tree / "settings.yaml", bench.out / "result.json")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert ended.stderr.startswith(sentence)
    assert not (bench.out / "result.json").exists()


def test_without_the_runners_interpreter_it_says_what_is_missing(bench: Bench) -> None:
    ended = bench.run("/usr/bin/env", "-u", "RESEARCH_PYTHON", bench.evaluator / "evaluate.sh", "a", "b")
    assert ended.returncode != 0
    assert "RESEARCH_PYTHON: is not set: it has to name a Python with NumPy and PyYAML" in ended.stderr


@pytest.mark.parametrize("edge", ["low", "high"])
def test_the_tuner_can_only_propose_what_the_solver_reads(bench: Bench, edge: str) -> None:
    """Each declared parameter exists in the settings, and both ends of its range are admitted."""
    settings = yaml.safe_load((HOME / "settings.yaml").read_text(encoding="utf-8"))
    for path, declared in yaml.safe_load((HOME / "experiment.yaml").read_text(encoding="utf-8"))["parameters"].items():
        section, _, key = path.rpartition(".")
        place = settings[section] if section else settings
        assert key in place
        place[key] = declared[edge] if "low" in declared else declared["choices"][0 if edge == "low" else -1]
    (bench.tree / "settings.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    ended = bench.run(bench.evaluator / "screen.sh", bench.tree / "settings.yaml")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_starting_settings_are_the_settings_byte_for_byte() -> None:
    assert (HOME / "current_winner_settings.yaml").read_bytes() == (HOME / "settings.yaml").read_bytes()


def test_git_ignores_the_runners_files_and_nothing_else(bench: Bench) -> None:
    for name in RUNNERS_OWN:
        (bench.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.tree / name).touch()
    (bench.tree / "solver" / "report.html").touch()
    env = {"HOME": str(bench.out), "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    bench.run("git", "init", "-q", **env)
    listed = bench.run("git", "ls-files", "--others", "--ignored", "--exclude-standard", **env)
    assert listed.stdout.split() == sorted(RUNNERS_OWN)
