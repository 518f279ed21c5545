"""Runs many training programs in one TensorFlow process and notes how they train.

    python batch.py CASES.json OUT.json

A case is {"name", "script", "kind": "legacy" | "tf2", "replicas", "steps",
"arguments", "start": name of the case whose initial weights are taken, "nudge":
by which part of themselves to change those}. Legacy
programs run on tfmigrate.compat. A program ends where its steps are done; what
it printed and how it failed is noted. Importing TensorFlow costs more than most
of these programs, so one process runs them all, each with fresh patches.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # adds in TF 1's order
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import keras
import numpy as np
import tensorflow as tf
import tf_keras
import tfmigrate.compat.v1 as tf1
from absl import flags
from tensorflow.python.distribute import cross_device_utils
from tfmigrate.verify.instruments import (
    legacy_patches,
    module_program,
    tf2_constants,
    tf2_devices,
    tf2_probe,
)

MOST_REPLICAS = 2
FLAGS = set(flags.FLAGS)
Weights = list[tuple[str, Any]]


@contextlib.contextmanager
def restored(*classes: type) -> Iterator[None]:
    """Undo what is patched on the classes."""
    kept = [(cls, dict(vars(cls))) for cls in classes]
    try:
        yield
    finally:
        for cls, members in kept:
            for name, value in list(vars(cls).items()):
                if name not in members:
                    delattr(cls, name)
                elif members[name] is not value:
                    setattr(cls, name, members[name])


def replicas_on_cpus(replicas: int) -> None:
    """Strategies get the first CPU devices, whatever the program names."""
    configure = tf.config.set_logical_device_configuration
    tf.config.set_logical_device_configuration = lambda *_: None  # was done once
    try:
        tf2_devices.use_cpu_replicas(replicas)
    finally:
        tf.config.set_logical_device_configuration = configure


def run_text(text: str, script: str, arguments: list[str]) -> None:
    """Run a program as ``__main__``."""
    module = type(sys)("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    sys.argv = [script, *arguments]
    with contextlib.suppress(SystemExit):
        exec(compile(text, script, "exec"), module.__dict__)


def run_legacy(case: dict[str, Any]) -> tuple[dict[str, Any], Weights]:
    """Train on the compat layer."""
    text = Path(case["script"]).read_text()
    text = re.sub(
        r"^import tensorflow as tf$",
        "import tfmigrate.compat.v1 as tf",
        text,
        flags=re.M,
    )
    options = SimpleNamespace(
        steps=case.get("steps"),
        replicas=case["replicas"],
        initial_weights=None,
        generate_weights=case.get("seed"),
        no_shuffle=True,
        compat=True,
        seed=case.get("seed", 0),
        threads=None,
        model_dir=tempfile.mkdtemp(),
        estimator=None,
    )
    estimator = tf1.estimator.Estimator
    owner = legacy_patches.defining_class(estimator, "train")
    turn = tf1.keras.estimator.model_to_estimator
    classes = [owner, tf1.estimator.RunConfig, *tf1.data.Dataset.__mro__[:-1]]
    classes += [
        tf1.distribute.MirroredStrategy,
        tf1.contrib.distribute.MirroredStrategy,
    ]
    try:
        with restored(*dict.fromkeys(classes)):
            instrument = legacy_patches.Instrument(tf1, options)
            instrument.install()
            run_text(text, case["script"], case.get("arguments", []))
    finally:
        tf1.keras.estimator.model_to_estimator = turn
    record = next(r for r in instrument.records if r.losses)
    found = {"losses": record.losses, "global_step": record.global_step}
    found["evaluate"] = [
        {name: float(value) for name, value in each.items()}
        for each in record.evaluations
    ]
    return found, list(zip(record.names, record.initial, strict=True))


def nudged(weights: Weights, size: float) -> Weights:
    """The weights changed at random by up to ``size`` of themselves."""
    draw = np.random.RandomState(11)
    return [
        (name, (value * (1 + size * draw.uniform(-1, 1, value.shape))).astype("f"))
        for name, value in weights
    ]


def patched_classes() -> list[type]:
    """What the instruments of rewritten programs may change."""
    classes = [tf.GradientTape, tf.distribute.Strategy, tf.data.Dataset]
    classes += [type(tf.distribute.get_strategy()), tf.distribute.OneDeviceStrategy]
    classes += [
        tf.distribute.MirroredStrategy,
        tf.distribute.MultiWorkerMirroredStrategy,
    ]
    classes += [tf.compat.v1.distribute.Strategy, tf.compat.v1.data.Dataset]
    classes += [tf.compat.v1.distribute.MirroredStrategy]
    classes += [tf.compat.v1.distribute.OneDeviceStrategy]
    for api in (tf, tf.compat.v1):
        classes += [api.distribute.experimental.CentralStorageStrategy]
    for library in (keras, tf_keras):
        classes += [c for c in vars(library.optimizers).values() if isinstance(c, type)]
    return classes


def run_tf2(case: dict[str, Any], start: Weights | None) -> dict[str, Any]:
    """Train a rewritten program, from the weights of another one."""
    classes = patched_classes()
    with restored(*{base: 0 for cls in classes for base in cls.__mro__[:-1]}):
        replicas_on_cpus(case["replicas"])
        for cls in (tf.data.Dataset, tf.compat.v1.data.Dataset):
            cls.shuffle = lambda dataset, *_, **__: dataset
        if start is not None and case.get("nudge"):
            start = nudged(start, case["nudge"])
            tf2_constants.round_constants()
        probe = tf2_probe.Probe(steps=case.get("steps"), initial=start)
        tf2_probe.install(probe)
        try:
            with tf.variable_creator_scope(probe.variables.creator):
                run_text(
                    Path(case["script"]).read_text(),
                    case["script"],
                    case.get("arguments", []),
                )
        except BaseException:
            if not probe.stopped:
                if probe.problem:
                    raise RuntimeError(probe.problem) from None
                raise
        probe.finish()
    return {"losses": probe.losses, "global_step": probe.done}


def holds_module(case: dict[str, Any]) -> bool:
    """Whether the loop module stands in a program."""
    return "def call_model_fn(" in Path(case["script"]).read_text()


def run_module(case: dict[str, Any], start: Weights | None) -> dict[str, Any]:
    """Train a program that holds the loop module, from the weights of another one."""
    out = Path(tempfile.mkdtemp())
    if start is not None:
        if case.get("nudge"):
            start = nudged(start, case["nudge"])
            tf2_constants.round_constants()
        named = {f"{i:03d}:{name}": value for i, (name, value) in enumerate(start)}
        np.savez(out / "initial.npz", **named)
    options = SimpleNamespace(
        steps=case.get("steps"),
        initial_weights=out / "initial.npz" if start is not None else None,
        generate_weights=None,
        out=out,
        estimator=None,
    )
    classes = patched_classes()
    build = builtins.__build_class__
    try:
        with restored(*{base: 0 for cls in classes for base in cls.__mro__[:-1]}):
            replicas_on_cpus(case["replicas"])
            for cls in (tf.data.Dataset, tf.compat.v1.data.Dataset):
                cls.shuffle = lambda dataset, *_, **__: dataset
            instrument = module_program.ModuleInstrument(tf, options)
            instrument.install()
            text = Path(case["script"]).read_text()
            run_text(text, case["script"], case.get("arguments", []))
    finally:
        builtins.__build_class__ = build
    record = next(r for r in instrument.records if r.losses)
    return {"losses": record.losses, "global_step": record.global_step}


PROFILES: list[str] = []


def note_profiles() -> None:
    """Note the windows that the profiler was open for and closed again."""
    start, stop = tf.profiler.experimental.start, tf.profiler.experimental.stop
    opened: list[str] = []

    def started(folder: str) -> None:
        opened.append(folder)
        start(folder)

    def stopped() -> None:
        stop()
        PROFILES.append(opened.pop())

    tf.profiler.experimental.start, tf.profiler.experimental.stop = started, stopped


def forget() -> None:
    """Let the next program begin as in a new process."""
    # Collectives are known by number for as long as the process lives.
    cross_device_utils.INSTANCE_KEY_START_NUMBER += 1000
    for library in (tf_keras, keras):
        library.backend.clear_session()
        library.mixed_precision.set_global_policy("float32")
    tf.compat.v1.reset_default_graph()
    flags.FLAGS.unparse_flags()
    for name in set(flags.FLAGS) - FLAGS:
        delattr(flags.FLAGS, name)


def main(cases_file: str, out_file: str) -> None:
    """Run the cases in order; later ones may start from weights of earlier."""
    (cpu, *_) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(MOST_REPLICAS)]
    )
    note_profiles()
    weights: dict[str, Weights] = {}
    results: dict[str, Any] = {}
    here = os.getcwd()
    for case in json.loads(Path(cases_file).read_text()):
        began = time.monotonic()
        printed = io.StringIO()
        name = case["name"]
        os.environ.update(case.get("env", {}))
        np.random.seed(case.get("seed", 0))
        tf.random.set_seed(case.get("seed", 0))
        tf_keras.utils.set_random_seed(case.get("seed", 0))
        result: dict[str, Any] = {}
        try:
            with contextlib.redirect_stdout(printed):
                if case["kind"] == "legacy":
                    result, weights[name] = run_legacy(case)
                elif holds_module(case):
                    result = run_module(case, weights.get(case.get("start", "")))
                else:
                    result = run_tf2(case, weights.get(case.get("start", "")))
        except Exception:
            result = {"error": traceback.format_exc()}
        forget()
        os.chdir(here)
        result["profiled"] = any(PROFILES)
        PROFILES.clear()
        result["printed"] = printed.getvalue()
        result["seconds"] = time.monotonic() - began
        results[name] = result
        Path(out_file).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # iterators of stopped programs may never end
