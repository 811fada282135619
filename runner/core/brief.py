"""The campaign so far in a page: a bounded digest for the worker's prompt, and the text of program.learned.md."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from runner.core.events import Decided, Hypothesis, Json
from runner.core.models import Oid, TurnNo


class Record(Protocol):
    """What a finished turn tells those who come after it."""

    @property
    def turn(self) -> TurnNo: ...
    @property
    def incumbent(self) -> Oid: ...
    @property
    def kept(self) -> Oid | None: ...
    @property
    def hypothesis(self) -> Hypothesis | None: ...
    @property
    def approach(self) -> str | None: ...
    @property
    def message(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Json] | None: ...
    @property
    def decided(self) -> Decided | None: ...


def digest(records: Sequence[Record], limit: int = 8192) -> str:
    """What was kept, what nearly was, what failed and why, in at most `limit` bytes of UTF-8; "" for no records."""
    raise NotImplementedError


def learned(records: Sequence[Record], limit: int = 16384) -> str:
    """program.learned.md: what worked and what failed, the same for the same records, in at most `limit` bytes of UTF-8."""
    raise NotImplementedError
