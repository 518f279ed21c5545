"""The signatures of an export: ``export_outputs`` of the spec for PREDICT."""

from __future__ import annotations

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.statements import backward_slice, latest, loads
from ..code.tree import Statement
from ..model_fn.sections import Sections
from ..program import PredictPlan

__all__ = ["read_export_outputs"]

DEFAULT = "serving_default"
_DEFAULT_KEY = (
    "tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY",
    "tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY",
)
_OUTPUTS = {
    "tf.estimator.export.PredictOutput": ("predict", ("outputs",)),
    "tf.estimator.export.RegressionOutput": ("regress", ("value",)),
    "tf.estimator.export.ClassificationOutput": ("classify", ("scores", "classes")),
}
# The names of their tensors.
_TENSORS = {"value": "outputs"}


def read_export_outputs(
    sections: Sections, statements: list[Statement], call: cst.Call
) -> tuple[tuple[str, PredictPlan], ...]:
    """What each signature gives: always a dict of tensors, keyed as before."""
    tree, stop = sections.tree, sections.source.stop
    spec = sections.modes.spec(call)
    node = latest(tree, statements, spec.get("export_outputs"))
    found: list[tuple[str, str, dict[str, cst.BaseExpression]]] = []
    if node is None or (isinstance(node, cst.Name) and node.value == "None"):
        if "predictions" not in spec:
            raise stop(call, "no predictions to export")
        found.append((DEFAULT, "predict", {"outputs": spec["predictions"]}))
    elif isinstance(node, cst.Dict):
        for element in node.elements:
            if not isinstance(element, cst.DictElement):
                raise stop(node, "export_outputs are not seen")
            key = element.key
            name = str(key.evaluated_value) if isinstance(key, cst.SimpleString) else ""
            if tree.symbol(key) in _DEFAULT_KEY:
                name = DEFAULT
            output = latest(tree, statements, element.value)
            symbol = tree.symbol(output.func) if isinstance(output, cst.Call) else None
            if not name or not isinstance(output, cst.Call):
                raise stop(node, "export_outputs are not seen")
            if symbol not in _OUTPUTS:
                shown = tree.code(output.func)
                raise stop(output, f"no signature yet for `{shown}`")
            method, parameters = _OUTPUTS[symbol]
            try:
                given = match_arguments(output, parameters)
            except UnknownArguments as problem:
                raise stop(output, f"an export output with {problem}") from None
            given = {key: part for key, part in given.items() if not is_none(part)}
            if not given:
                raise stop(output, "an export output without tensors")
            found.append((name, method, given))
    else:
        raise stop(call, "export_outputs are not seen")
    keys = [name for name, _, _ in found]
    if DEFAULT not in keys and len(keys) != 1:
        raise stop(call, "export_outputs without a default signature")
    return tuple(
        (name, _output(sections, statements, given["outputs"]))
        if method == "predict"
        else (name, _of_examples(sections, statements, method, given))
        for name, method, given in found
    )


def _of_examples(
    sections: Sections,
    statements: list[Statement],
    method: str,
    given: dict[str, cst.BaseExpression],
) -> PredictPlan:
    """What a signature that classified or regressed gives."""
    entries, wanted = [], set()
    for name, node in given.items():
        wanted |= loads(sections.tree, node)
        code = sections.expression(node, "PREDICT")
        entries.append(f'"{_TENSORS.get(name, name)}": {code}')
    chosen = sections.slice(statements, wanted)
    for statement in chosen:
        sections.check(statement)
    lines = tuple(sections.code(s, "PREDICT") for s in chosen)
    return PredictPlan(lines, f"{{{', '.join(entries)}}}", True, method)


def _output(
    sections: Sections, statements: list[Statement], node: cst.BaseExpression
) -> PredictPlan:
    tree = sections.tree
    value = latest(tree, statements, node)
    if isinstance(value, (cst.DictComp, cst.Subscript, cst.IfExp)) or (
        isinstance(value, cst.Call) and tree.symbol(value.func) is None
    ):
        reason = "whether PredictOutput gets a dict is not seen"
        raise sections.source.stop(node, reason)
    wanted = backward_slice(tree, statements, loads(tree, node))
    for statement in wanted:
        sections.check(statement)
    lines = tuple(sections.code(s, "PREDICT") for s in wanted)
    code = sections.expression(node, "PREDICT")
    if not isinstance(value, cst.Dict):
        code = f'{{"output": {code}}}'
    return PredictPlan(lines, code, is_dict=True)
