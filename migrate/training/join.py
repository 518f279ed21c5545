"""Chooses the parts of `training.py` that a program needs, and joins them."""

from __future__ import annotations

import ast
import bisect
import copy
import re
import sys
import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..names.ast_nodes import children as ast_children
from ..names.ast_nodes import expression_of, members, tree_of
from ..names.ast_nodes import walk as walk_ast
from ..project.files import WRITTEN_HERE
from ..project.text import Edit, Lines, apply_edits

DOCSTRING = f'"""Task and Trainer, {WRITTEN_HERE}"""'
WIDTH = 88

# The parts in the order of the file, and the words of a program that ask for each. A
# part without words comes in when all that it extends are in. Of a part with a star, a
# program gets only what it names, and what that refers to.
WORDS: dict[str, frozenset[str]] = {
    part: frozenset(words.split())
    for part, words in {
        "core": "Task Trainer RunConfig",
        "training_layers": "training_layers",
        "eval_loss": "eval_loss",
        "mixed_precision": "mixed_precision",
        "watch": "watch",
        "replicas": "strategy",
        "eval_steps": "eval_distribute",
        "replace": "replace",
        "seed": "tf_random_seed",
        "sum_loss": "summed",
        "many_optimizers": "optimizers",
        "averages": "averages",
        "warm_start": "warm_start_from WarmStart",
        "layer_weights": "read_layers",
        "summaries": "save_summary_steps summaries summary",
        "predictions": "predictions",
        "predict": "predict predict_keys yield_single_examples",
        "predict_checkpoint": "predict(checkpoint_path)",
        "variable_values": "get_variable_value",
        "input_arguments": "input_fn(params) input_fn(mode) input_fn(config) "
        "input_fn(tensors)",
        "callbacks": "Callback hooks",
        "replicas_callbacks": "",
        "eval_hooks": "evaluate(hooks) EvalSpec(hooks)",
        "task_callbacks": "Task.callbacks",
        "listeners": "saving_listeners",
        "callbacks_trainer": "Callback.trainer",
        "evaluating_callbacks": "Callback.evaluate make_early_stopping_hook",
        "timer": "StepTimer",
        "hooks": "*",
        "log_values": "LogValues(at_end) LogValues(formatter)",
        "export": "export_saved_model",
        "exports": "exports",
        "specs": "TrainSpec EvalSpec train_and_evaluate",
        "spec_hooks": "",
        "spec_exporters": "exporters",
        "experiment": "*",
        "experiment_exports": "Experiment(exporters)",
        "evaluation_log": "evaluations eval_dir",
        "early_stopping": "*",
        "inputs": "*",
        "arrays": "*",
        "datasets": "*",
        "datasets_batches": "next_batch epochs_completed",
        "receivers": "*",
        "exporters": "*",
        "predictors": "*",
        "from_estimator": "from_estimator",
        "added": "*",
        "hparams": "*",
        "gpus": "gpus",
        "tpu": "tpu_strategy",
        "one_process": "TF_CONFIG train_and_evaluate",
        "cluster": "cluster",
        "cluster_properties": "is_chief num_ps_replicas num_worker_replicas",
        "cluster_specs": "",
        "workers": "workers",
        "parameter_servers": "parameter_servers",
        "parameter_servers_summaries": "",
        "both_clusters": "",
        "keras_task": "KerasTask",
        "losses": "*",
        "chains": "*",
        "metrics": "*",
        "schedules": "*",
        "optimizers": "*",
        "columns": "*",
        "layers": "*",
        "linear": "*",
        "cells": "*",
        "heads": "*",
        "learn_heads": "*",
        "weighted_heads": "weight_column",
        "summed_heads": "",
        "wide_and_deep": "WideAndDeepModel",
        "head_exports": "",
        "tables": "tracked",
        "learn_exports": "",
    }.items()
}
HEADS = {
    "strategy": "summed",
    "export_saved_model": "exports",
    "exporters": "exports",
    "EvalSpec(exporters)": "exports",
    "Experiment(exporters)": "exports",
}
# What is said otherwise where two parts come together, by these.
TOGETHER = {
    ("eval_hooks", "specs"): {
        "name, *_ = eval_spec": "name, hooks, *_ = eval_spec",
        "name, _, exporters": "name, hooks, exporters",
        "(input_fn, steps, name=name)": "(input_fn, steps, hooks, name=name)",
    },
    ("watch", "replicas"): {
        **{
            f"        gradients = {made}(share": "        seen = "
            f"self.watch(features, labels, outputs)\n        gradients = {made}(share"
            for made in ("self.gradients_of", "tape.gradient")
        },
        'return {"loss": loss}': 'return {"loss": loss, **seen}',
    },
    ("core", "training_layers"): {"(features, False)": "(features, True)"},
    ("replicas", "added.add_metrics"): {
        "    added = make_metrics()\n": "    with trainer.strategy.scope():\n"
        "        added = make_metrics()\n",
    },
    ("predict", "learn_heads.LearnHead"): {
        "if k in predict_keys}\n": "if k in predict_keys}\n"
        "            elif isinstance(self.task, LearnHead):\n"
        '                key = "scores" if "scores" in answers else "classes"\n'
        "                answers = answers[key]\n"
    },
    ("callbacks", "listeners"): {
        "train(self, input_fn, *, steps=None, max_steps=None, saving_listeners=()):": (
            "train(\n        self, input_fn, hooks=None, steps=None, max_steps=None, "
            "saving_listeners=None\n    ):"
        )
    },
}
# Methods that are said where they are called, if nobody else calls or changes them.
BRIEF = (
    *("_run", "_train_step", "_dataset", "_iterator", "_save", "_hooks"),
    *("build", "gradients_of", "apply_gradients", "_log_and_record"),
)
# So are these where no gradient is of rows alone: `rows` asks for them.
OF_ROWS = {
    "values_of": "gradient",
    "rows_of": "slot",
    "assign_rows": "slot.assign(rows)",
}
LIBRARIES = frozenset(part for part, words in WORDS.items() if "*" in words)


def parts_for(words: Iterable[str]) -> tuple[str, ...]:
    """Returns the parts that define what a program uses, in the order of the file.

    ``words`` are names that the program imports from ``training``, methods, keyword
    arguments and methods of a Task that it overrides; names of parts are taken, too.
    A piece of a part with a star is named with it: ``optimizers.Momentum``.
    """
    return _parts(frozenset(words))


@cache
def _parts(words: frozenset[str]) -> tuple[str, ...]:
    asked = {"core", *words}
    if not asked.isdisjoint({*definitions("heads"), *definitions("learn_heads")}):
        # Replicas add the losses of heads up, and these export several signatures.
        asked |= {HEADS[word] for word in asked & HEADS.keys()}
    chosen = {
        element
        for element in everything()
        if element in asked or asked & WORDS.get(element, {element.partition(".")[2]})
    }
    while True:
        needed = {part for element in chosen for part in needs(element)}
        parts = chosen | {element.partition(".")[0] for element in chosen}
        between = {p for p, own in WORDS.items() if not own and parts >= needs(p)}
        if asked.isdisjoint(definitions("heads")):
            between.discard("head_exports")  # those of tf.contrib.learn have their own
        if needed | between <= chosen:
            chosen -= {"one_process"} if "cluster" in chosen else set()
            return tuple(element for element in everything() if element in chosen)
        chosen |= needed | between


def defined_for(words: Iterable[str]) -> set[str]:
    """Returns the names of what a program with these words can import."""
    found: set[str] = set()
    for element in parts_for(words):
        part, _, piece = element.partition(".")
        found |= {piece} if piece else {*definitions(part)}
    return found


def training_module(parts: Iterable[str]) -> str:
    """Returns the text of `training.py` with these parts, and those that they need."""
    return joined(frozenset(parts))


@cache
def joined(words: frozenset[str]) -> str:
    """Returns the text of `training.py` for words."""
    imports: dict[str, str] = {}
    found: dict[str, Statement] = {}
    constants: dict[str, str] = {}
    chosen = parts_for(words)
    for element in chosen:
        part, _, piece = element.partition(".")
        imports |= imported(source(part))
        for statement in untyped(part):
            name = statement.name
            if piece not in ("", name):
                continue
            if isinstance(statement.node, ast.Assign):
                constants[name] = statement.text
            elif name in found and isinstance(statement.node, ast.ClassDef):
                found[name] = extended(found[name], statement)
            elif name in found:
                found[name] = with_super(statement, found[name])
            else:
                found[name] = statement
    found = in_brief(without_idle(found, words), words)
    texts = ["\n".join(constants.values()), *(one.text for one in found.values())]
    body = "\n\n\n".join(texts) + "\n"
    pieces = [texts[0], *(text for one in found.values() for text in one.pieces)]
    used = frozenset().union(*(named_in(text)[0] for text in pieces))
    for both, changes in TOGETHER.items():
        for old, new in changes.items() if {*both} <= {*chosen} else ():
            body = body.replace(old, new)
    if "ClusterTrainer" in found:  # it is what a program calls a Trainer
        body = re.sub(r"\bTrainer\b", "Learner", body)
        body = body.replace("ClusterTrainer", "Trainer")
    return f"{DOCSTRING}\n\n{import_block(imports, used)}\n{body}"


@cache
def source(part: str) -> str:
    """Returns the text of a part."""
    return Path(__file__).with_name(f"{part}.py").read_text("utf-8")


@cache
def definitions(part: str) -> dict[str, Statement]:
    """Returns what a part defines, by name."""
    return {statement.name: statement for statement in statements_of(source(part))}


@cache
def untyped(part: str) -> tuple[Statement, ...]:
    """Returns the statements of a part without annotations."""
    return tuple(statements_of(without_types(source(part))))


@cache
def members_of_task() -> frozenset[str]:
    """Returns what a Task has by itself, with whatever parts."""
    tasks = [one for part in WORDS if (one := definitions(part).get("Task"))]
    return frozenset(name for one in tasks for name in members(one.node))


@cache
def everything() -> tuple[str, ...]:
    """Returns all parts in the order of the file, those with a star in pieces."""
    found: list[str] = []
    for part in WORDS:
        pieces = [f"{part}.{name}" for name in definitions(part)]
        found += pieces if part in LIBRARIES else [part]
    return tuple(found)


@cache
def needs(element: str) -> frozenset[str]:
    """Returns what a part imports of other parts, or a piece of one refers to."""
    part, _, piece = element.partition(".")
    found, homes = set(), {}
    tree: ast.AST = tree_of(source(part))
    for node in ast_children(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                home = node.module or alias.name
                bound = alias.asname or alias.name
                homes[bound] = f"{home}.{alias.name}" if home in LIBRARIES else home
                if node.module is None and home not in LIBRARIES:
                    found.add(home)
    if piece:
        tree = definitions(part)[piece].node
        homes |= {name: f"{part}.{name}" for name in definitions(part) if name != piece}
    for node in walk_ast(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in LIBRARIES:
            found.add(ast.unparse(node))
        elif isinstance(node, ast.Name) and node.id in homes:
            found.add(homes[node.id])
    return frozenset(found & {*everything()})


@cache
def named_in(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the names that a text refers to, and those that it has after dots."""
    nodes = walk_ast(tree_of(textwrap.dedent(text)))
    return (
        frozenset(node.id for node in nodes if isinstance(node, ast.Name)),
        frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute)),
    )


class Statement:
    """A class, a function or an assignment as text, with the comments above it.

    A class is its head, with its docstring, and its members.
    """

    def __init__(self, node: ast.stmt, lines: list[str]) -> None:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(one.lineno for one in decorators)]) - 1
        while first and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        self.node = node
        self.text = "\n".join(lines[first : node.end_lineno])
        self.name = ""
        self.members: tuple[Statement, ...] = ()
        if isinstance(node, ast.ClassDef):
            _, *members = node.body
            self.head = "\n".join(lines[first : node.body[0].end_lineno])
            self.members = tuple(Statement(member, lines) for member in members)
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

    @property
    def pieces(self) -> list[str]:
        """Its text, that of a class by its members."""
        if not self.members:
            return [self.text]
        return [self.head, *(member.text for member in self.members)]

    def said(self, text: str) -> Statement:
        """Returns it with another text."""
        changed = copy.copy(self)
        changed.text = text
        return changed

    def having(self, members: Iterable[Statement]) -> Statement:
        """Returns the class with other members."""
        changed = copy.copy(self)
        changed.members = tuple(members)
        changed.text = self.head
        for before, member in zip([None, *changed.members], changed.members):
            field = before is not None and member.rank == 0
            changed.text += ("\n" if field else "\n\n") + member.text
        return changed


def statements_of(text: str) -> list[Statement]:
    """Returns the statements of a module that define something."""
    lines = text.splitlines()
    found = [Statement(node, lines) for node in tree_of(text).body]
    return [statement for statement in found if statement.name]


def extended(base: Statement, extension: Statement) -> Statement:
    """Returns a class with the members of its extension, or those in their place."""
    members = [*base.members]
    if not extension.members:
        return base  # as it is written
    for member in extension.members:
        names = [other.name for other in members]
        if member.name in names:
            index = names.index(member.name)
            members[index] = with_super(member, members[index])
        else:
            ranks = [other.rank for other in members]
            members.insert(bisect.bisect(ranks, member.rank), member)
    return base.having(members)


def without_idle(
    statements: dict[str, Statement], words: frozenset[str]
) -> dict[str, Statement]:
    """Returns the module without what nobody calls of hyperparameters and heads.

    A method is called where the module names it after a dot, or a word does: `.parse`.
    """
    some = {"HParams", *definitions("heads"), *definitions("learn_heads")}
    while not some.isdisjoint(statements):
        called = {
            name
            for one in statements.values()
            for text in one.pieces
            for names in named_in(text)
            for name in names
        }
        found = dict(statements)
        for name in statements.keys() & some:
            one = statements[name]
            if not isinstance(one.node, ast.ClassDef):
                if name not in called:
                    del found[name]
                continue
            found[name] = one.having(
                member
                for member in one.members
                if member.name.endswith("__")
                or member.name in called
                or not words.isdisjoint({f".{member.name}", f"{name}.{member.name}"})
            )
        if [one.text for one in found.values()] == [
            one.text for one in statements.values()
        ]:
            break
        statements = found
    return statements


def with_super(method: Statement, base: Statement) -> Statement:
    """Returns a method with the body of its base in the place of `super().name()`.

    A function has that of an earlier part in the place of `return part.name()`. Where
    the result is bound to a name, what the base returns at its end is.
    """
    called = re.compile(
        rf"((return |(\w+ = ))?super\(\)|return (?!self\b)\w+)\.{method.name}\("
    )
    inside = f".{method.name}(" in method.text
    for node in walk_ast(function_of(method)) if inside else ():
        found = isinstance(node, ast.stmt) and called.match(ast.unparse(node))
        if found and isinstance(node, ast.stmt):
            lines, first = base.text.splitlines(), function_of(base).body
            start = first[bool(ast.get_docstring(function_of(base)))]
            above = start.lineno - 1 - len(getattr(start, "decorator_list", ()))
            while lines[above - 1].lstrip()[:1] in ("", "#"):
                above -= 1
            own = method.text.splitlines()
            depth = len(own[node.lineno - 1]) - len(own[node.lineno - 1].lstrip())
            body = textwrap.dedent("\n".join(lines[above:]))
            if found[3]:
                assert not _returns_early(function_of(base)), method.name
                head, _, value = body.rpartition("return ")
                body = f"{head}{found[3]}{value}"
            own[node.lineno - 1 : node.end_lineno] = [
                textwrap.indent(body, " " * depth)
            ]
            return method.said("\n".join(own))
    return method


def _returns_early(function: ast.FunctionDef) -> bool:
    """Whether a function returns before its end; functions in it do not count."""
    pending: list[ast.AST] = [*function.body[:-1]]
    for node in pending:
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)
    return False


def in_brief(
    statements: dict[str, Statement], words: frozenset[str]
) -> dict[str, Statement]:
    """Returns the module with what methods of one expression say where they are called.

    A method that the program calls or changes stays, and so does one that another class
    of the module has as well.
    """
    found = dict(statements)
    brief: dict[str, Said] = {}
    if words.isdisjoint({"rows", *(f"optimizers.{name}" for name in OF_ROWS)}):
        for name in OF_ROWS.keys() & found.keys():
            dense = expression_of(OF_ROWS[name])
            brief[name] = Said(function_of(definitions("optimizers")[name]), dense)
            del found[name]
    named = "\n".join(one.text for one in statements.values())
    for name in BRIEF:
        asked = {name, f".{name}", f"Task.{name}", f"Trainer.{name}"}
        handed = re.search(rf"super\(.*\)\.{name}\(|\.{name}\b(?!\()", named)
        homes = [
            (owner, member)
            for owner, one in found.items()
            for member in one.members
            if member.name == name and isinstance(member.node, ast.FunctionDef)
        ]
        if len(homes) != 1 or handed or not words.isdisjoint(asked):
            continue
        owner, method = homes[0]
        function = function_of(method)
        *above, last = function.body[bool(ast.get_docstring(function)) :]
        if not above and isinstance(last, (ast.Return, ast.Expr)) and last.value:
            kept = [one for one in found[owner].members if one is not method]
            found[owner] = found[owner].having(kept)
            brief[name] = Said(function, last.value)
    if not brief:
        return found
    called = re.compile(rf"\b({'|'.join(brief)})\(")

    def said(one: Statement) -> Statement:
        if called.search(one.text) is None:
            return one
        if one.members:
            return one.having(map(said, one.members))
        text, now = "", one.text
        while text != now:
            text, now = now, with_said(now, brief)
        return one.said(now)

    return {name: said(one) for name, one in found.items()}


class Said(NamedTuple):
    """A function, and the expression that it returns."""

    function: ast.FunctionDef
    value: ast.expr


def with_said(text: str, brief: dict[str, Said]) -> str:
    """Returns a text where expressions with their arguments stand for calls."""
    head = "class _:\n" if text[:1] == " " else ""
    nodes, lines = walk_ast(tree_of(head + text)), Lines(head + text)
    operators = [node for node in nodes if isinstance(node, ast.BinOp)]
    operands = {id(side) for node in operators for side in (node.left, node.right)}
    edits: list[Edit] = []
    for call in nodes:
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name not in brief:
            continue
        owner = ast.unparse(call.func).rpartition(".")[0]
        if owner not in ("", "self", "self.task"):
            continue
        function, said = brief[name]
        given = {p.arg: a for p, a in zip(function.args.args[bool(owner) :], call.args)}
        if isinstance(call.func, ast.Attribute):
            given["self"] = call.func.value
        value = ast.unparse(Filled(given).visit(copy.deepcopy(said)))
        if ast.unparse(said) == "slot" and id(call) not in operands:
            value = f"tf.convert_to_tensor({value})"
        first = lines.offset(call.lineno, call.col_offset)
        last = lines.offset(call.end_lineno or 0, call.end_col_offset or 0)
        if not any(one.start <= first and last <= one.end for one in edits):
            edits.append(Edit(first, last, value.replace("'", '"')))
    return apply_edits(lines.text, edits).removeprefix(head)


class Filled(ast.NodeTransformer):
    """Puts arguments in the place of parameters."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.given.get(node.id, node)


def function_of(method: Statement) -> ast.FunctionDef:
    """Returns the tree of a method, whose lines are those of its text."""
    (function,) = tree_of(textwrap.dedent(method.text)).body
    assert isinstance(function, ast.FunctionDef)
    return function


@cache
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


def import_block(imports: dict[str, str], used: frozenset[str]) -> str:
    """Returns the imports of names that are used, the standard library's first."""
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
    lines = Lines(text)
    edits: list[Edit] = []

    def begin(node: ast.expr | ast.stmt) -> int:
        return lines.offset(node.lineno, node.col_offset)

    def end(node: ast.expr | ast.stmt) -> int:
        return lines.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def walk(node: ast.AST, fields: bool) -> None:
        if isinstance(node, ast.FunctionDef) and node.returns:
            colon = text.index(":", end(node.returns))
            edits.append(Edit(begin(node), colon, signature(node)))
        elif isinstance(node, ast.AnnAssign) and not fields:
            if node.value:
                edits.append(Edit(end(node.target), begin(node.value), " = "))
            else:
                # With the empty line that follows.
                after = lines.starts[node.end_lineno or 0]
                after += text.startswith("\n", after)
                edits.append(Edit(lines.starts[node.lineno - 1], after, ""))
        fields = isinstance(node, ast.ClassDef) and bool(node.decorator_list)
        for child in ast_children(node):
            walk(child, fields)

    walk(ast.parse(text), fields=False)
    return re.sub(r"  # type: .*", "", apply_edits(text, edits))


def signature(function: ast.FunctionDef) -> str:
    """Returns `def name(parameters)` without types, on lines as black has them."""
    for argument in walk_ast(function.args, ast.arg):
        argument.annotation = None
    parameters = ast.unparse(function.args).replace("'", '"')
    start, indent = f"def {function.name}(", " " * function.col_offset
    if len(f"{indent}{start}{parameters}):") <= WIDTH:
        return f"{start}{parameters})"
    lines = [f"    {parameters}"]
    if len(indent + lines[0]) > WIDTH:
        lines = [f"    {parameter}," for parameter in parameters.split(", ")]
    return "\n".join([start, *(indent + line for line in lines), f"{indent})"])
