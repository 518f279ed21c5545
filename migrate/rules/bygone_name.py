"""``np.int`` becomes ``int``: names that Python and NumPy dropped themselves.

https://numpy.org/doc/stable/release/1.24.0-notes.html
https://numpy.org/doc/stable/numpy_2_0_migration_guide.html
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmigrate.compat.bygone_names import ADVICE, METHODS, PACKAGES, RENAMED

from ..names.scopes import ImportUse, Scope, Use
from ..report.findings import Outcome, Safety
from .base import Diagnosis, Rule
from .context import Context

RULE = Rule(
    id="TFM211",
    name="bygone-name",
    summary="A name that Python or NumPy dropped since is replaced by today's.",
    why=(
        "TensorFlow 2 comes with a NumPy and a Python that have no `np.int`, no "
        "`collections.Mapping` and no `time.clock`. Programs of the TF 1 era name "
        "them everywhere, and would stop there once everything else is moved. Only "
        "modules that import TensorFlow are looked at, and the project's own modules "
        "that these use."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import numpy as np\nimport tensorflow as tf\n\n"
            "x = tf.constant(np.zeros(3, np.int), name=np.unicode(np.NaN))\n",
            "import numpy as np\nimport tensorflow as tf\n\n"
            "x = tf.constant(np.zeros(3, int), name=str(np.nan))\n",
        ),
        (
            "import time\nfrom collections import Mapping, OrderedDict\n\n"
            "import tensorflow as tf\n\nx = tf.constant(time.clock())\n",
            "import time\nfrom collections import OrderedDict\n"
            "from collections.abc import Mapping\n\n"
            "import tensorflow as tf\n\nx = tf.constant(time.process_time())\n",
        ),
        (
            "import tensorflow as tf\n\nx = tf.constant(image.tostring())\n",
            "import tensorflow as tf\n\nx = tf.constant(image.tobytes())\n",
        ),
        (
            "import tensorflow as tf\nfrom fractions import gcd\n\nx = tf.zeros(gcd(4, 6))\n",
            "import tensorflow as tf\nfrom math import gcd\n\nx = tf.zeros(gcd(4, 6))\n",
        ),
        (
            "import inspect\nimport tensorflow as tf\n\n"
            "if 'mode' in inspect.getargspec(model_fn).args:\n"
            "    args, _, _, _ = inspect.getargspec(model_fn)\n",
            "import inspect\nimport tensorflow as tf\n\n"
            "if 'mode' in inspect.getfullargspec(model_fn).args:\n"
            "    args, _, _, _ = inspect.getfullargspec(model_fn)[:4]\n",
        ),
    ),
    noops=(
        "import numpy as np\n\nx = np.int(3)\n",
        "import tensorflow as tf\nfrom xml.etree import ElementTree\n\n"
        "x = tf.constant(ElementTree.tostring(node) + ElementTree.tostring())\n",
        "import numpy as np\nimport tensorflow as tf\n\nx = tf.ones(np.int32(3))\n",
        "import tensorflow as tf\n\n"
        "try:\n    from collections import Mapping\n"
        "except ImportError:\n    from collections.abc import Mapping\n",
    ),
)

_OLD_SPEC, _NEW_SPEC = "getargspec", "getfullargspec"
# What a spec of the arguments was made of -> how these parts are called today.
_SPEC_PARTS = {
    "args": "args",
    "varargs": "varargs",
    "keywords": "varkw",
    "defaults": "defaults",
}


def diagnoses(
    context: Context,
) -> Iterator[tuple[cst.CSTNode, cst.CSTNode | None, Diagnosis]]:
    """Every such name of a module: where it is, its statement, what to say."""
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
                yield node, use.statement, _argument_spec(node, specs[node], context)
            elif dotted is not None and (dotted in RENAMED or dotted in ADVICE):
                yield node, use.statement, _named(node, dotted, use, context)
            if not isinstance(node.value, (cst.Name, cst.Attribute)):
                break
            node = node.value


def _methods(
    context: Context,
) -> Iterator[tuple[cst.CSTNode, cst.CSTNode | None, Diagnosis]]:
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
            edit = context.replace(name, today)
            yield node.func, None, Diagnosis(RULE.id, said, edits=(edit,))


def _argument_specs(context: Context) -> dict[cst.CSTNode, cst.CSTNode]:
    """Names of ``getargspec`` in calls of which a part is taken at once, with its taker.

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
        return _index(node) in range(4)
    return isinstance(node, cst.Assign) and _takes_four(node)


def _index(node: cst.Subscript) -> int:
    """The number that a sequence is asked for; -1 where none is written."""
    part = node.slice[0].slice if len(node.slice) == 1 else None
    if isinstance(part, cst.Index) and isinstance(part.value, cst.Integer):
        return part.value.evaluated_value
    return -1


def _takes_four(node: cst.Assign) -> bool:
    """``a, b, c, d = value``, and nothing else."""
    target = node.targets[0].target
    return (
        len(node.targets) == 1
        and isinstance(target, (cst.Tuple, cst.List))
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
    return Diagnosis(RULE.id, said, edits=tuple(edits))


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
    said = today.removeprefix("builtins.")
    return Diagnosis(
        RULE.id, f"`{dotted}` is `{said}` today", edits=(context.replace(node, text),)
    )


def _advice(dotted: str) -> Diagnosis:
    instead = ADVICE.get(dotted) or f"use `{RENAMED[dotted].removeprefix('builtins.')}`"
    return Diagnosis(
        RULE.id,
        f"`{dotted}` is gone: {instead}",
        outcome=Outcome.ADVICE,
        safety=Safety.NEEDS_REVIEW,
        note=f"`{dotted}` is gone: {instead}",
    )


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
) -> Iterator[tuple[cst.CSTNode, cst.CSTNode | None, Diagnosis]]:
    """``from collections import Mapping``: the import is what changes."""
    node = item.node
    if (
        item.guarded  # what to do without the name is there already
        or not isinstance(node, cst.ImportFrom)
        or not isinstance(node.module, cst.Name)
        or node.relative
        or isinstance(node.names, cst.ImportStar)
        or node.module.value not in PACKAGES
    ):
        return
    package = node.module.value
    gone = {
        alias: f"{package}.{alias.name.value}"
        for alias in node.names
        if isinstance(alias.name, cst.Name)
        and (
            f"{package}.{alias.name.value}" in RENAMED
            or f"{package}.{alias.name.value}" in ADVICE
        )
    }
    if not gone:
        return
    text = _imports_of_today(node, gone, item, context)
    if text is None:
        for alias, dotted in gone.items():
            yield alias, item.statement, _advice(dotted)
        return
    said = ", ".join(f"`{name}` is `{RENAMED[name]}` today" for name in gone.values())
    edit = context.replace(node, text)
    yield node, item.statement, Diagnosis(RULE.id, said, edits=(edit,))


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
        moved.setdefault(module, []).append(
            new if bound == new else f"{new} as {bound}"
        )
    assert isinstance(node.module, cst.Name)
    lines = [f"from {node.module.value} import {', '.join(stay)}"] if stay else []
    lines += [f"from {module} import {', '.join(new)}" for module, new in moved.items()]
    if len(lines) == 1:
        return lines[0]
    statement = item.statement
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return "; ".join(lines)
    start, _ = context.span(node)
    before = context.text[context.text.rfind("\n", 0, start) + 1 : start]
    return ("\n" + before).join(lines) if not before.strip() else "; ".join(lines)
