"""Scalar summaries of a model_fn that a loop can write: their tags and their values.

A hook wrote them in training steps, under tags that TF 1 took from the names in the
graph. What the loop writes is the value of the first replica, as TF 1 did.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile

import libcst as cst

from ..code.arguments import UnknownArguments, match_arguments
from ..code.statements import binds, latest, loads
from ..code.tree import Statement, only_small, walk
from ..hooks.watched import is_number
from ..keras.program import OPTIMIZERS
from ..program import TF, ScalarSummary
from ..sites import Blocked
from .sections import Sections

__all__ = ["Scalars", "read_scalars"]

_SCALAR = "tf.summary.scalar"
_PARAMETERS = ("name", "tensor", "collections", "family")
_SCOPES = ("tf.name_scope", "tf.variable_scope")
_UNCLEAN = re.compile(r"[^-/\w\.]")


@dataclass
class Scalars:
    """What was found: the summaries, what makes their values, the calls."""

    summaries: list[ScalarSummary] = field(default_factory=list)
    # Statements behind those of the loss.
    lines: list[str] = field(default_factory=list)
    # Variables that these read.
    needs: set[str] = field(default_factory=set)
    calls: list[cst.Call] = field(default_factory=list)


def read_scalars(
    sections: Sections,
    statements: Sequence[Statement],
    loss: str,
    outputs: Collection[str],
    made: Collection[str],
) -> Scalars:
    """The scalar summaries among the statements of training that can be written.

    ``made`` are variables of the forward pass, of which ``outputs`` leave the model.
    """
    return _Reader(sections, statements, loss, outputs, made).read()


class _Reader:
    def __init__(
        self,
        sections: Sections,
        statements: Sequence[Statement],
        loss: str,
        outputs: Collection[str],
        made: Collection[str],
    ) -> None:
        self.sections = sections
        self.tree = sections.tree
        self.statements = list(statements)
        self.loss = loss
        self.hidden = set(made) - set(outputs)
        self.defined = sections.source.defined
        self.bound = set(made) | {n for s in statements for n in binds(s)}
        self.found = Scalars()
        self.codes: list[str] = []
        self.variable = "summaries" if "summaries" not in self.bound else "scalars"

    def read(self) -> Scalars:
        for index, statement in enumerate(self.statements):
            small = only_small(statement)
            call = small.value if isinstance(small, (cst.Expr, cst.Assign)) else None
            if isinstance(call, cst.Call) and self.tree.symbol(call.func) == _SCALAR:
                tag = self._tag(call)
                if tag is not None and self._take(call, tag, index):
                    self.found.calls.append(call)
        if self.codes:
            code = f"{self.variable} = {TF}.stack([{', '.join(self.codes)}])\n"
            self.found.lines.append(code)
        return self.found

    # -- tags -------------------------------------------------------------------

    def _tag(self, call: cst.Call) -> str | None:
        """The tag that TF 1 gave it, or None where it is not seen."""
        try:
            given = match_arguments(call, _PARAMETERS)
        except UnknownArguments:
            return None
        if set(given) - {"name", "tensor", "family"} or "tensor" not in given:
            return None
        scopes = self._scopes(call)
        name, family = _text(given.get("name")), _text(given.get("family"))
        if scopes is None or not name or ("family" in given) != (family is not None):
            return None
        name = _UNCLEAN.sub("_", name).lstrip("/")
        if family is not None:
            name = f"{family}/{name}"
        taken = self._taken(call, scopes)
        number, unique = 0, name
        while unique.lower() in taken:
            number += 1
            unique = f"{name}_{number}"
        tag = "/".join([*scopes, unique])
        return tag if family is None else f"{family}/{tag}"

    def _scopes(self, node: cst.CSTNode) -> list[str] | None:
        """The name scopes around it, or None where one has no plain name."""
        found: list[str] = []
        for outer in self.tree.ancestors(node):
            if outer is self.defined:
                return found[::-1]
            if isinstance(outer, (cst.For, cst.While, cst.FunctionDef)):
                return None
            if not isinstance(outer, cst.With):
                continue
            for item in reversed(outer.items):
                call = item.item
                if not isinstance(call, cst.Call):
                    return None
                if self.tree.symbol(call.func) in _SCOPES:
                    name = _text(call.args[0].value) if call.args else None
                    if not name:
                        return None
                    found.append(name)
        return found[::-1]

    def _taken(self, call: cst.Call, scopes: list[str]) -> set[str]:
        """Names that the graph has already in these scopes, in small letters.

        Those that ops were given, and those that they have by themselves.
        """
        taken: set[str] = set()
        # What the call is given was made before it.
        made = takewhile(lambda node: node is not call, walk(self.defined.body))
        given = (node for argument in call.args for node in walk(argument))
        for node in chain(made, given):
            if not isinstance(node, cst.Call) or self._in_other_mode(node):
                continue
            symbol = self.tree.symbol(node.func)
            if symbol is None or not symbol.startswith("tf."):
                continue
            if self._scopes(node) != scopes:
                continue
            keywords = {a.keyword.value: a.value for a in node.args if a.keyword}
            name = _text(keywords.get("name"))
            if name is None and symbol.startswith("tf.summary.") and node.args:
                name = _text(node.args[0].value)
            if name is None:
                name = symbol.rpartition(".")[2].removeprefix("reduce_")
            taken.add(name.lower())
        return taken

    def _in_other_mode(self, node: cst.CSTNode) -> bool:
        """The call is not made in training."""
        inner = node
        for outer in self.tree.ancestors(node):
            if outer is self.defined:
                break
            if isinstance(outer, cst.If):
                verdict = self.sections.modes.test(outer.test, "TRAIN")
                if verdict is not None and verdict is not (inner is outer.body):
                    return inner is not outer.test
            inner = outer
        return False

    # -- values -----------------------------------------------------------------

    def _take(self, call: cst.Call, tag: str, index: int) -> bool:
        """Notes the summary, if its value is known where the loop is."""
        node = match_arguments(call, _PARAMETERS)["tensor"]
        read = loads(self.tree, node)
        later = [s for s in self.statements[index + 1 :] if binds(s) & read]
        if later:
            return False
        if isinstance(node, cst.Name) and node.value == self.loss:
            self.found.summaries.append(ScalarSummary(tag, "loss"))
            return True
        if self._is_rate(node):
            self.found.summaries.append(ScalarSummary(tag, "rate"))
            return True
        if read & self.hidden:
            return False
        needs = read & self.bound
        try:
            for statement in self.sections.slice(self.statements[:index], needs):
                self.sections.check(statement)
                self.sections.code(statement, "TRAIN", self.statements)
                if loads(self.tree, statement) & self.hidden:
                    return False
            code = self.sections.expression(node, "TRAIN", self.statements)
        except Blocked:
            return False
        if not is_number(self.sections.source, self.statements[:index], node):
            code = f"{TF}.cast({code}, {TF}.float32)"
        self.found.needs |= needs
        self.codes.append(code)
        self.found.summaries.append(ScalarSummary(tag, "value", self.variable))
        return True

    def _is_rate(self, node: cst.BaseExpression) -> bool:
        """It is the learning rate that each optimizer was given."""
        if not isinstance(node, cst.Name):
            return False
        value = latest(self.tree, self.statements, node)
        rates = []
        for statement in self.statements:
            for call in self.tree.calls(statement, tuple(OPTIMIZERS)):
                try:
                    given = match_arguments(
                        call, OPTIMIZERS[self.tree.symbol(call.func) or ""]
                    )
                except UnknownArguments:
                    return False
                rates.append(given.get("learning_rate"))
        return bool(rates) and all(
            isinstance(rate, cst.Name)
            and rate.value == node.value
            and latest(self.tree, self.statements, rate) is value
            for rate in rates
        )


def _text(node: cst.BaseExpression | None) -> str | None:
    """The value of a plain string."""
    if not isinstance(node, cst.SimpleString):
        return None
    value = ast.literal_eval(node.value)
    return value if isinstance(value, str) else None
