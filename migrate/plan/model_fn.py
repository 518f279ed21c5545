"""Reads a ``model_fn``: its layers, its forward pass, its spec for each mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments
from .keras_program import OPTIMIZERS
from .layers import LAYERS
from .program import TF, MetricUpdate, ModelFnPlan, OptimizerPlan
from .sites import Blocked
from .tree import Statement, Tree, only_small, statements_of, walk

__all__ = ["ModelFn", "read_model_fn"]

_SPECS = ("tf.estimator.EstimatorSpec", "tf.contrib.tpu.TPUEstimatorSpec")
_SPEC_PARAMETERS = (
    "mode",
    "predictions",
    "loss",
    "train_op",
    "eval_metric_ops",
    "export_outputs",
    "training_chief_hooks",
    "training_hooks",
    "scaffold",
    "evaluation_hooks",
    "prediction_hooks",
)
_MODES = ("TRAIN", "EVAL", "PREDICT")
_PARAMETERS = ("features", "labels", "mode", "params")

# Pure functions of tensors, as far as a lifted forward pass may use them.
_PURE = (
    "tf.nn.",
    "tf.math.",
    "tf.image.",
    "tf.linalg.",
    "tf.strings.",
    "tf.abs",
    "tf.add",
    "tf.argmax",
    "tf.cast",
    "tf.concat",
    "tf.constant",
    "tf.equal",
    "tf.exp",
    "tf.expand_dims",
    "tf.identity",
    "tf.log",
    "tf.matmul",
    "tf.maximum",
    "tf.minimum",
    "tf.multiply",
    "tf.one_hot",
    "tf.pad",
    "tf.reduce_max",
    "tf.reduce_mean",
    "tf.reduce_sum",
    "tf.reshape",
    "tf.round",
    "tf.shape",
    "tf.sigmoid",
    "tf.size",
    "tf.sqrt",
    "tf.square",
    "tf.squared_difference",
    "tf.squeeze",
    "tf.stack",
    "tf.subtract",
    "tf.tanh",
    "tf.tile",
    "tf.to_float",
    "tf.to_int32",
    "tf.to_int64",
    "tf.transpose",
    "tf.zeros_like",
    "tf.ones_like",
)
_LOSSES = (
    "tf.losses.absolute_difference",
    "tf.losses.hinge_loss",
    "tf.losses.huber_loss",
    "tf.losses.log_loss",
    "tf.losses.mean_squared_error",
    "tf.losses.sigmoid_cross_entropy",
    "tf.losses.softmax_cross_entropy",
    "tf.losses.sparse_softmax_cross_entropy",
)
# tf.metrics function -> Keras class with the same figure.
_METRICS = {
    "tf.metrics.accuracy": "Accuracy",
    "tf.metrics.mean": "Mean",
    "tf.metrics.mean_absolute_error": "MeanAbsoluteError",
    "tf.metrics.mean_squared_error": "MeanSquaredError",
    "tf.metrics.root_mean_squared_error": "RootMeanSquaredError",
}
_GLOBAL_STEPS = (
    "tf.train.get_global_step",
    "tf.train.get_or_create_global_step",
    "tf.contrib.framework.get_global_step",
    "tf.train.create_global_step",
)


# Names of the emitted step functions that a lifted loss must not mean otherwise.
_OUR_LOCALS = {"batch", "tape", "losses", "examples", "gradients", "loss", "model"}


@dataclass
class ModelFn:
    """A model_fn taken apart; everything is source text of the new code."""

    definition: cst.FunctionDef
    class_name: str
    has_params: bool
    layers: list[tuple[str, str]] = field(default_factory=list)
    forward: list[str] = field(default_factory=list)
    outputs: tuple[str, ...] = ()
    train_loss: list[str] = field(default_factory=list)
    loss: str = ""
    per_example: bool = False
    eval_loss: list[str] = field(default_factory=list)
    eval_loss_name: str = ""
    docstring: str | None = None
    metrics: list[MetricUpdate] = field(default_factory=list)
    optimizer: OptimizerPlan | None = None

    def plan(self, params: str | None) -> ModelFnPlan:
        """The same as plain data."""
        assert self.optimizer is not None
        return ModelFnPlan(
            name=self.definition.name.value,
            class_name=self.class_name,
            has_params=self.has_params,
            params=params,
            layers=tuple(self.layers),
            forward=tuple(self.forward),
            outputs=self.outputs,
            train_loss=tuple(self.train_loss),
            loss=self.loss,
            per_example=self.per_example,
            eval_loss=tuple(self.eval_loss),
            eval_loss_name=self.eval_loss_name,
            docstring=self.docstring,
            metrics=tuple(self.metrics),
            optimizer=self.optimizer,
        )


def read_model_fn(tree: Tree, node: cst.BaseExpression, *, evaluates: bool) -> ModelFn:
    """Take the model_fn behind an expression apart, or raise Blocked."""
    line = tree.line(node)
    defined = tree.resolver.definition(node)
    if not isinstance(defined, cst.FunctionDef):
        raise Blocked("TFM103", line, "the model_fn is defined somewhere else")
    if not isinstance(tree.parent(defined), cst.Module):
        raise Blocked("TFM103", line, "the model_fn is a closure or a method")
    if len(tree.loads(defined.name.value)) != 1:
        raise Blocked("TFM103", line, "the model_fn is used in several places")
    names = tuple(p.name.value for p in defined.params.params)
    if names not in (_PARAMETERS, _PARAMETERS[:3]):
        shown = ", ".join(names)
        raise Blocked("TFM103", line, f"the model_fn takes ({shown})")
    return _Reader(tree, defined, evaluates).read()


def _camel(name: str) -> str:
    name = name.removesuffix("_fn").strip("_") or "model"
    words = [w[:1].upper() + w[1:] for w in name.split("_") if w]
    return "".join(words)


class _Reader:
    def __init__(self, tree: Tree, defined: cst.FunctionDef, evaluates: bool) -> None:
        self.tree = tree
        self.defined = defined
        self.evaluates = evaluates
        self.line = tree.line(defined)
        has_params = len(defined.params.params) == 4
        self.found = ModelFn(defined, _camel(defined.name.value), has_params)
        self.attributes: set[str] = set()

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked("TFM103", self.tree.line(node), f"model_fn: {reason}")

    # -- the parts --------------------------------------------------------------

    def read(self) -> ModelFn:
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        statements = statements_of(body)
        if statements and _is_docstring(statements[0]):
            self.found.docstring = self._code(statements[0])
            statements = statements[1:]
        last = max(
            (i for i, s in enumerate(statements) if self._has_layer(s)), default=None
        )
        if last is None:
            raise self.stop(self.defined, "no layers of tf.layers are seen")
        forward, rest = statements[: last + 1], statements[last + 1 :]
        for statement in forward:
            self._forward(statement)
        assigned = {n for s in forward for n in _assigned(s)}
        if assigned & {"features", "labels", "mode", "params"} and (
            assigned & {"labels", "mode", "params"}
        ):
            raise self.stop(self.defined, "an argument is assigned anew")
        train = self._branch(rest, "TRAIN")
        self._train(*train)
        needed = self._needed(self.found.train_loss, self.found.loss)
        if self.evaluates:
            self._evaluate(*self._branch(rest, "EVAL"))
            needed |= self._needed(self.found.eval_loss, self.found.eval_loss_name)
            for metric in self.found.metrics:
                for argument in metric.arguments:
                    needed |= _names_in(argument)
        assigned |= {n for s in rest for t in walk(s) for n in _assigned(t)}
        if self.found.per_example:
            assigned.add("losses")
        hidden = (needed - assigned) & _OUR_LOCALS
        if hidden:
            shown = sorted(hidden)[0]
            raise self.stop(self.defined, f"it reads a global named `{shown}`")
        outputs = [n for n in dict.fromkeys(_ordered(forward)) if n in needed]
        if not outputs or "features" in outputs:
            raise self.stop(self.defined, "the loss does not follow from the layers")
        self.found.outputs = tuple(outputs)
        return self.found

    def _needed(self, statements: Sequence[str], expression: str) -> set[str]:
        found = _names_in(expression)
        for statement in statements:
            found |= _names_in(statement)
        return found

    def _has_layer(self, statement: Statement) -> bool:
        return any(
            isinstance(n, cst.Call)
            and (self.tree.symbol(n.func) or "").startswith(("tf.layers.", "tf.keras."))
            for n in walk(statement)
        )

    def _forward(self, statement: Statement) -> None:
        small = only_small(statement)
        if not isinstance(small, cst.Assign):
            raise self.stop(statement, "the forward pass branches or has effects")
        for node in walk(small.value):
            if isinstance(
                node, (cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.DictComp)
            ):
                raise self.stop(node, "layers are made in a loop")
            if isinstance(node, cst.Call):
                self._check_call(node)
        lifted = statement.visit(_Lift(self))
        assert isinstance(lifted, cst.SimpleStatementLine)
        code = self._code(lifted)
        if "mode" in _names_in(code):
            raise self.stop(statement, "the forward pass depends on the mode")
        self.found.forward.append(code)

    def _check_call(self, call: cst.Call) -> None:
        symbol = self.tree.symbol(call.func)
        if symbol is None:
            if isinstance(call.func, cst.Name) and call.func.value in ("len", "int"):
                return
            shown = self.tree.code(call.func)
            raise self.stop(call, f"`{shown}` may make variables")
        if symbol in LAYERS or _is_pure(symbol):
            return
        raise self.stop(call, f"`{symbol}` cannot be lifted yet")

    def _code(self, statement: Statement) -> str:
        comments = [
            line for line in statement.leading_lines if line.comment is not None
        ]
        return self.tree.module.code_for_node(
            statement.with_changes(leading_lines=comments)
        )

    def _rest_code(self, statement: Statement) -> str:
        """Source of a copied statement; losses live on below compat.v1."""
        changed = statement.visit(_Losses(self.tree))
        assert isinstance(changed, cst.SimpleStatementLine)
        return self._code(changed)

    def _comments(self, statement: Statement) -> list[str]:
        """The comments above a statement, as lines of source."""
        comments = [line.comment for line in statement.leading_lines]
        return [f"{comment.value}\n" for comment in comments if comment is not None]

    def attribute(self, wanted: str) -> str:
        """A free attribute name for a layer: dense, dense_1, ..."""
        name, number = wanted, 0
        while name in self.attributes:
            number += 1
            name = f"{wanted}_{number}"
        self.attributes.add(name)
        return name

    # -- modes -------------------------------------------------------------------

    def _branch(
        self, statements: Sequence[Statement], mode: str
    ) -> tuple[list[Statement], cst.Call]:
        """The statements that run in a mode, up to the spec it returns."""
        taken: list[Statement] = []
        for statement in statements:
            if isinstance(statement, cst.If):
                verdict = self._mode_test(statement.test, mode)
                if verdict is None:
                    raise self.stop(statement, "it branches on more than the mode")
                branch: cst.CSTNode | None
                if verdict:
                    branch = statement.body
                elif isinstance(statement.orelse, cst.Else):
                    branch = statement.orelse.body
                elif isinstance(statement.orelse, cst.If):
                    try:
                        more, spec = self._branch([statement.orelse], mode)
                        return [*taken, *more], spec
                    except _NoReturn as none:
                        taken += none.taken
                        continue
                else:
                    continue
                assert isinstance(branch, cst.IndentedBlock)
                try:
                    more, spec = self._branch(statements_of(branch), mode)
                    return [*taken, *more], spec
                except _NoReturn as none:
                    taken += none.taken
                continue
            small = only_small(statement)
            if isinstance(small, cst.Return):
                value = self.tree.value(small.value)
                if not isinstance(value, cst.Call) or (
                    self.tree.symbol(value.func) not in _SPECS
                ):
                    raise self.stop(statement, "it returns something else than a spec")
                return taken, value
            taken.append(statement)
        raise _NoReturn(taken, self.stop(self.defined, f"no spec for {mode}").blocker)

    def _mode_test(self, test: cst.BaseExpression, mode: str) -> bool | None:
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            inner = self._mode_test(test.expression, mode)
            return None if inner is None else not inner
        if isinstance(test, cst.BooleanOperation):
            left = self._mode_test(test.left, mode)
            right = self._mode_test(test.right, mode)
            if left is None or right is None:
                return None
            return (
                left or right if isinstance(test.operator, cst.Or) else left and right
            )
        if isinstance(test, cst.Name):
            value = self.tree.value(test)
            return (
                None if value is test or value is None else self._mode_test(value, mode)
            )
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return None
        if not (isinstance(test.left, cst.Name) and test.left.value == "mode"):
            return None
        target = test.comparisons[0]
        named = _mode_name(self.tree, target.comparator)
        if named is None:
            return None
        if isinstance(target.operator, (cst.Equal, cst.Is)):
            return named == mode
        if isinstance(target.operator, (cst.NotEqual, cst.IsNot)):
            return named != mode
        return None

    def _spec(self, call: cst.Call) -> dict[str, cst.BaseExpression]:
        try:
            given = match_arguments(call, _SPEC_PARAMETERS)
        except UnknownArguments as problem:
            raise self.stop(call, f"spec with {problem}") from None
        for name in ("training_chief_hooks", "training_hooks", "scaffold"):
            if not is_none(given.get(name)):
                raise self.stop(call, f"EstimatorSpec(`{name}`=)")
        for name in ("evaluation_hooks", "prediction_hooks"):
            if not is_none(given.get(name)):
                raise self.stop(call, f"EstimatorSpec(`{name}`=)")
        return given

    # -- training ------------------------------------------------------------------

    def _train(self, statements: list[Statement], call: cst.Call) -> None:
        spec = self._spec(call)
        if "loss" not in spec or "train_op" not in spec:
            raise self.stop(call, "no loss or train_op for training")
        self._optimizer(_latest(self.tree, statements, spec["train_op"]))
        lines, name, per_example = self._loss(statements, spec["loss"], split=True)
        self.found.train_loss = lines
        self.found.loss = name
        self.found.per_example = per_example

    def _loss(
        self, statements: list[Statement], node: cst.BaseExpression, *, split: bool
    ) -> tuple[list[str], str, bool]:
        if not isinstance(node, cst.Name):
            raise self.stop(node, "the loss is not held in a variable")
        wanted = self._slice(statements, {node.value})
        if not wanted:
            raise self.stop(node, f"it is not seen how `{node.value}` is made")
        for statement in wanted:
            self._check_rest(statement)
        last = only_small(wanted[-1])
        assert isinstance(last, cst.Assign)
        value = last.value
        if split and isinstance(value, cst.Call):
            symbol = self.tree.symbol(value.func)
            keywords = [a.keyword.value for a in value.args if a.keyword]
            if (
                symbol in _LOSSES
                and len(value.args) <= 2
                and (set(keywords).isdisjoint({"weights", "reduction", "scope"}))
            ):
                inside = ", ".join(
                    self.tree.code(a.with_changes(comma=cst.MaybeSentinel.DEFAULT))
                    for a in value.args
                )
                code = f'{TF}.compat.v1.{symbol[3:]}({inside}, reduction="none")'
                lines = [self._rest_code(s) for s in wanted[:-1]]
                lines += self._comments(wanted[-1])
                return [*lines, f"losses = {code}\n"], "losses", True
            if symbol == "tf.reduce_mean" and len(value.args) == 1:
                lines = [self._rest_code(s) for s in wanted[:-1]]
                lines += self._comments(wanted[-1])
                inside = self.tree.code(value.args[0].value)
                return [*lines, f"losses = {inside}\n"], "losses", True
        return [self._rest_code(s) for s in wanted], node.value, False

    def _check_rest(self, statement: Statement) -> None:
        small = only_small(statement)
        if not isinstance(small, cst.Assign):
            raise self.stop(statement, "the loss is made in a branch")
        for node in walk(small.value):
            if isinstance(node, cst.Call):
                symbol = self.tree.symbol(node.func)
                if symbol is None or not (_is_pure(symbol) or symbol in _LOSSES):
                    shown = symbol or self.tree.code(node.func)
                    raise self.stop(node, f"`{shown}` in the loss or a metric")
            if isinstance(node, cst.Name) and node.value == "mode":
                raise self.stop(node, "the loss depends on the mode")

    def _slice(self, statements: list[Statement], wanted: set[str]) -> list[Statement]:
        """The statements that make the wanted names, and what these need."""
        chosen: list[Statement] = []
        wanted = set(wanted)
        for statement in reversed(statements):
            if any(name in wanted for name in _assigned(statement)):
                chosen.append(statement)
                small = only_small(statement)
                if isinstance(small, cst.Assign):
                    wanted |= {
                        n.value
                        for n in walk(small.value)
                        if isinstance(n, cst.Name)
                        and n in self.tree.resolver.scopes.loads
                    }
        return chosen[::-1]

    def _optimizer(self, minimize: cst.BaseExpression | None) -> None:
        if not (
            isinstance(minimize, cst.Call)
            and isinstance(minimize.func, cst.Attribute)
            and minimize.func.attr.value == "minimize"
        ):
            raise self.stop(
                minimize or self.defined, "the train_op is not a plain minimize"
            )
        try:
            given = match_arguments(minimize, ("loss", "global_step", "var_list"))
        except UnknownArguments as problem:
            raise self.stop(minimize, f"minimize with {problem}") from None
        if not is_none(given.get("var_list")):
            raise self.stop(minimize, "minimize(`var_list`=)")
        step = self.tree.value(given.get("global_step"))
        if not (
            isinstance(step, cst.Call) and self.tree.symbol(step.func) in _GLOBAL_STEPS
        ):
            raise self.stop(minimize, "minimize without the global step")
        made = self.tree.value(minimize.func.value)
        symbol = self.tree.symbol(made.func) if isinstance(made, cst.Call) else None
        if not isinstance(made, cst.Call) or symbol not in OPTIMIZERS:
            shown = symbol or self.tree.code(minimize.func.value)
            raise self.stop(minimize, f"the optimizer `{shown}` is not converted yet")
        try:
            arguments = match_arguments(made, OPTIMIZERS[symbol])
        except UnknownArguments as problem:
            raise self.stop(made, f"optimizer with {problem}") from None
        for argument in arguments.values():
            self.check_outer(argument, "the optimizer")
        self.found.optimizer = OptimizerPlan(
            symbol, tuple((n, self.tree.code(a)) for n, a in arguments.items())
        )

    def check_outer(self, node: cst.BaseExpression, what: str) -> None:
        """The expression may use parameters and globals, nothing local."""
        scope = self.tree.resolver.scopes.opened.get(self.defined)
        local = set(scope.bindings) - {"params"} if scope is not None else set()
        for name in walk(node):
            if (
                isinstance(name, cst.Name)
                and name.value in local
                and (name in self.tree.resolver.scopes.loads)
            ):
                raise self.stop(name, f"{what} depends on `{name.value}`")

    # -- evaluation ------------------------------------------------------------------

    def _evaluate(self, statements: list[Statement], call: cst.Call) -> None:
        spec = self._spec(call)
        if "loss" not in spec:
            raise self.stop(call, "no loss for evaluation")
        _, name, _ = self._loss(statements, spec["loss"], split=False)
        self.found.eval_loss_name = name
        metrics = _latest(self.tree, statements, spec.get("eval_metric_ops"))
        needed: set[str] = {name}
        if not is_none(metrics):
            if not isinstance(metrics, cst.Dict):
                raise self.stop(call, "eval_metric_ops is not a plain dict")
            for element in metrics.elements:
                if not isinstance(element, cst.DictElement):
                    raise self.stop(element, "eval_metric_ops is not a plain dict")
                metric = self._metric(element)
                self.found.metrics.append(metric)
                for argument in metric.arguments:
                    needed |= _names_in(argument)
        wanted = self._slice(statements, needed)
        for statement in wanted:
            self._check_rest(statement)
        self.found.eval_loss = [self._rest_code(s) for s in wanted]

    def _metric(self, element: cst.DictElement) -> MetricUpdate:
        key = element.key
        if not isinstance(key, cst.SimpleString):
            raise self.stop(element, "a metric without a literal name")
        value = self.tree.value(element.value)
        symbol = self.tree.symbol(value.func) if isinstance(value, cst.Call) else None
        if not isinstance(value, cst.Call) or symbol not in _METRICS:
            shown = symbol or self.tree.code(element.value)
            raise self.stop(
                element, f"the metric `{shown}` has no exact Keras twin yet"
            )
        parameters = (
            ("values", "weights", "name")
            if symbol == "tf.metrics.mean"
            else ("labels", "predictions", "weights", "name")
        )
        try:
            given = match_arguments(
                value,
                (
                    *parameters[:-1],
                    "metrics_collections",
                    "updates_collections",
                    "name",
                ),
            )
        except UnknownArguments as problem:
            raise self.stop(element, f"metric with {problem}") from None
        if not is_none(given.get("weights")):
            raise self.stop(element, "a metric with weights")
        arguments = tuple(self.tree.code(given[n]) for n in parameters[:-2])
        name = ast.literal_eval(key.value)
        code = f'{TF}.keras.metrics.{_METRICS[symbol]}(name="{name}")'
        return MetricUpdate(str(name), code, arguments)


class _NoReturn(Blocked):
    """No spec was returned; what was seen goes on after the branch."""

    def __init__(self, taken: list[Statement], blocker: object) -> None:
        super().__init__("TFM103", getattr(blocker, "line", 1), "model_fn: no spec")
        self.taken = taken


class _Losses(cst.CSTTransformer):
    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.tree.symbol(original_node.func)
        if symbol not in _LOSSES:
            return updated_node
        moved = cst.parse_expression(f"{TF}.compat.v1.{symbol[3:]}")
        return updated_node.with_changes(func=moved)


class _Lift(cst.CSTTransformer):
    """Puts ``self.layer(x)`` in the place of ``tf.layers.layer(x, ...)``."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        tree = self.reader.tree
        symbol = tree.symbol(original_node.func)
        if symbol not in LAYERS:
            return updated_node
        layer = LAYERS[symbol]
        try:
            given = match_arguments(updated_node, ("inputs", *layer.parameters))
        except UnknownArguments as problem:
            raise self.reader.stop(original_node, f"layer with {problem}") from None
        inputs = given.pop("inputs", None)
        if inputs is None or not is_none(given.get("reuse")):
            raise self.reader.stop(original_node, "a layer that is reused")
        given.pop("reuse", None)
        for name, value in given.items():
            if name not in layer.at_call:
                self.reader.check_outer(value, "a layer")
        module = tree.module
        call_arguments = [module.code_for_node(inputs)]
        for name in layer.at_call:
            if name in given:
                call_arguments.append(f"{name}={module.code_for_node(given.pop(name))}")
            else:
                call_arguments.append(f"{name}=False")
        named = given.get("name")
        wanted = symbol.rpartition(".")[2]
        if isinstance(named, cst.SimpleString):
            text = str(ast.literal_eval(named.value))
            wanted = text if text.isidentifier() else wanted
        attribute = self.reader.attribute(wanted)
        inside = ", ".join(
            f"{name}={module.code_for_node(value)}" for name, value in given.items()
        )
        self.reader.found.layers.append(
            (attribute, f"{TF}.keras.layers.{layer.keras}({inside})")
        )
        return cst.parse_expression(f"self.{attribute}({', '.join(call_arguments)})")

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        verdict = {mode: self.reader._mode_test(original_node, mode) for mode in _MODES}
        if verdict["TRAIN"] and not verdict["EVAL"] and not verdict["PREDICT"]:
            return cst.Name("training")
        if None not in verdict.values():
            raise self.reader.stop(
                original_node, "the forward pass depends on the mode"
            )
        return updated_node


def _latest(
    tree: Tree, statements: Sequence[Statement], node: cst.BaseExpression | None
) -> cst.BaseExpression | None:
    """What a name stands for after the statements of one mode."""
    if isinstance(node, cst.Name):
        for statement in reversed(list(_flat(statements))):
            small = only_small(statement)
            if isinstance(small, cst.Assign) and _assigned(statement) == [node.value]:
                return small.value
    return tree.value(node)


def _flat(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements, and those inside ``with`` blocks."""
    for statement in statements:
        yield statement
        if isinstance(statement, cst.With) and isinstance(
            statement.body, cst.IndentedBlock
        ):
            yield from _flat(statements_of(statement.body))


def _is_pure(symbol: str) -> bool:
    return any(symbol.startswith(p) if p.endswith(".") else symbol == p for p in _PURE)


def _is_docstring(statement: Statement) -> bool:
    small = only_small(statement)
    return isinstance(small, cst.Expr) and isinstance(
        small.value, (cst.SimpleString, cst.ConcatenatedString)
    )


def _mode_name(tree: Tree, node: cst.BaseExpression) -> str | None:
    symbol = tree.symbol(node)
    if symbol is not None and ".ModeKeys." in symbol:
        name = symbol.rpartition(".")[2]
        return {"INFER": "PREDICT"}.get(name, name)
    if isinstance(node, cst.SimpleString):
        value = ast.literal_eval(node.value)
        return {"train": "TRAIN", "eval": "EVAL", "infer": "PREDICT"}.get(value)
    return None


def _assigned(statement: cst.CSTNode) -> list[str]:
    small = statement
    if isinstance(statement, cst.SimpleStatementLine):
        small = only_small(statement) or statement
    found: list[str] = []
    if isinstance(small, cst.Assign):
        for target in small.targets:
            found += [n.value for n in walk(target.target) if isinstance(n, cst.Name)]
    return found


def _ordered(statements: Sequence[Statement]) -> list[str]:
    return [name for statement in statements for name in _assigned(statement)]


def _names_in(code: str) -> set[str]:
    if not code:
        return set()
    return {n.id for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Name)}
