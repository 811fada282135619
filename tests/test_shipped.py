"""What comes with the runner is found wherever the runner lies."""

from pathlib import Path

import pytest

from runner import shipped
from runner.core.errors import Stop


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone in small: data at the top, links to it inside the package."""
    (tmp_path / "prompts/deep").mkdir(parents=True)
    (tmp_path / "prompts/worker.md").write_bytes(b"Be brief.\n")
    (tmp_path / "prompts/deep/er.md").write_bytes(b"Deeper.\n")
    (tmp_path / "secret").write_text("no")
    (tmp_path / "runner/_shipped").mkdir(parents=True)
    (tmp_path / "runner/_shipped/prompts").symlink_to("../../prompts")
    (tmp_path / "runner/_shipped/schemas").symlink_to("../../schemas")
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path / "runner/_shipped")
    return tmp_path


@pytest.mark.parametrize(("name", "content"), [("worker.md", b"Be brief.\n"), ("deep/er.md", b"Deeper.\n")])
def test_a_clone_reads_its_top_level_through_the_links(clone: Path, name: str, content: bytes) -> None:
    assert shipped.shipped("prompts", name) == content


def test_a_missing_file_is_named_with_its_mend(clone: Path) -> None:
    with pytest.raises(Stop) as stop:
        shipped.shipped("prompts", "judge.md")
    assert stop.value.what == f"the runner's own {clone}/runner/_shipped/prompts/judge.md is missing"
    assert "Clone or install the runner again" in stop.value.mend


def test_a_missing_folder_is_named(clone: Path) -> None:
    with pytest.raises(Stop, match=r"_shipped/schemas is missing"):
        shipped.shipped("schemas", "experiment.schema.json")


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "deep/../../secret"])
def test_a_name_never_leads_out_of_its_folder(clone: Path, name: str) -> None:
    with pytest.raises(ValueError, match="leads out of the shipped prompts"):
        shipped.shipped("prompts", name)


def test_each_link_of_the_package_points_at_the_clones_top_level() -> None:
    own = Path(shipped.__file__).parent / "_shipped"
    links = {path.name: str(path.readlink()) for path in own.iterdir()}
    assert links == {"prompts": "../../prompts", "schemas": "../../schemas", "templates": "../../experiments/_templates"}
