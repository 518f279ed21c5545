"""What is installed, and what of it does not go together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata

from .tf_config import Level, Remark, problem, warning

_SHOWN = [
    "tensorflow",
    "tf_keras",
    "keras",
    "numpy",
    "protobuf",
    "tensorflow_estimator",
]
# Other distributions that bring the same package.
_TENSORFLOWS = [
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tf-nightly",
    "tensorflow-intel",
]
_FIRST = (2, 16)

_DEVICES = """
import json, os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
found = [d.device_type for d in tf.config.list_physical_devices()]
keras = getattr(tf.keras, "__version__", None) or tf.keras.version()
print("TFMIGRATE" + json.dumps({"devices": found, "keras": keras}))
"""


def installed(name: str) -> str | None:
    """A distribution's version, without importing it."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _release(version: str) -> tuple[int, int]:
    parts = version.split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (ValueError, IndexError):
        return 0, 0


def check_environment(
    environment: Mapping[str, str], versions: Mapping[str, str | None] | None = None
) -> Iterator[Remark]:
    """Versions, and mixtures that break programs."""
    names = (*_SHOWN, *_TENSORFLOWS)
    found = {n: installed(n) for n in names} if versions is None else dict(versions)
    shown = (f"{n} {found[n]}" for n in _SHOWN if found.get(n))
    yield Remark(Level.FINE, ", ".join([f"python {sys.version.split()[0]}", *shown]))
    kinds = [n for n in _TENSORFLOWS if found.get(n)]
    if not kinds:
        yield problem(
            "TensorFlow is not installed: pip install tensorflow tf-keras tensorboard",
        )
        return
    if len(kinds) > 1:
        yield problem(
            f"{' and '.join(kinds)} are installed over each other: uninstall all, then "
            "install one",
        )
    version = found[kinds[0]] or ""
    if _release(version) < _FIRST:
        yield problem(
            f"{kinds[0]} {version} is older than 2.16, which tfmigrate's results need",
        )
    yield from _kerases(environment, found, version)
    if found.get("tensorflow_estimator"):
        yield warning(
            f"tensorflow_estimator {found['tensorflow_estimator']} is left of an older "
            "TensorFlow; nothing of today uses it",
        )


def _kerases(
    environment: Mapping[str, str], found: Mapping[str, str | None], version: str
) -> Iterator[Remark]:
    legacy = environment.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
    tf_keras = found.get("tf_keras")
    if tf_keras is None:
        level = Level.PROBLEM if legacy else Level.WARNING
        why = "TF_USE_LEGACY_KERAS asks for it" if legacy else "legacy programs need it"
        yield Remark(level, f"tf_keras is not installed; {why}: pip install tf-keras")
    elif _release(tf_keras) != _release(version):
        yield problem(
            f"tf_keras {tf_keras} belongs to TensorFlow {tf_keras.rpartition('.')[0]}, "
            f"not to {version}: pip install 'tf-keras=={version.rpartition('.')[0]}.*'",
        )
    keras = found.get("keras")
    if legacy:
        yield warning(
            "TF_USE_LEGACY_KERAS is set: tf.keras is tf_keras, `import keras` is Keras "
            f"{keras or '3'}; layers of one do not work in models of the other",
        )
    if (
        keras
        and _release(keras) < (3, 0)
        and _release(version) >= _FIRST
        and not legacy
    ):
        yield problem(
            f"keras {keras} cannot serve TensorFlow {version}: pip install 'keras>=3'",
        )


def check_devices(seconds: float) -> Iterator[Remark]:
    """What TensorFlow sees, asked in a process of its own: drivers may hang."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _DEVICES],
            capture_output=True,
            text=True,
            timeout=seconds,
            env={k: v for k, v in os.environ.items() if k != "TF_CONFIG"},
        )
    except subprocess.TimeoutExpired:
        yield problem(f"TensorFlow did not list its devices within {seconds:g} s")
        return
    line = next(
        (x for x in done.stdout.splitlines() if x.startswith("TFMIGRATE")), None
    )
    if line is None:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        yield problem(f"TensorFlow cannot be imported: {last}")
        return
    told = json.loads(line[len("TFMIGRATE") :])
    counts = {
        kind: told["devices"].count(kind) for kind in dict.fromkeys(told["devices"])
    }
    words = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    yield Remark(
        Level.FINE,
        f"TensorFlow sees {words}; tf.keras is Keras {told['keras']}"
        f"{'' if told['keras'].startswith('2') else ', rewrites use tf_keras'}",
    )
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
    if hidden is not None and "GPU" not in counts:
        yield warning(
            f"CUDA_VISIBLE_DEVICES={hidden!r} hides GPUs, if there are any",
        )
