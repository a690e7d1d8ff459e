"""`python -m microgradpy`: the command line."""

from __future__ import annotations

import sys

from microgradpy.cli.main import main

sys.exit(main())
