"""Runs many small programs from one process that has TensorFlow loaded already.

    python forked.py JOBS.json

Each job is a list: the log's path, the module of an instrument, its arguments.
A job runs in a fork, so that it may patch TensorFlow as it likes; importing
TensorFlow once saves most of the time that small programs take.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import tensorflow  # noqa: F401
import tf_keras  # noqa: F401


def _arm_at_once() -> None:
    """The clone of TF 1.15 waits for TensorFlow's import, which is behind us."""
    from tfmigrate.compat.launcher import trigger

    def arm(settings: Any) -> None:
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        trigger.prepare_tensorflow(settings)

    trigger.arm = arm


def run(log: str, module: str, arguments: list[str]) -> int:
    """One job in a process of its own; its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        stream = os.open(log, os.O_WRONLY | os.O_CREAT)
        os.dup2(stream, 1)
        os.dup2(stream, 2)
        _arm_at_once()
        status = int(importlib.import_module(module).main(arguments) or 0)
    except SystemExit as leaving:
        status = int(leaving.code or 0) if isinstance(leaving.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Run the jobs one by one; the exit status tells whether all succeeded."""
    jobs = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    states = [run(*job) for job in jobs]
    sys.exit(max(states, default=0))


if __name__ == "__main__":
    main()
