"""What changes nothing is left out before layers are made of calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import dropwhile

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.edits import Put, changed, in_parentheses
from ...code.statements import binds, without_docstring
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...names.scopes import Binding
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .canned import units_of_head
from .code import Refused
from .local_functions import MAKES_LAYERS, makes_layers
from .task import alias_of

_NO_COMMA = cst.MaybeSentinel.DEFAULT
# Functions that run cells, from zeros where they are not told from what.
_RUNNING = ("dynamic_rnn", "static_rnn")
_ONE_HOT = ("tf.contrib.layers.one_hot_encoding", "tf.contrib.slim.one_hot_encoding")
# What values are said by that are no tensors.
_VALUES = (
    *(cst.Name, cst.Attribute, cst.Subscript, cst.SubscriptElement, cst.Index),
    *(cst.BaseNumber, cst.SimpleString, cst.BinaryOperation, cst.BaseBinaryOp),
    *(cst.UnaryOperation, cst.BaseUnaryOp, cst.Dot, cst.BaseParenthesizableWhitespace),
    *(cst.LeftSquareBracket, cst.RightSquareBracket, cst.LeftParen, cst.RightParen),
)
# Where a comparison needs no parentheses.
_WIDE = (cst.Arg, cst.Assign, cst.BooleanOperation, cst.If, cst.IfExp, cst.Return)
_FLATTEN = (
    *("tf.layers.flatten", "tf.contrib.layers.flatten", "tf.contrib.slim.flatten"),
)
_READS_OUTPUTS = re.compile(
    r"convert_collection_to_dict|get_collection\((?!.*UPDATE_OPS)"
)
_POOLS = ("avg_pool2d", "max_pool2d", "average_pooling2d", "max_pooling2d")
_DROPOUT = ("inputs", "rate", "noise_shape", "seed", "training", "name")


def without_idle_words(
    parsed: ParsedModule,
    facts: ProjectFacts,
) -> ParsedModule:
    """The file whose dropout has no noise shape where it drops nothing.

    The mode as third argument is taken for the shape, and nothing is ever dropped. Nor
    does it matter what could be trained when nothing is, and without a TPU there is
    nothing that an optimizer adds up over shards. Cells start with zeros anyway. How
    many logits a head wants is said where it is made. A helper tests the mode where it
    is read, and has no name for that; nor has a flag that two branches set. A value
    that they choose by the mode is chosen in one line, and cells are wrapped anyway,
    in what drops while training. Zeros and ones of labels are TensorFlow's own, and
    operations are not called after the scope that they are in. Sizes of its input are
    None for dropout, a pool over all of an image is a mean, and what a loss flattens
    is reshaped.
    """
    tree = Tree(parsed.module, parsed.resolver)
    gone: set[cst.CSTNode] = set()
    plain: set[cst.CSTNode] = set()
    places: dict[cst.CSTNode, object] = {}
    entered = {
        one.asname.name.value
        for one in parsed.each(cst.WithItem)
        if one.asname is not None
        if isinstance(one.asname.name, cst.Name)
    }
    for node in parsed.each(cst.Call):
        symbol = tree.symbol(node.func)
        if symbol is None:
            continue
        if symbol.endswith("tpu.CrossShardOptimizer") and node.args:
            plain.add(node)
        if symbol.endswith(_RUNNING):
            places |= _zero_states(tree, node)
        if symbol in _ONE_HOT and len(node.args) == 2:
            places |= _one_hot(node, alias_of(parsed))
        gone.update(one for one in node.args if _is_scope_name(one, entered))
        for one in node.args:
            if _is_unread_collection(one, parsed):
                gone.add(one)
                places |= _named_collections(tree, one)
        if symbol in _FLATTEN:
            places |= _flattened(tree, node, alias_of(parsed))
        if symbol.rpartition(".")[2] in _POOLS:
            places |= _whole_pools(tree, node, alias_of(parsed))
        if symbol.startswith("tf.layers."):
            gone.update(one for one in node.args if _trains(tree, one))
        if symbol == "tf.layers.dropout":
            try:
                given = match_arguments(node, _DROPOUT)
            except UnknownArguments:
                continue
            if "training" not in given and "seed" not in given:
                shape = given.get("noise_shape")
                gone.update(one for one in node.args if one.value is shape)
            else:
                places |= _own_sizes(tree, given)
    places |= _heads_moved(tree)
    places |= _flags_of_scopes(tree)
    places |= _values_of_branches(tree)
    places |= _wrappers_of_branches(tree)
    if places:
        parsed = changed(parsed, facts, places)
        return without_idle_words(parsed, facts)
    flags = {**_flags(tree), **_dimensions(tree)}
    flags |= _flags_of_branches(tree)
    if not gone and not plain and not flags:
        return parsed
    return changed(parsed, facts, _Without(gone, plain, flags))


def _said(tree: Tree, call: cst.Call, symbol: str) -> str:
    """What is called, as it is written and by TensorFlow's name."""
    return f"{tree.code(call.func)}( {symbol}("


def _flattened(tree: Tree, node: cst.Call, tf: str) -> dict[cst.CSTNode, object]:
    """``tf.layers.flatten(labels)``, or where a function makes no other layer."""
    function = tree.function(node)
    value = node.args[0].value if len(node.args) == 1 else None
    if not isinstance(value, cst.Name) or not isinstance(function, cst.FunctionDef):
        return {}
    alone = not is_model_fn(function) and tree.parent(function) is tree.module
    others = (
        (one, tree.symbol(one.func) or "") for one in walk(function.body, cst.Call)
    )
    alone = alone and not any(
        makes_layers(tree, tree.resolver.definition(one.func))
        or (symbol not in _FLATTEN and MAKES_LAYERS.search(_said(tree, one, symbol)))
        for one, symbol in others
    )
    if not alone and value.value != "labels":
        return {}
    code = f"{tf}.reshape({value.value}, [{tf}.shape({value.value})[0], -1])"
    return {node: cst.parse_expression(code)}


def _whole_pools(tree: Tree, node: cst.Call, tf: str) -> dict[cst.CSTNode, object]:
    """Pools over all of an image: ``slim.avg_pool2d(net, net.get_shape()[1:3])``."""
    plain = [tree.code(one.value) for one in node.args if one.keyword is None]
    named = {one.keyword.value for one in node.args if one.keyword is not None}
    if len(plain) not in (2, 3) or named - {"scope", "name", "stride", "strides"}:
        return {}
    image, size = re.escape(plain[0]), re.sub(r"\s", "", plain[1])
    shape = rf"{image}\.(?:get_shape\(\)|shape)(?:\.as_list\(\))?"
    both = rf"{shape}\[1:3\]|[\[(]{shape}\[1\],{shape}\[2\][\])]"
    if re.fullmatch(both, size) is None:
        return {}
    reduce = "reduce_max" if "max" in tree.code(node.func) else "reduce_mean"
    code = f"{tf}.{reduce}({plain[0]}, [1, 2], keepdims=True)"
    return {node: cst.parse_expression(code)}


def _own_sizes(
    tree: Tree, given: Mapping[str, cst.BaseExpression]
) -> dict[cst.CSTNode, object]:
    """Sizes of the input, in ``noise_shape=[tf.shape(x)[0], 1, n]``: they are None."""
    shape = given.get("noise_shape")
    own = re.escape(tree.code(given["inputs"])) if "inputs" in given else "_"
    return {
        one.value: cst.Name("None")
        for place, one in enumerate(getattr(shape, "elements", ()))
        if re.fullmatch(rf"\w+\.shape\({own}\)\[{place}\]", tree.code(one.value))
    }


def _is_unread_collection(arg: cst.Arg, parsed: ParsedModule) -> bool:
    """``outputs_collections=names``, which nobody asks for what they hold"""
    named = arg.keyword is not None and arg.keyword.value == "outputs_collections"
    return named and not _READS_OUTPUTS.search(parsed.source.text)


def _named_collections(tree: Tree, arg: cst.Arg) -> dict[cst.CSTNode, object]:
    """The statements that name collections which nothing else reads."""
    found: dict[cst.CSTNode, object] = {}
    for name in walk(arg.value, cst.Name):
        bound = tree.assigned(name)
        if bound is not None and tree.uses(bound) == [name] and bound.value is not None:
            found |= {tree.statement(bound.value): None, arg: None}
    return found


def _is_scope_name(arg: cst.Arg, entered: set[str]) -> bool:
    """``name=scope.name``"""
    value = arg.value
    return (
        arg.keyword is not None
        and arg.keyword.value == "name"
        and isinstance(value, cst.Attribute)
        and value.attr.value == "name"
        and isinstance(value.value, cst.Name)
        and value.value.value in entered
    )


def _dimensions(tree: Tree) -> dict[cst.CSTNode, cst.BaseExpression]:
    """``head.logits_dimension``, and the number that it is."""
    found: dict[cst.CSTNode, cst.BaseExpression] = {}
    for node in tree.each(cst.Attribute):
        if node.attr.value != "logits_dimension":
            continue
        head = tree.value(node.value)
        symbol = tree.symbol(head.func) if isinstance(head, cst.Call) else None
        if isinstance(head, cst.Call) and symbol is not None:
            arguments = ", ".join(
                tree.code(one.with_changes(comma=_NO_COMMA)) for one in head.args
            )
            with suppress(Refused):
                units = units_of_head(f"{symbol}({arguments})")
                found[node] = cst.parse_expression(units)
    return found


def _one_hot(call: cst.Call, alias: str) -> dict[cst.CSTNode, object]:
    """``slim.one_hot_encoding(labels, 10)`` as ``tf.one_hot(labels, 10)``."""
    names = {"labels": "indices", "num_classes": "depth"}
    places: dict[cst.CSTNode, object] = {
        one.keyword: cst.Name(names.get(one.keyword.value, one.keyword.value))
        for one in call.args
        if one.keyword is not None
    }
    return {**places, call.func: cst.parse_expression(f"{alias}.one_hot")}


def _heads_moved(tree: Tree) -> dict[cst.CSTNode, object]:
    """A head of the module that a model function alone reads is made in it."""
    places: dict[cst.CSTNode, object] = {}
    for bound in tree.resolver.scopes.module_scope.bindings.values():
        head = bound[0].value if len(bound) == 1 else None
        if not isinstance(head, cst.Call):
            continue
        kind = (tree.symbol(head.func) or "").rpartition(".")[2]
        readers = {tree.function(one) for one in tree.uses(bound[0])}
        reader = readers.pop() if len(readers) == 1 else None
        if not kind.endswith("_head") or reader is None or not is_model_fn(reader):
            continue
        assert isinstance(reader, cst.FunctionDef)
        assert isinstance(reader.body, cst.IndentedBlock)
        statement = tree.statement(head)
        first, *_ = without_docstring(reader.body)
        places[statement] = None
        places[first] = [statement.with_changes(leading_lines=()), first]
    return places


def _zero_states(tree: Tree, call: cst.Call) -> dict[cst.CSTNode, object]:
    """``initial_state=cell.zero_state(size, dtype)`` says the type alone."""
    typed = any(one.keyword and one.keyword.value == "dtype" for one in call.args)
    places: dict[cst.CSTNode, object] = {}
    for arg in call.args:
        name = arg.keyword.value if arg.keyword is not None else ""
        made: cst.BaseExpression | None = arg.value
        bound = tree.resolver.bindings(made) if isinstance(made, cst.Name) else []
        if len(bound) == 1 and len(tree.uses(bound[0])) == 1:
            made = bound[0].value
        elif isinstance(made, cst.Name):
            made = _bound_anew(tree, call, made)
        zeros = made if isinstance(made, cst.Call) else None
        func = zeros.func if zeros is not None else None
        if (
            name.startswith("initial_state")
            and zeros is not None
            and isinstance(func, cst.Attribute)
            and func.attr.value == "zero_state"
            and len(zeros.args) == 2
        ):
            told = arg.with_changes(
                keyword=cst.Name("dtype"), value=zeros.args[1].value
            )
            places[arg] = None if typed else told
            typed = True
            if zeros is not arg.value:
                places[tree.statement(zeros)] = None
    return places


def _bound_anew(
    tree: Tree, call: cst.Call, name: cst.Name
) -> cst.BaseExpression | None:
    """``state = f()`` above ``out, state = g(state)``: what the call is given."""
    statement = tree.statement(call)
    block = tree.body(statement)
    if block is None or name.value not in binds(statement):
        return None
    above = statements_of(block)
    for one in reversed(above[: above.index(statement)]):
        words = [n for n in walk(one, cst.Name) if n.value == name.value]
        small = only_small(one)
        if words and isinstance(small, cst.Assign) and len(words) == 1:
            return small.value if binds(one) == {name.value} else None
        if words:
            return None
    return None


def _flags(tree: Tree) -> dict[cst.CSTNode, cst.BaseExpression]:
    """Statements of helpers that test the mode, and what reads them: the test."""
    found: dict[cst.CSTNode, cst.BaseExpression] = {}
    for defined in tree.each(cst.FunctionDef):
        if is_model_fn(defined):
            continue
        if not any(one.name.value == "mode" for one in defined.params.params):
            continue
        for name, bound in tree.resolver.scopes.opened[defined].bindings.items():
            value = bound[0].value if len(bound) == 1 else None
            if value is not None and _tests_mode(tree, value):
                found |= _written_out(
                    tree, name, bound[0], tree.statement(value), value
                )
    return found


def _flags_of_branches(tree: Tree) -> dict[cst.CSTNode, cst.BaseExpression]:
    """``if mode == TRAIN: flag = True``, ``else: flag = False``, and what reads it."""
    found: dict[cst.CSTNode, cst.BaseExpression] = {}
    for scope in tree.resolver.scopes.opened.values():
        for name, bound in scope.bindings.items():
            values = [one.value for one in bound if one.value is not None]
            if [getattr(one, "value", None) for one in values] != ["True", "False"]:
                continue
            blocks = [tree.parent(tree.statement(one)) for one in values]
            test = tree.parent(blocks[0]) if blocks[0] is not None else None
            if (
                isinstance(test, cst.If)
                and isinstance(test.orelse, cst.Else)
                and [test.body, test.orelse.body] == blocks
                and all(len(one.body) == 1 for one in (test.body, test.orelse.body))
                and _tests_mode(tree, test.test)
            ):
                found |= _written_out(tree, name, bound[0], test, test.test)
    return found


def _flags_of_scopes(tree: Tree) -> dict[cst.CSTNode, object]:
    """Tests of the mode that open a scope of a model function, put above it."""
    places: dict[cst.CSTNode, object] = {}
    for node in tree.each(cst.With):
        function = tree.function(node)
        if function is None or not is_model_fn(function):
            continue
        if not isinstance(node.body, cst.IndentedBlock):
            continue
        lines = statements_of(node.body)
        small = only_small(lines[0])
        value = small.value if isinstance(small, cst.Assign) else None
        if len(lines) > 1 and value is not None and _tests_mode(tree, value):
            above = lines[0].with_changes(leading_lines=node.leading_lines)
            places[lines[0]] = None
            places[node] = lambda now, above=above: [
                above,
                now.with_changes(leading_lines=[]),
            ]
    return places


def _values_of_branches(tree: Tree) -> dict[cst.CSTNode, object]:
    """``if mode == TRAIN: keep = 0.5``, ``else: keep = 1.0`` as one assignment of each.

    The value for other modes may also stand above, in place of the other branch.
    """
    places: dict[cst.CSTNode, object] = {}
    for node in tree.each(cst.If):
        if not asks_for_mode(tree, node.test):
            continue
        body = tree.body(node)
        first, other = _plain_values(tree, node.body), node.orelse
        if body is None or not first or isinstance(other, cst.If):
            continue
        lines = statements_of(body)
        above = lines[lines.index(node) - 1] if lines[0] is not node else None
        if other is not None:
            second = _plain_values(tree, other.body)
        else:
            second = _plain_values(tree, above) if above is not None else {}
            if above is not None:
                places |= {above: None} if first.keys() == second.keys() else {}
        if first.keys() != second.keys() or {"True", "False"} & {
            tree.code(one) for one in (*first.values(), *second.values())
        }:
            continue
        made = [
            cst.SimpleStatementLine(
                [
                    cst.Assign(
                        [cst.AssignTarget(cst.Name(name))],
                        cst.IfExp(test=node.test, body=value, orelse=second[name]),
                    )
                ]
            )
            for name, value in first.items()
        ]
        lead = [*(above.leading_lines if above in places else ()), *node.leading_lines]
        places[node] = [made[0].with_changes(leading_lines=lead), *made[1:]]
    return places


def _wrappers_of_branches(tree: Tree) -> dict[cst.CSTNode, object]:
    """``if mode == TRAIN: cell = DropoutWrapper(cell, 0.5)``, where the share asks."""
    places: dict[cst.CSTNode, object] = {}
    for node in tree.each(cst.If):
        if node.orelse is not None:
            continue
        small = only_small(node.body.body[0]) if len(node.body.body) == 1 else None
        call = small.value if isinstance(small, cst.Assign) else None
        symbol = tree.symbol(call.func) if isinstance(call, cst.Call) else None
        if not isinstance(call, cst.Call) or not isinstance(small, cst.Assign):
            continue
        if not (symbol or "").endswith(".DropoutWrapper") or not call.args:
            continue
        shares = [one for one in call.args[1:] if _is_share(one)]
        test, texts = node.test, [f"{tree.code(one.value)} <" for one in shares]
        if isinstance(test, cst.BooleanOperation) and isinstance(
            test.operator, cst.And
        ):
            # Who keeps all drops nothing.
            if not tree.code(test.right).startswith(tuple(texts)):
                continue
            test = test.left
        same = tree.code(small.targets[0].target) == tree.code(call.args[0].value)
        if same and len(shares) == len(call.args) - 1 and asks_for_mode(tree, test):
            new: dict[cst.CSTNode, object] = {
                one.value: cst.IfExp(test, one.value, cst.Float("1.0"))
                for one in shares
            }
            first = node.body.body[0]
            line = first.visit(Put(new, first))
            assert isinstance(line, cst.SimpleStatementLine)
            places[node] = line.with_changes(leading_lines=node.leading_lines)
    return places


def _is_share(arg: cst.Arg) -> bool:
    """What a wrapper keeps of inputs or outputs."""
    named = arg.keyword is None or arg.keyword.value.endswith("put_keep_prob")
    return named and not arg.star


def _plain_values(tree: Tree, block: cst.CSTNode) -> dict[str, cst.BaseExpression]:
    """What a block, or a statement, gives to names; nothing if it does more."""
    found: dict[str, cst.BaseExpression] = {}
    loads = tree.resolver.scopes.loads
    lines = statements_of(block) if isinstance(block, cst.IndentedBlock) else [block]
    for one in lines:
        small = only_small(one)
        target = small.targets[0].target if isinstance(small, cst.Assign) else None
        if (
            not isinstance(small, cst.Assign)
            or not isinstance(target, cst.Name)
            or len(small.targets) > 1
            or not all(isinstance(part, _VALUES) for part in walk(small.value))
            or {tree.code(n) for n in walk(small.value) if n in loads}
            & {*found, target.value}
        ):
            return {}
        found[target.value] = small.value
    return found


def asks_for_mode(tree: Tree, test: cst.BaseExpression) -> bool:
    """The mode compared, or a name for that."""
    if isinstance(test, cst.UnaryOperation):
        test = test.expression
    bound = tree.resolver.bindings(test) if isinstance(test, cst.Name) else ()
    value = bound[0].value if len(bound) == 1 else test
    return isinstance(value, cst.Comparison) and any(
        isinstance(one, cst.Name) and one.value == "mode" for one in walk(value)
    )


def _written_out(
    tree: Tree,
    name: str,
    bound: Binding,
    statement: cst.CSTNode,
    value: cst.BaseExpression,
) -> dict[cst.CSTNode, cst.BaseExpression]:
    """The statement of a flag, and a test in the place of each name that reads it."""
    found = {statement: value}
    for load in tree.resolver.scopes.loads:
        if load.value == name and bound in tree.resolver.bindings(load):
            plain = isinstance(tree.parent(load), _WIDE)
            bare = value.with_changes(lpar=[], rpar=[])
            found[load] = bare if plain else in_parentheses(bare)
    return found


def _tests_mode(tree: Tree, value: cst.CSTNode) -> bool:
    """``mode == tf.estimator.ModeKeys.TRAIN``"""
    return (
        isinstance(value, cst.Comparison)
        and len(value.comparisons) == 1
        and isinstance(value.comparisons[0].operator, cst.Equal)
        and isinstance(value.left, cst.Name)
        and value.left.value == "mode"
        and tree.code(value.comparisons[0].comparator).endswith("ModeKeys.TRAIN")
    )


def _trains(tree: Tree, arg: cst.Arg) -> bool:
    """``trainable=is_training``"""
    if arg.keyword is None or arg.keyword.value != "trainable":
        return False
    value: cst.BaseExpression | None = arg.value
    if isinstance(value, cst.Name):
        bound = tree.resolver.bindings(value)
        value = bound[0].value if len(bound) == 1 else None
    return value is not None and _tests_mode(tree, value)


class _Without(cst.CSTTransformer):
    def __init__(
        self,
        gone: set[cst.CSTNode],
        plain: set[cst.CSTNode],
        flags: dict[cst.CSTNode, cst.BaseExpression],
    ) -> None:
        self.gone = gone
        self.flags = flags
        # Calls in whose places their first arguments come.
        self.plain = plain
        # Tests that are further branches of others.
        self.branches: set[cst.CSTNode] = set()

    def visit_If(self, node: cst.If) -> None:
        if node.orelse is not None:
            self.branches.add(node.orelse)

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        if original_node in self.plain:
            return updated_node.args[0].value
        kept = [
            new
            for old, new in zip(original_node.args, updated_node.args, strict=True)
            if old not in self.gone
        ]
        if len(kept) < len(updated_node.args) and kept:
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return updated_node.with_changes(args=kept)
        return updated_node

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        return self.flags.get(original_node, updated_node)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        return self.flags.get(original_node, updated_node)

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        """``optimizer = optimizer``, and flags."""
        if original_node in self.flags:
            return cst.RemoveFromParent()
        old, small = only_small(original_node), only_small(updated_node)
        if isinstance(old, cst.Assign) and old.value in self.plain:
            assert isinstance(small, cst.Assign)
            target = small.targets[0].target
            if len(small.targets) == 1 and target.deep_equals(small.value):
                return cst.RemoveFromParent()
        return updated_node

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        """A block does not begin with what parted its first statement from another."""
        if original_node.body[0] not in self.flags or not updated_node.body:
            return updated_node
        first, *rest = updated_node.body
        assert isinstance(first, Statement)
        lines = [*dropwhile(lambda one: one.comment is None, first.leading_lines)]
        return updated_node.with_changes(
            body=[first.with_changes(leading_lines=lines), *rest]
        )

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.If | cst.RemovalSentinel:
        if original_node in self.flags:
            return cst.RemoveFromParent()
        if updated_node.body.body:
            return updated_node
        if updated_node.orelse is None and original_node not in self.branches:
            return cst.RemoveFromParent()
        nothing = cst.SimpleStatementLine([cst.Pass()])
        return updated_node.with_changes(body=cst.IndentedBlock([nothing]))
