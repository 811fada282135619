"""What of the repository may be edited, decided by path components and never by string prefixes."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from runner.core.contract import Contract
from runner.core.errors import ContractError

Parts = tuple[str, ...]

MEASUREMENT = ("goal_prompt.md", "judge_prompt.md", "program.md")
"""Files of the experiment directory that stay closed to the worker, with the contract and its commands."""
RESERVED = {".git", ".gitattributes", ".gitmodules", "git~1"}
IGNORABLE = re.compile("[\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Characters that some file systems leave out of a name (the list git guards `.git` with)."""


@dataclass(frozen=True, slots=True)
class Surface:
    """The writable paths as components below the repository's root (see `surface_of`).

    `files` match one path exactly, `trees` everything below; `settings` are open wherever they lie; `fixed` are files of the
    measurement that stay closed whatever covers them; `experiment` is the experiment directory (None outside the repository),
    open only where a path below it is named. Closed names are compared folded (`EVALUATE.sh` is `evaluate.sh`), open ones
    exactly.
    """

    files: frozenset[Parts]
    trees: frozenset[Parts]
    settings: frozenset[Parts]
    fixed: frozenset[Parts]
    experiment: Parts | None

    def allows(self, path: str) -> bool:
        """Whether the repository-relative path (`/` between components) may be added, changed or deleted."""
        return self.refusal(path) is None

    def refusal(self, path: str) -> str | None:
        """Why the path may not be touched, as the end of a sentence that begins with it; None where it may."""
        parts = tuple(path.split("/"))
        if not path or any(part in ("", ".", "..") for part in parts) or "\0" in path:
            return "is not a path below the repository's root"
        if reserved(path):
            return f"has the name {reserved(path)}, which tells git what to do"
        if parts in self.settings:
            return None
        covering = self._covering(parts)
        folded = tuple(map(fold, parts))
        if folded in self.fixed:
            return "belongs to the measurement"
        if self.experiment is not None and folded[: len(self.experiment)] == self.experiment:
            inner = any(len(outer) > len(self.experiment) for outer in covering)
            return None if inner else "lies in the experiment directory, of which only named paths may be edited"
        return None if covering else "is outside writable_paths"

    def _covering(self, parts: Parts) -> tuple[Parts, ...]:
        """The writable paths that the path is or lies below; a tree's own name is not in it (a link could take its place)."""
        heads = {parts[:n] for n in range(len(parts))} & self.trees
        return (*heads, *([parts] if parts in self.files else []))


def fold(name: str) -> str:
    """The name as a system sees it that folds case and normalises Unicode."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def reserved(path: str) -> str | None:
    """The component that no candidate may carry wherever it lies (`.git`, `.gitattributes`, `.gitmodules` in any spelling)."""
    for part in path.split("/"):
        bare = IGNORABLE.sub("", fold(part)).split(":")[0].rstrip(". ")
        if bare in RESERVED:
            return part
    return None


def collisions(paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of different paths that are one file on a system that folds case or normalises Unicode, sorted."""
    first: dict[str, str] = {}
    pairs = []
    for path in sorted(set(paths)):
        folded = fold(path)
        if folded in first:
            pairs.append((first[folded], path))
        first.setdefault(folded, path)
    return tuple(pairs)


def surface_of(contract: Contract, root: PurePath, is_directory: Callable[[PurePath], bool]) -> Surface:
    """The contract's surface below the repository's `root`, an absolute path spelled as the contract spells its own.

    `is_directory` is asked for writable paths without a trailing slash. Raises ContractError for paths outside `root`.
    """
    outside = [
        contract.say(f"writable_paths[{i}]", f"expected a path inside the repository {root}, found {entry.path}")
        for i, entry in enumerate(contract.writable_paths)
        if _below(root, entry.path) is None
    ]
    if outside:
        raise ContractError("\n".join(outside))
    inside = [(parts, entry) for entry in contract.writable_paths if (parts := _below(root, entry.path)) is not None]
    trees = frozenset(parts for parts, entry in inside if entry.tree or is_directory(entry.path))
    directory = _below(root, contract.directory)
    return Surface(
        files=frozenset(parts for parts, _ in inside) - trees,
        trees=trees,
        settings=frozenset(_all_below(root, contract.settings_files)),
        fixed=frozenset(tuple(map(fold, parts)) for parts in _all_below(root, measurement_files(contract))),
        experiment=None if directory is None else tuple(map(fold, directory)),
    )


def measurement_files(contract: Contract) -> tuple[PurePath, ...]:
    """The files that say what is measured and how: the contract, the prompts, the commands, the starting settings."""
    setup = contract.setup.run if contract.setup else ()
    commands = (contract.evaluate, contract.evaluate_test, contract.screen, setup, *(guard.run for guard in contract.guards))
    programs = [contract.directory / argv[0] for argv in commands if argv and "/" in argv[0]]
    start = [contract.settings_file] if contract.settings_file else []
    names = (PurePath(contract.file).name, *MEASUREMENT)
    return (*(contract.directory / name for name in names), *programs, *start)


def _below(root: PurePath, path: PurePath) -> Parts | None:
    return path.parts[len(root.parts) :] if path == root or root in path.parents else None


def _all_below(root: PurePath, paths: Iterable[PurePath]) -> list[Parts]:
    return [parts for path in paths if (parts := _below(root, path)) is not None]
