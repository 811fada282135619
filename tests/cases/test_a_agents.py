"""The agent as a child process: what it may wait for, say, leave running, and pretend."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cases.conftest import Make
from tests.playground import CLONE, SHORTEN, Scene, survivors

SHORTER = SHORTEN.partition("\n")[2]


def worker(scene: Scene, script: str) -> None:
    """The worker of a run that a process of its own plays."""
    scene.write({"exp/worker.sh": f"#!/bin/sh -e\n{script}\n"})
    scene.commit("a worker")


# --- A1 ---------------------------------------------------------------------------------------------


def test_the_agent_reads_the_prompt_and_then_the_end_whatever_the_runners_own_input(make: Make) -> None:
    scene = make()
    worker(scene, f"cat > src/prompt.txt\ncat\n{SHORTER}\ngit add -A; git commit -qm x")
    never, held = os.pipe()
    try:
        done = scene.command(str(scene.experiment), "--max-turns", "1", stdin=never)
    finally:
        os.close(held)
        os.close(never)
    assert (done.returncode, done.stderr) == (0, "")
    assert scene.statuses == ["keep"]
    assert scene.of_turn("Worked", 1)["seconds"] < 15
    prompt = (scene.experiment / "artifacts/attempt_0001/prompt.md").read_text()
    assert scene.git("show", f"{scene.branch[0]}:src/prompt.txt") == prompt.strip()
    assert "Make src/a.txt shorter." in prompt


@pytest.mark.parametrize("how", ["closed", "nohup"])
def test_without_any_input_it_is_the_same(make: Make, how: str) -> None:
    scene = make()
    worker(scene, f"cat > /dev/null\n{SHORTER}")
    run = f"{shlex.quote(sys.executable)} -m runner.cli {shlex.quote(str(scene.experiment))} --max-turns 1"
    line = {"closed": f"exec {run} <&-", "nohup": f"exec nohup {run}"}[how]
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=CLONE,
        env=scene.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert scene.statuses == ["keep"]


def test_the_agents_are_given_no_terminal(make: Make) -> None:
    scene = make()
    assert scene.turns(f"! (: < /dev/tty) 2>/dev/null; ! test -t 0; ! test -t 1; ! test -t 2\n{SHORTER}")[0] == 0
    assert scene.statuses == ["keep"]


# --- A3 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        '{"subtype":"success","is_error":true,"result":"API Error: Rate limit reached"}',
        "Not logged in. Please run /login",
        "Claude AI usage limit reached|1764547200",
    ],
)
def test_an_agent_that_says_it_could_not_work_is_an_error_and_ends_the_run(make: Make, said: str) -> None:
    scene = make()
    code, _ = scene.turns(*[f"echo {shlex.quote(said)}; exit 0"] * 10)
    assert code == 1
    assert scene.statuses == ["agent_error"] * 3
    assert [line["outcome"] for line in scene.facts("Worked")] == ["api_error"] * 3
    for line in scene.facts("Decided"):
        assert json.dumps(said) in line["reason"] or said in line["reason"]
    assert scene.facts("Proposed") == []
    (stopped,) = scene.facts("Stopped")
    assert stopped["rule"] == "budget.agent_errors"
    assert stopped["reason"].startswith("the worker failed 3 times in a row; last: ")


def test_agent_errors_take_nothing_from_the_turns_asked_for(make: Make) -> None:
    scene = make()
    code, _ = scene.turns("exit 3", SHORTER, "echo 'API Error: 529 overloaded_error' >&2", SHORTER, max_turns=2)
    assert code == 0
    assert scene.statuses == ["agent_error", "keep", "agent_error", "keep"]
    assert scene.facts("Stopped")[0]["rule"] == "max_turns"


# --- A5 ---------------------------------------------------------------------------------------------


def test_a_run_inside_an_agents_session_gives_its_agents_a_clean_environment(make: Make) -> None:
    scene = make()
    names = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "VIRTUAL_ENV", "GIT_EDITOR", "PYTHONPATH", "OPENAI_API_KEY")
    checks = "\n".join(f'[ -z "${name}" ] || {{ echo nested {name} >&2; exit 1; }}' for name in names)
    worker(scene, f"{checks}\n{SHORTER}")
    done = scene.command(str(scene.experiment), "--max-turns", "1", env={**dict.fromkeys(names, "/x"), "PYTHONPATH": str(CLONE)})
    assert (done.returncode, done.stderr) == (0, "")
    assert scene.statuses == ["keep"]


def test_the_contract_sets_a_workers_variables_and_only_the_workers(make: Make) -> None:
    scene = make(files={"exp/evaluate.sh": '#!/bin/sh -e\ntest -z "$EFFORT"\necho "METRIC size=$(wc -c < src/a.txt)"\n'})
    contract = (scene.experiment / "experiment.yaml").read_text()
    env = contract.replace("[./worker.sh]}", '[./worker.sh], env: {EFFORT: "low", GIT_EDITOR: "true"}}')
    scene.write({"exp/experiment.yaml": env})
    scene.commit("an environment")
    assert scene.turns(f'test "$EFFORT" = low; test "$GIT_EDITOR" = true\n{SHORTER}')[0] == 0
    assert scene.statuses == ["keep"]


# --- A7 ---------------------------------------------------------------------------------------------

LEAVERS = (
    '(trap "" TERM HUP INT; {0}) & exit 0',
    "setsid {0} & exit 0",
    "setsid sh -c 'trap \"\" TERM; ({0} &) ; {0}' > /dev/null 2>&1 < /dev/null & exit 0",
    "nohup {0} > /dev/null 2>&1 & exit 0",
)


def test_nothing_that_an_agent_starts_outlives_its_turn(make: Make) -> None:
    scene = make()
    marker = f"sleep 600.{os.getpid()}"
    began = time.monotonic()
    assert scene.turns(*[f"{SHORTER}\n{script.format(marker)}" for script in LEAVERS])[0] == 0
    assert time.monotonic() - began < 60
    assert survivors(marker) == []
    assert scene.statuses == ["keep"] * len(LEAVERS)


def test_an_agent_over_its_time_is_ended_with_all_it_started(make: Make) -> None:
    contract_change = ("worker_timeout_seconds: 30", "worker_timeout_seconds: 1")
    scene = make()
    text = (scene.experiment / "experiment.yaml").read_text()
    scene.write({"exp/experiment.yaml": text.replace(*contract_change) + "budget: {agent_errors: 1}\n"})
    scene.commit("less time")
    marker = f"700.{os.getpid()}"
    began = time.monotonic()
    code, _ = scene.turns(
        f'{SHORTER}\ntrap "" TERM\n(trap "" TERM; sleep {marker}) & setsid sleep {marker} &\nsleep {marker}; sleep {marker}'
    )
    assert time.monotonic() - began < 30
    assert code == 1
    assert scene.statuses == ["agent_error"]
    assert scene.of_turn("Worked", 1)["outcome"] == "timeout"
    assert "what it changed (src/a.txt) is not used" in scene.reasons[0]
    assert survivors(f"sleep {marker}") == []
    assert scene.branch == []


def test_nothing_that_an_evaluation_starts_outlives_its_reading(make: Make) -> None:
    marker = f"800.{os.getpid()}"
    evaluator = f'#!/bin/sh\n(trap "" TERM; sleep {marker}) & setsid sleep {marker} &\necho "METRIC size=$(wc -c < src/a.txt)"\n'
    scene = make(files={"exp/evaluate.sh": evaluator})
    seen: list[str] = []
    scene.turns(SHORTER)
    seen += survivors(f"sleep {marker}")
    assert seen == []
    assert scene.statuses == ["keep"]


def test_an_interrupted_run_leaves_nothing_and_goes_on(make: Make) -> None:
    scene = make()
    marker = f"900.{os.getpid()}"
    worker(scene, f"sleep {marker}")
    argv = [sys.executable, "-m", "runner.cli", str(scene.experiment), "--max-turns", "1"]
    run = subprocess.Popen(argv, cwd=CLONE, env=scene.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 45
    while not survivors(f"sleep {marker}") and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    _, error = run.communicate(timeout=30)
    assert (run.returncode, error) == (130, b"stopping after this step; once more stops now\n")
    assert survivors(f"sleep {marker}") == []
    assert scene.statuses == [], "an agent that a person stopped has no verdict"
    worker(scene, SHORTER)
    assert scene.play()[0] == 0
    assert scene.statuses == ["keep"]
    assert [line["turn"] for line in scene.facts("TurnOpened")] == [1]


# --- A9 ---------------------------------------------------------------------------------------------


def test_bytes_that_are_no_text_stop_nobody(make: Make) -> None:
    evaluator = (
        "#!/bin/sh\nprintf '\\377'; echo; printf '\\303' >&2; echo \"METRIC size=$(wc -c < src/a.txt)\"; printf '\\342\\202'\n"
    )
    scene = make(files={"exp/evaluate.sh": evaluator})
    worker(scene, f"printf '\\377\\360\\n'; head -c 300000 /dev/urandom; head -c 300000 /dev/urandom >&2\n{SHORTER}")
    done = scene.command(str(scene.experiment), "--max-turns", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert scene.statuses == ["keep"]
    assert scene.facts("Decided")[0]["metric_value"] == 190.0
    for line in (scene.experiment / "journal.jsonl").read_bytes().splitlines():
        json.loads(line.decode("utf-8"))
    kept = scene.experiment / "artifacts/attempt_0001/agent_stdout.txt"
    assert kept.stat().st_size > 300_000
    kept.read_text(encoding="utf-8")
    assert scene.command("logs", str(scene.experiment)).returncode == 0
    assert scene.command("status", str(scene.experiment)).returncode == 0


def test_an_endless_talker_is_kept_to_its_bound(make: Make) -> None:
    scene = make()
    assert scene.turns(f"yes | head -c 50000000; yes | head -c 50000000 >&2\n{SHORTER}")[0] == 0
    assert scene.statuses == ["keep"]
    sizes = [p.stat().st_size for p in (scene.experiment / "artifacts/attempt_0001").rglob("*") if p.is_file()]
    assert sum(sizes) < 8 << 20


# --- A11 --------------------------------------------------------------------------------------------


def test_an_agent_that_changes_nothing_costs_no_measurement(make: Make) -> None:
    scene = make(files={".gitignore": "*.o\n"})
    code, _ = scene.turns(
        "true",
        "echo more >> src/a.txt; git checkout -q src/a.txt",
        "git commit -q --allow-empty -m nothing",
        "echo x > src/a.o; mkdir -p src/empty",
        "cp src/a.txt t; echo x > src/a.txt; git commit -qam x; mv t src/a.txt; git commit -qam y",
        "touch src/a.txt; chmod 600 src/a.txt; rm -rf .git",
    )
    assert code == 0
    assert scene.statuses == ["no_change"] * 6
    assert {line["basis"] for line in scene.facts("Decided")} == {"no_change"}
    assert scene.reasons[0] == "the worker left the tree as it was"
    assert scene.reasons[3] == "the worker left the tree as it was; 1 ignored files were left out"
    assert [scene.measured(turn) for turn in range(1, 7)] == [0] * 6
    assert [line["metric_value"] for line in scene.facts("Decided")] == [None] * 6
    assert scene.branch == []
    rows = [line.split("\t") for line in (scene.experiment / "results.tsv").read_text().splitlines()]
    assert [(row[0], row[2], row[3], row[4]) for row in rows[2:]] == [(str(n), "", "", "no_change") for n in range(1, 7)]


def test_many_turns_without_a_gain_end_the_campaign_where_that_is_asked_for(make: Make) -> None:
    scene = make(more="budget: {saturation: 3}\n")
    code, _ = scene.turns(SHORTER, *["true"] * 5)
    assert code == 0
    assert scene.statuses == ["keep", "no_change", "no_change", "no_change"]
    assert scene.facts("Stopped")[0]["rule"] == "budget.saturation"


# --- A14 --------------------------------------------------------------------------------------------


def test_a_symlink_is_refused_with_its_target_and_nobody_follows_it(make: Make) -> None:
    scene = make(files={"eval/golden.json": "golden secret\n"})
    before = scene.fingerprint()
    workers = {
        "rm src/a.txt; ln -s ../eval/golden.json src/a.txt; git commit -qam x": ("T", "src/a.txt", "../eval/golden.json"),
        "ln -s /etc/passwd src/b": ("A", "src/b", "/etc/passwd"),
        "ln -s / src/root; cp src/a.txt src/root/tmp/pwned": ("A", "src/root", "/"),
        "mkdir src/deep; ln -s ../../.. src/deep/up": ("A", "src/deep/up", "../../.."),
        "ln -s a.txt src/c.txt": ("A", "src/c.txt", "a.txt"),
        "ln -s nowhere src/d.txt": ("A", "src/d.txt", "nowhere"),
    }
    assert scene.turns(*workers)[0] == 0
    assert scene.statuses == ["rejected"] * len(workers)
    for turn, (kind, path, target) in enumerate(workers.values(), 1):
        (change,) = scene.of_turn("Proposed", turn)["changes"]
        assert (change["kind"], change["path"], change["target"], change["new_mode"]) == (kind, path, target, "120000")
        assert f"{path} is a symlink to {target}: links are not followed" in scene.reasons[turn - 1]
        assert scene.measured(turn) == 0
    written = [file for file in scene.experiment.rglob("*") if file.is_file()]
    assert [file for file in written if b"root:x:" in file.read_bytes()] == []
    assert scene.fingerprint() == before


def test_a_directory_that_became_a_link_carries_nothing_out(make: Make) -> None:
    scene = make(files={"eval/golden.json": "golden\n"})
    before = scene.fingerprint()
    scene.turns(
        "rm -r src; ln -s eval src; echo mine > src/a.txt",
        "rm -r src; ln -s /research/experiment src",
        "ln exp/evaluate.sh src/hard; echo >> src/hard",
    )
    assert scene.statuses == ["rejected"] * 3
    assert "src is a symlink to eval" in scene.reasons[0]
    assert "eval/a.txt added: is outside writable_paths" in scene.reasons[0]
    assert "exp/evaluate.sh changed: belongs to the measurement" in scene.reasons[2], "a hard link is one file with two names"
    assert scene.fingerprint() == before


def test_a_special_file_in_the_surface_is_refused_without_a_wait(make: Make) -> None:
    scene = make()
    scene.turns(f"mkfifo src/pipe\n{SHORTER}", "rm src/a.txt; mkfifo src/a.txt")
    assert scene.statuses == ["rejected", "rejected"]
    assert "src/pipe is no file, directory or symlink" in scene.reasons[0]
    assert "src/a.txt is no file, directory or symlink" in scene.reasons[1]


def test_the_answer_and_the_output_are_read_through_no_link(make: Make, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"primaryMetric": 1}')
    evaluator = '#!/bin/sh\nln -s /etc/passwd "$2"\necho "METRIC size=$(wc -c < src/a.txt)"\n'
    scene = make(files={"exp/evaluate.sh": evaluator})
    assert scene.turns(f'ln -s /etc/passwd "$RESEARCH_WORKER_OUTPUT"\n{SHORTER}')[0] == 0
    assert scene.statuses == ["keep"]
    assert not (scene.experiment / "artifacts/attempt_0001/worker_turn.json").exists()


# --- the network ------------------------------------------------------------------------------------


def test_a_network_that_the_contract_opens_is_named_at_the_start_and_on_every_turn(make: Make) -> None:
    said = "agent and evaluation share the host's network (sandbox.network: true)"
    scene = make(more="sandbox: {network: true}\n")
    _, watcher = scene.turns(SHORTER)
    (hello,) = watcher.greeted
    assert said in hello.not_held
    assert "no network" not in hello.held
    assert said in scene.of_turn("Worked", 1)["not_held"]
    assert said in scene.facts("Started")[0]["confinement"]["not_held"]


def test_without_it_there_is_none_and_nothing_is_said_on_a_turn(make: Make) -> None:
    scene = make()
    _, watcher = scene.turns(
        f'! "$RESEARCH_PYTHON" -c \'import socket; socket.create_connection(("127.0.0.1", 22), 1)\'\n{SHORTER}'
    )
    assert "no network" in watcher.greeted[0].held
    assert scene.of_turn("Worked", 1)["not_held"] == []
