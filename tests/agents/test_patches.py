import os
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePath

import pytest

from runner.agents import patches
from runner.agents.plug import Exhausted, Launch, Task
from runner.core.contract import Worker
from runner.core.errors import ContractError
from runner.core.events import Hypothesis, Usage
from runner.core.models import TurnNo
from tests.agents.orders import ROOT

GIT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(place: Path, *words: str, env: dict[str, str] | None = None) -> bytes:
    return subprocess.run(("git", "-C", str(place), *words), env=GIT | (env or {}), capture_output=True, check=True).stdout


def repository(place: Path, **files: bytes) -> Path:
    place.mkdir(parents=True)
    git(place, "init", "-q")
    for name, content in files.items():
        (place / name).write_bytes(content)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "start")
    return place


def recorded(place: Path, message: bytes, name: str, content: bytes) -> bytes:
    """The patch, as git format-patch writes it, that gives the file this content."""
    (place / name).write_bytes(content)
    (place / ".git" / "said").write_bytes(message)
    git(place, "commit", "-qaF", ".git/said")
    patch = git(place, "format-patch", "-1", "--stdout")
    git(place, "reset", "-q", "--hard", "HEAD~1")
    return patch


def task(recorded: Mapping[str, bytes], played: int = 0, cwd: str = "") -> Task:
    return Task(
        turn=TurnNo(played + 1),
        prompt="",
        worker=Worker("patches", folder=PurePath("/experiment/proposals")),
        direction="lower",
        input_dir="/input",
        python="",
        path="",
        contract_dir=PurePath("/experiment"),
        root=ROOT,
        cwd=cwd,
        patches=tuple(recorded.items()),
        played=played,
    )


def play(launch: Launch | Exhausted, place: Path) -> tuple[int, str]:
    assert isinstance(launch, Launch)
    done = subprocess.run(
        launch.argv, cwd=place, env=GIT | dict(launch.env), input=launch.stdin, capture_output=True, check=False
    )
    return done.returncode, done.stderr.decode()


def test_a_patch_is_applied_and_speaks_by_its_header(tmp_path: Path) -> None:
    place = repository(tmp_path / "r", a=b"one\ntwo\n")
    message = "Unroll the très hot loop\n\nIt runs often.\nApproach: unrolling\nDeclares: bug-fix\n".encode()
    launch = patches.prepare(task({"first": recorded(place, message, "a", b"one\n2\n")}))
    assert play(launch, place) == (0, "")
    assert (place / "a").read_bytes() == b"one\n2\n"
    assert isinstance(launch, Launch)
    assert launch.usage == Usage(0, 0.0)
    said = launch.answer
    assert said is not None
    assert said.hypothesis == Hypothesis("Unroll the très hot loop", "It runs often.")
    assert (said.approach, said.declares) == ("unrolling", "bug_fix")
    assert said.commit_message == "Unroll the très hot loop\n\nIt runs often."


def test_a_bare_diff_speaks_by_its_file_name(tmp_path: Path) -> None:
    place = repository(tmp_path / "r", a=b"one\n")
    (place / "a").write_bytes(b"two\n")
    diff = git(place, "diff")
    said = patches.words("0003-use_simd-here.patch", diff)
    assert (said.hypothesis, said.commit_message, said.approach) == (Hypothesis("use simd here", ""), "use simd here", None)
    noted = patches.words("x.diff", b"Approach: SIMD\nbecause it is wide\n\n" + diff)
    assert (noted.hypothesis, noted.approach) == (Hypothesis("x", "because it is wide"), "SIMD")


def test_the_next_patch_is_the_one_after_those_played() -> None:
    both = {"one": b"diff --git a/a b/a\n", "two": b"diff --git a/b b/b\n"}
    launch = patches.prepare(task(both, 1))
    assert isinstance(launch, Launch)
    assert launch.stdin == both["two"]
    assert patches.prepare(task(both, 2)) == Exhausted("all 2 patches of proposals had their turn")
    assert patches.prepare(task({})) == Exhausted("the folder proposals holds no patch")


def test_a_patch_that_does_not_apply_changes_nothing_and_leaves_git_s_own_words(tmp_path: Path) -> None:
    place = repository(tmp_path / "r", a=b"one\n", b=b"x\n")
    patch = recorded(place, b"m", "a", b"two\n")
    (place / "a").write_bytes(b"three\n")
    code, stderr = play(patches.prepare(task({"p": patch})), place)
    assert (code, stderr) == (1, "error: patch failed: a:1\nerror: a: patch does not apply\n")
    assert (place / "a").read_bytes() == b"three\n"
    assert play(patches.prepare(task({"p": b""})), place)[0] != 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"one\r\n2\r\n"),
        (b"caf\xe9\nx\n", b"caf\xe9\ny \xff\n"),
        (b"\x00\x01bin", b"\x00\x02bin"),
        (b"x", b"y"),
    ],
    ids=["crlf", "latin-1", "binary", "no newline at the end"],
)
def test_content_arrives_byte_for_byte(tmp_path: Path, before: bytes, after: bytes) -> None:
    place = repository(tmp_path / "r", a=before)
    patch = recorded(place, b"m \xe9", "a", after)
    if b"GIT binary" in patch or b"Binary files" in patch:
        assert b"GIT binary patch" in patch
    assert play(patches.prepare(task({"p": patch})), place) == (0, "")
    assert (place / "a").read_bytes() == after


def test_a_patch_that_an_editor_converted_to_crlf_still_applies(tmp_path: Path) -> None:
    place = repository(tmp_path / "r", a=b"one\ntwo\n")
    patch = recorded(place, b"Say two\n\nDeclares: code quality", "a", b"one\n2\n").replace(b"\n", b"\r\n")
    launch = patches.prepare(task({"p": patch}))
    assert play(launch, place) == (0, "")
    assert (place / "a").read_bytes() == b"one\n2\n"
    assert isinstance(launch, Launch)
    assert launch.answer is not None
    assert (launch.answer.declares, launch.answer.commit_message) == ("code_quality", "Say two")


def test_paths_count_from_the_repository_s_root_when_the_project_is_below(tmp_path: Path) -> None:
    place = repository(tmp_path / "r", a=b"one\n")
    (place / "packages" / "p").mkdir(parents=True)
    patch = recorded(place, b"m", "a", b"two\n")
    assert play(patches.prepare(task({"p": patch}, cwd="packages/p")), place / "packages" / "p") == (0, "")
    assert (place / "a").read_bytes() == b"two\n"


def test_an_unknown_declaration_in_any_patch_stops_before_the_first_turn() -> None:
    bad = b"Subject: x\n\nDeclares: bugfix\n---\ndiff --git a/a b/a\n"
    with pytest.raises(ContractError) as stop:
        patches.prepare(task({"good": b"diff --git a/a b/a\n", "bad": bad}))
    assert str(stop.value) == (
        "bad: Declares: 'bugfix' is not one of improvement, bug_fix, code_quality\n  correct the patch's header"
    )
