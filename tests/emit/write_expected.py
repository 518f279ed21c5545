"""Write fixtures/expected anew, and the pages of docs that show it.

    python tests/emit/write_expected.py

Read the difference before you commit it: these files are what users get.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "fixtures"


def main() -> None:
    """Rewrite every legacy program into fixtures/expected, then show it."""
    expected = FIXTURES / "expected"
    shutil.rmtree(expected, ignore_errors=True)
    command = [sys.executable, "-m", "tfmigrate", "rewrite", str(FIXTURES / "legacy")]
    subprocess.run([*command, "--out", str(expected)], check=False)
    for page in ("write_examples.py", "write_tiers.py"):
        subprocess.run([sys.executable, str(HERE / page)], check=True)


if __name__ == "__main__":
    main()
