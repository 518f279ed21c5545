"""A loop for one replica says nothing of replicas.

Loops are written for any strategy. Where a program had none and none is asked for,
what they do through `tf.distribute.get_strategy()` is what the code within does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ...plan.code.tree import Statement, only_small, statements_of, walk
from ...project.positions import code_of
from ...symbols.nodes import CodeTransformer, parents
from .layout import WIDTH, OneLine, fit

__all__ = ["LoopNames", "for_one_replica"]

_DATA = "distribute_datasets_from_function"


@dataclass(frozen=True)
class LoopNames:
    """What the functions of a loop are called in their program."""

    strategy: str
    train_step: str
    train_steps: str
    test_step: str
    test_steps: str
    evaluate: str


def for_one_replica(
    module: cst.Module, names: LoopNames, original: cst.Module
) -> cst.Module:
    """The module without its strategy, or as it is where that is needed after all.

    Statements of ``original`` keep their line breaks.
    """
    evaluated = [
        node
        for node in walk(module)
        if isinstance(node, cst.Call) and _is_name(node.func, names.evaluate)
    ]
    if not all(_made_by_lambda(call) is not None for call in evaluated):
        return module
    own = {id(node) for node in walk(original)}
    changed = module.visit(_Lone(names, own))
    assert isinstance(changed, cst.Module)
    if any(_is_name(node, names.strategy) for node in walk(changed)):
        return module
    for step, steps in (
        (names.train_step, names.train_steps),
        (names.test_step, names.test_steps),
    ):
        changed = _merged(changed, step, steps)
    return changed


def _is_name(node: cst.CSTNode | None, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _made_by_lambda(call: cst.Call) -> cst.BaseExpression | None:
    """``D`` of ``f(lambda _: D)``."""
    if len(call.args) != 1 or call.args[0].keyword is not None:
        return None
    made = call.args[0].value
    if isinstance(made, cst.Lambda) and len(made.params.params) == 1:
        name = made.params.params[0].name.value
        if not any(_is_name(node, name) for node in walk(made.body)):
            return made.body
    return None


@dataclass
class _Lone(CodeTransformer):
    names: LoopNames
    # Identities of the program's own nodes.
    own: set[int]
    depth: int = 0
    # Statements whose line breaks have to be found anew.
    loose: set[cst.CSTNode] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.step = 4

    def visit_Module(self, node: cst.Module) -> None:
        self.module = node
        self.step = len(node.default_indent.expandtabs(8))

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self.depth += 1

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self.depth -= 1
        body = self._body(updated_node.body, self.depth + 1)
        return updated_node.with_changes(body=body)

    def leave_Module(
        self, original_node: cst.Module, updated_node: cst.Module
    ) -> cst.Module:
        return updated_node.with_changes(body=self._body(updated_node.body, 0))

    def _body(
        self, statements: Sequence[cst.BaseStatement], depth: int
    ) -> list[cst.BaseStatement]:
        result: list[cst.BaseStatement] = []
        carried: list[cst.EmptyLine] = []
        for one in statements:
            lines = list(getattr(one, "leading_lines", ()))
            if self._is_strategy(one):
                carried += lines
                continue
            inner = self._in_scope(one)
            for number, part in enumerate([one] if inner is None else inner):
                given = list(getattr(part, "leading_lines", ()))
                if number == 0 and inner is not None:
                    given = [*lines, *given]
                if carried:
                    given, carried = [*carried, *_without_blank(given)], []
                new = part
                if list(getattr(part, "leading_lines", ())) != given:
                    new = part.with_changes(leading_lines=given)
                if part in self.loose or (
                    inner is not None and id(part) not in self.own
                ):
                    new = self._fitted(new, depth)
                taken = _same_again(result[-1], new) if result else None
                if taken is not None:
                    result[-1] = taken
                    continue
                result.append(new)
        return result

    def _fitted(self, statement: cst.BaseStatement, depth: int) -> cst.BaseStatement:
        if not isinstance(statement, cst.SimpleStatementLine):
            return statement
        code = code_of(cst.Module([]), statement.with_changes(leading_lines=[]))
        if "#" in code or '"""' in code:
            return statement
        body = [small.visit(OneLine()) for small in statement.body]
        plain = statement.with_changes(body=body)
        text = code_of(cst.Module([]), plain.with_changes(leading_lines=[]))
        if len(text.rstrip()) + depth * self.step > WIDTH:
            return statement
        return plain

    def _is_strategy(self, statement: cst.BaseStatement) -> bool:
        """``strategy = tf.distribute.get_strategy()``."""
        if not isinstance(statement, cst.SimpleStatementLine):
            return False
        small = only_small(statement)
        return (
            isinstance(small, cst.Assign)
            and _is_name(small.targets[0].target, self.names.strategy)
            and isinstance(small.value, cst.Call)
            and isinstance(small.value.func, cst.Attribute)
            and small.value.func.attr.value == "get_strategy"
        )

    def _in_scope(self, statement: cst.BaseStatement) -> list[Statement] | None:
        """What stands in ``with strategy.scope():``."""
        if not isinstance(statement, cst.With) or len(statement.items) != 1:
            return None
        call = statement.items[0].item
        if not isinstance(call, cst.Call) or self._method(call) != "scope":
            return None
        body = statement.body
        return statements_of(body) if isinstance(body, cst.IndentedBlock) else None

    def _method(self, call: cst.Call) -> str | None:
        """The name of a method of the strategy that is called."""
        function = call.func
        if not isinstance(function, cst.Attribute):
            return None
        owned = _is_name(function.value, self.names.strategy)
        return function.attr.value if owned else None

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        method = self._method(updated_node)
        args = updated_node.args
        if _is_name(updated_node.func, self.names.evaluate):
            data = _made_by_lambda(updated_node)
            assert data is not None
            return updated_node.with_changes(args=[cst.Arg(data)])
        if method == "run" and isinstance(args[1].value, cst.Tuple):
            given = [cst.Arg(one.value) for one in args[1].value.elements]
            return cst.Call(args[0].value, given)
        if method == "reduce":
            return args[1].value
        if method == _DATA:
            made = _made_by_lambda(updated_node)
            if made is not None:
                return made
            if _is_name(args[0].value, "dataset_fn"):
                return cst.Name("dataset")
        return updated_node

    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.BaseExpression:
        value = updated_node.value
        method = self._method(value) if isinstance(value, cst.Call) else None
        if method != "experimental_local_results":
            return updated_node
        assert isinstance(value, cst.Call)
        return value.args[0].value

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if updated_node.name.value != self.names.evaluate:
            return updated_node
        given = updated_node.params.params
        renamed = [
            one.with_changes(name=cst.Name("dataset"))
            if one.name.value == "dataset_fn"
            else one
            for one in given
        ]
        params = updated_node.params.with_changes(params=renamed)
        return updated_node.with_changes(params=params)

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        # Nothing else in a line changes.
        return any(
            _is_name(one, self.names.strategy) or _is_name(one, self.names.evaluate)
            for one in walk(node)
        )

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine:
        if updated_node is not original_node:
            self.loose.add(updated_node)
        return updated_node


def _without_blank(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    return [line for line in lines if line.comment is not None]


def _assigned(statement: cst.BaseStatement) -> tuple[str, cst.Assign] | None:
    """``name = ...``."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return None
    small = only_small(statement)
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        target = small.targets[0].target
        if isinstance(target, cst.Name):
            return target.value, small
    return None


def _same_again(
    first: cst.BaseStatement, second: cst.BaseStatement
) -> cst.BaseStatement | None:
    """``b = f()`` for ``a = f()`` and ``b = a``, as the replicas' sum is written."""
    made, again = _assigned(first), _assigned(second)
    if made is None or again is None or made[0] != "losses":
        return None
    if not _is_name(again[1].value, made[0]):
        return None
    assert isinstance(first, cst.SimpleStatementLine)
    return first.with_changes(body=[made[1].with_changes(targets=again[1].targets)])


# -- a step and the loop around it ---------------------------------------------


def _merged(module: cst.Module, step: str, steps: str) -> cst.Module:
    """The module with a step's code in the only loop that calls it."""
    functions = {
        node.name.value: node
        for node in walk(module)
        if isinstance(node, cst.FunctionDef) and node.name.value in (step, steps)
    }
    uses = [node for node in walk(module) if _is_name(node, step)]
    if len(functions) != 2 or len(uses) != 2:
        return module
    inner, outer = functions[step], functions[steps]
    above = parents(module)
    if above[inner] is not above[outer]:
        return module
    made = _together(inner, outer)
    if made is None:
        return module
    depth = sum(isinstance(one, cst.IndentedBlock) for one in _holders(outer, above))
    narrow = made.visit(_Narrow(module, depth))
    assert isinstance(narrow, cst.FunctionDef)
    made = narrow
    around = {id(holder) for one in (inner, outer) for holder in _holders(one, above)}
    found = module.visit(_Merge(inner, outer, made, around))
    assert isinstance(found, cst.Module)
    return found


def _holders(
    node: cst.CSTNode, above: Mapping[cst.CSTNode, cst.CSTNode]
) -> Iterator[cst.CSTNode]:
    holder = above.get(node)
    while holder is not None:
        yield holder
        holder = above.get(holder)


def _together(inner: cst.FunctionDef, outer: cst.FunctionDef) -> cst.FunctionDef | None:
    assert isinstance(inner.body, cst.IndentedBlock)
    assert isinstance(outer.body, cst.IndentedBlock)
    loops = [one for one in outer.body.body if isinstance(one, cst.For)]
    if len(loops) != 1 or not isinstance(loops[0].body, cst.IndentedBlock):
        return None
    (loop,) = loops
    assert isinstance(loop.body, cst.IndentedBlock)
    first, *rest = statements_of(loop.body)
    code = statements_of(inner.body)[1:]  # behind its docstring
    returns = [node for node in walk(inner) if isinstance(node, cst.Return)]
    called = only_small(first)
    if isinstance(called, cst.Assign):
        last = only_small(code[-1])
        (target,) = (one.target for one in called.targets)
        if len(returns) != 1 or last is not returns[0]:
            return None
        if not isinstance(target, cst.Name) or not _is_name(
            returns[0].value, target.value
        ):
            return None
        code = code[:-1]
    elif returns:
        return None
    bound = {n.value for n in walk(outer) if isinstance(n, cst.Name)}
    bound -= {"loss", "batch", inner.name.value, "tf"}
    used = {n.value for one in code for n in walk(one) if isinstance(n, cst.Name)}
    if bound & used - {"constant"}:
        return None
    target_of = loop.target
    unpacked = _assigned_tuple(code[0])
    if unpacked is not None:
        target_of, code = unpacked, code[1:]
        if any(_is_name(node, "batch") for one in code for node in walk(one)):
            return None
    body = loop.body.with_changes(body=[*code, *rest])
    new = loop.with_changes(target=target_of, body=body)
    lines = [new if one is loop else one for one in outer.body.body]
    return outer.with_changes(
        body=outer.body.with_changes(body=lines), leading_lines=inner.leading_lines
    )


def _assigned_tuple(statement: Statement) -> cst.Tuple | None:
    """The targets of ``features, labels = batch``."""
    small = only_small(statement)
    if isinstance(small, cst.Assign) and _is_name(small.value, "batch"):
        target = small.targets[0].target
        if isinstance(target, cst.Tuple):
            return target
    return None


class _Narrow(CodeTransformer):
    """Breaks lines anew that are too long one step further in."""

    def __init__(self, module: cst.Module, depth: int) -> None:
        self.module, self.depth = module, depth
        self.step = len(module.default_indent.expandtabs(8))

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self.depth += 1

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self.depth -= 1
        return updated_node

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine:
        indent = self.depth * self.step
        bare = updated_node.with_changes(leading_lines=[])
        code = code_of(cst.Module([]), bare)
        longest = max(map(len, code.splitlines())) + indent
        if longest <= WIDTH or "#" in code or '"""' in code:
            return updated_node
        body = [small.visit(OneLine()) for small in updated_node.body]
        plain = updated_node.with_changes(body=body)
        (made,) = fit(self.module, [plain], indent)
        assert isinstance(made, cst.SimpleStatementLine)
        return made


class _Merge(cst.CSTTransformer):
    def __init__(
        self,
        inner: cst.FunctionDef,
        outer: cst.FunctionDef,
        made: cst.FunctionDef,
        around: set[int],
    ) -> None:
        self.inner, self.outer, self.made = inner, outer, made
        # Identities of the nodes that hold the functions.
        self.around = around

    def on_visit(self, node: cst.CSTNode) -> bool:
        return id(node) in self.around

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef | cst.RemovalSentinel:
        if original_node is self.inner:
            return cst.RemoveFromParent()
        return self.made if original_node is self.outer else updated_node
