"""Print the names that the modules of today's TensorFlow and tf_keras have.

Executed by an interpreter that has both, never imported by the tool:
``python surface.py > surface.txt``. A line is a module and the names below it.
"""

from __future__ import annotations

import importlib
import os
import types
import warnings
from collections.abc import Iterator

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

ROOTS = ("tensorflow", "tf_keras")
# Private, or a second copy of what stands elsewhere.
LEFT_OUT = (
    "python",
    "core",
    "compiler",
    "tools",
    "src",
    "_tf_keras",
    "include",
    "lite",
)
REPEATED = (
    "tensorflow.compat.v1.compat",
    "tensorflow.compat.v1.keras",
    "tensorflow.compat.v2",
)
MOST_PARTS = 7


def names(module: types.ModuleType) -> Iterator[tuple[str, object]]:
    """What a module really gives for the names it lists."""
    for name in sorted(set(dir(module))):
        if name.startswith("_") or name in LEFT_OUT:
            continue
        try:
            value = getattr(module, name)
        except Exception:  # whatever a lazy name raises, it is not there
            continue
        if isinstance(value, types.ModuleType) and not hasattr(value, "__name__"):
            continue  # so it is with tf.layers of compat.v1 under Keras 3
        yield name, value


def walk(path: str, module: types.ModuleType, above: tuple[int, ...]) -> Iterator[str]:
    """Lines for a module and those below it."""
    found = dict(names(module))
    yield " ".join([path, *found])
    for name, value in found.items():
        below = f"{path}.{name}"
        own = isinstance(value, types.ModuleType) and (
            value.__name__.split(".")[0] in (*ROOTS, "keras")
        )
        if (
            own
            and below not in REPEATED
            and id(value) not in above
            and below.count(".") < MOST_PARTS
        ):
            assert isinstance(value, types.ModuleType)
            yield from walk(below, value, (*above, id(value)))


def main() -> None:
    """Print the lines of all roots."""
    for root in ROOTS:
        module = importlib.import_module(root)
        for line in walk(root, module, (id(module),)):
            print(line)


if __name__ == "__main__":
    main()
