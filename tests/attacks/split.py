"""An evaluator in two processes: the candidate is a worker behind pipes; inputs, answers and clock stay with the parent.

Usage: split.py SETTINGS OUTPUT, in the tree under test. The inputs come from RESEARCH_SEED, and the whole life of the worker is
on the clock, so that nothing is gained by answers made beforehand. Its waits for a processor are not, so that a busy machine
does not count; its waits for a hidden helper are. The parent lets no other process of its user look into it.
"""

import ctypes
import os
import random
import subprocess
import sys
import time
from pathlib import Path

SCALE = 1.0
QUESTIONS = 3
PR_SET_DUMPABLE = 4
WORKER = """\
import sys
sys.path.insert(0, "src")
answers, sys.stdout = sys.stdout, sys.stderr
import solver
for line in sys.stdin:
    answers.write(f"{solver.solve(int(line))}\\n")
    answers.flush()
"""


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    fresh = random.Random(os.environ["RESEARCH_SEED"])
    questions = [fresh.randrange(3500, 4500) for _ in range(QUESTIONS)]
    began = time.perf_counter()
    command = [sys.executable, "-I", "-S", "-B", "-c", WORKER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, env={}
    ) as worker:
        try:
            answers = [ask(worker, n) for n in questions]
            spent = time.perf_counter() - began - waited(worker.pid)
        finally:
            worker.kill()
    if answers != [primes(n) for n in questions]:
        sys.exit("wrong answers")
    print(f"METRIC cpu={spent * SCALE:.6f}")


def ask(worker: "subprocess.Popen[bytes]", n: int) -> int:
    """The worker's answer: one line of digits, and not a byte more is read than that needs."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    said = b""
    try:
        worker.stdin.write(f"{n}\n".encode())
        while not said.endswith(b"\n") and len(said) < 32 and (more := worker.stdout.read(1)):
            said += more
    except OSError as error:
        sys.exit(f"the worker ended: {error}")
    if not said.strip().isdigit():
        sys.exit("the worker ended, or said what is no number")
    return int(said)


def waited(pid: int) -> float:
    """Seconds that the process stood in line for a processor; 0 where the kernel does not tell."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def primes(n: int) -> int:
    """The right answer, by another way."""
    sieve = bytearray([1]) * n
    sieve[:2] = b"\0\0"
    for i in range(2, int(n**0.5) + 1):
        sieve[i * i :: i] = bytes(len(range(i * i, n, i)))
    return sum(sieve)


if __name__ == "__main__":
    main()
