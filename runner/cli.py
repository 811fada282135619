"""The command line: words in, exit code out.

A run is one call, `runner.campaign.run(options: Options, face: Face, cancel: Cancel) -> int`: 0 done, 1 cannot go on,
130 interrupted. It may raise Stop (its own exit code) or KeyboardInterrupt (130); anything else is our bug (3).
"""

import argparse
import errno
import gc
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from runner import __version__
from runner.core.errors import ContractError, Stop
from runner.streams import Forgiving, complete, let_go, put

if TYPE_CHECKING:
    from runner.core.news import Face
    from runner.core.options import Options
    from runner.signals import Cancel

CONTRACT = "experiment.yaml"
DONE, CANNOT, BUG, INTERRUPTED = 0, 1, 3, 130
THE_MACHINES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE})
"""Errors that say something of the disk, or of what we may do on it, and nothing of us."""

_EXAMPLES = """\
examples:
  ./research experiments/my_experiment --max-turns 5    five more candidates, then stop
  ./research experiments/my_experiment --budget 8h      a night
  ./research experiments/my_experiment --dry-run        say what would run; change nothing
  ./research status experiments/my_experiment           how it stands (--json for scripts)
  ./research logs -f experiments/my_experiment          watch it work
  ./research stop experiments/my_experiment             end it after the current step

The same command goes on where a run ended, was stopped or was killed. A directory that is named like a verb is written
with a path: ./research ./status
"""
_EXIT_CODES = "exit codes: 0 done, 1 cannot go on, 2 wrong words or a bad contract, 3 a fault of the runner, 130 interrupted"


class _Parser(argparse.ArgumentParser):
    """A parser that raises what it has to say, and names the nearest right word."""

    def error(self, message: str) -> NoReturn:
        raise ContractError(message, f"see: {self.prog} --help")

    def understand(self, words: Sequence[str]) -> argparse.Namespace:
        found, unknown = self.parse_known_args(words)
        if unknown:
            odd = unknown[0]
            near = _nearest(odd.partition("=")[0], [o for action in self._actions for o in action.option_strings])
            if odd.startswith("-"):
                raise ContractError(f"unknown option {odd!r}", f"did you mean {near}?" if near else f"see: {self.prog} --help")
            raise ContractError(f"one word too many: {odd!r}", f"see: {self.prog} --help")
        return found


def _nearest(word: str, known: Sequence[str]) -> str | None:
    from runner.core.spelling import nearest

    plain = {name.lstrip("-").replace("-", "_"): name for name in known}
    near = nearest(word.lstrip("-"), plain)
    return plain[near] if near else None


# --- words ---------------------------------------------------------------------------------------


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number, 1 or more, found {text!r}")
    return number


def _seconds(text: str) -> float:
    from runner.core.quantities import seconds

    try:
        return seconds(float(text) if text.replace(".", "", 1).isdigit() else text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _experiment(text: str) -> Path:
    """An experiment directory; what is found instead is named."""
    path = Path(text)
    if (path / CONTRACT).is_file():
        return path.resolve()
    expected = f"{text}: expected an experiment directory that holds {CONTRACT}"
    if path.name == CONTRACT and path.is_file():
        raise ContractError(f"{expected}, found the contract itself", f"name its directory: {path.parent}")
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir())
        shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        raise ContractError(
            f"{expected}, found a directory with {shown or 'nothing in it'}", "is it one of the directories in it?"
        )
    if path.exists():
        raise ContractError(f"{expected}, found a file", f"name the directory that holds {CONTRACT}")
    raise ContractError(f"{expected}, found nothing there", "check the path")


def _run_parser() -> _Parser:
    parser = _Parser(
        prog="./research",
        usage="%(prog)s EXPERIMENT_DIR [options]\n       %(prog)s VERB ...",
        description="Runs a research campaign: an agent proposes, the runner measures and decides.",
        epilog=f"verbs:\n{_verb_list()}\n\n{_EXAMPLES}\n{_EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("experiment", metavar="EXPERIMENT_DIR", nargs="?", help=f"the directory that holds {CONTRACT}")
    add("--max-turns", type=_count, metavar="N", help="stop after N more candidates have a verdict")
    add("--budget", type=_seconds, metavar="TIME", help="stop after so much active time: 90m, 8h, 1h30m or seconds")
    add("--dry-run", action="store_true", help="say what would happen; no commit, no branch, no journal")
    add("--yes", action="store_true", help="consent without being asked")
    add("--allow-dirty", action="store_true", help="start although files are changed; the changes are not part of the baseline")
    look = parser.add_mutually_exclusive_group()
    look.add_argument("--plain", action="store_true", help="lines instead of a full screen")
    look.add_argument("--json", action="store_true", help="the journal's facts, one JSON object a line")
    add("--tail-log", metavar="DIR", help="follow the log of an experiment")
    add("--version", action="version", version=f"research {__version__}")
    return parser


def _verb_list() -> str:
    return "\n".join(f"  {name:<9} {verb.help}" for name, verb in VERBS.items())


# --- verbs ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verb:
    """A word of the command line: `add` declares its options, `do` works and hands back the exit code."""

    help: str
    add: Callable[[argparse.ArgumentParser], None]
    do: Callable[[argparse.Namespace], int]


def _status_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object for scripts")


def _status(words: argparse.Namespace) -> int:
    with _in_a_hurry():
        from runner.views import show_status

        show_status(_experiment(words.experiment), words.json, sys.stdout, _warn)
    return DONE


@contextmanager
def _in_a_hurry() -> Iterator[None]:
    """A view lives for tenths of a second; looking for garbage would take a third of them."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _logs_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--follow", action="store_true", help="go on with lines as they come")
    parser.add_argument("-n", "--lines", type=_count, default=20, metavar="N", help="how many lines to begin with (20)")


def _logs(words: argparse.Namespace) -> int:
    return _log(_experiment(words.experiment), words.lines, words.follow)


def _log(experiment: Path, lines: int, follow: bool) -> int:
    with _in_a_hurry():
        from runner.tail import follow_log, show_log

        end = show_log(experiment, lines, sys.stdout, _warn)
    if follow:
        follow_log(experiment, end, sys.stdout)
    return DONE


def _stop_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--now", action="store_true", help="in the middle of the current step; nothing is lost")
    parser.add_argument("--wait", type=_seconds, default=600.0, metavar="TIME", help="how long to wait for its end (10m)")


def _stop(words: argparse.Namespace) -> int:
    from runner.stop import stop

    experiment = _experiment(words.experiment)
    put(sys.stdout, "stopped\n" if stop(experiment, words.now, words.wait, _warn) else f"nothing runs in {experiment}\n")
    return DONE


VERBS: Mapping[str, Verb] = {
    "status": Verb("how a campaign stands", _status_words, _status),
    "logs": Verb("the end of its log; -f follows", _logs_words, _logs),
    "stop": Verb("end its runner after the current step", _stop_words, _stop),
}


def _do_verb(name: str, words: Sequence[str]) -> int:
    verb = VERBS[name]
    parser = _Parser(prog=f"./research {name}", description=verb.help, allow_abbrev=False)
    parser.add_argument("experiment", metavar="EXPERIMENT_DIR", nargs="?")
    verb.add(parser)
    found = parser.understand(words)
    if found.experiment is None:
        raise ContractError(
            f"{name}: expected an experiment directory, found no word",
            f"write: ./research {name} EXPERIMENT_DIR"
            + (f"   (to run the experiment in it: ./research ./{name})" * Path(name).is_dir()),
        )
    return verb.do(found)


# --- a run ---------------------------------------------------------------------------------------


def _run(words: argparse.Namespace) -> int:
    from runner.core.options import Options
    from runner.signals import listening

    options = Options(
        _experiment(words.experiment), words.max_turns, words.budget, words.dry_run, words.yes, words.allow_dirty
    )  # fmt: skip
    if options.allow_dirty and not (options.yes or options.dry_run or (not words.json and _at_a_terminal())):
        raise ContractError("--allow-dirty without a terminal to ask at", "add --yes to say that the changes may be left out")
    with listening() as cancel:
        face = _face(words, options, cancel)
        try:
            return _campaign()(options, face, cancel)
        finally:
            face.close()


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _campaign() -> "Callable[[Options, Face, Cancel], int]":
    """The loop, imported when it is run: views and --help never pay for it."""
    import importlib

    return cast("Callable[[Options, Face, Cancel], int]", importlib.import_module("runner.campaign").run)


def _face(words: argparse.Namespace, options: "Options", cancel: "Cancel") -> "Face":
    from runner.host import monotonic
    from runner.plain import JsonFace, PlainFace, ask_at

    if words.json:
        return JsonFace(sys.stdout.buffer, sys.stderr, options.experiment)
    asks = not options.yes and not options.dry_run and _at_a_terminal()
    return PlainFace(sys.stdout, monotonic, (lambda: ask_at(sys.stdin, cancel.soon.is_set)) if asks else None)


# --- the way out ---------------------------------------------------------------------------------


def _warn(text: str) -> None:
    Forgiving(sys.stderr).write(f"{text}\n")


def _dispatch(words: Sequence[str]) -> int:
    if words and words[0] in VERBS:
        return _do_verb(words[0], words[1:])
    if words and "/" not in words[0] and not words[0].startswith("-") and not Path(words[0]).exists():
        near = _nearest(words[0], list(VERBS))
        if near:
            raise ContractError(f"{words[0]!r} is neither a verb nor an experiment directory", f"did you mean {near}?")
    found = _run_parser().understand(words)
    if found.tail_log:
        return _log(_experiment(found.tail_log), 20, True)
    if found.experiment is None:
        raise ContractError("expected an experiment directory or a verb, found no word", "see: ./research --help")
    return _run(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; never raises, save SystemExit after --help and --version."""
    words = sys.argv[1:] if argv is None else list(argv)
    complete()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an ASCII terminal still shows everything
    try:
        return _told(_dispatch(words))
    except Stop as stop:
        _complain(str(stop))
        return stop.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        let_go(sys.stdout)  # whoever read us has what they wanted
        return DONE
    except Exception as bug:  # noqa: BLE001  the one place: whatever it is, the person gets one sentence and we get the traceback
        if isinstance(bug, OSError) and bug.errno in THE_MACHINES:
            _complain(f"{bug.filename or 'a file'}: {bug.strerror}\n  nothing is lost: mend that, then run the same command")
            return CANNOT
        _complain(f"a fault of the runner: {type(bug).__name__}: {bug}\n  {_save_traceback(words)}")
        return BUG


def _told(code: int) -> int:
    """The exit code, once what was said has gone out or nobody listens."""
    try:
        put(sys.stdout, "")
    except BrokenPipeError:
        let_go(sys.stdout)
    return code


def _complain(text: str) -> None:
    from runner.core.text import shown

    Forgiving(sys.stderr).write("".join(f"{line[: len(line) - len(line.lstrip())]}{shown(line)}\n" for line in text.split("\n")))


def _save_traceback(words: Sequence[str]) -> str:
    """Keep what we need to mend the fault; says where it is."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    experiment = next((Path(word) for word in words if (Path(word) / CONTRACT).is_file()), None)
    for folder in (*((experiment / "artifacts",) if experiment else ()), Path(home) / "research"):
        path = folder / f"crash_{os.getpid()}.txt"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(
                f"research {__version__} {' '.join(words)}\n\n{traceback.format_exc()}", encoding="utf-8", errors="replace"
            )
        except OSError:
            continue
        return f"the journal is whole and the same command goes on; please report it with {path}"
    return traceback.format_exc()


if __name__ == "__main__":
    sys.exit(main())
