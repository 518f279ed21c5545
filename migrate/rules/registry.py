"""Finds the rules: each is a page of docs/rules, whose examples are its tests.

Other packages bring rules by entry points of the group ``tfmigrate.rules``, each a
module with ``RULE`` and ``diagnoses(context)``, as `shape_dimension` has the latter.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from ..errors import UserError, did_you_mean
from ..report.findings import KEEPS, Safety
from .base import Rule
from .kept_programs import kept_section

_HEAD = re.compile(
    r"# (?P<id>\w+) (?P<name>\S+)\n\n(?P<summary>.+)\n\n"
    r"This rule (?P<kind>rewrites|points).*\*\*(?P<safety>.+)\*\*"
)
_CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def _folder() -> Path:
    """The folder of the pages: in a clone it is that of the documentation."""
    installed = Path(__file__).with_name("pages")
    clone = Path(__file__).parents[2] / "docs" / "rules"
    return installed if installed.is_dir() else clone


def read_page(text: str) -> Rule:
    """The rule that a page is about."""
    head, *sections = re.split(r"(?m)^## ", text)
    said = _HEAD.match(head)
    assert said is not None
    parts = {title: part for title, _, part in (s.partition("\n\n") for s in sections)}
    code = _CODE.findall(parts.get("Examples", ""))
    return Rule(
        id=said["id"],
        name=said["name"],
        summary=said["summary"],
        why=parts["Why"].strip(),
        safety=Safety(said["safety"]),
        examples=[*zip(code[::2], code[1::2], strict=True)],
        noops=_CODE.findall(parts.get("Left alone", "")),
        advice_only=said["kind"] == "points",
    )


def rule_page(rule: Rule) -> str:
    """The Markdown page of a rule."""
    kind = "points at the place and leaves the code" if rule.advice_only else "rewrites"
    parts = [f"# {rule.id} {rule.name}", rule.summary]
    parts += [f"This rule {kind}. Safety: **{rule.safety.value}**."]
    parts += ["## Why", rule.why]
    parts += ["## Examples"] if rule.examples else []
    for before, after in rule.examples:
        parts += ["Before:", _code(before), "After:", _code(after)]
    parts += ["## Left alone", *map(_code, rule.noops)] if rule.noops else []
    parts += [
        "## Turning it off",
        f"On one line: `# tfmigrate: ignore[{rule.id}] reason`. For a run:\n"
        f"`--ignore {rule.id}`. For a project, in pyproject.toml:",
        f'```toml\n[tool.tfmigrate]\nignore = ["{rule.id}"]\n```\n',
    ]
    return "\n\n".join(parts)


def _code(code: str) -> str:
    return f"```python\n{code}```"


def explained(rule: Rule) -> str:
    """The page of a rule; of the one of kept programs, with what keeps them."""
    page = rule_page(rule)
    if rule.id != KEEPS:
        return page
    return page.replace("## Turning it off", f"{kept_section()}\n## Turning it off")


@lru_cache(maxsize=1)
def own_rules() -> tuple[Rule, ...]:
    """The rules of this package, in order of ids."""
    pages = sorted(_folder().glob("TFM*.md"))
    return tuple(read_page(page.read_text("utf-8")) for page in pages)


@lru_cache(maxsize=1)
def plugins() -> tuple[ModuleType, ...]:
    """The modules of rules that other packages bring."""
    found: dict[str, ModuleType] = {}
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
        if not isinstance(rule, Rule):
            raise UserError(f"{named} needs a RULE of tfmigrate.rules.base.Rule")
        if rule.id in found or any(rule.id == own.id for own in own_rules()):
            raise UserError(
                f"{named} needs a RULE with an id of its own, not {rule.id!r}"
            )
        found[rule.id] = module
    return tuple(found.values())


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in order of ids."""
    rules = [*own_rules(), *(module.RULE for module in plugins())]
    return tuple(sorted(rules, key=lambda rule: rule.id))


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
