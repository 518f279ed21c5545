"""Finds the rules: every module of this package that defines ``RULE``.

Other packages bring rules by entry points of the group ``tfmigrate.rules``, each a
module with ``RULE`` and ``diagnoses(context)``, as `shape_dimension` has them.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from importlib.metadata import entry_points
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
def plugins() -> tuple[ModuleType, ...]:
    """The modules of rules that other packages bring."""
    found: list[ModuleType] = []
    taken = {one.id for one in _own_rules()}
    for one in entry_points(group="tfmigrate.rules"):
        named = f"the rule {one.name} ({one.value})"
        try:
            module = one.load()
            rule = module.RULE
            module.diagnoses  # noqa: B018 - it is called when files are looked at
        except Exception as error:
            raise UserError(
                f"{named} cannot be loaded: {type(error).__name__}: {error}",
                hint="mend or uninstall the package that brings it",
            ) from None
        if not isinstance(rule, Rule) or rule.id in taken:
            raise UserError(
                f"{named} needs a RULE with an id of its own, not {rule.id!r}"
                if isinstance(rule, Rule)
                else f"{named} needs a RULE of tfmigrate.rules.base.Rule"
            )
        taken.add(rule.id)
        found.append(module)
    return tuple(found)


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in order of ids, the ones of training programs included."""
    rules = [*_own_rules(), *(module.RULE for module in plugins())]
    return tuple(sorted(rules, key=lambda rule: rule.id))


def _own_rules() -> list[Rule]:
    rules = [module.RULE for module in rule_modules()]
    return [*rules, *training_program.RULES, PYTHON2, PINNED, OVER_BUDGET]


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
