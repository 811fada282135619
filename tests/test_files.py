import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner import files


def _names(directory: Path) -> list[str]:
    return sorted(place.name for place in directory.iterdir())


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/a.py", "src/a.py"),
        ("src/naïve ☃.py", "src/naïve ☃.py"),
        (os.fsdecode(b"src/\xff.py"), "src/\\xff.py"),
        ("a\nb\x1b[31m", "a\\x0ab\\x1b[31m"),
        ("a\\xff", "a\\\\xff"),
        ("a\u202eb", "a\\u202eb"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_a_path_is_shown_as_printable_text(path: str, shown: str) -> None:
    assert files.display(path) == shown


@given(st.lists(st.binary(min_size=1, max_size=6), min_size=2, max_size=2, unique=True))
def test_no_two_paths_look_the_same_and_all_are_utf8(names: list[bytes]) -> None:
    one, two = (files.display(os.fsdecode(name)) for name in names)
    assert one != two
    assert one.encode().decode() == one


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    files.write_durably(tmp_path / "f", b"old")
    files.write_durably(tmp_path / "f", b"new", mode=0o600)
    assert (tmp_path / "f").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600
    (tmp_path / "busy").mkdir()
    with pytest.raises(OSError, match="directory"):
        files.write_durably(tmp_path / "busy", b"x")
    assert _names(tmp_path) == ["busy", "f"]


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (tmp_path / "link").symlink_to("secret")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "."):
        with pytest.raises(OSError, match=r"levels of symbolic links|not a regular file"):
            files.read_plain(tmp_path / name)
    assert files.read_plain(tmp_path / "secret", limit=1) == b"s"
    with pytest.raises(ValueError, match="more than 0 bytes"):
        files.read_plain(tmp_path / "secret", limit=0)


def test_a_walk_follows_no_symlink_and_stops_where_told(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/f").touch()
    (tmp_path / "stop").mkdir()
    (tmp_path / "stop/hidden").touch()
    (tmp_path / "out").symlink_to("/etc")
    assert sorted(path for path, _ in files.walk(tmp_path, stop=lambda name: name == "stop")) == ["a/b/f", "out", "stop"]


def _nest(top: Path, depth: int, name: str) -> None:
    """Directories in directories, deeper than any path can say."""
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("leaf", os.O_CREAT, dir_fd=here))
    os.close(here)


def test_a_path_too_long_to_say_is_told_as_unreadable_and_removed_all_the_same(tmp_path: Path) -> None:
    _nest(tmp_path / "deep", 60, "n" * 200)
    _nest(tmp_path / "many", 1500, "d")
    assert [seen for _, seen in files.walk(tmp_path / "deep")] == [None]
    files.remove_tree(tmp_path / "deep")
    files.remove_tree(tmp_path / "many")
    assert _names(tmp_path) == []


def test_removing_a_tree_leaves_what_its_symlinks_name(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/f").touch()
    (tmp_path / "gone/locked").mkdir(parents=True)
    (tmp_path / "gone/locked/f").touch()
    (tmp_path / "gone/link").symlink_to(tmp_path / "kept")
    (tmp_path / "gone/locked").chmod(0)
    files.remove_tree(tmp_path / "gone")
    files.remove_tree(tmp_path / "never was")
    assert _names(tmp_path) == ["kept"]
    assert (tmp_path / "kept/f").exists()


def test_a_copied_tree_has_the_same_files_in_new_places(tmp_path: Path) -> None:
    old = tmp_path / "old"
    (old / "d/empty").mkdir(parents=True)
    (old / "d/big").write_bytes(os.urandom(3 << 20))
    (old / "d/run").write_text("#!/bin/sh\n")
    (old / "d/run").chmod(0o755)
    os.utime(old / "d/run", ns=(5, 5))
    (old / "link").symlink_to("../outside")
    files.copy_tree(old, tmp_path / "new")
    new = tmp_path / "new"
    assert (new / "d/empty").is_dir()
    assert (new / "d/big").read_bytes() == (old / "d/big").read_bytes()
    assert (new / "d/big").stat().st_ino != (old / "d/big").stat().st_ino
    assert ((new / "d/run").stat().st_mtime_ns, stat.S_IMODE((new / "d/run").stat().st_mode)) == (5, 0o755)
    assert os.readlink(new / "link") == "../outside"  # noqa: PTH115 - the very text


def test_special_files_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    os.mkfifo(tmp_path / "old/pipe")
    with pytest.raises(OSError, match="not a regular file"):
        files.copy_tree(tmp_path / "old", tmp_path / "new")


def test_a_digest_tells_every_change_but_time(tmp_path: Path) -> None:
    top = tmp_path / "t"
    top.mkdir()
    (top / "ab").write_text("c")
    first = files.digest(top)
    os.utime(top / "ab", ns=(1, 1))
    assert files.digest(top) == first
    seen = {first}
    (top / "ab").rename(top / "a")
    (top / "a").write_text("bc")
    seen.add(files.digest(top))
    (top / "a").chmod(0o755)
    seen.add(files.digest(top))
    (top / "l").symlink_to("a")
    seen.add(files.digest(top))
    (top / "l").unlink()
    (top / "l").symlink_to("b")
    seen.add(files.digest(top))
    assert len(seen) == 5
    assert files.digest(top, skip=lambda path: path == "l") in seen
