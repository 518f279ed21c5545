"""``np.int`` becomes ``int``: names that Python and NumPy dropped themselves.

https://numpy.org/doc/stable/release/1.24.0-notes.html
https://numpy.org/doc/stable/numpy_2_0_migration_guide.html
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmigrate.compat.bygone_names import ADVICE, METHODS, PACKAGES, RENAMED

from ..names.dotted import import_path
from ..names.scopes import ImportUse, Scope, Use
from .base import Diagnosis, advised
from .context import Context

RULE = "TFM211"

_OLD_SPEC, _NEW_SPEC = "getargspec", "getfullargspec"
# What a spec of the arguments was made of -> how these parts are called today.
_SPEC_PARTS = {one: one for one in ("args", "varargs", "defaults")}
_SPEC_PARTS["keywords"] = "varkw"


def diagnoses(context: Context) -> Iterator[tuple[cst.CSTNode, Diagnosis]]:
    """Every such name of a module, and what to say of it."""
    if not (context.knows_tensorflow or context.helps):
        return
    yield from _methods(context)
    if not any(package in context.text for package in PACKAGES):
        return
    for item in context.resolver.scopes.imports:
        yield from _imported(item, context)
    specs = _argument_specs(context)
    for use in context.resolver.scopes.uses:
        node = use.node
        while isinstance(node, cst.Attribute):
            dotted = context.resolver.qualified(node)
            if node in specs:
                yield node, _argument_spec(node, specs[node], context)
            elif dotted is not None and (dotted in RENAMED or dotted in ADVICE):
                yield node, _named(node, dotted, use, context)
            if not isinstance(node.value, (cst.Name, cst.Attribute)):
                break
            node = node.value


def _methods(context: Context) -> Iterator[tuple[cst.CSTNode, Diagnosis]]:
    """``array.tostring()``: a method that arrays had."""
    if not any(f".{name}()" in context.text for name in METHODS):
        return
    for node in context.resolver.each(cst.Call):
        if (
            not node.args
            and isinstance(node.func, cst.Attribute)
            and node.func.attr.value in METHODS
            and context.resolver.qualified(node.func) is None
        ):
            name = node.func.attr
            today = METHODS[name.value]
            said = f"`{name.value}` of arrays is `{today}` today"
            yield node.func, Diagnosis(RULE, said, (context.replace(name, today),))


def _argument_specs(context: Context) -> dict[cst.CSTNode, cst.CSTNode]:
    """Names of ``getargspec`` in calls of which a part is taken, with its taker.

    The first four parts of what ``getfullargspec`` gives are the four of old.
    """
    if f".{_OLD_SPEC}(" not in context.text:
        return {}
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in context.resolver.each(cst.Attribute, cst.Subscript, cst.Assign):
        if not _takes_a_part(node):
            continue
        call = getattr(node, "value", None)
        if (
            isinstance(call, cst.Call)
            and context.resolver.qualified(call.func) == f"inspect.{_OLD_SPEC}"
        ):
            found[call.func] = node
    return found


def _takes_a_part(node: cst.CSTNode) -> bool:
    """``x.args``, ``x[0]`` and ``a, b, c, d = x``: parts that there are today too."""
    if isinstance(node, cst.Attribute):
        return node.attr.value in _SPEC_PARTS
    if isinstance(node, cst.Subscript):
        part = node.slice[0].slice if len(node.slice) == 1 else None
        index = part.value if isinstance(part, cst.Index) else None
        return isinstance(index, cst.Integer) and index.evaluated_value < 4
    if not isinstance(node, cst.Assign) or len(node.targets) > 1:
        return False
    target = node.targets[0].target
    return (
        isinstance(target, (cst.Tuple, cst.List))
        and len(target.elements) == 4
        and all(isinstance(one, cst.Element) for one in target.elements)
    )


def _argument_spec(
    node: cst.CSTNode, taker: cst.CSTNode, context: Context
) -> Diagnosis:
    assert isinstance(node, cst.Attribute)
    edits = [context.replace(node.attr, _NEW_SPEC)]
    if isinstance(taker, cst.Attribute) and taker.attr.value != (
        part := _SPEC_PARTS[taker.attr.value]
    ):
        edits.append(context.replace(taker.attr, part))
    if isinstance(taker, cst.Assign):
        edits.append(context.insert_after(taker.value, "[:4]"))
    said = f"`inspect.{_OLD_SPEC}` is `inspect.{_NEW_SPEC}` today"
    return Diagnosis(RULE, said, edits=tuple(edits))


def _named(node: cst.Attribute, dotted: str, use: Use, context: Context) -> Diagnosis:
    today = RENAMED.get(dotted)
    if today is None:
        return _advice(dotted)
    package, _, rest = today.partition(".")
    if package == "builtins" and not _shadowed(rest, use.scope):
        text = rest
    elif package == dotted.partition(".")[0]:
        text = f"{context.source(node.value)}.{rest}"
    else:
        return _advice(dotted)
    said = f"`{dotted}` is `{today.removeprefix('builtins.')}` today"
    return Diagnosis(RULE, said, (context.replace(node, text),))


def _advice(dotted: str) -> Diagnosis:
    instead = ADVICE.get(dotted) or f"use `{RENAMED[dotted].removeprefix('builtins.')}`"
    said = f"`{dotted}` is gone: {instead}"
    return advised(RULE, said, note=said)


def _shadowed(name: str, scope: Scope) -> bool:
    """Whether the module means something of its own by a name of Python's."""
    at: Scope | None = scope
    while at is not None:
        if name in at.bindings:
            return True
        at = at.parent
    return False


def _imported(
    item: ImportUse, context: Context
) -> Iterator[tuple[cst.CSTNode, Diagnosis]]:
    """``from collections import Mapping``: the import is what changes."""
    node = item.node
    if (
        item.guarded  # what to do without the name is there already
        or not isinstance(node, cst.ImportFrom)
        or isinstance(node.names, cst.ImportStar)
        or node.relative
        or import_path(node.module) not in PACKAGES
    ):
        return
    dotted = {a: f"{import_path(node.module)}.{a.evaluated_name}" for a in node.names}
    gone = {a: name for a, name in dotted.items() if name in RENAMED or name in ADVICE}
    if not gone:
        return
    text = _imports_of_today(node, gone, item, context)
    if text is None:
        for alias, name in gone.items():
            yield alias, _advice(name)
        return
    said = ", ".join(f"`{name}` is `{RENAMED[name]}` today" for name in gone.values())
    yield node, Diagnosis(RULE, said, (context.replace(node, text),))


def _imports_of_today(
    node: cst.ImportFrom,
    gone: dict[cst.ImportAlias, str],
    item: ImportUse,
    context: Context,
) -> str | None:
    """The import written anew, or None where a person has to do it."""
    assert not isinstance(node.names, cst.ImportStar)
    source = context.source(node)
    if "#" in source or not all(dotted in RENAMED for dotted in gone.values()):
        return None
    if any(RENAMED[dotted].startswith("builtins.") for dotted in gone.values()):
        return None
    stay: list[str] = []
    moved: dict[str, list[str]] = {}
    for alias in node.names:
        name = alias.evaluated_name
        bound = alias.evaluated_alias or name
        if alias not in gone:
            stay.append(name if bound == name else f"{name} as {bound}")
            continue
        module, _, new = RENAMED[gone[alias]].rpartition(".")
        name = new if bound == new else f"{new} as {bound}"
        moved.setdefault(module, []).append(name)
    package = import_path(node.module)
    lines = [f"from {package} import {', '.join(stay)}"] if stay else []
    lines += [f"from {module} import {', '.join(new)}" for module, new in moved.items()]
    if len(lines) == 1:
        return lines[0]
    statement = item.statement
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return "; ".join(lines)
    start, _ = context.span(node)
    before = context.text[context.text.rfind("\n", 0, start) + 1 : start]
    return ("\n" + before).join(lines) if not before.strip() else "; ".join(lines)
