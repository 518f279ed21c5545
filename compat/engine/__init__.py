"""Graph programs: replication, input, sessions and checkpoints."""

from __future__ import annotations
