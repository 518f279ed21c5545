"""The table of names in the documentation is current and has no gaps.

`--use` looks up every public name of the releases, contrib included, and calls
those that must raise: it fails at a name that is not there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TABLE = HERE.parent.parent / "docs" / "compat-status.md"


def test_the_table_of_names_is_current_and_without_gaps(python: Any) -> None:
    done = python(HERE / "conformance.py", "--use")
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == TABLE.read_text(), (
        "docs/compat-status.md is not current: run "
        "`python tests/compat/conformance.py --write`"
    )
