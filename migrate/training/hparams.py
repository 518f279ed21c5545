"""Hyperparameters as attributes."""

from __future__ import annotations

import json
import re
from typing import Any


class HParams:
    """Hyperparameters, which a text such as `rate=0.1,units=[8,4]` may change."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def __contains__(self, name: str) -> bool:
        return name in vars(self)

    def __repr__(self) -> str:
        return f"HParams({self.values()})"

    def values(self) -> dict[str, Any]:
        """Returns all of them by name."""
        return dict(vars(self))

    def get(self, name: str, default: Any = None) -> Any:
        """Returns one of them, or a default."""
        return getattr(self, name, default)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds one."""
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Changes one; a value keeps the type of the old one."""
        old = getattr(self, name)
        kind = type(old[0]) if isinstance(old, list) and old else type(old)
        if kind is bool and isinstance(value, str):
            value = value in ("1", "true", "True")
        if isinstance(old, list):
            value = [kind(one) for one in value]
        elif old is not None:
            value = kind(value)
        setattr(self, name, value)

    def override_from_dict(self, values: dict[str, Any]) -> HParams:
        """Changes some of them."""
        for name, value in values.items():
            self.set_hparam(name, value)
        return self

    def parse(self, text: str) -> HParams:
        """Changes those that a text names."""
        for name, several, value in re.findall(r"(\w+)=(?:\[([^]]*)\]|([^,]*))", text):
            self.set_hparam(name, several.split(",") if several else value)
        return self

    def parse_json(self, text: str) -> HParams:
        """Changes those that a JSON object names."""
        return self.override_from_dict(json.loads(text))

    def to_json(self) -> str:
        """Returns all of them as a JSON object."""
        return json.dumps(self.values())
