"""The pages of rules, which `tfmigrate explain` shows: ``tfmigrate.rules.pages``."""

from __future__ import annotations
