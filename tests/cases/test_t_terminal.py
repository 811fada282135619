"""Where the words go: a pipe that closes, a file, a dumb terminal, one of a single column; and words that look like markup."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

import pytest

from tests.cases.conftest import Make
from tests.playground import CLONE, SHORTEN, Scene

SHORTER = SHORTEN.partition("\n")[2]
WORDS = "see [/usr/bin/x] and [bold]no[/bold] [/path] [red] :smile: {x} %s \\n"


def argv(scene: Scene, *more: str) -> list[str]:
    return [sys.executable, "-m", "runner.cli", str(scene.experiment), "--max-turns", "1", *more]


# --- T1 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", [(), ("--json",), ("--plain",)])
def test_a_run_whose_reader_goes_away_plays_to_its_end(make: Make, look: tuple[str, ...]) -> None:
    scene = make()
    run = subprocess.Popen(argv(scene, *look), cwd=CLONE, env=scene.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout
    assert run.stdout.readline()
    run.stdout.close()
    assert run.stderr
    error = run.stderr.read()
    run.stderr.close()
    assert run.wait(60) == 0
    assert (b"Error" in error, b"Traceback" in error, error.count(b"\n")) == (False, False, int(look == ("--json",)))
    assert scene.statuses == ["keep"]
    assert scene.facts("Stopped")[0]["rule"] == "max_turns"


@pytest.mark.parametrize("verb", ["status", "logs"])
def test_a_view_into_head_prints_its_line_and_no_complaint(make: Make, verb: str) -> None:
    scene = make()
    scene.play()
    line = f"PYTHONUNBUFFERED=1 {sys.executable} -m runner.cli {verb} {scene.experiment} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=CLONE, env=scene.environment(), capture_output=True, text=True, timeout=60)
    first, code = done.stdout.splitlines()
    assert first
    assert (code, done.stderr) == ("0", "")


# --- T3 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("term", [None, "dumb", "nonsense", ""])
def test_into_a_file_there_are_plain_lines(make: Make, term: str | None) -> None:
    scene = make()
    done = scene.command(*argv(scene)[3:], env={} if term is None else {"TERM": term}, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "\r" not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "scene: A scene"
    held = next(line for line in lines if line.startswith("  held "))
    assert re.search(r"home directories are hidden; no network; .*outlives it$", held)
    assert any(re.match(r"turn 1\s+KEEP \(metric_improvement\) .*: better by 5\.0 %, 200 to 190", line) for line in lines), lines


def on_a_terminal(
    scene: Scene, rows: int, columns: int, then: Callable[[int], None] | None = None, **env: str
) -> tuple[int, bytes]:
    """A run on a pseudo-terminal of a size, its exit code and all it wrote; `then` is called with the terminal once it speaks."""
    ours, theirs = pty.openpty()
    resize(ours, rows, columns)
    run = subprocess.Popen(
        argv(scene, "--yes"),
        cwd=CLONE,
        env=scene.environment(env),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen, end = b"", time.monotonic() + 90
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                data = os.read(ours, 65536)
            except OSError:
                break
            if not data:
                break
            if then and not seen:
                then(ours)
            seen += data
    code = run.wait(30)
    os.close(ours)
    return code, seen


def resize(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def test_a_terminal_of_one_column_that_grows_does_not_disturb_the_run(make: Make) -> None:
    scene = make()
    code, seen = on_a_terminal(scene, 1, 1, lambda terminal: resize(terminal, 80, 300), TERM="xterm-256color")
    assert code == 0, seen
    assert scene.statuses == ["keep"]
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]", b"", seen)
    assert b"better by 5.0 %, 200 to 190" in text


@pytest.mark.parametrize("term", ["dumb", "nonsense"])
def test_a_terminal_that_knows_nothing_gets_no_escapes(make: Make, term: str) -> None:
    scene = make()
    code, seen = on_a_terminal(scene, 24, 80, TERM=term)
    assert code == 0, seen
    assert b"\x1b" not in seen
    assert scene.statuses == ["keep"]


# --- T5 ---------------------------------------------------------------------------------------------


def spoken(make: Make) -> Scene:
    """A scene whose worker's every word looks like markup."""
    answer = (
        "import json, os\n"
        f"said = {WORDS!r}\n"
        "turn = {'hypothesis': {'statement': said, 'reasoning': said}, 'approach': '[a]', 'commit_message': said,"
        " 'declares': 'improvement', 'notes': said}\n"
        "json.dump(turn, open(os.environ['RESEARCH_WORKER_OUTPUT'], 'w'))\nprint(said)\n"
    )
    return make(files={"exp/answer.py": answer, "exp/worker.sh": f'{SHORTEN}"$RESEARCH_PYTHON" exp/answer.py\n'})


def test_words_that_look_like_markup_are_shown_as_they_are_everywhere(make: Make) -> None:
    scene = spoken(make)
    done = scene.command(*argv(scene)[3:])
    assert (done.returncode, done.stderr) == (0, "")
    assert scene.git("log", "-1", "--format=%s", scene.branch[0]) == WORDS.strip()
    views = [done.stdout] + [scene.command(verb, str(scene.experiment)).stdout for verb in ("status", "logs")]
    plain = "see [/usr/bin/x] and [bold]no[/bold] [/path] [red] :smile: {x} %s "
    for view in views:
        assert plain in view
    assert plain in (scene.experiment / "results.tsv").read_text()
    (row,) = [json.loads(line) for line in (scene.experiment / "experiments.jsonl").read_text().splitlines()[1:]]
    assert row["proposal"] == WORDS
    assert r"see \[/usr/bin/x\] and \[bold\]no\[/bold\]" in (scene.experiment / "summary.md").read_text()
    again = scene.command(*argv(scene)[3:])
    assert (again.returncode, again.stderr) == (0, "")
    assert scene.statuses == ["keep", "keep"]


def test_on_a_full_terminal_they_are_shown_as_they_are_too(make: Make) -> None:
    scene = spoken(make)
    code, seen = on_a_terminal(scene, 50, 400, TERM="xterm-256color")
    assert code == 0, seen
    assert b"[/usr/bin/x] and [bold]no[/bold] [/path] [red] :smile:" in seen
    assert scene.statuses == ["keep"]


def test_words_that_look_like_a_terminals_orders_are_made_harmless(make: Make) -> None:
    scene = make()
    bad = "\\033[2J\\033]0;title\\007\\r\\b"
    turn = '{"hypothesis": {"statement": "\\u001b[2J\\u202ex", "reasoning": "r"}, "approach": "a",'
    turn += ' "commit_message": "\\u001b]0;t\\u0007 \\u009b2J"}'
    worker = f"{SHORTER}\nprintf '{bad}'\nprintf '{bad}' >&2\ncat > \"$RESEARCH_WORKER_OUTPUT\" <<'END'\n{turn}\nEND\n"
    scene.write({"exp/worker.sh": f"#!/bin/sh -e\n{worker}"})
    scene.commit("a worker")
    done = scene.command(*argv(scene)[3:])
    assert done.returncode == 0, done.stderr
    assert scene.statuses == ["keep"]
    for text in (done.stdout, *(scene.command(verb, str(scene.experiment)).stdout for verb in ("status", "logs"))):
        assert not set(text) & set("\x1b\x07\x08\r\x9b\u202e")
    for name in ("results.tsv", "summary.md", "runner.log", "experiments.jsonl"):
        assert not set((scene.experiment / name).read_text(encoding="utf-8")) & set("\x1b\x07\x08\r\x9b\u202e"), name
