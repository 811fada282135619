import json
from pathlib import Path, PurePath, PurePosixPath

import pytest

from runner.core.config import parse
from runner.core.errors import ContractError
from runner.core.surface import Surface, collisions, reserved, surface_of

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "experiment.schema.json").read_text())
P = PurePosixPath
OUTSIDE = "is outside writable_paths"
EXPERIMENT = "lies in the experiment directory, of which only named paths may be edited"
MEASUREMENT = "belongs to the measurement"


def surface(
    *writable: str, settings: str = "", experiment: str = "/r/exp", evaluate: str = "./evaluate.sh", folders: tuple[str, ...] = ()
) -> Surface:
    """The surface of a contract in `experiment` with these writable paths, in the repository /r."""
    text = f"""\
version: 1
id: x
project_root: /r
timeouts: {{worker_timeout_seconds: 9, evaluation_timeout_seconds: 9}}
objective: {{primary_metric: {{name: x, direction: lower}}}}
current_winner: {{settings_file: current_winner_settings.yaml}}
optimization_surface: {{settings_files: [{settings}]}}
writable_paths: {json.dumps(writable)}
commands: {{evaluate: {evaluate}, screen: [../tools/screen.sh]}}
guards: [{{name: tests, run: ../src/check.sh}}]
worker: {{agent: command, command: [./propose.sh]}}
"""
    contract = parse(text, f"{experiment}/experiment.yaml", P(experiment), SCHEMA)
    return surface_of(contract, P("/r"), lambda path: str(path) in folders)


@pytest.mark.parametrize("path", ["src/a.py", "src/deep/er/b.py", "conf.yaml", "lib/x"])
def test_what_is_named_may_be_edited(path: str) -> None:
    assert surface("/r/src/", "/r/conf.yaml", "/r/lib", folders=("/r/lib",)).allows(path)


@pytest.mark.parametrize(
    "path",
    [
        "src_ext/a.py",
        "SRC/a.py",
        "Src/a.py",
        "src",
        "srcs",
        "src.py",
        "a/src/b.py",
        "conf.yaml.bak",
        "conf.yaml/x",
        "Conf.yaml",
        "eval/evaluate.sh",
        "lib",
        "lib2/x",
        "LIB/x",
        "ｓｒｃ/a.py",
    ],
)
def test_a_name_that_only_looks_like_the_surface_is_outside(path: str) -> None:
    assert surface("/r/src/", "/r/conf.yaml", "/r/lib", folders=("/r/lib",)).refusal(path) == OUTSIDE


def test_a_file_named_without_slash_is_no_directory_unless_one_is_there() -> None:
    assert not surface("/r/lib").allows("lib/x")
    assert surface("/r/lib").allows("lib")
    assert surface("/r/lib", folders=("/r/lib",)).allows("lib/x")


def test_a_rename_out_of_the_closed_part_is_seen_at_its_old_path() -> None:
    gate = surface("/r/src/")
    assert [gate.allows(path) for path in ("eval/evaluate.sh", "src/x.sh")] == [False, True]


@pytest.mark.parametrize("path", ["", "/src/a", "src//a", "src/../eval/x", "./src/a", "src/.", "src/a\0b", "src/"])
def test_what_is_no_path_of_a_tree_is_refused(path: str) -> None:
    assert surface("/r/src/").refusal(path) == "is not a path below the repository's root"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/.gitattributes", ".gitattributes"),
        (".gitmodules", ".gitmodules"),
        ("src/.git/config", ".git"),
        ("src/.GIT/hooks/x", ".GIT"),
        ("src/.Gitattributes", ".Gitattributes"),
        ("src/GIT~1/x", "GIT~1"),
        ("src/.git /x", ".git "),
        ("src/.git./x", ".git."),
        ("src/.git::$INDEX_ALLOCATION/x", ".git::$INDEX_ALLOCATION"),
        ("src/.g\u200cit/x", ".g\u200cit"),
    ],
)
def test_names_that_tell_git_what_to_do_are_refused_everywhere(path: str, name: str) -> None:
    assert reserved(path) == name
    assert surface("/r/").refusal(path) == f"has the name {name}, which tells git what to do"


@pytest.mark.parametrize("path", [".gitignore", "src/git", "a.git/b", "src/.github/x", "git~12"])
def test_other_names_with_git_in_them_are_free(path: str) -> None:
    assert reserved(path) is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("exp/experiment.yaml", MEASUREMENT),
        ("exp/goal_prompt.md", MEASUREMENT),
        ("exp/judge_prompt.md", MEASUREMENT),
        ("exp/evaluate.sh", MEASUREMENT),
        ("EXP/Evaluate.SH", MEASUREMENT),
        ("exp/current_winner_settings.yaml", MEASUREMENT),
        ("tools/screen.sh", MEASUREMENT),
        ("src/check.sh", MEASUREMENT),
        ("exp/helper.py", EXPERIMENT),
        ("exp/journal.jsonl", EXPERIMENT),
        ("Exp/helper.py", EXPERIMENT),
        ("exp", EXPERIMENT),
        ("exp/settings.yaml", None),
        ("exp2/helper.py", None),
        ("src/a.py", None),
    ],
)
def test_the_measurement_stays_closed_under_a_surface_that_covers_it(path: str, why: str | None) -> None:
    assert surface("/r/", settings="settings.yaml").refusal(path) == why


def test_a_path_named_below_the_experiment_directory_is_open() -> None:
    gate = surface("/r/", "/r/exp/candidate/")
    assert gate.allows("exp/candidate/a.py")
    assert gate.refusal("exp/other.py") == EXPERIMENT


def test_an_experiment_at_the_root_of_its_repository_opens_only_what_is_named() -> None:
    gate = surface("/r/src/", experiment="/r")
    assert gate.allows("src/a.py")
    assert gate.refusal("README.md") == EXPERIMENT
    assert gate.refusal("evaluate.sh") == MEASUREMENT


def test_an_evaluator_in_the_surface_stays_closed() -> None:
    gate = surface("/r/src/", evaluate="../src/bench.sh")
    assert gate.refusal("src/bench.sh") == MEASUREMENT
    assert gate.allows("src/other.sh")


def test_a_surface_outside_the_repository_is_refused_with_its_line() -> None:
    with pytest.raises(ContractError) as stop:
        surface("/r/src/", "/rr/x", "../../y")
    assert str(stop.value).split("\n") == [
        "/r/exp/experiment.yaml:8: writable_paths[1]: expected a path inside the repository /r, found /rr/x",
        "/r/exp/experiment.yaml:8: writable_paths[2]: expected a path inside the repository /r, found /y",
    ]


def test_only_paths_without_a_slash_are_looked_at() -> None:
    asked: list[PurePath] = []

    def look(path: PurePath) -> bool:
        asked.append(path)
        return False

    text = (Path(__file__).parent / "contracts" / "plain.yaml").read_text()
    surface_of(parse(text, "e.yaml", P("/e"), SCHEMA), P("/path/to/your/project"), look)
    assert asked == [P("/path/to/your/project/settings.yaml")]


def test_files_that_are_one_on_other_systems_are_paired() -> None:
    paths = ["src/a.py", "src/A.py", "SRC/a.py", "caf\u00e9", "cafe\u0301", "b"]
    assert collisions(paths) == (("cafe\u0301", "caf\u00e9"), ("SRC/a.py", "src/A.py"), ("SRC/a.py", "src/a.py"))
