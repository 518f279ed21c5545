"""Finds the rules: every module of this package that defines ``RULE``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from types import ModuleType

from ..errors import UserError
from . import training_program
from .base import Rule
from .over_budget import OVER_BUDGET
from .pinned_tensorflow import PINNED
from .python2_source import PYTHON2

__all__ = ["all_rules", "find_rule", "rule_modules"]

# Not rules: the machinery they stand on.
_MACHINERY = {
    "base",
    "calls",
    "context",
    "engine",
    "import_line",
    "imports",
    "notes",
    "pages",
    "registry",
    "written_for",
}


@lru_cache(maxsize=1)
def rule_modules() -> tuple[ModuleType, ...]:
    """The modules of all rules, in order of rule id."""
    package = __name__.rpartition(".")[0]
    parent = importlib.import_module(package)
    found = []
    for info in pkgutil.iter_modules(parent.__path__):
        if info.name in _MACHINERY:
            continue
        module = importlib.import_module(f"{package}.{info.name}")
        if hasattr(module, "RULE"):
            found.append(module)
    return tuple(sorted(found, key=lambda module: str(module.RULE.id)))


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in order of ids, the ones of training programs included."""
    rules = [module.RULE for module in rule_modules()]
    return tuple(
        sorted(
            [*rules, *training_program.RULES, PYTHON2, PINNED, OVER_BUDGET],
            key=lambda rule: rule.id,
        )
    )


def find_rule(text: str) -> Rule:
    """A rule by id or name, in any case."""
    wanted = text.strip().lower()
    for rule in all_rules():
        if wanted in (rule.id.lower(), rule.name.lower()):
            return rule
    raise UserError(f"there is no rule {text!r}", hint="`tfmigrate rules` lists them")
