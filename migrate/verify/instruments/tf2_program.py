"""Run a plain TF2 training script unedited and leave a recording of it.

    python -m tfmigrate.verify.instruments.tf2_program --out DIR SCRIPT [ARGS...]

The script is run as ``__main__`` in this process, whose TensorFlow is watched
and, where asked, steadied: shuffling off, replicas on the CPU, initial weights
given, a fixed number of steps.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import linecache
import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .legacy_outside import Outside
from .legacy_patches import steady
from .legacy_program import common_parser, enter
from .legacy_record import write_recordings
from .legacy_start import StartingWeights


def main(argv: Sequence[str] | None = None) -> int:
    """Run, record, and say on the last line of stderr how it went."""
    parser = common_parser("Run an unedited TF2 program and record its training.")
    parser.add_argument(
        "--round-constants",
        action="store_true",
        help="decay rates of optimizers as float32, as TF 1.x had them",
    )
    options = parser.parse_args(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if options.replicas:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # replicas live on the CPU
    import tensorflow as tf

    from . import tf2_devices, tf2_files, tf2_metrics, tf2_probe, tf2_slots
    from .tf2_trainers import Trainers
    from .tf2_weights import kerases

    if options.threads:
        tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    if options.replicas:
        tf2_devices.use_cpu_replicas(options.replicas)
    # Both where installed, so that both can be watched.
    for name in ("keras", "tf_keras"):
        with contextlib.suppress(ImportError):
            __import__(name)
    if options.round_constants:
        tf2_slots.round_constants()
    starting = StartingWeights(options.initial_weights)
    probe = tf2_probe.Probe(steps=options.steps, starting=starting)
    metrics = tf2_metrics.MetricLog(probe)
    files = Path(options.out, "files").resolve()
    outside = options.outside = Outside(options.out)
    tf2_probe.install(probe)
    Trainers(probe, files, outside.make).install()
    metrics.install()
    tf2_files.keep_files_apart(files, outside.make)
    _compile_without_xla(tf)
    steady(tf, options, in_step=lambda: probe.site is not None)
    if options.seed is not None:
        for library in kerases():
            library.utils.set_random_seed(options.seed)

    failure: str | None = None
    try:
        with tf.variable_creator_scope(probe.log.creator):
            run_script(options)
    except SystemExit as leaving:
        if leaving.code not in (None, 0) and not probe.stopped:
            failure = f"the program exited with status {leaving.code}"
    except BaseException:
        # Stopping between two steps surfaces as an error in the program.
        if not probe.stopped:
            failure = probe.problem or traceback.format_exc()
    outside.leave()
    probe.finish()
    if failure is None and not probe.trainings:
        failure = "it trained nothing: no gradient was taken of any loss"
    if failure is not None:
        print(failure, file=sys.stderr)
        return 1
    for number, training in enumerate(probe.trainings):
        training.finish(metrics.figures(number), ran_whole=not probe.stopped)
        training.files = training.files or files
    write_recordings(tf, options, probe.trainings, [files])
    return 0


def run_script(options: argparse.Namespace) -> None:
    """Run a program as ``__main__`` of this process."""
    from ..sides import program_text

    enter(options)
    if options.module is not None:
        runpy.run_module(options.module, run_name="__main__", alter_sys=True)
        return
    path = Path(options.script).resolve()
    source = program_text(path)
    module = type(sys)("__main__")
    module.__file__ = name = str(path)
    sys.modules["__main__"] = module
    if path.suffix == ".ipynb":
        # AutoGraph reads the source again: the cells, not the notebook's JSON.
        name += " (cells)"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), module.__dict__)


def _compile_without_xla(tf: Any) -> None:
    """Host callbacks cannot live in XLA clusters, so the hint is dropped."""
    function = tf.function

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("jit_compile", None)
        return function(*args, **kwargs)

    tf.function = plain


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The program may have left threads and iterators behind; nothing is to be
    # gained from tearing them down one by one, and some never end.
    os._exit(status)
