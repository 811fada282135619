"""Run a command of the contract in a side: its tree, its build, what was brought, and the evaluator's copy beside it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from runner import files
from runner.bench import Bench, Halt
from runner.checkouts import job, side
from runner.core.contract import Argv
from runner.core.errors import CampaignError
from runner.core.models import Oid
from runner.ends import by_the_persons_path
from runner.preparing import built
from runner.processes import Finished


def run_in_side(
    bench: Bench,
    commit: Oid,
    command: Argv,
    timeout_s: float,
    *,
    env: Mapping[str, str] | None = None,
    output: Path | None = None,
) -> Finished:
    """Run a command of the contract in a side's tree, behind a layer that is thrown away; no network, nothing else alive.

    Raises CampaignError when the evaluator's copy is no longer what the journal says or the side cannot be built, Halt when
    the person said "now".
    """
    if files.digest(bench.evaluator) != bench.evaluator_digest:
        raise CampaignError(
            f"the evaluator's checked copy in {bench.evaluator} has changed since the campaign began",
            "nothing was measured with it; remove that directory and start again",
        )
    tree, base = _stands_in(bench, commit)
    order = replace(job(bench, command, timeout_s, tree, env=env), base=base, output=output, experiment=bench.evaluator)
    finished = bench.sandbox.run(order, cancel=bench.at_once)
    if finished.cancelled:
        raise Halt
    return by_the_persons_path(bench, finished)


def _stands_in(bench: Bench, commit: Oid) -> tuple[Path, tuple[Path, ...]]:
    """The side's tree and what it lies over: the build's outputs over the commit's files, or one tree that holds both."""
    pristine = side(bench, commit)
    if bench.contract.build is None:
        return pristine, ()
    outputs = built(bench, commit, bench.contract.build)
    return outputs, (pristine,) if bench.sandbox.layers else ()
