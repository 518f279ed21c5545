"""Runs a rewritten notebook in forks of one process that has TensorFlow loaded.

python notebook_child.py MAKE_IMAGES FOLDER ARGUMENTS...

makes the pictures that the notebook reads in FOLDER, and then runs it there once for
each of ARGUMENTS, lists (as JSON) of what the instrument of such programs is given.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from collections.abc import Callable

import tensorflow
import tf_keras  # noqa: F401  loaded once for all forks
from tfmigrate.verify.instruments import module_program


def in_fork(job: Callable[[], int]) -> None:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = job()
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(f"a fork ended with status {status}")


def make_images(script: str) -> int:
    tensorflow.compat.v1.disable_eager_execution()
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
    return 0


def main(script: str, folder: str, runs: list[str]) -> None:
    os.chdir(folder)
    in_fork(lambda: make_images(script))
    for run in runs:
        arguments = json.loads(run)
        in_fork(lambda arguments=arguments: module_program.main(arguments))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
