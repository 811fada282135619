"""The incumbent against itself before the first turn, and against the baseline at the end."""

from collections.abc import Callable

from runner import measure
from runner.bench import Bench
from runner.core import decision
from runner.core.budget import is_remeasuring_due
from runner.core.errors import CampaignError
from runner.core.events import Remeasured
from runner.core.models import TurnNo
from runner.ledger import Ledger
from runner.refusals import absent_in_checkout

OUTSIDE = TurnNo(0)
"""The turn of readings that belong to no candidate."""
FRESH_PAIRS = 30


def calibrate(bench: Bench, ledger: Ledger) -> None:
    """A/A pairs until the noise is known; what fails here fails before any agent was asked."""
    opened, started, incumbent = ledger.state.opened, ledger.state.started, ledger.state.incumbent
    assert opened is not None, "a campaign is open"
    assert started is not None, "a runner has started"
    assert incumbent is not None, "CampaignOpened names the incumbent"
    while decision.calibration_wants_more(bench.policy, ledger.state.pairs):
        bench.pause()
        number = len(ledger.state.pairs) + 1
        limit_s = bench.contract.timeouts.evaluation_s
        ledger.record(measure.pair(bench, OUTSIDE, number, incumbent, incumbent, limit_s), OUTSIDE)
    try:
        calibrated = decision.calibrate(bench.policy, ledger.state.pairs, opened.segment, started.host)
    except CampaignError as error:
        raise CampaignError(error.what, "\n  ".join(filter(None, (error.mend, absent_in_checkout(bench, incumbent))))) from error
    ledger.record(calibrated)


def remeasure(bench: Bench, ledger: Ledger, is_late: Callable[[], bool]) -> None:
    """What the whole campaign gained, on fresh pairs; nothing where nothing was kept since the last time, or time is up."""
    state = ledger.state
    incumbent, origin, calibrated = state.incumbent, state.origin, state.calibrated
    if incumbent is None or origin is None or calibrated is None or not is_remeasuring_due(state):
        return
    wanted = 1 if calibrated.primary.deterministic else FRESH_PAIRS
    bench.tell(OUTSIDE, "remeasure", f"{wanted} {'pair' if wanted == 1 else 'pairs'}")
    while len(ledger.state.pairs) < wanted and not is_late():
        bench.pause()
        number = len(ledger.state.pairs) + 1
        fact = measure.pair(bench, OUTSIDE, number, origin.baseline, incumbent, calibrated.slowest_s)
        ledger.record(fact, OUTSIDE)
    if ledger.state.pairs:
        total = decision.remeasured(bench.policy, calibrated, ledger.state.pairs)
        ledger.record(Remeasured(origin.baseline, incumbent, total.pairs, total.effect, total.interval, total.scale))
