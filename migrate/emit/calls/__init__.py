"""What stands where the Estimator was asked for something."""

from __future__ import annotations
