import dataclasses
import os
import re
import subprocess
import time

from runner import host


def test_now_is_written_in_milliseconds_and_ends_with_z() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", host.utc_now())


def test_the_monotonic_clock_counts_seconds() -> None:
    before = host.monotonic()
    time.sleep(0.05)
    assert 0.05 <= host.monotonic() - before < 5


def test_this_process_is_alive() -> None:
    me = host.process_id()
    assert me is not None
    assert me.pid == os.getpid()
    assert host.is_alive(me)


def test_a_process_that_ended_is_not_alive_and_neither_is_its_zombie() -> None:
    child = subprocess.Popen(["sleep", "60"])
    who = host.process_id(child.pid)
    assert who is not None
    assert host.is_alive(who)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not host.is_alive(who)
    child.wait()
    assert not host.is_alive(who)
    assert host.process_id(child.pid) is None


def test_a_reused_pid_and_another_boot_are_not_the_same_process() -> None:
    me = host.process_id()
    assert me is not None
    assert not host.is_alive(dataclasses.replace(me, started=me.started - 100))
    assert not host.is_alive(dataclasses.replace(me, boot="another"))


def test_the_machine_has_a_name_cores_and_a_load() -> None:
    assert host.host_name() == os.uname().nodename
    assert host.cores() == len(os.sched_getaffinity(0))
    load = host.load_average()
    assert load is not None
    assert load >= 0
