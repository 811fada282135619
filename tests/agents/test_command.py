import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.agents import command
from runner.agents.plug import Launch, Task
from runner.core.contract import Worker
from runner.core.errors import ContractError
from runner.core.models import TurnNo
from tests.agents.orders import ROOT


def task(directory: Path, *words: str, **env: str) -> Task:
    return Task(
        turn=TurnNo(1),
        prompt="Make it faster: µ",
        worker=Worker("command", command=words, env=env),
        direction="lower",
        input_dir="/input",
        python=sys.executable,
        path=os.environ["PATH"],
        contract_dir=directory,
        root=ROOT,
    )


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.write_bytes(text.encode())
    path.chmod(mode)
    return path


def test_the_program_lies_beside_the_contract_and_reads_the_prompt(tmp_path: Path) -> None:
    program = script(tmp_path / "agent.sh", "#!/bin/sh\ncat >got; echo $MODE $1 >>got\n")
    launch = command.prepare(task(tmp_path, "./agent.sh", "--fast", MODE="quick"))
    assert launch == Launch(
        (str(program), "--fast"), stdin="Make it faster: µ".encode(), env={"MODE": "quick"}, read_only=(program,)
    )
    copy = tmp_path / "copy"
    copy.mkdir()
    subprocess.run(launch.argv, cwd=copy, input=launch.stdin, env={"PATH": os.environ["PATH"], **launch.env}, check=True)
    assert (copy / "got").read_text() == "Make it faster: µquick --fast\n"


@pytest.mark.parametrize(
    ("words", "argv", "visible"),
    [
        (("agent.sh", "x"), ("{dir}/agent.sh", "x"), True),
        (("sh", "agent.sh", "agent.sh"), ("sh", "{dir}/agent.sh", "agent.sh"), True),
        (("$RESEARCH_PYTHON", "-u", "agent.sh"), (sys.executable, "-u", "{dir}/agent.sh"), True),
        (("env", "-u", "X", "sh", "./agent.sh"), ("env", "-u", "X", "sh", "{dir}/agent.sh"), True),
        (("sh", "-c", "echo $RESEARCH_PYTHON"), ("sh", "-c", "echo $RESEARCH_PYTHON"), False),
        (("true",), ("true",), False),
    ],
)
def test_a_program_is_made_visible_wherever_it_stands(
    tmp_path: Path, words: tuple[str, ...], argv: tuple[str, ...], visible: bool
) -> None:
    program = script(tmp_path / "agent.sh", "#!/bin/sh\n")
    launch = command.prepare(task(tmp_path, *words))
    assert launch.argv == tuple(word.format(dir=tmp_path) for word in argv)
    assert launch.read_only == ((program,) if visible else ())


@pytest.mark.parametrize(
    ("text", "mode", "words", "message"),
    [
        ("", 0o755, (), "worker.agent is command, but worker.command is missing\n  e.g. command: [./agent.sh]"),
        ("", 0o755, ("./other.sh",), "there is no file ./other.sh (paths are relative to the contract)\n  correct the path"),
        (
            "",
            0o755,
            ("no-such-program",),
            "no-such-program is neither beside the contract nor on PATH\n  install it, or give its path",
        ),
        ("#!/bin/sh\n", 0o644, ("./agent.sh",), "./agent.sh is not executable\n  chmod +x ./agent.sh"),
        ("echo\n", 0o755, ("./agent.sh",), "./agent.sh has no #! line\n  begin it with e.g. #!/bin/sh"),
        (
            "#!/bin/sh\r\necho\r\n",
            0o755,
            ("./agent.sh",),
            "the #! line of ./agent.sh ends in CRLF (bad interpreter)\n  save it with LF line ends",
        ),
        (
            "#!/bin/sh\r\necho\r\n",
            0o644,
            ("sh", "agent.sh"),
            "the #! line of agent.sh ends in CRLF (bad interpreter)\n  save it with LF line ends",
        ),
        (
            "#!/opt/none/python\n",
            0o755,
            ("./agent.sh",),
            "the interpreter of ./agent.sh does not exist: /opt/none/python\n  correct its #! line",
        ),
        (
            "#!/usr/bin/env -S no-such-python -u\n",
            0o755,
            ("./agent.sh",),
            "the interpreter of ./agent.sh is not on PATH: no-such-python\n  install it, or correct its #! line",
        ),
    ],
)
def test_what_could_not_be_started_is_found_before_the_first_turn(
    tmp_path: Path, text: str, mode: int, words: tuple[str, ...], message: str
) -> None:
    script(tmp_path / "agent.sh", text, mode)
    with pytest.raises(ContractError) as stop:
        command.prepare(task(tmp_path, *words))
    assert str(stop.value).removeprefix("worker.command: ") == message


def test_a_binary_needs_no_interpreter_line(tmp_path: Path) -> None:
    (tmp_path / "agent").write_bytes(b"\x7fELF\x02\x01\x01\x00")
    (tmp_path / "agent").chmod(0o755)
    assert command.prepare(task(tmp_path, "./agent")).argv == (str(tmp_path / "agent"),)
