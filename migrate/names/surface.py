"""What modules of today's TensorFlow and tf_keras have, read from generated data."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

# Code reaches into these at its own risk, and the data says nothing of them.
_PRIVATE = (
    "tensorflow.python",
    "tensorflow.core",
    "tensorflow.compiler",
    "tf_keras.api",
    "tf_keras.src",
)
_UNLISTED = ("tensorflow.compat.v1.keras", "tensorflow.compat.v2")


@lru_cache(maxsize=1)
def _modules() -> dict[str, frozenset[str]]:
    data = resources.files(__package__).joinpath("data/surface.txt")
    lines = (line.split() for line in data.read_text("utf-8").splitlines())
    return {module: frozenset(names) for module, *names in lines}


def has(dotted: str) -> bool:
    """Whether a listed module has the last part of a dotted name."""
    module, _, name = dotted.rpartition(".")
    return name in _modules().get(module, ())


@lru_cache(maxsize=4096)
def gone(dotted: str) -> str | None:
    """The first part of a dotted name that its module does not have today.

    None where all is there, where the name is of another package, or where it
    goes on below a class, a function or a private module.
    """
    modules = _modules()
    path, *names = dotted.split(".")
    if path not in modules or f"{dotted}.".startswith(
        tuple(f"{one}." for one in (*_PRIVATE, *_UNLISTED))
    ):
        return None
    for name in names:
        if name.startswith("__"):
            return None
        if name not in modules[path]:
            return f"{path}.{name}"
        path = f"{path}.{name}"
        if path not in modules:
            return None
    return None
