import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
import textwrap
import threading
import time
from pathlib import Path

import pytest

from runner.core.models import TurnNo
from runner.core.news import Hello, Left, Phase, Running, Warned
from runner.core.state import State, step
from runner.journal import open_journal
from runner.ledger import Ledger
from runner.plain import JsonFace, PlainFace, ask_at, last_line
from tests.histories import campaign, entries

ROOT = Path(__file__).parent.parent
HELLO = Hello(
    "quick_sort",
    "Quick sort, faster",
    "tuner",
    ("./evaluate.sh", "guard tests"),
    "Starting this runs the commands above on this machine.",
    ("writes outside the copy",),
    ("memory", "the number of processes"),
)


def tell(face: PlainFace | JsonFace) -> None:
    """A whole campaign with news between its facts."""
    assert face.hello(HELLO)
    state = State()
    for entry in entries(campaign()):
        state = step(state, entry)
        if entry.seq == 6:
            face.news(Left(5, 3600.0, None, None))
            face.news(Phase(TurnNo(1), "propose", "tuner"))
        face.fact(entry, state)
        if entry.seq == 11:
            face.news(Running(TurnNo(1), 4, "ratio", 0.04))
            face.news(Running(TurnNo(1), 5, "ratio", 0.05, (0.01, 0.09), 12.0, 1000.0, 6))
    face.news(Warned("runner.log not written: No space left on device", "the run goes on"))
    face.close()


def test_a_campaign_reads_as_lines() -> None:
    out = io.StringIO()
    tell(PlainFace(out, lambda: 0.0))
    assert out.getvalue() == textwrap.dedent("""\
        quick_sort: Quick sort, faster
          agent     tuner
          runs      ./evaluate.sh; guard tests
          held      writes outside the copy
          NOT held  memory
          NOT held  the number of processes
        Starting this runs the commands above on this machine.
        campaign c0ffee of quick_sort: baseline aaaaaaaaa, winners go to research/quick_sort
        pair 1: incumbent 1.9, candidate 2.1
        pair 2: incumbent 1.9, candidate 2.1
        noise: pairs differ by 2.1 %; smallest gain it can see about 1.5 % (50 % power); a decision takes about 4 min; baseline seconds 2
        budget left: 5 turns, 1 h 00 min
        turn 1   the agent works: tuner
        turn 1   agent ended (ok) after 30 s, 1,000 tokens, cost $0.25
        turn 1   candidate ccccccccc (in-place): Sort in place; 1 path changed
        turn 1   gates passed: scope
        turn 1   pair 1: incumbent 2, candidate 1.9
        turn 1   pair 2: incumbent 2, candidate 1.9
        turn 1   so far +5 % [+1 %, +9 %], stake 12 of 1000, about 6 more pairs
        turn 1   judge: keep (metric_improvement): faster
        turn 1   KEEP (metric_improvement) +5 % [+3 %, +7 %] after 2 pairs: the stake reached 1000 | Sort in place
        turn 1   the incumbent is now ddddddddd
        turn 2   agent ended (ok) after 30 s, 1,000 tokens, cost $0.25
        turn 2   candidate ccccccccc (in-place): Unroll the [bold]loop[/bold] by \\x1b[31mhand; 1 path changed
        turn 2   gates passed: scope
        turn 2   pair 1: incumbent 2, candidate 1.9
        turn 2   pair 2: incumbent 2, candidate 1.9
        turn 2   DISCARD (not_good_enough) -1 % [-3 %, +1 %] after 2 pairs: too small at best | Unroll the [bold]loop[/bold] by \\x1b[31mhand
        turn 3   agent ended (ok) after 30 s, 1,000 tokens, cost $0.25
        turn 3   AGENT_ERROR (invalid_or_missing_evidence): the agent ended with 1
        stopped by max_turns: 2 of 2 turns are done (2 min active)
        warning: runner.log not written: No space left on device (the run goes on)
    """)  # noqa: E501


class Gone(io.StringIO):
    def write(self, text: str, /) -> int:
        raise BrokenPipeError(32, "Broken pipe")


def test_a_reader_that_goes_away_does_not_disturb_the_run() -> None:
    tell(PlainFace(Gone(), lambda: 0.0))


def in_a_terminal(tmp_path: Path, term: str, rows: int, columns: int) -> bytes:
    """What a terminal receives while a campaign is told to it."""
    script = tmp_path / "tell.py"
    script.write_text(
        "import sys, time\nfrom runner.plain import PlainFace\nfrom tests.test_plain import tell\n"
        "tell(PlainFace(sys.stdout, time.monotonic))\nprint('end')\n",
        encoding="utf-8",
    )
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    child = subprocess.Popen(
        [sys.executable, str(script)], cwd=ROOT, stdin=terminal, stdout=terminal, stderr=terminal,
        env={**os.environ, "TERM": term, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    os.close(terminal)
    received = b""
    while True:
        try:
            received += os.read(controller, 1 << 16)
        except OSError:  # the last holder of the terminal is gone
            break
    os.close(controller)
    assert child.wait(30) == 0, received
    return received


@pytest.mark.parametrize("term", ["dumb", "nonsense", ""])
def test_a_terminal_that_knows_only_lines_gets_no_escapes(tmp_path: Path, term: str) -> None:
    received = in_a_terminal(tmp_path, term, 24, 80)
    assert b"\x1b" not in received
    assert b"turn 1   KEEP (metric_improvement)" in received
    assert received.endswith(b"end\r\n")


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (24, 80), (80, 300)])
def test_a_terminal_of_any_size_shows_every_line_and_agents_text_as_it_stands(tmp_path: Path, rows: int, columns: int) -> None:
    received = in_a_terminal(tmp_path, "xterm", rows, columns)
    assert b"Unroll the [bold]loop[/bold] by \\x1b[31mhand" in received
    assert b"\x1b[31mhand" not in received.replace(b"\\x1b[31mhand", b"")
    assert b"\x1b[32m" in received  # a keep is green
    assert b"stopped by max_turns" in received
    assert received.endswith(b"end\r\n")


def test_consent_is_yes_by_default_and_no_for_anything_else(tmp_path: Path) -> None:
    answers = {"\n": True, "y\n": True, "Yes\n": True, "n\n": False, "what?\n": False, "": False}
    for text, meant in answers.items():
        path = tmp_path / "answer"
        path.write_text(text, encoding="utf-8")
        with path.open(encoding="utf-8") as stdin:
            assert ask_at(stdin, lambda: False) is meant, text


def test_ctrl_c_at_the_question_is_a_no() -> None:
    reader, writer = os.pipe()
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    began = time.monotonic()
    with os.fdopen(reader, encoding="utf-8") as stdin:
        assert ask_at(stdin, cancelled.is_set) is False
    os.close(writer)
    assert time.monotonic() - began < 5


def test_without_a_terminal_the_command_is_the_consent_and_a_no_is_handed_back() -> None:
    assert PlainFace(io.StringIO(), lambda: 0.0).hello(HELLO) is True
    out = io.StringIO()
    assert PlainFace(out, lambda: 0.0, lambda: False).hello(HELLO) is False
    assert out.getvalue().endswith("on this machine.\nGo on? [Y/n] ")


def test_the_json_face_writes_the_journals_own_bytes(tmp_path: Path) -> None:
    out, err = io.BytesIO(), io.StringIO()
    face = JsonFace(out, err, tmp_path)
    assert face.hello(HELLO)
    journal, _ = open_journal(tmp_path)
    ledger = Ledger(journal, State(), lambda: "2026-11-30T10:00:00.000Z", [face.fact])
    with journal:
        for fact, turn in campaign():
            ledger.record(fact, None if turn is None else TurnNo(turn))
    face.news(Warned("runner.log not written", "the run goes on"))
    face.news(Phase(TurnNo(1), "measure"))
    assert out.getvalue() == (tmp_path / "journal.jsonl").read_bytes()
    assert err.getvalue() == f"{HELLO.consent}\nwarning: runner.log not written (the run goes on)\n"


@pytest.mark.parametrize("size", [1, 100, 70_000, 300_000])
def test_a_last_line_of_any_length_is_found(tmp_path: Path, size: int) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"first\n" + b"x" * size + b"\n")
    assert last_line(path) == b"x" * size + b"\n"
    path.write_bytes(b"x" * size + b"\n")
    assert last_line(path) == b"x" * size + b"\n"
