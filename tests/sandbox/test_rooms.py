"""Directories for one run go whole, and nothing beside them."""

import os
import subprocess
from pathlib import Path

import pytest

from runner.sandbox.rooms import layer, put_away, scrub, sweep


def test_a_directory_goes_with_all_that_is_in_it_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    room = tmp_path / "room"
    (room / "a/b").mkdir(parents=True)
    (room / "a/link").symlink_to(outside)
    (room / "up").symlink_to("..")
    os.mkfifo(room / "a/b/pipe")
    (room / "a/b").chmod(0)
    (room / "a").chmod(0)
    assert scrub(room)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["outside"]
    assert (outside / "kept").exists()


def test_a_link_a_file_and_nothing_at_all_can_be_scrubbed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "file").touch()
    assert [scrub(tmp_path / name) for name in ("link", "file", "none")] == [True] * 3
    assert list(tmp_path.iterdir()) == []


def test_what_will_not_go_is_moved_aside_for_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "room").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("runner.sandbox.rooms.scrub", lambda _: False)
        put_away(tmp_path / "room")
    assert not (tmp_path / "room").exists()
    assert len(list(tmp_path.iterdir())) == 1
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_layer_is_empty_and_gone_afterwards_whatever_happens(tmp_path: Path) -> None:
    def work() -> None:
        with layer(tmp_path) as first, layer(tmp_path) as second:
            assert first != second
            assert list(first.iterdir()) == []
            (first / "x").touch()
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_leaves_the_layers_of_runs_that_live(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    for name in (f"{os.getppid()}-0", f"{ended.pid}-0", f"{os.getpid()}-from-an-earlier-pid", "1x"):
        (tmp_path / name).mkdir()
    with layer(tmp_path) as mine:
        sweep(tmp_path)
        assert sorted(each.name for each in tmp_path.iterdir()) == sorted([f"{os.getppid()}-0", mine.name])
