"""Calls that ask for something: evaluate, predict, a step, a checkpoint's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ...plan.code.tree import Statement
from ...plan.program import EstimatorCall, ModelFnPlan
from ..module.layout import one_line
from ..module.template import parse_statements
from .train import input_argument

if TYPE_CHECKING:
    from ..programs.loop import LoopEmitter

__all__ = ["AskedCalls", "told"]

_VALUES = {
    "eval_dir": 'f"{{{manager}.directory}}/eval"',
    "global_step": "int({counter}.numpy())",
    "latest_checkpoint": "{manager}.latest_checkpoint",
}
_ONE_EXAMPLE = "Yields the predictions for one example at a time, as NumPy arrays."
_ONE_BATCH = "Yields the predictions for one batch at a time, as NumPy arrays."


def told(emitter: LoopEmitter, node: cst.Call) -> None:
    """Prints the figures of an evaluation that nobody takes: they were logged."""
    if isinstance(emitter.tree.parent(node), cst.Expr):
        call = emitter.edits.expressions.get(node, node)
        shown = cst.Call(func=cst.Name("print"), args=[cst.Arg(call)])
        emitter.edits.expressions[node] = shown


class AskedCalls:
    """Edits the calls of one program."""

    def __init__(self, emitter: LoopEmitter) -> None:
        self.emitter = emitter

    def evaluate(self, call: EstimatorCall, node: cst.Call) -> None:
        """``estimator.evaluate(input_fn)`` becomes ``evaluate(lambda _: dataset)``."""
        emitter = self.emitter
        assert call.input is not None
        argument = input_argument(node)
        dataset = emitter.text(call.input.dataset)
        steps = call.steps
        if (
            isinstance(argument, cst.Lambda)
            and not argument.params.params
            and steps is None
        ):
            # Keep the author's own line breaks.
            function: cst.BaseExpression = argument.with_changes(
                params=cst.Parameters(params=[cst.Param(cst.Name("_"))]),
                whitespace_after_lambda=cst.SimpleWhitespace(" "),
            )
        else:
            if steps is not None:
                limit = f"{steps} or -1" if call.limit_optional else steps
                dataset = f"{one_line(dataset)}.take({emitter.batches(limit)})"
            function = cst.parse_expression(f"lambda _: {one_line(dataset)}")
        self._called(node, "evaluate", function)
        told(self.emitter, node)

    def predict(self, call: EstimatorCall, node: cst.Call) -> None:
        """``estimator.predict(input_fn)`` becomes ``predict(dataset)``."""
        assert call.input is not None
        argument = input_argument(node)
        dataset = self.emitter.text(call.input.dataset)
        if isinstance(argument, cst.Lambda) and not argument.params.params:
            first = argument.body
        else:
            first = cst.parse_expression(one_line(dataset))
        more = [] if call.keys is None else [cst.parse_expression(call.keys)]
        self._called(node, "predict", first, *more)

    def value(self, call: EstimatorCall, node: cst.Call) -> None:
        """A figure or a name that the loop's own objects know."""
        assert call.wanted is not None
        names = {**self.emitter.renamed, "counter": self.emitter.counter}
        code = _VALUES[call.wanted].format(**names)
        self.emitter.edits.expressions[node] = cst.parse_expression(code)

    def directory(self, node: cst.Attribute) -> None:
        """``estimator.model_dir`` is where the checkpoints are."""
        manager = self.emitter.renamed["manager"]
        new = cst.parse_expression(f"{manager}.directory")
        self.emitter.edits.expressions[node] = new

    def _called(self, node: cst.Call, name: str, *values: cst.BaseExpression) -> None:
        """The call with another function and other arguments, breaks kept."""
        last = node.args[-1]
        first = node.args[0]
        arguments = [
            cst.Arg(
                value=value,
                comma=cst.MaybeSentinel.DEFAULT
                if number == len(values) - 1
                else first.comma
                if len(node.args) > 1
                else cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")),
                whitespace_after_arg=last.whitespace_after_arg
                if number == len(values) - 1
                else cst.SimpleWhitespace(""),
            )
            for number, value in enumerate(values)
        ]
        self.emitter.edits.expressions[node] = node.with_changes(
            func=cst.Name(self.emitter.renamed[name]), args=arguments
        )

    def predict_functions(self, body: list[Statement]) -> list[Statement]:
        """``predict_step`` with the given body, and ``predict``."""
        emitter = self.emitter
        calls = emitter.predict_calls
        model = emitter.plan.model
        is_dict = True
        if isinstance(model, ModelFnPlan):
            assert model.predict is not None
            is_dict = model.predict.is_dict
        keyed = [call.keys is not None for call in calls]
        by_example = all(call.by_example for call in calls)
        parameters, keys = "dataset", "keys"
        chosen = ""
        if any(keyed):
            parameters += f", {keys}" if all(keyed) else f", {keys}=None"
            chosen = f"key in {keys}"
            if not all(keyed):
                chosen = f"{keys} is None or key in {keys}"
        if is_dict:
            code = "tensors = predict_step(features)\n"
            if chosen:
                code += f"wanted = [key for key in tensors if {chosen}]\n"
                code += "arrays = {key: tensors[key].numpy() for key in wanted}\n"
            else:
                values = "{key: tensor.numpy() for key, tensor in tensors.items()}"
                code += f"arrays = {values}\n"
            code += (
                "for values in zip(*arrays.values()):\n"
                "    yield dict(zip(arrays, values))\n"
                if by_example
                else "yield arrays\n"
            )
        else:
            code = "yield from predict_step(features).numpy()\n"
            if not by_example:
                code = "yield predict_step(features).numpy()\n"
        code = code.replace("predict_step(", f"{emitter.renamed['predict_step']}(")
        docstring = f'"""{_ONE_EXAMPLE if by_example else _ONE_BATCH}"""\n'
        return emitter.fill(
            "predict_functions",
            parameters={"X_PREDICT_PARAMETERS": parameters},
            statements={
                "X_PREDICT_BODY": body,
                "X_DOCSTRING": parse_statements(docstring),
                "X_YIELD": parse_statements(code),
            },
        )
