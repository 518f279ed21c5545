"""``HParams``: hyper-parameters with types, parsed from text or JSON."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["HParams", "parse_values"]

# name, optional [index], =, then a bracketed list or a plain value
_ITEM = re.compile(
    r"""(?P<name>[a-zA-Z][\w.]*)     # name
        (?:\[(?P<index>\d+)\])?\s*=\s*
        (?:(?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])
        (?:$|,\s*)""",
    re.VERBOSE,
)


def _bool(text: str) -> bool:
    if text in ("true", "True"):
        return True
    if text in ("false", "False"):
        return False
    try:
        return bool(int(text))
    except ValueError:
        raise ValueError(f"cannot read {text!r} as a bool") from None


def _reader(kind: type) -> Callable[[str], Any]:
    return _bool if kind is bool else kind


def parse_values(
    values: str, type_map: Mapping[str, Any], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Read ``"a=1,b=[2,3],c[1]=x"`` by the types in ``type_map``.

    A list element that is set by index comes out as ``{index: value}``.
    """
    result: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ITEM.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name, index, value = match["name"], match["index"], match["value"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        read = _reader(type_map[name])

        def convert(text: str, name: str = name, read: Any = read) -> Any:
            try:
                return read(text)
            except ValueError:
                raise ValueError(
                    f"Could not parse hparam '{name}' of type "
                    f"'{type_map[name].__name__}' with value '{text}' in {values}"
                ) from None

        if value is not None:
            if index is not None:
                slots = result.setdefault(name, {})
                if not isinstance(slots, dict) or int(index) in slots:
                    raise ValueError(f"Multiple assignments to variable '{name}'")
                slots[int(index)] = convert(value.strip())
                continue
            if name in result:
                raise ValueError(
                    f"Multiple assignments to variable '{name}' in {values}"
                )
            result[name] = convert(value.strip())
        else:
            if index is not None:
                raise ValueError(f"Assignment of a list to a list index: {values}")
            if name in result:
                raise ValueError(
                    f"Multiple assignments to variable '{name}' in {values}"
                )
            parts = [part for part in re.split("[ ,]", match["values"]) if part]
            result[name] = [convert(part) for part in parts]
    return result


def _cast(name: str, kind: Any, value: Any) -> Any:
    """``value`` as ``kind`` where nothing is lost, else an error."""
    problem = ValueError(
        f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}"
    )
    if kind is type(None):
        return value
    if issubclass(kind, bool):
        if isinstance(value, bool | np.bool_):
            return value
        raise problem
    if isinstance(value, bool | np.bool_):
        raise problem
    if issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise problem
    if issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number):
        raise problem
    if issubclass(kind, str) and not isinstance(value, str):
        raise problem
    return kind(value)


class HParams:
    """Hyper-parameters as attributes, each keeping the type of its default."""

    def __init__(
        self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any
    ) -> None:
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            raise ValueError(
                "HParams protocol buffers are not read here; give the values as "
                "keywords, or use parse_json."
            )
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Add a hyper-parameter; a list may hold one type only."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, list | tuple):
            if not value:
                raise ValueError(
                    f"Multi-valued hyperparameters cannot be empty: {name}"
                )
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Set a known hyper-parameter to a value of its type."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(
                    f"Must not pass a list for single-valued parameter: {name}"
                )
            setattr(self, name, [_cast(name, kind, item) for item in value])
        else:
            if is_list:
                raise ValueError(
                    f"Must pass a list for multi-valued parameter: {name}."
                )
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Remove a hyper-parameter."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Set values from text such as ``"learning_rate=0.1,layers=[2,3]"``."""
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Set several known hyper-parameters."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def set_model_structure(self, model_structure: Any) -> None:
        """Keep an object that describes the model."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """The object kept by `set_model_structure`."""
        return self._model_structure

    def to_json(
        self,
        indent: Any = None,
        separators: Any = None,
        sort_keys: bool = False,
    ) -> str:
        """All values as JSON; functions are left out."""
        plain = {k: v for k, v in self.values().items() if not callable(v)}
        return json.dumps(
            plain, indent=indent, separators=separators, sort_keys=sort_keys
        )

    def parse_json(self, values_json: str) -> HParams:
        """Set values from a JSON object."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """All hyper-parameters by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """One value, or ``default`` where there is none of that name."""
        if key in self._hparam_types:
            if default is not None:
                kind, is_list = self._hparam_types[key]
                if is_list != isinstance(default, list):
                    raise ValueError(
                        f"Hparam '{key}' of type '{kind}' is incompatible with "
                        f"default={default}"
                    )
                for item in default if is_list else [default]:
                    _cast(key, kind, item)
            return getattr(self, key)
        return default

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return str(sorted(self.values().items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"
