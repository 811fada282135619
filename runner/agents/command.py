"""The agent that is any program: the prompt on its standard input, its changes in its copy."""

import os
import shutil
from pathlib import Path, PurePath

from runner.agents.plug import Launch, Task
from runner.core.contract import RESEARCH_PYTHON
from runner.core.errors import ContractError


def prepare(task: Task) -> Launch:
    """worker.command with its program found; raises ContractError where it could not be started."""
    if not task.worker.command:
        raise ContractError("worker.agent is command, but worker.command is missing", "e.g. command: [./agent.sh]")
    path = task.worker.env.get("PATH", task.path)
    argv, program = _with_program(task.worker.command, Path(task.contract_dir), path)
    return Launch(
        argv=tuple(task.python if word == RESEARCH_PYTHON else word for word in argv),
        stdin=task.prompt.encode(),
        env=task.worker.env,
        read_only=(PurePath(program),) if program else (),
    )


def _with_program(command: tuple[str, ...], directory: Path, path: str) -> tuple[tuple[str, ...], Path | None]:
    """The command with its program file by absolute path: the first word, or behind an interpreter the first that is one."""
    first = command[0]
    program = directory / first
    if first != RESEARCH_PYTHON and ("/" in first or program.is_file()):
        _check(first, program, path)
        return (str(program), *command[1:]), program
    if first != RESEARCH_PYTHON and shutil.which(first, path=path) is None:
        raise ContractError(f"worker.command: {first} is neither beside the contract nor on PATH", "install it, or give its path")
    script = next((i for i, word in enumerate(command) if i and (directory / word).is_file()), None)
    if script is None:
        return command, None
    _check_line_ends(command[script], _head(directory / command[script]))
    program = directory / command[script]
    return (*command[:script], str(program), *command[script + 1 :]), program


def _check(name: str, program: Path, path: str) -> None:
    """Raises ContractError where the system could not execute the file."""
    if not program.is_file():
        raise ContractError(f"worker.command: there is no file {name} (paths are relative to the contract)", "correct the path")
    if not os.access(program, os.X_OK):
        raise ContractError(f"worker.command: {name} is not executable", f"chmod +x {name}")
    head = _head(program)
    _check_line_ends(name, head)
    if not head.startswith(b"#!"):
        if b"\0" not in head:
            raise ContractError(f"worker.command: {name} has no #! line", "begin it with e.g. #!/bin/sh")
        return
    words = head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split()
    if not words or not Path(words[0]).is_file():
        raise ContractError(
            f"worker.command: the interpreter of {name} does not exist: {words[0] if words else 'none'}", "correct its #! line"
        )
    wanted = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), None)
    if Path(words[0]).name == "env" and wanted and shutil.which(wanted, path=path) is None:
        raise ContractError(
            f"worker.command: the interpreter of {name} is not on PATH: {wanted}", "install it, or correct its #! line"
        )


def _check_line_ends(name: str, head: bytes) -> None:
    if head.startswith(b"#!") and head.split(b"\n", 1)[0].endswith(b"\r"):
        raise ContractError(f"worker.command: the #! line of {name} ends in CRLF (bad interpreter)", "save it with LF line ends")


def _head(program: Path) -> bytes:
    with program.open("rb") as file:
        return file.read(4096)
