"""The undisturbed campaign, and one to disturb."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crash import scenes
from tests.crash.scenes import Runner
from tests.playground import Scene


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is left by the campaign that nobody disturbs."""
    scene = scenes.four(tmp_path_factory.mktemp("whole"))
    with scenes.runner(scene) as runner:
        runner.play()
    assert scene.statuses == ["keep", "discard", "rejected", "keep"]
    assert scenes.unsound(scene) == []
    return scenes.end(scene)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return scenes.four(tmp_path)


@pytest.fixture
def runner(scene: Scene) -> Iterator[Runner]:
    with scenes.runner(scene) as found:
        yield found
