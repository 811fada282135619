"""Python installs that import from somebody's checkout (`pip install -e`), found by the files they leave in site-packages."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SITES = ("lib/python*/site-packages", "lib/python*/dist-packages", "lib64/python*/site-packages")
MARKS = ("*.pth", "*.egg-link", "__editable__*.py")
LIMIT = 1 << 20


def pointing_at(checkouts: Sequence[Path], search_path: str, prefixes: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Files that let Python import from one of the checkouts, each with that checkout.

    Looked through are the installations behind a PATH, those at `prefixes`, and this interpreter's own.
    """
    if not checkouts:
        return []
    looked_in = dict.fromkeys((*_behind(search_path), *prefixes, Path(sys.prefix)))
    marks = {file for prefix in looked_in for file in _marks(prefix)}
    return sorted((file, each) for file in marks for each in checkouts if _names(file, each))


def _behind(search_path: str) -> Iterator[Path]:
    """The prefixes of the Pythons on a PATH, a version manager's all."""
    for entry in search_path.split(os.pathsep):
        if entry.startswith("/"):
            yield Path(entry).parent
            with contextlib.suppress(OSError):
                yield from sorted((Path(entry).parent / "versions").iterdir())


def _marks(prefix: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for pattern in SITES:
            for site in prefix.glob(pattern):
                for mark in MARKS:
                    yield from site.glob(mark)


def _names(file: Path, checkout: Path) -> bool:
    try:
        with file.open("rb") as text:
            said = text.read(LIMIT)
    except OSError:
        return False
    name = os.fsencode(checkout)
    return any(not said[i + len(name) : i + len(name) + 1].strip(b"/\\'\"\r\n") for i in _all(name, said))


def _all(name: bytes, text: bytes) -> Iterator[int]:
    at = text.find(name)
    while at >= 0:
        yield at
        at = text.find(name, at + 1)
