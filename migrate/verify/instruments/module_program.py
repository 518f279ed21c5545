"""Run a program whose Estimators are those of its loop module, and record it.

    python -m tfmigrate.verify.instruments.module_program --out DIR SCRIPT [ARGS...]

The instrument looks at two classes of the module: its Estimator, for what the program
asks of it, and its loop, which it lets take each step by itself. A module that was made
for a program without hooks takes none.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import inspect
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
from .legacy_weights import drawn_weights, slot_names, weight_names
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
        # Of the Estimator that trains now.
        self.training: Any = None
        self.starting = StartingWeights(options.initial_weights)  # type: ignore[no-untyped-call]

    def install(self) -> None:
        """Wait for the class: the module may be a file or stand in the program."""
        build = builtins.__build_class__

        def watching(body: Any, name: str, *bases: Any, **keywords: Any) -> Any:
            made = build(body, name, *bases, **keywords)
            if is_estimator(made):
                self.watch(made)
            if is_loop(made):
                self.watch_loop(made)
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
            estimator._config = copy.copy(estimator._config)
            estimator._config.model_dir = apart

        estimator_class.__init__ = init

    def _watch_train(self, estimator_class: Any) -> None:
        original, options = estimator_class.train, self.options
        signature = inspect.signature(original)

        def train(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            record = self.record_of(estimator)  # type: ignore[no-untyped-call]
            if options.steps and record.global_step >= options.steps:
                return estimator
            # A module that was made for programs without hooks takes none.
            given = signature.bind(estimator, *args, **kwargs)
            given.arguments["hooks"] = list(given.arguments.pop("hooks", None) or [])
            for hook in given.arguments["hooks"]:
                log_calls(hook, record.hook_calls)  # type: ignore[no-untyped-call]
            if "hooks" not in signature.parameters:
                del given.arguments["hooks"]
            record.input_fn = record.input_fn or given.arguments["input_fn"]
            strategy = estimator._config.train_distribute
            record.replicas = strategy.num_replicas_in_sync if strategy else 1
            self.training = record
            return original(*given.args, **given.kwargs)

        estimator_class.train = train

    def watch_loop(self, loop_class: Any) -> None:
        """Give loops their first weights, and note the loss of every step."""
        run, step_is_done = loop_class.run, loop_class.step_is_done

        def watched_run(loop: Any, last: float) -> Any:
            record, steps = self.training, self.options.steps
            held = Held(self.tf, loop)
            if record.names is None:
                start = None if record.losses else self.start_of(record)  # type: ignore[no-untyped-call]
                held.begin(record, start)
            loss = run(loop, min(last, steps) if steps else last)
            held.end(record)
            return loss

        def watched_step(loop: Any, values: Any) -> None:
            self.training.losses.append(float(values[1]))
            step_is_done(loop, values)

        loop_class.run, loop_class.step_is_done = watched_run, watched_step
        # Each step by itself, as if somebody looked at it.
        loop_class.many_steps = lambda loop: None

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


def is_loop(made: Any) -> bool:
    """Whether a class is the loop of such a module."""
    own = set(vars(made))
    return bool(made.__name__ == "TrainingLoop" and {"run", "step_is_done"} <= own)


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


class Held:
    """The weights and slots of a model in training."""

    def __init__(self, tf: Any, loop: Any) -> None:
        self.tf, self.graph = tf, loop.graph
        self.made = loop.graph.variables.by_name
        v1 = tf.compat.v1
        with loop.graph.inside():
            # A metric that a model_fn makes while it trains is not the model's.
            self.names = [n for n in weight_names(v1) if n in self.made]  # type: ignore[no-untyped-call]
            self.slots = [n for n in slot_names(v1) if n in self.made]  # type: ignore[no-untyped-call]
        self.draws = random_operations(loop.model.loss)  # type: ignore[no-untyped-call]

    def of(self, names: list[str]) -> list[tuple[str, Any]]:
        """Variables by their names."""
        return [(name, self.made[name]) for name in names]

    def begin(self, record: Record, start: Any) -> None:
        """Gives the first weights, and notes those with which training begins."""
        record.names, record.draws = self.names, self.draws
        held = self.of(self.names)
        with self.tf.init_scope():
            record.initial = [value for _, value in tf2_weights.read(held)]
            if int(self.graph.global_step.numpy()) != 0:
                return
            record.drawn = drawn_weights(self.names, record.initial)  # type: ignore[no-untyped-call]
            shapes = [value.shape for value in record.initial]
            given = start(self.names, shapes) if start is not None else None
            if given is not None:
                named = [(key.partition(":")[2], given[key]) for key in sorted(given)]
                tf2_weights.assign(held, named)
                record.initial = [value for _, value in tf2_weights.read(held)]

    def end(self, record: Record) -> None:
        """Notes the last weights."""
        with self.tf.init_scope():
            record.final = [v for _, v in tf2_weights.read(self.of(self.names))]
            record.slots = tf2_weights.read(self.of(self.slots))
            record.global_step = int(self.graph.global_step.numpy())


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError):
        # As in tf2_program: what the program left behind need not be torn down.
        os._exit(status)
