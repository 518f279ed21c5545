"""Exports for serving: one function, and what exporters did after evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ...plan.code.statements import names_in
from ...plan.code.tree import Statement
from ...plan.estimator.results import PAIR
from ...plan.program import (
    CallKind,
    EstimatorCall,
    ExporterPlan,
    PredictPlan,
    ReceiverPlan,
)
from ...plan.sites import Blocked
from ..module.layout import one_line
from ..module.template import parse_statements
from .predictors import decodings, only_decoded, single_name

if TYPE_CHECKING:
    from ..programs.loop import LoopEmitter
    from .trainer import Trainer

__all__ = ["export_functions", "rename_export"]

_FILE = "exports"
_RULE = "TFM110"


def export_functions(
    emitter: LoopEmitter, answer: PredictPlan, definition: cst.CSTNode | None
) -> list[Statement]:
    """The signature, ``export``, and what exporters need.

    ``answer`` is what the signature answers; a class of the loop stands where
    ``definition`` stood.
    """
    calls = [call for call in emitter.plan.calls if call.receiver is not None]
    if not calls:
        return []
    receiver, line = calls[0].receiver, calls[0].line
    assert receiver is not None
    if emitter.trainer is not None:
        if definition is None:
            raise Blocked(_RULE, line, "an export by a class has no equivalent yet")
        _check_class(emitter, emitter.trainer, receiver, definition)
    if any(call.receiver != receiver for call in calls):
        raise Blocked(_RULE, line, "exports with different receiver functions")
    together = [call for call in calls if call.exporters]
    if len(together) > 1:
        raise Blocked(_RULE, line, "exporters of several train_and_evaluate")
    name = "serve" if emitter.trainer else emitter.names.fresh("serve")
    served = emitter.own("serve", name)
    made = _signature(emitter, name, receiver, answer, line)
    modules = {name: emitter.module(name) for name in ("os", "time")}
    made += emitter.fill(
        "export_function",
        expressions={"X_SIGNATURES": f'{{"serving_default": {served}}}'},
        names=modules,
        file=_FILE,
    )
    return made + [s for call in together for s in _exporters(emitter, call, modules)]


def _check_class(
    emitter: LoopEmitter,
    trainer: Trainer,
    receiver: ReceiverPlan,
    definition: cst.CSTNode,
) -> None:
    """Raise Blocked unless a class at module level can read what the receiver reads."""
    scopes = emitter.tree.resolver.scopes
    specs = [emitter.text(spec) for _, spec in receiver.inputs]
    values = [line.partition(" = ")[2].strip() for line in receiver.lines]
    body = [emitter.text(code) for code in (*values, receiver.features)]
    for call, node in emitter.program.sites.calls:
        if call.receiver is None:
            continue
        if call.exporters:
            raise Blocked(_RULE, call.line, "exporters by a class")
        if not all(trainer.visible(code, node) for code in [*body, *specs]):
            reason = "the receiver function reads what a class cannot see"
            raise Blocked(_RULE, call.line, reason)
        # A decorator is read where the class stands, before what comes later.
        line = emitter.tree.line(definition)
        for name in {name for spec in specs for name in names_in(spec)}:
            bindings = scopes.module_scope.bindings.get(name, ())
            if any(emitter.tree.line(one.node) > line for one in bindings):
                reason = f"`{name}` of the receiver function comes after the class"
                raise Blocked(_RULE, call.line, reason)


def _signature(
    emitter: LoopEmitter,
    name: str,
    receiver: ReceiverPlan,
    output: PredictPlan,
    line: int,
) -> list[Statement]:
    """One function for ``tf.saved_model.save``."""
    inputs = [key for key, _ in receiver.inputs]
    specs = ", ".join(spec for _, spec in receiver.inputs)
    own = {*inputs, "features", *(text.split(" ", 1)[0] for text in receiver.lines)}
    body = "".join(output.lines) + f"return {one_line(output.code)}\n"
    body = emitter.section(body)
    outer = names_in(emitter.text(receiver.features)) - own
    if (names_in(body) - {"features"}) & (own - {"features"}):
        shown = sorted((names_in(body) - {"features"}) & own)[0]
        reason = f"the receiver function and the model_fn both have `{shown}`"
        raise Blocked(_RULE, line, reason)
    if "features" in outer or emitter.renamed["model"] in own:
        raise Blocked(_RULE, line, "the receiver function hides what it reads")
    code = "".join(receiver.lines)
    if receiver.features != "features":
        code += f"features = {one_line(receiver.features)}\n"
    code = emitter.text(code) + body
    text = "".join(f"    {row}\n" for row in code.splitlines())
    return parse_statements(
        emitter.text(
            f"@{emitter.tf}.function(input_signature=[{specs}])\n"
            f"def {name}({', '.join(inputs)}):\n"
            f'    """Answers a request."""\n{text}'
        )
    )


def _exporters(
    emitter: LoopEmitter, call: EstimatorCall, modules: dict[str, str]
) -> list[Statement]:
    best = [one for one in call.exporters if one.kind == "BestExporter"]
    if len(best) > 1:
        raise Blocked(_RULE, call.line, "two exporters of the best model")
    names = dict(modules)
    for name in ("best_results", "export_evaluated", "is_better"):
        names[name] = emitter.renamed[name] = emitter.names.fresh(name)
    before, code = "", ""
    listed = call.gives == PAIR
    for one in call.exporters:
        keep = "" if one.keep is None else f", keep={one.keep}"
        path = f"{modules['os']}.path.join(exports, {one.name})"
        line = f"{emitter.renamed['export']}({path}{keep})\n"
        if listed:
            # The path was bytes, or None where nothing was exported.
            line = f"path = {line.strip()}.encode()\n"
            code += "path = None\n" if one.kind != "LatestExporter" else ""
        if one.kind == "BestExporter":
            made, test = _better(one, names)
            before += made
            kept = names["best_results"]
            code += f"better = True\nif {kept}:\n    better = {test}\n"
            code += f"if better:\n    {kept}.update(results)\n    {line}"
        elif one.kind == "FinalExporter":
            if call.max_steps is None:
                # It waited for the last step, and there was none.
                raise Blocked(_RULE, call.line, "FinalExporter without max_steps")
            limit = call.max_steps
            test = f'results["global_step"] >= {limit}'
            if call.limit_optional:
                test = f"{limit} is not None and {test}"
            code += f"if {test}:\n    {line}"
        else:
            code += line
        if listed:
            code += "paths.append(path)\n"
    return parse_statements(emitter.text(before)) + emitter.fill(
        "exporters",
        statements={
            "X_EXPORTERS": parse_statements(emitter.text(code)),
            "X_RETURN": parse_statements("return paths\n" if listed else ""),
        },
        flags={"X_BEST": bool(best), "X_LISTED": listed},
        names=names,
        file=_FILE,
    )


def _better(one: ExporterPlan, names: dict[str, str]) -> tuple[str, str]:
    """Whether new results are better: what makes the test, and the test."""
    best = names["best_results"]
    if one.better is None:
        return "", f'results["loss"] < {best}["loss"]'
    made, function = "", one.better
    if not function.isidentifier():
        function = names["is_better"]
        made = f"{function} = {one_line(one.better)}\n"
    given = f"best_eval_result={best}, current_eval_result=results"
    return made, f"{function}({given})"


def rename_export(
    emitter: LoopEmitter, call: EstimatorCall, node: cst.Call, name: str | None = None
) -> None:
    """``estimator.export_savedmodel(...)`` becomes ``export(...)``."""
    assert call.kind == CallKind.EXPORT
    tree, edits = emitter.tree, emitter.edits
    code = f"{name or emitter.renamed['export']}({call.directory})"
    binding = single_name(tree, node)
    if binding is not None and only_decoded(tree, binding):
        for decoding in decodings(tree, binding):
            edits.expressions.setdefault(decoding, cst.Name(binding.name))
    elif not isinstance(tree.parent(node), cst.Expr):
        # The path was bytes.
        code += ".encode()"
    edits.expressions[node] = emitter.fitted_expression(node, code)
