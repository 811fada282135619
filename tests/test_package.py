"""The wheel runs where no clone is, and brings its prompts, schemas and templates along."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = {"prompts": ROOT / "prompts", "schemas": ROOT / "schemas", "templates": ROOT / "experiments/_templates"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        int(importlib.metadata.version("setuptools").split(".")[0]) < 77, reason="setuptools 77 or newer builds the wheel"
    ),
    pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="README.md is not written yet"),
]


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RESEARCH_"))}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what git knows, without a network and without a trace in the clone."""
    source = tmp_path_factory.mktemp("source")
    for name in filter(None, run("git", "ls-files", "-z", cwd=ROOT).split("\0")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    out = tmp_path_factory.mktemp("wheel")
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    run(sys.executable, "-c", build, str(out), cwd=source)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel, and sees what it depends on where the tests have it."""
    home = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", home, cwd=home)
    python = home / "bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=home)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip()
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_the_wheel_holds_the_rooms_and_the_data_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.split("/")[0].endswith(".dist-info")}
    code = {str(path.relative_to(ROOT)) for path in ROOT.glob("runner/**/*.py")}
    data = {
        f"runner/_shipped/{kind}/{path.relative_to(folder)}"
        for kind, folder in DATA.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == {*code, *data, "runner/py.typed"}


def test_installed_data_is_the_clones_byte_for_byte(python: Path, tmp_path: Path) -> None:
    code = "import sys; from runner.shipped import shipped; sys.stdout.buffer.write(shipped(*sys.argv[1:]))"
    files = [(kind, path) for kind, folder in DATA.items() for path in folder.rglob("*") if path.is_file()]
    assert files
    for kind, path in files[:1] + files[-1:]:
        name = str(path.relative_to(DATA[kind]))
        assert run(python, "-I", "-c", code, kind, name, cwd=tmp_path).encode() == path.read_bytes()


def test_the_installed_runner_is_not_the_clones(python: Path, tmp_path: Path) -> None:
    where = run(python, "-I", "-c", "import runner; print(runner.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(python.parent.parent)


@pytest.mark.skipif(importlib.util.find_spec("runner.cli") is None, reason="runner/cli.py is not written yet")
def test_the_installed_command_helps_outside_the_clone(python: Path, tmp_path: Path) -> None:
    assert "usage" in run(python.parent / "research", "--help", cwd=tmp_path).lower()


# --- as a user installs it ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `research` of an environment that holds nothing but the wheel and what it asks for."""
    home = tmp_path_factory.mktemp("user")
    run(sys.executable, "-m", "venv", home, cwd=home)
    done = subprocess.run(
        [home / "bin/python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel],
        cwd=home, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"no package index: {done.stderr.strip().splitlines()[-1]}")
    return home / "bin/research"


@pytest.mark.parametrize(("name", "statuses"), [("leduc_settings_tuning", ["keep", "keep"]), ("text_stats_speed", ["keep"])])
def test_a_shipped_experiment_runs_from_the_wheel_in_an_empty_home(
    name: str, statuses: list[str], command: Path, tmp_path: Path
) -> None:
    repo, home = tmp_path / "repo", tmp_path / "home"
    home.mkdir()
    for path in filter(None, run("git", "ls-files", "-z", f"experiments/{name}", cwd=ROOT).split("\0")):
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, repo / path)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "x"]):
        run("git", *words, cwd=repo)
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    argv: list[str | Path] = [command, f"experiments/{name}", "--max-turns", str(len(statuses))]
    done = subprocess.run(argv, cwd=repo, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    table = (repo / "experiments" / name / "results.tsv").read_text(encoding="utf-8").splitlines()[2:]
    assert [row.split("\t")[4] for row in table] == statuses
