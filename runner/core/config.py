"""The contract, read strictly from the text of experiment.yaml."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any, cast

from runner.core import parameters, yaml_lines
from runner.core.contract import (
    Amount,
    Budget,
    Build,
    CallableMetric,
    CheapDecision,
    Contract,
    Decision,
    ExpensiveDecision,
    Guard,
    Judge,
    LinesMetric,
    Metric,
    MetricSource,
    Mount,
    Objective,
    PatternMetric,
    SandboxPolicy,
    ScriptMetric,
    Setup,
    TimeMetric,
    Timeouts,
    Worker,
)
from runner.core.contradictions import command, contradictions
from runner.core.draft import Draft, Places, Saying, meaning, normal
from runner.core.errors import ContractError
from runner.core.events import Json
from runner.core.schemas import MOST_FAULTS, Fault, faults
from runner.core.spelling import Finding, Path

MAX_PAIRS = {"thorough": 60, "quick": 40}
NETWORK = {"auto": "auto", False: "none", "proxy": "proxy", True: "host"}


def parse(text: str, file: str, base: PurePath, schema: Mapping[str, Any], home: PurePath | None = None) -> Contract:
    """The contract in `text`; `file` is its name for messages, `base` its absolute directory, `schema` experiment.schema.json.

    `~` needs `home`. Raises ContractError with every problem found, one a line, sorted by line; ValueError for a relative `base`.
    """
    if not base.is_absolute():
        raise ValueError(f"expected an absolute directory, found {base}")
    document = yaml_lines.read(text)
    if document.value is None:
        raise _refusal(document.findings, file)
    wrong = faults(document.value, schema)
    said: list[Saying] = [(fault.path, fault.sentence) for fault in wrong]
    draft = None
    if len(wrong) < MOST_FAULTS:
        tree, unread = meaning(_without(document.value, wrong), schema, Places(normal(base), home))
        draft = Draft(tree, document.lines, file, Places(normal(base), home))
        told = {path for path, _ in (*said, *unread)}
        said += [*unread, *(saying for saying in contradictions(draft) if saying[0] not in told)]
    known = {finding.path for finding in document.findings}
    found = (Finding(yaml_lines.line_of(document.lines, path), path, s) for path, s in said if path not in known)
    findings = [*document.findings, *found]
    if findings or draft is None:
        raise _refusal(findings, file)
    return _contract(draft)


def _refusal(findings: Iterable[Finding], file: str) -> ContractError:
    ordered = sorted(findings, key=lambda finding: finding.line or 0)
    return ContractError("\n".join(finding.told(file) for finding in ordered))


def _without(value: dict[str, Json], wrong: Iterable[Fault]) -> dict[str, Json]:
    """The values with the faulty ones taken out (in lists: None, so that the indexes stay)."""
    out = [fault.path for fault in wrong if not fault.missing]
    return cast(dict[str, Json], _pruned(value, (), set(out)))


def _pruned(value: Json, path: Path, out: set[Path]) -> Json:
    if path in out and path:
        return None
    if isinstance(value, dict):
        return {k: _pruned(v, (*path, k), out) for k, v in value.items() if (*path, k) not in out}
    if isinstance(value, list):
        return [_pruned(v, (*path, i), out) for i, v in enumerate(value)]
    return value


# --- a draft in which nothing is wrong, as the contract -------------------------------------------------


def _contract(d: Draft) -> Contract:
    name = _text(d, "id")
    base, files = d.places.base, d.settings_files()
    evaluation_s = _number(d, "timeouts", "evaluation_timeout_seconds")
    worker, judge = _agents(d)
    return Contract(
        file=d.file,
        directory=base,
        version=1,
        id=name,
        name=d.text("name") or name,
        project_root=_path(d, "project_root"),
        git_repo_path=d.path("git_repo_path"),
        branch=d.text("branch") or f"research/{name}",
        timeouts=_timeouts(d, evaluation_s),
        objective=_objective(d),
        settings_files=files,
        settings_file=d.path("current_winner", "settings_file") if files else None,
        winner_output=d.path("current_winner", "output") or base / "current_winner.json",
        levers=d.texts("optimization_surface", "levers_and_ideas"),
        writable_paths=d.writable_paths(),
        screen=command(d, "screen"),
        evaluate=command(d, "evaluate"),
        evaluate_test=command(d, "evaluate_test"),
        metric=_source(d),
        guards=tuple(_guard(d, i, evaluation_s) for i, _ in d.entries("guards")),
        setup=_setup(d, evaluation_s) if d.has("setup") else None,
        build=Build(d.argv("build", "run"), d.number("build", "timeout_seconds") or evaluation_s) if d.has("build") else None,
        decision=_decision(d),
        budget=_budget(d),
        sandbox=_sandbox(d),
        executor="local",
        worker=worker,
        judge=judge,
        parameters=parameters.build(d),
        seed=d.count("seed") or 0,
        lines=yaml_lines.dotted_lines(dict(d.written)),
    )


def _text(d: Draft, *path: str | int) -> str:
    return cast(str, d.pick(*path))


def _number(d: Draft, *path: str | int) -> float:
    return cast(float, d.pick(*path))


def _path(d: Draft, *path: str | int) -> PurePath:
    return cast(PurePath, d.pick(*path))


def _timeouts(d: Draft, evaluation_s: float) -> Timeouts:
    worker = d.number("timeouts", "worker_timeout_seconds") or _number(d, "timeouts", "codex_turn_timeout_seconds")
    return Timeouts(worker, evaluation_s, d.number("commands", "screen", "timeout_seconds") or evaluation_s)


def _objective(d: Draft) -> Objective:
    secondary = tuple(_metric(d, "objective", "secondary_metrics", i) for i, _ in d.entries("objective", "secondary_metrics"))
    return Objective(_metric(d, "objective", "primary_metric"), secondary)


def _metric(d: Draft, *at: str | int) -> Metric:
    given = d.table(*at)
    scale, deterministic = given.get("scale", "auto"), given.get("deterministic", "auto")
    return Metric(
        name=cast(str, given["name"]),
        direction=cast(Any, given["direction"]),
        min_effect=cast("Amount | None", given.get("min_effect")),
        scale=None if scale == "auto" else cast(Any, scale),
        deterministic=None if deterministic == "auto" else cast(bool, deterministic),
        max_regression=cast("Amount | None", given.get("max_regression")),
    )


def _source(d: Draft) -> MetricSource:
    given = d.pick("metric")
    if isinstance(given, dict):
        ((kind, value),) = given.items()
        if kind == "callable":
            module, _, function = value.partition(":")
            return CallableMetric(module, function)
        return PatternMetric(value) if kind == "pattern" else TimeMetric(value)
    return LinesMetric() if given == "lines" else ScriptMetric()


def _guard(d: Draft, i: int, evaluation_s: float) -> Guard:
    timeout = d.number("guards", i, "timeout_seconds") or evaluation_s
    return Guard(_text(d, "guards", i, "name"), d.argv("guards", i, "run"), timeout, d.count("guards", i, "expect_passed"))


def _setup(d: Draft, evaluation_s: float) -> Setup:
    timeout = d.number("setup", "timeout_seconds") or evaluation_s
    return Setup(d.argv("setup", "run"), d.texts("setup", "link"), d.texts("setup", "when_changed"), timeout)


def _decision(d: Draft) -> Decision:
    risk, candidates = d.number("decision", "risk") or 0.1, d.count("decision", "expected_candidates") or 100
    if d.text("decision", "cost") == "expensive":
        seeds = cast(Any, d.text("decision", "seeds") or "fresh")
        return ExpensiveDecision(seeds, d.pick("decision", "strict") is True, risk, candidates)
    preset = d.text("decision", "preset") or "thorough"
    return CheapDecision(cast(Any, preset), d.count("decision", "max_pairs") or MAX_PAIRS[preset], risk, candidates)


def _budget(d: Draft) -> Budget:
    return Budget(
        turns=d.count("budget", "turns"),
        wall_clock_s=d.number("budget", "wall_clock"),
        tokens=d.count("budget", "tokens"),
        cost_usd=d.number("budget", "cost_usd"),
        consecutive_crashes=d.count("budget", "consecutive_crashes"),
        agent_errors=d.count("budget", "agent_errors") or 3,
        shapes=d.count("budget", "shapes"),
        saturation=d.count("budget", "saturation"),
    )


def _sandbox(d: Draft) -> SandboxPolicy:
    given = d.table("sandbox")
    mounts = [("sandbox", "mounts", i) for i, _ in d.entries("sandbox", "mounts")]
    return SandboxPolicy(
        level=cast(Any, given.get("level", "best")),
        network=cast(Any, NETWORK[cast("str | bool", given.get("network", "auto"))]),
        hosts=d.texts("sandbox", "hosts"),
        memory=d.count("sandbox", "memory"),
        processes=d.count("sandbox", "processes"),
        mounts=tuple(Mount(_path(d, *at, "path"), cast(Any, d.text(*at, "mode") or "ro")) for at in mounts),
        env=d.texts("sandbox", "env"),
        devices=d.texts("sandbox", "devices"),
    )


def _agents(d: Draft) -> tuple[Worker, Judge]:
    """Worker and judge; `codex:` stands for both, a judge of its own beside it wins."""
    if d.has("codex"):
        short = cast(dict[str, Any], d.table("codex"))
        judge = _judge(d) if d.has("judge") else Judge("codex", **short)
        return Worker("codex", **short), judge
    given = dict(d.table("worker"))
    env = {key: str(value) for key, value in d.table("worker", "env").items()}
    return Worker(**cast(dict[str, Any], given | {"env": env})), _judge(d)


def _judge(d: Draft) -> Judge:
    env = {key: str(value) for key, value in d.table("judge", "env").items()}
    return Judge(**cast(dict[str, Any], dict(d.table("judge")) | {"env": env}))
