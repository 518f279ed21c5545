"""What a loop is made of: models, losses, optimizers, data."""

from __future__ import annotations
