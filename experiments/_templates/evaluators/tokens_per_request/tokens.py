"""Adds up the usage in a log of requests."""

import json
import sys
from pathlib import Path

NAMES = {"input_tokens": ("input_tokens", "prompt_tokens"), "output_tokens": ("output_tokens", "completion_tokens")}


def main(log: str, requests: str, output: str) -> None:
    """Ends with a sentence where a request is missing or its usage unknown: an unknown number is not 0."""
    try:
        lines = [json.loads(line) for line in Path(log).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as trouble:
        sys.exit(f"Expected one JSON object a line in {log}: {trouble}")
    if len(lines) != int(requests):
        sys.exit(f"Expected {requests} requests in {log}, found {len(lines)}.")
    used = {name: sum(_tokens(number, line, keys) for number, line in enumerate(lines, 1)) for name, keys in NAMES.items()}
    means = {name: total / len(lines) for name, total in used.items()}
    result = {"primaryMetric": {"name": "tokens_per_request", "value": sum(means.values())}, "secondaryMetrics": means}
    Path(output).write_text(json.dumps(result) + "\n", encoding="utf-8")


def _tokens(number: int, line: object, keys: tuple[str, ...]) -> int:
    usage = line.get("usage") if isinstance(line, dict) else None
    found = [usage[key] for key in keys if isinstance(usage, dict) and isinstance(usage.get(key), int)]
    return found[0] if found else sys.exit(f"Request {number} has no {' or '.join(keys)} in its usage.")


if __name__ == "__main__":
    main(*sys.argv[1:])
