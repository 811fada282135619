"""Pristine trees: a commit's exact bytes in a directory, made once and sealed."""

from pathlib import Path


def seal(tree: Path) -> None:
    """Record what every file of a tree looks like now (after setup links and build outputs were added)."""
    raise NotImplementedError


def verify(tree: Path) -> tuple[str, ...]:
    """The paths that differ from the seal, or the tree's own name where it has none; () when all is as it was sealed."""
    raise NotImplementedError
