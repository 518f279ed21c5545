"""``python -m tfmigrate.symbols.generate --tf1 PYTHON --tf2 PYTHON``.

Introspects a real TF 1.15 and a real TF 2.21 and writes the tables under
``migrate/symbols/data``. The two interpreters may also be given as JSON files
that ``introspect.py`` printed earlier.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = HERE.parent / "data"


def introspect(source: str) -> dict[str, Any]:
    """The API of the TensorFlow behind an interpreter, or of a saved listing."""
    if source.endswith(".json"):
        text = Path(source).read_text("utf-8")
    else:
        text = subprocess.run(
            [source, str(HERE / "introspect.py")],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ).stdout
    listing: dict[str, Any] = json.loads(text)
    return listing


def write(name: str, value: object) -> None:
    """Write a table with one entry a line, so that changes are reviewable."""
    text = json.dumps(value, indent=0, sort_keys=True)
    (DATA / name).write_text(text + "\n", "utf-8")


def main() -> None:
    """Regenerate every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tf1", required=True, help="python with TF 1.15")
    parser.add_argument("--tf2", required=True, help="python with TF 2.21")
    options = parser.parse_args()
    old = introspect(options.tf1)
    write("private.json", {"tensorflow": old["version"], "names": old["private"]})
    names = sorted(old["symbols"])
    write("names.json", {"tensorflow": old["version"], "names": names})


if __name__ == "__main__":
    main()
