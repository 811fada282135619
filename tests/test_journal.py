import hashlib
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from runner.core.errors import JournalError
from runner.core.events import FORMAT, Hypothesis, Noted
from runner.core.models import TurnNo
from runner.core.state import fold
from runner.core.wording import sentence
from runner.journal import FIRST_LINK, NAME, glance, line, look, open_journal, scan
from tests.histories import OPENED, STARTED, campaign, entries, journal_bytes, long_campaign, oid, proposed

AT = "2026-11-30T10:00:00.000Z"
ROOT = Path(__file__).parent.parent


def write(folder: Path, content: bytes) -> Path:
    path = folder / NAME
    path.write_bytes(content)
    return path


def test_a_line_is_one_strict_json_object_chained_to_the_line_before(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path)
    with journal:
        journal.append(Noted("note", "first"), None, AT)
        journal.append(Noted("note", "second"), TurnNo(3), AT)
    first, second, rest = (tmp_path / NAME).read_bytes().split(b"\n")
    assert rest == b""
    assert json.loads(first) == {
        "seq": 1, "at": AT, "turn": None, "kind": "Noted", "prev": "0" * 64, "what": "note", "text": "first"
    }  # fmt: skip
    assert json.loads(second) == {
        "seq": 2, "at": AT, "turn": 3, "kind": "Noted", "prev": hashlib.sha256(first).hexdigest(),
        "what": "note", "text": "second",
    }  # fmt: skip


def test_what_was_written_is_read_back_whole(tmp_path: Path) -> None:
    journal, found = open_journal(tmp_path)
    assert found.entries == ()
    with journal:
        written = [journal.append(fact, None if turn is None else TurnNo(turn), AT) for fact, turn in campaign()]
    assert look(tmp_path).entries == tuple(written)
    again, found = open_journal(tmp_path)
    again.close()
    assert (found.entries, found.torn, found.damage) == (tuple(written), 0, None)


@pytest.mark.parametrize("extra", [b"", b"\n"])
def test_torn_at_every_byte_of_its_last_line_a_journal_goes_on_with_what_precedes_it(tmp_path: Path, extra: bytes) -> None:
    """A cut may also end with a newline that reached the disk before the line's own bytes."""
    history = entries([(OPENED, None), (Noted("", ""), None)])
    whole = journal_bytes(history)
    start = len(journal_bytes(history[:1]))
    for cut in range(start + 1, len(whole) - 1):
        torn = whole[:cut] + extra
        path = write(tmp_path, torn)
        journal, found = open_journal(tmp_path)
        with journal:
            assert (found.entries, found.torn, found.damage) == (tuple(history[:1]), len(torn) - start, None)
            assert journal.append(history[1].fact, None, history[1].at) == history[1]
        assert path.read_bytes() == whole
        aside = tmp_path / f"{NAME}.torn"
        assert aside.read_bytes() == whole[start:cut] + extra + b"\n"
        aside.unlink()


def test_a_last_line_without_its_newline_is_torn_even_when_it_parses(tmp_path: Path) -> None:
    history = entries(campaign())[:3]
    write(tmp_path, journal_bytes(history)[:-1])
    journal, found = open_journal(tmp_path)
    journal.close()
    assert found.entries == tuple(history[:2])


def test_a_journal_cut_by_whole_lines_is_a_shorter_journal(tmp_path: Path) -> None:
    history = entries(campaign())
    for length in range(len(history) + 1):
        write(tmp_path, journal_bytes(history[:length]))
        journal, found = open_journal(tmp_path)
        journal.close()
        assert (found.entries, found.torn) == (tuple(history[:length]), 0)


def damaged(number: int, by: bytes) -> bytes:
    lines = journal_bytes(entries(campaign())[:10]).split(b"\n")
    lines[number - 1] = by
    return b"\n".join(lines)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (damaged(5, b"{not json}"), "journal.jsonl:5: damaged: Expecting property name enclosed in double quotes"),
        (damaged(5, b""), "journal.jsonl:5: damaged: Expecting value"),
        (damaged(5, b"[1]"), "journal.jsonl:5: damaged: not a journal line"),
        (damaged(5, b"\xff\xfe"), "journal.jsonl:5: damaged: 'utf-16-le' codec can't decode|journal.jsonl:5: damaged: "),
        (damaged(4, b'{"seq":4,"seq":4}'), "journal.jsonl:4: damaged: a key stands twice"),
        (damaged(4, b'{"seq":NaN}'), "journal.jsonl:4: damaged: NaN is not JSON"),
    ],
)
def test_damage_before_the_last_line_is_refused_by_its_number_and_the_file_left_alone(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(JournalError, match=message):
        open_journal(tmp_path)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == [NAME]


def tampered(number: int, old: bytes, new: bytes) -> bytes:
    lines = journal_bytes(entries(campaign())[:10]).split(b"\n")
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    return b"\n".join(lines)


@pytest.mark.parametrize(
    ("content", "at", "why"),
    [
        (tampered(5, b'"seq":5', b'"seq":6'), 5, "its seq is 6"),
        (tampered(5, b'"seq":5', b'"seq":5.0'), 5, "not a journal line"),
        (tampered(6, b'"turn":1', b'"turn":"1"'), 6, "not a journal line"),
        (tampered(4, b"1.9", b"1.8"), 5, "it does not continue the line before it (hash chain)"),
    ],
)
def test_a_line_that_was_edited_is_found_by_its_number_or_by_the_chain(content: bytes, at: int, why: str) -> None:
    found = scan(content)
    assert found.damage == (at, why)
    assert found.entries == tuple(entries(campaign())[: at - 1]) or at == 5
    assert len(found.entries) == at - 1


def test_a_swapped_pair_of_lines_breaks_the_chain() -> None:
    lines = journal_bytes(entries(campaign())[:6]).split(b"\n")
    lines[2], lines[3] = lines[3], lines[2]
    assert scan(b"\n".join(lines)).damage == (3, "it does not continue the line before it (hash chain)")


def test_a_journal_of_a_newer_format_is_refused_by_name(tmp_path: Path) -> None:
    newer = replace(OPENED, format=FORMAT + 1)
    write(tmp_path, journal_bytes(entries([(newer, None)])))
    with pytest.raises(
        JournalError, match=r"^journal.jsonl:1: written in format 2, this runner reads up to 1\n  update the runner$"
    ):
        open_journal(tmp_path)


def test_a_kind_of_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    text = line(entries([(OPENED, None)])[0], FIRST_LINK).replace(b'"CampaignOpened"', b'"Teleported"')
    write(tmp_path, text + b"\n")
    with pytest.raises(JournalError, match=r"^journal.jsonl:1: unknown kind of fact 'Teleported'"):
        open_journal(tmp_path)


def _symlink(path: Path) -> None:
    target = path.with_name("elsewhere")
    target.write_bytes(b"")
    path.symlink_to(target)


def _hard_link(path: Path) -> None:
    other = path.with_name("elsewhere")
    other.write_bytes(b"")
    os.link(other, path)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_symlink, "Too many levels of symbolic links"),
        (_hard_link, "not a plain file with one name"),
        (os.mkfifo, "not a plain file with one name"),
        (Path.mkdir, "Is a directory"),
    ],
)
def test_what_is_not_a_plain_file_of_its_own_is_refused(tmp_path: Path, make: object, why: str) -> None:
    assert callable(make)
    make(tmp_path / NAME)
    with pytest.raises(JournalError, match=why):
        open_journal(tmp_path)
    if make is not _hard_link:
        with pytest.raises(JournalError, match="expected"):
            look(tmp_path)


def test_a_second_writer_is_refused_and_told_who_works(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path)
    with journal:
        journal.append(OPENED, None, AT)
        journal.append(STARTED, None, AT)
        for _ in range(3):
            with pytest.raises(JournalError, match=r"another runner \(pid 4242 on box\) works on"):
                open_journal(tmp_path)
            assert len(look(tmp_path).entries) == 2
    again, _ = open_journal(tmp_path)
    again.close()


def test_the_lock_goes_with_its_holder(tmp_path: Path) -> None:
    holds = "import sys; from pathlib import Path; from runner.journal import open_journal\n"
    holds += "kept = open_journal(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", holds, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(JournalError, match="another runner works on"):
            open_journal(tmp_path)
        child.kill()
    journal, _ = open_journal(tmp_path)
    journal.close()


def test_no_room_for_a_line_leaves_nothing_half_written_and_a_later_start_goes_on(tmp_path: Path) -> None:
    fills = textwrap.dedent("""
        import resource, sys
        from pathlib import Path
        from runner.core.errors import JournalError
        from runner.core.events import Noted
        from runner.journal import open_journal
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
        journal, _ = open_journal(Path(sys.argv[1]))
        with journal:
            for number in range(100):
                try:
                    journal.append(Noted("note", "x" * 100), None, "2026-11-30T10:00:00.000Z")
                except JournalError as error:
                    print(number, error.what.split("(")[0], error.mend, sep="|")
                    break
    """)
    done = subprocess.run([sys.executable, "-c", fills, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True)
    number, what, mend = done.stdout.strip().split("|")
    assert (what, mend) == ("journal not written: File too large ", "nothing has moved; make room, then run the same command")
    found = look(tmp_path)
    assert (len(found.entries), found.torn, found.damage) == (int(number), 0, None)
    journal, _ = open_journal(tmp_path)
    with journal:
        assert journal.append(Noted("note", "there is room"), None, AT).seq == int(number) + 1
    assert len(look(tmp_path).entries) == int(number) + 1


def test_a_number_that_json_does_not_know_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path)
    with journal, pytest.raises(ValueError, match="nan has no place in strict JSON"):
        journal.append(replace(STARTED, budget_s=float("nan")), None, AT)
    assert (tmp_path / NAME).read_bytes() == b""


def test_a_file_that_was_changed_under_the_runner_is_not_written_any_further(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path)
    with journal:
        journal.append(OPENED, None, AT)
        saved = (tmp_path / NAME).read_bytes()
        (tmp_path / "new").write_bytes(saved)
        (tmp_path / "new").replace(tmp_path / NAME)
        with pytest.raises(JournalError, match="replaced or changed by another program while the runner worked"):
            journal.append(STARTED, None, AT)
    assert (tmp_path / NAME).read_bytes() == saved


def test_a_line_that_somebody_else_added_under_the_runner_stops_it(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path)
    with journal:
        journal.append(OPENED, None, AT)
        with (tmp_path / NAME).open("ab") as stream:
            stream.write(b"{}\n")
        with pytest.raises(JournalError, match="replaced or changed by another program while the runner worked"):
            journal.append(STARTED, None, AT)


def test_text_that_a_terminal_obeys_is_escaped_in_the_line_and_whole_in_the_fact(tmp_path: Path) -> None:
    text = "naïve \x1b[31m \x9b2J \u202e [bold]x[/bold] $(touch /tmp/x)\n\ttab"
    journal, _ = open_journal(tmp_path)
    with journal:
        journal.append(Noted("note", text), None, AT)
    written = (tmp_path / NAME).read_text(encoding="utf-8")
    assert "naïve \\u001b[31m \\u009b2J \\u202e [bold]x[/bold] $(touch /tmp/x)\\n\\ttab" in written
    assert look(tmp_path).entries[0].fact == Noted("note", text)


def test_half_a_surrogate_from_an_agent_is_written_as_valid_utf8_and_read_as_it_was_told(tmp_path: Path) -> None:
    fact = replace(proposed(oid("c"), "half \ud83d of an emoji"), hypothesis=Hypothesis("\udc00", "é"))
    journal, _ = open_journal(tmp_path)
    with journal:
        entry = journal.append(fact, TurnNo(1), AT)
    assert entry.fact == replace(fact, message="half \ufffd of an emoji", hypothesis=Hypothesis("\ufffd", "é"))
    assert look(tmp_path).entries == (entry,)


def test_a_glance_counts_what_the_whole_journal_counts(tmp_path: Path) -> None:
    history = long_campaign(40)
    write(tmp_path, journal_bytes(entries(history)))
    whole, fast = fold(look(tmp_path).entries), fold(glance(tmp_path).entries)
    assert len(glance(tmp_path).entries) < len(look(tmp_path).entries)
    assert (fast.verdicts, fast.keeps, fast.incumbent, fast.seq) == (40, 2, whole.incumbent, whole.seq)
    assert [(r.decided, r.usage, r.kept, r.seconds) for r in fast.finished] == [
        (r.decided, r.usage, r.kept, r.seconds) for r in whole.finished
    ]
    assert fast.finished[-10:] == whole.finished[-10:]
    assert [sentence(e, whole) for e in glance(tmp_path).entries[-5:]] == [
        sentence(e, whole) for e in look(tmp_path).entries[-5:]
    ]


@pytest.mark.parametrize("content", [damaged(5, b"{not json}"), tampered(4, b"1.9", b"1.8"), b"", b"{torn", damaged(9, b"{}")])
def test_a_glance_tells_damage_as_the_careful_scan_does(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, content)
    assert glance(tmp_path) == scan(content)


def test_reading_leaves_a_torn_tail_where_it_is(tmp_path: Path) -> None:
    content = journal_bytes(entries(campaign()))[:-20]
    path = write(tmp_path, content)
    for read in (look, glance):
        found = read(tmp_path)
        assert found.torn > 0
        assert found.damage is None
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == [NAME]
