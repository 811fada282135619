"""The scenes of the cases, for real tool chains; a chain that is not here is a printed reason to skip."""

import shutil
from pathlib import Path

import pytest

from tests.cases.conftest import Make, make
from tests.playground import CONTRACT, Scene

__all__ = ["make"]


def needs(*tools: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")


def scene(make: Make, files: dict[str, str], more: str) -> Scene:
    """A project in the repository's root whose evaluator counts what its program says; `src/` may be edited."""
    return make(contract=CONTRACT.replace("20}", "60}"), files=files, more=more)


def kept_outside(scene: Scene, *names: str) -> bool:
    """No commit and no checkout of the person's holds what was made for the measurement."""
    listed = {path.split("/")[0] for commit in scene.branch for path in scene.git("ls-tree", "-r", "--name-only", commit).split()}
    return not listed & set(names) and not any((Path(scene.repo) / name).exists() for name in names)
