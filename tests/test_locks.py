"""The two locks name one set of packages, by hash alone, and keep what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MACHINES = [{"python_full_version": f"3.{minor}.0", "python_version": f"3.{minor}"} for minor in range(11, 15)]
PLATFORMS = ["linux", "darwin"]


def pins(name: str) -> dict[Requirement, list[str]]:
    """Each pinned package with the hashes below it."""
    found: dict[Requirement, list[str]] = {}
    for entry in re.split(r"\n(?=\S)", (ROOT / name).read_text().strip()):
        pin, *hashes = (part.strip() for part in entry.split("\\\n"))
        found[Requirement(pin)] = hashes
    return found


RUNTIME = pins("requirements.lock")
TESTS = pins("tests/requirements.lock")
ASKED = {"requirements.lock": PROJECT["project"]["dependencies"], "tests/requirements.lock": PROJECT["dependency-groups"]["dev"]}


@pytest.mark.parametrize("lock", [RUNTIME, TESTS], ids=["runtime", "tests"])
def test_a_lock_holds_exact_versions_and_their_hashes_and_nothing_else(lock: dict[Requirement, list[str]]) -> None:
    for pin, hashes in lock.items():
        assert [part.operator for part in pin.specifier] == ["=="], pin
        assert pin.url is None, pin
        assert hashes, pin
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in hashes), pin


def test_the_tests_run_on_the_versions_that_users_get() -> None:
    assert set(RUNTIME) <= set(TESTS)
    assert all(TESTS[pin] == hashes for pin, hashes in RUNTIME.items())


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("machine", MACHINES, ids=[machine["python_version"] for machine in MACHINES])
@pytest.mark.parametrize("name", ASKED)
def test_what_the_project_asks_for_is_pinned_once_for_every_machine(name: str, machine: dict[str, str], platform: str) -> None:
    here = {**machine, "sys_platform": platform}
    for asked in map(Requirement, ASKED[name]):
        wanted = asked.marker is None or asked.marker.evaluate(here)
        same = [pin for pin in pins(name) if canonicalize_name(pin.name) == canonicalize_name(asked.name)]
        serving = [pin for pin in same if pin.marker is None or pin.marker.evaluate(here)]
        assert len(serving) == wanted, asked
        assert all(asked.specifier.contains(part.version) for pin in serving for part in pin.specifier), asked
