import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from runner.signals import CAUGHT, Cancel, listening

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("number", CAUGHT)
def test_once_means_soon(number: signal.Signals) -> None:
    with listening() as cancel:
        os.kill(os.getpid(), number)
        assert cancel == Cancel(cancel.soon, cancel.now, number)
        assert (cancel.soon.is_set(), cancel.now.is_set()) == (True, False)


@pytest.mark.parametrize(
    "numbers", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT), (signal.SIGHUP, signal.SIGTERM)]
)
def test_twice_means_now_and_the_first_is_remembered(numbers: tuple[int, int]) -> None:
    with listening() as cancel:
        for number in numbers:
            os.kill(os.getpid(), number)
        assert (cancel.soon.is_set(), cancel.now.is_set(), cancel.signal) == (True, True, numbers[0])


def test_a_terminal_that_closes_hangs_up_twice_and_means_soon() -> None:
    with listening() as cancel:
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGHUP)
        assert (cancel.soon.is_set(), cancel.now.is_set()) == (True, False)
        os.kill(os.getpid(), signal.SIGTERM)
        assert cancel.now.is_set()


def test_the_handlers_before_are_put_back_whatever_happens() -> None:
    before = [signal.getsignal(number) for number in CAUGHT]
    with pytest.raises(ZeroDivisionError), listening():
        raise ZeroDivisionError
    assert [signal.getsignal(number) for number in CAUGHT] == before


def test_what_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with listening() as cancel:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not cancel.soon.is_set()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_signals_during_clean_up_do_not_interrupt_it() -> None:
    cleans = textwrap.dedent("""
        import os, signal, time
        from runner.signals import listening
        with listening() as cancel:
            print("ready", flush=True)
            try:
                cancel.now.wait(20)
            finally:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.2)
                print("clean", cancel.signal, flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", cleans], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGTERM)
        assert child.stdout.read() in (b"clean 2\n", b"clean 15\n")
        assert child.stderr.read() == b"stopping after this step; once more stops now\n"
        assert child.wait(20) == 0
