"""The contract, read strictly from the text of experiment.yaml."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from runner.core.contract import Contract


def parse(text: str, file: str, base: PurePath, schema: Mapping[str, Any], home: PurePath | None = None) -> Contract:
    """The contract in `text`; `file` is its name for messages, `base` its absolute directory, `schema` experiment.schema.json.

    `~` needs `home`. Raises ContractError with every problem found, one a line, sorted by line.
    """
    raise NotImplementedError
