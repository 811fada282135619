"""The nouns of the contract: what a person declared in experiment.yaml, as frozen values with absolute paths and plain units."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

from runner.core.models import Direction, Scale

Argv = tuple[str, ...]
"""A command without a shell; an element that is exactly `$RESEARCH_PYTHON` still waits for the runner to replace it."""
RESEARCH_PYTHON = "$RESEARCH_PYTHON"

ModelAgent = Literal["codex", "claude", "pi"]


@dataclass(frozen=True, slots=True)
class Amount:
    """How much counts: a fraction of the incumbent where `percent` (1% is 0.01), else a number in the metric's own unit."""

    value: float
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.value * 100:g}%" if self.percent else f"{self.value:g}"


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that should move in `direction`.

    `scale` and `deterministic` are None where calibration finds them out (`auto`); `min_effect` is None where any real gain
    counts.
    `max_regression` makes a secondary metric a guardrail; None there means that it is only recorded.
    """

    name: str
    direction: Direction
    min_effect: Amount | None = None
    scale: Scale | None = None
    deterministic: bool | None = None
    max_regression: Amount | None = None


@dataclass(frozen=True, slots=True)
class Objective:
    primary: Metric
    secondary: tuple[Metric, ...] = ()

    @property
    def guardrails(self) -> tuple[Metric, ...]:
        return tuple(m for m in self.secondary if m.max_regression is not None)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds, each finite and above zero; `screen_s` is the evaluation's where the contract names none."""

    worker_s: float
    evaluation_s: float
    screen_s: float


# --- where the metric comes from -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScriptMetric:
    """commands.evaluate writes JSON to the output path it is given."""


@dataclass(frozen=True, slots=True)
class LinesMetric:
    """commands.evaluate prints `METRIC name=value` lines."""


@dataclass(frozen=True, slots=True)
class PatternMetric:
    """commands.evaluate prints a line that `pattern` finds; its one group is the number."""

    pattern: str


@dataclass(frozen=True, slots=True)
class TimeMetric:
    """The seconds commands.evaluate takes, by the processor's clock or the wall's."""

    clock: Literal["cpu", "wall"]


@dataclass(frozen=True, slots=True)
class CallableMetric:
    """A Python function `module:function` that returns the numbers; there is no commands.evaluate."""

    module: str
    function: str


MetricSource = ScriptMetric | LinesMetric | PatternMetric | TimeMetric | CallableMetric

# --- commands around the measurement -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard:
    """A command that must exit with 0; with `expect_passed` its tests must report that many passes."""

    name: str
    run: Argv
    timeout_s: float
    expect_passed: int | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """What a fresh checkout lacks: a command (empty where there is only something to link), names to bring in from the
    user's checkout, and the files whose change runs it again; `link` and `when_changed` are relative to project_root."""

    run: Argv
    link: tuple[str, ...]
    when_changed: tuple[str, ...]
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Build:
    run: Argv
    timeout_s: float


# --- how to decide and when to stop -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheapDecision:
    """Many drifting pairs; `max_pairs` is the preset's own where the contract names none."""

    preset: Literal["thorough", "quick"] = "thorough"
    max_pairs: int = 60
    risk: float = 0.1
    expected_candidates: int = 100


@dataclass(frozen=True, slots=True)
class ExpensiveDecision:
    """Few dear readings whose noise is the seed's, compared by rank; `strict` guards every look, not only the campaign."""

    seeds: Literal["fresh", "matched"] = "fresh"
    strict: bool = False
    risk: float = 0.1
    expected_candidates: int = 100


Decision = CheapDecision | ExpensiveDecision


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of the whole campaign; None sets no bound. `wall_clock_s` are active seconds of the runner."""

    turns: int | None = None
    wall_clock_s: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    consecutive_crashes: int | None = None
    agent_errors: int = 3
    shapes: int | None = None
    saturation: int | None = None


@dataclass(frozen=True, slots=True)
class Mount:
    path: PurePath
    mode: Literal["ro", "rw"] = "ro"


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """The wanted confinement; `network` is the contract's word, with its `false` as "none" and its `true` as "host".

    `memory` in bytes, `processes` a count; None sets no bound.
    """

    level: Literal["best", "any"] | int = "best"
    network: Literal["auto", "none", "proxy", "host"] = "auto"
    hosts: tuple[str, ...] = ()
    memory: int | None = None
    processes: int | None = None
    mounts: tuple[Mount, ...] = ()
    env: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


# --- who proposes and who judges ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Worker:
    """The agent that proposes; which of the fields mean something depends on `agent` (the reader refuses the others).

    `bin` is a name for PATH or an absolute path (None: the agent's usual name), `command` an argv relative to the contract,
    `folder` an absolute path.
    """

    agent: Literal["tuner", "patches", "command"] | ModelAgent
    bin: str | None = None
    profile: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    command: Argv = ()
    folder: PurePath | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_model(self) -> bool:
        return self.agent in ("codex", "claude", "pi")


@dataclass(frozen=True, slots=True)
class Judge:
    """The agent that reads the evidence, or `none`; fields as in `Worker`."""

    agent: Literal["none", "codex", "claude", "command"] = "none"
    bin: str | None = None
    profile: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    command: Argv = ()
    env: Mapping[str, str] = field(default_factory=dict)


Choice = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value the tuner may turn: the dotted `key` in the settings file `file`.

    `low`, `high` and `step` are set for float and int, `choices` for categorical; `name` is the contract's spelling.
    `when` are the conditions under which it means something: other parameters' names with the values that count, all of
    which have to hold; one that is itself without meaning holds for none.
    """

    name: str
    file: PurePath
    key: str
    type: Literal["float", "int", "categorical", "bool"]
    low: float | None = None
    high: float | None = None
    log: bool = False
    step: float | None = None
    choices: tuple[Choice, ...] = ()
    when: tuple[tuple[str, tuple[Choice, ...]], ...] = ()


# --- what may be edited ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WritablePath:
    """One entry of writable_paths; `tree` where it was written with a trailing slash (without one the caller looks)."""

    path: PurePath
    tree: bool


@dataclass(frozen=True, slots=True)
class Contract:
    """One experiment.yaml, read, checked and with its defaults filled in; every path is absolute and free of `..`.

    `file` is the name that messages use, `directory` the experiment directory; `git_repo_path` is None where the repository
    that holds `project_root` is meant; `settings_file` is the starting settings beside the contract, set exactly when
    `settings_files` is not empty; `evaluate` is empty exactly when `metric` is a CallableMetric; `screen` and `evaluate_test`
    are empty where there is none.
    """

    file: str
    directory: PurePath
    version: int
    id: str
    name: str
    project_root: PurePath
    git_repo_path: PurePath | None
    branch: str
    timeouts: Timeouts
    objective: Objective
    settings_files: tuple[PurePath, ...]
    settings_file: PurePath | None
    winner_output: PurePath
    levers: tuple[str, ...]
    writable_paths: tuple[WritablePath, ...]
    screen: Argv
    evaluate: Argv
    evaluate_test: Argv
    metric: MetricSource
    guards: tuple[Guard, ...]
    setup: Setup | None
    build: Build | None
    decision: Decision
    budget: Budget
    sandbox: SandboxPolicy
    executor: Literal["local"]
    worker: Worker
    judge: Judge
    parameters: tuple[Parameter, ...]
    seed: int
    lines: Mapping[str, int] = field(repr=False, compare=False)

    def where(self, path: str) -> int | None:
        """The line of the dotted path (`guards[0].run`), or of the nearest key around it; None where none of it was written."""
        while path not in self.lines:
            shorter = re.sub(r"(\.[^.\[]*|\[\d+\])$", "", path)
            if shorter == path:
                return None
            path = shorter
        return self.lines[path]

    def say(self, path: str, sentence: str) -> str:
        """A later finding about the contract in the contract's own form: `experiment.yaml:12: objective: ...`."""
        line = self.where(path)
        return f"{self.file}:{line}: {path}: {sentence}" if line else f"{self.file}: {path}: {sentence}"
