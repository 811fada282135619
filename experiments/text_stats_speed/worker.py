"""The process that holds the code under test: one request a line comes in, one answer a line goes out."""

import json
import os
import sys


def main() -> None:
    """Answers go to a copy of standard output; what the code under test prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109  # the code to measure is the one here, not one beside this file
    from text_stats import report

    for line in sys.stdin:
        answers.write(json.dumps(report(*json.loads(line))) + "\n")
    answers.close()


if __name__ == "__main__":
    main()
