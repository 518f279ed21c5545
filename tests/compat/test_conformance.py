"""The table of names in the documentation is current and has no gaps.

`--use` looks up every public name of the releases, contrib included, and calls
those that must raise: it fails at a name that is not there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE.parent.parent / "docs" / "compat-status.md"


def test_the_table_of_names_is_current_and_without_gaps() -> None:
    done = subprocess.run(
        [sys.executable, HERE / "conformance.py", "--use"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == TABLE.read_text(), (
        "docs/compat-status.md is not current: run "
        "`python tests/compat/conformance.py --write`"
    )
