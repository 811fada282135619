"""Let the worker propose in a copy of its own, and take what it left as one commit."""

import dataclasses
import errno
import itertools
import json
from dataclasses import dataclass
from pathlib import Path, PurePath

from runner import files
from runner.agents.plug import Answer, Exhausted, Launch, Returned, Task
from runner.bench import OPEN_NETWORK, Bench, Halt
from runner.checkouts import declared, links, persons, side
from runner.core.contract import Contract
from runner.core.errors import ContractError, RepoError
from runner.core.events import Proposed, Usage, Worked
from runner.core.models import Oid, Outcome, TurnNo
from runner.core.prompts import Words, work_prompt
from runner.core.schemas import WorkerTurn
from runner.core.state import OpenTurn, State
from runner.processes import Captured, Finished
from runner.repo import Imported, Snapshot, hide
from runner.sandbox import Job, Mount
from runner.shipped import shipped

CONFINED = 2
"""The level from which on children live in namespaces of their own."""
ANSWER = "worker_turn.json"
PROMPT = "prompt.md"
ANSWER_LIMIT = 1 << 20
FILE_LIMIT = 32 << 20
CHANGES_LIMIT = 1000
"""Bytes one file of a candidate may have; larger ones are refused at the import. Paths one candidate may touch."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where one turn's agent works: its copy, its answer, its input, and what the copy looked like at first."""

    root: Path

    @property
    def tree(self) -> Path:
        return self.root / "tree"

    @property
    def output(self) -> Path:
        return self.root / "output"

    @property
    def input(self) -> Path:
        return self.root / "input"

    @property
    def snapshot(self) -> Path:
        return self.root / "snapshot.json"


def desk(bench: Bench) -> Desk:
    return Desk(bench.state / "agent")


@dataclass(frozen=True, slots=True)
class Harvest:
    """What the finished copy holds: the tree as the import took it, and the worker's words."""

    imported: Imported
    answer: Answer
    seconds: float
    exit_code: int | None


def task(bench: Bench, state: State, turn: TurnNo, incumbent: Oid) -> Task:
    """The order for one turn; the same for the same journal, so that a resumed turn gives the same one."""
    contract = bench.contract
    segment = state.opened.segment if state.opened else 0
    first = state.opened.incumbent if state.opened else incumbent
    records = tuple(r for r in state.finished if r.segment == segment)
    return Task(
        turn=turn,
        prompt=_prompt(bench, state),
        worker=contract.worker,
        direction=contract.objective.primary.direction,
        input_dir=str(bench.sandbox.places.input),
        python=bench.python,
        path=bench.path,
        contract_dir=bench.experiment,
        root=bench.root,
        cwd=bench.cwd,
        seed=contract.seed,
        parameters=contract.parameters,
        records=records,
        settings=_settings(bench, incumbent),
        first_settings=_settings(bench, first),
        patches=_patches(contract),
        played=sum(r.decided.status.value != "interrupted" for r in state.finished),
    )


def _settings(bench: Bench, commit: Oid) -> dict[str, bytes]:
    found = {path: bench.private.read(commit, path) for path in bench.settings()}
    return {path: data for path, data in found.items() if data is not None}


def _patches(contract: Contract) -> tuple[tuple[str, bytes], ...]:
    folder = contract.worker.folder
    if folder is None:
        return ()
    if not Path(folder).is_dir():
        raise ContractError(contract.say("worker.folder", f"expected a folder of patches, found none at {folder}"))
    names = sorted(p.name for p in Path(folder).iterdir() if p.suffix in (".patch", ".diff"))
    return tuple((name, files.read_plain(Path(folder) / name)) for name in names)


def _prompt(bench: Bench, state: State) -> str:
    """The person's files as they are now; program.md may be edited while it runs."""
    words = Words(
        *(_text(bench.experiment / name) for name in ("goal_prompt.md", "judge_prompt.md", "program.md", "program.learned.md"))
    )
    surface = [s for w in bench.contract.writable_paths if (s := _shown(w.path, w.tree, bench.root))]
    return work_prompt(shipped("prompts", "work_prompt.md").decode(), bench.contract, words, state.finished, surface)


def _shown(path: PurePath, tree: bool, root: PurePath) -> str:
    inside = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    return inside + "/" * tree


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""


def check(bench: Bench, state: State, incumbent: Oid) -> None:
    """ContractError where the agent can never propose anything, before anything is measured."""
    bench.plug.prepare(task(bench, state, state.next_turn, incumbent))


def ready(bench: Bench, state: State) -> Exhausted | None:
    """Whether the agent has another proposal; ContractError where it can never make one."""
    assert state.incumbent is not None, "a campaign has an incumbent from its first line on"
    order = bench.plug.prepare(task(bench, state, state.next_turn, state.incumbent))
    return order if isinstance(order, Exhausted) else None


def work(bench: Bench, state: State, turn: OpenTurn) -> tuple[Worked, Harvest | None]:
    """Run the worker from scratch in a fresh copy; what an earlier, killed try left is thrown away."""
    place = desk(bench)
    _clear(place.root)
    place.output.mkdir(parents=True)
    launch = _launch(bench, state, turn)
    _copy(bench, place, turn.incumbent)
    _lay_out(bench, place, launch, turn, _prompt(bench, state).encode())
    bench.tell(turn.turn, "propose", bench.contract.worker.agent)
    finished = _run(bench, place, launch, turn.incumbent)
    _keep(bench, turn.turn, finished)
    try:
        files.write_durably(place.root / "exit.json", exit_bytes(turn.turn, finished))
        harvest = gather(bench, state, turn)
    except (OSError, RepoError) as error:
        return _without_room(bench, place, finished, error), None
    assert harvest is not None, "the copy was there a moment ago"
    answer = harvest.answer
    worked = Worked(answer.outcome, harvest.exit_code, harvest.seconds, answer.usage, answer.reason, not_held(bench))
    return worked, harvest


def _clear(root: Path) -> None:
    """Throw the desk away; what will not go (immutable, where an agent without walls is root) is moved beside."""
    try:
        files.remove_tree(root)
    except OSError:
        beside = (root.with_name(f"{root.name}.aside-{number}") for number in itertools.count())
        root.rename(next(place for place in beside if not place.exists()))


def _without_room(bench: Bench, place: Desk, finished: Finished, error: OSError | RepoError) -> Worked:
    """A worker that filled the disk: what it left is thrown away, and there is room again; any other error is no fault of its."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if not isinstance(cause, OSError) or cause.errno not in (errno.ENOSPC, errno.EDQUOT):
        raise error
    _clear(place.root)
    reason = f"there was no room on the disk any more when it had ended ({cause.strerror}); its copy was thrown away"
    seconds = round(finished.wall_s, 6)
    return Worked(Outcome.CRASHED, finished.exit_code, seconds, Usage(), reason, not_held(bench))


def _copy(bench: Bench, place: Desk, incumbent: Oid) -> None:
    """The agent's copy: a layer over the pristine tree where there are layers, files of its own elsewhere."""
    pristine = side(bench, incumbent)
    hidden = [mount.room.relative_to(bench.sandbox.places.tree).as_posix() for mount in links(bench)]
    if bench.sandbox.layers:
        hide(place.tree, hidden)
    else:
        place.snapshot.write_bytes(bench.private.agent_copy(incumbent, pristine, place.tree, hidden).to_bytes())


def _below(bench: Bench, incumbent: Oid) -> tuple[Path, ...]:
    if not bench.sandbox.layers:
        return ()
    pristine = side(bench, incumbent)
    return pristine, bench.private.agent_layer(incumbent, pristine)


def not_held(bench: Bench) -> tuple[str, ...]:
    """The mark on every turn of a campaign with less than namespaces or an open network; `Started` tells the rest once."""
    if bench.sandbox.level >= CONFINED:
        return (OPEN_NETWORK,) if bench.network else ()
    found = bench.confinement.get("not_held")
    return tuple(str(item) for item in found) if isinstance(found, (list, tuple)) else ()


def _launch(bench: Bench, state: State, turn: OpenTurn) -> Launch:
    order = bench.plug.prepare(task(bench, state, turn.turn, turn.incumbent))
    if isinstance(order, Exhausted):
        raise ContractError(f"turn {turn.turn} is open, and the agent has nothing left: {order.reason}", "put its proposals back")
    return order


def _lay_out(bench: Bench, place: Desk, launch: Launch, turn: OpenTurn, prompt: bytes) -> None:
    place.input.mkdir()
    for name, data in {**launch.files, PROMPT: prompt}.items():
        (place.input / name).write_bytes(data)
    bench.keep(turn.turn, PROMPT, prompt)


def _run(bench: Bench, place: Desk, launch: Launch, incumbent: Oid) -> Finished:
    places = bench.sandbox.places
    env = {
        **bench.passed,
        "RESEARCH_WORKER_OUTPUT": str(places.output / ANSWER),
        "RESEARCH_WORKER_PROMPT": str(places.input / PROMPT),
        "RESEARCH_PYTHON": bench.python,
        **launch.env,
    }
    job = Job(
        argv=launch.argv,
        tree=place.tree,
        tree_mode="keep",
        base=_below(bench, incumbent),
        also_at=persons(bench),
        cwd=bench.cwd or ".",
        stdin=launch.stdin,
        env=env,
        mounts=(*links(bench), *declared(bench), *(Mount(Path(p), Path(p)) for p in launch.read_only)),
        output=place.output,
        input=place.input,
        network=bench.network,
        timeout_s=bench.contract.timeouts.worker_s,
    )
    finished = bench.sandbox.run(job, cancel=bench.at_once)
    if finished.cancelled:
        raise Halt
    return finished


def _keep(bench: Bench, turn: TurnNo, finished: Finished) -> None:
    """The agent's own output and answer, beside the prompt, for the person."""
    bench.keep(turn, "agent_stdout.txt", finished.stdout.text())
    bench.keep(turn, "agent_stderr.txt", finished.stderr.text())
    answer = _answer(desk(bench))
    if answer is not None:
        bench.keep(turn, ANSWER, answer)


def _answer(place: Desk) -> bytes | None:
    try:
        return files.read_plain(place.output / ANSWER, ANSWER_LIMIT)
    except (OSError, ValueError):
        return None


def exit_bytes(turn: TurnNo, finished: Finished) -> bytes:
    """How the agent ended, kept beside its copy, so that a kill after it costs no second call."""
    record = dataclasses.asdict(finished)
    for stream in ("stdout", "stderr"):
        kept = record[stream]
        record[stream] = {**kept, **{end: kept[end].decode("utf-8", "surrogateescape") for end in ("head", "tail")}}
    return json.dumps({"turn": turn, "finished": record}).encode()


def _exit(place: Desk, turn: TurnNo) -> Finished | None:
    """The record of `exit_bytes`, None where it is not this turn's."""
    try:
        record = json.loads(files.read_plain(place.root / "exit.json"))
    except (OSError, ValueError):
        return None
    if record["turn"] != turn:
        return None
    found = record["finished"]
    for stream in ("stdout", "stderr"):
        head, tail = (found[stream][end].encode("utf-8", "surrogateescape") for end in ("head", "tail"))
        found[stream] = Captured(head, tail, found[stream]["size"])
    return Finished(**{**found, "survivors": tuple(found["survivors"])})


def gather(bench: Bench, state: State, turn: OpenTurn) -> Harvest | None:
    """Import the finished copy of this turn; repeatable, None where the copy is gone with the state directory."""
    place = desk(bench)
    ended = _exit(place, turn.turn)
    if ended is None or not place.tree.is_dir():
        return None
    imported = _import(bench, place, turn.incumbent)
    schema = json.loads(shipped("schemas", "worker_turn.schema.json"))
    lines = _lines(bench, turn.incumbent, imported) if imported.changes else None
    back = Returned(_launch(bench, state, turn), ended, _answer(place), imported.changes, lines, schema)
    return Harvest(imported, bench.plug.read(back), round(ended.wall_s, 6), ended.exit_code)


def _import(bench: Bench, place: Desk, incumbent: Oid) -> Imported:
    pristine = side(bench, incumbent)
    if not place.snapshot.exists():
        return bench.private.import_layer(incumbent, place.tree, pristine, limit_bytes=FILE_LIMIT)
    snapshot = Snapshot.from_bytes(place.snapshot.read_bytes())
    return bench.private.import_tree(incumbent, place.tree, pristine, snapshot, limit_bytes=FILE_LIMIT)


def _lines(bench: Bench, base: Oid, imported: Imported) -> tuple[int, int]:
    """Lines added and removed."""
    rows = bench.private.diff(base, imported.tree).split(b"\n")
    plus = sum(row.startswith(b"+") and not row.startswith(b"+++ ") for row in rows)
    return plus, sum(row.startswith(b"-") and not row.startswith(b"--- ") for row in rows)


def propose(bench: Bench, turn: OpenTurn, harvest: Harvest) -> Proposed:
    """The imported tree as one commit, pinned before the journal names it; None where nothing changed."""
    imported, answer = harvest.imported, harvest.answer
    candidate = _commit(bench, turn, harvest) if imported.changes else None
    said: WorkerTurn | None = answer.turn
    return Proposed(
        candidate=candidate,
        tree=imported.tree,
        hypothesis=said.hypothesis if said else None,
        approach=said.approach if said else None,
        declares=said.declares if said else None,
        message=answer.message,
        changes=tuple(imported.changes[:CHANGES_LIMIT]),
        ignored=imported.ignored,
        problems=(*imported.problems, *_too_many(imported)),
        parameters=said.parameters if said else None,
        expected_effect=said.expected_effect if said else None,
        notes=said.notes if said else None,
    )


def _too_many(imported: Imported) -> tuple[str, ...]:
    count = len(imported.changes)
    return (f"{count} paths were touched, at most {CHANGES_LIMIT} are taken",) if count > CHANGES_LIMIT else ()


def _commit(bench: Bench, turn: OpenTurn, harvest: Harvest) -> Oid:
    trailers = {"Research-Attempt": f"{turn.turn:04d}", "Research-Experiment": bench.contract.id}
    commit = bench.private.commit(harvest.imported.tree, turn.incumbent, harvest.answer.message, turn.opened_at, trailers)
    bench.private.pin(f"refs/turn/{turn.turn:04d}", commit)
    bench.keep(turn.turn, "diff.patch", bench.private.diff(turn.incumbent, commit))
    return commit
