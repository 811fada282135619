"""A model in small."""

import sys
from pathlib import Path

inputs, predictions = map(Path, sys.argv[1:])
rows = [line.split("\t") for line in inputs.read_text(encoding="utf-8").splitlines()]
labels = [f"{name}\t{'positive' if 'good' in text else 'negative'}\n" for name, text in rows]
predictions.write_text("".join(labels), encoding="utf-8")
