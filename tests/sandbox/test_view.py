"""Which installations are shown for a PATH, and what of them is not."""

import subprocess
import sys
from pathlib import Path

import pytest

from runner.sandbox import Job, probe
from runner.sandbox.view import look


def program(path: Path, says: str = "42") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    return place


def shown(*entries: Path) -> set[Path]:
    """What is shown for these PATH entries beyond what this interpreter needs by itself."""
    own = set(look({"PATH": "/usr/bin"}).roots)
    return set(look({"PATH": ":".join(map(str, [*entries, "/usr/bin"]))}).roots) - own


@pytest.mark.parametrize(
    ("entry", "marker", "root"),
    [
        ("venv/bin", "venv/pyvenv.cfg", "venv"),
        ("miniconda3/envs/x/bin", "miniconda3/envs/x/conda-meta/history", "miniconda3/envs/x"),
        (".nvm/versions/node/v20/bin", ".nvm/versions/node/v20/lib/a", ".nvm"),
        (
            ".local/share/uv/python/cpython-3.12/bin",
            ".local/share/uv/python/cpython-3.12/lib/a",
            ".local/share/uv/python/cpython-3.12",
        ),
        (".local/bin", ".local/lib/a", ".local/bin"),
        ("bin", "lib/a", "bin"),
        ("project/bin", "project/src/a", "project/bin"),
        ("clone/bin", "clone/.git/config", "clone/bin"),
    ],
)
def test_the_installation_behind_an_entry_is_shown_and_no_more(home: Path, entry: str, marker: str, root: str) -> None:
    program(home / entry / "tool")
    (home / marker).parent.mkdir(parents=True, exist_ok=True)
    (home / marker).touch()
    if entry == "clone/bin":
        (home / "clone/lib").mkdir()
    assert shown(home / entry) == {home / root}


def test_a_link_brings_along_where_it_leads(home: Path) -> None:
    program(home / ".local/share/uv/tools/ruff/bin/ruff")
    (home / ".local/share/uv/tools/ruff/pyvenv.cfg").touch()
    (home / ".local/bin").mkdir()
    (home / ".local/bin/ruff").symlink_to("../share/uv/tools/ruff/bin/ruff")
    assert shown(home / ".local/bin") == {home / ".local/bin", home / ".local/share/uv/tools/ruff"}


def test_both_ends_of_a_linked_installation_are_shown(home: Path) -> None:
    program(home / "opt/node-20/bin/node")
    (home / "opt/node-20/lib").mkdir()
    (home / "node").symlink_to("opt/node-20")
    assert shown(home / "node/bin") == {home / "node", home / "opt/node-20"}


@pytest.mark.parametrize("entry", ["", "/", "/home", "/home/somebody", "/root", "relative/bin", ".config/composer/bin", ".ssh"])
def test_no_home_and_no_place_of_secrets_is_an_installation(home: Path, entry: str) -> None:
    path = home / entry if not entry.startswith("/") else Path(entry)
    if entry.startswith("."):
        program(path / "tool")
    assert shown(path) == set()


def test_homes_of_tools_are_named_in_the_environment(home: Path) -> None:
    program(home / ".cargo/bin/cargo")
    (home / ".rustup").mkdir()
    view = look({"PATH": f"{home}/.cargo/bin"})
    assert {name: view.env[name] for name in ("CARGO_HOME", "RUSTUP_HOME")} == {
        "CARGO_HOME": f"{home}/.cargo",
        "RUSTUP_HOME": f"{home}/.rustup",
    }
    assert view.path == f"{home}/.cargo/bin:/usr/bin:/bin"


def test_a_tool_of_a_home_starts_without_its_credentials(home: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(home / ".cargo/bin/mine")
    for secret in (".cargo/credentials.toml", ".cargo/credentials", ".npmrc", ".ssh/id", ".cargo/.netrc", ".cargo/x/.config/key"):
        (home / secret).parent.mkdir(parents=True, exist_ok=True)
        (home / secret).write_text("a-token\n")
    (home / "credentials-are-not").write_text("a-token\n")
    monkeypatch.setenv("PATH", f"{home}/.cargo/bin:/usr/bin:/bin")
    box = probe(tree.parent / "state", "any")
    if box.level < 3:
        pytest.skip("no bubblewrap on this machine")
    assert box.report["home_visible"] is False
    done = box.run(Job(("sh", "-c", f"mine; cat {home}/.npmrc; cat $(find {home} -type f)"), tree))
    assert done.stdout.text() == "42\n#!/bin/sh\necho 42\n"


def test_a_python_of_a_virtual_environment_starts_with_its_packages(tree: Path, tmp_path: Path) -> None:
    """The runner itself as a child of another environment: a chain of links from there to the base."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", str(venv)], check=True)
    (tmp_path / "python").symlink_to(venv / "bin/python")
    code = (
        "import sys\nfrom pathlib import Path\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[2]), *[each for each in sys.path if each.endswith('site-packages')]]!r}\n"
        "from runner.sandbox import Job, probe\n"
        f"box = probe(Path({str(tmp_path / 'state')!r}), 3)\n"
        f"done = box.run(Job((sys.executable, '-c', 'import sys; print(sys.prefix, sys.base_prefix)'), Path({str(tree)!r})))\n"
        "print(done.stdout.text(), done.stderr.text(), done.not_started)"
    )
    done = subprocess.run([venv / "bin/python", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == f"{venv} {sys.base_prefix}\n  None\n", done.stderr
