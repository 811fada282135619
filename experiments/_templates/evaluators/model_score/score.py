"""Holds predictions against labels: the share that is right, as a whole and by task."""

import json
import sys
from pathlib import Path


def main(examples: str, predictions: str, output: str) -> None:
    """Ends with a sentence where a prediction is of no example or given twice; one that is missing is wrong."""
    known = {row[0]: row for row in _rows(examples)}  # id, input, label, task
    said: dict[str, str] = {}
    for row in _rows(predictions):
        if row[0] not in known or row[0] in said or len(row) != 2:
            sys.exit(f"Expected one line (id, tab, label) for each example, found {'  '.join(row)!r:.100}.")
        said[row[0]] = row[1]
    right = {name: said.get(name) == label for name, _, label, _ in known.values()}
    tasks = {task: [right[row[0]] for row in known.values() if row[3] == task] for task in sorted({r[3] for r in known.values()})}
    result = {
        "primaryMetric": {"name": "accuracy", "value": sum(right.values()) / len(right)},
        "secondaryMetrics": {"answered": len(said) / len(known)},
        "tasks": {task: sum(found) / len(found) for task, found in tasks.items()},
    }
    Path(output).write_text(json.dumps(result) + "\n", encoding="utf-8")


def _rows(path: str) -> list[list[str]]:
    try:
        return [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as trouble:
        sys.exit(f"Expected lines of text in {Path(path).name}: {trouble}")


if __name__ == "__main__":
    main(*sys.argv[1:])
