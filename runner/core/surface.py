"""What of the repository may be edited, decided by path components and never by string prefixes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from runner.core.contract import Contract

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Surface:
    """The writable paths as components below the repository's root (see `surface_of`).

    `files` match one path exactly, `trees` everything below; `fixed` are files of the measurement that stay closed whatever
    covers them; `experiment` is the experiment directory (None outside the repository), open only where a path below it is named.
    """

    files: frozenset[Parts]
    trees: frozenset[Parts]
    fixed: frozenset[Parts]
    experiment: Parts | None

    def allows(self, path: str) -> bool:
        """Whether the repository-relative path (`/` between components) may be added, changed or deleted."""
        return self.refusal(path) is None

    def refusal(self, path: str) -> str | None:
        """Why the path may not be touched, as a sentence without the path's own name in front; None where it may."""
        raise NotImplementedError


def reserved(path: str) -> str | None:
    """The component that no candidate may carry wherever it lies (`.git`, `.gitattributes`, `.gitmodules` in any spelling)."""
    raise NotImplementedError


def collisions(paths: list[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of different paths that are one file on a system that folds case or normalises Unicode."""
    raise NotImplementedError


def surface_of(contract: Contract, root: PurePath, is_directory: Callable[[PurePath], bool]) -> Surface:
    """The contract's surface below the repository's `root`, an absolute path spelled as the contract spells its own.

    `is_directory` is asked for writable paths without a trailing slash. Raises ContractError for paths outside `root`.
    """
    raise NotImplementedError
