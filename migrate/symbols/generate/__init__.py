"""Makes the symbol data from installed TensorFlows; used by maintainers only."""

from __future__ import annotations
