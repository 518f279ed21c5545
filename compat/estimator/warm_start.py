"""Warm starting: a new model's variables begin with a trained model's values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

__all__ = ["VocabInfo", "WarmStartSettings", "apply", "settings_from"]

VocabInfo = tf.train.VocabInfo


class _Fields(NamedTuple):
    ckpt_to_initialize_from: Any
    vars_to_warm_start: Any
    var_name_to_vocab_info: dict[str, Any]
    var_name_to_prev_var_name: dict[str, str]


class WarmStartSettings(_Fields):
    """What to take from which checkpoint.

    ``vars_to_warm_start`` is a regular expression over trainable variables, a
    list of expressions over all variables, a list of variables, or None for
    those of ``var_name_to_vocab_info`` only.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError(
                "`ckpt_to_initialize_from` MUST be set in WarmStartSettings"
            )
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            dict(var_name_to_vocab_info or {}),
            dict(var_name_to_prev_var_name or {}),
        )


def settings_from(warm_start_from: Any) -> WarmStartSettings | None:
    """The settings that an Estimator's ``warm_start_from`` argument means.

    A string is a checkpoint, a directory of checkpoints or a SavedModel.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes, os.PathLike)):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, "
            f"instead got {type(warm_start_from)}"
        )
    path = os.fsdecode(warm_start_from)
    variables = saved_model_checkpoint(path)
    if variables is not None:
        tf.logging.info("Warm-starting from a SavedModel")
        return WarmStartSettings(variables)
    return WarmStartSettings(path)


def saved_model_checkpoint(directory: str) -> str | None:
    """The checkpoint inside a SavedModel directory; None if it is not one."""
    prefix = os.path.join(directory, "variables", "variables")
    return prefix if tf.io.gfile.exists(prefix + ".index") else None


def apply(settings: WarmStartSettings) -> None:
    """Makes this graph's variables start from the checkpoint of ``settings``.

    Called after the model function: the variables must exist.
    """
    tf.logging.info("Warm-starting with WarmStartSettings: %s", settings)
    tf.train.warm_start(*settings)
