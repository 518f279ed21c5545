"""The train_op of a model_fn: its optimizer, its rate, what becomes of gradients."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.pure import is_plain_call, is_pure
from ..code.statements import (
    assigned,
    backward_slice,
    binds,
    flat,
    latest,
    loads,
    names_in,
)
from ..code.texts import source_text
from ..code.tree import Statement, only_small, walk
from ..model_fn.source import Source
from ..model_fn.update_ops import (
    is_update_collection,
    moves_variables,
)
from ..program import MODEL, OPTIMIZER, TF
from .schedules import (
    is_step,
)
from .setup import OptimizerSetup, TrainOp

__all__ = ["TrainOp", "read_train_op"]


def read_train_op(
    source: Source,
    statements: Sequence[Statement],
    node: cst.BaseExpression,
    loss: str,
) -> TrainOp:
    """The train_op after the statements of training, or Blocked."""
    return _Reader(source, statements, loss).read(node)


class _Reader:
    def __init__(
        self,
        source: Source,
        statements: Sequence[Statement],
        loss: str,
    ) -> None:
        self.source = source
        self.tree = source.tree
        self.loss = loss
        self.found = TrainOp()
        self.setup = OptimizerSetup(source, statements, self.found)

    @property
    def statements(self) -> list[Statement]:
        """The statements of training; those of wrappers that were read are gone."""
        return self.setup.statements

    def stop(self, node: cst.CSTNode, reason: str) -> Exception:
        return self.source.stop(node, reason)

    def read(self, node: cst.BaseExpression) -> TrainOp:
        call = self._operation(node)
        self._check_alone(call)
        assert isinstance(call.func, cst.Attribute)
        if call.func.attr.value == "minimize":
            self._minimize(call, call.func.value)
        else:
            self._apply_gradients(call, call.func.value)
        return self.found

    def _check_alone(self, call: cst.Call) -> None:
        """Nothing else moves variables, which the train_op may wait for."""
        for statement in self.statements:
            for node in walk(statement):
                if node is call or not isinstance(node, cst.Call):
                    continue
                if not moves_variables(self.tree, node):
                    continue
                around = self.tree.ancestors(node)
                chosen = any(isinstance(holder, cst.If) for holder in around)
                if not chosen or self.tree.code(node) != self.tree.code(call):
                    shown = self.tree.code(node.func)
                    raise self.stop(node, f"`{shown}` moves variables as well")

    def _operation(
        self, node: cst.BaseExpression, known: Sequence[Statement] | None = None
    ) -> cst.Call:
        """The call that trains, through names and groups.

        ``known`` are the statements before the one that reads ``node``.
        """
        known = list(flat(self.statements)) if known is None else known
        value = latest(self.tree, known, node)
        made = [n for n, s in enumerate(known) if only_value(s) is value]
        known = known[: made[-1]] if made and isinstance(node, cst.Name) else known
        if isinstance(value, cst.Call):
            symbol = self.tree.symbol(value.func)
            if symbol == "tf.group":
                kept = [a for a in value.args if not self._is_update(a)]
                if len(kept) == 1 and not kept[0].star and kept[0].keyword is None:
                    if len(kept) != len(value.args):
                        self.found.updates = True
                    inner = kept[0].value
                    if isinstance(inner, (cst.List, cst.Tuple)):
                        parts = [
                            e.value for e in inner.elements if not self._is_update(e)
                        ]
                        if len(parts) == 1:
                            self.found.updates = True
                            return self._operation(parts[0], known)
                    return self._operation(inner, known)
            if symbol is None and method(value) in ("minimize", "apply_gradients"):
                return value
        raise self.stop(node, "the train_op is not a plain minimize")

    def _is_update(self, argument: cst.Arg | cst.BaseElement) -> bool:
        """An argument that names the UPDATE_OPS."""
        if isinstance(argument, cst.Arg) and argument.keyword is not None:
            return argument.keyword.value == "name"
        value = latest(self.tree, self.statements, argument.value)
        return is_update_collection(self.tree, value)

    # -- ways to train ----------------------------------------

    def _minimize(self, call: cst.Call, optimizer: cst.BaseExpression) -> None:
        try:
            given = match_arguments(
                call,
                (
                    "loss",
                    "global_step",
                    "var_list",
                    "gate_gradients",
                    "aggregation_method",
                    "colocate_gradients_with_ops",
                    "name",
                    "grad_loss",
                ),
            )
        except UnknownArguments as problem:
            raise self.stop(call, f"minimize with {problem}") from None
        self._of_loss(call, given.get("loss"))
        for name in ("var_list", "grad_loss"):
            if not is_none(given.get(name)):
                raise self.stop(call, f"minimize(`{name}`=)")
        if not is_step(self.source, given.get("global_step")):
            raise self.stop(call, "minimize without the global step")
        self.minimize(optimizer)

    def minimize(self, optimizer: cst.BaseExpression) -> None:
        """All variables, by an optimizer that may clip."""
        clip = self.setup.read(optimizer)
        if clip is not None:
            self.found.apply.append(
                f"gradients, _ = {TF}.clip_by_global_norm(gradients, {clip})\n"
            )
        self._plain_apply()

    def _plain_apply(self) -> None:
        pairs = f"zip(gradients, {MODEL}.trainable_variables)"
        self.found.apply.append(f"{OPTIMIZER}.apply_gradients({pairs})\n")

    def _of_loss(self, call: cst.Call, node: cst.BaseExpression | None) -> None:
        if not isinstance(node, cst.Name) or node.value != self.loss:
            raise self.stop(call, "it minimizes something else than the loss")

    def _apply_gradients(self, call: cst.Call, optimizer: cst.BaseExpression) -> None:
        try:
            given = match_arguments(call, ("grads_and_vars", "global_step", "name"))
        except UnknownArguments as problem:
            raise self.stop(call, f"apply_gradients with {problem}") from None
        if not is_step(self.source, given.get("global_step")):
            raise self.stop(call, "apply_gradients without the global step")
        clip = self.setup.read(optimizer)
        if clip is not None:
            raise self.stop(call, "an optimizer that clips, and gradients by hand")
        pairs = given["grads_and_vars"]
        wanted = loads(self.tree, pairs) - self._setup_names(optimizer)
        chosen = backward_slice(self.tree, self.statements, wanted)
        late = [s for s in chosen if self._after_loss(s, chosen)]
        steps = self._with_settings(chosen, late, pairs)
        for statement in steps:
            self.found.apply += self._gradient_statement(statement)
        arguments = self._gradient_text(pairs)
        self.found.apply.append(f"{OPTIMIZER}.apply_gradients({arguments})\n")
        self.found.apply = _without_unused(self.found.apply)
        if not any("gradients" in line for line in self.found.apply):
            raise self.stop(call, "it is not seen how the gradients are made")

    def _with_settings(
        self,
        chosen: Sequence[Statement],
        late: Sequence[Statement],
        pairs: cst.BaseExpression,
    ) -> list[Statement]:
        """The statements on gradients, with the plain values that these read."""
        made = {name for statement in late for name in binds(statement)}
        wanted = loads(self.tree, pairs)
        for statement in late:
            wanted |= loads(self.tree, statement)
        reads = {self.loss}
        for node in walk(pairs):
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                reads |= loads(self.tree, node.func.value)
        for statement in late:
            for node in walk(statement):
                if isinstance(node, cst.Call) and method(node) is not None:
                    assert isinstance(node.func, cst.Attribute)
                    reads |= loads(self.tree, node.func.value)
        kept: list[Statement] = []
        missing = wanted - made - reads
        for statement in reversed(chosen):
            if statement in late:
                kept.append(statement)
            elif binds(statement) & missing:
                self._check_setting(statement)
                kept.append(statement)
                missing |= loads(self.tree, statement)
        return kept[::-1]

    def _check_setting(self, statement: Statement) -> None:
        """A plain value: nothing of the model or of the step is in it."""
        small = only_small(statement)
        calls = (n for n in walk(statement) if isinstance(n, cst.Call))
        if not isinstance(small, cst.Assign) or not all(
            is_plain_call(self.source, call) for call in calls
        ):
            shown = ", ".join(assigned(statement))
            raise self.stop(statement, f"the gradients depend on `{shown}`")

    def _setup_names(self, optimizer: cst.BaseExpression) -> set[str]:
        return {optimizer.value} if isinstance(optimizer, cst.Name) else set()

    def _after_loss(self, statement: Statement, chosen: Sequence[Statement]) -> bool:
        """A statement that works on gradients, or on what follows from them."""
        late: set[str] = set()
        for one in chosen:
            makes = any(
                isinstance(node, cst.Call) and method(node) == "compute_gradients"
                for node in walk(one)
            )
            if makes or loads(self.tree, one) & late:
                late |= binds(one)
                if one is statement:
                    return True
        return False

    def _gradient_statement(self, statement: Statement) -> list[str]:
        small = only_small(statement)
        if isinstance(small, cst.Assign) and isinstance(small.value, cst.Call):
            value, names = small.value, assigned(statement)
            inner = value.args[0].value if value.args and value.args[0].star else None
            if (
                isinstance(value.func, cst.Name)
                and value.func.value == "zip"
                and isinstance(inner, cst.Call)
                and method(inner) == "compute_gradients"
                and len(names) == 2
            ):
                self._of_loss(inner, inner.args[0].value)
                lines = self.source.comments(statement)
                if names[0] != "gradients":
                    lines.append(f"{names[0]} = gradients\n")
                return [*lines, f"{names[1]} = {MODEL}.trainable_variables\n"]
        self._check_gradients(statement)
        changed = statement.visit(_Gradients(self))
        assert isinstance(changed, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        code = source_text(changed)
        return [] if code == "gradients = gradients\n" else [code]

    def _gradient_text(self, node: cst.BaseExpression) -> str:
        self._check_gradients(node)
        changed = node.visit(_Gradients(self))
        assert isinstance(changed, cst.BaseExpression)
        return source_text(changed)

    def _check_gradients(self, root: cst.CSTNode) -> None:
        for node in walk(root):
            if not isinstance(node, cst.Call):
                continue
            symbol = self.tree.symbol(node.func)
            if symbol == "tf.clip_by_global_norm":
                continue
            if symbol is not None and not is_pure(symbol):
                raise self.stop(node, f"`{symbol}` on the gradients")
            if method(node) == "compute_gradients":
                continue
            if symbol is None and not is_plain_call(self.source, node):
                shown = self.tree.code(node.func)
                raise self.stop(node, f"`{shown}` on the gradients")


def _without_unused(lines: Sequence[str]) -> list[str]:
    """The lines with ``_`` for parts of a tuple that only a summary read."""
    found = list(lines)
    for number, line in enumerate(found):
        tree = ast.parse(line)
        made = tree.body[0] if tree.body else None
        if not isinstance(made, ast.Assign) or not isinstance(
            made.targets[0], ast.Tuple
        ):
            continue
        later = {name for after in found[number + 1 :] for name in names_in(after)}
        parts = [n for n in made.targets[0].elts if isinstance(n, ast.Name)]
        # From the last one on, so that the places of the others stay.
        for name in sorted(parts, key=lambda part: -part.col_offset):
            if name.id not in later and name.lineno == 1 and "#" not in line:
                start, end = name.col_offset, name.end_col_offset
                found[number] = found[number][:start] + "_" + found[number][end:]
    return found


def only_value(statement: Statement) -> cst.BaseExpression | None:
    """The value of a plain assignment."""
    small = only_small(statement)
    return small.value if isinstance(small, cst.Assign) else None


def method(call: cst.Call) -> str | None:
    """The name of the method that is called."""
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else None


class _Gradients(cst.CSTTransformer):
    """Gradients come from the tape."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.tree = reader.tree

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.tree.symbol(original_node.func)
        if method(original_node) == "compute_gradients" and symbol is None:
            self._check(original_node)
            code = f"list(zip(gradients, {MODEL}.trainable_variables))"
            return cst.parse_expression(code)
        return updated_node

    def _check(self, call: cst.Call) -> None:
        reader = self.reader
        try:
            given = match_arguments(call, ("loss",))
        except UnknownArguments as problem:
            raise reader.stop(call, f"gradients with {problem}") from None
        reader._of_loss(call, given.get("loss"))
