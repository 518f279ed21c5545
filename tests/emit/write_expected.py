"""Write fixtures/expected anew: the rewrites of fixtures/legacy.

    python tests/emit/write_expected.py

Read the difference before you commit it: these files are what users get.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def main() -> None:
    """Rewrite every legacy program into fixtures/expected."""
    expected = FIXTURES / "expected"
    shutil.rmtree(expected, ignore_errors=True)
    command = [sys.executable, "-m", "tfmigrate", "rewrite", str(FIXTURES / "legacy")]
    subprocess.run([*command, "--out", str(expected)], check=False)


if __name__ == "__main__":
    main()
