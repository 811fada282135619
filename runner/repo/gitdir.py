"""Git directories of our own making: a few small files, so that nothing of a template or of anyone's settings is in them."""

import os
from collections.abc import Sequence
from pathlib import Path

from runner.core.models import Oid

PLAIN_ATTRIBUTES = b"* -text -ident !working-tree-encoding\n"
"""Stronger than any committed .gitattributes: what is written to disk is the blob, byte for byte."""


def make(
    path: Path, object_format: str, *, head: Oid | str, objects: Sequence[Path] = (), bare: bool = True, settings: str = ""
) -> None:
    """A git directory at `path` (which is new); `head` is a commit or a full ref name, `objects` are borrowed stores."""
    for name in ("objects/info", "objects/pack", "refs/heads", "info"):
        (path / name).mkdir(parents=True)
    (path / "HEAD").write_text(f"ref: {head}\n" if head.startswith("refs/") else f"{head}\n")
    (path / "config").write_text(_config(object_format, bare) + settings)
    borrow(path, objects)


def _config(object_format: str, bare: bool) -> str:
    version, extension = (0, "") if object_format == "sha1" else (1, f"[extensions]\n\tobjectFormat = {object_format}\n")
    core = f"[core]\n\trepositoryFormatVersion = {version}\n\tbare = {str(bare).lower()}\n\tfileMode = true\n"
    return core + "[gc]\n\tauto = 0\n" + extension


def borrow(path: Path, objects: Sequence[Path]) -> None:
    """Name the object stores that this git directory reads from."""
    if objects:
        (path / "objects/info/alternates").write_bytes(b"".join(os.fsencode(quoted(o)) + b"\n" for o in objects))


def quoted(path: Path) -> str:
    """A path as git reads it in alternates: in C quotes where a plain one would be misread."""
    text = os.fspath(path)
    if not set(text) & set('"\\\n#:'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
