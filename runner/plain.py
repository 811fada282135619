"""The plain face: a run as lines that a person can follow over ssh, or as the journal's own lines."""

import os
import select
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, TextIO

from runner.core.events import Decided, Entry, Settled, Started, TurnOpened
from runner.core.models import Status, TurnNo
from runner.core.news import Hello, Left, News, Phase, Running, Warned
from runner.core.state import State
from runner.core.text import cut, shown
from runner.core.wording import sentence, span, told
from runner.journal import NAME
from runner.streams import Forgiving, let_go

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live

Ask = Callable[[], bool]
_LONG = frozenset({"setup", "build", "propose", "judge", "remeasure", "wait"})
"""Phases worth a line of their own; the short ones are told by the fact that ends them."""
_EVERY = 5
"""Pairs between two lines that tell how the bet stands; a terminal's last line tells it after each."""
_COLOUR = {Status.KEEP: "green", Status.HELD: "yellow", Status.CRASH: "red", Status.AGENT_ERROR: "red"}


def label(turn: TurnNo | None) -> str:
    return f"turn {turn}" if turn else ""


def hello_lines(hello: Hello) -> list[str]:
    """What will run and what confinement holds, before anything does; one safe line each."""
    resumes = f" (turn {hello.resumes} goes on)" if hello.resumes else ""
    lines = [
        f"{hello.experiment}: {hello.name}{resumes}",
        f"  agent     {hello.agent}",
        f"  runs      {'; '.join(hello.runs) or 'nothing'}",
        f"  held      {'; '.join(hello.held) or 'nothing'}",
    ]
    lines += [f"  NOT held  {what}" for what in hello.not_held]
    return [line[: len(line) - len(line.lstrip())] + shown(line) for line in (*lines, hello.consent)]


class PlainFace:
    """Lines on `out`, and below them, on a terminal, one that shows what is going on and for how long.

    `ask` asks a person at the terminal for consent; None where the command is the consent. `clock` gives seconds.
    """

    def __init__(
        self, out: TextIO, clock: Callable[[], float], ask: Ask | None = None, env: Mapping[str, str] = os.environ
    ) -> None:
        self._out = Forgiving(out)
        self._ask = ask
        self._screen = Screen.on(self._out, clock) if is_terminal(self._out, env) else None

    def hello(self, hello: Hello) -> bool:
        for line in hello_lines(hello):
            self._line("", line)
        if self._ask is None:
            return True
        self._out.write("Go on? [Y/n] ")
        return self._ask()

    def fact(self, entry: Entry, state: State) -> None:
        fact = entry.fact
        if isinstance(fact, (Started, TurnOpened)) or (isinstance(fact, Settled) and not fact.moved):
            return
        colour = _COLOUR.get(fact.status, "") if isinstance(fact, Decided) else ""
        self._line(label(entry.turn), sentence(entry, state), colour)

    def news(self, news: News) -> None:
        turn = None if isinstance(news, (Warned, Left)) else news.turn
        if self._is_worth_a_line(news):
            self._line(label(turn), told(news), "yellow" if isinstance(news, Warned) else "")
        if self._screen and isinstance(news, (Phase, Running)):
            self._screen.now(f"{label(turn)} {told(news)}".strip())

    def _is_worth_a_line(self, news: News) -> bool:
        if isinstance(news, Running):
            return self._screen is None and news.pair % _EVERY == 0
        return not isinstance(news, Phase) or news.name in _LONG

    def close(self) -> None:
        if self._screen:
            self._screen.close()

    def _line(self, where: str, text: str, colour: str = "") -> None:
        line = f"{where:<8} {text}" if where else text
        if self._screen:
            self._screen.line(line, colour)
        else:
            self._out.write(line + "\n")


def is_terminal(out: TextIO | Forgiving, env: Mapping[str, str]) -> bool:
    """Whether `out` is a terminal that knows more than lines."""
    if not out.isatty() or env.get("TERM", "") in ("", "dumb", "unknown"):
        return False
    import curses

    try:
        curses.setupterm(env["TERM"], out.fileno())
    except curses.error:
        return False
    return True


@dataclass(slots=True)
class Screen:
    """A terminal with lines that scroll and a last one that stays."""

    console: "Console"
    live: "Live"
    clock: Callable[[], float]
    text: str = ""
    since: float = field(default=0.0)

    @classmethod
    def on(cls, out: Forgiving, clock: Callable[[], float]) -> Self:
        from rich.console import Console
        from rich.live import Live

        console = Console(file=out, markup=False, highlight=False, emoji=False, force_terminal=True)  # type: ignore[arg-type]
        live = Live(console=console, refresh_per_second=2, transient=True, redirect_stdout=False, redirect_stderr=False)
        screen = cls(console, live, clock)
        live.update(screen)
        return screen

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.text import Text

        line = f"{self.text}, {span(self.clock() - self.since)}"
        yield Text(cut(line, max(1, options.max_width - 1)), style="dim", no_wrap=True, end="")

    def now(self, text: str) -> None:
        self.text, self.since = text, self.clock()
        self.live.start()

    def line(self, text: str, colour: str) -> None:
        self.console.print(text, style=colour or None, soft_wrap=True)

    def close(self) -> None:
        self.live.stop()


def ask_at(stdin: TextIO, cancelled: Callable[[], bool]) -> bool:
    """A person's yes or no; no at the end of input, or once `cancelled` (a read alone would sit through Ctrl-C)."""
    while not cancelled():
        if select.select([stdin], [], [], 0.1)[0]:
            answer = stdin.readline()
            return answer.strip().lower() in ("", "y", "yes") if answer else False
    return False


@dataclass(slots=True)
class JsonFace:
    """The journal's lines on `out`, byte for byte, as they are written; what is no fact goes to `err`."""

    out: BinaryIO
    err: TextIO
    experiment: Path
    _gone: bool = False

    def hello(self, hello: Hello) -> bool:
        """The command is the consent; its first line says to what."""
        Forgiving(self.err).write(f"{shown(hello.consent)}\n")
        return True

    def fact(self, entry: Entry, state: State) -> None:
        if self._gone:
            return
        try:
            self.out.write(last_line(self.experiment / NAME))
            self.out.flush()
        except (OSError, ValueError):
            self._gone = True
            let_go(self.out)

    def news(self, news: News) -> None:
        if isinstance(news, Warned):
            Forgiving(self.err).write(f"{told(news)}\n")

    def close(self) -> None:
        """Nothing is held back."""


def last_line(path: Path) -> bytes:
    """The last line of a file, with its newline: read from the end, so that a long journal costs no more than a short one."""
    with path.open("rb") as stream:
        end = stream.seek(0, os.SEEK_END)
        block = 1 << 16
        while True:
            start = stream.seek(max(0, end - block))
            tail = stream.read(end - start)
            cut_at = tail.rfind(b"\n", 0, len(tail) - 1)
            if cut_at >= 0 or start == 0:
                return tail[cut_at + 1 :]
            block *= 4
