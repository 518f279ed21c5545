"""Watches the Estimators of a process, and steadies what is random in it.

Runs on the Pythons of TF 1.x, 3.6 among them.
"""

import contextlib
import functools
import importlib
import inspect
import os
import random
import re
import sys

from .legacy_random import steady_random_operations
from .legacy_record import Record, log_calls, quiet, recording_hook_class, replicas_of
from .legacy_start import StartingWeights, training_name


def defining_class(cls, method):
    """The class that really defines a method; patching a subclass would make
    the Estimator's own check of overridden members complain."""
    return next(base for base in cls.__mro__ if method in base.__dict__)


def with_changed_arguments(original, change):
    """The function, called with its arguments by name as ``change`` leaves them."""
    signature = inspect.signature(original)

    def call(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        change(bound.arguments)
        return original(*bound.args, **bound.kwargs)

    return call


class Instrument:
    def __init__(self, tf, options):
        self.tf = tf
        self.options = options
        self.records = []
        self.model_dirs = {}
        # The folders that the program named, by the folders it was given instead.
        self.named = {}
        self.export_bases = []
        self.starting = StartingWeights(options.initial_weights)
        self.hook_class = recording_hook_class(tf, options.generate_weights)

    def record_of(self, estimator):
        for record in self.records:
            if record.estimator is estimator:
                return record
        given = self.named.get(os.path.abspath(str(estimator.model_dir)), "")
        self.records.append(Record(estimator, training_name(given)))
        return self.records[-1]

    def start_of(self, record):
        """What gives the weights that a training starts from."""

        def start(weights):
            values = self.starting.values_for(record.name, weights)
            record.paired = self.starting.evidence
            return values

        return start

    def install(self):
        self.patch_estimator()
        self.patch_run_config()
        if self.options.model_dir:
            keras = self.tf.keras.estimator
            keras.model_to_estimator = with_changed_arguments(
                keras.model_to_estimator, self.remap
            )
        if self.options.replicas:
            self.patch_strategies()

    def remapped(self, model_dir):
        root = os.path.abspath(self.options.model_dir)
        if model_dir is not None:
            model_dir = os.path.abspath(os.fspath(model_dir))
            if model_dir.startswith(root + os.sep):
                return model_dir
            if model_dir in self.model_dirs:
                return self.model_dirs[model_dir]
        place = os.path.join(root, f"model-{len(self.model_dirs)}")
        self.model_dirs[model_dir or place] = place
        self.named[place] = model_dir or ""
        return place

    def remap(self, arguments):
        """Change the model_dir that an Estimator is made with."""
        config, model_dir = arguments.get("config"), arguments.get("model_dir")
        if model_dir is None:
            model_dir = getattr(config, "model_dir", None)
        arguments["model_dir"] = model_dir = self.remapped(model_dir)
        if hasattr(config, "replace"):
            arguments["config"] = config.replace(model_dir=model_dir)

    def patch_estimator(self):
        tf, options = self.tf, self.options
        owner = defining_class(tf.estimator.Estimator, "train")
        original_train, original_evaluate = owner.train, owner.evaluate
        instrument = self

        def train(estimator, input_fn, hooks=None, *args, **kwargs):
            record = instrument.record_of(estimator)
            done = max(record.global_step, step_in(tf, estimator.model_dir))
            if options.steps and done >= options.steps:
                return estimator
            hooks = list(hooks or [])
            for hook in hooks:
                log_calls(hook, record.hook_calls)
            start = None if record.losses else instrument.start_of(record)
            hooks.append(instrument.hook_class(record, start))
            if options.steps:
                hooks.append(quiet(tf).train.StopAtStepHook(last_step=options.steps))
            options.outside.make(instrument.named.get(estimator.model_dir, ""))
            record.input_fn = record.input_fn or input_fn
            record.replicas = replicas_of(estimator)
            return original_train(estimator, input_fn, hooks, *args, **kwargs)

        def evaluate(estimator, input_fn, *args, **kwargs):
            result = original_evaluate(estimator, input_fn, *args, **kwargs)
            record = instrument.record_of(estimator)
            record.evaluations.append(dict(result))
            record.input_fn = input_fn
            return result

        owner.train, owner.evaluate = train, evaluate
        for name in ("export_saved_model", "export_savedmodel"):
            if name in owner.__dict__:
                setattr(owner, name, self.noting_exports(owner.__dict__[name]))
        if options.model_dir:
            owner.__init__ = with_changed_arguments(owner.__init__, self.remap)

    def noting_exports(self, original):
        """The method, with a note of the folder that it exports into."""

        @functools.wraps(original)
        def export(estimator, export_dir_base, *args, **kwargs):
            self.export_bases.append(os.fspath(export_dir_base))
            return original(estimator, export_dir_base, *args, **kwargs)

        return export

    def patch_run_config(self):
        tf, options = self.tf, self.options

        def change(values):
            if options.seed is not None:
                values.setdefault("tf_random_seed", options.seed)
            if options.model_dir and values.get("model_dir"):
                values["model_dir"] = self.remapped(values["model_dir"])
            given = values.get("session_config")
            values["session_config"] = session_config(tf, options, given)

        def patch(cls):
            cls.__init__ = with_changed_arguments(cls.__init__, change)

        owner = tf.estimator.RunConfig
        patch(owner)
        # That of tf.contrib.learn, loaded late if at all, does not call it: what it
        # says of itself must not change when an Estimator is made of it.
        owner.__init_subclass__ = classmethod(patch)

    def patch_strategies(self):
        """Put the replicas on CPU devices, however many GPUs were asked for."""
        tf = self.tf
        devices = [f"/device:CPU:{i}" for i in range(self.options.replicas)]
        no_prefetch = self.options.no_shuffle and not self.options.compat
        for module in (getattr(tf, "distribute", None), tf.contrib.distribute):
            cls = getattr(module, "MirroredStrategy", None)
            if cls is None:
                continue
            known = inspect.signature(cls.__init__).parameters

            def change(values, known=known):
                for name in ("num_gpus", "num_gpus_per_worker"):
                    values.pop(name, None)
                values["devices"] = devices
                # TF 1.12 hands batches to prefetching devices in any order.
                if no_prefetch and "prefetch_on_device" in known:
                    values["prefetch_on_device"] = False

            cls.__init__ = with_changed_arguments(cls.__init__, change)


def steady(tf, options, in_step=None):
    """Take out of this process what would make two runs of a program differ.

    Without a seed TensorFlow draws as it likes, but data that NumPy or Python shuffles
    come in the same order on both sides. ``in_step`` is as of
    :func:`steady_random_operations`.
    """
    import numpy as np

    end_iterators_at_once(tf)
    if options.no_shuffle:
        switch_shuffling_off(tf)
    if options.steady_random:
        steady_random_operations(tf, in_step)
    if options.seed is not None:
        quiet(tf).set_random_seed(options.seed)
    random.seed(options.seed or 0)
    np.random.seed(options.seed or 0)


def switch_shuffling_off(tf):
    """Let data come in the order in which they are stored."""

    def shuffle(dataset, *args, **kwargs):
        return dataset

    for cls in {*tf.data.Dataset.__mro__, *quiet(tf).data.Dataset.__mro__}:
        if "shuffle" in cls.__dict__:
            cls.shuffle = shuffle

    def shuffle_and_repeat(buffer_size=None, count=None, seed=None):
        return lambda dataset: dataset.repeat(count)

    for module in (
        getattr(tf.data, "experimental", None),
        getattr(quiet(tf).data, "experimental", None),
        getattr(getattr(tf, "contrib", None), "data", None),
    ):
        # Functions that make data sets of files call it by its private name.
        replace_everywhere(module, "shuffle_and_repeat", shuffle_and_repeat)

    def change(values):
        values["shuffle"] = False

    inputs = getattr(getattr(tf, "estimator", None), "inputs", None)
    for name in ("numpy_input_fn", "pandas_input_fn"):
        if hasattr(inputs, name):
            unshuffled = with_changed_arguments(getattr(inputs, name), change)
            replace_everywhere(inputs, name, unshuffled)


def end_iterators_at_once(tf):
    """Read data without autotuning, where TensorFlow 2 is the one that reads.

    Its thread misses the end of an iterator if it wakes before the end is marked. It
    then sleeps on for as long as the iterator lived, up to a minute, and whoever drops
    the iterator waits for it.
    """
    for cls in tf.data.Dataset.__mro__:
        applied = cls.__dict__.get("_apply_debug_options")
        if applied is None:
            continue

        def untuned(dataset, __applied=applied):
            options = tf.data.Options()
            options.autotune.enabled = False
            return __applied(dataset.with_options(options))

        cls._apply_debug_options = untuned


def step_in(tf, model_dir):
    """The step of the newest checkpoint there; 0 without one."""
    latest = tf.train.latest_checkpoint(model_dir)
    found = re.search(r"-(\d+)$", latest) if latest else None
    return int(found.group(1)) if found else 0


def replace_everywhere(module, name, replacement):
    """Replace a function also where another spelling of the import finds it.

    In TF 1.15 ``from tensorflow.estimator.inputs import ...`` reads a module of
    its own, which is not the one that ``tf.estimator.inputs`` gives.
    """
    original = getattr(module, name, None)
    if original is None:
        return
    setattr(module, name, replacement)
    with contextlib.suppress(ImportError):
        importlib.import_module("tensorflow.estimator.inputs")
    for place, each in list(sys.modules.items()):
        names = getattr(each, "__dict__", {})
        if place.startswith("tensorflow") and names.get(name) is original:
            setattr(each, name, replacement)


def session_config(tf, options, given):
    """The program's session settings with our threads and CPU devices added."""
    if given is None:
        # What the Estimator uses when it is given nothing.
        given = quiet(tf).ConfigProto(allow_soft_placement=True)
        given.graph_options.rewrite_options.meta_optimizer_iterations = 1
    config = quiet(tf).ConfigProto()
    config.CopyFrom(given)
    if options.threads:
        config.intra_op_parallelism_threads = options.threads
        config.inter_op_parallelism_threads = options.threads
    if options.replicas and not options.compat:
        config.device_count["CPU"] = options.replicas
    return config
