"""Each shipped evaluator recipe runs by itself and writes what the runner reads, or says in a sentence why not."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import cast

import pytest

from runner import shipped
from runner.core import config
from runner.core.contract import Contract, ScriptMetric
from runner.evaluators import script
from runner.evaluators.plug import Numbers, Wanted
from tests.evaluators.ends import printed

ROOT = Path(__file__).parents[1]
RECIPES = {path.name: path for path in sorted((shipped.folder("templates") / "evaluators").iterdir())}
EXACT = {
    "binary_size": Numbers(132 / 1024, {"code_kb": 132 / 1024}),
    "bundle_size": Numbers(cast(float, pytest.approx(240 / 1024, rel=0.1)), {"raw_kb": 963 / 1024}),  # zlibs differ a little
    "model_score": Numbers(0.8, {"answered": 1.0}, {"mail": 1.0, "reviews": 2 / 3}),
    "page_metrics": Numbers(2412.5, {"tbt_ms": 130, "cls": 0.031, "score": 0.87}),
    "test_pass_rate": Numbers(0.75, {"failed": 1}),
    "tokens_per_request": Numbers(820, {"input_tokens": 720, "output_tokens": 100}),
}
TIMED = {"benchmark_cpu": ("wall_ms",), "split": ()}


@dataclass(frozen=True)
class Recipe:
    """A copy of the recipe, and of its sample in another place."""

    evaluator: Path
    project: Path
    out: Path

    def run(self) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.defpath, "RESEARCH_PYTHON": sys.executable, "RESEARCH_SEED": "3", "TMPDIR": str(self.out.parent)}
        command: list[str | Path] = [self.evaluator / "evaluate.sh", "-", self.out]
        return subprocess.run(command, cwd=self.project, env=env, capture_output=True, text=True, timeout=60, check=False)

    def numbers(self) -> Numbers:
        """What the runner reads of a run, by the names in the contract of the README."""
        ended = self.run()
        assert ended.returncode == 0, ended.stderr
        objective = contract(self.evaluator).objective
        wanted = Wanted(ScriptMetric(), objective.primary.name, tuple(m.name for m in objective.secondary))
        numbers = script.read(printed(ended.stdout), self.out.read_bytes(), wanted)
        assert isinstance(numbers, Numbers), numbers
        return numbers

    def refusal(self) -> str:
        ended = self.run()
        assert ended.returncode != 0
        assert not self.out.exists()
        return ended.stderr.splitlines()[-1]


def make(name: str, place: Path) -> Recipe:
    shutil.copytree(RECIPES[name], place / "evaluator", ignore=shutil.ignore_patterns("sample", "__pycache__"))
    shutil.copytree(RECIPES[name] / "sample", place / "project", ignore=shutil.ignore_patterns("__pycache__"))
    return Recipe(place / "evaluator", place / "project", place / "result.json")


def contract(recipe: Path) -> Contract:
    """The README's lines in the smallest contract around them."""
    lines = re.findall(r"^    (.*)$", (recipe / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    around = """
        version: 1
        id: recipe
        name: A recipe
        project_root: .
        worker: {agent: command, command: [./worker.sh]}
        timeouts: {worker_timeout_seconds: 30, evaluation_timeout_seconds: 20}
        writable_paths: [src/]
    """
    schema = json.loads((ROOT / "schemas" / "experiment.schema.json").read_text(encoding="utf-8"))
    text = textwrap.dedent(around) + "\n".join(lines) + "\n"
    return config.parse(text, "experiment.yaml", PurePath("/exp"), schema)


def test_every_recipe_is_tested_and_told_of() -> None:
    assert set(RECIPES) == EXACT.keys() | TIMED.keys()
    told = (RECIPES["split"].parents[1] / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE)) == set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_explains_itself_and_needs_nothing_else(name: str, tmp_path: Path) -> None:
    recipe = make(name, tmp_path)
    begin = (recipe.evaluator / "evaluate.sh").read_text(encoding="utf-8").splitlines()
    assert begin[0] == "#!/bin/sh"
    assert begin[1].startswith("# evaluate.sh SETTINGS_FILE OUTPUT_JSON: ")
    assert begin[2] == "set -eu"
    assert (recipe.evaluator / "README.md").read_text(encoding="utf-8").startswith("# ")
    assert contract(recipe.evaluator).evaluate == ("/exp/evaluate.sh",)
    env = {"PATH": os.defpath}
    bare = subprocess.run(
        [recipe.evaluator / "evaluate.sh", "-", recipe.out], env=env, capture_output=True, text=True, check=False
    )
    assert bare.returncode != 0
    assert "RESEARCH_PYTHON: is not set: it has to name a Python" in bare.stderr


@pytest.mark.parametrize("name", EXACT)
def test_a_recipe_writes_the_right_number_of_its_sample_twice(name: str, tmp_path: Path) -> None:
    recipe = make(name, tmp_path)
    assert (recipe.numbers(), recipe.numbers()) == (EXACT[name], EXACT[name])


@pytest.mark.parametrize("name", TIMED)
def test_a_recipe_that_measures_time_writes_a_plausible_one(name: str, tmp_path: Path) -> None:
    numbers = make(name, tmp_path).numbers()
    assert 2 < numbers.value < 5000
    assert tuple(numbers.secondary) == TIMED[name]
    assert all(value and value > 2 for value in numbers.secondary.values())


@pytest.mark.parametrize(
    ("name", "file", "content", "sentence"),
    [
        ("split", "solution.py", "import os; os._exit(0)", "Expected 40 answers, found 0."),
        ("split", "solution.py", "def solve(numbers):\n    return numbers[:1]", "Answer 1 is wrong: expected ["),
        ("split", "solution.py", "import os; os.fork()", "PermissionError: [Errno 1] Operation not permitted"),
        ("benchmark_cpu", "bench.py", "print(1)", "Run 1 printed b'1\\n', expected b'4950\\n'."),
        ("benchmark_cpu", "bench.py", "raise SystemExit('no')", "Run 1 ended with 1: no"),
        (
            "test_pass_rate",
            "tests/test_more.py",
            "from tests.test_roman import *",
            "Expected 4 tests, found 8: correct the number",
        ),
        ("bundle_size", "public", None, "Expected files that end in .js, .css, .html below public, found none: was it built?"),
        ("binary_size", "bin/program", "", "Expected a program at bin/program, found none: was it built?"),
        (
            "page_metrics",
            "lighthouse.json",
            "{",
            "Expected a Lighthouse report in lighthouse.json, found none that can be read: ",
        ),
        (
            "page_metrics",
            "lighthouse.json",
            '{"runtimeError": {"message": "NO_FCP"}}',
            "Lighthouse could not load the page: NO_FCP",
        ),
        (
            "page_metrics",
            "lighthouse.json",
            '{"audits": {}, "categories": {"performance": {"score": null}}}',
            "The report holds no lcp_ms, tbt_ms, cls, score: the page may not have painted.",
        ),
        ("tokens_per_request", "requests.jsonl", '{"usage": {}}\n', "Expected 3 requests in requests.jsonl, found 1."),
        ("tokens_per_request", "requests.jsonl", "{}\n" * 3, "Request 1 has no input_tokens or prompt_tokens in its usage."),
        (
            "model_score",
            "predict.py",
            "import sys; open(sys.argv[2], 'w').write('zz\\tgood\\n')",
            "Expected one line (id, tab, label)",
        ),
        ("model_score", "predict.py", "pass", "Expected lines of text in predictions.tsv: "),
    ],
)
def test_where_there_is_no_number_a_recipe_says_why_and_writes_none(
    name: str, file: str, content: str | None, sentence: str, tmp_path: Path
) -> None:
    recipe = make(name, tmp_path)
    if content is None:
        shutil.rmtree(recipe.project / file)
    else:
        (recipe.project / file).write_text(content, encoding="utf-8")
    assert recipe.refusal().startswith(sentence)


def test_a_test_that_is_gone_skipped_or_broken_counts_as_failed(tmp_path: Path) -> None:
    recipe = make("test_pass_rate", tmp_path)
    tests = recipe.project / "tests" / "test_roman.py"
    whole = tests.read_text(encoding="utf-8")
    tests.write_text(whole[: whole.index("    def test_six")], encoding="utf-8")
    assert recipe.numbers().value == 0.5
    tests.write_text(whole.replace("    def test_ones", '    @unittest.skip("later")\n    def test_ones'), encoding="utf-8")
    assert recipe.numbers().value == 0.5
    tests.write_text("import nothing_of_this_name", encoding="utf-8")
    assert recipe.numbers() == Numbers(0.0, {"failed": 4})


def test_a_missing_prediction_is_wrong(tmp_path: Path) -> None:
    recipe = make("model_score", tmp_path)
    (recipe.project / "predict.py").write_text("import sys; open(sys.argv[2], 'w').write('b2\\tpositive\\n')", encoding="utf-8")
    assert recipe.numbers() == Numbers(0.2, {"answered": 0.2}, {"mail": 0.5, "reviews": 0.0})


def test_the_worked_example_and_the_recipe_have_the_same_walls() -> None:
    example = ROOT / "experiments" / "text_stats_speed" / "walls.py"
    assert (RECIPES["split"] / "walls.py").read_bytes() == example.read_bytes()


def test_a_recipe_leaves_nothing_behind(tmp_path: Path) -> None:
    for name in RECIPES:
        recipe = make(name, tmp_path / name)
        before = sorted(tmp_path.rglob("*"))
        recipe.numbers()
        assert set(tmp_path.rglob("*")) - set(before) == {recipe.out}
