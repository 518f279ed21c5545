"""Reads the run directory of a production training: event files, checkpoints.

What TensorFlow wrote is read by TensorFlow, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ..errors import UserError
from .recording import Recording, load_recording


def record_run_directory(path: Path, folder: Path) -> Recording:
    """Turn what a run directory holds into a recording under ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", f"{__package__}.instruments.run_directory"]
    result = subprocess.run(
        [*command, "--out", str(folder), str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        raise UserError(f"{path}: {lines[-1] if lines else 'cannot be read'}")
    return load_recording(folder)
