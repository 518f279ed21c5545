"""Reads the run directory of a production training: event files, checkpoints.

What TensorFlow wrote is read by TensorFlow, in a process of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..errors import UserError
from .recording import Recording, load_recording
from .runner import last_line, run_process


def record_run_directory(path: Path, folder: Path) -> Recording:
    """Turn what a run directory holds into a recording under ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", f"{__package__}.instruments.run_directory"]
    command += ["--out", str(folder), str(path)]
    log = folder / "reading.log"
    if run_process(command, log, None, {}, None) != 0:
        raise UserError(f"{path}: {last_line(log) or 'cannot be read'}")
    return load_recording(folder)
