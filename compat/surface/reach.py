"""What the clones surely cannot do, told without importing TensorFlow.

The tool asks before it says that a program will run on the compat layer.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from ..contrib._homes import PACKAGES, SINGLE_NAMES
from .contrib_names import known_names
from .layered import family_of
from .private_table import names_of
from .unavailable import Unavailable
from .v1_names import OVERLAY

__all__ = ["advice_about", "opens"]

_COMPAT = Path(__file__).resolve().parent.parent
_MOVED = (
    "tensorflow.python.training.tracking",
    "tensorflow.python.training.checkpointable",
)


def advice_about(symbol: str) -> str | None:
    """What to look at instead of a TF 1 name that raises when it is used.

    None for a name that works, or of which nothing is known.
    """
    entry = OVERLAY.get(symbol)
    if entry is not None:
        return entry._tfmigrate_advice if isinstance(entry, Unavailable) else None
    if not symbol.startswith("tf.contrib."):
        return None
    package, _, name = symbol.removeprefix("tf.contrib.").partition(".")
    if f"tf.contrib.{package}" in OVERLAY:
        return None  # all of another package stands there
    first, _, rest = name.partition(".")
    if rest and first not in known_names().get(package, ()):
        name = rest  # a private module of the package, which offers the same names
        if f"tf.contrib.{package}.{name}" in OVERLAY:
            return None
    there = _offered(package)
    if not name or there is None or name.partition(".")[0] in there:
        return None
    if any(key.startswith(f"{symbol}.") for key in OVERLAY):
        return None
    if name in _private(package):
        return None
    return SINGLE_NAMES.get(f"{package}.{name}", PACKAGES.get(package))


def opens(module: str) -> bool:
    """Whether a private path of TensorFlow leads to names of the clone."""
    if module.startswith("tensorflow.examples"):
        parts = module.split(".")[1:]
        return _module_file(_COMPAT.joinpath(*parts)) is not None
    if family_of(module) is not None or module.startswith(_MOVED):
        return True
    return bool(names_of(module))


def _private(package: str) -> frozenset[str]:
    """Names that programs import from private modules of a contrib package."""
    return _offered(f"{package}/private") or frozenset()


@functools.cache
def _offered(package: str) -> frozenset[str] | None:
    """The public names of one of our contrib packages; None when not written out."""
    path = _module_file(_COMPAT / "contrib" / package)
    if path is None:
        return frozenset()
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__"
            for target in statement.targets
        ):
            try:
                return frozenset(ast.literal_eval(statement.value))
            except ValueError:
                return None
    return None


def _module_file(base: Path) -> Path | None:
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None
