"""A TPUEstimator program in the words of an ordinary Estimator.

Off TPU, which is how most such programs were run in the end, a TPUEstimator is an
Estimator with three habits: batch sizes arrive in ``params``, evaluation metrics
are a function with its tensors, and optimizers may be wrapped for the shards of a
TPU. Said without these, the program is read like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ...project.parsing import parse
from ...project.positions import code_of
from ...symbols.scopes import BindingKind
from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..inputs.datasets import EVAL, INFER, TRAIN
from ..sites import Blocked
from .tpu_metrics import SpecMetrics

__all__ = ["TPU_ESTIMATORS", "without_tpu"]

_PACKAGES = ("tensorflow", "tensorflow.compat.v1")
_HOMES = ("tf.contrib.tpu", "tf.estimator.tpu")
TPU_ESTIMATORS = tuple(f"{home}.TPUEstimator" for home in _HOMES)
_CONFIGS = tuple(f"{home}.RunConfig" for home in _HOMES)
_SPECS = tuple(f"{home}.TPUEstimatorSpec" for home in _HOMES)
_WRAPPERS = ("tf.contrib.tpu.CrossShardOptimizer", "tf.tpu.CrossShardOptimizer")

_ESTIMATOR = (
    "model_fn",
    "model_dir",
    "config",
    "params",
    "use_tpu",
    "train_batch_size",
    "eval_batch_size",
    "predict_batch_size",
    "batch_axis",
    "eval_on_tpu",
    "export_to_tpu",
    "export_to_cpu",
    "warm_start_from",
    "embedding_config_spec",
    "export_saved_model_api_version",
)
_SAME = _ESTIMATOR[:4]
_KEPT = ("model_fn", "model_dir", "config", "params", "warm_start_from")
_SPEC = (
    "mode",
    "predictions",
    "loss",
    "train_op",
    "eval_metrics",
    "export_outputs",
    "scaffold_fn",
    "host_call",
    "training_hooks",
    "evaluation_hooks",
    "prediction_hooks",
)
# Settings of a TPU system; the rest of its RunConfig is an ordinary one.
_CONFIG_GONE = ("tpu_config", "evaluation_master", "master", "cluster")
_MODES = {"train": TRAIN, "evaluate": EVAL, "predict": INFER}
_BATCHES = {
    TRAIN: "train_batch_size",
    EVAL: "eval_batch_size",
    INFER: "predict_batch_size",
}
_INPUT_SPECS = {"tf.estimator.TrainSpec": TRAIN, "tf.estimator.EvalSpec": EVAL}


def without_tpu(tree: Tree, call: cst.Call) -> tuple[cst.Module, tuple[str, ...]]:
    """The module of one ``TPUEstimator`` call said plainly, or raise Blocked.

    With it, what the program did on top that is not done any more.
    """
    reader = _Reader(tree, call)
    reader.read()
    module = tree.module.visit(_Apply(reader))
    assert isinstance(module, cst.Module)
    # The new nodes need places of their own.
    return parse(code_of(module)), tuple(reader.lost)


@dataclass
class _Edits:
    expressions: dict[cst.CSTNode, cst.BaseExpression] = field(default_factory=dict)
    before: dict[cst.CSTNode, list[Statement]] = field(default_factory=dict)
    removed: set[cst.CSTNode] = field(default_factory=set)
    parameters: dict[cst.CSTNode, cst.Parameters] = field(default_factory=dict)


class _Reader(_Edits):
    def __init__(self, tree: Tree, call: cst.Call) -> None:
        super().__init__()
        self.tree = tree
        self.call = call
        self.lost: list[str] = []
        # Arguments that go; what only they use goes with them.
        self.gone: list[cst.CSTNode] = []

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked("TFM103", self.tree.line(node), reason)

    def matched(
        self, call: cst.Call, parameters: tuple[str, ...]
    ) -> dict[str, cst.BaseExpression]:
        try:
            return match_arguments(call, parameters)
        except UnknownArguments as problem:
            shown = self.tree.code(call.func)
            raise self.stop(call, f"{shown} with {problem}") from None

    def read(self) -> None:
        """Note everything that has to change."""
        tree = self.tree
        given = self.matched(self.call, _ESTIMATOR)
        if not is_none(given.get("embedding_config_spec")):
            raise self.stop(self.call, "TPUEstimator(`embedding_config_spec`=)")
        # Batch sizes go on in the params of input functions.
        stay = (*_KEPT, *_BATCHES.values())
        self.gone += [node for name, node in given.items() if name not in stay]
        self.expressions[self.call] = self._renamed(
            self.call, "Estimator", {n: given[n] for n in _KEPT if n in given}
        )
        self._model_fn(given)
        metrics = SpecMetrics(tree, self)
        for node in walk(tree.module):
            if not isinstance(node, cst.Call) or node is self.call:
                continue
            symbol = tree.symbol(node.func)
            if symbol in TPU_ESTIMATORS:
                raise self.stop(node, "several programs in one file")
            if symbol in _CONFIGS:
                self._config(node)
            elif symbol in _SPECS:
                self._spec(node, metrics)
            elif symbol in _WRAPPERS:
                self._wrapper(node)
            elif symbol in _INPUT_SPECS:
                self._input(node, _INPUT_SPECS[symbol], given)
            elif self._is_method(node):
                assert isinstance(node.func, cst.Attribute)
                self._input(node, _MODES[node.func.attr.value], given)
        metrics.drop_functions()
        self._drop_unused()

    def _model_fn(self, given: dict[str, cst.BaseExpression]) -> None:
        """A model_fn must not need a batch size; unused ``params`` go."""
        tree = self.tree
        defined = tree.resolver.definition(given.get("model_fn"))
        if not isinstance(defined, cst.FunctionDef):
            return
        reads = [
            node
            for node in walk(defined.body)
            if isinstance(node, cst.Name)
            and node.value == "params"
            and node in tree.resolver.scopes.loads
        ]
        for node in reads:
            owner = tree.parent(node)
            if not isinstance(owner, cst.Subscript):
                raise self.stop(node, "model_fn passes its params on")
            if "batch_size" in tree.code(owner):
                raise self.stop(node, "model_fn reads the batch size")
        parameters = [p.name.value for p in defined.params.params]
        if not reads and is_none(given.get("params")) and parameters[-1] == "params":
            kept = list(defined.params.params[:-1])
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            self.parameters[defined.params] = defined.params.with_changes(params=kept)

    # -- pieces ----------------------------------------------------------------

    def _renamed(
        self, call: cst.Call, name: str, given: dict[str, cst.BaseExpression]
    ) -> cst.Call:
        """The call under an ordinary name, with the given keyword arguments."""
        function = cst.parse_expression(f"{self._tensorflow(call)}.estimator.{name}")
        args: list[cst.Arg] = []
        for number, old in enumerate(call.args):
            key = next((k for k, v in given.items() if v is old.value), None)
            # The first parameters are the same ones, in the same order.
            if key is not None and (old.keyword is not None or number < len(_SAME)):
                args.append(old)
        written = [argument.value for argument in args]
        for key, value in given.items():
            if not any(value is other for other in written):
                args.append(_keyword(key, value))
        if args:
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return call.with_changes(func=function, args=args)

    def _tensorflow(self, call: cst.Call) -> str:
        """The module's name for tensorflow."""
        for name, bindings in self.tree.resolver.scopes.module_scope.bindings.items():
            if any(b.target in _PACKAGES for b in bindings):
                return name
        raise self.stop(call, "the module does not import tensorflow as a whole")

    def _config(self, call: cst.Call) -> None:
        if any(a.keyword is None or a.star for a in call.args):
            raise self.stop(call, "a TPU RunConfig with arguments by position")
        given = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
        self.gone += [given[name] for name in _CONFIG_GONE if name in given]
        kept = {n: v for n, v in given.items() if n not in _CONFIG_GONE}
        self.expressions[call] = self._renamed(call, "RunConfig", kept)

    def _spec(self, call: cst.Call, metrics: SpecMetrics) -> None:
        tree = self.tree
        given = self.matched(call, _SPEC)
        scaffold = given.pop("scaffold_fn", None)
        changed = call
        if scaffold is not None and not is_none(tree.value(scaffold)):
            given["scaffold"] = self._scaffold(scaffold)
            changed = _with_scaffold(call, scaffold, given["scaffold"])
        host_call = given.pop("host_call", None)
        if not is_none(tree.value(host_call)):
            self.lost.append("the host_call is not made any more")
        if "scaffold" not in given and scaffold is not None:
            self.gone.append(scaffold)
        self.gone += [] if host_call is None else [host_call]
        pair = given.pop("eval_metrics", None)
        if pair is not None and not is_none(tree.value(pair)):
            given["eval_metric_ops"] = metrics.inline(call, pair)
            self.gone.append(pair)
        self.expressions[call] = self._renamed(changed, "EstimatorSpec", given)

    def _scaffold(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """What the function makes: off TPU it is called as well, where there is one."""
        if not isinstance(node, cst.Name):
            raise self.stop(node, "TPUEstimatorSpec(`scaffold_fn`=)")
        name = node.value
        if isinstance(self.tree.resolver.definition(node), cst.FunctionDef):
            return cst.parse_expression(f"{name}()")
        return cst.parse_expression(f"{name} and {name}()")

    def _wrapper(self, call: cst.Call) -> None:
        """``CrossShardOptimizer(x)`` is ``x`` where there are no shards."""
        tree = self.tree
        statement = tree.statement(call)
        inner = self.matched(call, ("opt", "reduction", "name", "group_assignment"))
        small = only_small(statement)
        holder = tree.parent(statement)
        if isinstance(small, cst.Assign) and tree.code(
            small.targets[0].target
        ) == tree.code(inner["opt"]):
            outer = tree.parent(holder) if holder is not None else None
            whole: Statement = statement
            if (
                isinstance(outer, cst.If)
                and outer.orelse is None
                and isinstance(holder, cst.IndentedBlock)
                and len(statements_of(holder)) == 1
            ):
                whole = outer
                self.gone.append(outer.test)
            self.removed.add(whole)
            return
        choice = tree.parent(call)
        if isinstance(choice, cst.IfExp) and choice.body is call:
            self.expressions[choice] = choice.orelse
            self.gone.append(choice.test)
            return
        self.expressions[call] = inner["opt"]

    def _is_method(self, call: cst.Call) -> bool:
        function = call.func
        return (
            isinstance(function, cst.Attribute)
            and function.attr.value in _MODES
            and self.tree.value(function.value) is self.call
        )

    def _input(
        self, call: cst.Call, mode: str, estimator: dict[str, cst.BaseExpression]
    ) -> None:
        """The input function with the params that a TPUEstimator gave it."""
        tree = self.tree
        place = next(
            (a for a in call.args if a.keyword and a.keyword.value == "input_fn"),
            call.args[0] if call.args and call.args[0].keyword is None else None,
        )
        if place is None or place.star:
            raise self.stop(call, "an input function is not seen")
        size = estimator.get(_BATCHES[mode])
        batch = "" if is_none(size) or size is None else tree.code(size)
        own = not is_none(estimator.get("params"))
        if own:
            code = f"dict(params, batch_size={batch})" if batch else "params"
        else:
            code = f'{{"batch_size": {batch}}}' if batch else "{}"
        node = place.value
        if isinstance(node, cst.Lambda):
            changed = node.visit(_Given(code, keep=own))
            assert isinstance(changed, cst.Lambda)
            self.expressions[node] = changed
            return
        given = f"params={code}" if self._needs_keyword(node) else code
        parameter = " params" if own else ""
        self.expressions[node] = cst.parse_expression(
            f"lambda{parameter}: {tree.code(node)}({given})"
        )

    def _needs_keyword(self, node: cst.BaseExpression) -> bool:
        """``params`` is not the only thing that the function takes."""
        defined = self.tree.resolver.definition(node)
        return isinstance(defined, cst.FunctionDef) and (
            len(defined.params.params) != 1
        )

    def _drop_unused(self) -> None:
        """Statements that make names which only dropped code read."""
        tree = self.tree
        dropped: set[cst.CSTNode] = set()
        for node in (*self.gone, *self.removed):
            dropped.update(walk(node))
        changed = True
        while changed:
            changed = False
            for name in [n for n in dropped if isinstance(n, cst.Name)]:
                if name not in tree.resolver.scopes.loads:
                    continue
                bindings = tree.resolver.bindings(name)
                if not bindings or any(
                    b.kind is not BindingKind.ASSIGN for b in bindings
                ):
                    continue
                uses = [u for b in bindings for u in tree.uses(b)]
                if any(u not in dropped for u in uses):
                    continue
                for binding in bindings:
                    if binding.value is None:
                        continue
                    statement = self._whole(tree.statement(binding.value), name.value)
                    if statement is not None and statement not in self.removed:
                        self.removed.add(statement)
                        dropped.update(walk(statement))
                        changed = True

    def _whole(self, statement: Statement, name: str) -> Statement | None:
        """The assignment, or the ``if`` that does nothing but assign the name."""
        small = only_small(statement)
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            return None
        if self.tree.code(small.targets[0].target) != name:
            return None
        holder = self.tree.parent(statement)
        outer = self.tree.parent(holder) if holder is not None else None
        if isinstance(outer, cst.If) and isinstance(holder, cst.IndentedBlock):
            alone = len(statements_of(holder)) == 1 and outer.orelse is None
            return outer if alone else None
        return statement


def _keyword(name: str, value: cst.BaseExpression) -> cst.Arg:
    nothing = cst.SimpleWhitespace("")
    return cst.Arg(
        value, keyword=cst.Name(name), equal=cst.AssignEqual(nothing, nothing)
    )


def _with_scaffold(
    call: cst.Call, old: cst.BaseExpression, new: cst.BaseExpression
) -> cst.Call:
    """The spec with a scaffold in the place of its function, on a line of its own."""
    args = list(call.args)
    number = next(n for n, arg in enumerate(args) if arg.value is old)
    if args[number].keyword is None:
        return call
    args[number] = args[number].with_changes(value=new, keyword=cst.Name("scaffold"))
    commas = [arg.comma for arg in args if isinstance(arg.comma, cst.Comma)]
    spaces = [call.whitespace_before_args, *(c.whitespace_after for c in commas)]
    broken = [s for s in spaces if isinstance(s, cst.ParenthesizedWhitespace)]
    if broken and number:
        before = args[number - 1]
        assert isinstance(before.comma, cst.Comma)
        if not isinstance(before.comma.whitespace_after, cst.ParenthesizedWhitespace):
            comma = before.comma.with_changes(whitespace_after=broken[0])
            args[number - 1] = before.with_changes(comma=comma)
    return call.with_changes(args=args)


class _Given(cst.CSTTransformer):
    """A lambda whose body finds its ``params`` written out."""

    def __init__(self, code: str, *, keep: bool) -> None:
        self.code = code
        self.keep = keep

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if original_node.value == "params":
            return cst.parse_expression(self.code)
        return updated_node

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Lambda(
        self, original_node: cst.Lambda, updated_node: cst.Lambda
    ) -> cst.Lambda:
        kept = [
            p
            for p in original_node.params.params
            if self.keep or p.name.value != "params"
        ]
        space = cst.SimpleWhitespace(" ") if kept else cst.SimpleWhitespace("")
        return updated_node.with_changes(
            params=cst.Parameters(params=kept), whitespace_after_lambda=space
        )

    def leave_Param(
        self, original_node: cst.Param, updated_node: cst.Param
    ) -> cst.Param:
        return original_node


class _Apply(cst.CSTTransformer):
    def __init__(self, edits: _Edits) -> None:
        self.edits = edits

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        edits = self.edits
        if original_node in edits.removed:
            return cst.RemoveFromParent()
        changed = edits.expressions.get(original_node)
        if changed is not None:
            # What was noted inside of it changes as well.
            return changed.visit(_Inner(edits))  # type: ignore[return-value]
        if original_node in edits.parameters:
            return edits.parameters[original_node]  # type: ignore[return-value]
        before = edits.before.get(original_node)
        if before:
            return cst.FlattenSentinel([*before, updated_node])  # type: ignore[list-item]
        return super().on_leave(original_node, updated_node)


class _Inner(cst.CSTTransformer):
    """Applies the edits of nodes that stand in a replacement."""

    def __init__(self, edits: _Edits) -> None:
        self.edits = edits

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        changed = self.edits.expressions.get(original_node)
        if changed is not None and changed is not original_node:
            return changed.visit(self)  # type: ignore[return-value]
        return super().on_leave(original_node, updated_node)
