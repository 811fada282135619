import json
from pathlib import Path, PurePosixPath

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.core.config import parse
from runner.core.errors import ContractError

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "experiment.schema.json").read_text())
FULL = (Path(__file__).parent / "contracts" / "full.yaml").read_text().splitlines()
WORDS = r"""
~ [] {} - : &a *a !!int !x | > ' " %YAML --- 1e999 .nan -1 0 017 true off 1% 8h 4GiB ~bob ~/x .. / é
"\0" "a\nb" 2026-01-01 99999999999999999999 <<:
"""
PHRASES = ("", "\t", "\x00", "\ud800", "a" * 300, "- x", "a: b", "&a [*a]", "{type: int}", "[1, [2, {a: b}]]", '"a\\nb": 1')
SCRAPS = st.sampled_from((*WORDS.split(), *PHRASES))


@st.composite
def broken(draw: st.DrawFn) -> str:
    """The full contract with a few lines dropped, doubled, moved, or with a scrap in place of a value or a word."""
    lines = list(FULL)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        how = draw(st.sampled_from(["drop", "double", "move", "value", "cut", "insert", "indent"]))
        scrap = draw(SCRAPS)
        if how == "drop":
            del lines[at]
        elif how == "double":
            lines.insert(at, lines[at])
        elif how == "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
        elif how == "value":
            lines[at] = f"{lines[at].partition(':')[0]}: {scrap}"
        elif how == "cut":
            lines[at] = lines[at][: draw(st.integers(0, 20))] + scrap
        else:
            lines[at] = f"  {lines[at]}" if how == "indent" else f"{lines[at]}\n{scrap}"
    return "\n".join(lines)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(broken())
def test_a_broken_contract_loads_or_is_refused_and_nothing_else(text: str) -> None:
    try:
        contract = parse(text, "experiment.yaml", PurePosixPath("/w/repo/exp"), SCHEMA)
    except ContractError as stop:
        lines = str(stop).split("\n")
    else:
        lines = [contract.file]
    assert [line for line in lines if not line.startswith("experiment.yaml")] == []
