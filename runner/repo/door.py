"""GitPython's command door: one git process that knows nothing of anyone's configuration or environment."""

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from runner.core.errors import RepoError
from runner.files import display

if TYPE_CHECKING:
    import git.cmd

OLDEST = (2, 36)
"""`core.fsync`, `worktree list -z` and `--show-scope` of what we ask are all there from 2.36 on."""
TIMEOUT = 120.0
LONG = 1800.0
"""Seconds for calls that write a whole tree or pack."""

CONFIG = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.autocrlf", "false"),
    ("core.quotePath", "false"),
    ("core.protectNTFS", "false"),  # odd names are refused at the import; one that was committed long ago must not stop us
    ("core.protectHFS", "false"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.fsync", "committed,reference,pack-metadata"),
    ("core.fsyncMethod", "fsync"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("commit.gpgSign", "false"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("submodule.recurse", "false"),
    ("protocol.allow", "never"),
    ("safe.directory", "*"),
)
IDENTITY = ("research runner", "runner@research.invalid")
ENVIRONMENT = (
    ("HOME", "/nonexistent"),
    ("LC_ALL", "C"),
    ("TZ", "UTC"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),  # stronger than protocol.*.allow in anyone's config
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_AUTHOR_NAME", IDENTITY[0]),
    ("GIT_AUTHOR_EMAIL", IDENTITY[1]),
    ("GIT_COMMITTER_NAME", IDENTITY[0]),
    ("GIT_COMMITTER_EMAIL", IDENTITY[1]),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a git process said; `text` is its output without the newline that ends it, bad bytes as surrogates."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return os.fsdecode(self.out.removesuffix(b"\n"))

    @property
    def fields(self) -> list[str]:
        """Output that was asked for with -z."""
        return os.fsdecode(self.out).split("\0")[:-1]


@dataclass(frozen=True, slots=True)
class Git:
    """Where a git process looks: nothing is discovered unless `git_dir` is None, then from `cwd` upwards.

    `config` and `env` are added to the fixed lists above; a variable that is None is taken away.
    """

    git_dir: Path | None = None
    work_tree: Path | None = None
    index: Path | None = None
    cwd: Path | None = None
    config: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str | None], ...] = ()

    def __call__(
        self, *args: str, stdin: bytes | IO[bytes] = b"", ok: Collection[int] = (0,), timeout: float = TIMEOUT
    ) -> Answer:
        """Run one command; RepoError when its exit code is not one of `ok`, or after `timeout` seconds."""
        process = self._start(args, stdin)
        try:
            out, err = process.communicate(stdin if isinstance(stdin, bytes) else None, timeout)
        except subprocess.TimeoutExpired:
            raise _too_slow(args, timeout) from None
        finally:
            _end(process)
        return _checked(args, Answer(process.returncode, out, display_text(err)), ok)

    def head(self, *args: str, limit: int, timeout: float = TIMEOUT) -> tuple[bytes, bool]:
        """The first `limit` bytes that a command prints, and whether there was more; it is ended when they are read."""
        process = self._start(args, b"")
        watchdog = threading.Timer(timeout, _kill, (process,))
        watchdog.start()
        try:
            cast(IO[bytes], process.stdin).close()
            out = cast(IO[bytes], process.stdout).read(limit + 1)
            if len(out) > limit:
                return out[:limit], True
            err = cast(IO[bytes], process.stderr).read()
            _checked(args, Answer(process.wait(), out, display_text(err)), (0,))
            return out, False
        finally:
            watchdog.cancel()
            _end(process)

    def _start(self, args: tuple[str, ...], stdin: bytes | IO[bytes]) -> "subprocess.Popen[bytes]":
        handle = _door()("/").execute(
            self._command(args),
            istream=subprocess.PIPE if isinstance(stdin, bytes) else cast(BinaryIO, stdin),
            as_process=True,
            shell=False,
            start_new_session=True,  # a Ctrl-C at the terminal is the runner's to hear, and a time-out ends the whole group
        )
        process, handle.proc = handle.proc, None  # ours to end: GitPython's handle would end it when it is collected
        return cast("subprocess.Popen[bytes]", process)

    def _command(self, args: tuple[str, ...]) -> tuple[str, ...]:
        """GitPython adds to os.environ and cannot take away, so `env -i` stands before every call.

        It would also expand `$` and `~` in a working directory, and silently stay where it is if there is none: git goes itself.
        """
        where = self.cwd or self.work_tree or self.git_dir or Path("/")
        env_program, git, path = programs()
        places = (("GIT_DIR", self.git_dir), ("GIT_WORK_TREE", self.work_tree), ("GIT_INDEX_FILE", self.index))
        environment = dict(
            (*ENVIRONMENT, ("PATH", path), *((name, os.fspath(place)) for name, place in places if place), *self.env)
        )
        settings = (part for key, value in (*CONFIG, *self.config) for part in ("-c", f"{key}={value}"))
        return (
            env_program,
            "-i",
            *(f"{key}={value}" for key, value in environment.items() if value is not None),
            git,
            "-C",
            os.fspath(where),
            *settings,
            *args,
        )


def display_text(data: bytes) -> str:
    """Some program's words on one printable line, at most 500 characters."""
    text = " ".join(os.fsdecode(data).split())
    return display(text if len(text) <= 500 else text[:500] + " ...")


def _checked(args: tuple[str, ...], answer: Answer, ok: Collection[int]) -> Answer:
    if answer.code not in ok:
        raise RepoError(
            f"git {args[0]} was expected to succeed and ended with {answer.code}: {answer.err or 'no message'}",
            "mend what git names; the command that was run last can be repeated safely",
        )
    return answer


def _too_slow(args: tuple[str, ...], timeout: float) -> RepoError:
    return RepoError(f"git {args[0]} did not end within {timeout:g} s", "see whether the disk or a network mount hangs")


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Nothing of a call outlives it: the group is killed if it still runs, pipes are closed."""
    _kill(process)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    process.wait()


@functools.cache
def _door() -> "type[git.cmd.Git]":
    """GitPython's command class; its import would run `git version` by itself, with everyone's environment and no time-out."""
    theirs = {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_GIT_EXECUTABLE": "/nonexistent/git"}
    before = {name: os.environ.get(name) for name in theirs}
    os.environ.update(theirs)
    try:
        from git.cmd import Git as Door
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
    return Door


def programs() -> tuple[str, str, str]:
    """Absolute paths of `env` and `git`, and the PATH for git's own parts; RepoError where git is missing or too old."""
    return _programs(os.environ.get("PATH", os.defpath))


@functools.cache
def _programs(path: str) -> tuple[str, str, str]:
    absolute = os.pathsep.join(part for part in path.split(os.pathsep) if part.startswith(os.sep))
    env, git = shutil.which("env", path=absolute) or shutil.which("env", path=os.defpath), shutil.which("git", path=absolute)
    if git is None or env is None:
        raise RepoError("git was expected on PATH and is not there", "install git 2.36 or newer")
    return env, git, absolute


def require_version() -> None:
    """RepoError where git is missing, or older than what the runner asks of it."""
    _require_version(programs()[1])


@functools.cache
def _require_version(git: str) -> None:
    said = Git()("version").text
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise RepoError(f"git 2.36 or newer was expected, {git} is: {display(said)}", "update git")
