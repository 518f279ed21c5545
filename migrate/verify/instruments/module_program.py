"""Run a program whose Estimators are those of its loop module, and record it.

    python -m tfmigrate.verify.instruments.module_program --out DIR SCRIPT [ARGS...]

Such a program says what the legacy program said, in the same words: `train` takes
hooks, and a hook sees every step. So the instrument is that of legacy programs, on
the classes of the module; where it reads and sets weights it goes to the module's
variables, which are TensorFlow 2's.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import random
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

from . import tf2_devices, tf2_files, tf2_weights
from .legacy_patches import Instrument
from .legacy_random import steady_random_operations
from .legacy_record import Record, log_calls, random_operations, write_recordings
from .legacy_start import StartingWeights
from .legacy_weights import base_name, drawn_weights, slot_names, weight_names
from .tf2_program import options_of, run_script, seed_everything, switch_shuffling_off

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run, record, and tell by the exit status how it went."""
    options = options_of(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if options.replicas:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # replicas live on the CPU
    import numpy as np
    import tensorflow as tf

    if options.threads:
        tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    if options.replicas:
        tf2_devices.use_cpu_replicas(options.replicas)
    seed = 0 if options.seed is None else options.seed
    random.seed(seed)
    np.random.seed(seed)
    if options.seed is not None:
        seed_everything(tf, options.seed)
    tf2_files.keep_files_apart(options.out / "files")
    if options.no_shuffle:
        switch_shuffling_off(tf)
    if options.steady_random:
        steady_random_operations(tf)  # type: ignore[no-untyped-call]
    instrument = ModuleInstrument(tf, options)
    instrument.install()
    failure: str | None = None
    try:
        run_script(options)
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            failure = f"the program exited with status {leaving.code}"
    except BaseException:
        failure = traceback.format_exc()
    trained = [record for record in instrument.records if record.losses]
    wanted: int | None = options.estimator
    if failure is None and len(trained) <= (wanted or 0):
        failure = f"it trained {len(trained)} estimators"
    if failure is not None:
        print(failure, file=sys.stderr)
        return 1
    if wanted is not None:
        trained = [trained[wanted]]
    write_recordings(tf, options, trained, instrument.export_bases)  # type: ignore[no-untyped-call]
    return 0


class ModuleInstrument(Instrument):
    """Watches the Estimator class of a loop module as soon as it is there."""

    def __init__(self, tf: Any, options: Any) -> None:
        self.tf, self.options = tf, options
        self.records: list[Record] = []
        self.export_bases: list[str] = []
        self.named: dict[str, str] = {}
        self.starting = StartingWeights(options.initial_weights)  # type: ignore[no-untyped-call]

    def install(self) -> None:
        """Wait for the class: the module may be a file or stand in the program."""
        build = builtins.__build_class__

        def watching(body: Any, name: str, *bases: Any, **keywords: Any) -> Any:
            made = build(body, name, *bases, **keywords)
            if is_estimator(made):
                self.watch(made)
            return made

        builtins.__build_class__ = watching  # type: ignore[assignment]

    def watch(self, estimator_class: Any) -> None:
        """Note what Estimators of this class are asked for."""
        self._watch_init(estimator_class)
        self._watch_train(estimator_class)
        if "evaluate" in vars(estimator_class):
            self._watch_evaluate(estimator_class)
        for name in ("export_saved_model", "export_savedmodel"):
            if name in vars(estimator_class):
                original = vars(estimator_class)[name]
                setattr(estimator_class, name, self.noting_exports(original))  # type: ignore[no-untyped-call]

    def _watch_init(self, estimator_class: Any) -> None:
        original = estimator_class.__init__
        files = (self.options.out / "files").resolve()

        def init(estimator: Any, *args: Any, **kwargs: Any) -> None:
            given: list[str] = []
            with noting_temporary_folders(given):
                original(estimator, *args, **kwargs)
            # Neither resumed from, nor left behind.
            apart = tf2_files.kept_apart(files, estimator.model_dir)
            if estimator.model_dir not in given:
                self.named[apart] = os.path.abspath(estimator.model_dir)
            estimator._config = estimator._config.replace(model_dir=apart)

        estimator_class.__init__ = init

    def _watch_train(self, estimator_class: Any) -> None:
        original, options = estimator_class.train, self.options

        def train(
            estimator: Any,
            input_fn: Any,
            hooks: Any = None,
            steps: Any = None,
            max_steps: Any = None,
            saving_listeners: Any = None,
        ) -> Any:
            record = self.record_of(estimator)  # type: ignore[no-untyped-call]
            if options.steps and record.global_step >= options.steps:
                return estimator
            watched = list(hooks or [])
            for hook in watched:
                log_calls(hook, record.hook_calls)  # type: ignore[no-untyped-call]
            start = None if record.losses else self.start_of(record)  # type: ignore[no-untyped-call]
            watched.append(_recording_hook(self.tf, record, start))
            if options.steps:
                stop = self.tf.compat.v1.train.StopAtStepHook(last_step=options.steps)
                watched.append(stop)
            record.input_fn = record.input_fn or input_fn
            strategy = estimator._config.train_distribute
            record.replicas = strategy.num_replicas_in_sync if strategy else 1
            return original(
                estimator,
                input_fn,
                hooks=watched,
                steps=steps,
                max_steps=max_steps,
                saving_listeners=saving_listeners,
            )

        estimator_class.train = train

    def _watch_evaluate(self, estimator_class: Any) -> None:
        original = estimator_class.evaluate

        def evaluate(estimator: Any, input_fn: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(estimator, input_fn, *args, **kwargs)
            record = self.record_of(estimator)  # type: ignore[no-untyped-call]
            record.evaluations.append(dict(result))
            record.input_fn = input_fn
            return result

        estimator_class.evaluate = evaluate


def is_estimator(made: Any) -> bool:
    """Whether a class is the Estimator of a loop module, and not a class of it."""
    own = set(vars(made))
    return bool(made.__name__ == "Estimator" and {"train", "call_model_fn"} <= own)


@contextlib.contextmanager
def noting_temporary_folders(made: list[str]) -> Iterator[None]:
    """Tell a model_dir that the program gave from one that stands in for none."""
    original = tempfile.mkdtemp

    def mkdtemp(*args: Any, **kwargs: Any) -> Any:
        made.append(original(*args, **kwargs))
        return made[-1]

    tempfile.mkdtemp = mkdtemp
    try:
        yield
    finally:
        tempfile.mkdtemp = original


def _recording_hook(tf: Any, record: Record, start: Any) -> Any:
    """A hook that gives the first weights and notes the loss of every step."""
    v1 = tf.compat.v1
    hook_class: Any = v1.train.SessionRunHook

    class RecordingHook(hook_class):
        def begin(self) -> None:
            # The loop adds the loss that it reports last.
            self.loss = v1.get_collection(v1.GraphKeys.LOSSES)[-1]
            record.draws = random_operations(self.loss)  # type: ignore[no-untyped-call]
            self.names = weight_names(v1)  # type: ignore[no-untyped-call]
            self.slots = slot_names(v1)  # type: ignore[no-untyped-call]
            self.step = base_name(v1.train.get_global_step())  # type: ignore[no-untyped-call]

        def held(self, session: Any, names: list[str]) -> list[tuple[str, Any]]:
            made = session.model.variables.by_name
            return [(name, made[name]) for name in names]

        def after_create_session(self, session: Any, coord: Any) -> None:
            # A metric that a model_fn makes while it trains is not the model's.
            made = session.model.variables.by_name
            self.names = [name for name in self.names if name in made]
            self.slots = [name for name in self.slots if name in made]
            if record.names is not None:
                return
            record.names = self.names
            held = self.held(session, self.names)
            with tf.init_scope():
                record.initial = [value for _, value in tf2_weights.read(held)]
                if int(session.model.global_step.numpy()) != 0:
                    return
                record.drawn = drawn_weights(self.names, record.initial)  # type: ignore[no-untyped-call]
                shapes = [value.shape for value in record.initial]
                given = start(self.names, shapes) if start is not None else None
                if given is not None:
                    named = [
                        (key.partition(":")[2], given[key]) for key in sorted(given)
                    ]
                    tf2_weights.assign(held, named)
                    record.initial = [value for _, value in tf2_weights.read(held)]

        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs(self.loss)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            record.losses.append(float(run_values.results))

        def end(self, session: Any) -> None:
            with tf.init_scope():
                held = tf2_weights.read(self.held(session, self.names))
                record.final = [value for _, value in held]
                record.slots = tf2_weights.read(self.held(session, self.slots))
                record.global_step = int(session.model.global_step.numpy())

    return RecordingHook()


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError):
        # As in tf2_program: what the program left behind need not be torn down.
        os._exit(status)
