"""What a program of TensorFlow 1 takes for granted: how it treats shapes and layers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..project.facts import ParsedModule

__all__ = ["habits"]

_SHAPED = re.compile(
    r"get_variable\(|\b(?:Variable|TensorShape|placeholder|set_shape)\("
)
# Split from a flag, or divided.
_NOT_WHOLE = re.compile(r"""\.split\(["'],|[\[(,]\s*[\w.\[\]'"]+\s*/\s*\d+\s*[\]),]""")
_APPLIED = re.compile(r"\.apply\(")
_KERAS = re.compile(r"\bkeras\b")
_NORMALIZED = re.compile(r"batch_normalization|BatchNorm")


def habits(files: Sequence[ParsedModule]) -> set[str]:
    """The names of the loop module that keep them."""
    # Sizes are read out of shapes that hold objects.
    found = {"tf1_shapes"}
    if _computes_sizes(files):
        found.add("tf1_sizes")
    if any(_NORMALIZED.search(one.source.text) for one in files):
        found.add("tf1_norms")
    texts = [one.source.text for one in files]
    if any(map(_APPLIED.search, texts)) and any(map(_KERAS.search, texts)):
        found.add("tf1_layers")
    return found


def _computes_sizes(files: Sequence[ParsedModule]) -> bool:
    """Whether files give sizes as they came: as text, or as quotients."""
    texts = [one.source.text for one in files]
    return any(map(_SHAPED.search, texts)) and any(map(_NOT_WHOLE.search, texts))
