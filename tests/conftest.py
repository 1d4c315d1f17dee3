"""Which fixtures there are: one module each, beside this one."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the importlib mode of pytest adds nothing

pytest_plugins = ["fix_db", "fix_braid", "fix_django"]
