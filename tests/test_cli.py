import errno
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner import __version__
from runner.cli import VERBS, main
from runner.core.errors import CampaignError
from runner.core.events import Started
from runner.core.news import Face
from runner.core.options import Options
from runner.host import boot_id, host_name, process_id
from runner.journal import open_journal
from runner.signals import Cancel
from tests.histories import CONFINEMENT, OPENED, STARTED, History, campaign, entries, journal_bytes, long_campaign

ROOT = Path(__file__).parent.parent
Run = Callable[[Options, Face, Cancel], int]
COMMAND = [sys.executable, "-m", "runner.cli"]
SEE = "  see: ./research --help\n"
WHOLE = "expected a whole number, 1 or more, found"


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    folder = tmp_path / "quick_sort"
    folder.mkdir()
    (folder / "experiment.yaml").write_text("version: 1\n", encoding="utf-8")
    return folder


@pytest.fixture
def campaign_is(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], None]:
    """Put a function in the place of the loop."""

    def put(run: Run) -> None:
        module = types.ModuleType("runner.campaign")
        module.__dict__["run"] = run
        monkeypatch.setitem(sys.modules, "runner.campaign", module)

    return put


def history(folder: Path, of: History) -> None:
    (folder / "journal.jsonl").write_bytes(journal_bytes(entries(of)))


def research(*words: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runner.cli", *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=60,
        stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
    )  # fmt: skip


# --- words -----------------------------------------------------------------------------------------


def test_the_words_of_a_run_reach_the_loop(experiment: Path, campaign_is: Callable[[Run], None]) -> None:
    asked: list[Options] = []

    def run(options: Options, face: Face, cancel: Cancel) -> int:
        asked.append(options)
        return 0

    campaign_is(run)
    assert main([str(experiment)]) == 0
    assert main(["--max-turns", "5", str(experiment), "--budget", "8h", "--yes", "--allow-dirty", "--plain"]) == 0
    assert main([str(experiment), "--dry-run", "--budget=90", "--json"]) == 0
    assert asked == [
        Options(experiment),
        Options(experiment, max_turns=5, budget_s=28800.0, yes=True, allow_dirty=True),
        Options(experiment, budget_s=90.0, dry_run=True),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected an experiment directory or a verb, found no word\n" + SEE),
        (["statsu", "."], "'statsu' is neither a verb nor an experiment directory\n  did you mean status?\n"),
        (["log", "."], "'log' is neither a verb nor an experiment directory\n  did you mean logs?\n"),
        ([".", "--max-turn", "5"], "unknown option '--max-turn'\n  did you mean --max-turns?\n"),
        ([".", "--alow-dirty"], "unknown option '--alow-dirty'\n  did you mean --allow-dirty?\n"),
        ([".", "--max-turns", "0"], f"argument --max-turns: {WHOLE} '0'\n" + SEE),
        ([".", "--max-turns", "1e3"], f"argument --max-turns: {WHOLE} '1e3'\n" + SEE),
        ([".", "--plain", "--json"], "argument --json: not allowed with argument --plain\n" + SEE),
        ([".", "twice"], "one word too many: 'twice'\n" + SEE),
        (["status"], "status: expected an experiment directory, found no word\n  write: ./research status EXPERIMENT_DIR\n"),
        (["logs", ".", "-n", "none"], f"argument -n/--lines: {WHOLE} 'none'\n  see: ./research logs --help\n"),
        (["stop", ".", "--noww"], "unknown option '--noww'\n  did you mean --now?\n"),
    ],
)  # fmt: skip
def test_wrong_words_end_with_2_and_the_nearest_right_word(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert capsys.readouterr() == ("", message)


def test_a_budget_is_a_duration(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(experiment), "--budget", "tonight"]) == 2
    assert (
        "argument --budget: expected a duration such as 900 (seconds), 90m, 8h or 1h30m, found 'tonight'"
        in capsys.readouterr().err
    )


def test_what_is_no_experiment_is_told_with_what_is_there(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    found = {
        tmp_path / "nowhere": "found nothing there\n  check the path\n",
        tmp_path / "empty": "found a directory with nothing in it\n  is it one of the directories in it?\n",
        tmp_path: "found a directory with empty, quick_sort\n  is it one of the directories in it?\n",
        experiment / "experiment.yaml": f"found the contract itself\n  name its directory: {experiment}\n",
        Path(__file__): "found a file\n  name the directory that holds experiment.yaml\n",
    }
    for path, what in found.items():
        for words in ([str(path)], ["status", str(path)], ["--tail-log", str(path)]):
            assert main(words) == 2
            expected = f"{path}: expected an experiment directory that holds experiment.yaml, {what}"
            assert capsys.readouterr() == ("", expected)


def test_a_directory_named_like_a_verb_is_run_by_its_path(
    tmp_path: Path, campaign_is: Callable[[Run], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "status").mkdir()
    (tmp_path / "status/experiment.yaml").write_text("version: 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    campaign_is(lambda options, face, cancel: 0)
    assert main(["./status"]) == 0
    assert main(["status", "status"]) == 0
    assert capsys.readouterr() == ("no campaign yet: nothing was started here\n", "")
    assert main(["status"]) == 2
    assert "(to run the experiment in it: ./research ./status)" in capsys.readouterr().err


def test_help_shows_every_verb_and_an_example_and_version_the_version() -> None:
    shown = research("--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    for verb in VERBS:
        assert f"\n  {verb} " in shown.stdout
    assert "./research experiments/my_experiment --max-turns 5" in shown.stdout
    assert research("--version").stdout == f"research {__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "runner.cli", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "argparse" in loaded
    assert loaded & {"rich", "git", "scipy", "ruamel", "jsonschema", "optuna", "numpy", "psutil", "yaml", "textual"} == set()


def test_views_load_nothing_heavy(experiment: Path) -> None:
    history(experiment, campaign())
    for verb in ("status", "logs"):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "runner.cli", verb, str(experiment)],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
        assert loaded & {"rich", "git", "scipy", "ruamel", "jsonschema", "optuna", "numpy", "psutil", "yaml"} == set()


# --- ways out --------------------------------------------------------------------------------------


def test_exit_codes_of_the_loop_are_handed_through(
    experiment: Path, campaign_is: Callable[[Run], None], capsys: pytest.CaptureFixture[str]
) -> None:
    for code in (0, 1, 130):
        campaign_is(lambda options, face, cancel, code=code: code)  # type: ignore[misc]
        assert main([str(experiment)]) == code

    def cannot(options: Options, face: Face, cancel: Cancel) -> int:
        raise CampaignError("the evaluator fails\x1b[31m on the incumbent", "run it by hand")

    campaign_is(cannot)
    assert main([str(experiment)]) == 1
    assert capsys.readouterr() == ("", "the evaluator fails\\x1b[31m on the incumbent\n  run it by hand\n")


def test_an_interrupt_ends_with_130(experiment: Path, campaign_is: Callable[[Run], None]) -> None:
    def interrupted(options: Options, face: Face, cancel: Cancel) -> int:
        raise KeyboardInterrupt

    campaign_is(interrupted)
    assert main([str(experiment)]) == 130


def test_a_fault_of_ours_is_one_sentence_and_a_saved_traceback(
    experiment: Path, campaign_is: Callable[[Run], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(options: Options, face: Face, cancel: Cancel) -> int:
        raise ZeroDivisionError("no\x1b[2J pairs")

    campaign_is(faulty)
    assert main([str(experiment), "--max-turns", "3"]) == 3
    saved = experiment / f"artifacts/crash_{os.getpid()}.txt"
    assert capsys.readouterr().err == (
        "a fault of the runner: ZeroDivisionError: no\\x1b[2J pairs\n"
        f"  the journal is whole and the same command goes on; please report it with {saved}\n"
    )
    text = saved.read_text(encoding="utf-8")
    assert text.startswith(f"research {__version__} {experiment} --max-turns 3\n\nTraceback (most recent call last):\n")
    assert 'raise ZeroDivisionError("no' in text


def test_a_full_disk_is_no_fault_of_ours(
    experiment: Path, campaign_is: Callable[[Run], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def full(options: Options, face: Face, cancel: Cancel) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "state/secret")

    campaign_is(full)
    assert main([str(experiment)]) == 1
    assert capsys.readouterr().err == (
        "state/secret: No space left on device\n  nothing is lost: mend that, then run the same command\n"
    )


def test_signals_reach_the_loop_as_wishes(experiment: Path, campaign_is: Callable[[Run], None]) -> None:
    seen = []

    def works(options: Options, face: Face, cancel: Cancel) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        seen.append((cancel.soon.is_set(), cancel.now.is_set()))
        os.kill(os.getpid(), signal.SIGINT)
        seen.append((cancel.soon.is_set(), cancel.now.is_set()))
        return 130

    campaign_is(works)
    assert main([str(experiment)]) == 130
    assert seen == [(True, False), (True, True)]


# --- status ----------------------------------------------------------------------------------------


def status(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(["status", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert isinstance(told, dict)
    return told


def test_status_json_has_these_very_keys_and_values(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(experiment, campaign())
    assert status(experiment, capsys) == {
        "state": "stopped", "turns": 3, "keeps": 1, "incumbent": "d" * 40, "baseline": "a" * 40,
        "best_effect": 0.05, "interval": [0.05 - 0.02, 0.05 + 0.02], "expected_false_keeps": 0.002,
        "budget": {
            "verdicts": 2, "verdicts_since_stop": 0, "max_turns": 5, "active_s": 120.0, "active_since_stop_s": 0.0,
            "budget_s": None, "tokens": 3000, "cost_usd": 0.75, "turns_without_usage": 0,
        },
        "stopped_by": "max_turns",
        "confinement": CONFINEMENT,
    }  # fmt: skip


def test_before_the_first_start_everything_is_unknown(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = status(experiment, capsys)
    assert (told["state"], told["turns"], told["keeps"], told["best_effect"], told["incumbent"]) == ("new", 0, 0, None, None)
    assert (told["confinement"], told["stopped_by"], told["interval"]) == (None, None, None)
    assert list(experiment.iterdir()) == [experiment / "experiment.yaml"]


def me() -> Started:
    mine = process_id()
    assert mine is not None
    return replace(STARTED, host=host_name(), boot=boot_id(), pid=mine.pid, process_started=mine.started)


def test_status_knows_a_running_runner_from_a_killed_one_and_from_one_elsewhere(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    starts = {
        "running": me(),
        "killed": replace(me(), process_started=me().process_started - 100),
        "unknown": replace(me(), host="elsewhere"),
    }
    starts["killed_by_boot"] = replace(me(), boot="another")
    for word, started in starts.items():
        history(experiment, [(OPENED, None), (started, None)])
        assert status(experiment, capsys)["state"] == word.partition("_")[0]


def test_a_view_while_a_runner_works_neither_waits_nor_disturbs(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal, _ = open_journal(experiment)
    with journal:
        journal.append(OPENED, None, "2026-11-30T10:00:00.000Z")
        journal.append(me(), None, "2026-11-30T10:00:01.000Z")
        for _ in range(3):
            assert status(experiment, capsys)["state"] == "running"
            assert main(["logs", str(experiment)]) == 0
            assert len(capsys.readouterr().out.splitlines()) == 2
        journal.append(STARTED, None, "2026-11-30T10:00:02.000Z")


def test_status_for_a_person_is_safe_text(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(experiment, campaign())
    assert main(["status", str(experiment)]) == 0
    assert capsys.readouterr().out == textwrap.dedent("""\
        quick_sort: stopped by max_turns: 2 of 2 turns are done
          baseline   aaaaaaaaa -> incumbent ddddddddd
          gain       +5 % [+3 %, +7 %], by the keeps' own measurements
          turns      3, 1 kept; expected false keeps at most 0.002
          used       2 min active, 3,000 tokens, cost $0.75
          confined   level 3 by bubblewrap 0.11.0; NOT held: a job can reach the network
          turn 1     KEEP (metric_improvement) +5 % [+3 %, +7 %] after 2 pairs: the stake reached 1000 | Sort in place
          turn 2     DISCARD (not_good_enough) -1 % [-3 %, +1 %] after 2 pairs: too small at best | Unroll the [bold]loop[/bold] by \\x1b[31mhand
          turn 3     AGENT_ERROR (invalid_or_missing_evidence): the agent ended with 1 | no message
    """)  # noqa: E501


def test_a_damaged_journal_shows_what_precedes_the_hole_and_names_its_line(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = journal_bytes(entries(campaign())).split(b"\n")
    lines[19] = b"{not json}"
    content = b"\n".join(lines)
    (experiment / "journal.jsonl").write_bytes(content)
    assert main(["status", str(experiment), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["turns"] == 1
    assert err.startswith("warning: journal.jsonl:20: damaged: Expecting property name enclosed in double quotes")
    assert main(["logs", str(experiment), "-n", "100"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 19
    assert (experiment / "journal.jsonl").read_bytes() == content


def test_a_torn_tail_is_left_alone(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = journal_bytes(entries(campaign()))[:-20]
    (experiment / "journal.jsonl").write_bytes(content)
    assert status(experiment, capsys)["turns"] == 3
    assert (experiment / "journal.jsonl").read_bytes() == content


def test_a_reader_that_takes_one_line_gets_one_line_and_no_complaint(experiment: Path) -> None:
    history(experiment, long_campaign(100))
    for words in (["logs", "-n", "5000"], ["status"]):
        command = " ".join([sys.executable, "-m", "runner.cli", *words, str(experiment)])
        done = subprocess.run(
            ["bash", "-c", f"PYTHONUNBUFFERED=1 {command} | head -1; echo ${{PIPESTATUS[0]}}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert (len(done.stdout.splitlines()), done.stdout.splitlines()[-1], done.stderr) == (2, "0", "")


def test_without_standard_streams_a_view_and_a_run_keep_their_descriptors_apart(experiment: Path) -> None:
    history(experiment, campaign())
    command = f"{' '.join(COMMAND)} status {experiment} <&- >&- 2>&-; echo $?"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_full_disk_under_a_views_output_is_told(experiment: Path) -> None:
    history(experiment, campaign())
    for verb in ("status", "logs"):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run([*COMMAND, verb, experiment], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1
        assert done.stderr == "output not written: No space left on device\n  make room, or write it elsewhere\n"


# --- logs ------------------------------------------------------------------------------------------


def test_logs_shows_the_last_lines_from_the_log_or_else_from_the_journal(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history(experiment, campaign())
    assert main(["logs", str(experiment), "-n", "2"]) == 0
    assert capsys.readouterr().out == (
        "2026-11-30T10:00:26.000Z turn 3    the incumbent stays ddddddddd\n"
        "2026-11-30T10:00:27.000Z campaign  stopped by max_turns: 2 of 2 turns are done (2 min active)\n"
    )
    (experiment / "runner.log").write_text("".join(f"line {n}\n" for n in range(9999)) + "torn", encoding="utf-8")
    assert main(["logs", str(experiment), "-n", "3"]) == 0
    assert capsys.readouterr().out == "line 9996\nline 9997\nline 9998\n"
    assert main(["logs", str(experiment)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 20


def test_a_followed_log_survives_absence_a_cut_and_a_file_built_anew(experiment: Path) -> None:
    log = experiment / "runner.log"
    with subprocess.Popen(
        [*COMMAND, "--tail-log", str(experiment)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        steps = [
            (b"1 one\n", [b"1 one\n"]),
            (b"1 one\n2 two\n3 to", [b"2 two\n"]),
            (b"1 one\n2 two\n3 torn?\n4 \x1b[2Jfour\n", [b"3 torn?\n", b"4 \\x1b[2Jfour\n"]),
        ]
        for content, told in steps:
            with log.open("ab") as stream:
                stream.write(content[log.stat().st_size :])
            assert [child.stdout.readline() for _ in told] == told
        anew = experiment / ".runner.log.new"
        anew.write_bytes(b"0 healed\n1 one\n4 \x1b[2Jfour\n5 five\n")
        anew.replace(log)
        assert child.stdout.readline() == b"5 five\n"
        log.write_bytes(b"6 six\n")
        assert child.stdout.readline() == b"6 six\n"
        child.stdout.close()
        assert child.wait(20) == 0
        assert child.stderr.read() == b""


def test_a_follower_is_ended_by_ctrl_c_without_a_word(experiment: Path) -> None:
    (experiment / "runner.log").write_text("line\n", encoding="utf-8")
    with subprocess.Popen(
        [*COMMAND, "logs", "-f", str(experiment)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"line\n"
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 130
        assert child.stderr.read() == b""


# --- stop ------------------------------------------------------------------------------------------

_RUNNER = """
import sys
from dataclasses import replace
from pathlib import Path
from runner.host import boot_id, host_name, process_id
from runner.journal import open_journal
from runner.signals import listening
from tests.histories import CONFINEMENT, OPENED, STARTED, STOPPED
AT = "2026-11-30T10:00:00.000Z"
with listening() as cancel:
    journal, _ = open_journal(Path(sys.argv[1]))
    mine = process_id()
    journal.append(OPENED, None, AT)
    journal.append(replace(STARTED, host=host_name(), boot=boot_id(), pid=mine.pid, process_started=mine.started), None, AT)
    print("works", flush=True)
    getattr(cancel, sys.argv[2]).wait(60)
    journal.append(replace(STOPPED, rule="asked"), None, AT)
"""


@pytest.mark.parametrize(("wish", "words"), [("soon", []), ("now", ["--now"])])
def test_stop_ends_the_runner_and_waits_for_it(
    experiment: Path, capsys: pytest.CaptureFixture[str], wish: str, words: list[str]
) -> None:
    with subprocess.Popen([sys.executable, "-c", _RUNNER, str(experiment), wish], cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"works\n"
        if wish == "now":
            assert main(["stop", str(experiment), "--wait", "0.3"]) == 1
            assert f"the runner (pid {child.pid}) still works after 0.3 s" in capsys.readouterr().err
        assert main(["stop", str(experiment), *words]) == 0
        capsys.readouterr()
        told = status(experiment, capsys)
        assert (told["state"], told["stopped_by"]) == ("stopped", "asked")
        assert child.wait(20) in (0, -signal.SIGTERM), "a second wish may find it on its way out"
    assert main(["stop", str(experiment)]) == 0
    assert capsys.readouterr().out == f"nothing runs in {experiment}\n"


def test_stop_touches_no_process_that_merely_has_the_pid(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        other = process_id(child.pid)
        assert other is not None
        for started in (
            replace(me(), pid=child.pid, process_started=other.started - 100),
            replace(me(), pid=child.pid, process_started=other.started, boot="another"),
        ):
            history(experiment, [(OPENED, None), (started, None)])
            assert main(["stop", str(experiment)]) == 0
            assert capsys.readouterr().out == f"nothing runs in {experiment}\n"
        history(experiment, [(OPENED, None), (replace(me(), host="elsewhere"), None)])
        assert main(["stop", str(experiment)]) == 1
        assert "the runner was started on elsewhere, not here" in capsys.readouterr().err
        assert child.poll() is None
        child.terminate()


# --- a run and its reader --------------------------------------------------------------------------


def test_a_run_whose_reader_goes_away_works_to_its_end(experiment: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop.py"
    loop.write_text(
        textwrap.dedent("""
            import sys, types
            from pathlib import Path
            from runner.core.state import State, step
            from tests.histories import campaign, entries
            def run(options, face, cancel):
                state = State()
                for _ in range(300):
                    state = State()
                    for entry in entries(campaign()):
                        state = step(state, entry)
                        face.fact(entry, state)
                Path(options.experiment, "ended").touch()
                return 0
            sys.modules["runner.campaign"] = types.ModuleType("runner.campaign")
            sys.modules["runner.campaign"].run = run
            from runner.cli import main
            sys.exit(main(sys.argv[1:]))
        """),
        encoding="utf-8",
    )
    history(experiment, campaign())
    for face in ("--plain", "--json"):
        command = f"{sys.executable} {loop} {experiment} {face} | head -1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        assert (done.stdout.splitlines()[1:], done.stderr) == (["0"], "")
        (experiment / "ended").unlink()


@pytest.mark.slow
def test_views_of_a_long_campaign_are_quick(experiment: Path) -> None:
    """Two thousand turns of twelve lines; the target is 0.3 s on an idle machine, the bound leaves room for a busy one."""
    history(experiment, long_campaign(2000))
    for words in (["status"], ["logs"]):
        times = []
        for _ in range(5):
            began = time.perf_counter()
            assert research(*words, experiment).returncode == 0
            times.append(time.perf_counter() - began)
        assert min(times) < 1.0, (words, times)


def test_every_verb_says_what_it_is_for() -> None:
    for name, verb in VERBS.items():
        assert re.fullmatch(r"[a-z].+", verb.help), name
