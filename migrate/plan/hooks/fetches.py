"""What a user's hook fetches: the step, the loss and tensors that have a name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..sites import Blocked

__all__ = ["HookEdits", "read_fetches"]

_ARGUMENTS = ("tf.train.SessionRunArgs", "tf.estimator.SessionRunArgs")
_STEPS = (
    "tf.train.get_global_step",
    "tf.train.get_or_create_global_step",
    "tf.contrib.framework.get_global_step",
    "tf.contrib.framework.get_or_create_global_step",
)
# The loss of the model_fn under the names that TensorFlow and people gave it.
_LOSS = re.compile(r"^(\w+/)*(loss|\w*_loss/value)(:0)?$")
_STEP = re.compile(r"^global_step(:0)?$")
_RULE = "TFM116"


@dataclass
class HookEdits:
    """How a hook's methods are edited: what goes, and what stands for a fetch."""

    gone: list[Statement] = field(default_factory=list)
    values: dict[cst.CSTNode, str] = field(default_factory=dict)
    stops: list[Statement] = field(default_factory=list)
    # Methods of which nothing is left.
    emptied: list[cst.FunctionDef] = field(default_factory=list)
    # Nodes below these need no further look: they are replaced.
    known: set[cst.CSTNode] = field(default_factory=set)
    # Tensors that the model_fn names, besides the loss.


class _Fetches:
    def __init__(self, tree: Tree, owner: cst.ClassDef) -> None:
        self.tree = tree
        self.owner = owner
        self.edits = HookEdits()
        # self.NAME -> "step" or "loss"
        self.attributes: dict[str, str] = {}

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        shown = f"`{self.owner.name.value}`"
        return Blocked(_RULE, self.tree.line(node), f"{shown} {reason}")

    def read(self) -> HookEdits:
        methods = {
            s.name.value: s
            for s in self.owner.body.body
            if isinstance(s, cst.FunctionDef)
        }
        for name in ("__init__", "begin"):
            if name in methods:
                self._tensors(methods[name])
        for name in ("before_run", "after_run", "end"):
            if name in methods:
                self._requests(methods[name])
        fetched: object = None
        if "before_run" in methods:
            fetched = self._fetched(methods["before_run"])
        if fetched is not None and "after_run" in methods:
            self._results(methods["after_run"], fetched)
        for name, method in methods.items():
            body = method.body
            if not isinstance(body, cst.IndentedBlock):
                continue
            left = [s for s in statements_of(body) if not _is_docstring(s)]
            if name != "__init__" and all(s in self.edits.gone for s in left):
                self.edits.emptied.append(method)
        return self.edits

    def _tensors(self, method: cst.FunctionDef) -> None:
        """Statements such as ``self._step = tf.train.get_global_step()``."""
        for node in walk(method.body):
            if not isinstance(node, cst.Assign) or len(node.targets) != 1:
                continue
            meaning = self._meaning(node.value)
            target = node.targets[0].target
            if meaning is None or not isinstance(target, cst.Attribute):
                continue
            statement = self.tree.statement(node)
            self.attributes[target.attr.value] = meaning
            self._drop(statement)

    def _drop(self, statement: Statement) -> None:
        if only_small(statement) is None:
            raise self.stop(statement, "has several statements on one line")
        self.edits.gone.append(statement)
        self.edits.known.update(walk(statement))

    def _meaning(self, node: cst.BaseExpression) -> str | None:
        """``step`` or ``loss`` for an expression that names such a tensor."""
        tree = self.tree
        if isinstance(node, cst.Call):
            symbol = tree.symbol(node.func)
            if symbol in _STEPS:
                return "step"
            if (
                isinstance(node.func, cst.Attribute)
                and node.func.attr.value == "get_tensor_by_name"
                and len(node.args) == 1
            ):
                return self._meaning(node.args[0].value)
            return None
        if isinstance(node, cst.SimpleString):
            text = tree.code(node)[1:-1]
            if _STEP.match(text):
                return "step"
            # With regularisation, the loss by name may be only a part of the loss.
            plain = "regulariz" not in tree.text
            if plain and _LOSS.match(text):
                return "loss"
            return None
        if (
            isinstance(node, cst.Attribute)
            and isinstance(node.value, cst.Name)
            and node.value.value == "self"
        ):
            return self.attributes.get(node.attr.value)
        return None

    def _requests(self, method: cst.FunctionDef) -> None:
        """``run_context.request_stop()``."""
        parameters = [p.name.value for p in method.params.params]
        context = parameters[1] if len(parameters) > 1 else None
        for node in walk(method.body):
            if (
                isinstance(node, cst.Call)
                and isinstance(node.func, cst.Attribute)
                and node.func.attr.value == "request_stop"
                and isinstance(node.func.value, cst.Name)
                and node.func.value.value == context
            ):
                statement = self.tree.statement(node)
                small = only_small(statement)
                if not isinstance(small, cst.Expr) or small.value is not node:
                    raise self.stop(node, "stops in a way not understood")
                self.edits.stops.append(statement)
                self.edits.known.update(walk(node))

    def _fetched(self, method: cst.FunctionDef) -> object:
        """What before_run asks for: a name, or names by key or position."""
        returns = [n for n in walk(method.body) if isinstance(n, cst.Return)]
        asked = [r for r in returns if not is_none(r.value)]
        if not asked:
            return None
        if len(asked) != 1 or len(returns) != 1:
            raise self.stop(method, "asks for fetches in several ways")
        value = self.tree.value(asked[0].value)
        if not isinstance(value, cst.Call) or (
            self.tree.symbol(value.func) not in _ARGUMENTS
        ):
            raise self.stop(asked[0], "asks for fetches")
        try:
            given = match_arguments(value, ("fetches", "feed_dict", "options"))
        except UnknownArguments as problem:
            raise self.stop(value, f"asks for fetches with {problem}") from None
        for name in ("feed_dict", "options"):
            if not is_none(given.get(name)):
                raise self.stop(value, f"gives the session `{name}`")
        self._drop(self.tree.statement(asked[0]))
        if "fetches" not in given or is_none(given["fetches"]):
            return None
        return self._structure(given["fetches"])

    def _structure(self, node: cst.BaseExpression) -> object:
        if isinstance(node, cst.Dict):
            found: dict[str, object] = {}
            for element in node.elements:
                if not isinstance(element, cst.DictElement):
                    raise self.stop(node, "asks for fetches")
                found[self.tree.code(element.key)[1:-1]] = self._structure(
                    element.value
                )
            return found
        if isinstance(node, (cst.List, cst.Tuple)):
            return [self._structure(e.value) for e in node.elements]
        meaning = self._meaning(node)
        if meaning is None:
            raise self.stop(node, f"fetches `{self.tree.code(node)}`")
        return meaning

    def _results(self, method: cst.FunctionDef, fetched: object) -> None:
        """Put the loop's values in the place of ``run_values.results``."""
        parameters = [p.name.value for p in method.params.params]
        if len(parameters) != 3:
            return
        for node in walk(method.body):
            if (
                isinstance(node, cst.Attribute)
                and node.attr.value == "results"
                and isinstance(node.value, cst.Name)
                and node.value.value == parameters[2]
            ):
                top, value = self._taken(node, fetched)
                self.edits.known.update(walk(top))
                small = only_small(self.tree.statement(top))
                if (
                    isinstance(small, cst.Assign)
                    and small.value is top
                    and self.tree.code(small.targets[0].target) == value
                ):
                    # ``loss = run_values.results``: the parameter's own name.
                    self.edits.gone.append(self.tree.statement(top))
                    continue
                self.edits.values[top] = value
        scope = self.tree.resolver.scopes.opened.get(method)
        for name in ("step", "loss"):
            if scope is None or name not in self.edits.values.values():
                continue
            kept = [
                b
                for b in scope.bindings.get(name, ())
                if self.tree.statement(b.node) not in self.edits.gone
            ]
            if kept:
                raise self.stop(method, f"has a variable `{name}` of its own")

    def _taken(
        self, node: cst.BaseExpression, fetched: object
    ) -> tuple[cst.BaseExpression, str]:
        """The whole expression around ``results`` and what it gives."""
        parent = self.tree.parent(node)
        if isinstance(fetched, str):
            return node, fetched
        if isinstance(parent, cst.Subscript) and isinstance(
            parent.slice[0].slice, cst.Index
        ):
            index = parent.slice[0].slice.value
            inner: object = None
            if isinstance(fetched, dict) and isinstance(index, cst.SimpleString):
                inner = fetched.get(self.tree.code(index)[1:-1])
            if isinstance(fetched, list) and isinstance(index, cst.Integer):
                inner = dict(enumerate(fetched)).get(int(index.value))
            if inner is not None:
                return self._taken(parent, inner)
        if isinstance(fetched, list) and all(isinstance(f, str) for f in fetched):
            return node, f"({', '.join(str(f) for f in fetched)})"
        raise self.stop(node, "takes its results in a way not understood")


def _is_docstring(statement: Statement) -> bool:
    small = only_small(statement)
    return isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)


def read_fetches(tree: Tree, owner: cst.ClassDef) -> HookEdits:
    """What to edit in a hook class so that it gets its values from the loop."""
    return _Fetches(tree, owner).read()
