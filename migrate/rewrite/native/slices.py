"""What a model function does in one mode, and the slices of it that become methods."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from ...code.arguments import is_none
from ...code.statements import assigned, binds, loads
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...model.arguments import Argument
from ...model.in_mode import Called, Decided, InMode
from ...model.values import Const, Dict, Value
from ...names.nodes import children
from .code import Refused

GLOBAL_STEPS = frozenset(
    (
        "tf.contrib.framework.get_global_step",
        "tf.contrib.framework.get_or_create_global_step",
        "tf.train.create_global_step",
        "tf.train.get_global_step",
        "tf.train.get_or_create_global_step",
    )
)

_SPEC = (
    "mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs",
    "training_chief_hooks", "training_hooks", "scaffold", "evaluation_hooks",
    "prediction_hooks",
)  # fmt: skip
_TPU_SPEC = (
    *_SPEC[:4], "eval_metrics", "export_outputs", "scaffold_fn", "host_call",
    "training_hooks", "evaluation_hooks", "prediction_hooks",
)  # fmt: skip
_LEARN_SPEC = (*_SPEC[:5], "output_alternatives", *_SPEC[6:9])
SPECS: dict[str, tuple[str, ...]] = {
    "tf.estimator.EstimatorSpec": _SPEC,
    "tf.contrib.tpu.TPUEstimatorSpec": _TPU_SPEC,
    "tf.estimator.tpu.TPUEstimatorSpec": _TPU_SPEC,
    "tf.contrib.learn.ModelFnOps": _LEARN_SPEC,
}

# The head of a specification that a head makes, and what it is made of.
HEAD = "head"
_OF_HEAD = ("features", "mode", "logits", "labels", "optimizer", "train_op_fn")


def refused(tree: Tree, node: cst.CSTNode, reason: str) -> Refused:
    """What to raise at a place of the program."""
    return Refused(f"{reason} (line {tree.line(node)})")


@dataclass
class Slice:
    """Statements that compute something, and the outputs of the model they read."""

    statements: list[Statement] = field(default_factory=list)
    outputs: set[str] = field(default_factory=set)
    # Names that are not made by the model function's own statements.
    free: set[str] = field(default_factory=set)


class Mode:
    """A model function as it runs in one mode: one line of statements and a spec."""

    def __init__(self, tree: Tree, found: InMode, defined: cst.FunctionDef) -> None:
        self.tree = tree
        self.found = found
        self.defined = defined
        self.taken = found.taken
        # The statement that calls the model, told once it is found.
        self.calls: list[Statement] = []
        # The one that makes it: whoever reads the model has it.
        self.made: Statement | None = None
        # Loops and branches that add to the last dict that was looked at.
        self.blocks: list[cst.For | cst.If] = []
        self.spec = self._spec()

    @property
    def exists(self) -> bool:
        """Whether the function gives a specification in this mode."""
        return self.spec is not None

    def _spec(self) -> dict[str, Argument] | None:
        found = self.found
        if found.unsure is not None:
            reason = "the model_fn returns within a branch or loop that it decides late"
            raise refused(self.tree, found.unsure, reason)
        spec = found.result
        if isinstance(spec, Called) and spec.symbol.endswith(
            "_head().create_estimator_spec"
        ):
            assert spec.owner is not None
            assert spec.owner.node is not None
            given = self.arguments(spec, (*_OF_HEAD, "regularization_losses"))
            return {**given, HEAD: Argument(spec.owner, spec.owner.node)}
        if not isinstance(spec, Called) or spec.symbol not in SPECS:
            return None
        if not self.is_own(spec):
            raise refused(
                self.tree, self.defined, "another function makes the specification"
            )
        return self.arguments(spec, SPECS[spec.symbol])

    def is_own(self, called: Called) -> bool:
        """Whether the model function itself says a call."""
        node = called.node
        return (
            node is not None
            and self.tree.holds(node)
            and self.tree.function(node) is self.defined
        )

    def arguments(
        self, called: Called, parameters: Sequence[str]
    ) -> dict[str, Argument]:
        """Arguments of a call by their parameters, without those that are None."""
        assert called.node is not None
        found: dict[str, Argument] = {}
        given: list[Argument] = []
        for one in called.arguments:
            entries = self.items(one) if one.star == "**" else None
            said = () if entries is None or self.blocks else entries
            given += [replace(value, keyword=key) for key, value in said] or [one]
        for place, one in enumerate(given):
            known = parameters[place] if place < len(parameters) else ""
            name = one.keyword or known
            if one.star or name not in parameters:
                shown = one.star or name or "more of them"
                reason = f"`{called.symbol}` with the argument `{shown}`"
                raise refused(self.tree, called.node, reason)
            is_none = isinstance(one.value, Const) and one.value.value is None
            if is_none and not isinstance(one.value, Decided):
                continue
            found[name] = one
        return found

    def decided(self, node: cst.CSTNode) -> Decided | None:
        """What the mode makes of an expression."""
        value = self.found.notes.values.get(node)
        return value if isinstance(value, Decided) else None

    def place(self, node: cst.CSTNode) -> int:
        """The number of the statement that an expression stands in."""
        around = [node, *self.tree.ancestors(node)]
        for number, one in enumerate(self.taken):
            if one in around:
                return number
        # What a `with` says is said before the first statement in it.
        block = next((one for one in around if isinstance(one, cst.With)), None)
        for number, one in enumerate(self.taken):
            if block is not None and block in self.tree.ancestors(one):
                return number
        return len(self.taken)

    def needed(
        self,
        nodes: Sequence[cst.CSTNode],
        more: Sequence[Statement] = (),
        given: Collection[cst.CSTNode] = (),
        there: Iterable[tuple[cst.CSTNode, set[str]]] = (),
    ) -> Slice:
        """What some expressions are computed by.

        ``more`` are statements to keep as well, ``given`` expressions whose values are
        there already, ``there`` says which names are read at which places besides.
        """
        found = Slice()
        chosen: list[Statement] = []
        wanted: set[str] = set()
        reads: dict[int, set[str]] = {}
        for node in nodes:
            reads.setdefault(self.place(node), set()).update(self.read(node, given))
        for node, read in there:
            reads.setdefault(self.place(node), set()).update(read)
        for number in range(len(self.taken), -1, -1):
            statement = self.taken[number] if number < len(self.taken) else None
            if statement is None:
                pass
            elif statement is self.made:
                wanted -= binds(statement)
            elif statement in self.calls:
                names = binds(statement) & wanted
                found.outputs |= names
                wanted -= names
                if statement in more:
                    wanted |= self.read(statement, given)
            elif not self._is_flag(statement):
                names = binds(statement)
                if names & wanted or statement in more:
                    chosen.append(statement)
                    small = only_small(statement)
                    plain = isinstance(small, (cst.Assign, cst.AnnAssign))
                    if plain and not self._changes_part(statement):
                        wanted -= names
                    wanted |= self.read(statement, given)
            wanted |= reads.get(number, set())
        found.statements = chosen[::-1]
        found.free = wanted
        return found

    def _changes_part(self, statement: Statement) -> bool:
        """``x[...] = value``: x is what it was, but for a part."""
        small = only_small(statement)
        return isinstance(small, cst.Assign) and not all(
            isinstance(one.target, (cst.Name, cst.Tuple, cst.List))
            for one in small.targets
        )

    def _is_flag(self, statement: Statement) -> bool:
        """``is_training = mode == TRAIN``, which is written where it is read."""
        small = only_small(statement)
        return (
            isinstance(small, cst.Assign)
            and len(small.targets) == 1
            and self.decided(small.value) is not None
        )

    def read(self, node: cst.CSTNode, given: Collection[cst.CSTNode] = ()) -> set[str]:
        """Names that code reads in this mode, outside of what is given."""
        found: set[str] = set()
        known = self.tree.resolver.scopes.loads
        for one in self._followed(node, given):
            if type(one) is cst.Name and one in known:
                found.add(one.value)
        return found

    def _followed(
        self, node: cst.CSTNode, given: Collection[cst.CSTNode]
    ) -> Iterator[cst.CSTNode]:
        """The parts of code that count in this mode."""
        if node in given or self.decided(node) is not None:
            return
        if type(node) is cst.IfExp:
            test = self.decided(node.test)
            if test is not None:
                chosen = node.body if test.value else node.orelse
                yield from self._followed(chosen, given)
                return
        if type(node) is cst.For:
            shown = self.shown(node)
            given_to = [a.node for _, one in shown or () for a in one.arguments]
            own = {one.value for one in walk(node.target, cst.Name)}
            for over in [node.iter] if shown is None else given_to:
                yield from self._followed(over, given)
            for one in self._followed(node.body, given):
                if type(one) is not cst.Name or one.value not in own:
                    yield one
            return
        yield node
        for child in self._measured(node) or children(node):
            yield from self._followed(child, given)

    def _measured(self, node: cst.CSTNode) -> list[cst.BaseExpression]:
        """What ``metrics['accuracy'][1]`` measures, if that is the same here."""
        value = type(node) is cst.Subscript and self.found.notes.values.get(node.value)
        if (
            not isinstance(value, Called)
            or not value.symbol.startswith("tf.metrics.")
            or value.node is None
        ):
            return []
        between = self.taken[self.place(value.node) : self.place(node)]
        read = loads(self.tree, value.node)
        changed = any(binds(one) & read for one in between)
        return [] if changed else [one.node for one in value.arguments]

    def shown(self, loop: cst.For) -> list[tuple[str, Called]] | None:
        """The metrics that ``for name, metric in metrics.items()`` goes through."""
        over = loop.iter.func if isinstance(loop.iter, cst.Call) else None
        if not isinstance(over, cst.Attribute) or over.attr.value != "items":
            return None
        leaves = any(isinstance(n, cst.Break | cst.Continue) for n in walk(loop))
        if len([*walk(loop.target, cst.Name)]) != 2 or loop.orelse or leaves:
            return None
        before = self.blocks
        items = self.items(Argument(Dict(()), over.value))
        blocks, self.blocks = self.blocks, before
        found = [
            (key, one.value)
            for key, one in items or ()
            if isinstance(one.value, Called)
            and one.value.symbol.startswith("tf.metrics.")
            and not isinstance(key, Computed)
        ]
        return found if found and len(found) == len(items or ()) + len(blocks) else None

    def source_of(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """What a name, or an entry of a dict, is, where one plain statement says it."""
        for _ in range(8):
            if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name):
                holder = self._assigned(node.value)
                key = node.slice[0].slice
                if isinstance(holder, cst.Dict) and isinstance(key, cst.Index):
                    entry = _entry(holder, key.value)
                    if entry is not None:
                        node = entry
                        continue
                return node
            value = self._assigned(node)
            if value is None:
                return node
            node = value
        return node

    def taken_of(self, name: cst.Name) -> tuple[cst.BaseExpression | None, int]:
        """What gives several values of which a name is one, and its place there."""
        for statement in self._before(name):
            if name.value not in binds(statement):
                continue
            small = only_small(statement)
            target = small.targets[0].target if isinstance(small, cst.Assign) else None
            parts = target.elements if isinstance(target, cst.Tuple) else ()
            names = [self.tree.code(one.value) for one in parts]
            if not isinstance(small, cst.Assign) or name.value not in names:
                return None, 0
            return small.value, names.index(name.value)
        return None, 0

    def _assigned(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What the last plain statement before a name gave it, if nothing that this
        reads has changed in between.
        """
        if not isinstance(node, cst.Name):
            return None
        later: list[Statement] = []
        for statement in self._before(node):
            later.append(statement)
            if node.value not in binds(statement):
                continue
            small = only_small(statement)
            if (
                not isinstance(small, cst.Assign)
                or statement in self.calls
                or assigned(statement) != [node.value]
                or not isinstance(small.targets[0].target, cst.Name)
            ):
                return None
            reads = loads(self.tree, small.value)
            if any(binds(one) & reads for one in later):
                return None
            return small.value
        return None

    def _before(self, node: cst.CSTNode) -> Iterator[Statement]:
        """The statements before the one that a node stands in, the last one first.

        A loop around it is one of them, as its other rounds are.
        """
        place = self.place(node)
        around = [one for one in self.tree.ancestors(node) if one in self.taken[place:]]
        for one in self.tree.ancestors(node) if around else ():
            if one is around[0]:
                break
            body = self.tree.body(one)
            if body is not None:
                line = statements_of(body)
                yield from reversed(line[: line.index(one)])  # type: ignore[arg-type]
                loop = self.tree.parent(body)
                if isinstance(loop, cst.For | cst.While):
                    yield loop
        yield from reversed(self.taken[:place])

    def items(self, one: Argument) -> list[tuple[str, Argument]] | None:
        """Keys and values of a dict that is said in plain sight, with their nodes.

        Those that loops and branches add are left to who asks: see ``blocks``.
        """
        self.blocks = []
        node = self.source_of(one.node)
        if isinstance(node, cst.Name):
            return self._filled(node)
        return self._entries(node, one.value)

    def _filled(self, node: cst.Name) -> list[tuple[str, Argument]] | None:
        """The entries of a dict that further statements fill."""
        found: dict[str, Argument] = {}
        made = False
        for statement in self.taken[: self.place(node)]:
            if node.value not in binds(statement):
                if made and self._hands_on(statement, node.value):
                    return None
                continue
            small = only_small(statement)
            target = small.targets[0].target if isinstance(small, cst.Assign) else None
            entries = None
            if isinstance(small, cst.Assign) and isinstance(target, cst.Name):
                if is_none(small.value):
                    made = False
                    continue
                value = self.found.notes.values.get(small.value)
                entries = self._entries(small.value, value)
                made, found, self.blocks = True, {}, []
            elif isinstance(statement, cst.For | cst.If) and made:
                self.blocks.append(statement)
                continue
            elif made:
                entries = self.added(statement)
            if entries is None:
                return None
            found.update(entries)
        return list(found.items()) if made else None

    def added(self, statement: Statement) -> list[tuple[str, Argument]] | None:
        """What ``metrics['name'] = ...`` or ``metrics.update(...)`` adds."""
        small = only_small(statement)
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            return self._updated(small.value)
        target = small.targets[0].target if isinstance(small, cst.Assign) else None
        if not isinstance(small, cst.Assign) or not isinstance(target, cst.Subscript):
            return None
        index = target.slice[0].slice
        value = self.found.notes.values.get(small.value)
        name = self._key(index.value) if isinstance(index, cst.Index) else None
        if name is None or value is None or len(small.targets) > 1:
            return None
        return [(name, Argument(value, small.value))]

    def _updated(self, call: cst.Call) -> list[tuple[str, Argument]] | None:
        """What ``metrics.update(...)`` adds."""
        func = call.func
        if not isinstance(func, cst.Attribute) or func.attr.value != "update":
            return None
        if len(call.args) == 1 and call.args[0].keyword is None:
            value = self.found.notes.values.get(call.args[0].value)
            source = self.source_of(call.args[0].value)
            return None if call.args[0].star else self._entries(source, value)
        return self._entries(call, Dict(()))

    def _hands_on(self, statement: Statement, name: str) -> bool:
        """A dict is read by what may fill it: the function of a call has it."""
        return any(
            isinstance(one, cst.Call)
            and any(
                isinstance(arg.value, cst.Name) and arg.value.value == name
                for arg in one.args
            )
            and (self.tree.symbol(one.func) or "") not in SPECS
            for one in walk(statement)
        )

    def _entries(
        self, node: cst.BaseExpression, told: Value | None
    ) -> list[tuple[str, Argument]] | None:
        """Keys and values of a dict display, or of a call of dict."""
        found: list[tuple[str, Argument]] = []
        if isinstance(node, cst.Dict):
            for element in node.elements:
                if not isinstance(element, cst.DictElement):
                    return None
                key = self._key(element.key)
                value = self.found.notes.values.get(element.value)
                if key is None or value is None:
                    return None
                found.append((key, Argument(value, element.value)))
            return found
        if isinstance(node, cst.Call) and isinstance(told, Dict):
            for arg in node.args:
                value = self.found.notes.values.get(arg.value)
                if arg.keyword is None or value is None:
                    return None
                found.append((arg.keyword.value, Argument(value, arg.value)))
            return found
        return None

    def _key(self, node: cst.BaseExpression) -> str | None:
        """A key of a dict: a string, one of parts, or that of the default signature."""
        if isinstance(node, cst.SimpleString):
            text = node.evaluated_value
            return text if isinstance(text, str) else None
        value = self.found.notes.values.get(node)
        if any(isinstance(one, cst.For) for one in self.tree.ancestors(node)):
            return Computed(self.tree.code(node), node)  # another one in each round
        if isinstance(value, Const) and isinstance(value.value, str):
            return value.value
        symbol = self.tree.symbol(node) or ""
        if symbol.endswith("DEFAULT_SERVING_SIGNATURE_DEF_KEY"):
            return "serving_default"
        formats = isinstance(node, cst.Call) and self.tree.code(node.func).endswith(
            ".format"
        )
        if formats or isinstance(node, (cst.BinaryOperation, cst.FormattedString)):
            return Computed(self.tree.code(node), node)
        return None


class Computed(str):
    """The text of a key that is put together when the program runs."""

    def __new__(cls, text: str, node: cst.BaseExpression) -> Computed:
        """Text and expression of a key."""
        made = super().__new__(cls, text)
        made.node = node
        return made

    node: cst.BaseExpression


def awaited(tree: Tree, block: cst.With) -> list[cst.BaseExpression]:
    """What a block waits for: ``with tf.control_dependencies([...]):``"""
    calls = [one.item for one in block.items if isinstance(one.item, cst.Call)]
    return [
        one.args[0].value
        for one in calls
        if tree.symbol(one.func) == "tf.control_dependencies"
    ]


def awaited_around(tree: Tree, node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What the blocks wait for that a node stands in."""
    blocks = [one for one in tree.ancestors(node) if isinstance(one, cst.With)]
    return [one for block in blocks for one in awaited(tree, block)]


def _entry(holder: cst.Dict, key: object) -> cst.BaseExpression | None:
    """The value under a constant key of a dict display."""
    wanted = key
    if isinstance(key, (cst.SimpleString, cst.Integer)):
        wanted = key.evaluated_value
    elif isinstance(key, cst.CSTNode):
        return None
    for one in holder.elements:
        if not isinstance(one, cst.DictElement):
            return None
        if isinstance(one.key, (cst.SimpleString, cst.Integer)) and (
            one.key.evaluated_value == wanted
        ):
            return one.value
    return None


def is_step(value: Value) -> bool:
    """The global step."""
    return isinstance(value, Called) and value.symbol in GLOBAL_STEPS
