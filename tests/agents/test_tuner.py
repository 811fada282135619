import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import pytest

from runner.agents import tuner
from runner.agents.plug import Exhausted, Launch, Task
from runner.core import schemas
from runner.core.contract import Parameter, Worker
from runner.core.errors import ContractError
from runner.core.events import Json, Usage
from runner.core.models import Oid, Status, TurnNo
from tests.agents.orders import ROOT, Turn, choice, flag, number, only, turn, whole

SETTINGS = b"""\
# start
cfr: {alpha: 1.5}   # discount
delay: 10
update: alternating
warm: false
"""
SPACE = (number("cfr.alpha", 0.5, 3), whole("delay", 0, 200), choice("update", "alternating", "simultaneous"), flag("warm"))


def task(
    parameters: Sequence[Parameter] = SPACE, records: Sequence[Turn] = (), settings: bytes = SETTINGS, number: int = 0
) -> Task:
    return Task(
        turn=TurnNo(number or len(records) + 1),
        prompt="",
        worker=Worker("tuner"),
        direction="lower",
        input_dir="",
        python=sys.executable,
        path="",
        contract_dir=PurePath("/experiment"),
        root=ROOT,
        seed=7,
        parameters=tuple(parameters),
        records=records,
        settings={"settings.yaml": settings},
        first_settings={"settings.yaml": settings},
    )


@dataclass(frozen=True)
class Played:
    code: int
    stderr: str
    answer: dict[str, Json]
    settings: bytes


def play(launch: Launch | Exhausted, place: Path, settings: bytes = SETTINGS, cwd: str = "") -> Played:
    """Runs the child as the runner does: a fresh copy, the input files beside it, nothing else in its environment."""
    assert isinstance(launch, Launch)
    copy = place / "copy"
    (copy / cwd).mkdir(parents=True, exist_ok=True)
    (copy / "settings.yaml").write_bytes(settings)
    for name, content in launch.files.items():
        (place / name).write_bytes(content)
    argv = [a.replace("/tuner.json", f"{place}/tuner.json") if a == "/tuner.json" else a for a in launch.argv]
    env = {"RESEARCH_WORKER_OUTPUT": str(place / "answer.json"), "HOME": str(place), **launch.env}
    done = subprocess.run(argv, cwd=copy / cwd, env=env, input=launch.stdin, capture_output=True, check=False)
    answer = json.loads((place / "answer.json").read_bytes()) if done.returncode == 0 else {}
    return Played(done.returncode, done.stderr.decode(), answer, (copy / "settings.yaml").read_bytes())


def history(turns: int) -> list[Turn]:
    grid: list[dict[str, Json]] = [
        {"cfr.alpha": 0.5 + i / 8, "delay": i, "update": "alternating", "warm": i % 2 == 0} for i in range(turns)
    ]
    return [turn(i + 1, 0.3 - abs(i - 3) / 10, point) for i, point in enumerate(grid)]


def test_the_child_writes_its_proposal_into_the_settings_and_says_so(tmp_path: Path) -> None:
    launch = tuner.prepare(task())
    assert isinstance(launch, Launch)
    played = play(launch, tmp_path)
    assert (played.code, played.stderr) == (0, "")
    values = played.answer["parameters"]
    assert isinstance(values, dict)
    assert list(values) == ["cfr.alpha", "delay", "update", "warm"]
    text = SETTINGS.decode().replace("1.5", json.dumps(values["cfr.alpha"])).replace("10", json.dumps(values["delay"]))
    text = text.replace("alternating", str(values["update"])).replace("false", json.dumps(values["warm"]))
    assert played.settings.decode() == text
    hypothesis = played.answer["hypothesis"]
    assert isinstance(hypothesis, dict)
    assert str(hypothesis["statement"]).startswith(f"cfr.alpha 1.5 -> {values['cfr.alpha']}, delay 10 -> {values['delay']}")
    assert hypothesis["reasoning"] == "proposed by chance from 1 measured points"
    assert str(played.answer["commit_message"]).startswith(f"Set cfr.alpha to {values['cfr.alpha']}")
    assert played.answer["approach"] == "tuner"
    assert launch.usage == Usage(tokens=0, cost_usd=0.0)
    assert launch.read_only == (PurePath(tuner.__file__).parents[1],)


def test_the_same_journal_and_seed_make_the_same_proposal_bit_for_bit(tmp_path: Path) -> None:
    records = history(6)
    one = play(tuner.prepare(task(records=records)), tmp_path / "one")
    two = play(tuner.prepare(task(records=records)), tmp_path / "two")
    later = play(tuner.prepare(task(records=history(9), number=7)), tmp_path / "later")
    assert one.code == 0
    assert one == two == later
    next_turn = play(tuner.prepare(task(records=[*records, turn(7, None, {}, status=Status.AGENT_ERROR)])), tmp_path / "next")
    assert next_turn.answer["parameters"] != one.answer["parameters"]


def test_nothing_in_the_agent_s_copy_is_imported(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    (copy / "runner").mkdir(parents=True)
    for name in ("optuna.py", "json.py", "runner/__init__.py"):
        (copy / name).write_text("raise SystemExit('imported from the copy')")
    (copy / "settings.yaml").write_bytes(SETTINGS)
    launch = tuner.prepare(task())
    assert isinstance(launch, Launch)
    (tmp_path / "tuner.json").write_bytes(launch.files["tuner.json"])
    argv = [*launch.argv[:-1], str(tmp_path / "tuner.json")]
    env = {"RESEARCH_WORKER_OUTPUT": str(tmp_path / "answer.json"), "PYTHONPATH": str(copy)}
    done = subprocess.run(argv, cwd=copy, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_point_that_was_tried_is_not_proposed_again_until_every_combination_was(tmp_path: Path) -> None:
    parameters = [whole("delay", 10, 30, step=10), flag("warm")]
    records: list[Turn] = []
    seen = [(10, False)]
    for i in range(5):
        played = play(tuner.prepare(task(parameters, records)), tmp_path / str(i))
        values = played.answer["parameters"]
        assert isinstance(values, dict)
        seen.append((values["delay"], values["warm"]))  # type: ignore[arg-type]
        fate = None if i == 2 else 0.1 * i
        records.append(turn(i + 1, fate, values, status=Status.DISCARD if fate is not None else Status.CRASH))
    assert sorted(seen) == [(delay, warm) for delay in (10, 20, 30) for warm in (False, True)]
    assert tuner.prepare(task(parameters, records)) == Exhausted("every combination has been tried (6 of them)")


def test_a_starting_value_outside_its_range_is_clamped_and_noted(tmp_path: Path) -> None:
    played = play(tuner.prepare(task([whole("delay", 20, 30)])), tmp_path)
    assert str(played.answer["notes"]).split("; ")[1:] == [
        "delay starts at 10, which its declaration does not allow: taken as 20"
    ]


def test_tpe_learns_where_the_good_points_are(tmp_path: Path) -> None:
    """From the same forty turns with their effects reversed, it looks at the other end."""
    grid = [{"cfr.alpha": 0.5 + i / 16} for i in range(40)]
    ends = []
    for sign in (1, -1):
        records = [turn(i + 1, sign * (i - 20) / 50, point) for i, point in enumerate(grid)]
        played = play(tuner.prepare(task([number("cfr.alpha", 0.5, 3)], records)), tmp_path / str(sign))
        values = played.answer["parameters"]
        assert isinstance(values, dict)
        ends.append(values["cfr.alpha"])
    high, low = ends
    assert isinstance(high, float)
    assert isinstance(low, float)
    assert low < 1.2 < 2.3 < high


def test_each_value_goes_into_its_own_file_and_the_answer_is_valid(tmp_path: Path) -> None:
    pool = Parameter("pool.json:size", ROOT / "conf" / "pool.json", "size", "int", 1, 64, log=True)
    text = b'{\n\t"size": 8,\n\t"name": "x"\n}\n'
    order = task([number("cfr.alpha", 0.5, 3), pool])
    order = replace(order, settings=dict(order.settings) | {"conf/pool.json": text})
    order = replace(order, first_settings=order.settings)
    launch = tuner.prepare(order)
    (tmp_path / "copy" / "conf").mkdir(parents=True)
    (tmp_path / "copy" / "conf" / "pool.json").write_bytes(text)
    played = play(launch, tmp_path)
    values = played.answer["parameters"]
    assert isinstance(values, dict)
    assert list(values) == ["cfr.alpha", "pool.json:size"]
    size = json.dumps(values["pool.json:size"]).encode()
    assert (tmp_path / "copy" / "conf" / "pool.json").read_bytes() == text.replace(b"8", size)
    schema = json.loads((Path(__file__).parents[2] / "schemas" / "worker_turn.schema.json").read_text())
    said = schemas.worker_turn((tmp_path / "answer.json").read_text(), schema)
    assert isinstance(said, schemas.WorkerTurn)
    assert said.parameters == values


def test_a_file_that_changed_under_the_child_is_a_sentence_and_no_traceback(tmp_path: Path) -> None:
    played = play(tuner.prepare(task()), tmp_path, settings=b"delay: 10\n")
    assert (played.code, played.stderr) == (1, "settings.yaml: there is no cfr.alpha\n  the nearest is delay\n")


def test_the_settings_lie_where_the_tree_has_them_even_when_the_project_is_below(tmp_path: Path) -> None:
    played = play(tuner.prepare(replace(task(), cwd="packages/one")), tmp_path, cwd="packages/one")
    assert played.code == 0
    assert played.settings != SETTINGS


@pytest.mark.parametrize(
    ("parameters", "settings", "message"),
    [
        ((), SETTINGS, "worker.agent is tuner, but no parameters are declared\n  declare what it may turn under parameters"),
        ((number("cfr.alhpa", 0, 1),), SETTINGS, "settings.yaml: there is no cfr.alhpa\n  the nearest is cfr.alpha"),
        (
            (number("alpha", 0, 1, file="other.yaml"),),
            SETTINGS,
            "other.yaml holds parameters, but it is not in the tree\n  commit the settings file",
        ),
    ],
)
def test_what_cannot_be_tuned_is_refused_before_a_child_starts(
    parameters: Sequence[Parameter], settings: bytes, message: str
) -> None:
    with pytest.raises(ContractError) as stop:
        tuner.prepare(task(parameters, settings=settings))
    assert str(stop.value) == message


def test_the_values_start_from_the_incumbent_and_count_from_the_first_settings() -> None:
    second = Oid("b" * 40)
    order = task(records=[turn(1, 0.2, {"cfr.alpha": 2.0, "delay": 5, "update": "alternating", "warm": True}, kept=second)])
    launch = tuner.prepare(order)
    assert isinstance(launch, Launch)
    trials = json.loads(launch.files["tuner.json"])["trials"]
    assert trials[0] == [{"cfr.alpha": 1.5, "delay": 10, "update": 0, "warm": 0}, 0.0, True]
    assert trials[1][0] == {"cfr.alpha": 2.0, "delay": 5, "update": 0, "warm": 1}


TIED = (choice("update", "alternating", "simultaneous"), only(whole("delay", 1, 3), update=("simultaneous",)))


def test_a_parameter_whose_condition_does_not_hold_is_not_proposed_and_keeps_its_value(tmp_path: Path) -> None:
    """Three delays beside `simultaneous`, and `alternating` once: it was the start, whatever its delay says."""
    records: list[Turn] = []
    seen = []
    for i in range(3):
        played = play(tuner.prepare(task(TIED, records)), tmp_path / str(i))
        values = played.answer["parameters"]
        assert isinstance(values, dict)
        seen.append(values)
        records.append(turn(i + 1, 0.1, values))
    assert sorted(json.dumps(each) for each in seen) == [f'{{"update": "simultaneous", "delay": {i}}}' for i in (1, 2, 3)]
    assert tuner.prepare(task(TIED, records)) == Exhausted("every combination has been tried (4 of them)")


def test_only_the_active_values_are_written_and_told(tmp_path: Path) -> None:
    start = SETTINGS.replace(b"alternating", b"simultaneous")
    records = [turn(i, 0.1, {"update": "simultaneous", "delay": i}) for i in (1, 2, 3)]
    played = play(tuner.prepare(task(TIED, records, start)), tmp_path, start)
    assert played.settings == SETTINGS  # the delay stays at 10, outside its range
    assert played.answer["parameters"] == {"update": "alternating"}
    assert played.answer["commit_message"] == "Set update to alternating"


def test_tpe_learns_within_a_condition(tmp_path: Path) -> None:
    """The good end of a parameter is found, though half of the turns say nothing of it."""
    tied = [choice("update", "alternating", "simultaneous"), only(number("cfr.alpha", 0.5, 3), update=("simultaneous",))]
    records = []
    for i in range(40):
        point: dict[str, Json] = {"update": "simultaneous", "cfr.alpha": 0.5 + i / 16} if i % 4 else {"update": "alternating"}
        records.append(turn(i + 1, (i - 20) / 50 if i % 4 else -0.5, point))
    values = play(tuner.prepare(task(tied, records)), tmp_path).answer["parameters"]
    assert isinstance(values, dict)
    alpha = values["cfr.alpha"]
    assert isinstance(alpha, float)
    assert (values["update"], alpha > 2.3) == ("simultaneous", True)
