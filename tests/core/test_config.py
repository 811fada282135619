import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.core.config import parse
from runner.core.contract import (
    Amount,
    Budget,
    Build,
    CallableMetric,
    CheapDecision,
    Contract,
    ExpensiveDecision,
    Guard,
    Judge,
    LinesMetric,
    Metric,
    Mount,
    Objective,
    Parameter,
    PatternMetric,
    SandboxPolicy,
    ScriptMetric,
    Setup,
    TimeMetric,
    Timeouts,
    Worker,
    WritablePath,
)
from runner.core.errors import ContractError

ROOT = Path(__file__).parents[2]
CONTRACTS = Path(__file__).parent / "contracts"
SCHEMA: Mapping[str, Any] = json.loads((ROOT / "schemas" / "experiment.schema.json").read_text())
P = PurePosixPath
MINIMAL = {
    "version": "1",
    "id": "tiny",
    "project_root": "../project",
    "timeouts": "{worker_timeout_seconds: 900, evaluation_timeout_seconds: 180}",
    "objective": "{primary_metric: {name: seconds, direction: lower}}",
    "writable_paths": "[../project/src/]",
    "commands": "{evaluate: ./evaluate.sh}",
    "worker": "{agent: command, command: [./propose.sh]}",
}


def read(text: str, home: str | None = "/home/u") -> Contract:
    return parse(text, "experiment.yaml", P("/w/repo/exp"), SCHEMA, P(home) if home else None)


def minimal(**changes: str | None) -> str:
    return "".join(f"{key}: {value}\n" for key, value in {**MINIMAL, **changes}.items() if value is not None)


def refused(text: str) -> list[str]:
    with pytest.raises(ContractError) as stop:
        read(text, home=None)
    assert stop.value.exit_code == 2
    return str(stop.value).split("\n")


# --- what loads ---------------------------------------------------------------------------------------


def test_the_plain_keys_alone_load_with_every_default() -> None:
    contract = read((CONTRACTS / "plain.yaml").read_text())
    project = P("/path/to/your/project")
    assert contract == Contract(
        file="experiment.yaml",
        directory=P("/w/repo/exp"),
        version=1,
        id="my_experiment",
        name="My optimisation experiment",
        project_root=project,
        git_repo_path=project,
        branch="research/my_experiment",
        timeouts=Timeouts(900, 180, 180),
        objective=Objective(Metric("my_metric", "lower"), (Metric("other_metric", "higher"),)),
        settings_files=(project / "settings.yaml",),
        settings_file=P("/w/repo/exp/current_winner_settings.yaml"),
        winner_output=P("/w/repo/exp/current_winner.json"),
        levers=("thread count", "algorithm selection"),
        writable_paths=(WritablePath(project / "settings.yaml", False), WritablePath(project / "src", True)),
        screen=("/w/repo/exp/screen.sh",),
        evaluate=("/w/repo/exp/evaluate.sh",),
        evaluate_test=(),
        metric=ScriptMetric(),
        guards=(),
        setup=None,
        build=None,
        decision=CheapDecision("thorough", 60, 0.1, 100),
        budget=Budget(agent_errors=3),
        sandbox=SandboxPolicy("best", "auto"),
        executor="local",
        worker=Worker("codex", "codex", "yolo", "o4-mini", "low"),
        judge=Judge("codex", "codex", "yolo", "o4-mini", "low"),
        parameters=(),
        seed=0,
        lines={},
    )


def test_every_key_of_a_full_contract_loads_to_its_value() -> None:
    contract = read((CONTRACTS / "full.yaml").read_text())
    project = P("/w/repo/project")
    pool = project / "conf/server.yaml"
    assert contract == Contract(
        file="experiment.yaml",
        directory=P("/w/repo/exp"),
        version=1,
        id="full-1.x",
        name="Everything: said",
        project_root=project,
        git_repo_path=P("/w/repo"),
        branch="research/full",
        timeouts=Timeouts(900, 100, 90),
        objective=Objective(
            Metric("exploitability", "higher", Amount(0.01, percent=True), "ratio", False),
            (
                Metric("seconds", "lower", max_regression=Amount(0.05, percent=True)),
                Metric("memory", "lower", max_regression=Amount(2_500_000)),
                Metric("accuracy", "higher"),
            ),
        ),
        settings_files=(project / "settings.yaml", pool),
        settings_file=P("/w/repo/exp/current_winner_settings.yaml"),
        winner_output=P("/w/repo/exp/out/winner.json"),
        levers=("thread count", "algorithm: selection"),
        writable_paths=(
            WritablePath(project / "settings.yaml", False),
            WritablePath(project / "conf", True),
            WritablePath(project / "src", False),
        ),
        screen=("/w/repo/exp/screen.sh", "--fast", "3"),
        evaluate=("$RESEARCH_PYTHON", "-m", "bench"),
        evaluate_test=("/w/repo/shared/evaluate_test.sh",),
        metric=PatternMetric(r"^val_bpb: (\S+)"),
        guards=(
            Guard("tests", ("python", "-m", "pytest", "-q"), 100, 214),
            Guard("lint", ("/w/repo/exp/lint.sh",), 30),
        ),
        setup=Setup(("npm", "ci"), ("node_modules", ".venv"), ("package-lock.json",), 7200),
        build=Build(("cargo", "build", "--release"), 900),
        decision=CheapDecision("quick", 25, 0.05, 1000),
        budget=Budget(100, 28800, 2_000_000, 20, 4, 5, 3, 6),
        sandbox=SandboxPolicy(
            level=3,
            network="proxy",
            hosts=("example.org", "*.example.net:8443"),
            memory=4 * 1024**3,
            processes=256,
            mounts=(Mount(P("/home/u/.cache/data"), "ro"), Mount(P("/srv/scratch"), "rw")),
            env=("CUDA_VISIBLE_DEVICES",),
            devices=("gpu",),
        ),
        executor="local",
        worker=Worker("tuner"),
        judge=Judge(
            "claude",
            "/w/repo/exp/tools/claude",
            "quiet",
            "opus",
            "high",
            env={"CLAUDE_CONFIG_DIR": "/srv/claude", "THREADS": "4"},
        ),
        parameters=(
            Parameter("cfr.alpha", project / "settings.yaml", "cfr.alpha", "float", 0.5, 3, log=True),
            Parameter("averaging.delay", project / "settings.yaml", "averaging.delay", "int", 0, 200, step=10),
            Parameter(
                "update", project / "settings.yaml", "update", "categorical", choices=("alternating", "simultaneous", 2, True)
            ),
            Parameter("server.yaml:pool.eager", pool, "pool.eager", "bool"),
        ),
        seed=7,
        lines={},
    )
    assert [metric.name for metric in contract.objective.guardrails] == ["seconds", "memory"]


def test_an_expensive_decision_loads() -> None:
    text = minimal(decision="{cost: expensive, noise: seed, seeds: matched, strict: true, risk: 0.2}")
    assert read(text).decision == ExpensiveDecision("matched", strict=True, risk=0.2, expected_candidates=100)
    assert read(minimal(decision="{cost: expensive, noise: seed}")).decision == ExpensiveDecision()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (None, ScriptMetric()),
        ("script", ScriptMetric()),
        ("lines", LinesMetric()),
        ("{time: wall}", TimeMetric("wall")),
        ("{time: cpu}", TimeMetric("cpu")),
    ],
)
def test_each_source_of_a_metric_loads(written: str | None, meant: object) -> None:
    assert read(minimal(metric=written)).metric == meant


def test_a_callable_needs_no_evaluator() -> None:
    contract = read(minimal(metric="{callable: 'pkg.mod:run'}", commands=None))
    assert (contract.metric, contract.evaluate) == (CallableMetric("pkg.mod", "run"), ())


@pytest.mark.parametrize(
    ("written", "meant"), [("auto", "auto"), ("false", "none"), ("proxy", "proxy"), ("true", "host"), ("True", "host")]
)
def test_the_network_is_told_by_words_that_cannot_be_confused(written: str, meant: str) -> None:
    assert read(minimal(sandbox=f"{{network: {written}}}")).sandbox.network == meant


def test_patches_and_models_load_with_their_own_keys() -> None:
    assert read(minimal(worker="{agent: patches, folder: proposals}")).worker == Worker(
        "patches", folder=P("/w/repo/exp/proposals")
    )
    pi = read(minimal(worker="{agent: pi, bin: ~/bin/pi, model: m, env: {A: 1, B: x}}")).worker
    assert pi == Worker("pi", bin="/home/u/bin/pi", model="m", env={"A": "1", "B": "x"})
    assert pi.is_model


def test_codex_stands_for_worker_and_judge_and_a_judge_of_its_own_wins() -> None:
    alone = read(minimal(worker=None, codex=""))
    assert (alone.worker, alone.judge) == (Worker("codex"), Judge("codex"))
    beside = read(minimal(worker=None, codex="{model: m}", judge="{agent: none}"))
    assert (beside.worker, beside.judge) == (Worker("codex", model="m"), Judge("none"))


def test_only_the_first_element_of_a_list_is_relative_to_the_contract() -> None:
    text = minimal(commands="{evaluate: [../bench/run, ./x, --n, 3], screen: [python, ./s.py], evaluate_test: sub/t.sh}")
    contract = read(text)
    assert contract.evaluate == ("/w/repo/bench/run", "./x", "--n", "3")
    assert contract.screen == ("python", "./s.py")
    assert contract.evaluate_test == ("/w/repo/exp/sub/t.sh",)


@pytest.mark.parametrize(("written", "seconds"), [("1e3", 1000), ("90m", 5400), ("1h30m", 5400), ("5E-2", 0.05), ("0.5", 0.5)])
def test_a_timeout_is_a_number_whatever_its_spelling(written: str, seconds: float) -> None:
    text = minimal(timeouts=f"{{worker_timeout_seconds: 1, evaluation_timeout_seconds: {written}}}")
    assert read(text).timeouts.evaluation_s == seconds


def test_a_small_effect_in_exponent_form_is_a_number() -> None:
    text = minimal(objective="{primary_metric: {name: x, direction: lower, min_effect: 1e-3}}")
    assert read(text).objective.primary.min_effect == Amount(0.001)


def test_a_later_finding_is_told_with_its_line() -> None:
    contract = read((CONTRACTS / "full.yaml").read_text())
    assert contract.where("guards[1].run") == 51
    assert contract.where("guards[1].run[0].x") == 51
    assert contract.where("parameters.cfr.alpha.low") == 88
    assert contract.where("nowhere") is None
    assert contract.say("current_winner.settings_file", "is not there") == (
        "experiment.yaml:33: current_winner.settings_file: is not there"
    )
    assert contract.say("codex", "is not there") == "experiment.yaml: codex: is not there"


def test_the_contract_is_found_with_crlf_and_a_byte_order_mark() -> None:
    text = "\ufeff" + (CONTRACTS / "plain.yaml").read_text().replace("\n", "\r\n")
    assert read(text) == read((CONTRACTS / "plain.yaml").read_text())


# --- what is refused ----------------------------------------------------------------------------------


def blocks() -> Iterator[tuple[str, dict[str, str | None], list[str]]]:
    """The cases of refusals.txt: a title, the changes to the minimal contract, the whole message."""
    for block in (CONTRACTS / "refusals.txt").read_text().strip().split("\n\n"):
        title, *rest = block.split("\n")
        changes: dict[str, str | None] = {line[1:]: None for line in rest if line.startswith("-")}
        changes |= {k: v for k, _, v in (line.partition(": ") for line in rest if line[0] not in "->")}
        yield title.removeprefix("# "), changes, [line.removeprefix("> ") for line in rest if line.startswith("> ")]


@pytest.mark.parametrize(("changes", "told"), [pytest.param(c, t, id=title) for title, c, t in blocks()])
def test_it_is_refused_with_this_message(changes: dict[str, str | None], told: list[str]) -> None:
    assert refused(minimal(**changes)) == told


def test_a_duplicate_key_is_an_error_with_both_lines() -> None:
    text = minimal() + "\n" * 40 + "timeouts: {worker_timeout_seconds: 9, evaluation_timeout_seconds: 9}\n"
    assert refused(text) == ["experiment.yaml:49: timeouts: given twice, on line 4 and line 49: keep one"]


def test_a_file_that_says_nothing_is_refused() -> None:
    assert refused("") == ["experiment.yaml: expected keys and values such as 'version: 1', found nothing"]


def test_a_thousand_unknown_keys_do_not_take_a_minute() -> None:
    assert len(refused(minimal() + "".join(f"k{i}: 1\n" for i in range(1000)))) == 100


BAD_BRANCHES = [
    "a b",
    "-a",
    "a..b",
    "a~b",
    "a^b",
    "a:b",
    "a?b",
    "a*b",
    "a[b",
    "a\\b",
    "a/",
    "/a",
    "a//b",
    ".a",
    "a/.b",
    "a.",
    "a.lock",
]


@pytest.mark.parametrize("name", [*BAD_BRANCHES, "a.lock/b", "a@{b", "HEAD"])
def test_a_branch_that_git_refuses_is_refused(name: str) -> None:
    git = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
    assert git.returncode != 0
    (message,) = refused(minimal(branch=json.dumps(name)))
    assert message.startswith("experiment.yaml:9: branch: ")


@pytest.mark.parametrize("name", ["research/x", "a", "a@b", "é/ü", "a-b_c.d", "x/lock", "a{b}"])
def test_a_branch_that_git_takes_is_taken(name: str) -> None:
    git = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
    assert git.returncode == 0
    assert read(minimal(branch=json.dumps(name))).branch == name


# --- whatever is written --------------------------------------------------------------------------------

FULL = (CONTRACTS / "full.yaml").read_text().splitlines()
WORDS = r"""
~ [] {} - : &a *a !!int !x | > ' " %YAML --- 1e999 .nan -1 0 017 true off 1% 8h 4GiB ~bob ~/x .. / é
"\0" "a\nb" 2026-01-01 99999999999999999999 <<:
"""
PHRASES = ("", "\t", "\x00", "\ud800", "a" * 300, "- x", "a: b", "&a [*a]", "{type: int}", "[1, [2, {a: b}]]", '"a\\nb": 1')
SCRAPS = st.sampled_from((*WORDS.split(), *PHRASES))


@st.composite
def broken(draw: st.DrawFn) -> str:
    """The full contract with a few lines dropped, doubled, moved, or with a scrap in place of a value or a word."""
    lines = list(FULL)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        how = draw(st.sampled_from(["drop", "double", "move", "value", "cut", "insert", "indent"]))
        scrap = draw(SCRAPS)
        if how == "drop":
            del lines[at]
        elif how == "double":
            lines.insert(at, lines[at])
        elif how == "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
        elif how == "value":
            lines[at] = f"{lines[at].partition(':')[0]}: {scrap}"
        elif how == "cut":
            lines[at] = lines[at][: draw(st.integers(0, 20))] + scrap
        else:
            lines[at] = f"  {lines[at]}" if how == "indent" else f"{lines[at]}\n{scrap}"
    return "\n".join(lines)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(broken())
def test_a_broken_contract_loads_or_is_refused_and_nothing_else(text: str) -> None:
    try:
        contract = read(text, home=None)
    except ContractError as stop:
        lines = str(stop).split("\n")
    else:
        lines = [contract.file]
    assert [line for line in lines if not line.startswith("experiment.yaml")] == []


# --- its schema -----------------------------------------------------------------------------------------


def properties(node: object, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(node, dict):
        for key, child in node.get("properties", {}).items() if isinstance(node.get("properties"), dict) else ():
            yield f"{path}.{key}", child
        for key, child in node.items():
            yield from properties(child, f"{path}.{key}")


@pytest.mark.parametrize("name", ["experiment", "worker_turn", "judge_verdict"])
def test_every_property_of_a_schema_is_described(name: str) -> None:
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text())
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert [path for path, child in properties(schema) if not child.get("description", "").endswith((".", "?"))] == []


def test_importing_the_reader_imports_no_yaml_and_no_jsonschema() -> None:
    code = "import sys, runner.core.config; print(sorted({'ruamel', 'ruamel.yaml', 'yaml', 'jsonschema'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
