"""What a contract may not say at once: one function a subject, each telling every contradiction it sees."""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import cast

from runner.core import parameters
from runner.core.contract import Amount, Argv, WritablePath
from runner.core.draft import Draft, Saying, covers, normal
from runner.core.spelling import Path, shown
from runner.core.surface import MEASUREMENT, reserved

MODEL_FIELDS = ("bin", "profile", "model", "reasoning_effort", "env")
AGENT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "tuner": (),
    "patches": ("folder",),
    "command": ("command", "env"),
    "codex": MODEL_FIELDS,
    "claude": MODEL_FIELDS,
    "pi": MODEL_FIELDS,
}
NEEDED = {"patches": ("folder", "proposals"), "command": ("command", "[./propose.sh]")}


def agents(d: Draft) -> Iterator[Saying]:
    if d.has("codex") and d.has("worker"):
        yield ("worker",), "codex: is short for worker: and judge: with agent: codex; keep one of codex and worker"
    if not d.has("codex") and not d.has("worker"):
        yield ("worker",), "missing. Add it at the top level, e.g. worker: {agent: tuner}, or codex: {model: o4-mini}"
    for part in ("worker", "judge"):
        yield from _agent(d, part)


def _agent(d: Draft, part: str) -> Iterator[Saying]:
    agent = d.text(part, "agent")
    if agent is None:
        return
    fields = AGENT_FIELDS[agent]
    for key in d.table(part):
        if key not in ("agent", *fields):
            yield (part, key), f"agent: {agent} does not take it (it takes {', '.join(fields) or 'nothing else'})"
    key, example = NEEDED.get(agent, ("agent", ""))
    if not d.has(part, key):
        yield (part, key), f"missing. agent: {agent} needs it, e.g. {key}: {example}"


def tuning(d: Draft) -> Iterator[Saying]:
    tuner = d.text("worker", "agent") == "tuner"
    if tuner and not d.has("parameters"):
        yield ("parameters",), "missing. agent: tuner needs it, e.g. parameters: {threads: {type: int, low: 1, high: 16}}"
    if tuner and not d.settings_files() and not d.has("optimization_surface", "settings_files", 0):
        path: Path = ("optimization_surface", "settings_files")
        yield path, "missing. agent: tuner needs a settings file to turn, e.g. settings_files: [settings.yaml]"
    if (d.has("parameters") and d.text("worker", "agent") not in ("tuner", None)) or (d.has("parameters") and d.has("codex")):
        yield ("parameters",), "only agent: tuner reads it: leave it out, or write worker: {agent: tuner}"
    yield from parameters.check(d)


def measuring(d: Draft) -> Iterator[Saying]:
    function = d.text("metric", "callable")
    if function is not None:
        for key in ("evaluate", "evaluate_test"):
            if d.has("commands", key):
                yield ("commands", key), f"metric: {{callable: {function}}} is measured without it: keep one of them"
    elif not d.has("commands", "evaluate") and not d.has("metric", "callable"):
        yield ("commands", "evaluate"), "missing. Add it under commands, e.g. evaluate: ./evaluate.sh"
    pattern = d.text("metric", "pattern")
    if pattern is not None and (wrong := _pattern_fault(pattern)):
        yield ("metric", "pattern"), wrong
    if d.text("metric") == "lines":
        for path, name in _metric_names(d):
            if re.search(r"[\s=]", name):
                yield path, f"metric: lines expects a name without blanks and '=' (METRIC name=value), found {shown(name)}"


def _pattern_fault(pattern: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    return None if groups == 1 else f"expected one group (...) around the number, found {groups or 'none'}"


def _metric_names(d: Draft) -> Iterator[tuple[Path, str]]:
    spots: list[Path] = [("objective", "primary_metric", "name")]
    spots += [("objective", "secondary_metrics", i, "name") for i, _ in d.entries("objective", "secondary_metrics")]
    return ((spot, name) for spot in spots if (name := d.text(*spot)) is not None)


def names(d: Draft) -> Iterator[Saying]:
    guards: list[Path] = [("guards", i, "name") for i, _ in d.entries("guards")]
    named = [(spot, name) for spot in guards if (name := d.text(*spot)) is not None]
    for spots in (list(_metric_names(d)), named):
        first: dict[str, Path] = {}
        for path, name in spots:
            if name in first:
                yield path, f"the name {shown(name)} is taken on line {d.written.get(first[name], '?')}: names must differ"
            first.setdefault(name, path)


def effects(d: Draft) -> Iterator[Saying]:
    path: Path = ("objective", "primary_metric", "min_effect")
    least, scale = d.pick(*path), d.text("objective", "primary_metric", "scale")
    if not isinstance(least, Amount):
        return
    if least.percent and scale == "difference":
        yield path, "per cent need scale: ratio; with scale: difference write a number in the metric's unit"
    elif scale == "ratio" and not least.percent and least.value:
        yield path, "scale: ratio needs per cent such as 1%; a plain number is in the metric's unit (scale: difference)"
    elif least.percent and least.value >= 1 and d.text("objective", "primary_metric", "direction") == "lower":
        yield path, f"no value can be lower by {least}: expected less than 100%"


def settings(d: Draft) -> Iterator[Saying]:
    files = d.settings_files()
    if files and not d.has("current_winner", "settings_file"):
        where = "current_winner, e.g. settings_file: current_winner_settings.yaml"
        yield ("current_winner", "settings_file"), f"missing. Settings are tuned, so it is needed: add it under {where}"
    open_paths = d.writable_paths()
    for i, entry in d.entries("optimization_surface", "settings_files"):
        file = cast(PurePath, entry)
        if open_paths and not any(covers(w.path, file) for w in open_paths):
            yield ("optimization_surface", "settings_files", i), f"{file} is not within writable_paths: add it there"
        if file in files[:i]:
            yield ("optimization_surface", "settings_files", i), f"{file} is listed twice: keep one"


def editable(d: Draft) -> Iterator[Saying]:
    """writable_paths against the repository, the experiment directory and git's own names."""
    repo, base = d.path("git_repo_path"), d.places.base
    closed = {base / name: "belongs to the measurement" for name in (PurePath(d.file).name, *MEASUREMENT)}
    closed |= {base / argv[0]: "is a command of the measurement" for argv in _measuring_commands(d) if "/" in argv[0]}
    start = d.path("current_winner", "settings_file")
    if start is not None and start not in d.settings_files():
        closed[start] = "is the starting settings, of which the worker edits a copy"
    for i, entry in d.entries("writable_paths"):
        file = cast(WritablePath, entry).path
        if repo is not None and not covers(repo, file):
            yield ("writable_paths", i), f"{file} is outside git_repo_path {repo}: name a path inside it"
        elif file in closed:
            yield ("writable_paths", i), f"{file} {closed[file]}: it may not be edited"
        elif file == base:
            yield ("writable_paths", i), "covers the experiment directory, which stays closed: name files or directories below it"
        elif reserved(str(file.relative_to(repo or file.anchor))):
            yield ("writable_paths", i), f"{file} has a name that tells git what to do: it may not be edited"


def _measuring_commands(d: Draft) -> Iterator[Argv]:
    found = [command(d, key) for key in ("evaluate", "evaluate_test", "screen")]
    found += [d.argv("setup", "run"), *(d.argv("guards", i, "run") for i, _ in d.entries("guards"))]
    return (argv for argv in found if argv)


def command(d: Draft, key: str) -> Argv:
    """The argv under commands, whether it stands there alone or in a table with its timeout."""
    return d.argv("commands", key) or d.argv("commands", key, "run")


def preparing(d: Draft) -> Iterator[Saying]:
    if d.has("setup") and d.table("setup") and not (d.has("setup", "run") or d.has("setup", "link")):
        yield ("setup",), "expected run or link, found neither"
    if d.has("setup", "when_changed") and not d.has("setup", "run"):
        yield ("setup", "when_changed"), "says when setup.run runs again, and there is no setup.run: add it or leave this out"
    root = d.path("project_root")
    for i, name in d.entries("setup", "when_changed"):
        file = normal(root / cast(str, name)) if root else None
        if file and any(covers(w.path, file) for w in d.writable_paths()):
            yield ("setup", "when_changed", i), f"{file} lies within writable_paths: a candidate could change what is set up"


CHEAP, EXPENSIVE = ("preset", "max_pairs"), ("noise", "seeds", "strict")


def deciding(d: Draft) -> Iterator[Saying]:
    expensive = d.text("decision", "cost") == "expensive"
    for key in d.table("decision"):
        if key in (CHEAP if expensive else EXPENSIVE):
            said = "expensive has its own few looks" if expensive else "only cost: expensive reads it"
            yield ("decision", key), f"{said}: leave it out" + ("" if expensive else ", or write cost: expensive")
    if expensive and not d.has("decision", "noise"):
        yield ("decision", "noise"), "missing. cost: expensive holds only where the noise is the seed's: declare noise: seed"
    if expensive and d.pick("objective", "primary_metric", "deterministic") is True:
        yield (
            ("objective", "primary_metric", "deterministic"),
            "a metric with seed noise (decision.noise: seed) is not deterministic",
        )


def confining(d: Draft) -> Iterator[Saying]:
    network = d.pick("sandbox", "network")
    if d.has("sandbox", "hosts") and network != "proxy" and not (network is None and d.has("sandbox", "network")):
        yield ("sandbox", "hosts"), "hosts are reached through network: proxy: write that, or leave them out"
    guarded = [d.places.base, *(p for key in ("git_repo_path", "project_root") if (p := d.path(key)))]
    for i, _ in d.entries("sandbox", "mounts"):
        mount = d.path("sandbox", "mounts", i, "path")
        if mount and d.text("sandbox", "mounts", i, "mode") == "rw":
            for place in guarded:
                if covers(mount, place) or covers(place, mount):
                    yield ("sandbox", "mounts", i, "mode"), f"rw would open {place} to every command: mount it ro"
                    break


def timing(d: Draft) -> Iterator[Saying]:
    general, codex = ("timeouts", "worker_timeout_seconds"), ("timeouts", "codex_turn_timeout_seconds")
    if d.has(*general) and d.has(*codex):
        yield codex, "means the same as worker_timeout_seconds: keep one"
    elif d.has("timeouts") and not d.has(*general) and not d.has(*codex):
        yield general, "missing. Add it under timeouts, e.g. worker_timeout_seconds: 900"


BAD_BRANCH = (
    (r"^-", "a branch's name cannot begin with '-'"),
    (r"[\s~^:?*\[\\\x00-\x1f\x7f]", "a branch's name cannot hold blanks or any of ~ ^ : ? * [ \\"),
    (r"\.\.", "a branch's name cannot hold '..'"),
    (r"@\{|^@$", "a branch's name cannot be '@' or hold '@{'"),
    (r"^/|/$|//", "a branch's name cannot begin or end with '/', or hold '//'"),
    (r"(^|/)\.|\.$", "no part of a branch's name can begin with '.', and it cannot end with one"),
    (r"\.lock(/|$)", "no part of a branch's name can end with '.lock'"),
    (r"^(HEAD|refs/.*)$", "expected a branch's short name such as research/my_experiment"),
)
"""What `git check-ref-format --branch` refuses, and names that would be misread."""


def branching(d: Draft) -> Iterator[Saying]:
    name = d.text("branch")
    wrong = next((why for form, why in BAD_BRANCH if name and re.search(form, name)), None)
    if wrong:
        yield ("branch",), f"{wrong}, found {shown(name)}"


RULES: tuple[Callable[[Draft], Iterator[Saying]], ...] = (
    agents, tuning, measuring, names, effects, settings, editable, preparing, deciding, confining, timing, branching,
)  # fmt: skip


def contradictions(d: Draft) -> Iterator[Saying]:
    """Everything in the draft that cannot be meant, in no order; what the draft could not read is not told again."""
    for rule in RULES:
        yield from rule(d)
