"""Ended commands for the evaluators' tests."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    head: bytes = b""
    tail: bytes = b""
    dropped: int = 0


@dataclass(frozen=True)
class End:
    exit_code: int | None = 0
    signal: int | None = None
    not_started: str | None = None
    timed_out: bool = False
    cancelled: bool = False
    wall_s: float = 2.5
    cpu_s: float | None = 1.25
    stdout: Said = Said()
    stderr: Said = Said()


def printed(stdout: str | bytes, code: int = 0, stderr: bytes = b"") -> End:
    return End(code, stdout=Said(stdout if isinstance(stdout, bytes) else stdout.encode()), stderr=Said(stderr))
