"""Measures a program's file, and its executable segments where it is an ELF file of 64 bits."""

import json
import struct
import sys
from pathlib import Path

LOAD, EXECUTABLE = 1, 1


def main(program: str, output: str) -> None:
    """Ends with a sentence where there is no program."""
    path = Path(program)
    if not path.is_file() or not path.stat().st_size:
        sys.exit(f"Expected a program at {program}, found none: was it built?")
    data = path.read_bytes()
    code = code_bytes(data)
    result = {
        "primaryMetric": {"name": "binary_kb", "value": len(data) / 1024},
        "secondaryMetrics": {} if code is None else {"code_kb": code / 1024},
    }
    Path(output).write_text(json.dumps(result) + "\n", encoding="utf-8")


def code_bytes(data: bytes) -> int | None:
    """The bytes of the file that are loaded to be executed; None for another format."""
    if data[:5] != b"\x7fELF\x02" or len(data) < 64:
        return None
    order = "<" if data[5] == 1 else ">"
    (table,) = struct.unpack_from(order + "Q", data, 32)
    width, count = struct.unpack_from(order + "HH", data, 54)
    if table + width * count > len(data):
        return None
    headers = [struct.unpack_from(order + "IIQQQQ", data, table + i * width) for i in range(count)]
    return sum(size for kind, flags, *_, size in headers if kind == LOAD and flags & EXECUTABLE)


if __name__ == "__main__":
    main(*sys.argv[1:])
