"""Packages of the TF 1 era on compat: what imports, and what trains a step.

    python tests/packages/run.py SITE [--only NAME...] [--record] [--real PYTHON]

Each package of table.py is installed, without its dependencies, into a folder of its own
below SITE; the few that it cannot do without go into the same folder. Then every module
of it is imported, and a small program of programs/ builds an Estimator with it and
trains, both under `tfmigrate run`. With --real the program runs on the real TensorFlow
of that interpreter as well. --record keeps the figures in results.json and
writes the table of docs/published-packages.md.

Nothing of these packages is in this project, and its tests do not fetch them.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from table import PACKAGES, Package

HERE = Path(__file__).resolve().parent
RECORD = HERE / "results.json"
PAGE = HERE.parents[1] / "docs" / "published-packages.md"
BEGIN, END = "<!-- table of tests/packages -->", "<!-- end of the table -->"


def folder_of(package: Package, site: Path) -> Path:
    """Where it is installed; the name of the folder makes it an installed package."""
    return site / package.name / "site-packages"


def install(package: Package, site: Path) -> str | None:
    """The package in a folder of its own; a text where pip refuses it."""
    folder = folder_of(package, site)
    if folder.is_dir() and any(folder.iterdir()):
        return None
    wanted = [f"{package.name}=={package.version}", *package.needs]
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
    command += ["--ignore-requires-python", "--target", str(folder), *wanted]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


def run(
    package: Package, program: Path, arguments: list[str], folder: Path, limit: int
) -> Any:
    """One program under `tfmigrate run`, with the package on its path."""
    tfmigrate = str(Path(sys.executable).parent / "tfmigrate")
    command = [tfmigrate, "run", "--tf", package.tf, str(program), "--", *arguments]
    return start(command, folder, limit)


def start(command: list[str], folder: Path, limit: int) -> Any:
    """A process that finds the package, and has no accelerator."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    try:
        return subprocess.run(
            command,
            env=environment,
            cwd=folder.parent,
            capture_output=True,
            text=True,
            timeout=limit,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        text = f"ran for more than {limit} seconds"
        return subprocess.CompletedProcess(command, 124, "", text)


def imports(package: Package, folder: Path) -> dict[str, Any]:
    """What becomes of the modules, by the kind of their end."""
    found = run(
        package, HERE / "imports.py", [str(folder), package.module], folder, 400
    )
    rows = re.findall(r"^IMPORT (\S+) (\S+) ?(.*)$", found.stdout, re.M)
    kinds = collections.Counter(kind for kind, _, _ in rows)
    failed = {name: text for kind, name, text in rows if kind == "failed"}
    lacking = {text for kind, _, text in rows if kind == "lacks"}
    return {
        "modules": len(rows),
        "imported": kinds["ok"],
        "lack another package": kinds["lacks"],
        "lacking": sorted(lacking),
        "failed": failed or (last_line(found) if found.returncode else {}),
    }


def trained(package: Package, folder: Path, python: str | None) -> dict[str, Any]:
    """Whether the program came to its end, and the losses that it printed."""
    program = HERE / "programs" / f"use_{package.module}.py"
    if not program.is_file():
        return {}
    if python is None:
        done = run(package, program, [], folder, 400)
    else:
        done = start([python, str(program)], folder, 400)
    losses = re.findall(r"^TRAINED (\S+) (\S+)$", done.stdout, re.M)
    if done.returncode or not losses:
        return {"ends": last_line(done)}
    return {"steps": int(losses[-1][0]), "loss": losses[-1][1]}


def last_line(done: Any) -> str:
    """What a process said last."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else f"ended with {done.returncode}"


def table(results: dict[str, Any]) -> str:
    """The table of the page."""
    lines = [
        "| package | modules that import | trains | what does not |",
        "|---|---|---|---|",
    ]
    for package in PACKAGES:
        row = results.get(package.name)
        if row is None:
            continue
        modules = row["imports"]
        could = modules["modules"] - modules["lack another package"]
        trains = row["trains"]
        what = f"{trains['steps']} steps" if "steps" in trains else "no"
        real = row.get("real", {})
        if "loss" in real and "loss" in trains:
            same = abs(float(real["loss"]) - float(trains["loss"])) < 1e-4
            what += ", loss as on TF 1.15.5" if same else ", loss differs"
        left = [package.remark] if package.remark else []
        if "ends" in trains:
            left.append(f"`{trains['ends']}`")
        if modules["lack another package"]:
            names = ", ".join(modules["lacking"][:6])
            left.append(f"{modules['lack another package']} modules ask for {names}")
        failed = modules["failed"]
        if isinstance(failed, dict):
            causes = collections.Counter(failed.values())
            left += [f"{n} x `{text}`" for text, n in causes.most_common(3)]
        else:
            left.append(f"`{failed}`")
        lines.append(
            f"| {package.name} {package.version} | {modules['imported']} of {could} "
            f"| {what} | {'; '.join(left).replace('|', '/')} |"
        )
    return "\n".join(lines)


def write_page(results: dict[str, Any]) -> None:
    """Replace the table of the page."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(results)}\n{END}{after}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path, help="folder to install into")
    parser.add_argument("--only", nargs="*", help="names of packages")
    parser.add_argument("--real", help="interpreter with the real TF 1.15")
    parser.add_argument("--record", action="store_true", help="write the figures")
    options = parser.parse_args()
    site: Path = options.site.resolve()
    site.mkdir(parents=True, exist_ok=True)
    results = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    for package in PACKAGES:
        if options.only and package.name not in options.only:
            continue
        refused = install(package, site)
        if refused is not None:
            print(f"{package.name}: {refused}", flush=True)
            continue
        folder = folder_of(package, site)
        row = {
            "imports": imports(package, folder),
            "trains": trained(package, folder, None),
        }
        if options.real:
            row["real"] = trained(package, folder, options.real)
        elif "real" in results.get(package.name, {}):
            row["real"] = results[package.name]["real"]
        results[package.name] = row
        print(package.name, json.dumps(row, indent=1), flush=True)
        if options.record:
            RECORD.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
            write_page(results)


if __name__ == "__main__":
    main()
