"""How the TF 1.15 and TF 2.15 namespaces are put together on today's TensorFlow."""

from __future__ import annotations
