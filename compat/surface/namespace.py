"""A lazy clone of a TensorFlow namespace with legacy names laid over it.

TensorFlow's own modules are never written to: each clone is a module object of
our own that looks attributes up in an overlay table first and in TensorFlow's
module second. Look-ups are cached in the clone, so they cost once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .unavailable import Unavailable

__all__ = [
    "Base",
    "Entry",
    "Namespace",
    "attribute",
    "observers",
    "real_tensorflow",
]

# Called with the full dotted name of each symbol that a program looks up for
# the first time; `tfmigrate run --trace-legacy` listens here.
observers: list[Callable[[str], None]] = []

_API_PREFIXES = (
    "tensorflow._api.",
    "tensorflow.compat.",
    "tf_keras.api.",
    "tfmigrate.compat.contrib.",
)


@dataclasses.dataclass(frozen=True)
class Base:
    """An overlay entry: this name is a namespace of ours over that module."""

    provide: Callable[[], Any]


Entry = Callable[[], Any] | Base | Unavailable


def attribute(path: str) -> Callable[[], Any]:
    """A provider for ``"package.module:attribute"`` (or a module alone)."""
    module_name, _, attr = path.partition(":")

    def provide() -> Any:
        found: Any = _import_real(module_name)
        for part in attr.split(".") if attr else ():
            found = getattr(found, part)
        return found

    return provide


def real_tensorflow() -> Any:
    """TensorFlow itself, also while the clone stands in its place."""
    module = importlib.import_module("tensorflow")
    return module.__dict__.get("_tfm_real", module)


def _import_real(name: str) -> Any:
    if name in ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2"):
        found = real_tensorflow()
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        return found
    return importlib.import_module(name)


def _is_api_module(value: object) -> bool:
    """True for the modules that make up TensorFlow's or Keras' public API."""
    return (
        isinstance(value, types.ModuleType)
        and not isinstance(value, Namespace)
        and getattr(value, "__name__", "").startswith(_API_PREFIXES)
    )


def _is_ours(value: object) -> bool:
    return getattr(value, "__name__", "").startswith("tfmigrate.")


class _State:
    """What a namespace knows about itself, kept out of its attributes."""

    def __init__(
        self,
        path: str,
        provide_base: Callable[[], Any] | None,
        overlay: Mapping[str, Entry],
    ) -> None:
        self.path = path
        self.provide_base = provide_base
        self.overlay = overlay
        self.base: Any = None
        self.whole = False  # every name has been looked up
        prefix = path + "."
        self.children = frozenset(
            key[len(prefix) :].partition(".")[0]
            for key in overlay
            if key.startswith(prefix)
        )

    def get_base(self) -> Any:
        if self.base is None and self.provide_base is not None:
            self.base = self.provide_base()
        return self.base


def _own(module: types.ModuleType) -> dict[str, Any]:
    """A module's dictionary as it stands."""
    found: dict[str, Any] = _DICTIONARY.__get__(module)
    return found


# What a class of modules may answer for `__dict__` is not what it stores.
_DICTIONARY: Any = vars(types.ModuleType)["__dict__"]


class Namespace(types.ModuleType):
    """A module whose names come from an overlay, then from TensorFlow's module.

    Args:
      path: the public path that programs and messages use, such as ``tf.train``.
      base: gives TensorFlow's module of that name, or None where it has none.
      overlay: full dotted path -> what is there. Entries below this namespace's
        path are used; deeper ones make sub-namespaces appear.
      module_name: ``__name__`` of the module object.
    """

    def __init__(
        self,
        path: str,
        *,
        base: Callable[[], Any] | None,
        overlay: Mapping[str, Entry],
        module_name: str | None = None,
        doc: str | None = None,
    ) -> None:
        super().__init__(module_name or path, doc)
        own = _own(self)
        own["_tfm_state"] = _State(path, base, overlay)
        # A package for the import system; only our own finder looks below it.
        own["__path__"] = []

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """All that is here: ``vars(tf.logging)[name]`` was one way to choose."""
        own = _own(self)
        state: _State | None = own.get("_tfm_state")
        # The root's own would bring all of TensorFlow into memory.
        if state is not None and "." in state.path and not state.whole:
            state.whole = True
            for name in dir(self):
                if name not in own:
                    with contextlib.suppress(AttributeError, ImportError):
                        own[name] = self._tfm_find(state, name, f"{state.path}.{name}")
        return own

    def __getattr__(self, name: str) -> Any:
        state: _State = _own(self)["_tfm_state"]
        dunder = name.startswith("__") and name.endswith("__")
        if name == "__all__":
            return [known for known in dir(self) if not known.startswith("_")]
        path = f"{state.path}.{name}"
        value = self._tfm_find(state, name, path)
        if not dunder:
            for observer in observers:
                observer(path)
            _own(self)[name] = value
        return value

    def _tfm_find(self, state: _State, name: str, path: str) -> Any:
        entry = state.overlay.get(path)
        if isinstance(entry, Unavailable):
            return entry
        if isinstance(entry, Base):
            return self._tfm_sub(name, path, entry.provide)
        if entry is not None:
            return entry()
        base = state.get_base()
        try:
            if _is_ours(base) and name not in base.__all__:
                # What our modules import for themselves is no legacy name.
                raise AttributeError(name)
            value = getattr(base, name)
        except AttributeError:
            if name in state.children:
                return self._tfm_sub(name, path, None)
            gone = self._tfm_gone(name, path)
            if gone is not None:
                return gone
            raise AttributeError(
                f"module '{self.__name__}' has no attribute '{name}'"
            ) from None
        if name in state.children or _is_api_module(value):
            return self._tfm_sub(name, path, lambda: value)
        return value

    def _tfm_gone(self, name: str, path: str) -> Any:
        """What stands for a contrib name without a home, or None."""
        if not path.startswith("tf.contrib.") or name.startswith("__"):
            return None
        from .contrib_names import contrib_fallback

        return contrib_fallback(path)

    def _tfm_sub(
        self, name: str, path: str, provide: Callable[[], Any] | None
    ) -> Namespace:
        return Namespace(
            path,
            base=provide,
            overlay=_own(self)["_tfm_state"].overlay,
            module_name=f"{self.__name__}.{name}",
        )

    def __dir__(self) -> Iterable[str]:
        state: _State = _own(self)["_tfm_state"]
        names = set(state.children)
        base = state.get_base()
        if base is not None:
            listed = base.__all__ if _is_ours(base) else dir(base)
            names.update(known for known in listed if not known.startswith("_"))
        names.update(known for known in _own(self) if not known.startswith("_"))
        return sorted({"__doc__", "__name__", *names})

    def __repr__(self) -> str:
        return f"<module '{self.__name__}' (from tfmigrate.compat)>"

    def __reduce__(self) -> tuple[Any, ...]:
        # cloudpickle and multiprocessing send modules by name.
        return importlib.import_module, (self.__name__,)
