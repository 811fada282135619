"""The agent that plays a folder of recorded patches, one a turn, in name order."""

import os
import re
from typing import cast, get_args

from runner.agents.plug import Exhausted, Launch, Task
from runner.core.errors import ContractError
from runner.core.events import Hypothesis, Usage
from runner.core.models import Declares
from runner.core.schemas import WorkerTurn

BEGIN = re.compile(rb"^(diff --git |--- [^\r\n]+\r?\n\+\+\+ |Index: |GIT binary patch)", re.MULTILINE)
"""Where the words end and the diff begins."""
FRAME = re.compile(rb"^(diff --git |--- |\+\+\+ )[^\n]*\n", re.MULTILINE)
"""Lines that git writes itself (and perhaps a deleted line that looks like one)."""
QUIET = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
TRAILER = re.compile(r"^(Approach|Declares):[ \t]*(.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def prepare(task: Task) -> Launch | Exhausted:
    """`git apply` of the next patch at the root of the agent's copy; raises ContractError where any header means nothing."""
    folder = task.worker.folder.name if task.worker.folder else "proposals"
    if not task.patches:
        return Exhausted(f"the folder {folder} holds no patch")
    if task.played >= len(task.patches):
        return Exhausted(f"all {len(task.patches)} patches of {folder} had their turn")
    turns = [words(name, patch) for name, patch in task.patches]
    _, patch = task.patches[task.played]
    root = os.path.relpath(".", task.cwd or ".")
    return Launch(
        argv=("git", "-C", root, "apply", "--whitespace=nowarn", "-"),
        stdin=as_written(patch),
        env=QUIET,
        answer=turns[task.played],
        label=task.patches[task.played][0],
        usage=Usage(tokens=0, cost_usd=0.0),
    )


def as_written(patch: bytes) -> bytes:
    """The patch with the line ends it was made with.

    Where even the lines that git itself writes end in CRLF, the file was converted whole, and one CR is taken off each line;
    where only the content has them, they belong to the files.
    """
    frame = [match.group() for match in FRAME.finditer(patch)]
    return patch.replace(b"\r\n", b"\n") if frame and all(line.endswith(b"\r\n") for line in frame) else patch


def words(name: str, patch: bytes) -> WorkerTurn:
    """What the patch says of itself in its header (Subject, body, `Approach:` and `Declares:` lines), else by its file name."""
    begin = BEGIN.search(patch)
    head = patch[: begin.start()] if begin else b""
    subject, body = _mail(head.replace(b"\r\n", b"\n"))
    marks = {key.lower(): value for key, value in TRAILER.findall(body)}
    declares = marks.get("declares", "improvement").lower().replace(" ", "_").replace("-", "_")
    if declares not in get_args(Declares):
        raise ContractError(
            f"{name}: Declares: '{marks['declares']}' is not one of {', '.join(get_args(Declares))}", "correct the patch's header"
        )
    text = TRAILER.sub("", body).strip()
    statement = subject or _by_name(name)
    return WorkerTurn(
        hypothesis=Hypothesis(statement, text),
        approach=marks.get("approach") or None,
        commit_message=f"{statement}\n\n{text}" if text else statement,
        declares=cast(Declares, declares),
        expected_effect=None,
        notes=f"recorded patch {name}",
        parameters=None,
    )


def _mail(head: bytes) -> tuple[str, str]:
    """Subject (without its `[PATCH 1/3]`) and body (up to the `---` above the statistics) of the text before a diff."""
    if not re.search(rb"^Subject:", head, re.MULTILINE | re.IGNORECASE):
        return "", _text(head)
    from email import message_from_bytes, policy  # tens of milliseconds at every start

    mail = message_from_bytes(head, policy=policy.default)
    subject = re.sub(r"^(\[[^\]]*\]\s*)+", "", " ".join(f"{mail['Subject']}".split()))
    return subject, _text(head.partition(b"\n\n")[2])


def _text(body: bytes) -> str:
    return re.split(r"^---\s*$", body.decode("utf-8", "replace"), maxsplit=1, flags=re.MULTILINE)[0].strip()


def _by_name(name: str) -> str:
    """`0003-use_simd.patch` as `use simd`."""
    stem = re.sub(r"\.(patch|diff|mbox|eml)$", "", name, flags=re.IGNORECASE)
    return re.sub(r"[-_\s]+", " ", re.sub(r"^[\d.]+[-_. ]+", "", stem)).strip() or name
