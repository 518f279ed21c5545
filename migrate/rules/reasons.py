"""Why programs keep their Estimators: the reasons that the recognisers give.

They are read from the source of what decides, so the page cannot promise or forget
anything: every reason is an argument of a ``Blocked`` of the recognisers, or of what
says why files cannot move together.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

__all__ = ["WHAT_TO_DO", "reasons", "reasons_section"]

_TOOL = Path(__file__).resolve().parent.parent
_FOLDERS = ("plan", "lift", "emit", "around", "project")
_NAMES = ("Blocked", "Blocker")
# Calls that give the reason of several files or of one word: which argument has it.
_TOGETHER: dict[str, str | int] = {
    "_Answer": "why",
    "NoPlace": 0,
    "Stays": 0,
    "_Cause": 3,
}
_OF_A_WORD = ("Stays",)

# What a person can change when one of a kind of reasons stands in the way.
WHAT_TO_DO = {
    "TFM110": (
        "make, train and evaluate the Estimator by plain calls, under one name of its "
        "own, in one function or module"
    ),
    "TFM111": (
        "make the strategy with plain arguments where the RunConfig is made, before "
        "the model"
    ),
    "TFM112": (
        "write tf.estimator.RunConfig(...) with keyword arguments where the Estimator "
        "is made, and leave out what it need not set"
    ),
    "TFM113": (
        "compile the model once, beside its definition, with loss, optimizer and "
        "metrics as keyword arguments"
    ),
    "TFM114": "compute the loss by a function of tf.losses or tf.nn from the logits",
    "TFM115": (
        "let the input function return a tf.data.Dataset, in one of the files that "
        "are rewritten together"
    ),
    "TFM116": (
        "take the hook out, or move its work into the model_fn or behind the training"
    ),
    "TFM117": (
        "make one optimizer of tf.train with plain arguments, and minimize one loss "
        "with it"
    ),
    "TFM106": (
        "give all files of the program to one run, and use what TensorFlow 2 has in "
        "the place of the name"
    ),
}
_TITLES = {
    "TFM103": "The kind of program",
    "TFM110": "The shape of the program",
    "TFM111": "Strategies",
    "TFM112": "RunConfig",
    "TFM113": "compile",
    "TFM114": "Losses and outputs",
    "TFM115": "Input functions",
    "TFM116": "Hooks",
    "TFM117": "Optimizers",
    "TFM106": "Names, and files that belong together",
}


def reasons() -> dict[str, list[str]]:
    """Every reason by the rule it is given for; what varies in it is ``...``."""
    found: dict[str, set[str]] = defaultdict(set)
    for folder in _FOLDERS:
        for path in sorted((_TOOL / folder).rglob("*.py")):
            for rule, text in _told(ast.parse(path.read_text("utf-8"))):
                found[rule].add(text)
    return {rule: sorted(found[rule], key=str.lower) for rule in sorted(found)}


def _told(tree: ast.Module) -> Iterator[tuple[str, str]]:
    constants = {
        target.id: statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _NAMES
            and len(node.args) == 3
        ):
            rule, _, text = node.args
            name = rule.value if isinstance(rule, ast.Constant) else None
            if isinstance(rule, ast.Name):
                name = constants.get(rule.id)
            if name in _TITLES:
                for told in _texts(text):
                    yield str(name), told
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for told in _texts(_together(node)):
                of_word = node.func.id in _OF_A_WORD and not told.startswith("tf.")
                yield "TFM106", f"`...` {told}" if of_word else told


def _together(call: ast.Call) -> ast.expr | None:
    """The reason that a call gives for files that stay together."""
    assert isinstance(call.func, ast.Name)
    at = _TOGETHER.get(call.func.id)
    if isinstance(at, str):
        return next((one.value for one in call.keywords if one.arg == at), None)
    return call.args[at] if at is not None and at < len(call.args) else None


def _texts(node: ast.expr | None) -> Iterator[str]:
    """The text of an argument, or of each of its alternatives."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "..."
            for part in node.values
        )
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)


def reasons_section() -> list[str]:
    """The lines of the page that list all reasons."""
    lines = [
        "## What stands in the way",
        "",
        "The report names file, line and expression. These are the reasons there are, "
        "`...` standing for what is the program's own, and what to do about each kind. "
        "Change it, and rewrite again.",
        "",
    ]
    found = reasons()
    for rule, title in _TITLES.items():
        if rule not in found:
            continue
        lines += [f"### {title}", ""]
        advice = WHAT_TO_DO.get(rule)
        if advice is not None:
            lines += [f"{advice[0].upper()}{advice[1:]}.", ""]
        lines += [f"- {text}" for text in found[rule]]
        lines.append("")
    return lines
