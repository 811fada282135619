"""Adds up the files of a folder, compressed one by one with gzip."""

import gzip
import json
import sys
from pathlib import Path


def main(output: str, folder: str, *endings: str) -> None:
    """Ends with a sentence where there is nothing to count; a link counts as what it points to."""
    found = sorted(path for path in Path(folder).rglob("*") if path.is_file() and path.suffix in endings)
    if not found:
        sys.exit(f"Expected files that end in {', '.join(endings)} below {folder}, found none: was it built?")
    texts = [path.read_bytes() for path in found]
    result = {
        "primaryMetric": {"name": "bundle_kb", "value": sum(len(gzip.compress(text, 9, mtime=0)) for text in texts) / 1024},
        "secondaryMetrics": {"raw_kb": sum(map(len, texts)) / 1024, "files": len(texts)},
    }
    Path(output).write_text(json.dumps(result) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
