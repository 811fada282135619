"""Python packages that were installed for editing: what is imported is the code of the side, whatever the install names."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.conftest import Make
from tests.playground import Scene
from tests.toolchains.conftest import kept_outside, scene

PROJECT = (
    '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "p"\nversion = "1"\n'
)
FILES = {
    ".gitignore": ".venv/\n*.egg-info/\nbuild/\n",
    "pyproject.toml": PROJECT,
    "src/p/__init__.py": "def f():\n    return 200\n",
    "exp/evaluate.sh": "#!/bin/sh -e\nexec .venv/bin/python -c 'import p; print(\"METRIC size=%d\" % p.f())'\n",
}
FINDER = (
    'def install():\n    MAPPING = {{"p": "{}"}}\n    class F:\n        @staticmethod\n'
    "        def find_spec(name, path=None, target=None):\n            import importlib.util, os\n"
    '            if name in MAPPING: return importlib.util.spec_from_file_location(name, MAPPING[name] + "/__init__.py",\n'
    "                submodule_search_locations=[MAPPING[name]])\n    import sys\n    sys.meta_path.append(F)\n"
)


def venv(place: Path, *, pip: bool = False) -> Path:
    words = ["--system-site-packages", str(place)]
    subprocess.run([sys.executable, "-m", "venv", *([] if pip else ["--without-pip"]), *words], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    return site


def installed(scene: Scene, how: str) -> Path:
    """A virtual environment in the person's checkout, with the project installed for editing in one of the usual ways."""
    site = venv(scene.repo / ".venv", pip=how == "pip")
    if how == "pip":
        found = importlib.util.find_spec("setuptools")
        if found is None or found.origin is None:
            pytest.skip("setuptools is not in this interpreter: pip has nothing to build with")
        env = {**os.environ, "PYTHONPATH": str(Path(found.origin).parents[1])}
        words = ["install", "-q", "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "-e"]
        command = [str(scene.repo / ".venv/bin/python"), "-m", "pip", *words, str(scene.repo)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    elif how == "pth":
        (site / "p.pth").write_text(f"{scene.repo}/src\n")
    else:
        (site / "__editable___p_finder.py").write_text(FINDER.format(scene.repo / "src/p"))
        (site / "__editable__.p.pth").write_text("import __editable___p_finder; __editable___p_finder.install()\n")
    return site


@pytest.mark.parametrize("how", ["pip", "pth", "finder"])
def test_a_linked_environment_with_an_editable_install_imports_the_sides_own_code(make: Make, how: str) -> None:
    python = scene(make, FILES, "setup: {link: [.venv]}\n")
    installed(python, how)
    look = ".venv/bin/python -c 'import p, os; assert os.path.samefile(p.__file__, \"src/p/__init__.py\")'; "
    code, seen = python.turns(f"{look} sed -i s/200/20/ src/p/__init__.py", "echo 'def g(' >> src/p/__init__.py")
    assert code == 0
    assert python.statuses == ["keep", "crash"], python.reasons
    assert python.facts("Decided")[0]["effect"] == pytest.approx(0.9)
    assert seen.warnings == []


def test_an_activated_environment_inside_the_checkout_imports_the_sides_own_code(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {**FILES, "exp/evaluate.sh": FILES["exp/evaluate.sh"].replace(".venv/bin/", "")}
    python = scene(make, files, "")
    installed(python, "finder")
    monkeypatch.setenv("PATH", f"{python.repo}/.venv/bin:/usr/bin:/bin")
    assert python.turns("sed -i s/200/20/ src/p/__init__.py", "sed -i s/20/21/ src/p/__init__.py")[0] == 0
    assert python.statuses == ["keep", "discard"], python.reasons
    assert python.facts("Decided")[0]["effect"] == pytest.approx(0.9)


def test_an_environment_that_setup_makes_in_the_tree_imports_the_sides_own_code(make: Make) -> None:
    script = (
        '#!/bin/sh -e\n"$RESEARCH_PYTHON" -m venv --without-pip .venv\n'
        'echo "$PWD/src" > "$(echo .venv/lib/python*/site-packages)/p.pth"\n'
    )
    python = scene(make, {**FILES, "tools/setup.sh": script}, "setup: {run: [tools/setup.sh]}\n")
    assert python.turns("sed -i s/200/20/ src/p/__init__.py", "sed -i s/20/21/ src/p/__init__.py")[0] == 0
    assert python.statuses == ["keep", "discard"], python.reasons
    assert kept_outside(python, ".venv")
