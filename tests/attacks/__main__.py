"""`python -m tests.attacks`: see table.py."""

import sys

from tests.attacks.table import main

sys.exit(main())
