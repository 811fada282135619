"""Readings in pairs: both pinned sides back to back, a private fair coin for who goes first."""

from pathlib import Path

from runner import files
from runner.bench import Bench
from runner.core.errors import CampaignError
from runner.core.events import Measured
from runner.core.models import Oid, Reading, Side, TurnNo
from runner.evaluators import observe
from runner.processes import Finished
from runner.sides import run_in_side

OUTPUT = "output.json"
OUTPUT_LIMIT = 1 << 20
LOG_LIMIT = 64 << 10


def pair(bench: Bench, turn: TurnNo, number: int, incumbent: Oid, candidate: Oid, limit_s: float) -> Measured:
    """One pair; `limit_s` bounds the candidate's reading, the contract's timeout both."""
    commits: dict[Side, Oid] = {"incumbent": incumbent, "candidate": candidate}
    first: Side = "candidate" if bench.world.coin() else "incumbent"
    second: Side = "incumbent" if first == "candidate" else "candidate"
    readings = tuple(take(bench, turn, number, side, commits[side], limit_s) for side in (first, second))
    return Measured(number, first, readings)


def alone(bench: Bench, turn: TurnNo, number: int, candidate: Oid, limit_s: float) -> Measured:
    """The candidate once more, to see a deterministic metric repeat itself before a keep."""
    return Measured(number, "candidate", (take(bench, turn, number, "candidate", candidate, limit_s),))


def take(bench: Bench, turn: TurnNo, number: int, side: Side, commit: Oid, limit_s: float) -> Reading:
    """One evaluation of one side."""
    contract = bench.contract
    timeout_s = min(contract.timeouts.evaluation_s, limit_s) if side == "candidate" else contract.timeouts.evaluation_s
    seed = bench.seed(turn, number)
    output = _fresh(bench.state / "output")
    bench.tell(turn, "measure" if turn else "calibrate", f"pair {number}, {side}")
    finished = run_in_side(bench, commit, _command(bench), timeout_s, env={"RESEARCH_SEED": str(seed)}, output=output)
    if finished.not_started:
        raise CampaignError(
            f"the evaluator could not be started: {finished.not_started}", "mend commands.evaluate, then run the same command"
        )
    seen = observe(bench.wanted, finished, _output(output))
    _keep_log(bench, turn, number, side, finished)
    return Reading(
        side=side,
        value=seen.value,
        secondary=seen.secondary,
        tasks=seen.tasks,
        seed=seed,
        cpu_s=finished.cpu_s,
        wall_s=round(finished.wall_s, 6),
        ok=seen.failure is None,
        failure=seen.failure,
        reason=seen.reason,
    )


def _command(bench: Bench) -> tuple[str, ...]:
    """evaluate.sh SETTINGS_FILE OUTPUT_JSON, whatever the metric's source."""
    return (*bench.contract.evaluate, bench.settings_argument(), str(bench.sandbox.places.output / OUTPUT))


def _fresh(directory: Path) -> Path:
    files.remove_tree(directory)
    directory.mkdir(parents=True)
    return directory


def _output(directory: Path) -> bytes | None:
    """What the evaluation wrote; a symlink or a device in its place is no file, an oversized one is cut (and then invalid)."""
    try:
        return files.read_plain(directory / OUTPUT, OUTPUT_LIMIT)
    except (OSError, ValueError):
        return None


def _keep_log(bench: Bench, turn: TurnNo, number: int, side: Side, finished: Finished) -> None:
    """The evaluator's own words, for the person who wonders about a reading."""
    log = f"{finished.stdout.text()}\n--- stderr ---\n{finished.stderr.text()}\n"
    bench.keep(turn, f"readings/pair_{number:03d}_{side}.log", log[:LOG_LIMIT])
