"""Whether a program may give sizes of shapes as they came: as text, or as quotients."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..project.facts import ParsedModule

__all__ = ["SIZES", "computes_sizes"]

# The name of the loop module that makes numbers of them.
SIZES = "tf1_sizes"
_SHAPED = re.compile(
    r"get_variable\(|\b(?:Variable|TensorShape|placeholder|set_shape)\("
)
# Split from a flag, or divided.
_NOT_WHOLE = re.compile(r"""\.split\(["'],|[\[(,]\s*[\w.\[\]'"]+\s*/\s*\d+\s*[\]),]""")


def computes_sizes(files: Sequence[ParsedModule]) -> bool:
    """Whether files that make shapes also split texts at commas, or divide."""
    texts = [one.source.text for one in files]
    return any(map(_SHAPED.search, texts)) and any(map(_NOT_WHOLE.search, texts))
