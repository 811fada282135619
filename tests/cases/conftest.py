"""What every case stands on: a scratch repository, a state home of its own, and nothing left running afterwards."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests import playground
from tests.playground import Scene

Make = Callable[..., Scene]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes scenes (see `playground.make`) below folders of their own; the runner has no child when the test is over."""
    count = 0

    def one(**more: object) -> Scene:
        nonlocal count
        count += 1
        scene = playground.make(tmp_path / f"scene{count}", **more)  # type: ignore[arg-type]
        monkeypatch.setenv("XDG_STATE_HOME", str(scene.state_home))
        return scene

    yield one
    assert psutil.Process().children(recursive=True) == []
