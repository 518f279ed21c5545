"""How a model function trains: its optimizer, and what comes before the update."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.statements import assigned
from ...code.tree import Statement, Tree, only_small, walk
from ...model.in_mode import Called
from ...model.values import Const, Symbol, Value
from . import tidy
from .method import Method
from .optimizers import SIGNATURES as OPTIMIZERS
from .own_optimizers import read_parts, taped
from .said import Said
from .schedules import SIGNATURES as SCHEDULES
from .slices import Slice, awaited, awaited_around, is_step
from .weight_averages import before_averages, with_averages

if TYPE_CHECKING:
    from .task import Maker

_IGNORED = (
    "gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "name",
)  # fmt: skip
NO_SUMMARIES = "{} wrote summaries, of {} for example, which are not written any more"
_COUNTED = (
    "the step was counted beside the update, and once more when the data ended in TF "
    "1.15; now it is the number of updates"
)
_MINIMIZE = ("loss", "global_step", "var_list", *_IGNORED, "grad_loss")
_GRADIENTS = (
    *("ys", "xs", "grad_ys", "name", "colocate_gradients_with_ops"),
    *("gate_gradients", "aggregation_method", "stop_gradients"),
    "unconnected_gradients",
)
_COMPUTE = ("loss", "var_list", *_IGNORED[:3], "grad_loss")
_OPTIMIZE_LOSS = "tf.contrib.layers.optimize_loss"
_OPTIMIZED_SHOWS = "the learning rate and the norm of the gradients"
_OPTIMIZED = (
    *("loss", "global_step", "learning_rate", "optimizer", "gradient_noise_scale"),
    *("gradient_multipliers", "clip_gradients", "learning_rate_decay_fn", "update_ops"),
    *("variables", "name", "summaries", "colocate_gradients_with_ops"),
    "increment_global_step",
)
_FALSE = cst.Name("False")
_CREATE = (
    "tf.contrib.slim.learning.create_train_op",
    "tf.contrib.training.create_train_op",
)
_CREATED = (
    *("total_loss", "optimizer", "global_step", "update_ops", "variables_to_train"),
    *("transform_grads_fn", "summarize_gradients", *_IGNORED[:3], "check_numerics"),
)
_SLIM_CREATED = (
    *(*_CREATED[:5], "clip_gradient_norm", *_CREATED[6:10]),
    *("gradient_multipliers", "check_numerics"),
)
# What an operation that trains may be made of besides the update.
_AROUND = (
    "tf.control_dependencies", "tf.get_collection", "tf.group", "tf.identity",
    "tf.no_op", "tf.tuple",
)  # fmt: skip


@dataclass
class Trained:
    """The optimizer, what it is made of, and the method for the gradients."""

    optimizer: str = ""
    # Those of other parts of the model, by their attributes.
    others: dict[str, str] = field(default_factory=dict)
    setup: list[str] = field(default_factory=list)
    methods: list[Method] = field(default_factory=list)


def read_training(maker: Maker) -> Trained:
    """What the function's train_op stands for, or Refused."""
    return Reader(maker).read()


def asks(tree: Tree, node: cst.Call) -> bool:
    """Whether a call asks for gradients."""
    func = node.func
    return tree.symbol(func) == "tf.gradients" or (
        isinstance(func, cst.Attribute) and func.attr.value == "compute_gradients"
    )


class Reader:
    """Reads the updates of a model function."""

    def __init__(self, maker: Maker) -> None:
        self.maker = maker
        self.mode = maker.train
        self.tree = maker.tree
        # Calls that count the step beside the updates.
        self.counted: set[cst.Call] = set()
        # Of averages of the weights.
        self.averages: Mapping[str, cst.BaseExpression] | None = None
        # What is minimized.
        self.objectives: dict[Value, cst.BaseExpression] = {}

    def read(self) -> Trained:
        """What the operation that trains stands for."""
        trained = self._read()
        if self.averages is not None:
            with_averages(self, trained, self.averages)
        elif self.maker.evaluates_averages:
            raise self.maker.stop(
                self.maker.defined, "EVAL restores averages of nothing"
            )
        others = [one for one in self.objectives.values() if not self.is_loss(one)]
        if others and len(self.objectives) > 1:
            raise self.maker.stop(others[0], "it minimizes several things at once")
        if others and "self." in self.tree.code(others[0]):
            why = "it minimizes what its object holds, and is not seen to be the loss"
            raise self.maker.stop(others[0], why)
        trained.methods += map(self._step, others)
        return trained

    def _step(self, objective: cst.BaseExpression) -> Method:
        """The step, which minimizes something else than the loss that is shown."""
        maker, mode = self.maker, self.mode
        assert mode.spec is not None
        told = mode.spec["loss"].node
        loss = told.value if isinstance(told, cst.Name) else "loss"
        source = mode.source_of(told)
        maker.computed[source] = loss
        made = maker.sliced(mode, "train_step", [objective], objective)
        del maker.computed[source]
        features, labels, outputs = made.parameters
        lines = [f"{loss} = self.loss({features}, {labels}, {outputs})\n"]
        lines += [one for one in made.lines if one != f"{loss} = {loss}\n"]
        minimized = made.returned or ""
        if not minimized.isidentifier():
            lines.append(f"objective = {minimized}\n")
            minimized = "objective"
        if "Strategy" in self.tree.text:
            count = f"{maker.alias}.distribute.get_strategy().num_replicas_in_sync"
            lines.append("# Replicas add their gradients up: to those of the mean.\n")
            lines.append(f"share = {minimized} / {count}\n")
            minimized = "share"
        else:
            maker.parts.words.add("train_step")
        update = f"self.apply_gradients(self.gradients_of({minimized}, tape))\n"
        made.parameters, made.returned = (features, labels), f'{{"loss": {loss}}}'
        made.lines = [taped(maker, lines), update]
        return made

    def _read(self) -> Trained:
        maker, mode = self.maker, self.mode
        assert mode.spec is not None
        if "train_op" not in mode.spec:
            raise maker.stop(maker.defined, "no train_op for TRAIN")
        node, self.averages = before_averages(self, mode.spec["train_op"].node)
        node = self._before_count(node)
        found = list(self._updates())
        if not found:
            reason = "it is not seen how the train_op trains"
            raise maker.stop(node, reason)
        each: dict[str, cst.Call] = {}
        update = found[0]
        for one in found:
            each.setdefault(self.tree.code(one), one)
            maker.parts.used.add(self.tree.statement(one))
        self._check_op(node, found)
        if self.counted and self.tree.symbol(update.func) is not None:
            raise maker.stop(node, "an update that counts the step twice")
        if len(each) > 1:
            return read_parts(self, [*each.values()], Trained())
        if self.tree.symbol(update.func) == _OPTIMIZE_LOSS:
            return self._optimize_loss(update)
        trained = Trained()
        if self.tree.symbol(update.func) in _CREATE:
            optimizer, clip = self._create_train_op(update)
            if clip is not None and self.tree.code(clip) != "0":
                trained.methods.append(clipped(maker, clip, each=True))
            trained.methods += maker.learning_rate(optimizer)
            trained.optimizer, trained.setup = maker.constructed(optimizer)
            return trained
        func = update.func
        assert isinstance(func, cst.Attribute)
        if func.attr.value == "minimize":
            given = self.minimized(update)
            self._check_loss(given.get("loss"), update)
            self.check_step(given.get("global_step"), update)
            self.check_variables(given.get("var_list"), update)
        else:
            given = self._given(update, ("grads_and_vars", "global_step", "name"))
            self.check_step(given.get("global_step"), update)
            trained.methods.append(self._gradients(given["grads_and_vars"], update))
        trained.methods += maker.learning_rate(func.value)
        trained.optimizer, trained.setup = maker.constructed(func.value)
        return trained

    def minimized(self, update: cst.Call) -> dict[str, cst.BaseExpression]:
        """What `minimize` is given."""
        func = update.func
        if not isinstance(func, cst.Attribute) or func.attr.value != "minimize":
            raise self.maker.stop(update, "the model_fn updates its variables twice")
        given = self._given(update, _MINIMIZE)
        for name in given:
            if name not in ("loss", "global_step", "var_list", *_IGNORED):
                raise self.maker.stop(update, f"minimize(`{name}`=)")
        return given

    # -- the update

    def _updates(self) -> Iterator[cst.Call]:
        """Calls that update the variables."""
        for statement in self.mode.taken:
            for node in walk(statement, cst.Call):
                if self._is_update(node):
                    yield node

    def _is_update(self, node: cst.Call) -> bool:
        symbol = self.tree.symbol(node.func)
        if symbol is not None:
            return symbol == _OPTIMIZE_LOSS or symbol in _CREATE
        func = node.func
        return isinstance(func, cst.Attribute) and func.attr.value in (
            "minimize",
            "apply_gradients",
        )

    def _given(
        self, call: cst.Call, parameters: tuple[str, ...]
    ) -> dict[str, cst.BaseExpression]:
        try:
            given = match_arguments(call, parameters)
        except UnknownArguments as problem:
            shown = self.tree.code(call.func)
            raise self.maker.stop(call, f"`{shown}` with {problem}") from None
        return {
            name: value
            for name, value in given.items()
            if not (isinstance(value, cst.Name) and value.value == "None")
        }

    def _value(self, node: cst.CSTNode) -> Value | None:
        return self.mode.found.notes.values.get(node)

    def is_loss(self, node: cst.BaseExpression) -> bool:
        """It is the loss of the specification."""
        told = self.mode.spec.get("loss") if self.mode.spec is not None else None
        return told is not None and self._value(node) is told.value

    def waits(self, block: cst.With) -> bool:
        """What is in a block waits for more than what layers update."""
        values = map(self._value, awaited(self.tree, block))
        return any(one is None or not is_updates(one) for one in values)

    def _check_loss(self, minimized: cst.BaseExpression | None, node: cst.Call) -> None:
        value = None if minimized is None else self._value(minimized)
        if minimized is None or value is None:
            raise self.maker.stop(node, "it is not seen what is minimized")
        self.objectives[value] = minimized

    def check_step(self, step: cst.BaseExpression | None, node: cst.CSTNode) -> None:
        value = None if step is None else self._value(step)
        if (value is not None and is_step(value)) + len(self.counted) != 1:
            raise self.maker.stop(node, "an update that does not count the step once")

    def _counts(self, call: cst.Call) -> bool:
        """``tf.assign_add(global_step, 1)``"""
        values = [self._value(one.value) for one in call.args]
        return (
            self.tree.symbol(call.func) == "tf.assign_add"
            and len(values) == 2
            and values[0] is not None
            and is_step(values[0])
            and values[1] == Const(1)
        )

    def _before_count(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """What a count of the step waits for, or the node if it is none."""
        made = self.tree.value(node)
        if isinstance(made, cst.Attribute) and made.attr.value == "op":
            made = made.value
        if not isinstance(made, cst.Call) or not self._counts(made):
            return node
        waits = awaited_around(self.tree, made)
        if len(waits) != 1:
            return node
        self.counted.add(made)
        self.maker.parts.used.add(self.tree.statement(made))
        return waits[0]

    def _check_op(self, node: cst.BaseExpression, updates: list[cst.Call]) -> None:
        """The train_op does nothing but the update, and what layers update besides."""
        read = self.mode.needed([node])
        inside = [*read.statements, self.tree.statement(node)]
        if not any(
            one in updates for part in (*read.statements, node) for one in walk(part)
        ):
            last = read.statements[-1] if read.statements else node
            calls = list(walk(last, cst.Call))
            own = [one for one in calls if self.tree.symbol(one.func) is None]
            shown = self.tree.code(own[0].func if own else node)
            why = "runs behind the update and has no place in a Task: take it out"
            raise self.maker.stop(node, f"`{shown}` {why}")
        for part in (*read.statements, node):
            for one in walk(part, cst.Call):
                if one in updates:
                    continue
                if self._counts(one):
                    if not self.counted:
                        self.maker.parts.notes.append(_COUNTED)
                    self.counted.add(one)
                    continue
                symbol = self.tree.symbol(one.func) or ""
                if symbol == "tf.group":
                    self._check_group(one, updates)
                if symbol.startswith("tf.assign") or symbol.endswith("MovingAverage"):
                    shown = self.tree.code(one.func)
                    raise self.maker.stop(one, f"`{shown}` in the train_op")
        self.maker.parts.used.update(
            one for one in inside if self._is_around(one, updates)
        )

    def _is_around(self, statement: Statement, updates: list[cst.Call]) -> bool:
        symbols = [
            self.tree.symbol(one.func) or ""
            for one in walk(statement, cst.Call)
            if one not in updates and one not in self.counted
        ]
        return bool(symbols) and set(symbols) <= {*_AROUND}

    def _check_group(self, call: cst.Call, updates: list[cst.Call]) -> None:
        for one in call.args:
            value = self._value(one.value)
            if value is not None and is_updates(value):
                continue
            if any(map(self._counts, walk(one.value, cst.Call))):
                continue
            told = self.mode.needed([one.value])
            parts = (*told.statements, one.value)
            if not any(u in [*walk(part)] for part in parts for u in updates):
                shown = self.tree.code(one.value)
                raise self.maker.stop(one, f"`{shown}` in the train_op")

    # -- gradients

    def _asked(self) -> list[cst.Call]:
        """Calls that ask for the gradients of the loss."""
        calls = (one for part in self.mode.taken for one in walk(part, cst.Call))
        return [one for one in calls if asks(self.tree, one)]

    def _gradients(self, node: cst.BaseExpression, update: cst.Call) -> Method:
        """What stands between the gradients and the update."""
        maker, mode = self.maker, self.mode
        asked = self._asked()
        for one in asked:
            self._check_asked(one)
        late = self._late(mode.needed([node], given=asked))
        if late:
            raise maker.stop(node, f"gradients that depend on `{late[0]}`")
        maker.gradient_summaries = self._summaries(asked)
        read = mode.needed([node], maker.gradient_summaries, given=asked)
        said = Said(maker, mode, gradients=asked)
        lines = []
        for statement in read.statements:
            maker.parts.used.add(statement)
            apart = self._taken_apart(statement, asked)
            if apart is not None:
                lines += apart
                said.took_gradients = True
            elif not self._makes_optimizer(statement):
                lines.append(said.statement(statement))
        text = said.expression(node)
        if not said.took_gradients:
            reason = "it is not seen where the gradients come from"
            raise maker.stop(update, reason)
        lines = tidy.without_unread(lines, text)
        maker.parts.words.add("apply_gradients")
        name = "gradients"
        named = [line for line in lines if re.fullmatch(r"\w+ = gradients\n", line)]
        if len(named) == 1:
            # The parameter has the name that the program gave them.
            lines.remove(named[0])
            name = named[0].partition(" ")[0]
        lines.append(f"self.optimizer.apply_gradients({text})\n")
        return Method("apply_gradients", (name,), lines)

    def _late(self, read: Slice) -> list[str]:
        """What is not there any more when the gradients are."""
        return sorted(read.outputs | read.free & self.maker.late)

    def _summaries(self, asked: list[cst.Call]) -> list[Statement]:
        """Summaries of gradients, and of what is made of them alone."""
        found = []
        for statement in filter(self.maker.is_summary, self.mode.taken):
            made = self.mode.needed([], [statement]).statements
            of_gradients = any(node in asked for one in made for node in walk(one))
            read = self.mode.needed([], [statement], given=asked)
            if of_gradients and not self._late(read):
                found.append(statement)
        return found

    def _taken_apart(
        self, statement: Statement, asked: list[cst.Call]
    ) -> list[str] | None:
        """``gradients, variables = zip(*optimizer.compute_gradients(loss))``"""
        small = only_small(statement)
        if not isinstance(small, cst.Assign) or not isinstance(small.value, cst.Call):
            return None
        args = small.value.args
        names = assigned(statement)
        if (
            self.tree.code(small.value.func) != "zip"
            or len(args) != 1
            or args[0].star != "*"
            or args[0].value not in asked
            or len(names) != 2
        ):
            return None
        gradients, variables = names
        found = [f"{variables} = self.model.trainable_variables\n"]
        if gradients != "gradients":
            found.insert(0, f"{gradients} = gradients\n")
        return found

    def _check_asked(self, call: cst.Call) -> None:
        if self.tree.symbol(call.func) == "tf.gradients":
            given = self._given(call, _GRADIENTS)
            for name in given.keys() - {"ys", "xs", *_IGNORED}:
                raise self.maker.stop(call, f"tf.gradients(`{name}`=)")
            self._check_loss(given.get("ys"), call)
            self.check_variables(given["xs"], call)
            return
        given = self._given(call, _COMPUTE)
        self._check_loss(given.get("loss"), call)
        self.check_variables(given.get("var_list"), call)

    def check_variables(self, node: cst.BaseExpression | None, call: cst.Call) -> None:
        """Refuses an update of other variables than all that are trained."""
        value = None if node is None else self._value(node)
        source = None if node is None else self.mode.source_of(node)
        own = f"{self.maker.model}.trainable_variables"
        if source is not None and self.tree.code(source) == own:
            return
        if node is not None and (
            not isinstance(value, Called)
            or value.symbol != "tf.trainable_variables"
            or value.arguments
        ):
            raise self.maker.stop(call, "gradients of some variables only")

    def _makes_optimizer(self, statement: Statement) -> bool:
        """The constructor has it."""
        small = only_small(statement)
        inside = isinstance(small, cst.Assign) and [*walk(statement)]
        return bool(inside) and any(
            isinstance(node, cst.Call)
            and (self.tree.symbol(node.func) or "") in (*OPTIMIZERS, *SCHEDULES)
            for node in inside or ()
        )

    # -- contrib's functions

    def _create_train_op(
        self, call: cst.Call
    ) -> tuple[cst.BaseExpression, cst.BaseExpression | None]:
        """The optimizer of an update that runs all that layers update, too.

        With the norm to which each gradient is clipped.
        """
        of_slim = "slim" in (self.tree.symbol(call.func) or "")
        given = self._given(call, _SLIM_CREATED if of_slim else _CREATED)
        clip = given.pop("clip_gradient_norm", None)
        self._check_loss(given.pop("total_loss", None), call)
        if "global_step" in given:
            self.check_step(given.pop("global_step"), call)
        elif any(self.tree.code(one.value) == "None" for one in call.args[2:3]):
            raise self.maker.stop(call, "an update that does not count the step")
        for name in (*_IGNORED, "check_numerics"):
            given.pop(name, None)
        if self.tree.code(given.pop("summarize_gradients", _FALSE)) != "False":
            self.maker.parts.notes.append(
                NO_SUMMARIES.format("create_train_op", "gradients")
            )
        self.check_variables(given.pop("variables_to_train", None), call)
        optimizer = given.pop("optimizer", None)
        if optimizer is None or given:
            raise self.maker.stop(call, f"create_train_op(`{min(given, default='')}`=)")
        return optimizer, clip

    def _optimize_loss(self, call: cst.Call) -> Trained:
        maker = self.maker
        given = self._given(call, _OPTIMIZED)
        self._check_loss(given.pop("loss", None), call)
        step = given.pop("global_step", None)
        value = None if step is None else self._value(step)
        if step is not None and (value is None or not is_step(value)):
            raise maker.stop(call, "an update that does not count the step")
        rate = given.pop("learning_rate", None)
        decay = given.pop("learning_rate_decay_fn", None)
        optimizer = given.pop("optimizer", None)
        clip = given.pop("clip_gradients", None)
        self.check_variables(given.pop("variables", None), call)
        if getattr(given.get("summaries"), "elements", None) != ():
            maker.parts.notes.append(
                NO_SUMMARIES.format("optimize_loss", _OPTIMIZED_SHOWS)
            )
        for name in ("name", "summaries", "colocate_gradients_with_ops"):
            given.pop(name, None)
        updates = given.get("update_ops")
        # Whether something else runs what layers update is asked of the whole mode.
        value = None if updates is None else self._value(updates)
        if getattr(updates, "elements", None) == () or is_updates(value):
            del given["update_ops"]
        if given:
            raise maker.stop(call, f"optimize_loss(`{min(given)}`=)")
        if optimizer is None:
            raise maker.stop(call, "optimize_loss without an optimizer")
        trained = Trained(methods=maker.learning_rate(optimizer, rate))
        if trained.methods and decay is not None:
            raise maker.stop(call, "a learning rate that is not understood")
        trained.optimizer, trained.setup = maker.optimizer_of_loss(
            optimizer, rate, decay, call
        )
        if clip is not None:
            if not isinstance(
                clip, (cst.Float, cst.Integer, cst.Name, cst.Attribute, cst.Subscript)
            ) or isinstance(self.tree.resolver.definition(clip), cst.FunctionDef):
                raise maker.stop(clip, "optimize_loss(`clip_gradients`=)")
            trained.methods.append(clipped(maker, clip))
        return trained


def clipped(maker: Maker, norm: cst.BaseExpression, *, each: bool = False) -> Method:
    """The method that clips all gradients together before the update, or each."""
    said, read = Said(maker, maker.train), maker.train.needed([norm])
    late = sorted(read.outputs | read.free & maker.late)
    if late:
        raise maker.stop(norm, f"gradients that depend on `{late[0]}`")
    maker.parts.used.update(read.statements)
    text = said.expression(norm)
    line = f"gradients, _ = {maker.alias}.clip_by_global_norm(gradients, {text})\n"
    if each:
        one = f"{maker.alias}.clip_by_norm(one, {text})"
        line = f"gradients = [{one} for one in gradients]\n"
        if not isinstance(norm, (cst.Float, cst.Integer)):
            line = f"if {text} > 0:\n    {line}"
    lines = [said.statement(one) for one in read.statements]
    lines += [line, "super().apply_gradients(gradients)\n"]
    return Method("apply_gradients", ("gradients",), lines)


def is_updates(value: object) -> bool:
    """The collection of what layers update besides, such as moving averages."""
    if not isinstance(value, Called) or value.symbol != "tf.get_collection":
        return False
    if len(value.arguments) != 1:
        return False
    key = value.arguments[0].value
    if isinstance(key, Symbol):
        return key.name.endswith(".UPDATE_OPS")
    return getattr(key, "value", None) == "update_ops"
