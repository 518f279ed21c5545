"""Rounds the constants of Keras optimizers as the kernels of TF 1.x did."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

_NAMES = ("beta_1", "beta_2", "rho")


def round_constants() -> None:
    """Let every optimizer made from now on hold its decay rates as float32.

    TF1's Adam computed ``1 - beta2`` from the float32 nearest to 0.999, Keras
    computes it in double precision: 1.3e-5 of it, and 6e-6 of the first updates,
    are lost between the two. That is rounding, and this shows how much of it a
    program amplifies.
    """
    for library in ("keras", "tf_keras"):
        module = sys.modules.get(library)
        if module is None:
            continue
        base = module.optimizers.Optimizer
        for cls in vars(module.optimizers).values():
            own = isinstance(cls, type) and "__init__" in vars(cls)
            if own and issubclass(cls, base) and cls is not base:
                cls.__init__ = _rounding(cls.__init__)


def _rounding(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        for name in _NAMES:
            value = getattr(self, name, None)
            if isinstance(value, float):
                setattr(self, name, float(np.float32(value)))

    return init
