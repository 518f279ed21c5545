"""Which variables TensorFlow 1 read by reference, so that an update showed at once."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["may_copy_variables"]

# What makes variables, or lets TensorFlow 1 make them, that are copied when read.
_COPIED = re.compile(
    r"\bkeras\b(?!\.(datasets|utils|initializers|regularizers|preprocessing)\b)"
    r"|use_resource|resource_variables|enable_v2|enable_eager|\bhub\b"
)


def may_copy_variables(texts: Iterable[str]) -> bool:
    """Whether variables of these files may be others than those read by reference.

    A loop lets what follows an update read all variables anew; gradients behind the
    update of another optimizer do so for those that were read by reference only.
    """
    return any(_COPIED.search(text) for text in texts)
