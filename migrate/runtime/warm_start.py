"""Warm starts: a new model's variables begin with a trained model's values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from .vocabulary import logger, v1

VocabInfo = v1.train.VocabInfo


class WarmStartFields(NamedTuple):
    """The fields of WarmStartSettings."""

    ckpt_to_initialize_from: Any
    vars_to_warm_start: Any
    var_name_to_vocab_info: dict[str, Any]
    var_name_to_prev_var_name: dict[str, str]


class WarmStartSettings(WarmStartFields):
    """What to take from which checkpoint."""

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


def warm_start_settings(given: Any) -> WarmStartSettings | None:
    """The settings that `warm_start_from` means: they, a directory or a SavedModel."""
    if given is None or isinstance(given, WarmStartSettings):
        return given
    if not isinstance(given, (str, bytes, os.PathLike)):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, "
            f"instead got {type(given)}"
        )
    path = os.fsdecode(given)
    exported = os.path.join(path, "variables", "variables")
    return WarmStartSettings(
        exported if tf.io.gfile.exists(f"{exported}.index") else path
    )


def warm_start_variables(settings: WarmStartSettings) -> None:
    """Lets the variables of the graph being traced begin with those values."""
    logger.info("Warm-starting with WarmStartSettings: %s", settings)
    v1.train.warm_start(
        settings.ckpt_to_initialize_from,
        settings.vars_to_warm_start,
        settings.var_name_to_vocab_info,
        settings.var_name_to_prev_var_name,
    )
