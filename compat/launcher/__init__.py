"""The process behind ``tfmigrate run``: runs unedited TF 1 programs."""

from __future__ import annotations
