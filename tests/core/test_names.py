import pytest

from runner.core.names import refusal

STANDARD = {"json", "types", "random"}
BEFORE = {"src/a.py", "src/pkg/__init__.py", "tests/conftest.py", "AGENTS.md", ".claude/settings.json"}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("src/sitecustomize.py", "a file of this name is never taken: Python runs it at every start"),
        ("src/deep/UserCustomize.py", "a file of this name is never taken: Python runs it at every start"),
        ("src/x.pth", "a file of this name is never taken: Python runs its lines at every start"),
        ("src/__pycache__/a.cpython-311.pyc", "a file of this name is never taken: Python believes it without its source"),
        ("src/conftest.py", "a new file of this name is not taken: pytest runs it before every test"),
        ("src/CLAUDE.md", "a new file of this name is not taken: agents obey it"),
        ("src/.codex/config.toml", "a new file of this name is not taken: agents obey what is in it"),
        ("src/json.py", "a new module of this name would stand in for Python's own `json`"),
        ("random/__init__.py", "a new module of this name would stand in for Python's own `random`"),
        ("src/pytest.py", "a new module of this name would stand in for the guards' `pytest`"),
        ("src/pluggy/__init__.py", "a new module of this name would stand in for the guards' `pluggy`"),
        ("src/mine.py", "a new module of this name would stand in for the guards' `mine`"),
        ("src/json.cpython-311-x86_64-linux-gnu.so", "a new module of this name would stand in for Python's own `json`"),
    ],
)
def test_a_name_that_some_program_trusts_is_refused(path: str, why: str) -> None:
    assert refusal(path, BEFORE, BEFORE | {path}, STANDARD, {"mine"}) == why


@pytest.mark.parametrize(
    "path",
    ["src/new.py", "src/pkg/types.py", "src/json.txt", "src/jsonx.py", "tests/conftest.py", "AGENTS.md", ".claude/settings.json"],
)
def test_an_ordinary_name_and_one_of_the_incumbents_own_may_be_there(path: str) -> None:
    assert refusal(path, BEFORE, BEFORE | {path}, STANDARD) is None


def test_taking_such_a_file_away_is_an_ordinary_change() -> None:
    assert refusal("tests/conftest.py", BEFORE, BEFORE - {"tests/conftest.py"}, STANDARD) is None


@pytest.mark.parametrize("cover", ["src/__init__.py", "__init__.py"])
def test_an_init_put_into_an_old_directory_covers_nothing(cover: str) -> None:
    path = cover.replace("__init__", "json")
    assert refusal(path, BEFORE, BEFORE | {path, cover}, STANDARD) == (
        "a new module of this name would stand in for Python's own `json`"
    )


def test_a_package_made_in_the_same_candidate_is_a_package() -> None:
    assert refusal("src/new/types.py", BEFORE, BEFORE | {"src/new/types.py", "src/new/__init__.py"}, STANDARD) is None
