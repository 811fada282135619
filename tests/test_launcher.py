"""`./research` finds a Python, makes its environment once, and says in one sentence what is in the way."""

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("sh", "cat", "cmp", "cp", "ls", "mkdir", "mv", "readlink", "rm", "sed", "sleep", "sort", "tail", "touch", "wc")
LOCK = """one==1 \\
    --hash=sha256:00
two==2 ; python_version < '3.12' \\
    --hash=sha256:00
two==3 ; python_version >= '3.12' \\
    --hash=sha256:00
colorama==0 ; sys_platform == 'win32' \\
    --hash=sha256:00
"""

# Plays an interpreter, its venv and its pip. What it is to do wrong is told by the environment; each pip is noted in the log.
PYTHON = """#!/bin/sh
case "$*" in
    *version_info*) [ -n "${VERSION-3 11 7}" ] && echo "${VERSION-3 11 7} $0" ;;
    *fcntl*) exec REAL "$@" ;;
    *-m*--version) [ -z "${NO_PIP-}" ] ;;
    *-m\\ venv*)
        [ -z "${NO_VENV-}" ] || { echo "$0: No module named venv" >&2; exit 1; }
        for folder; do :; done
        mkdir -p "$folder/bin"
        cp "$0" "$folder/bin/python"
        ;;
    *-m\\ pip*install*)
        echo begin >>"$LOG"
        sleep "${PIP_TAKES-0}"
        [ -z "${PIP_SAYS-}" ] || { printf '%s\\n' "$PIP_SAYS"; exit 1; }
        echo end >>"$LOG"
        ;;
    *runner.cli*) shift 5; printf '<%s>' "$@"; echo ;;
    *) echo "unexpected: $*" >&2; exit 99 ;;
esac
""".replace("REAL", sys.executable)


@dataclasses.dataclass(frozen=True)
class Clone:
    """A clone with a launcher and a lock, and a PATH on which nothing lies but what a test put there."""

    home: Path
    path: Path
    log: Path

    def put(self, name: str, script: str, folder: Path | None = None) -> Path:
        file = (folder or self.path) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script)
        file.chmod(0o755)
        return file

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": str(self.path), "LOG": str(self.log), "HOME": str(self.log.parent), **more}

    def run(
        self, *words: str, cwd: Path = Path("/"), command: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        argv = (str(command or self.home / "research"), *words)
        return subprocess.run(argv, cwd=cwd, env=self.environment(**env), capture_output=True, text=True, check=False, timeout=60)

    def start(self, **env: str) -> subprocess.Popen[str]:
        argv = (str(self.home / "research"), "status")
        return subprocess.Popen(
            argv,
            env=self.environment(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def installs(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def wait_for_install(self) -> None:
        deadline = time.monotonic() + 20
        while not self.installs():
            assert time.monotonic() < deadline, "no install began"
            time.sleep(0.01)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    made = Clone(tmp_path / "my clone", tmp_path / "bin", tmp_path / "log")
    made.home.mkdir()
    made.path.mkdir()
    shutil.copy(ROOT / "research", made.home)
    (made.home / "requirements.lock").write_text(LOCK)
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, tool
        (made.path / tool).symlink_to(found)
    made.put("git", "#!/bin/sh\necho git version 2.39.5\n")
    made.put("python3", PYTHON)
    return made


def test_the_first_start_says_in_one_line_what_it_makes_and_hands_the_words_on(clone: Clone) -> None:
    done = clone.run("experiments/a b", "--max-turns", "5", "", "*")
    assert done.stderr == f"research: setting up {clone.home}/.venv with pip, once: 2 packages, about 215 MB, Python 3.11.7\n"
    assert done.stdout == f"<{clone.home}><experiments/a b><--max-turns><5><><*>\n"
    assert done.returncode == 0
    assert clone.installs() == ["begin", "end"]


def test_the_second_start_is_silent_and_asks_neither_pip_nor_uv_nor_another_python(clone: Clone) -> None:
    clone.run("status")
    for name in ("uv", "python3", "pip"):
        clone.put(name, f"#!/bin/sh\necho {name} was called >&2\nexit 1\n")
    done = clone.run("status")
    assert (done.stdout, done.stderr, done.returncode) == (f"<{clone.home}><status>\n", "", 0)


def test_another_lock_makes_the_environment_anew(clone: Clone) -> None:
    clone.run("status")
    (clone.home / "requirements.lock").write_text(LOCK.replace("one==1", "one==2"))
    (clone.home / ".venv/left over").touch()
    assert clone.run("status").stderr.startswith("research: setting up ")
    assert not (clone.home / ".venv/left over").exists()
    assert clone.installs() == ["begin", "end"] * 2
    assert clone.run("status").stderr == ""


def test_an_environment_whose_python_is_gone_is_made_anew(clone: Clone) -> None:
    clone.run("status")
    (clone.home / ".venv/bin/python").unlink()
    (clone.home / ".venv/bin/python").symlink_to("/nowhere/python3.11")
    assert clone.run("status").returncode == 0
    assert clone.installs() == ["begin", "end"] * 2


def test_shims_that_lie_are_passed_over_even_those_in_front(clone: Clone, tmp_path: Path) -> None:
    shim = "#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n"
    shims = tmp_path / "shims"
    for name in ("python3", "python3.13", "python"):
        clone.put(name, shim, shims)
    clone.put("python3", "#!/bin/sh\necho Python for you\n")
    clone.put("python3.12", PYTHON)
    done = clone.run("status", PATH=f"{shims}::/nowhere:{clone.path}", VERSION="3 12 1")
    assert "with pip, once: 2 packages, about 215 MB, Python 3.12.1" in done.stderr
    assert done.returncode == 0


def test_what_was_found_is_named_where_no_python_serves(clone: Clone) -> None:
    clone.put("python3.12", "#!/bin/sh\nexit 127\n")
    clone.put("python", PYTHON.replace("3 11 7", "2 7 18"))
    done = clone.run("status", cwd=clone.path)
    assert done.returncode == 0
    clone.put("python3", PYTHON.replace("3 11 7", "3 9 18"))
    shutil.rmtree(clone.home / ".venv")
    done = clone.run("status")
    found = f"{clone.path}/python3 is 3.9.18; {clone.path}/python3.12 does not run; {clone.path}/python is 2.7.18."
    first, second = done.stderr.splitlines()
    assert first == f"research: expected Python 3.11 or newer, found: {found}"
    assert "apt-get install python3 python3-venv" in second
    assert "brew install python@3.13" in second
    assert (done.returncode, done.stdout) == (1, "")
    assert not (clone.home / ".venv").exists()


def test_no_python_at_all_is_said(clone: Clone) -> None:
    (clone.path / "python3").unlink()
    assert "found: none on PATH.\n" in clone.run("status").stderr


def test_a_named_python_is_taken_and_an_unfit_one_is_not_replaced_in_silence(clone: Clone, tmp_path: Path) -> None:
    other = clone.put("other python", PYTHON, tmp_path)
    assert "Python 3.14.0\n" in clone.run("status", RESEARCH_PYTHON_BIN=str(other), VERSION="3 14 0").stderr
    shutil.rmtree(clone.home / ".venv")
    done = clone.run("status", RESEARCH_PYTHON_BIN=str(other), VERSION="3 10 2")
    assert done.stderr == (
        f"research: expected Python 3.11 or newer, found: {other} is 3.10.2.\n"
        "  RESEARCH_PYTHON_BIN names it: set it to another one, or unset it.\n"
    )
    assert done.returncode == 1


@pytest.mark.parametrize(("lacks", "part"), [({"NO_VENV": "1"}, "venv module"), ({"NO_PIP": "1"}, "pip (ensurepip)")])
def test_a_python_that_cannot_make_environments_is_told_the_package_that_mends_it(
    clone: Clone, lacks: dict[str, str], part: str
) -> None:
    done = subprocess.run((clone.home / "research",), env=clone.environment(**lacks), capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-2:] == [
        f"research: {clone.path}/python3 is 3.11.7, but it cannot make an environment: its {part} is missing.",
        "  Install it: apt-get install python3-venv (or python3.11-venv; Debian, Ubuntu), brew install python@3.11 (macOS)."
        " uv serves too.",
    ]
    assert done.returncode == 1
    assert not (clone.home / ".venv").exists()


@pytest.mark.parametrize(
    ("says", "found"),
    [
        ("echo git version 2.35.9", "git is 2.35.9"),
        ("echo git version 1.99.0", "git is 1.99.0"),
        ("echo gud version x", "git says 'gud version x'"),
        ("echo 'git version 2.50.1 (Apple Git-155)'; exit 1", "git was not found or does not run"),
    ],
)
def test_a_git_that_does_not_serve_is_named_with_the_reason(clone: Clone, says: str, found: str) -> None:
    clone.put("git", f"#!/bin/sh\n{says}\n")
    done = clone.run("status")
    assert done.stderr == (
        f"research: {found}; expected 2.36 or newer, whose core.fsync makes a commit survive a power cut.\n"
        "  Install it: apt-get install git (Debian, Ubuntu), brew install git (macOS).\n"
    )
    assert done.returncode == 1
    assert clone.installs() == []


def test_no_git_is_said(clone: Clone) -> None:
    (clone.path / "git").unlink()
    assert clone.run("status").stderr.startswith("research: git was not found or does not run; expected 2.36 or newer")


@pytest.mark.parametrize("version", ["2.36.0", "2.50.1 (Apple Git-155)", "2.45.rc1", "3.0.0"])
def test_a_git_that_serves_is_taken(clone: Clone, version: str) -> None:
    clone.put("git", f"#!/bin/sh\necho 'git version {version}'\n")
    assert clone.run("status").returncode == 0


def test_a_set_up_killed_in_the_middle_is_redone(clone: Clone) -> None:
    child = clone.start(PIP_TAKES="30")
    clone.wait_for_install()
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    assert (clone.home / ".venv/bin/python").exists()
    (clone.home / ".venv/left over").touch()
    done = clone.run("status")
    assert done.stdout == f"<{clone.home}><status>\n"
    assert clone.installs() == ["begin", "begin", "end"]
    assert not (clone.home / ".venv/left over").exists()


def test_ctrl_c_in_the_middle_leaves_nothing_behind(clone: Clone) -> None:
    child = clone.start(PIP_TAKES="30")
    clone.wait_for_install()
    os.killpg(child.pid, signal.SIGINT)
    child.communicate(timeout=90)
    assert child.returncode in (130, -signal.SIGINT)
    assert not (clone.home / ".venv").exists()


def test_two_first_starts_at_once_set_up_once(clone: Clone) -> None:
    first = clone.start(PIP_TAKES="1")
    clone.wait_for_install()
    second = clone.start(PIP_TAKES="1")
    said = {child.pid: child.communicate(timeout=90) for child in (first, second)}
    assert [child.returncode for child in (first, second)] == [0, 0]
    assert [said[child.pid][0] for child in (first, second)] == [f"<{clone.home}><status>\n"] * 2
    assert said[second.pid][1] == f"research: another start is setting up {clone.home}/.venv; waiting for it\n"
    assert clone.installs() == ["begin", "end"]


def test_a_start_takes_over_from_one_that_died(clone: Clone) -> None:
    first = clone.start(PIP_TAKES="30")
    clone.wait_for_install()
    second = clone.start()
    assert second.stderr is not None
    assert "waiting for it" in second.stderr.readline()
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    stdout, stderr = second.communicate(timeout=90)
    assert stdout == f"<{clone.home}><status>\n"
    assert "setting up" in stderr


@pytest.mark.parametrize(
    ("says", "mend"),
    [
        (
            "ERROR: Could not install packages: [Errno 28] No space left on device",
            "The disk is full: {venv} needs about 300 MB. ",
        ),
        ("WARNING: NewConnectionError: Temporary failure in name resolution", "Setting up needs the package index once: "),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "Mend what it says and start again."),
    ],
)
def test_a_failed_install_ends_with_pips_last_lines_and_the_mend(clone: Clone, says: str, mend: str) -> None:
    lines = [f"line {number}" for number in range(20)]
    done = clone.run("status", PIP_SAYS="\n".join([*lines, says]))
    told = done.stderr.splitlines()
    assert told[1:7] == [f"  | {line}" for line in [*lines[-5:], says]]
    assert told[7] == "research: installing the packages with pip failed; nothing half-made was left."
    assert told[8].startswith("  " + mend.format(venv=clone.home / ".venv"))
    assert (done.returncode, done.stdout) == (1, "")
    assert not (clone.home / ".venv").exists()


def test_uv_is_taken_where_it_runs(clone: Clone) -> None:
    clone.put(
        "uv", '#!/bin/sh\ncase "$*" in --version) ;; "pip install"*--require-hashes*) echo uv >>"$LOG" ;; *) exit 9 ;; esac\n'
    )
    done = clone.run("status")
    assert " with uv, once: " in done.stderr
    assert clone.installs() == ["uv"]


def test_a_uv_that_does_not_run_is_passed_over(clone: Clone) -> None:
    clone.put("uv", "#!/bin/sh\nexit 127\n")
    assert " with pip, once: " in clone.run("status").stderr


def test_a_place_that_cannot_be_written_to_is_named_with_the_way_out(clone: Clone) -> None:
    done = clone.run("status", RESEARCH_VENV="/proc/nowhere/venv")
    first, second = done.stderr.splitlines()
    assert first.startswith("research: cannot write to /proc/nowhere, where the environment is to be made: ")
    assert second == "  Name another folder: RESEARCH_VENV=path."
    assert done.returncode == 1


def test_the_environment_lies_where_it_is_asked_for(clone: Clone, tmp_path: Path) -> None:
    assert clone.run("status", cwd=tmp_path, RESEARCH_VENV="an other/venv/").returncode == 0
    assert (tmp_path / "an other/venv/bin/python").exists()
    assert not (clone.home / ".venv").exists()


def test_a_folder_of_someone_elses_is_never_removed(clone: Clone, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("ten years")
    done = clone.run("status", RESEARCH_VENV=str(mine))
    assert f"or one made by this command; found something else in {mine}.\n" in done.stderr
    assert done.returncode == 1
    assert [path.name for path in mine.iterdir()] == ["thesis.tex"]


def test_setting_up_alone_prints_the_python_and_starts_nothing(clone: Clone) -> None:
    done = clone.run(RESEARCH_SETUP_ONLY="1")
    assert (done.stdout, done.returncode) == (f"{clone.home}/.venv/bin/python\n", 0)


@pytest.fixture
def ready(clone: Clone) -> Clone:
    """A clone that is set up with the Python of the tests, and a command line that says what it sees."""
    (clone.home / ".venv/bin").mkdir(parents=True)
    (clone.home / ".venv/bin/python").symlink_to(sys.executable)
    shutil.copy(clone.home / "requirements.lock", clone.home / ".venv/installed.lock")
    clone.put("cli.py", "import json, sys\ndef main():\n print(sys.argv, json.__name__)\n return 7\n", clone.home / "runner")
    clone.put("__init__.py", "", clone.home / "runner")
    return clone


def test_text_is_utf8_whatever_the_locale_says(ready: Clone) -> None:
    ready.put("cli.py", "import sys\ndef main():\n print(sys.flags.utf8_mode)\n", ready.home / "runner")
    assert ready.run(LC_ALL="C.UTF-8", PYTHONUTF8="0").stdout == "1\n"


def test_the_exit_code_and_the_words_pass_through(ready: Clone) -> None:
    done = ready.run("a b", "--json")
    assert (done.stdout, done.stderr, done.returncode) == ("['research', 'a b', '--json'] json\n", "", 7)


@pytest.mark.parametrize("target", ["{home}/research", "../my clone/research"])
def test_it_is_called_through_links_from_anywhere(ready: Clone, tmp_path: Path, target: str) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / "real").symlink_to(target.format(home=ready.home))
    (links / "research").symlink_to("real")
    assert ready.run(command=links / "research").returncode == 7
    done = subprocess.run(("sh", "research"), cwd=links, env=ready.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 7


def test_neither_the_callers_python_settings_nor_its_folder_are_looked_at(ready: Clone, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    for name in ("json.py", "runner/__init__.py", "runner/cli.py", "sitecustomize.py"):
        ready.put(name, "raise SystemExit('the trap was loaded')", trap)
    done = ready.run("x", cwd=trap, PYTHONPATH=str(trap), PYTHONHOME="/nowhere", PYTHONSTARTUP="json.py", CDPATH=str(trap))
    assert (done.stdout, done.stderr, done.returncode) == ("['research', 'x'] json\n", "", 7)


@pytest.mark.slow
def test_a_real_set_up_brings_every_package(tmp_path: Path) -> None:
    home = tmp_path / "clone"
    home.mkdir()
    shutil.copy(ROOT / "research", home)
    shutil.copy(ROOT / "requirements.lock", home)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RESEARCH_")}
    done = subprocess.run(
        (home / "research",), env={**environment, "RESEARCH_SETUP_ONLY": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    code = "import yaml, ruamel.yaml, jsonschema, scipy.stats, git, tenacity, rich, psutil, optuna"
    subprocess.run((done.stdout.strip(), "-I", "-c", code), check=True)
