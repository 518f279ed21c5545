"""Chooses the parts of `training.py` that a program needs, and joins them."""

from __future__ import annotations

import ast
import bisect
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

DOCSTRING = '"""Tasks, and the loops that train and evaluate them."""'
WIDTH = 88

# The parts in the order of the file, and the words of a program that ask for each. A
# part without words comes in when all that it extends are in.
WORDS: dict[str, frozenset[str]] = {
    part: frozenset(words.split())
    for part, words in {
        "core": "Task Trainer RunConfig",
        "replace": "replace",
        "eval_loss": "eval_loss",
        "predict": "predict predictions predict_keys yield_single_examples",
        "callbacks": "Callback hooks",
        "evaluating_callbacks": "Callback.evaluate Callback.predict",
        "input_arguments": "input_fn(params) input_fn(mode) input_fn(config)",
        "inputs": "numpy_input_fn",
        "pandas_inputs": "pandas_input_fn",
        "specs": "TrainSpec EvalSpec train_and_evaluate",
        "spec_hooks": "",
        "losses": "weighted_mean",
        "metrics": "MeanPerClassAccuracy TrapezoidalAUC",
        "optimizers": "Adadelta Ftrl LazyAdam Momentum ProximalAdagrad RMSProp RMSprop",
        "heads": "Classifier BinaryClassifier MultiLabelClassifier PoissonRegressor "
        "Regressor",
        "linear": "LinearModel",
        "wide_and_deep": "WideAndDeepModel",
    }.items()
}
# Parts whose classes come one by one, as `heads.Classifier`, with what they name.
BY_NAME = ("heads", "metrics", "optimizers")


def parts_for(words: Iterable[str]) -> tuple[str, ...]:
    """Returns the parts that define what a program uses, in the order of the file.

    ``words`` are names that the program imports from ``training``, methods, keyword
    arguments and methods of a Task that it overrides; names of parts are taken, too.
    """
    asked = set(words)
    asked |= {f"{p}.{w}" for p in BY_NAME for w in WORDS[p] & asked}
    asked |= {word.partition(".")[0] for word in asked}
    chosen = {"core"} | {p for p, own in WORDS.items() if p in asked or own & asked}
    while True:
        needed = {part for name in chosen for part in needs(name)}
        between = {p for p, own in WORDS.items() if not own and chosen >= set(needs(p))}
        if needed | between <= chosen:
            break
        chosen |= needed | between
    found: list[str] = []
    for part in WORDS:
        if part in chosen:
            names = [f"{part}.{n}" for n in sorted(WORDS[part]) if part in BY_NAME]
            found += [name for name in names if name in asked] or [part]
    return tuple(found)


def training_module(parts: Iterable[str]) -> str:
    """Returns the text of `training.py` with these parts, and those that they need."""
    imports: dict[str, str] = {}
    statements: dict[str, Statement] = {}
    names = [part.partition(".") for part in parts_for(parts)]
    for part in dict.fromkeys(name for name, _, _ in names):
        imports |= imported(source(part))
        found = statements_of(without_types(source(part)))
        wanted = {name for home, _, name in names if home == part}
        for statement in found if wanted == {""} else reached(found, wanted):
            earlier = statements.get(statement.name)
            if earlier and isinstance(statement.node, ast.ClassDef):
                earlier.text = extended(earlier.text, statement.text)
            else:
                statements[statement.name] = statement
    constants = [s for s in statements.values() if isinstance(s.node, ast.Assign)]
    others = [s for s in statements.values() if s not in constants]
    body = "\n".join(s.text for s in constants)
    body += "".join("\n\n\n" + s.text for s in others) + "\n"
    return f"{DOCSTRING}\n\n{import_block(imports, body)}\n{body}"


@cache
def source(part: str) -> str:
    """Returns the text of a part."""
    return Path(__file__).with_name(f"{part}.py").read_text("utf-8")


@cache
def needs(part: str) -> tuple[str, ...]:
    """Returns the other parts that a part imports."""
    found: list[str] = []
    for node in ast.parse(source(part)).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            found += [node.module] if node.module else [a.name for a in node.names]
    return tuple(found)


class Statement:
    """A class, a function or an assignment as text, with the comments above it."""

    def __init__(self, node: ast.stmt, lines: list[str]) -> None:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(one.lineno for one in decorators)]) - 1
        while first and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        self.node = node
        self.text = "\n".join(lines[first : node.end_lineno])
        self.name = ""
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            self.name = node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            self.name = ast.unparse(target)

    @property
    def rank(self) -> int:
        """Fields come first in a class, then what is public, then what is not."""
        if not isinstance(self.node, ast.FunctionDef):
            return 0
        return 2 if self.name.startswith("_") and not self.name.endswith("__") else 1


def statements_of(text: str) -> list[Statement]:
    """Returns the statements of a module that define something."""
    lines = text.splitlines()
    found = [Statement(node, lines) for node in ast.parse(text).body]
    return [statement for statement in found if statement.name]


def reached(statements: list[Statement], names: set[str]) -> list[Statement]:
    """Returns the statements that define names, and what these name in turn."""
    while True:
        found = [one for one in statements if one.name in names]
        used = {
            n.id for s in found for n in ast.walk(s.node) if isinstance(n, ast.Name)
        }
        if not used & {one.name for one in statements} - names:
            return found
        names = names | used


def members_of(text: str) -> tuple[str, list[Statement]]:
    """Returns the head of a class with its docstring, and its members."""
    (node,), lines = ast.parse(text).body, text.splitlines()
    assert isinstance(node, ast.ClassDef)
    head, *members = [Statement(member, lines) for member in node.body]
    return "\n".join(lines[: head.node.end_lineno]), members


def extended(base: str, extension: str) -> str:
    """Returns a class with the members of its extension, or those in their place."""
    head, members = members_of(base)
    for member in members_of(extension)[1]:
        names = [other.name for other in members]
        if member.name in names:
            members[names.index(member.name)] = member
        else:
            ranks = [other.rank for other in members]
            members.insert(bisect.bisect(ranks, member.rank), member)
    text = head
    for before, member in zip([None, *members], members):
        field = before is not None and member.rank == 0
        text += ("\n" if field else "\n\n") + member.text
    return text


def imported(text: str) -> dict[str, str]:
    """Returns the imports of a part by what they bind, but not those of parts."""
    lines = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom) and not node.level
        ):
            for alias in node.names:
                node.names = [alias]
                name = alias.asname or alias.name.partition(".")[0]
                lines[name] = ast.unparse(node)
    return lines


def import_block(imports: dict[str, str], body: str) -> str:
    """Returns the imports of names that are used, the standard library's first."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    kept = sorted({line for name, line in imports.items() if name in used})
    kept.sort(key=lambda line: line.startswith("from"))
    standard = [line for line in kept if module_of(line) in sys.stdlib_module_names]
    others = [line for line in kept if line not in standard]
    return "\n".join([*standard, "", *others]) + "\n"


def module_of(line: str) -> str:
    """Returns the package that an import line names."""
    return line.split()[1].partition(".")[0]


def without_types(text: str) -> str:
    """Returns a module without annotations, but for the fields of dataclasses."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits: list[tuple[int, int, str]] = []

    def begin(node: ast.expr | ast.stmt) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def end(node: ast.expr | ast.stmt) -> int:
        return starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def walk(node: ast.AST, fields: bool) -> None:
        if isinstance(node, ast.FunctionDef) and node.returns:
            colon = text.index(":", end(node.returns))
            edits.append((begin(node), colon, signature(node)))
        elif isinstance(node, ast.AnnAssign) and not fields:
            if node.value:
                edits.append((end(node.target), begin(node.value), " = "))
            else:
                edits.append(
                    (starts[node.lineno - 1], starts[node.end_lineno or 0], "")
                )
        fields = isinstance(node, ast.ClassDef) and bool(node.decorator_list)
        for child in ast.iter_child_nodes(node):
            walk(child, fields)

    walk(ast.parse(text), fields=False)
    for first, last, new in sorted(edits, reverse=True):
        text = text[:first] + new + text[last:]
    return re.sub(r"  # type: .*", "", text)


def signature(function: ast.FunctionDef) -> str:
    """Returns `def name(parameters)` without types, on lines as black has them."""
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    parameters = ast.unparse(function.args).replace("'", '"')
    start, indent = f"def {function.name}(", " " * function.col_offset
    if len(f"{indent}{start}{parameters}):") <= WIDTH:
        return f"{start}{parameters})"
    lines = [f"    {parameters}"]
    if len(indent + lines[0]) > WIDTH:
        lines = [f"    {parameter}," for parameter in parameters.split(", ")]
    return "\n".join([start, *(indent + line for line in lines), f"{indent})"])
