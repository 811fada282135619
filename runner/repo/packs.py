"""Git objects as bytes: their names, and packs that carry many of them into a repository in one process."""

import contextlib
import hashlib
import struct
import tempfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Literal

from runner.core.models import Oid
from runner.repo.door import LONG, Git

Kind = Literal["commit", "tree", "blob"]
CODES: Mapping[Kind, int] = {"commit": 1, "tree": 2, "blob": 3}
LOOSE = 100
"""Up to so many objects are stored one file each, more as a pack (git's own choice when it fetches)."""


def name_of(kind: Kind, data: bytes, object_format: str) -> Oid:
    """The object's name, as git computes it."""
    return Oid(hashlib.new(object_format, b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest())


@dataclass(slots=True)
class Pack:
    """A pack under way: objects are added once each, then `store` hands them to git, which checks and syncs them."""

    file: IO[bytes]
    object_format: str
    names: set[Oid] = field(default_factory=set)

    def add(self, kind: Kind, data: bytes, known: Collection[Oid] = ()) -> Oid:
        """Take an object in, unless it is already here or among the `known`; its name."""
        name = name_of(kind, data, self.object_format)
        if name not in self.names and name not in known:
            self.names.add(name)
            self.file.write(_header(CODES[kind], len(data)) + zlib.compress(data, 1))
        return name

    def store(self, git: Git) -> None:
        """Put the objects into the repository; nothing happens when there are none.

        All of them are written, also those that a borrowed store has: its owner may throw them away.
        """
        if self.names and git.git_dir:
            self._finish()
            with tempfile.TemporaryDirectory(dir=git.git_dir, prefix="tmp-objects-") as apart:
                store_pack(replace(git, env=(("GIT_OBJECT_DIRECTORY", apart),)), self.file, len(self.names))
                _move(Path(apart), git.git_dir / "objects")

    def _finish(self) -> None:
        self.file.seek(0)
        self.file.write(_top(len(self.names)))
        self.file.seek(0)
        total = hashlib.new(self.object_format)
        while block := self.file.read(1 << 20):
            total.update(block)
        self.file.write(total.digest())
        self.file.seek(0)


@contextlib.contextmanager
def new_pack(directory: Path, object_format: str) -> Iterator[Pack]:
    """An empty pack in a nameless file of that directory."""
    with tempfile.TemporaryFile(dir=directory) as file:
        file.write(_top(0))
        yield Pack(file, object_format)


def store_pack(git: Git, pack: bytes | IO[bytes], count: int) -> None:
    """Unpack into a repository, durably; git verifies every byte."""
    command = ("unpack-objects", "-q") if count <= LOOSE else ("index-pack", "--stdin")
    git(*command, stdin=pack, timeout=LONG)


def _move(apart: Path, objects: Path) -> None:
    """Take synced object files over; an index comes after its pack, so that no reader finds half of them."""
    for place in sorted((p for p in apart.glob("*/*") if p.is_file()), key=lambda p: p.suffix == ".idx"):
        home = objects / place.relative_to(apart)
        home.parent.mkdir(exist_ok=True)
        place.replace(home)


def count_of(pack: bytes) -> int:
    """How many objects a pack holds."""
    return int(struct.unpack(">I", pack[8:12])[0])


def _top(count: int) -> bytes:
    return b"PACK" + struct.pack(">II", 2, count)


def _header(code: int, size: int) -> bytes:
    """Kind and length, four and then seven bits a byte, least significant first."""
    first, rest = code << 4 | size & 15, size >> 4
    out = bytearray()
    while rest:
        out.append(first | 0x80)
        first, rest = rest & 0x7F, rest >> 7
    out.append(first)
    return bytes(out)
