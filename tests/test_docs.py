"""The pages for users name what is there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def keys(node: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, child in node.get("properties", {}).items():
        yield prefix + name
        for inner in (child, *child.get("oneOf", ()), *child.get("anyOf", ())):
            yield from keys(inner, f"{prefix}{name}.")
            yield from keys(inner.get("items", {}), f"{prefix}{name}[].")


def test_the_page_on_the_contract_has_a_row_for_every_key_and_no_other() -> None:
    schema = json.loads((ROOT / "schemas/experiment.schema.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs/contract.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"(?m)^\| `([^`]+)` \|", page))) == sorted(set(keys(schema)))


def test_every_file_that_the_readme_names_is_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:runner|tests|schemas|experiments|docs)/[\w./-]+\w", readme))
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
