"""The prompts, schemas and templates that come with the runner, in a clone and in an installed wheel alike."""

from pathlib import Path
from typing import Literal

from runner.core.errors import Stop

Kind = Literal["prompts", "schemas", "templates"]

# In a clone these are links to the folders at its top; a wheel holds the files themselves. One path serves both.
SHIPPED = Path(__file__).with_name("_shipped")


def folder(kind: Kind) -> Path:
    """The folder of one kind; raises Stop where the installation lost it."""
    path = SHIPPED / kind
    if not path.is_dir():
        raise incomplete(path)
    return path


def shipped(kind: Kind, name: str) -> bytes:
    """The bytes of one shipped file, e.g. `shipped("prompts", "worker.md")`.

    `name` is relative to the kind's folder and never leads out of it (ValueError); a file that is not there is a Stop.
    """
    root = folder(kind)
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()):
        raise ValueError(f"{name!r} leads out of the shipped {kind}")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise incomplete(path) from None


def incomplete(path: Path) -> Stop:
    """What the person is told when a part of the installation is gone."""
    return Stop(f"the runner's own {path} is missing", "Clone or install the runner again: this file comes with it.")
