"""What an evaluator may print, and what of it may ever decide."""

import json
from pathlib import Path
from typing import Any

import pytest

from runner.core.errors import CampaignError, ContractError
from tests.cases.conftest import Make
from tests.playground import CONTRACT, Scene

SAY = '#!/bin/sh\necho "METRIC t=$(cat src/a.txt)"\n'
"""The candidate says the value; `printf` of a worker writes it."""
SCRIPT = '#!/bin/sh\ncat src/a.txt > "$2"\n'
PATTERN = '#!/bin/sh\necho "t: $(cat src/a.txt)"\n'
T = CONTRACT.replace("name: size", "name: t")
SOURCES = {
    "lines": (T, SAY, "{}"),
    "script": (T.replace("metric: lines\n", ""), SCRIPT, '{{"primaryMetric": {{"name": "t", "value": {}}}}}'),
    "pattern": (T.replace("metric: lines", r"metric: {pattern: '^t: (\S*)$'}"), PATTERN, "{}"),
}
NO_NUMBER = (
    "nan",
    "NaN",
    "-nan",
    "inf",
    "-inf",
    "+Infinity",
    "-Infinity",
    "1e999",
    "-1e999",
    "",
    "None",
    "null",
    "0x10",
    "1_000",
)


def say(text: str) -> str:
    """A worker that makes its candidate's evaluation say a text."""
    return "printf '%s' '" + text.replace("'", "'\\''") + "' > src/a.txt"


def scene_of(make: Make, source: str, first: str, direction: str = "lower", more: str = "") -> Scene:
    contract, evaluator, form = SOURCES[source]
    files = {"exp/evaluate.sh": evaluator, "src/a.txt": form.format(first)}
    return make(contract=contract.replace("direction: lower", f"direction: {direction}"), files=files, more=more)


def readings(scene: Scene, turn: int, side: str) -> list[dict[str, Any]]:
    return [r for m in scene.facts("Measured") if m["turn"] == turn for r in m["readings"] if r["side"] == side]


def strict(scene: Scene) -> None:
    """J5: every line that the runner wrote is strict JSON."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    for name in ("journal.jsonl", "experiments.jsonl"):
        for line in (scene.experiment / name).read_text(encoding="utf-8").splitlines():
            json.loads(line, parse_constant=refuse)


# --- E1, J5 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "direction"), [("lines", "lower"), ("lines", "higher"), ("script", "higher"), ("pattern", "lower")]
)
def test_what_is_no_finite_number_is_never_a_keep_in_either_direction(make: Make, source: str, direction: str) -> None:
    scene = scene_of(make, source, "5", direction)
    form = SOURCES[source][2]
    better = "4" if direction == "lower" else "6"
    code, _ = scene.turns(*[say(form.format(text)) for text in NO_NUMBER], say(form.format(better)))
    assert code == 0
    assert scene.statuses == ["crash"] * len(NO_NUMBER) + ["keep"]
    decided = scene.facts("Decided")
    assert {d["basis"] for d in decided[:-1]} == {"invalid_or_missing_evidence"}
    assert {(d["metric_value"], d["delta"], d["effect"]) for d in decided[:-1]} == {(None, None, None)}
    for turn, text in enumerate(NO_NUMBER, 1):
        found = readings(scene, turn, "candidate")
        assert [(r["value"], r["ok"], r["failure"]) for r in found] == [(None, False, "invalid")] * 2
        assert text in found[0]["reason"], "the raw text is in the record"
    assert len(scene.branch) == 1
    strict(scene)
    rows = [line.split("\t") for line in (scene.experiment / "results.tsv").read_text().splitlines()]
    assert [row[2] for row in rows[2:]] == [""] * len(NO_NUMBER) + [f"{better}.0"]


@pytest.mark.parametrize("direction", ["lower", "higher"])
@pytest.mark.parametrize("text", ["nan", "inf", "-inf", ""])
def test_an_incumbent_without_a_number_is_refused_before_any_agent(make: Make, text: str, direction: str) -> None:
    scene = scene_of(make, "lines", text, direction)
    with pytest.raises(CampaignError) as stop:
        scene.play()
    assert f'METRIC t="{text}" is not a plain finite number' in str(stop.value)
    assert scene.facts("TurnOpened") == []
    strict(scene)


@pytest.mark.parametrize(
    ("source", "said"), [("lines", "no METRIC t; found no METRIC line"), ("pattern", "has to match once, it matches 0 times")]
)
def test_silence_is_no_number(make: Make, source: str, said: str) -> None:
    scene = scene_of(make, source, "5")
    scene.write({"exp/evaluate.sh": SOURCES[source][1].replace("\n", "\n[ -s src/a.txt ] || exit 0\n", 1)})
    scene.commit("silent on an empty file")
    assert scene.turns(": > src/a.txt")[0] == 0
    assert scene.statuses == ["crash"]
    assert said in scene.reasons[0]


# --- E3 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        '{"error": 0.0, "timeout": true}',
        '{"primaryMetric": true}',
        '{"primaryMetric": {"name": "t", "value": false}}',
        '{"primaryMetric": {"name": "t", "value": "0.1"}}',
        '{"primaryMetric": {"name": "t", "value": [0.1, 0.2]}}',
        '{"primaryMetric": {"name": "u", "value": 0.1}}',
        '{"primaryMetric": {"value": 0.1}}',
        '{"primarymetric": 0.1}',
        '{"primaryMetric": 0.1, "primaryMetric": 0.2}',
        '{"primaryMetric": 0.1',
        "[0.1]",
        "0.1",
        '{"secondaryMetrics": {"t": 0.1}}',
    ],
)
def test_a_number_is_never_made_of_something_else(make: Make, document: str) -> None:
    scene = scene_of(make, "script", "5")
    assert scene.turns(say(document))[0] == 0
    assert scene.statuses == ["crash"]
    assert [(r["value"], r["failure"]) for r in readings(scene, 1, "candidate")] == [(None, "invalid")] * 2
    assert scene.branch == []


def test_booleans_and_other_metrics_are_no_score(make: Make) -> None:
    scene = scene_of(make, "lines", "5")
    assert scene.turns(say("True"), say("yes"), say("5\nMETRIC u=0.1"), say("0.1\nMETRIC t=0.2"))[0] == 0
    assert scene.statuses == ["crash", "crash", "discard", "crash"]
    assert "METRIC t was printed with different values: 0.1, 0.2" in scene.reasons[3]
    assert scene.facts("Decided")[2]["metric_value"] == 5.0


# --- E5 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["lines", "script"])
def test_units_separators_and_decimal_commas_are_never_guessed_at(make: Make, source: str) -> None:
    odd = ("12.5ms", "12.5 ms", "1,234.5", "0,95", "1 234", "50%", "~3", "3..4", "1e", "--1", "٣")
    scene = scene_of(make, source, "2000")
    form = SOURCES[source][2]
    assert scene.turns(*[say(form.format(text)) for text in odd])[0] == 0
    assert scene.statuses == ["crash"] * len(odd)
    for turn, text in enumerate(odd, 1):
        (one, two) = readings(scene, turn, "candidate")
        assert (one["value"], two["value"]) == (None, None)
        assert text in one["reason"] or json.dumps(text)[1:-1] in one["reason"]


def test_plain_spellings_of_a_number_are_one(make: Make) -> None:
    scene = scene_of(make, "lines", "2000")
    assert scene.turns(*[say(text) for text in ("1e3", "+9.5E+2", " 900.0 ", ".5e3", "4.", "-0")])[0] == 0
    assert scene.statuses == ["keep"] * 6
    assert [d["metric_value"] for d in scene.facts("Decided")] == [1000.0, 950.0, 900.0, 500.0, 4.0, 0.0]


# --- E7 ---------------------------------------------------------------------------------------------


def test_an_evaluator_with_crlf_is_named_on_the_incumbent(make: Make) -> None:
    scene = make(files={"exp/evaluate.sh": b"#!/bin/sh\r\necho METRIC size=1\r\n"})
    with pytest.raises(CampaignError, match="CRLF"):
        scene.play()
    assert scene.facts("TurnOpened") == []


def test_a_carriage_return_behind_the_number_changes_neither_name_nor_value(make: Make) -> None:
    scene = make(files={"exp/evaluate.sh": "#!/bin/sh\nprintf 'METRIC size=%d\\r\\n' $(wc -c < src/a.txt)\n"})
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.facts("Decided")[0]["metric_value"] == 190.0


def checked_out_with_crlf(make: Make, attributes: str) -> Scene:
    """The person's files as git writes them under core.autocrlf, while the commit has LF."""
    scene = make(files={".gitattributes": attributes})
    scene.git("config", "core.autocrlf", "true")
    scene.git("rm", "-rq", "--cached", ".")
    scene.git("reset", "-q", "--hard")
    return scene


def test_a_tree_is_measured_as_committed_whatever_autocrlf_makes_of_the_persons(make: Make) -> None:
    scene = checked_out_with_crlf(make, "*.sh -text\n*.txt text\n")
    assert (scene.repo / "src/a.txt").read_bytes().endswith(b"\r\n")
    before = scene.fingerprint()
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.facts("Decided")[0]["metric_value"] == 190.0
    assert [c["path"] for c in scene.of_turn("Proposed", 1)["changes"]] == ["src/a.txt"]
    assert scene.fingerprint() == before


def test_an_evaluator_that_only_the_persons_autocrlf_gave_crlf_is_named_on_the_incumbent(make: Make) -> None:
    scene = checked_out_with_crlf(make, "* text\nworker.sh -text\n")
    assert b"\r\n" in (scene.experiment / "evaluate.sh").read_bytes()
    with pytest.raises(CampaignError, match="CRLF"):
        scene.play()
    assert scene.facts("TurnOpened") == []


# --- E9 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "printed", "said"),
    [
        ("combined_µs", "combined_us", "no METRIC combined_µs; found combined_us"),
        ("combined_\u00b5s", "combined_\u03bcs", "(µ is U+00B5 in the contract, μ is U+03BC in the output)"),
        ("size", "Size", "no METRIC size; found Size"),
        ("size", "size_", "no METRIC size; found size_"),
    ],
)
def test_a_metric_of_another_name_stops_on_the_incumbent(make: Make, wanted: str, printed: str, said: str) -> None:
    contract = CONTRACT.replace("name: size", f'name: "{wanted}"')
    scene = make(contract=contract, files={"exp/evaluate.sh": f"#!/bin/sh\necho 'METRIC {printed}=3818'\n"})
    with pytest.raises(CampaignError) as stop:
        scene.play()
    assert said in str(stop.value)
    assert scene.facts("TurnOpened") == []


def test_a_metric_named_beyond_ascii_works_where_the_names_are_equal(make: Make) -> None:
    contract = CONTRACT.replace("name: size", 'name: "combined_µs"')
    scene = make(contract=contract, files={"exp/evaluate.sh": '#!/bin/sh\necho "METRIC combined_µs=$(wc -c < src/a.txt)"\n'})
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert "combined_µs" in (scene.experiment / "current_winner.json").read_text(encoding="utf-8")


# --- E12 --------------------------------------------------------------------------------------------

HALF = """\
#!/bin/sh
case $(cat src/a.txt) in
  late) echo "METRIC t=0.1"; exit 1 ;;
  killed) echo "METRIC t=0.1"; kill -9 $$ ;;
  hangs) echo "METRIC t=0.1"; sleep 600 ;;
  wrote) echo '{"primaryMetric": 0.1}' > "$2"; exit 1 ;;
  127) echo "METRIC t=0.1"; no-such-program-here ;;
  *) echo "METRIC t=5"; echo '{"primaryMetric": 5}' > "$2" ;;
esac
"""


@pytest.mark.parametrize("source", ["lines", "script"])
def test_a_number_before_a_failure_is_quoted_and_never_compared(make: Make, source: str) -> None:
    contract = SOURCES[source][0].replace("evaluation_timeout_seconds: 20", "evaluation_timeout_seconds: 1")
    scene = make(contract=contract, files={"exp/evaluate.sh": HALF, "src/a.txt": "well"})
    ways = ["late", "killed", "hangs", "wrote", "127"]
    assert scene.turns(*[say(way) for way in ways])[0] == 0
    assert scene.statuses == ["crash"] * 5
    bases = ["evaluation_failed", "evaluation_failed", "evaluation_timeout", "evaluation_failed", "evaluation_failed"]
    assert [d["basis"] for d in scene.facts("Decided")] == bases
    assert {r["value"] for turn in range(1, 6) for r in readings(scene, turn, "candidate")} == {None}
    seen = [0, 1, 2, 4] if source == "lines" else [3]
    for turn in seen:
        assert "0.1 was printed, but " in readings(scene, turn + 1, "candidate")[0]["reason"]
    assert [d["metric_value"] for d in scene.facts("Decided")] == [None] * 5


def test_an_evaluator_that_fails_on_the_incumbent_stops_with_its_own_words(make: Make) -> None:
    scene = make(files={"exp/evaluate.sh": "#!/bin/sh\necho METRIC size=0.1\necho 'no such data set' >&2\nexit 4\n"})
    with pytest.raises(
        CampaignError, match=r"0\.1 was printed, but the exit code was 4; standard error ends with \"no such data set\""
    ):
        scene.play()
    assert scene.facts("TurnOpened") == []


# --- E14 --------------------------------------------------------------------------------------------


def test_a_guard_that_fails_on_the_incumbent_is_refused_before_any_agent(make: Make) -> None:
    scene = make(more="guards: [{name: tests, run: ['false']}]\n")
    with pytest.raises(CampaignError, match="it already fails on the incumbent: guard tests: exit code 1"):
        scene.play(10)
    assert scene.facts("TurnOpened") == []
    assert scene.facts("Measured") == []


def test_a_guard_that_breaks_for_both_sides_stops_the_campaign_and_goes_on_when_it_is_mended(make: Make, tmp_path: Path) -> None:
    """Three refusals in a row are not believed before the guard has shown that it holds on the incumbent."""
    flag = tmp_path / "shared"
    flag.mkdir()
    more = f"guards: [{{name: tests, run: [test, '!', -e, {flag}/broken]}}]\nsandbox: {{mounts: [{{path: {flag}}}]}}\n"
    unlike = (
        "#!/bin/sh\n{ head -c $(( $(wc -c < src/a.txt) - 30 )) src/a.txt; date +%N; } > src/b.txt && mv src/b.txt src/a.txt\n"
    )
    scene = make(files={"exp/worker.sh": unlike}, more=more)
    assert scene.play(1)[0] == 0
    (flag / "broken").touch()
    with pytest.raises(CampaignError) as stop:
        scene.play(10)
    assert str(stop.value).startswith(
        "a gate is broken (it also refused turns 2, 3): it already fails on the incumbent: guard tests: exit code 1"
    )
    assert scene.statuses == ["keep", "rejected", "rejected"]
    (flag / "broken").unlink()
    assert scene.play(1)[0] == 0
    assert scene.statuses == ["keep", "rejected", "rejected", "keep"], "the fourth turn was gated afresh"


def test_a_guard_that_holds_on_the_incumbent_may_refuse_as_often_as_it_likes(make: Make) -> None:
    scene = make(more="guards: [{name: tests, run: [grep, -qx, 'x*', src/a.txt]}]\n")
    scene.turns(*(f"#!/bin/sh\necho y{n} > src/a.txt\n" for n in range(5)))
    assert scene.statuses == ["rejected"] * 5


# --- what the contract shows and hands through --------------------------------------------------------


def test_declared_mounts_and_variables_reach_agent_and_evaluator(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "n").write_text("7")
    monkeypatch.setenv("MY_DEVICE", "3")
    monkeypatch.setenv("MY_SECRET", "no")
    sandbox = f"sandbox: {{mounts: [{{path: {data}}}], env: [MY_DEVICE, NOT_THERE]}}\n"
    look = f"$(cat {data}/n)$MY_DEVICE${{MY_SECRET-1}}${{NOT_THERE-0}}"
    scene = make(
        files={
            "exp/evaluate.sh": f'#!/bin/sh\necho "METRIC size={look}"\n',
            "exp/worker.sh": f"#!/bin/sh\necho {look} > src/a.txt\n",
        },
        more=sandbox,
    )
    scene.play(1)
    assert [r["value"] for m in scene.facts("Measured") for r in m["readings"]] == [7310.0] * 8
    assert scene.git("cat-file", "-p", scene.facts("Proposed")[0]["candidate"] + ":src/a.txt", check=False) in ("7310", "")


def test_a_mount_that_is_not_there_is_named_with_its_line(make: Make) -> None:
    scene = make(more="sandbox: {mounts: [{path: /no/such/data}]}\n")
    with pytest.raises(ContractError) as stop:
        scene.play(1)
    assert str(stop.value) == (
        "experiment.yaml:13: sandbox.mounts[0].path: expected a file or directory, found none at /no/such/data"
    )


# --- E8: a program that cannot be started -----------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (b"#!/bin/sh\necho METRIC size=1\n", 0o644, "not executable: {0}; chmod +x makes it so"),
        (b"#!/no/such/interpreter\n", 0o755, "bad interpreter: #!/no/such/interpreter of {0} is not there"),
    ],
)
def test_an_evaluator_that_cannot_be_started_is_named_by_the_persons_path(
    make: Make, content: bytes, mode: int, said: str
) -> None:
    scene = make()
    evaluator = scene.experiment / "evaluate.sh"
    evaluator.write_bytes(content)
    evaluator.chmod(mode)
    scene.commit("a broken evaluator")
    with pytest.raises(CampaignError) as stop:
        scene.play()
    assert str(stop.value) == (
        f"the evaluator could not be started: {said.format(evaluator)}\n  mend commands.evaluate, then run the same command"
    )
    assert scene.facts("TurnOpened") == []


def test_a_guard_that_cannot_be_started_is_named_by_the_persons_path(make: Make) -> None:
    scene = make(files={"exp/guard.sh": "#!/no/such/interpreter\n"}, more="guards: [{name: tests, run: [./guard.sh]}]\n")
    with pytest.raises(CampaignError) as stop:
        scene.play()
    assert f"bad interpreter: #!/no/such/interpreter of {scene.experiment}/guard.sh is not there" in str(stop.value)


# --- guardrails: what must not be lost beside the number --------------------------------------------

RAILED = CONTRACT.replace(
    "direction: lower}", "direction: lower}\n  secondary_metrics: [{name: mem, direction: lower, max_regression: 5%}]"
)
BOTH = '#!/bin/sh\necho "METRIC size=$(wc -c < src/a.txt)"\ncat src/mem.txt\n'


def test_a_gain_that_hides_or_spoils_its_guardrail_is_no_keep(make: Make) -> None:
    scene = make(contract=RAILED, files={"exp/evaluate.sh": BOTH, "src/mem.txt": "METRIC mem=100\n"})
    shorter = "head -c -10 src/a.txt > t && mv t src/a.txt; printf '%s' '{}' > src/mem.txt"
    spoilt = ["", "METRIC mem=nan", "METRIC mem=-inf", "METRIC Mem=1", "METRIC mem=true", "METRIC mem=106", "METRIC mem=104"]
    assert scene.turns(*[shorter.format(text) for text in spoilt])[0] == 0
    assert scene.statuses == ["crash"] * 5 + ["discard", "keep"]
    assert [d["basis"] for d in scene.facts("Decided")[4:]] == [
        "invalid_or_missing_evidence",
        "guardrail_regression",
        "metric_improvement",
    ]
    strict(scene)


@pytest.mark.parametrize(
    ("text", "said"), [("", "guardrail mem is not among the readings"), ("METRIC mem=0", "guardrail mem is 0 on the incumbent")]
)
def test_a_guardrail_that_the_incumbent_cannot_hold_is_refused_before_any_agent(make: Make, text: str, said: str) -> None:
    scene = make(contract=RAILED, files={"exp/evaluate.sh": BOTH, "src/mem.txt": f"{text}\n"})
    with pytest.raises(CampaignError, match=said):
        scene.play()
    assert scene.facts("TurnOpened") == []
