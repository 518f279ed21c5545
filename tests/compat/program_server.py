"""Runs legacy programs in forks of one process that has TensorFlow loaded.

    tfmigrate run program_server.py

Loading TensorFlow takes longer than most of the programs do. This process loads
it under ``tfmigrate run``, starts nothing with it, and then reads one job a line
from stdin: each runs in a fork, which has everything to itself. Its answer, a
line of JSON, holds the exit status and the seconds of processor time.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import traceback
from typing import Any

import tensorflow  # noqa: F401  the clone of TF 1.15: this is under `tfmigrate run`
from tfmigrate.compat.engine.devices import configure_replicas
from tfmigrate.compat.launcher import execute

# By a call: who names it in an import is written for TensorFlow 2.
importlib.import_module("tf_keras")


def _instrument(path: str, arguments: list[str]) -> None:
    spec = importlib.util.spec_from_file_location("legacy_program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(arguments)


def _run(job: dict[str, Any]) -> None:
    if job["replicas"]:
        configure_replicas(job["replicas"])
    if job["instrument"]:
        _instrument(job["instrument"], job["command"])
    else:
        execute.run_path(job["command"][0], job["command"][1:])


def _child(job: dict[str, Any]) -> int:
    with open(job["log"], "ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    status = 0
    try:
        _run(job)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def main() -> None:
    """Answer jobs until stdin ends."""
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            # Without the interpreter's own end: threads that a fork does not
            # have are waited for there.
            os._exit(_child(job))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _, code = os.waitpid(child, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        answer = {"status": os.waitstatus_to_exitcode(code), "seconds": seconds}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
