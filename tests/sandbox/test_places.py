"""What a job sees at its places, and what is left of what it writes there, at every level."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from runner.core.errors import SandboxError
from runner.processes import Finished
from runner.sandbox import Job, Mount, Sandbox


def sh(script: str, tree: Path, **more: object) -> Job:
    return Job(("sh", "-c", script), tree, timeout_s=20, **more)  # type: ignore[arg-type]


def said(done: Finished) -> str:
    assert done.ok, done.stderr.text() + str(done.not_started)
    return done.stdout.text()


def test_a_job_starts_in_its_tree_and_sees_its_files_as_they_are(sandbox: Sandbox, tree: Path) -> None:
    done = sandbox.run(sh("pwd; cat src/a.py; stat -c %Y README", tree))
    assert said(done) == f"{sandbox.places.tree}\na = 1\n1000000000\n"
    assert said(sandbox.run(sh("pwd", tree, cwd="src"))) == f"{sandbox.places.tree}/src\n"


def test_both_sides_see_the_same_path_host_user_and_environment(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "another place" / "of,odd:name"
    shutil.copytree(tree, other)
    script = "pwd; id; uname -n; env | sort; ls -lAn --time-style=full-iso . src; ls -a $HOME $TMPDIR"
    script += "; cat /proc/self/mountinfo | sed 's/^[0-9]* [0-9]* [0-9:]*//; s,/layers/[^/]*,,g'"
    assert said(sandbox.run(sh(script, tree))) == said(sandbox.run(sh(script, other)))


def test_a_discard_layer_is_seen_by_nobody_afterwards(sandbox: Sandbox, tree: Path) -> None:
    script = "ls -A . src; echo new > new; rm README; echo 'a = 2' > src/a.py; mkdir -p deep/er; cat src/a.py"
    first, second = (said(sandbox.run(sh(script, tree))) for _ in range(2))
    assert first == second == ".:\nREADME\nsrc\n\nsrc:\na.py\na = 2\n"
    assert (tree / "src/a.py").read_text() == "a = 1\n"
    assert sorted(each.name for each in tree.iterdir()) == ["README", "src"]


def test_a_kept_tree_holds_what_the_job_wrote(sandbox: Sandbox, tree: Path) -> None:
    said(sandbox.run(sh("echo new > new; rm README; echo 'a = 2' > src/a.py", tree, tree_mode="keep")))
    assert sorted(each.name for each in tree.iterdir()) == ["new", "src"]
    assert (tree / "src/a.py").read_text() == "a = 2\n"


def test_a_read_only_tree_is_as_it_was(sandbox: Sandbox, tree: Path) -> None:
    done = sandbox.run(sh("echo x > src/a.py", tree, tree_mode="read_only"))
    assert done.ok == (sandbox.level < 3)
    assert (tree / "src/a.py").read_text() == "a = 1\n"


def test_home_and_tmp_are_fresh_and_empty_for_every_run(sandbox: Sandbox, tree: Path) -> None:
    script = 'ls -A "$HOME" "$TMPDIR"; echo x > "$HOME/x"; echo y > "$TMPDIR/y"; echo "$HOME $TMPDIR"'
    home, tmp = sandbox.places.home, sandbox.places.tmp
    expected = f"{home}:\n\n{tmp}:\n{home} {tmp}\n"
    assert [said(sandbox.run(sh(script, tree))) for _ in range(2)] == [expected] * 2


def test_output_input_and_experiment_are_where_the_places_say(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    for name in ("out", "in", "exp"):
        (tmp_path / name).mkdir()
    (tmp_path / "in/settings.yaml").write_text("x: 1\n")
    evaluator = tmp_path / "exp/evaluate.sh"
    evaluator.write_text(
        '#!/bin/sh\ncat "$1" "$(dirname "$0")/helper" > "$2"\nmkdir -p "${2%/*}/sub" && echo s > "${2%/*}/sub/f"\n'
    )
    evaluator.chmod(0o755)
    (tmp_path / "exp/helper").write_text("helper\n")
    here = sandbox.places
    argv = (f"{here.experiment}/evaluate.sh", f"{here.input}/settings.yaml", f"{here.output}/result.json")
    job = Job(argv, tree, output=tmp_path / "out", input=tmp_path / "in", experiment=tmp_path / "exp")
    said(sandbox.run(job))
    assert (tmp_path / "out/result.json").read_text() == "x: 1\nhelper\n"
    assert (tmp_path / "out/sub/f").read_text() == "s\n"
    sandbox.run(sh(f"echo bad > {here.input}/settings.yaml; echo bad > {here.experiment}/helper", tree, input=job.input))
    assert (tmp_path / "in/settings.yaml").read_text() == "x: 1\n"
    assert (tmp_path / "exp/helper").read_text() == "helper\n"


def test_a_link_in_the_output_is_not_followed_when_it_is_handed_over(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = sandbox.run(sh(f"ln -s /etc/hostname {sandbox.places.output}/r; echo ok", tree, output=tmp_path / "out"))
    assert said(done) == "ok\n"
    assert not (tmp_path / "out/r").is_file() or (tmp_path / "out/r").is_symlink()


def test_a_mount_inside_the_tree_is_seen_and_leaves_no_trace(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "node_modules/dep").mkdir(parents=True)
    (tmp_path / "node_modules/dep/index.js").write_text("1\n")
    mount = Mount(tmp_path / "node_modules", sandbox.places.tree / "web/node_modules")
    for mode in ("discard", "keep"):
        done = sandbox.run(sh("cat web/node_modules/dep/index.js", tree, tree_mode=mode, mounts=(mount,)))
        assert said(done) == "1\n"
    assert sorted(each.name for each in tree.iterdir()) == ["README", "src"]


def test_a_writable_mount_can_be_written(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    said(sandbox.run(sh(f"echo x > {shared}/x", tree, mounts=(Mount(shared, shared, "rw"),))))
    assert (shared / "x").read_text() == "x\n"


def test_a_mount_that_is_not_there_is_refused_by_name(best: Sandbox, tree: Path, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="none is to be shown to a job and is not there"):
        best.run(sh("true", tree, mounts=(Mount(tmp_path / "none", tmp_path / "none"),)))


@pytest.mark.parametrize(
    "mess",
    {
        "modes of 000": "mkdir -p a/b/c && echo x > a/b/c/f && chmod 000 a/b/c/f a/b/c a/b a src src/a.py",
        "whiteouts": "rm -rf src README; mkdir src; echo x > src/b; mkfifo pipe",
        "a deep tree": f'{sys.executable} -I -S -c \'import os\nfor _ in range(1100): os.mkdir("d" * 9); os.chdir("d" * 9)\'',
        "odd names": r"printf x > \"$(printf 'a\nb')\"; printf x > '*'; ln -s / root; ln -s .. up; : > \"$(printf '\377')\"",
    }.items(),
    ids=lambda each: each[0],
)
def test_nothing_of_a_run_is_left_whatever_it_made(sandbox: Sandbox, tree: Path, states: Path, mess: tuple[str, str]) -> None:
    (tree.parent / "out").mkdir()
    done = sandbox.run(
        sh(f"({mess[1]})\ncd $HOME; {mess[1].replace('src README', '')}\necho made", tree, output=tree.parent / "out")
    )
    assert said(done).endswith("made\n")
    room = states / str(sandbox.level) / "room"
    assert {each.name.split("-")[0] for each in room.iterdir()} - {"lock", "sh"} == {"side", "layers", "etc"}
    assert list((room / "layers").iterdir()) == []
    assert (tree / "src/a.py").read_text() == "a = 1\n"
    assert Path("/etc").is_dir()


def test_a_command_gets_only_the_environment_of_the_list(sandbox: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDECODE", "VIRTUAL_ENV", "GIT_EDITOR", "SECRET_KEY"):
        monkeypatch.setenv(name, "1")
    done = sandbox.run(Job(("env",), tree, env={"RESEARCH_SEED": "7", "PATH": os.environ["PATH"]}))
    found = dict(line.split("=", 1) for line in said(done).splitlines())
    tools = {"CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT", "RBENV_ROOT", "NVM_DIR", "VOLTA_HOME", "ASDF_DATA_DIR", "SDKMAN_DIR"}
    assert {name: value for name, value in found.items() if name not in tools} == {
        "PATH": os.environ["PATH"],
        "HOME": str(sandbox.places.home),
        "TMPDIR": str(sandbox.places.tmp),
        "LANG": "C.UTF-8",
        "USER": "research",
        "LOGNAME": "research",
        "SHELL": "/bin/sh",
        "PYTHONDONTWRITEBYTECODE": "1",
        "RESEARCH_SEED": "7",
    }


# --- layers, and the tree at another path -----------------------------------------------------------


def test_a_thrown_away_layer_lies_over_a_layer_over_a_tree(best: Sandbox, tree: Path, tmp_path: Path) -> None:
    upper = tmp_path / "upper"
    upper.mkdir()
    said(best.run(sh("mkdir out; echo built > out/a; rm README; echo more >> src/a.py", upper, tree_mode="keep", base=(tree,))))
    look = sh("ls -A . src out; cat src/a.py out/a; echo x > out/a; rm src/a.py; echo y > README", upper, base=(tree,))
    expected = ".:\nout\nsrc\n\nout:\na\n\nsrc:\na.py\na = 1\nmore\nbuilt\n"
    assert [said(best.run(look)) for _ in range(2)] == [expected] * 2
    assert sorted(each.name for each in tree.iterdir()) == ["README", "src"]
    assert (upper / "out/a").read_text() == "built\n"


def test_a_job_is_not_told_where_its_layers_lie(best: Sandbox, tree: Path, tmp_path: Path) -> None:
    upper = tmp_path / "telltale"
    upper.mkdir()
    seen = said(best.run(sh("cat /proc/self/mountinfo", upper, base=(tree,))))
    assert (str(upper) in seen or str(tree) in seen) == bool(best.report["tree_path_visible"])


def test_a_kept_tree_is_at_its_place_and_not_behind_a_link(sandbox: Sandbox, tree: Path) -> None:
    assert said(sandbox.run(sh("pwd -P", tree, tree_mode="keep"))) == f"{sandbox.places.tree}\n"
    assert sorted(each.name for each in tree.iterdir()) == ["README", "src"]


def test_a_kept_tree_that_was_taken_away_comes_back_empty(sandbox: Sandbox, tree: Path) -> None:
    if sandbox.level == 3:
        pytest.skip("its place is a mount there")
    said(sandbox.run(sh("mv $PWD ../away; ln -s / $PWD", tree, tree_mode="keep")))
    assert tree.is_dir()
    assert not tree.is_symlink()
    assert list(tree.iterdir()) == []


def test_the_tree_stands_in_for_a_path_of_the_host_that_is_not_shown(best: Sandbox, tree: Path, tmp_path: Path) -> None:
    persons = tmp_path / "persons"
    persons.mkdir()
    (persons / "README").write_text("the person's\n")
    script = f"cat {persons}/README; cd {persons}/src; pwd -P"
    job = sh(script, tree, also_at=(persons,))
    assert best.stands_in(job, persons)
    assert said(best.run(job)) == "read\n/research/tree/src\n"


def test_the_tree_stands_in_beside_what_is_shown_of_that_path(best: Sandbox, tree: Path, tmp_path: Path) -> None:
    persons = tmp_path / "persons"
    (persons / "src").mkdir(parents=True)
    (persons / "src/x").write_text("the person's\n")
    job = sh(
        f"cd {persons}; cat src/x README; ls src", tree, also_at=(persons,), mounts=(Mount(persons / "src", persons / "src"),)
    )
    assert best.stands_in(job, persons)
    assert said(best.run(job)) == "the person's\nread\nx\n"


def test_the_tree_stands_in_for_nothing_inside_what_is_shown(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    (shown / "persons").mkdir(parents=True)
    (shown / "persons/x").write_text("the person's\n")
    also_at = (shown / "persons", Path("/usr/src"))
    job = sh(f"cat {shown}/persons/x", tree, also_at=also_at, mounts=(Mount(shown, shown),))
    assert [sandbox.stands_in(job, each) for each in (*job.also_at, tmp_path)] == [False, False, False]
    assert said(sandbox.run(job)) == "the person's\n"
