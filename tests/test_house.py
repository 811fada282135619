"""The walls of the house: who may touch the world, who may import whom, where each package lives, how long things get."""

import ast
import graphlib
import importlib.util
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = {str(path.relative_to(ROOT)): ast.parse(path.read_text(), str(path)) for path in sorted(ROOT.glob("runner/**/*.py"))}

# From the ground up: a room imports from floors below, and from its own floor as long as no circle closes.
FLOORS = (
    ("core",),
    ("journal", "repo", "processes", "sandbox", "host", "files", "shipped", "signals", "streams"),
    ("agents", "evaluators", "judges", "executors", "importers"),
    ("ledger", "projections", "editable", "making"),
    ("bench",),
    ("checkouts", "ends", "ground", "refusals"),
    ("campaign", "gates", "measure", "noise", "opening", "preparing", "proposing", "registry", "sides", "turn"),
    ("cli", "stop", "tail", "views", "tui", "plain", "report", "dashboard"),
)
FLOOR_OF = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
FACES = FLOORS[-1]

# A home is a room, in one file or in a folder of that name; where a room grew too long, its second file is named too.
HOMES = {
    "yaml": ("runner/core/config",),
    "ruamel": ("runner/core/config", "runner/core/yaml_lines", "runner/agents/settings"),
    "jsonschema": ("runner/core/schemas",),
    "referencing": ("runner/core/schemas",),
    "scipy": ("runner/core/stats",),
    "numpy": ("runner/core/stats",),
    "git": ("runner/repo",),
    "psutil": ("runner/processes", "runner/host"),
    "rich": ("runner/plain",),
    "textual": ("runner/tui",),
    "optuna": ("runner/agents/tuner", "runner/agents/propose"),
}
ANYWHERE = {"tenacity"}  # where a call may be retried
CHILD_PROGRAMS = {"runner/sandbox/asked.py"}  # run on their own inside the sandbox: standard output is their answer
HEAVY = {"git", "jsonschema", "numpy", "optuna", "referencing", "rich", "ruamel", "scipy", "textual"}

# fmt: off
TOUCHES_THE_WORLD = {
    "asyncio", "concurrent", "ctypes", "fcntl", "getpass", "git", "glob", "http", "importlib", "logging", "multiprocessing",
    "optuna", "os", "platform", "psutil", "pty", "pwd", "random", "resource", "rich", "secrets", "select", "shutil", "signal",
    "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "tenacity", "textual", "threading", "time", "urllib", "uuid",
}
TOUCHING_CALLS = {
    "cwd", "eval", "exec", "exists", "expanduser", "home", "input", "is_dir", "is_file", "iterdir", "lstat", "mkdir", "now",
    "open", "print", "read_bytes", "read_text", "rglob", "today", "touch", "unlink", "utcnow", "write_bytes", "write_text",
}
TOP_LEVEL = {
    "CHANGELOG.md", "LICENSE", "README.md", "docs", "experiments", "prompts", "pyproject.toml", "requirements.lock", "research",
    "runner", "schemas", "tests",
}
# fmt: on

Rule = Callable[[str, ast.Module], list[str]]


def module_of(name: str) -> str:
    """`runner/core/events.py` is `runner.core.events`."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def room(module: str) -> str:
    """`runner.core.events` lives in `core`; the package itself is `runner`."""
    return [*module.split("."), "runner"][1]


MODULES = {module_of(name) for name in FILES}


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Each module that is imported, by its full name, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = node.module or ""
            for name in (f"{package}.{alias.name}" for alias in node.names):
                yield name if name in MODULES or package == "runner" else package, node.lineno


def at_import_time(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported: what is in no function, and not for the type checker alone."""
    for node in ast.iter_child_nodes(tree):
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not typing_only and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from at_import_time(node)


def floor_faults(name: str, tree: ast.Module) -> list[str]:
    here = room(module_of(name))
    return [
        f"{name}:{line}: {here} imports {room(module)}, which is a floor above"
        for module, line in imports(tree)
        if module.startswith("runner.") and FLOOR_OF.get(room(module), 0) > FLOOR_OF.get(here, 0)
    ]


def relative_faults(name: str, tree: ast.Module) -> list[str]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    return [f"{name}:{node.lineno}: a relative import; write the full name" for node in nodes]


def home_faults(name: str, tree: ast.Module) -> list[str]:
    faults = []
    for module, line in imports(tree):
        package = module.split(".")[0]
        if package in sys.stdlib_module_names or package in ANYWHERE or package == "runner":
            continue
        homes = HOMES.get(package, ())
        if not any(name == f"{home}.py" or name.startswith(f"{home}/") for home in homes):
            faults.append(f"{name}:{line}: {package} has its home in {', '.join(homes) or 'no room'}")
    return faults


def heavy_faults(name: str, tree: ast.Module) -> list[str]:
    return [
        f"{name}:{line}: {module} is imported at the top; import it in the function that needs it"
        for node in at_import_time(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module, line in imports(node)
        if module.split(".")[0] in HEAVY
    ]


def print_faults(name: str, tree: ast.Module) -> list[str]:
    if room(module_of(name)) in FACES or name in CHILD_PROGRAMS:
        return []
    spoken = [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)]
    return [
        f"{name}:{node.lineno}: only the faces print"
        for node in spoken
        if ast.unparse(node) in ("print", "sys.stdout", "sys.stderr")
    ]


def length_faults(name: str, tree: ast.Module) -> list[str]:
    length = max((node.end_lineno or 0 for node in tree.body), default=0)
    faults = [f"{name}: {length} lines, at most 400"] if length > 400 else []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            if length > 60:
                faults.append(f"{name}:{node.lineno}: {node.name} has {length} lines, at most 60")
    return faults


def sentence_faults(name: str, tree: ast.Module) -> list[str]:
    return [] if ast.get_docstring(tree) else [f"{name}: a file opens with one sentence that says what it is for"]


def world_faults(name: str, tree: ast.Module) -> list[str]:
    if room(module_of(name)) != "core":
        return []
    faults = [
        f"{name}:{line}: core imports {module}" for module, line in imports(tree) if module.split(".")[0] in TOUCHES_THE_WORLD
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in TOUCHING_CALLS:
                faults.append(f"{name}:{node.lineno}: core calls {called}()")
    return faults


RULES: dict[str, Rule] = {
    "core touches nothing": world_faults,
    "imports run down": floor_faults,
    "imports are absolute": relative_faults,
    "each package has one home": home_faults,
    "heavy packages are imported late": heavy_faults,
    "only the faces print": print_faults,
    "nothing is too long to read": length_faults,
    "a file says what it is for": sentence_faults,
}


@pytest.mark.parametrize("rule", RULES)
def test_every_room_keeps_the_rule(rule: str) -> None:
    faults = itertools.chain.from_iterable(RULES[rule](name, tree) for name, tree in FILES.items())
    assert list(dict.fromkeys(faults)) == []


def test_every_room_stands_on_a_floor() -> None:
    rooms = {room(module) for module in MODULES}
    assert "core" in rooms
    assert rooms - {"runner", *FLOOR_OF} == set()


def circle(arrows: Iterable[tuple[str, str]]) -> list[str]:
    """The names along one circle of the graph, or nothing."""
    graph: dict[str, set[str]] = {}
    for here, there in arrows:
        if here != there:
            graph.setdefault(here, set()).add(there)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle_closes_between_modules_or_rooms() -> None:
    arrows = [(module_of(name), module) for name, tree in FILES.items() for module, _ in imports(tree) if module in MODULES]
    assert circle(arrows) == []
    assert circle((room(here), room(there)) for here, there in arrows) == []


def test_a_circle_is_found_wherever_it_closes() -> None:
    assert sorted(set(circle([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]))) == ["b", "c"]


def test_the_top_level_holds_only_the_agreed_names() -> None:
    tracked = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tops = {path.split("/")[0] for path in tracked.split("\0") if path}
    assert {name for name in tops if not name.startswith(".")} - TOP_LEVEL == set()


@pytest.mark.parametrize(
    ("rule", "name", "code", "fault"),
    [
        (floor_faults, "repo", "from runner import turn", ":1: repo imports turn, which is a floor above"),
        (floor_faults, "core/stats", "def f():\n from runner.files import x", ":2: core imports files, which is a floor above"),
        (relative_faults, "repo", "from . import turn", ":1: a relative import; write the full name"),
        (home_faults, "turn", "def f():\n import git", ":2: git has its home in runner/repo"),
        (home_faults, "turn", "import requests", ":1: requests has its home in no room"),
        (heavy_faults, "repo", "try:\n import git.cmd\nfinally:\n pass", ":2: git.cmd is imported at the top; "),
        (heavy_faults, "repo", "try:\n pass\nexcept E:\n import git", ":4: git is imported at the top; "),
        (heavy_faults, "plain", "class A:\n from rich import box", ":2: rich is imported at the top; "),
        (print_faults, "turn", "def f():\n print(1)", ":2: only the faces print"),
        (print_faults, "turn", "import sys\nsys.stderr.write('')", ":2: only the faces print"),
        (length_faults, "turn", "def f():\n" + " x = 1\n" * 60, ":1: f has 61 lines, at most 60"),
        (length_faults, "turn", "x = 1\n" * 401, ": 401 lines, at most 400"),
        (sentence_faults, "turn", "x = 1", ": a file opens with one sentence that says what it is for"),
        (world_faults, "core/state", "from time import sleep", ":1: core imports time"),
        (world_faults, "core/state", "def f(p):\n return p.read_text()", ":2: core calls read_text()"),
        (world_faults, "core/state", "def f(d):\n return d.now()", ":2: core calls now()"),
    ],
)
def test_a_broken_wall_is_named(rule: Rule, name: str, code: str, fault: str) -> None:
    found = rule(f"runner/{name}.py", ast.parse(code))
    assert len(found) == 1
    assert found[0].startswith(f"runner/{name}.py{fault}")


@pytest.mark.parametrize(
    ("rule", "name", "code"),
    [
        (floor_faults, "turn", "from runner import ledger, gates\nfrom runner.core.events import Fact"),
        (home_faults, "repo", "import os\ndef f():\n from git import Git"),
        (home_faults, "agents/tuner/study", "def f():\n import optuna"),
        (heavy_faults, "repo", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n import git\ndef f():\n import git"),
        (print_faults, "plain", "print(1)"),
        (length_faults, "turn", "def f():\n" + " x = 1\n" * 59),
        (world_faults, "host", "import time\ntime.time()"),
    ],
)
def test_a_wall_that_stands_is_left_alone(rule: Rule, name: str, code: str) -> None:
    assert rule(f"runner/{name}.py", ast.parse(code)) == []


def test_help_loads_nothing_heavy() -> None:
    if importlib.util.find_spec("runner.cli") is None:
        pytest.skip("runner/cli.py is not written yet")
    command = (sys.executable, "-X", "importtime", "-m", "runner.cli", "--help")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    timed = [line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert "argparse" in timed
    assert {module.split(".")[0] for module in timed} & HEAVY == set()
    assert "usage" in done.stdout.lower()
