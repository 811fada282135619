"""The plain face: a run as lines that a person can follow over ssh, or as the journal's own lines."""

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from runner.core.events import Entry
from runner.core.news import Hello, News
from runner.core.state import State


@dataclass(slots=True)
class PlainFace:
    """Lines on `out`; `ask` says whether a person at a terminal is asked for consent. Keeps quiet once `out` is gone."""

    out: TextIO
    ask: bool = False

    def hello(self, hello: Hello) -> bool:
        raise NotImplementedError

    def fact(self, entry: Entry, state: State) -> None:
        raise NotImplementedError

    def news(self, news: News) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


@dataclass(slots=True)
class JsonFace:
    """The journal's lines on `out`, byte for byte, as they are written; warnings go to `err`."""

    out: TextIO
    err: TextIO
    experiment: Path

    def hello(self, hello: Hello) -> bool:
        raise NotImplementedError

    def fact(self, entry: Entry, state: State) -> None:
        raise NotImplementedError

    def news(self, news: News) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
