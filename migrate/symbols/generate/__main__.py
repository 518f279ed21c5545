"""``python -m tfmigrate.symbols.generate --tf1 PY --tf112 PY --tf2 PY --tables PY``.

Introspects a real TF 1.15, 1.12 and 2.21, reads the rename tables of TF 2.15's
upgrade script, and writes the tables under ``migrate/symbols/data``. Each
interpreter may also be given as a JSON file that its script printed earlier; the
list of private modules that both have is then left as it is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

from .build import build_table

HERE = Path(__file__).parent
DATA = HERE.parent / "data"


def printed(interpreter: str, script: str) -> str:
    """What a script prints under an interpreter."""
    return subprocess.run(
        [interpreter, str(HERE / script)],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout


def listing(source: str, script: str) -> dict[str, Any]:
    """What a script prints under an interpreter, or a saved listing."""
    if source.endswith(".json"):
        text = Path(source).read_text("utf-8")
    else:
        text = printed(source, script)
    result: dict[str, Any] = json.loads(text)
    return result


def write(name: str, value: object) -> None:
    """Write a table with one entry a line, so that changes are reviewable."""
    if isinstance(value, dict):
        lines = [
            f"{json.dumps(key)}: {_section(item)}"
            for key, item in sorted(value.items())
        ]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
    else:
        text = json.dumps(value)
    (DATA / name).write_text(text, "utf-8")


def _section(value: object) -> str:
    if isinstance(value, dict) and value:
        lines = [
            f" {json.dumps(key)}: {json.dumps(item)}"
            for key, item in sorted(value.items())
        ]
        return "{\n" + ",\n".join(lines) + "\n}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f" {json.dumps(item)}" for item in value) + "\n]"
    return json.dumps(value)


def merged(old: dict[str, Any], older: dict[str, Any]) -> dict[str, Any]:
    """TF 1.15's symbols, and those of TF 1.12 that were gone by then."""
    result: dict[str, Any] = dict(old["symbols"])
    offset = 1 + max(entry.get("same", 0) for entry in result.values())
    for name, entry in older["symbols"].items():
        if name not in result:
            if "same" in entry:
                entry["same"] += offset
            result[name] = entry
    return result


def main() -> None:
    """Regenerate every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tf1", required=True, help="python with TF 1.15")
    parser.add_argument("--tf112", required=True, help="python with TF 1.12")
    parser.add_argument("--tf2", required=True, help="python with TF 2.21")
    parser.add_argument("--tables", required=True, help="python with TF 2.15")
    options = parser.parse_args()
    old = listing(options.tf1, "introspect.py")
    new = listing(options.tf2, "introspect.py")
    tables = listing(options.tables, "upgrade_tables.py")
    last = listing(options.tables, "introspect.py")
    write("private.json", {"tensorflow": old["version"], "names": old["private"]})
    older = listing(options.tf112, "introspect.py")
    table = build_table(merged(old, older), new["symbols"], tables, last["symbols"])
    if not any(source.endswith(".json") for source in (options.tf1, options.tf2)):
        before = set(listing(options.tf1, "modules.py")["modules"])
        now = listing(options.tf2, "modules.py")["modules"]
        text = "".join(f"{name}\n" for name in now if name in before)
        (DATA / "modules.txt").write_text(text, "utf-8")
        surface = printed(options.tf2, "surface.py")
        (DATA / "surface.txt").write_text(surface, "utf-8")
    write("symbols.json", {"from": old["version"], "to": new["version"], **table})


if __name__ == "__main__":
    main()
