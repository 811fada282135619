"""The agent cannot touch the measurement: attacks that are first seen to work without protection, then played on the product."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.attacks.lab import ATTACKS, CONTROLS
from tests.attacks.product import play
from tests.attacks.table import fault, told, worked
from tests.playground import CLONE

ORACLES = {"accept", "canary", "repo", "left", "proc", "victim", "net", "flood", "inject", "lock", "secret"}
PLAYED = [name for name in ATTACKS if name not in CONTROLS]
QUICK = ("10_", "14_", "16_", "20_", "22_", "30_", "36_", "37_", "38_", "41_", "45_", "52_", "54_", "58_", "59_", "60_")
"""One of each kind, for every run; the others are marked slow."""


def quick(name: str) -> bool:
    return name.startswith(QUICK)


def marked(names: Sequence[str]) -> list[object]:
    return [pytest.param(name, marks=() if quick(name) else (pytest.mark.slow,)) for name in names]


def batches(names: Sequence[str], size: int) -> list[object]:
    """Rows that share a campaign: the quick ones first, the others marked slow."""
    fast, rest = [n for n in names if quick(n)], [n for n in names if not quick(n)]
    groups = [(group[i : i + size], slow) for group, slow in ((fast, False), (rest, True)) for i in range(0, len(group), size)]
    return [
        pytest.param(rows, id=f"{rows[0][:2]}-{rows[-1][:2]}", marks=(pytest.mark.slow,) if slow else ()) for rows, slow in groups
    ]


def faults(root: Path, rows: Sequence[str], evaluator: str, level: int = 3) -> dict[str, str]:
    """Every row that ended otherwise than promised; a row that was not played is one too."""
    done = play(root, rows, level, evaluator)
    wrong = {n: told(n, o, evaluator) for n, o in done.items() if n not in ATTACKS or fault(ATTACKS[n], o, level, evaluator)}
    return wrong | {name: "was not played" for name in rows if name not in done}


def test_every_script_says_how_it_is_seen_to_work() -> None:
    for row in ATTACKS.values():
        assert row.about.endswith((".", ")")), row.name
        assert row.control in ("keep", "discard") or (row.oracles and row.oracles <= ORACLES), row.name
    numbers = {int(name[:2]) for name in PLAYED}
    assert numbers == set(range(1, 61)) - {43}, "43, the full disk, has a test of its own"


@pytest.mark.parametrize("name", marked(PLAYED))
def test_unprotected_the_attack_works(tmp_path: Path, name: str) -> None:
    said = worked(tmp_path / "lab", ATTACKS[name])
    if said.endswith("(needs root)"):
        pytest.skip(said)
    assert re.fullmatch(r"works: [a-z+]+", said), said


def test_an_honest_idle_agent_trips_no_oracle_even_there(tmp_path: Path) -> None:
    assert worked(tmp_path / "lab", ATTACKS["00_noop"]) == "not accepted"


@pytest.mark.parametrize("rows", batches(PLAYED, 9))
def test_no_attack_gets_past_the_runner(tmp_path: Path, rows: Sequence[str]) -> None:
    assert faults(tmp_path, rows, "ordinary") == {}


@pytest.mark.slow
@pytest.mark.parametrize("rows", [pytest.param(PLAYED[i::6], id=str(i)) for i in range(6)])
def test_none_gets_past_an_evaluator_in_two_processes(tmp_path: Path, rows: Sequence[str]) -> None:
    assert faults(tmp_path, rows, "split") == {}


def test_the_quiet_thefts_end_at_an_evaluator_in_two_processes(tmp_path: Path) -> None:
    assert faults(tmp_path, ["53_moderate_answer_theft", "54_moderate_time_patch", "55_moderate_early_exit"], "split") == {}


@pytest.mark.parametrize("evaluator", ["ordinary", "split"])
def test_an_honest_gain_is_kept_and_nothing_else(tmp_path: Path, evaluator: str) -> None:
    done = play(tmp_path, ["00_noop", "00_honest_4x", "00_honest_1.5x"], 3, evaluator)
    assert {name: (outcome.status, set(outcome.past)) for name, outcome in done.items()} == {
        "00_noop": ("discard", set()),
        "00_honest_4x": ("keep", set()),
        "00_honest_1.5x": ("keep", set()),
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a file immutable")
def test_what_an_agent_without_walls_made_immutable_is_in_nobodys_way(tmp_path: Path) -> None:
    rows = ["39_immutable_file", "09_edit_evaluator_plain"]
    done = play(tmp_path, rows, 0, "ordinary")
    assert {name: (outcome.status, set(outcome.past)) for name, outcome in done.items()} == {
        "39_immutable_file": ("discard", set()),
        "09_edit_evaluator_plain": ("rejected", set()),
    }


USER = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")


def interpreter() -> tuple[str, dict[str, str]] | None:
    """A Python that another user can start from a shell, and what it needs to find this one's packages and a guard."""
    asks = "import sys; sys.exit(sys.version_info < (3, 11))"
    lent = {"PYTHONPATH": sysconfig.get_path("purelib"), "LAB_GUARD": "unittest"}
    for path, more in ((sys.executable, {}), ("/usr/bin/python3", lent)):
        words = (*USER, "/bin/sh", "-c", '"$0" -c "$1"', path, asks)
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return path, more
    return None


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of another user's; every session of pytest shuts its own folders to others while it starts."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="attacks-user-", ignore_cleanup_errors=True) as folder:
        os.chown(folder, 65534, 65534)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="changes to another user, which root can")
def test_an_ordinary_user_is_as_safe(place: Path) -> None:
    found = interpreter()
    if found is None:
        pytest.skip("no Python 3.11 that another user may start")
    python, more = found
    rows = ("10_", "14_", "22_", "41_", "47_")
    command = (*USER, python, "-m", "tests.attacks", "--skip-unprotected", "--json", "--evaluators", "ordinary", "--rows")
    env = {**os.environ, "HOME": str(place), "TMPDIR": str(place), "PYTHONDONTWRITEBYTECODE": "1", **more}
    done = subprocess.run((*command, *rows), cwd=CLONE, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout, done.stderr[-2000:]
    said = json.loads(done.stdout)
    assert said["faults"] == []
    assert {name: cells["3 ordinary"].partition(":")[0] for name, cells in said["table"].items()} == dict.fromkeys(
        [name for name in ATTACKS if name.startswith(rows)], "stopped"
    )
