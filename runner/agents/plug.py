"""What an agent is given, what the runner starts for it, what is made of its return."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from runner.core.brief import Record
from runner.core.contract import Parameter, Worker
from runner.core.ended import Ended
from runner.core.events import Change, Usage
from runner.core.models import Direction, Outcome, TurnNo
from runner.core.schemas import Schema, WorkerTurn


@dataclass(frozen=True, slots=True)
class Task:
    """One turn's order, whatever the agent.

    `records` are the turns of this segment (later ones than `turn` are not looked at); `settings` and `first_settings` the
    settings files of the incumbent and of the segment's first incumbent by tree-relative path; `root` the repository's root
    as the contract spells it; `cwd` project_root below it ("" for itself), where the agent is started; `patches` the recorded
    patches in name order and `played` how many of them had their turn; `contract_dir` the experiment directory on the host;
    `python` stands in for `$RESEARCH_PYTHON`; `path` is the host's PATH; `input_dir` where the agent finds `Launch.files`.
    """

    turn: TurnNo
    prompt: str
    worker: Worker
    direction: Direction
    input_dir: str
    python: str
    path: str
    contract_dir: PurePath
    root: PurePath
    cwd: str = ""
    seed: int = 0
    parameters: tuple[Parameter, ...] = ()
    records: Sequence[Record] = ()
    settings: Mapping[str, bytes] = field(default_factory=dict)
    first_settings: Mapping[str, bytes] = field(default_factory=dict)
    patches: tuple[tuple[str, bytes], ...] = ()
    played: int = 0


UNKNOWN = Usage()


@dataclass(frozen=True, slots=True)
class Launch:
    """A child to start in the agent's copy, with cwd there.

    `env` is added to the worker's environment; `files` lie read-only in the input directory; `read_only` are host paths that
    must be visible at the same place; `label` names what is played, for reasons; `answer` is what is known of the turn
    beforehand and `usage` what it will have used.
    """

    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    read_only: tuple[PurePath, ...] = ()
    answer: WorkerTurn | None = None
    label: str = ""
    usage: Usage = UNKNOWN


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The agent has nothing left to propose; the campaign ends by the rule `proposals_exhausted` with this sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Returned:
    """An agent's return: how its child ended, the bytes at RESEARCH_WORKER_OUTPUT (None: no file) and what its tree changed.

    `lines` are the lines added and removed in all, None where they were not counted; `schema` is worker_turn.schema.json.
    """

    launch: Launch
    ended: Ended
    answer: bytes | None
    changes: Sequence[Change]
    lines: tuple[int, int] | None
    schema: Schema


@dataclass(frozen=True, slots=True)
class Answer:
    """What is made of it: `turn` is None where the worker said nothing usable; `message` is for the candidate's commit.

    `reason` is "" where there is nothing to say.
    """

    outcome: Outcome
    reason: str
    turn: WorkerTurn | None
    message: str
    usage: Usage

    @property
    def proposes(self) -> bool:
        """Whether the turn goes on to `Proposed` (with no candidate where nothing changed), or ends as `agent_error`."""
        return self.outcome in PROPOSES


PROPOSES = frozenset({Outcome.OK, Outcome.NO_CHANGE, Outcome.BAD_ANSWER})
"""Outcomes that go on; a worker that failed but left a change is OK with a reason."""


@dataclass(frozen=True, slots=True)
class Plug:
    """An agent: `prepare` says what to start (raises ContractError where it can never work), `read` what came of it."""

    prepare: Callable[[Task], Launch | Exhausted]
    read: Callable[[Returned], Answer]
