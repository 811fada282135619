"""Takes the numbers of a page out of a Lighthouse report."""

import json
import sys
from pathlib import Path

AUDITS = {"lcp_ms": "largest-contentful-paint", "tbt_ms": "total-blocking-time", "cls": "cumulative-layout-shift"}


def main(report: str, output: str) -> None:
    """Ends with a sentence where the page was not loaded or a number is missing."""
    try:
        seen = json.loads(Path(report).read_text(encoding="utf-8"))
    except (OSError, ValueError) as trouble:
        sys.exit(f"Expected a Lighthouse report in {report}, found none that can be read: {trouble}")
    if seen.get("runtimeError"):
        sys.exit(f"Lighthouse could not load the page: {seen['runtimeError'].get('message')}")
    numbers = {name: seen["audits"].get(audit, {}).get("numericValue") for name, audit in AUDITS.items()}
    numbers["score"] = seen["categories"]["performance"]["score"]
    missing = [name for name, value in numbers.items() if value is None]
    if missing:
        sys.exit(f"The report holds no {', '.join(missing)}: the page may not have painted.")
    result = {"primaryMetric": {"name": "lcp_ms", "value": numbers.pop("lcp_ms")}, "secondaryMetrics": numbers}
    Path(output).write_text(json.dumps(result) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
