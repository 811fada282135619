"""Installs for editing are found where Pythons keep them, by the checkout that they name and by no other."""

from pathlib import Path

import pytest

from runner.editable import pointing_at


def site(prefix: Path, name: str = "lib/python3.12/site-packages") -> Path:
    (prefix / name).mkdir(parents=True)
    return prefix / name


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("p.pth", "{}\n"),
        ("p.pth", "/elsewhere\n{}/src"),
        ("p.pth", "{}/src\r\n"),
        ("p.egg-link", "{}\n."),
        ("__editable___p_1_finder.py", "MAPPING: dict[str, str] = {{'p': '{}/p'}}\n"),
    ],
)
def test_a_file_that_names_the_checkout_is_found(tmp_path: Path, file: str, text: str) -> None:
    checkout = tmp_path / "r"
    mark = site(tmp_path / "env") / file
    mark.write_text(text.format(checkout))
    assert pointing_at([checkout], f"{tmp_path}/env/bin:/usr/bin", []) == [(mark, checkout)]
    assert pointing_at([checkout], "/usr/bin", [tmp_path / "env"]) == [(mark, checkout)]


@pytest.mark.parametrize("text", ["{}-other\n", "{}2/src\n", "import _virtualenv\n", ""])
def test_a_file_that_names_another_is_not(tmp_path: Path, text: str) -> None:
    (site(tmp_path / "env") / "p.pth").write_text(text.format(tmp_path / "r"))
    assert pointing_at([tmp_path / "r"], f"{tmp_path}/env/bin", []) == []


def test_every_version_behind_a_version_manager_is_looked_through(tmp_path: Path) -> None:
    mark = site(tmp_path / "pyenv/versions/3.12.1") / "p.pth"
    mark.write_text(f"{tmp_path}/r\n")
    assert pointing_at([tmp_path / "r"], f"relative:{tmp_path}/pyenv/shims:{tmp_path}/gone/bin", []) == [(mark, tmp_path / "r")]


def test_nothing_is_looked_through_for_no_checkout(tmp_path: Path) -> None:
    (site(tmp_path / "env") / "p.pth").write_text(f"{tmp_path}/r\n")
    assert pointing_at([], f"{tmp_path}/env/bin", []) == []
