"""A benchmark in small."""

import sys

sys.stdout.write(f"{sum(range(100))}\n")
