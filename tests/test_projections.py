import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import pytest

from runner.core.events import Entry, Remeasured
from runner.core.news import Warned
from runner.core.rows import About
from runner.core.state import State, step
from runner.projections import Projections
from tests.histories import BASE, OPENED, STARTED, History, calibration, campaign, entries, journal_bytes, keep, oid, turn

ABOUT = About("quick_sort", "Quick sort, faster", "seconds", "lower")
ROOT = Path(__file__).parent.parent
FILES = ("results.tsv", "experiments.jsonl", "runner.log", "summary.md", "current_winner.json")
D = oid("d")


def run(folder: Path, history: list[Entry], start: int = 0) -> list[Warned]:
    """A runner that starts where `start` facts are written and records the rest."""
    warned: list[Warned] = []
    files = Projections(folder, ABOUT, warned.append)
    state = State()
    for entry in history[:start]:
        state = step(state, entry)
    (folder / "journal.jsonl").write_bytes(journal_bytes(history[:start]))
    files.start(history[:start])
    for number, entry in enumerate(history[start:], start + 1):
        (folder / "journal.jsonl").write_bytes(journal_bytes(history[:number]))
        state = step(state, entry)
        files.fact(entry, state)
    return warned


def contents(folder: Path, names: Iterable[str] = FILES) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    run(folder, entries(campaign()))
    return contents(folder)


def test_results_tsv_has_a_row_for_the_baseline_and_one_for_each_turn(tmp_path: Path) -> None:
    run(tmp_path, entries(campaign()))
    assert (tmp_path / "results.tsv").read_text(encoding="utf-8").split("\n") == [
        "iteration\tcommit\tmetric_value\tdelta\tstatus\tdescription",
        f"0\t{BASE}\t2.0\t0\tbaseline\tthe starting point of Quick sort, faster",
        f"1\t{D}\t1.9\t{1.9 - 2.0!r}\tkeep\tSort in place",
        f"2\t{oid('c')}\t2.02\t0.02\tdiscard\tUnroll the [bold]loop[/bold] by \\x1b[31mhand",
        "3\t\t\t\tagent_error\tthe agent ended with 1",
        "",
    ]


def test_experiments_jsonl_tells_each_attempt_in_full(tmp_path: Path) -> None:
    run(tmp_path, entries(campaign()))
    lines = [json.loads(line) for line in (tmp_path / "experiments.jsonl").read_text(encoding="utf-8").splitlines()]
    hashes = {"script_hash": "4" * 64, "prompt_hash": "2" * 64}
    assert lines[0] == {
        "timestamp": "2026-11-30T10:00:05.000Z", "kind": "baseline", "iteration": 0, "proposal": None, "approach": None,
        "metric": 2.0, "effect": None, "interval": None, "pairs": 6, "status": "baseline", "decision": "kept",
        "acceptance_basis": None, "notes": None, "commit": BASE, **hashes, "tokens": None, "cost_usd": None, "seconds": None,
    }  # fmt: skip
    assert lines[1] == {
        "timestamp": "2026-11-30T10:00:14.000Z", "kind": "attempt", "iteration": 1, "proposal": "Sort in place",
        "approach": "in-place", "metric": 1.9, "effect": 0.05, "interval": [0.05 - 0.02, 0.05 + 0.02], "pairs": 2,
        "status": "keep", "decision": "kept", "acceptance_basis": "metric_improvement", "notes": "the stake reached 1000",
        "commit": D, **hashes, "tokens": 1000, "cost_usd": 0.25, "seconds": 30.0,
    }  # fmt: skip
    assert lines[2]["proposal"] == "Unroll\tthe [bold]loop[/bold]\nby \x1b[31mhand"
    assert (lines[3]["status"], lines[3]["decision"], lines[3]["commit"], lines[3]["metric"]) == (
        "agent_error",
        "reverted",
        None,
        None,
    )
    assert len(lines) == 4


def test_current_winner_is_the_incumbents_own_measurement(tmp_path: Path) -> None:
    history = entries(campaign())
    run(tmp_path, history[:5])
    assert json.loads((tmp_path / "current_winner.json").read_text(encoding="utf-8")) == {
        "experiment": "quick_sort", "commit": BASE,
        "metric": {"name": "seconds", "direction": "lower", "value": 2.0, "secondary": {"rss": 10.0}},
        "baseline": {"commit": BASE, "value": 2.0}, "effect": None, "interval": None,
        "turn": 0, "updated_at": "2026-11-30T10:00:05.000Z",
    }  # fmt: skip
    run(tmp_path, history)
    assert json.loads((tmp_path / "current_winner.json").read_text(encoding="utf-8")) == {
        "experiment": "quick_sort", "commit": D,
        "metric": {"name": "seconds", "direction": "lower", "value": 1.9, "secondary": {"rss": 9.0}},
        "baseline": {"commit": BASE, "value": 2.0}, "effect": 0.05, "interval": [0.05 - 0.02, 0.05 + 0.02],
        "turn": 1, "updated_at": "2026-11-30T10:00:14.000Z",
    }  # fmt: skip


def test_the_summary_says_what_it_came_to(tmp_path: Path) -> None:
    run(tmp_path, entries(campaign()))
    page = """\
        # Quick sort, faster

        **`seconds` (lower is better): 2 -> 1.9**, baseline aaaaaaaaa -> ddddddddd (gain +5 % [+3 %, +7 %], compounded from the keeps, not measured afresh)

        - kept 1 of 2 candidates tried in 3 turns (1 keep, 1 discard, 1 agent_error)
        - expected false keeps: at most 0.002

        ## Top experiments

        1. turn 1, keep, +5 % [+3 %, +7 %], ddddddddd: Sort in place

        ## Approaches tried

        - in-place: 2 tried, 1 kept

        ## Time and cost

        - active time: 2 min
        - tokens: 3,000, cost: $0.75
        - stopped by: max_turns: 2 of 2 turns are done
        - as of 2026-11-30T10:00:27.000Z
        """  # noqa: E501
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == textwrap.dedent(page)
    ended = tmp_path / "autoresearch_summary_20261130T100027Z.md"
    assert ended.read_bytes() == (tmp_path / "summary.md").read_bytes()
    assert list(tmp_path.glob("autoresearch_summary_*.md")) == [ended]


def test_the_summary_takes_the_gain_from_fresh_pairs_where_there_are_some(tmp_path: Path) -> None:
    history: History = [(OPENED, None), (STARTED, None), *calibration(), *turn(1, keep(), kept=D)]
    run(tmp_path, entries([*history, (Remeasured(BASE, D, 20, 0.031, (0.01, 0.05), "ratio"), None)]))
    assert "(gain +3.1 % [+1 %, +5 %], on fresh pairs)" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    winner = json.loads((tmp_path / "current_winner.json").read_text(encoding="utf-8"))
    assert (winner["effect"], winner["interval"]) == (0.031, [0.01, 0.05])


def test_an_approach_and_a_usage_that_nobody_told_are_unknown_and_never_zero(tmp_path: Path) -> None:
    run(tmp_path, entries(campaign())[:5])
    page = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "- tokens: unknown, cost: unknown" in page
    assert "2 at the baseline aaaaaaaaa; nothing better was kept" in page


def test_the_log_has_a_line_for_each_fact(tmp_path: Path) -> None:
    run(tmp_path, entries(campaign()))
    lines = (tmp_path / "runner.log").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 27
    assert lines[0] == (
        "2026-11-30T10:00:01.000Z campaign  campaign c0ffee of quick_sort: baseline aaaaaaaaa, winners go to research/quick_sort"
    )
    assert lines[2] == "2026-11-30T10:00:03.000Z noise     pair 1: incumbent 1.9, candidate 2.1"
    assert lines[12] == (
        "2026-11-30T10:00:13.000Z turn 1    KEEP (metric_improvement) +5 % [+3 %, +7 %] after 2 pairs: the stake reached 1000"
        " | Sort in place"
    )
    assert "\x1b" not in "".join(lines)
    assert lines[-1] == "2026-11-30T10:00:27.000Z campaign  stopped by max_turns: 2 of 2 turns are done (2 min active)"


def test_files_grow_to_the_same_bytes_wherever_runs_were_cut(tmp_path_factory: pytest.TempPathFactory) -> None:
    whole = expected(tmp_path_factory)
    for cut in range(0, 27, 2):
        folder = tmp_path_factory.mktemp("cut")
        history = entries(campaign())
        run(folder, history[:cut])
        assert run(folder, history, start=cut) == []
        assert contents(folder) == whole


def remove(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    os.truncate(path, max(0, path.stat().st_size - 7))


def edit(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"1", b"9"))


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more\n")


def become_a_directory_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "elsewhere")


def become_a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("harm", [remove, truncate, edit, append, become_a_directory_link, become_a_fifo])
def test_what_was_harmed_between_two_runs_is_built_anew(harm: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert callable(harm)
    whole, folder = expected(tmp_path_factory), tmp_path_factory.mktemp("harmed")
    history = entries(campaign())
    run(folder, history[:20])
    for name in FILES:
        harm(folder / name)
    assert run(folder, history, start=20) == []
    assert contents(folder) == whole
    assert not (folder / "elsewhere").exists()


@pytest.mark.parametrize("harm", [remove, truncate, append])
def test_what_was_harmed_during_a_run_is_built_anew_with_the_next_line(
    harm: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert callable(harm)
    whole, folder = expected(tmp_path_factory), tmp_path_factory.mktemp("harmed")
    history = entries(campaign())
    files = Projections(folder, ABOUT, lambda warned: pytest.fail(warned.what))
    files.start([])
    state = State()
    for number, entry in enumerate(history, 1):
        (folder / "journal.jsonl").write_bytes(journal_bytes(history[:number]))
        if number == 21:
            for name in FILES:
                harm(folder / name)
        state = step(state, entry)
        files.fact(entry, state)
    assert contents(folder) == whole


def test_a_start_without_a_change_writes_nothing(tmp_path: Path) -> None:
    history = entries(campaign())
    run(tmp_path, history)
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in FILES}
    assert run(tmp_path, history, start=len(history)) == []
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in FILES} == before


def test_a_line_is_added_without_writing_the_file_anew(tmp_path: Path) -> None:
    history = entries(campaign())
    run(tmp_path, history[:20])
    before = (tmp_path / "results.tsv").stat().st_ino
    run(tmp_path, history, start=20)
    assert (tmp_path / "results.tsv").stat().st_ino == before


def test_a_file_that_cannot_be_written_is_warned_of_once_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "results.tsv").mkdir()
    (tmp_path / "summary.md").mkdir()
    warned = run(tmp_path, entries(campaign()))
    assert [w.what for w in warned] == [
        f"{tmp_path}/results.tsv not written: Is a directory",
        f"{tmp_path}/summary.md not written: Is a directory",
    ]
    assert len((tmp_path / "runner.log").read_text(encoding="utf-8").splitlines()) == 27


def test_a_full_disk_stops_nothing_and_the_next_start_mends_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    whole, folder = expected(tmp_path_factory), tmp_path_factory.mktemp("full")
    child = textwrap.dedent("""
        import resource, sys
        from pathlib import Path
        from runner.core.state import State, step
        from runner.projections import Projections
        from tests.histories import campaign, entries, journal_bytes
        from tests.test_projections import ABOUT
        warned = []
        files = Projections(Path(sys.argv[1]), ABOUT, lambda w: warned.append(w.what.rsplit("/", 1)[1]))
        files.start([])
        Path(sys.argv[1], "journal.jsonl").write_bytes(journal_bytes(entries(campaign())))
        resource.setrlimit(resource.RLIMIT_FSIZE, (400, resource.RLIM_INFINITY))
        state = State()
        for entry in entries(campaign()):
            state = step(state, entry)
            files.fact(entry, state)
        print(*sorted(warned), sep="\\n")
    """)
    done = subprocess.run([sys.executable, "-c", child, str(folder)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "runner.log not written: File too large" in done.stdout
    assert len(done.stdout.splitlines()) == len(set(done.stdout.splitlines()))
    history = entries(campaign())
    assert run(folder, history, start=len(history)) == []
    assert contents(folder) == whole
    assert not list(folder.glob(".*.new"))
