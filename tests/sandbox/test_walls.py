"""What a job cannot do, seen to work where nothing holds it."""

import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from runner.sandbox import Job, Mount, Sandbox

SECRET = "a-secret-of-the-runner"


def python(code: str, tree: Path, *args: str, network: bool = False) -> Job:
    return Job((sys.executable, "-I", "-S", "-c", code, *args), tree, timeout_s=20, network=network)


CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), timeout=2).close()"


def test_a_listener_on_loopback_is_reached_only_with_the_network(sandbox: Sandbox, tree: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        assert sandbox.run(python(CONNECT, tree, port)).ok == (sandbox.level == 0)
        assert sandbox.run(python(CONNECT, tree, port, network=True)).ok


def test_the_runners_environment_is_not_readable(sandbox: Sandbox, tree: Path) -> None:
    child = subprocess.Popen(["sleep", "60"], env={"KEY": SECRET})
    code = (
        "import glob\nfor path in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: print(open(path, 'rb').read())\n    except OSError: pass"
    )
    try:
        assert (SECRET in sandbox.run(python(code, tree)).stdout.text()) == (sandbox.level == 0)
    finally:
        child.kill()
        child.wait()


def test_a_value_of_the_environment_is_in_no_list_of_processes(sandbox: Sandbox, tree: Path) -> None:
    seen: list[str] = []

    def look(*_: object) -> None:
        seen.extend(" ".join(each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"]))

    job = Job(("sh", "-c", 'printf %s "$KEY"; sleep 0.5'), tree, env={"KEY": "hid" + "den $x\n'\"`id`"})
    assert sandbox.run(job, on_output=look).stdout.text() == "hid" + "den $x\n'\"`id`"
    assert any("sleep 0.5" in each for each in seen)
    assert not any("hid" + "den $x" in each for each in seen)


def test_what_would_load_code_into_a_program_reaches_only_the_job(sandbox: Sandbox, tree: Path) -> None:
    names = {"LD_PRELOAD": "/nowhere.so", "JOB_": "x", "R_HOME": "v", "names": "y", "IFS": "z", "PWD_": "w"}
    done = sandbox.run(Job(("env",), tree, env=names))
    assert names.items() <= dict(line.split("=", 1) for line in done.stdout.text().splitlines()).items()
    loads = [line for line in done.stderr.text().splitlines() if "nowhere.so" in line]
    assert len(loads) == (2 if sandbox.level else 1)


def test_a_process_outside_cannot_be_signalled(sandbox: Sandbox, tree: Path) -> None:
    child = subprocess.Popen(["sleep", "60"])
    sandbox.run(python("import os, sys; os.kill(int(sys.argv[1]), 9)", tree, str(child.pid)))
    alive = child.poll() is None
    child.kill()
    child.wait()
    assert alive == (sandbox.level > 0)


def test_nothing_outside_can_be_written(best: Sandbox, tree: Path, tmp_path: Path) -> None:
    tries = [
        "/usr/x",
        "/etc/x",
        "/opt/x",
        "/x",
        "/root/x",
        "/home/x",
        "/sys/x",
        "/proc/sys/vm/x",
        "/research/x",
        str(tmp_path / "x"),
    ]
    tries += [f"{sys.prefix}/x", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"]
    code = "import sys\nfor path in sys.argv[1:]:\n    try: open(path, 'a'); print(path)\n    except OSError: pass"
    assert best.run(python(code, tree, *tries)).stdout.text() == ""
    assert not (tmp_path / "x").exists()


def test_homes_and_password_files_are_not_there(best: Sandbox, tree: Path) -> None:
    hidden = [f"{Path.home()}/.ssh", f"{Path.home()}/.config", f"{Path.home()}/.npmrc", f"{Path.home()}/.netrc"]
    done = best.run(Job(("sh", "-c", f"ls -d {' '.join(hidden)}; cat /etc/shadow /etc/gshadow; ls -A /home"), tree))
    assert done.stdout.text() == ""


def test_a_jobs_user_has_no_rights_over_the_machine(best: Sandbox, tree: Path) -> None:
    done = best.run(
        Job(("sh", "-c", "id -u; uname -n; grep CapEff /proc/self/status; mount -t tmpfs x /tmp && echo mounted"), tree)
    )
    assert done.stdout.text() == "1000\nresearch\nCapEff:\t0000000000000000\n"


def test_the_first_process_of_a_namespace_cannot_be_ended_from_inside(best: Sandbox, tree: Path) -> None:
    done = best.run(Job(("sh", "-c", "kill -9 1; kill -TERM 1; kill -INT 1; sleep 0.1; echo still; exit 4"), tree))
    assert (done.stdout.text(), done.exit_code) == ("still\n", 4)


def test_nobody_looks_into_the_first_process_from_inside(best: Sandbox, tree: Path) -> None:
    """Its memory is the way to any exit code and any output; a user namespace of one's own gives no right over it."""
    code = (
        "for name, mode in (('mem', 'r+b'), ('environ', 'rb'), ('fd/1', 'wb')):\n"
        "    try:\n"
        "        open(f'/proc/1/{name}', mode).close()\n"
        "        print(name, 'is open')\n"
        "    except PermissionError:\n"
        "        print(name, 'is closed')\n"
        "    except OSError as error:\n"
        "        print(name, 'is open', error)\n"
    )
    closed = "mem is closed\nenviron is closed\nfd/1 is closed\n"
    ask = (sys.executable, "-I", "-S", "-B", "-c", code)
    assert best.run(Job(ask, tree)).stdout.text() == closed
    nested = best.run(Job(("unshare", "-r", *ask), tree))
    assert nested.stdout.text() == closed or not nested.ok
    assert best.run(Job(("sh", "-c", "chmod +r /research/sh || cat /research/sh"), tree)).exit_code != 0


def test_a_word_of_the_launcher_cannot_be_forged(best: Sandbox, tree: Path) -> None:
    done = best.run(Job(("sh", "-c", "echo refused no such command >&2; exit 127"), tree))
    assert (done.exit_code, done.not_started, done.stderr.text()) == (127, None, "refused no such command\n")


def start(job: Job, best: Sandbox) -> str:
    done = best.run(job)
    assert done.ok, done.stderr.text() + str(done.not_started)
    return done.stdout.text()


def test_the_runners_own_python_starts_with_its_packages(best: Sandbox, tree: Path) -> None:
    code = "import numpy, sys; print(sys.executable, numpy.ones(3).sum())"
    assert start(Job((sys.executable, "-c", code), tree), best) == f"{sys.executable} 3.0\n"


@pytest.mark.parametrize(
    ("tool", "script"),
    [
        ("node", "node -e 'console.log(40 + 2)'"),
        ("gcc", "echo 'int main(void) { return 42; }' > a.c && gcc a.c && { ./a.out; echo $?; }"),
        ("git", "git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m x && git rev-list --count HEAD"),
        ("cargo", "cargo --version && cargo new -q --vcs none p && cd p && cargo run -q --offline && echo 42"),
        ("python3", "python3 -c 'print(42)'"),
    ],
)
def test_a_tool_on_the_path_starts(best: Sandbox, tree: Path, tool: str, script: str) -> None:
    there = subprocess.run(["sh", "-c", f"{tool} --version"], capture_output=True, text=True, check=False)
    if there.returncode:
        pytest.skip(f"{tool} does not start on this machine itself: {there.stderr.strip()[-200:]}")
    assert start(Job(("sh", "-c", script), tree, timeout_s=120), best).split()[-1] in ("42", "1")


def test_a_device_can_be_shown(best: Sandbox, tree: Path) -> None:
    job = Job(
        ("sh", "-c", "head -c 3 /dev/mine | od -An -tx1"), tree, mounts=(Mount(Path("/dev/zero"), Path("/dev/mine"), "dev"),)
    )
    assert start(job, best) == " 00 00 00\n"
