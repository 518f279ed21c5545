"""A seed for all random numbers."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import tf_keras

from . import core


@dataclasses.dataclass(frozen=True)
class RunConfig(core.RunConfig):
    """Settings with a seed."""

    tf_random_seed: int | None = None


class Trainer(core.Trainer):
    """A trainer that begins with the same weights each time."""

    def __init__(
        self,
        make_task: Any,
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: Any = None,
    ) -> None:
        if config and config.tf_random_seed is not None:
            draws = random.getstate(), np.random.get_state()
            tf_keras.utils.set_random_seed(config.tf_random_seed)
            # Others than TensorFlow and Keras draw what they would have drawn.
            random.setstate(draws[0])
            np.random.set_state(draws[1])
        super().__init__(make_task, model_dir, config, params)
