"""A spec that a head makes: its logits and labels, and how it trains."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..canned.plan import ModelHead
from ..code.arguments import is_none
from ..code.statements import is_docstring, latest, loads
from ..code.tree import Statement, only_small, statements_of, walk
from ..optimizers.model_fn import TrainOp, read_head_optimizer, read_train_op
from ..program import PredictPlan
from .heads import Heads, head_call, model_heads, read_heads
from .losses import LossCode
from .sections import Sections
from .source import Source

__all__ = ["head_loss", "head_outputs", "head_train_op"]

# A head reshapes its labels anyway.
_SHAPES = ("tf.expand_dims", "tf.reshape")


def head_loss(
    sections: Sections, statements: Sequence[Statement], call: cst.Call, mode: str
) -> tuple[LossCode, tuple[ModelHead, ...]]:
    """What stands before the heads' own code, and what they are given."""
    heads, given = _spec(sections, call)
    logits = _parts(sections, statements, given.get("logits"), heads, mode)
    labels = _parts(sections, statements, given.get("labels"), heads, mode)
    if not is_none(given.get("regularization_losses")):
        raise sections.source.stop(call, "a head with `regularization_losses`")
    reductions = {head.reduction == "sum" for head in heads.heads}
    if len(reductions) != 1:
        raise sections.source.stop(call, "heads that reduce their losses differently")
    found = model_heads(
        heads,
        [sections.expression(node, mode, statements) for node in logits],
        [sections.expression(_unshaped(sections, n), mode, statements) for n in labels],
    )
    lines = _lines(sections, statements, [*logits, *labels], mode)
    only = heads.heads[0]
    single = not heads.several and only.reduction != "sum" and only.weights is None
    return LossCode(lines, "", single), tuple(found)


def head_outputs(
    sections: Sections,
    statements: Sequence[Statement],
    call: cst.Call,
    expected: Sequence[ModelHead],
) -> PredictPlan:
    """What stands before the predictions, which are the heads' own."""
    heads, given = _spec(sections, call)
    logits = _parts(sections, statements, given.get("logits"), heads, "PREDICT")
    if any(head.modern for head in heads.heads):
        raise sections.source.stop(call, "the predictions of a head of TF 2")
    for node, one in zip(logits, expected, strict=True):
        if sections.expression(node, "PREDICT", statements) != one.logits:
            reason = "training and prediction give their heads other tensors"
            raise sections.source.stop(call, reason)
    return PredictPlan(_lines(sections, statements, logits, "PREDICT"), "", True)


def head_train_op(
    source: Source,
    statements: Sequence[Statement],
    call: cst.Call,
    heads: Sequence[ModelHead],
) -> TrainOp:
    """How the head's spec trains: an optimizer, or a function of the loss."""
    modern = any(one.head.modern for one in heads)
    given = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
    names = [a.keyword for a in call.args]
    if None in names[4:]:
        raise source.stop(call, "arguments of create_estimator_spec without names")
    optimizer, function = given.get("optimizer"), given.get("train_op_fn")
    if not is_none(optimizer):
        assert optimizer is not None
        if modern:
            raise source.stop(call, "a Keras optimizer inside of a head's spec")
        found = read_head_optimizer(source, statements, optimizer)
    elif not is_none(function):
        assert function is not None
        before, loss, result = _function(source, function)
        found = read_train_op(source, [*statements, *before], result, loss)
    else:
        raise source.stop(call, "a head's spec that does not train")
    # A lone head of TF 1 ran the update operations of its graph itself.
    found.updates = found.updates or (len(heads) == 1 and not modern)
    return found


def _function(
    source: Source, node: cst.BaseExpression
) -> tuple[list[Statement], str, cst.BaseExpression]:
    """Statements, the name of the loss and the result of ``train_op_fn``."""
    tree = source.tree
    value = tree.value(node)
    if isinstance(value, cst.Lambda) and len(value.params.params) == 1:
        return [], value.params.params[0].name.value, value.body
    defined = tree.resolver.definition(node)
    if isinstance(defined, cst.FunctionDef) and len(defined.params.params) == 1:
        body = defined.body
        assert isinstance(body, cst.IndentedBlock)
        statements = [s for s in statements_of(body) if not is_docstring(s)]
        last = only_small(statements[-1]) if statements else None
        if isinstance(last, cst.Return) and last.value is not None:
            name = defined.params.params[0].name.value
            return statements[:-1], name, last.value
    raise source.stop(node, "a train_op_fn that is not seen")


def _spec(
    sections: Sections, call: cst.Call
) -> tuple[Heads, dict[str, cst.BaseExpression]]:
    tree = sections.tree
    function = call.func
    made = (
        head_call(tree, function.value) if isinstance(function, cst.Attribute) else None
    )
    if made is None:
        raise sections.source.stop(call, "a mode without the head of the others")
    return read_heads(tree, made), sections.modes.spec(call)


def _parts(
    sections: Sections,
    statements: Sequence[Statement],
    node: cst.BaseExpression | None,
    heads: Heads,
    mode: str,
) -> list[cst.BaseExpression]:
    """The tensor of each head."""
    if node is None or is_none(node):
        raise sections.source.stop(sections.source.defined, "a head without tensors")
    if not heads.several:
        return [node]
    tree = sections.tree
    value = latest(tree, statements, node)
    # What the model returns is a name; only what is made behind it is looked into.
    behind = value is node or any(
        value is inner for s in statements for inner in walk(s)
    )
    entries: dict[str, cst.BaseExpression] = {}
    if isinstance(value, cst.Dict):
        for element in value.elements:
            key = element.key if isinstance(element, cst.DictElement) else None
            if isinstance(key, cst.SimpleString):
                entries[str(key.evaluated_value)] = element.value
    names = {head.name or "" for head in heads.heads}
    if entries and not names <= set(entries):
        shown = sorted(names - set(entries))[0]
        raise sections.source.stop(node, f"no tensor for the head `{shown}`")
    if entries and behind:
        return [entries[head.name or ""] for head in heads.heads]
    if not isinstance(node, cst.Name) or not (entries or node.value == "labels"):
        raise sections.source.stop(node, "tensors that are not one for each head")
    return [
        # The name keeps its place in the module, for those who ask what it means.
        cst.Subscript(
            node,
            [cst.SubscriptElement(cst.Index(cst.SimpleString(f'"{head.name}"')))],
        )
        for head in heads.heads
    ]


def _unshaped(sections: Sections, node: cst.BaseExpression) -> cst.BaseExpression:
    """Labels without what only gives them another dimension."""
    if isinstance(node, cst.IfExp):
        return node.with_changes(
            body=_unshaped(sections, node.body), orelse=_unshaped(sections, node.orelse)
        )
    if (
        isinstance(node, cst.Call)
        and sections.tree.symbol(node.func) in _SHAPES
        and node.args
        and not node.args[0].star
    ):
        return _unshaped(sections, node.args[0].value)
    return node


def _lines(
    sections: Sections,
    statements: Sequence[Statement],
    nodes: Sequence[cst.BaseExpression],
    mode: str,
) -> tuple[str, ...]:
    """The statements that the tensors of a head follow from."""
    wanted = {name for node in nodes for name in loads(sections.tree, node)}
    chosen = sections.slice(statements, wanted)
    for statement in chosen:
        sections.check(statement)
    return tuple(sections.code(s, mode, statements) for s in chosen)
