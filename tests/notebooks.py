"""The notebooks of the documentation, executed from top to bottom.

    python -m tests.notebooks      writes their outputs and pictures anew

A line that begins with `!` is a command, as in Jupyter; the code between them is run
in one process.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent / "docs" / "notebooks"


def executed(path: Path, folder: Path) -> dict[str, Any]:
    """A notebook with the outputs of a run in a folder; raises where a cell fails."""
    notebook: dict[str, Any] = json.loads(path.read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd(), dict(os.environ)
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "COLUMNS": "88", "MPLBACKEND": "Agg"}
    os.chdir(folder)
    try:
        for number, cell in enumerate(notebook["cells"]):
            if cell["cell_type"] == "code":
                cell["execution_count"] = number
                cell["outputs"] = [*_run("".join(cell["source"]), names)]
    finally:
        os.chdir(before[0])
        os.environ.clear()
        os.environ.update(before[1])
    return notebook


def _run(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in re.split(r"(?m)^(!.*\n?)", code):
            if block.startswith("!"):
                print(_command(block[1:].strip()), end="")
            else:
                exec(compile(block, "cell", "exec"), names)
    text = re.sub(r"/\S*/(?=legacy\.py|new/|exported)", "", printed.getvalue())
    lines = text.splitlines(keepends=True)
    found = (
        [{"output_type": "stream", "name": "stdout", "text": lines}] if lines else []
    )
    return [*found, *_pictures()]


def _command(command: str) -> str:
    done = subprocess.run(
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        executable="/bin/bash",
    )
    return done.stdout


def _pictures() -> list[dict[str, Any]]:
    plots = sys.modules.get("matplotlib.pyplot")
    found = []
    for number in plots.get_fignums() if plots else ():
        picture = io.BytesIO()
        plots.figure(number).savefig(picture, format="png", dpi=64, bbox_inches="tight")
        plots.close(number)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        found.append({"output_type": "display_data", "data": data, "metadata": {}})
    return found


if __name__ == "__main__":
    for each in sorted(NOTEBOOKS.glob(sys.argv[1] if sys.argv[1:] else "*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            made = executed(each, Path(folder))
        each.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
