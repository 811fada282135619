import dataclasses
import json
import re
from pathlib import Path, PurePath
from typing import Any

import pytest

from runner.core import schemas
from runner.core.contract import (
    Amount,
    Budget,
    CheapDecision,
    Contract,
    Guard,
    Judge,
    Metric,
    Objective,
    SandboxPolicy,
    ScriptMetric,
    Timeouts,
    Worker,
)
from runner.core.errors import ContractError
from runner.core.prompts import Words, cut, fill, work_prompt

HERE = Path(__file__).parents[2]
TEMPLATE = (HERE / "prompts" / "work_prompt.md").read_text()
SCHEMA: dict[str, Any] = json.loads((HERE / "schemas" / "worker_turn.schema.json").read_text())

CONTRACT = Contract(
    file="experiment.yaml",
    directory=PurePath("/repo/experiments/one"),
    version=1,
    id="one",
    name="One",
    project_root=PurePath("/repo"),
    git_repo_path=None,
    branch="research/one",
    timeouts=Timeouts(900, 180, 180),
    objective=Objective(
        Metric("seconds", "lower", Amount(0.01, True)),
        (Metric("recall", "higher", max_regression=Amount(0.05, True)), Metric("size", "lower")),
    ),
    settings_files=(),
    settings_file=None,
    winner_output=PurePath("/repo/experiments/one/current_winner.json"),
    levers=("thread count", "a better {{goal}}"),
    writable_paths=(),
    screen=(),
    evaluate=("./evaluate.sh",),
    evaluate_test=(),
    metric=ScriptMetric(),
    guards=(Guard("tests", ("python", "-m", "pytest", "-q"), 60),),
    setup=None,
    build=None,
    decision=CheapDecision(),
    budget=Budget(),
    sandbox=SandboxPolicy(),
    executor="local",
    worker=Worker("command"),
    judge=Judge(),
    parameters=(),
    seed=0,
    lines={},
)


def test_inserted_text_stands_word_for_word_and_is_never_expanded_again() -> None:
    filled = fill("a {{one}} b {{two}} {{one}}", {"one": r"{{two}} \1 \g<0> {x}", "two": "{{one}}"}, "t.md")
    assert filled == r"a {{two}} \1 \g<0> {x} b {{one}} {{two}} \1 \g<0> {x}"


@pytest.mark.parametrize(
    ("template", "slots", "message"),
    [
        ("{{a}} {{b}}", {"a": ""}, "t.md: unknown slots b\n  its slots are a, each as {{name}}"),
        ("{{a}}", {"a": "", "b": ""}, "t.md: no place for b\n  its slots are a, b, each as {{name}}"),
        ("{{a}} {{ b }}", {"a": ""}, "t.md: '{{' begins no slot\n  a slot is lower-case letters between double braces"),
        ("{{a}} {{B}}", {"a": ""}, "t.md: '{{' begins no slot\n  a slot is lower-case letters between double braces"),
    ],
)
def test_a_slot_unknown_to_either_side_is_an_error(template: str, slots: dict[str, str], message: str) -> None:
    with pytest.raises(ContractError) as stop:
        fill(template, slots, "t.md")
    assert str(stop.value) == message


def test_the_prompt_holds_what_the_worker_needs() -> None:
    words = Words("Make it {{fast}}.\n", "Judge mildly.", "Look at the hash table.", "## What worked\n- nothing")
    prompt = work_prompt(TEMPLATE, CONTRACT, words, (), ["src/", "settings.yaml"])
    for piece in (
        "## Goal\n\nMake it {{fast}}.\n\n## How success is judged\n\nJudge mildly.\n",
        "- `seconds`: lower is better; a gain has to reach 1%.\n"
        "- `recall`: higher is better; must not get worse by more than 5%.\n"
        "- `size`: lower is better; only recorded.\n"
        "- Guard `tests` has to pass: `python -m pytest -q`\n",
        "- `src/`\n- `settings.yaml`\n",
        "- thread count\n- a better {{goal}}\n",
        "## Notes from the person who runs this\n\nLook at the hash table.\n",
        "## What the runner has learned\n\n## What worked\n- nothing\n",
        "## The campaign so far\n\nThis is the first turn.\n",
        "Never run the evaluation",
        "Your time ends after 15 min,",
    ):
        assert piece in prompt


def test_what_is_not_there_is_said_to_be_not_there() -> None:
    bare = dataclasses.replace(CONTRACT, levers=())
    prompt = work_prompt(TEMPLATE, bare, Words("Go."), (), ["a"])
    assert "## How success is judged\n\nBy the numbers alone: a gain that is shown beyond the noise is kept.\n" in prompt
    assert "## Levers and ideas\n\nNone given.\n" in prompt
    assert "## Notes from the person who runs this\n\nNone.\n" in prompt
    assert "## What the runner has learned\n\nNothing yet.\n" in prompt


def test_notes_are_cut_at_64_kib_together_and_the_cut_is_told() -> None:
    words = Words("Go.", program="µ" * 30_000, learned="x" * 40_000)
    prompt = work_prompt(TEMPLATE, CONTRACT, words, (), ["a"])
    assert "µ" * 30_000 in prompt
    notes = prompt[prompt.index("µ") : prompt.index("\n\n## The campaign so far")]
    learned = notes.split("has learned\n\n")[1]
    kept = learned.partition("\n")[0]
    assert learned == f"{kept}\n[cut here: {40_000 - len(kept)} of 40000 bytes are left out]"
    assert set(kept) == {"x"}
    assert 65_536 - 100 < 60_000 + len(learned) <= 65_536


def test_a_cut_never_splits_a_character_and_stays_in_its_bounds() -> None:
    for most in range(101, 140):
        text = cut("µ€𝄞" * 100, most)
        assert len(text.encode()) <= most
        assert "\ufffd" not in text
    assert cut("short", 5) == "short"
    assert cut("x" * 500, 50) == ""


def test_the_answer_shown_in_the_prompt_is_a_valid_answer() -> None:
    [example] = re.findall(r"```json\n(.*?)```", TEMPLATE, re.DOTALL)
    answer = schemas.worker_turn(example, SCHEMA)
    assert isinstance(answer, schemas.WorkerTurn)
    assert answer.declares == "improvement"
    assert set(SCHEMA["properties"]) - {"parameters"} == set(json.loads(example))
