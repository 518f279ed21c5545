"""Imports every module of a package, each in a fork of one process.

tfmigrate run tests/packages/imports.py -- FOLDER MODULE
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
from pathlib import Path

_SECONDS = 60


def modules(folder: Path, name: str) -> list[str]:
    """Dotted names below the package, without tests and programs that start at once."""
    found = []
    for file in sorted((folder / name).rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        if re.search(r"(^|_)tests?$|^tests?_|^setup$|^__main__$|conftest", parts[-1]):
            continue
        if any(part in ("test", "tests", "testing") for part in parts):
            continue
        found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def attempt(module: str) -> str:
    """One line about one import."""
    signal.alarm(_SECONDS)
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        lacking = (error.name or "").partition(".")[0]
        if lacking not in ("tensorflow", module.partition(".")[0], ""):
            return f"IMPORT lacks {module} {lacking}"
        return f"IMPORT failed {module} ModuleNotFoundError: {error}"
    except BaseException as error:
        text = str(error).strip().splitlines() or [""]
        return f"IMPORT failed {module} {type(error).__name__}: {text[0][:160]}"
    return f"IMPORT ok {module}"


def main() -> None:
    """Each import in a process that has nothing but TensorFlow."""
    folder, name = sys.argv[1:]
    importlib.import_module("tensorflow")
    for module in modules(Path(folder), name):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            line = attempt(module)
            print(f"\n{line}", flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(f"\nIMPORT failed {module} ended by signal {status & 127}")


if __name__ == "__main__":
    main()
