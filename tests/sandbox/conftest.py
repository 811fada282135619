"""One sandbox a level, and a small tree for each test."""

import os
from pathlib import Path

import pytest

from runner.sandbox import Sandbox, probe

LEVELS = (3, 2, 0)


def at_level(state: Path, level: int) -> Sandbox:
    """The sandbox of exactly this level; the machine's lack of it is a reason to skip, and is printed."""
    found = probe(state, "any", at_most=level)
    if found.level != level:
        pytest.skip(f"this machine has no confinement of level {level}: {found.report}")
    return found


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("states")


@pytest.fixture(params=LEVELS, ids=[f"level{each}" for each in LEVELS])
def sandbox(request: pytest.FixtureRequest, states: Path) -> Sandbox:
    return at_level(states / str(request.param), int(request.param))


@pytest.fixture
def best(states: Path) -> Sandbox:
    return at_level(states / "3", 3)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two files and a directory, one of them old."""
    root = tmp_path / "side"
    (root / "src").mkdir(parents=True)
    (root / "src/a.py").write_text("a = 1\n")
    (root / "README").write_text("read\n")
    os.utime(root / "README", (1_000_000_000, 1_000_000_000))
    return root
