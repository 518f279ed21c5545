"""Input functions that hand out tensors: where their Dataset is, and what follows.

Programs of 2017 returned ``iterator.get_next()``. Such a function is edited where
it stands: it returns its Dataset, and what it did with the tensors becomes a
function that the Dataset maps.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...symbols.nodes import children
from ..code.tree import Body, Statement, Tree, only_small, statements_of, walk
from ..sites import Blocked, InputSites, TensorTail

__all__ = ["own_nodes", "read_function"]

_MAKERS = ("make_one_shot_iterator", "make_initializable_iterator")
_COLLECT = ("tf.add_to_collection", "tf.compat.v1.add_to_collection")
_QUEUES = (
    "tf.train.batch",
    "tf.train.shuffle_batch",
    "tf.train.string_input_producer",
    "tf.train.slice_input_producer",
    "tf.train.range_input_producer",
    "tf.train.limit_epochs",
    "tf.train.input_producer",
    "tf.train.maybe_batch",
    "tf.contrib.training.bucket_by_sequence_length",
)
_RULE = "TFM115"
_DICT_METHODS = ("pop", "items", "keys", "values", "update", "get")


def own_nodes(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Everything below a function's body, without nested functions and classes."""
    yield root
    for child in children(root):
        if not isinstance(child, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            yield from own_nodes(child)


def read_function(
    tree: Tree, defined: cst.FunctionDef, line: int, sites: InputSites
) -> None:
    """Check that a function returns a Dataset, or can be made to."""
    if not sites.new(defined):
        return
    body = defined.body
    nodes = list(own_nodes(body))
    for node in nodes:
        symbol = tree.symbol(node.func) if isinstance(node, cst.Call) else None
        if symbol in _QUEUES:
            reason = (
                f"the queues of `{symbol}`: read the files with tf.data first "
                "(TextLineDataset or TFRecordDataset, then shuffle, repeat, batch)"
            )
            raise Blocked(_RULE, tree.line(node), reason)
        if symbol is not None and symbol.startswith("tf.summary."):
            raise Blocked(_RULE, tree.line(node), "a summary in the input function")
    returns = [n for n in nodes if isinstance(n, cst.Return)]
    if not returns or any(r.value is None for r in returns):
        raise Blocked(_RULE, line, "the input function returns nothing")
    nexts = [
        n
        for n in nodes
        if isinstance(n, cst.Call)
        and isinstance(n.func, cst.Attribute)
        and n.func.attr.value == "get_next"
    ]
    if not nexts:
        _check_datasets(tree, nodes, returns, line, sites)
        return
    if len(nexts) != 1 or len(returns) != 1:
        raise Blocked(_RULE, line, "the input function has several iterators")
    _check_callers(tree, defined)
    sites.tails.append(_tail(tree, nexts[0], returns[0]))


def _check_callers(tree: Tree, defined: cst.FunctionDef) -> None:
    """Nobody else works on the tensors of a function that will give a Dataset."""
    for load in tree.loads_of(defined):
        call = tree.parent(load)
        if not isinstance(call, cst.Call) or call.func is not load:
            continue
        taker = tree.parent(call)
        if not isinstance(taker, (cst.Return, cst.Lambda)):
            name = defined.name.value
            reason = f"the program works on the tensors that `{name}` returns"
            raise Blocked(_RULE, tree.line(call), reason)


def _check_datasets(
    tree: Tree,
    nodes: list[cst.CSTNode],
    returns: list[cst.Return],
    line: int,
    sites: InputSites,
) -> None:
    for node in nodes:
        if isinstance(node, cst.Attribute) and node.attr.value in _MAKERS:
            raise Blocked(_RULE, tree.line(node), "an iterator that is not understood")
    for found in returns:
        value = found.value
        if isinstance(value, (cst.Tuple, cst.Dict, cst.List)):
            raise Blocked(
                _RULE, line, "the input function returns tensors, not a Dataset"
            )
        if isinstance(value, cst.Call):
            inner = tree.resolver.definition(value.func)
            if isinstance(inner, cst.FunctionDef):
                read_function(tree, inner, line, sites)


def _tail(tree: Tree, call: cst.Call, found: cst.Return) -> TensorTail:
    line = tree.line(call)
    first, last = tree.statement(call), tree.statement(found)
    block = tree.body(first)
    if block is None or tree.body(last) is not block:
        raise Blocked(_RULE, line, "the iterator and the return stand apart")
    statements = statements_of(block)
    start, end = statements.index(first), statements.index(last)
    assert isinstance(call.func, cst.Attribute)
    iterator = call.func.value
    made = tree.value(iterator)
    dataset = _dataset_of(tree, made)
    if dataset is None:
        raise Blocked(_RULE, line, "an iterator that is not understood")
    drop: list[int] = []
    if isinstance(iterator, cst.Name):
        drop = _iterator_statements(tree, iterator, call, block)
        _check_stable(tree, statements[drop[0] : start], dataset, line)
    if first is last:
        if found.value is not call:
            raise Blocked(_RULE, line, "the tensors are changed as they are returned")
        return TensorTail(block, dataset, start, end, tuple(drop), None, None)
    small = only_small(first)
    if not (
        isinstance(small, cst.Assign)
        and small.value is call
        and len(small.targets) == 1
        and end == len(statements) - 1
    ):
        raise Blocked(_RULE, line, "the iterator's tensors are not simply assigned")
    target = small.targets[0].target
    between = [i for i in range(start + 1, end) if i not in drop]
    assert found.value is not None
    if not between and _parts(tree, target) == _parts(tree, found.value):
        return TensorTail(block, dataset, start, end, tuple(drop), None, None)
    parameters = _parameters(tree, target, statements[start + 1 : end + 1], line)
    return TensorTail(block, dataset, start, end, tuple(drop), parameters, found.value)


def _dataset_of(tree: Tree, made: cst.BaseExpression | None) -> str | None:
    """The dataset in ``dataset.make_one_shot_iterator()`` or its function form."""
    if not isinstance(made, cst.Call) or not isinstance(made.func, cst.Attribute):
        return None
    if made.func.attr.value not in _MAKERS:
        return None
    symbol = tree.symbol(made.func)
    if symbol is None and not made.args:
        return tree.code(made.func.value)
    if symbol is not None and len(made.args) == 1:
        return tree.code(made.args[0].value)
    return None


def _iterator_statements(
    tree: Tree, iterator: cst.Name, call: cst.Call, block: Body
) -> list[int]:
    """Places of the statements that make or initialise the iterator."""
    binding = tree.assigned(iterator)
    line = tree.line(call)
    statements = statements_of(block)
    if binding is None or binding.value is None:
        raise Blocked(_RULE, line, "an iterator that is not understood")
    found = [tree.statement(binding.value)]
    for use in tree.uses(binding):
        if use is iterator:
            continue
        statement = tree.statement(use)
        small = only_small(statement)
        value = small.value if isinstance(small, cst.Expr) else None
        if not isinstance(value, cst.Call) or tree.symbol(value.func) not in _COLLECT:
            raise Blocked(_RULE, tree.line(use), "the iterator is used elsewhere too")
        found.append(statement)
    if any(statement not in statements for statement in found):
        raise Blocked(_RULE, line, "the iterator is made in a branch")
    return [statements.index(statement) for statement in found]


def _check_stable(
    tree: Tree, statements: list[Statement], dataset: str, line: int
) -> None:
    """The Dataset must still be the one that the iterator was made of."""
    for statement in statements:
        for node in walk(statement):
            if isinstance(node, cst.AssignTarget) and tree.code(node.target) == dataset:
                raise Blocked(_RULE, line, "the Dataset changes after its iterator")


def _parts(tree: Tree, node: cst.BaseExpression) -> list[str]:
    """The elements of a tuple, or the one expression."""
    if isinstance(node, cst.Tuple):
        return [tree.code(element.value) for element in node.elements]
    return [tree.code(node)]


def _parameters(
    tree: Tree,
    target: cst.BaseAssignTargetExpression,
    rest: list[Statement],
    line: int,
) -> str:
    """Parameters of the mapped function; tuples arrive as several arguments."""
    if isinstance(target, cst.Tuple):
        if all(isinstance(e.value, cst.Name) for e in target.elements):
            return ", ".join(_parts(tree, target))
        raise Blocked(_RULE, line, "the iterator's tensors are nested")
    if not isinstance(target, cst.Name):
        raise Blocked(_RULE, line, "the iterator's tensors are not simply assigned")
    kinds = {_kind(tree, n) for s in rest for n in _uses(s, target.value)}
    if kinds == {"tuple"}:
        return f"*{target.value}"
    if kinds == {"dict"}:
        return target.value
    raise Blocked(_RULE, line, "it is not seen what the iterator gives")


def _uses(root: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    for node in walk(root):
        if isinstance(node, cst.Name) and node.value == name:
            yield node


def _kind(tree: Tree, use: cst.Name) -> str:
    parent = tree.parent(use)
    if isinstance(parent, cst.Subscript) and parent.value is use:
        index = parent.slice[0].slice
        if isinstance(index, cst.Index):
            if isinstance(index.value, cst.Integer):
                return "tuple"
            if isinstance(index.value, (cst.SimpleString, cst.Name)):
                return "dict" if isinstance(index.value, cst.SimpleString) else ""
    if (
        isinstance(parent, cst.Attribute)
        and parent.value is use
        and parent.attr.value in _DICT_METHODS
    ):
        return "dict"
    if isinstance(parent, cst.Assign) and isinstance(
        parent.targets[0].target, cst.Tuple
    ):
        return "tuple"
    if isinstance(parent, cst.Arg):
        call = tree.parent(parent)
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Name):
            return "dict" if call.func.value == "dict" else ""
    if isinstance(parent, (cst.Return, cst.Element)):
        # Returned next to other values: says nothing, the other uses must.
        return "dict"
    return ""
