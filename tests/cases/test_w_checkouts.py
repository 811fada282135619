"""What a fresh checkout lacks, and what must not leak from one tree or one reading into the next."""

import hashlib
from pathlib import Path

import pytest

from runner.core.errors import CampaignError, ContractError, RepoError
from tests.cases.conftest import Make
from tests.playground import CONTRACT, SHORTEN, Scene

SHORTER = SHORTEN.partition("\n")[2]
LINK = "setup: {{link: [{}]}}\n"
NEEDS = '#!/bin/sh -e\n. ./.env\ncat build/data.bin >/dev/null\necho "METRIC size=$(($(wc -c < src/a.txt) * FACTOR))"\n'
WANTED = {".gitignore": "build/\n.env\n", "exp/evaluate.sh": NEEDS}


def with_inputs(scene: Scene) -> Scene:
    """What the person has in their checkout and git ignores."""
    scene.write({".env": "FACTOR=2\n", "build/data.bin": "data\n"})
    return scene


# --- W1 ---------------------------------------------------------------------------------------------


def test_ignored_inputs_that_are_missing_are_found_before_the_first_agent(make: Make) -> None:
    scene = with_inputs(make(files=WANTED))
    with pytest.raises(CampaignError) as stop:
        scene.play(3)
    assert (
        f"these exist in {scene.repo} and not in a fresh checkout: .env, build;"
        " bring what it needs with: setup: {link: [NAME, ...]}"
    ) in str(stop.value)
    assert scene.facts("TurnOpened") == []
    assert scene.statuses == []
    assert [line["rule"] for line in scene.facts("Stopped")] == ["error"]
    assert scene.command(str(scene.experiment)).returncode == 1


def test_what_is_missing_is_named_as_the_setting_takes_it_and_what_is_linked_is_not_named(make: Make) -> None:
    contract = CONTRACT.replace("project_root: ..", "project_root: ../app").replace("../src/", "../app/src/")
    files = {".gitignore": "deps/\nbuild/\n", "app/src/a.txt": "x\n", "exp/evaluate.sh": "#!/bin/sh -e\ntest -s deps/x\n"}
    scene = make(contract=contract, files=files, more=LINK.format("build"))
    scene.write({"app/deps/x": "x\n", "app/build/y": "y\n"})
    with pytest.raises(CampaignError) as stop:
        scene.play()
    assert f"these exist in {scene.repo}/app and not in a fresh checkout: deps; bring" in str(stop.value)


def test_with_the_setting_they_are_there_for_agent_gates_and_evaluator(make: Make) -> None:
    more = LINK.format(".env, build") + "guards: [{name: env, run: [sh, -c, '. ./.env && test $FACTOR = 2']}]\n"
    scene = with_inputs(make(files=WANTED, more=more))
    before = scene.fingerprint()
    assert scene.turns(*[f". ./.env; test $FACTOR = 2; test -s build/data.bin\n{SHORTER}"] * 3)[0] == 0
    assert scene.statuses == ["keep", "keep", "keep"]
    assert [line["metric_value"] for line in scene.facts("Decided")] == [380.0, 360.0, 340.0]
    for commit in scene.branch:
        assert not {".env", "build/data.bin"} & set(scene.git("ls-tree", "-r", "--name-only", commit).split("\n"))
    assert scene.fingerprint() == before


def test_a_linked_input_can_be_changed_by_nobody(make: Make) -> None:
    evaluator = NEEDS.replace("-e\n", "\necho FACTOR=9 > .env; rm -rf build; echo x >> build/data.bin\n", 1)
    scene = with_inputs(make(files={**WANTED, "exp/evaluate.sh": evaluator}, more=LINK.format(".env, build")))
    before = scene.fingerprint()
    spoil = "set +e\necho FACTOR=1 > .env\nrm -rf .env build\nmv build away\necho x > build/data.bin\nchmod 777 .env\n"
    assert scene.turns(spoil + SHORTER)[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.facts("Decided")[0]["metric_value"] == 380.0
    assert scene.fingerprint() == before


def test_a_link_to_nothing_is_refused_at_the_start(make: Make) -> None:
    scene = make(files=WANTED, more=LINK.format(".env, bild"))
    scene.write({".env": "FACTOR=2\n"})
    with pytest.raises(ContractError) as stop:
        scene.play()
    assert str(stop.value) == (f"experiment.yaml:13: setup.link: expected something to bring in, found none at {scene.repo}/bild")
    assert scene.journal == []


def test_a_link_that_would_hide_what_git_tracks_is_refused_at_the_start(make: Make) -> None:
    scene = make(files={"lib/gen.py": "1\n"}, more=LINK.format("build, ./src"))
    scene.write({".git/info/exclude": "build\n", "build/x": "x"})
    with pytest.raises(ContractError) as stop:
        scene.play()
    assert str(stop.value) == (
        "experiment.yaml:13: setup.link: ./src is in the commit, and the link would hide what a candidate changes there\n"
        "  link only what git does not track"
    )
    assert scene.journal == []
    assert list(scene.state_home.glob("research/*")) == []


@pytest.mark.parametrize("name", ["../outside", "/etc", "."])
def test_a_link_that_leads_out_of_the_tree_is_refused_at_the_start(make: Make, name: str) -> None:
    scene = make(more=LINK.format(name))
    with pytest.raises(ContractError, match=r"setup\.link"):
        scene.play()
    assert scene.journal == []


# --- W3 ---------------------------------------------------------------------------------------------

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"
CONTENT = b"weights " * 40
DIGEST = hashlib.sha256(CONTENT).hexdigest()
LFS = {
    ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    "m.bin": POINTER.format(DIGEST, len(CONTENT)),
    "exp/evaluate.sh": '#!/bin/sh -e\ngrep -q weights m.bin\necho "METRIC size=$(wc -c < src/a.txt)"\n',
}


def test_a_smudge_filter_is_never_run_and_a_pointer_is_never_measured(make: Make) -> None:
    scene = make(files=LFS)
    scene.git("config", "filter.lfs.smudge", "no-such-lfs")
    scene.git("config", "filter.lfs.clean", "no-such-lfs")
    scene.git("config", "filter.lfs.required", "true")
    with pytest.raises(RepoError) as stop:
        scene.play()
    assert str(stop.value) == (
        f"m.bin is kept in Git LFS, and its content is not on this machine\n  run `git lfs pull` in {scene.repo}"
    )
    assert scene.facts("Measured") == []
    assert scene.git("worktree", "list").count("\n") == 0


@pytest.mark.parametrize("place", [f".git/lfs/objects/{DIGEST[:2]}/{DIGEST[2:4]}/{DIGEST}", "m.bin"])
def test_lfs_content_on_this_machine_is_used_whatever_the_filter(make: Make, place: str) -> None:
    scene = make(files=LFS)
    scene.git("config", "filter.lfs.smudge", "no-such-lfs")
    scene.write({place: CONTENT})
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.git("cat-file", "-p", "research/scene:m.bin") == LFS["m.bin"].strip(), "the commit still holds the pointer"


def test_another_filter_that_cannot_run_does_not_run(make: Make, tmp_path: Path) -> None:
    scene = make(files={".gitattributes": "*.txt filter=evil\n"})
    scene.git("config", "filter.evil.smudge", f"touch {tmp_path}/ran; false")
    scene.git("config", "filter.evil.clean", f"touch {tmp_path}/ran; false")
    scene.git("config", "filter.evil.required", "true")
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert not (tmp_path / "ran").exists()


# --- W4 ---------------------------------------------------------------------------------------------

IMPORTS = """\
#!/bin/sh -e
cd src
"$RESEARCH_PYTHON" -c 'import sys; sys.path.append("{}")
import p; print("METRIC size=%d" % p.f()); print("from", p.__file__)'
"""


def test_each_side_imports_its_own_code_although_an_editable_install_names_the_persons(make: Make) -> None:
    scene = make(files={"src/p.py": "def f():\n    return 100\n", "exp/evaluate.sh": IMPORTS})
    scene.write({"exp/evaluate.sh": IMPORTS.format(scene.repo / "src")})
    scene.commit("an editable install")
    assert scene.turns("sed -i s/100/10/ src/p.py")[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.facts("Decided")[0]["effect"] == pytest.approx(0.9)


def test_an_import_by_the_persons_path_finds_the_sides_own_code(make: Make) -> None:
    evaluator = IMPORTS.replace("cd src\n", "")
    scene = make(files={"src/p.py": "def f():\n    return 100\n"})
    scene.write({"exp/evaluate.sh": evaluator.format(scene.repo / "src")})
    scene.commit("an editable install")
    code, seen = scene.turns("sed -i s/100/10/ src/p.py")
    assert code == 0
    assert scene.statuses == ["keep"], scene.reasons
    assert scene.facts("Decided")[0]["effect"] == pytest.approx(0.9)
    assert seen.warnings == []


# --- W6 ---------------------------------------------------------------------------------------------

CACHED = """\
#!/bin/sh -e
[ -f {place} ] || cp src/a.txt {place}
echo "METRIC size=$(wc -c < {place})"
"""


@pytest.mark.parametrize(
    "place", ["/tmp/b", "/var/tmp/b", "/dev/shm/b", '"$HOME/b"', '"$TMPDIR/b"', "./b", "src/b", '"$2.cache"']
)
def test_a_cache_that_is_keyed_on_nothing_never_outlives_its_reading(make: Make, place: str) -> None:
    scene = make(files={"exp/evaluate.sh": CACHED.format(place=place)})
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert scene.facts("Decided")[0]["metric_value"] == 190.0


def test_candidates_that_behave_alike_are_never_kept(make: Make) -> None:
    scene = make()
    assert scene.turns(*[f"tr x {letter} < src/a.txt > t; mv t src/a.txt" for letter in "abc"])[0] == 0
    assert scene.statuses == ["discard"] * 3
    assert scene.branch == []


# --- W9 ---------------------------------------------------------------------------------------------

FLAGGED = '#!/bin/sh\n[ -f src/new/flag ] && f=2 || f=1\necho "METRIC size=$(($(cat src/a.txt src/b.txt | wc -c) / f))"\n'


def test_what_a_discarded_candidate_left_reaches_no_later_one(make: Make) -> None:
    scene = make(files={"exp/evaluate.sh": FLAGGED, "src/b.txt": "# a comment\n"})
    leave = "mkdir -p src/new; echo boost > src/new/flag"
    code, _ = scene.turns(
        f"{leave}; git init -q src/inner; exit 0",
        f"{leave}; cat src/a.txt src/a.txt src/a.txt > t; mv t src/a.txt",
        "test ! -e src/new; test ! -e src/inner; test -z \"$(git status --porcelain --ignored)\"; echo '# another' > src/b.txt",
        'test -z "$(git stash list)"; test "$(git log --format=%s)" = "The incumbent"'
        "\ntr a-z A-Z < src/b.txt > t; mv t src/b.txt",
    )
    assert code == 0
    assert scene.statuses == ["rejected", "discard", "keep", "discard"]
    assert "src/inner/.git is a repository inside the tree: it was not read" in scene.reasons[0]
    assert scene.measured(1) == 0
    assert scene.facts("Decided")[2]["metric_value"] == 210.0, "two bytes shorter, and no flag"
    assert [c["path"] for c in scene.of_turn("Proposed", 3)["changes"]] == ["src/b.txt"]


def test_ignored_leftovers_and_what_lies_beside_the_tree_reach_no_later_turn(make: Make) -> None:
    scene = make(files={".gitignore": "*.o\n"})
    leave = 'touch src/a.o "$HOME/left" "$TMPDIR/left" /tmp/left "$RESEARCH_WORKER_OUTPUT.left"'
    look = 'for f in src/a.o "$HOME/left" "$TMPDIR/left" /tmp/left "$RESEARCH_WORKER_OUTPUT.left"; do test ! -e "$f"; done'
    assert scene.turns(f"{leave}; {SHORTER}", f"{look}; {SHORTER}")[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert [line["ignored"] for line in scene.facts("Proposed")] == [1, 0]


def test_what_an_evaluation_leaves_reaches_no_later_reading(make: Make) -> None:
    evaluator = (
        '#!/bin/sh\nfor f in left src/left "$HOME/left" /tmp/left; do [ -e "$f" ] && echo seen >&2 && exit 7; : > "$f"; done\n'
        'printf short > src/a.txt.new\necho "METRIC size=$(wc -c < src/a.txt)"\nmv src/a.txt.new src/a.txt\n'
    )
    scene = make(files={"exp/evaluate.sh": evaluator})
    assert scene.play(2)[0] == 0
    assert scene.statuses == ["keep", "keep"]
    assert [line["metric_value"] for line in scene.facts("Decided")] == [190.0, 180.0]


# --- W11 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "where"), [("node_modules/", ".gitignore"), ("node_modules", ".gitignore"), ("node_modules/", "")]
)
def test_a_linked_node_modules_is_never_committed(make: Make, rule: str, where: str) -> None:
    scene = make(files={where: f"{rule}\n"} if where else {}, more=LINK.format("node_modules"))
    scene.write({"node_modules/left-pad/index.js": "module.exports = 1\n"})
    if not where:
        (scene.repo / ".git/info/exclude").write_text(f"{rule}\n")
    before = scene.fingerprint()
    worker = (
        f'test -z "$(git status --porcelain)"; test -s node_modules/left-pad/index.js\n{SHORTER}\ngit add -A; git commit -qm x'
    )
    assert scene.turns(worker)[0] == 0
    assert scene.statuses == ["keep"], scene.reasons
    listed = scene.git("ls-tree", "-r", scene.branch[0])
    assert "node_modules" not in listed.replace(".gitignore", "")
    assert "120000" not in listed
    assert [c["path"] for c in scene.of_turn("Proposed", 1)["changes"]] == ["src/a.txt"]
    assert scene.git("show", f"{scene.branch[0]}:{where}") == rule if where else True
    assert scene.fingerprint() == before


def test_a_symlinked_input_is_brought_by_its_content(make: Make, tmp_path: Path) -> None:
    store = tmp_path / "store/pkg"
    store.mkdir(parents=True)
    (store / "index.js").write_text("1\n")
    evaluator = '#!/bin/sh -e\ntest -s node_modules/index.js\necho "METRIC size=$(wc -c < src/a.txt)"\n'
    scene = make(files={".gitignore": "node_modules\n", "exp/evaluate.sh": evaluator}, more=LINK.format("node_modules"))
    (scene.repo / "node_modules").symlink_to(store)
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert (scene.repo / "node_modules").is_symlink()


def test_links_are_relative_to_project_root(make: Make) -> None:
    contract = CONTRACT.replace("project_root: ..", "project_root: ../app").replace("../src/", "../app/src/")
    evaluator = '#!/bin/sh -e\ntest -s deps/x\necho "METRIC size=$(wc -c < src/a.txt)"\n'
    files = {".gitignore": "deps/\n", "app/src/a.txt": "x" * 99 + "\n", "exp/evaluate.sh": evaluator}
    scene = make(contract=contract, files=files, more=LINK.format("deps"))
    scene.write({"app/deps/x": "x\n"})
    assert scene.turns(f"test -s deps/x\n{SHORTER}")[0] == 0
    assert scene.statuses == ["keep"]
    assert [c["path"] for c in scene.of_turn("Proposed", 1)["changes"]] == ["app/src/a.txt"]
