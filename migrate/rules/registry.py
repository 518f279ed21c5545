"""Finds the rules: every module of this package that defines ``RULE``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from types import ModuleType

from ..errors import UserError, did_you_mean
from . import training_program
from .base import Rule
from .over_budget import OVER_BUDGET
from .pinned_tensorflow import PINNED
from .python2_source import PYTHON2

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
    raise _unknown(text)


def rule_ids(text: str) -> str:
    """The rule id, or the beginning of several, that a user's word stands for."""
    wanted = text.strip()
    for rule in all_rules():
        if rule.id.startswith(wanted.upper()):
            return wanted.upper()
        if rule.name == wanted.lower():
            return rule.id
    raise _unknown(text)


def _unknown(text: str) -> UserError:
    known = [word for rule in all_rules() for word in (rule.id, rule.name)]
    near = did_you_mean(text.upper(), known) or did_you_mean(text.lower(), known)
    return UserError(
        f"there is no rule {text!r}.{near}", hint="`tfmigrate rules` lists them"
    )
