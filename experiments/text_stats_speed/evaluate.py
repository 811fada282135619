"""Measures the code under test from outside: fresh texts in, processor time read off the process, answers checked last."""

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # isolated mode leaves the script's own directory out

import reference
import walls

ROUNDS = 3
"""Workers a measurement, each with texts and a hash seed of its own: where a process happens to lie in memory averages out."""
TEXTS = 18
WORDS = 900
VOCABULARY = 1100
TIMEOUT_S = 20

Request = tuple[str, str]


def main(arguments: Sequence[str]) -> None:
    """Measures the package in the current directory and writes the result."""
    if len(arguments) != 1 or not os.environ.get("RESEARCH_SEED", "").isdigit():
        sys.exit("Expected OUTPUT_JSON as the one argument, and RESEARCH_SEED in the environment.")
    walls.shut()
    chance = random.Random(int(os.environ["RESEARCH_SEED"]))
    seconds = sum(measured(requests(chance), chance.randrange(1 << 32)) for _ in range(ROUNDS)) / ROUNDS
    result = {"primaryMetric": {"name": "cpu_ms", "value": 1000 * seconds}}
    Path(arguments[0]).write_text(json.dumps(result) + "\n", encoding="utf-8")


def requests(chance: random.Random) -> list[Request]:
    """Texts that nobody has seen before, always of the same size."""
    vocabulary = [_word(chance) for _ in range(VOCABULARY)]
    weights = [1 / (rank + 3) for rank in range(VOCABULARY)]
    texts = [_text(chance, chance.choices(vocabulary, weights, k=WORDS)) for _ in range(TEXTS + 1)]
    return list(zip(texts[1:], texts, strict=False))


def _word(chance: random.Random) -> str:
    parts = chance.choices(["ba", "ce", "di", "fo", "gu", "hy", "lan", "mer", "nis", "tor", "stu", "'qa", "eau", "ke"], k=3)
    return "".join(parts).strip("'")


def _text(chance: random.Random, words: list[str]) -> str:
    """The words as sentences of 4 to 18."""
    said, sentence = [], chance.randint(4, 18)
    for place, word in enumerate(words):
        sentence -= 1
        last = sentence == 0 or place == len(words) - 1
        said.append(word + (chance.choice([".", ".", "!", "?"]) if last else chance.choice(["", "", "", ",", " -"])))
        sentence = sentence or chance.randint(4, 18)
    return " ".join(said).capitalize()


def measured(asked: Sequence[Request], hash_seed: int) -> float:
    """The processor seconds of one worker; ends this program where it did not answer everything rightly."""
    before = _used()
    worker = subprocess.Popen(
        [sys.executable, "-P", "-s", "-S", "-B", str(Path(__file__).with_name("worker.py"))],
        env={"PATH": os.defpath, "PYTHONHASHSEED": str(hash_seed)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=walls.single(),
    )
    try:
        said, complaint = worker.communicate("".join(f"{json.dumps(pair)}\n" for pair in asked).encode(), TIMEOUT_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        sys.exit(f"The code under test gave no complete answer within {TIMEOUT_S} seconds.")
    seconds = _used() - before
    if worker.returncode:
        sys.exit(f"The code under test ended with {worker.returncode}: {complaint.decode('utf-8', 'replace').strip()[-300:]}")
    check(asked, said)
    return seconds


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check(asked: Sequence[Request], said: bytes) -> None:
    """Holds each answer against the reference, which is asked only now."""
    lines = said.splitlines()
    if len(lines) != len(asked):
        sys.exit(f"Expected {len(asked)} answers, found {len(lines)}.")
    for number, (pair, line) in enumerate(zip(asked, lines, strict=True), 1):
        try:
            found = json.loads(line)
        except ValueError:
            sys.exit(f"Answer {number} is not JSON: {line[:100]!r}")
        if trouble := reference.wrong(reference.answer(*pair), found):
            sys.exit(f"Answer {number} is wrong: {trouble}")


if __name__ == "__main__":
    main(sys.argv[1:])
