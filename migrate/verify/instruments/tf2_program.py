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
import platform
import random
import runpy
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..matching import told_apart
from ..recording import Recording, save_recording
from .legacy_outside import Outside
from .legacy_patches import end_iterators_at_once
from .legacy_random import steady_random_operations
from .legacy_record import checkpoint_steps, exported_names
from .legacy_weights import drawn_weights


def parser() -> argparse.ArgumentParser:
    """Options of this instrument."""
    result = argparse.ArgumentParser(prog="tf2_program", description=__doc__)
    result.add_argument("--out", type=Path, required=True, help="recording's folder")
    result.add_argument("--replicas", type=int, help="replicas, on logical CPUs")
    result.add_argument("--steps", type=int, help="stop after so many steps")
    result.add_argument("--initial-weights", type=Path, help=".npz to start from")
    result.add_argument("--no-shuffle", action="store_true", help="data in file order")
    result.add_argument(
        "--steady-random",
        action="store_true",
        help="random operations draw the same numbers in every program",
    )
    result.add_argument("--seed", type=int, help="seed of every random generator")
    result.add_argument("--threads", type=int, help="threads inside one operation")
    result.add_argument(
        "--round-constants",
        action="store_true",
        help="decay rates of optimizers as float32, as TF 1.x had them",
    )
    result.add_argument("--path", type=Path, help="folder of the script's package")
    result.add_argument("--module", help="run the script as this module, as python -m")
    result.add_argument("--no-predictions", action="store_true")
    result.add_argument("script", type=Path)
    result.add_argument("args", nargs=argparse.REMAINDER)
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run, record, and say on the last line of stderr how it went."""
    options = parser().parse_args(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if options.replicas:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # replicas live on the CPU
    import tensorflow as tf

    from . import (
        tf2_constants,
        tf2_devices,
        tf2_files,
        tf2_metrics,
        tf2_probe,
        tf2_trainers,
    )
    from .legacy_start import StartingWeights

    if options.threads:
        tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    if options.replicas:
        tf2_devices.use_cpu_replicas(options.replicas)
    _load_kerases()
    if options.round_constants:
        tf2_constants.round_constants()
    starting = StartingWeights(options.initial_weights)
    probe = tf2_probe.Probe(steps=options.steps, starting=starting)
    metrics = tf2_metrics.MetricLog(probe)
    files = (options.out / "files").resolve()
    options.outside = Outside(options.out)
    trainers = tf2_trainers.Trainers(probe, files, options.outside.make)
    tf2_probe.install(probe)
    trainers.install()
    metrics.install()
    tf2_files.keep_files_apart(files, options.outside.make)
    _compile_without_xla(tf)
    end_iterators_at_once(tf)
    if options.no_shuffle:
        switch_shuffling_off(tf)
    if options.steady_random:
        steady_random_operations(tf, in_step=lambda: probe.site is not None)
    seed_everything(tf, options.seed)

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
    options.outside.leave()
    probe.finish()
    if failure is None and not probe.trainings:
        failure = "it trained nothing: no gradient was taken of any loss"
    if failure is not None:
        print(failure, file=sys.stderr)
        return 1
    recordings = [
        _recording(tf, options, probe, training, metrics.figures(number), trainers)
        for number, training in enumerate(probe.trainings)
    ]
    first, *further = recordings
    save_recording(replace(first, further=further), options.out)
    return 0


def _load_kerases() -> None:
    """Load both Kerases where installed, so that both can be watched."""
    for name in ("keras", "tf_keras"):
        with contextlib.suppress(ImportError):
            __import__(name)


def run_script(options: argparse.Namespace) -> None:
    """Run a program as ``__main__`` of this process."""
    from ..sides import program_text

    path = options.script.resolve()
    sys.argv = [str(options.script), *options.args]
    sys.path[0] = str(path.parent)
    if options.path is not None:
        sys.path.insert(1, str(options.path.resolve()))
    if options.module is not None:
        runpy.run_module(options.module, run_name="__main__", alter_sys=True)
        return
    source = program_text(path)
    module = type(sys)("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    name = str(path)
    if path.suffix == ".ipynb":
        # AutoGraph reads the source again: the cells, not the notebook's JSON.
        name += " (cells)"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), module.__dict__)


def switch_shuffling_off(tf: Any) -> None:
    """Let data come in the order in which they are stored."""

    def unshuffled(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        return dataset

    for cls in (tf.data.Dataset, tf.compat.v1.data.Dataset):
        cls.shuffle = unshuffled
        listing = cls.list_files

        def list_files(pattern: Any, *_: Any, _list: Any = listing, **__: Any) -> Any:
            return _list(pattern, shuffle=False)

        cls.list_files = staticmethod(list_files)

    def repeated(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
        return lambda dataset: dataset.repeat(count)

    for module in (tf.data.experimental, tf.compat.v1.data.experimental):
        module.shuffle_and_repeat = repeated


def _compile_without_xla(tf: Any) -> None:
    """Host callbacks cannot live in XLA clusters, so the hint is dropped."""
    function = tf.function

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("jit_compile", None)
        return function(*args, **kwargs)

    tf.function = plain


def seed_everything(tf: Any, seed: int | None) -> None:
    """Seed every generator that a program may draw from.

    Without a seed TensorFlow draws as it likes, but data that NumPy or Python shuffles
    come in the same order on both sides.
    """
    import numpy as np

    if seed is not None:
        tf.random.set_seed(seed)
        for name in ("keras", "tf_keras"):
            if name in sys.modules:
                sys.modules[name].utils.set_random_seed(seed)
    random.seed(seed or 0)
    np.random.seed(seed or 0)


def _recording(
    tf: Any,
    options: Any,
    probe: Any,
    training: Any,
    figures: Mapping[str, float],
    trainers: Any,
) -> Recording:
    """What is known of one training."""
    from .tf2_metrics import accuracy_name

    trained = trainers.of(training)
    evaluations = training.evaluations
    if evaluations:
        figures = evaluations[-1]
    files = options.out / "files"
    drawn = training.drawn or training.initial
    return Recording(
        program=str(options.script),
        producer={
            "tensorflow": tf.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "threads": options.threads,
        },
        replicas=training.replicas,
        losses=training.losses,
        global_step=training.global_step,
        evaluate=figures,
        accuracy_metric=accuracy_name(figures),
        initial_weights=training.initial,
        final_weights=training.final,
        predictions={} if options.no_predictions else trainers.predictions(training),
        complete=not probe.stopped,
        slots=training.slots,
        training=training.name,
        extra={
            "evaluations": evaluations,
            "written": options.outside.written(),
            "exports": exported_names([files]),
            "drawn": drawn_weights(
                told_apart([name for name, _ in drawn]), [value for _, value in drawn]
            ),
            "used": training.used,
            "trained": training.places_trained,
            "constants": training.constants,
            "paired": training.paired,
            "averages_of_all": True,
            "steady_random": options.steady_random,
            "ran_whole": not probe.stopped,
            "checkpoints": checkpoint_steps(trained.folder if trained else files),
        },
    )


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The program may have left threads and iterators behind; nothing is to be
    # gained from tearing them down one by one, and some never end.
    os._exit(status)
