"""A project beside its repository, and experiments beside each other."""

import tempfile
from pathlib import Path

import pytest

from tests import playground
from tests.cases.conftest import Make
from tests.playground import CONTRACT, Scene


def test_a_project_root_outside_the_repository_is_seen_and_cannot_be_written(make: Make, tmp_path: Path) -> None:
    data = tmp_path / "project"
    data.mkdir()
    (data / "n").write_text("7\n")
    say = f'#!/bin/sh\ntouch {data}/written 2>/dev/null\necho "METRIC size=$(cat {data}/n)$(wc -c < src/a.txt)"\n'
    worker = f"#!/bin/sh\nread n < {data}/n && head -c -10 src/a.txt > src/b.txt && mv src/b.txt src/a.txt\n"
    scene = make(
        files={"exp/evaluate.sh": say, "exp/worker.sh": worker},
        contract=CONTRACT.replace("project_root: ..", f"project_root: {data}"),
    )
    assert scene.play(1)[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.facts("Decided")[0]["metric_value"] == 7190.0
    assert [p.name for p in data.iterdir()] == ["n"]


def test_two_experiments_of_one_repository_keep_apart(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make()
    other = {p.name: p.read_bytes() for p in first.experiment.iterdir() if p.is_file()}
    first.write({f"other/{name}": data for name, data in other.items()})
    contract = (first.repo / "other/experiment.yaml").read_text().replace("id: scene", "id: second")
    first.write({"other/experiment.yaml": contract})
    head = first.commit("a second experiment")
    second = Scene(first.repo, first.repo / "other", first.state_home)
    for scene in (first, second, first, second):
        assert scene.play(1)[0] == 0
    assert (first.statuses, second.statuses) == (["keep", "keep"], ["keep", "keep"])
    tips = {name: first.git("rev-list", f"{head}..refs/heads/research/{name}").split() for name in ("scene", "second")}
    assert [len(tips[name]) for name in ("scene", "second")] == [2, 2]
    assert not set(tips["scene"]) & set(tips["second"])
    assert first.git("status", "--porcelain") == ""


def test_a_repository_below_var_tmp_is_measured_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside, /var/tmp is a folder of its own: the person's path has to be made in it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="research-test-") as folder:
        scene = playground.make(Path(folder))
        monkeypatch.setenv("XDG_STATE_HOME", str(scene.state_home))
        assert scene.play(1)[0] == 0
        assert scene.statuses == ["keep"]
