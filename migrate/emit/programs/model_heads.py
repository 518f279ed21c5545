"""The loop of a model_fn with heads: its losses, metrics and predictions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...plan.canned.plan import HeadPlan, ModelHead, Task
from ...plan.code.statements import names_in
from ...plan.program import TF, MetricUpdate, ModelFnPlan, PredictPlan
from ...plan.sites import Blocked
from ..module.names import Names, rename
from .canned_head import (
    batch_loss,
    example_losses,
    metrics_of,
    predictions_of,
    results_of,
)

__all__ = ["PR_AUC", "HeadCode", "with_heads"]

# The class of a metric that Keras computes otherwise, in templates/canned.py.
PR_AUC = "PrecisionRecallAUC"
_LOCALS = (
    "class_ids",
    "logits",
    "loss",
    "losses",
    "probabilities",
    "targets",
    "two_logits",
    "all_class_ids",
    "weights",
)


@dataclass(frozen=True)
class HeadCode:
    """A plan that has the heads' code in it, and what does not fit into one.

    ``results`` are statements after the metrics' own results; ``summed`` says that
    replicas' losses are added, not averaged; ``pr_auc`` names the metric's class.
    """

    model: ModelFnPlan
    results: str = ""
    summed: bool = False
    pr_auc: str | None = None


def with_heads(model: ModelFnPlan, names: Names, line: int) -> HeadCode:
    """The plan of a loop; without heads it is the model_fn's own."""
    if not model.heads:
        return HeadCode(model)
    several = len(model.heads) > 1 or bool(model.heads[0].weight)
    own = [_own_names(one.head, several=several) for one in model.heads]
    _check_free(model, {name for names in own for name in names.values()}, line)
    parts = list(zip(model.heads, own, strict=True))
    code = "".join(_losses(one, local) for one, local in parts)
    first = model.heads[0].head
    summed = first.reduction == "sum"
    comment, loss = "", "loss"
    train = code
    if several:
        made, loss = _weighted(parts)
        code, train = code + made, train + made
    else:
        comment, loss = batch_loss(first)
        comment = comment.replace("a canned Estimator", "the head")
        train += f"{comment}loss = {loss}\n" if not model.per_example else ""
    scores = "".join(
        f"{local['probabilities']} = {TF}.sigmoid({local['logits']})\n"
        for one, local in parts
        if one.head.task == Task.BINARY
    )
    metrics = [
        metric for one, local in parts for metric in _metrics(one, local, several)
    ]
    pr_auc = None
    if any(metric.code.startswith(PR_AUC) for metric in metrics):
        pr_auc = names.fresh(PR_AUC)
        metrics = [
            replace(metric, code=re.sub(rf"^{PR_AUC}\b", pr_auc, metric.code))
            for metric in metrics
        ]
    bound = {name for local in own for name in local.values()}
    changed = replace(
        model,
        train_loss=(*model.train_loss, train),
        loss="loss",
        eval_loss=(*model.eval_loss, code, scores),
        eval_loss_name=loss,
        metrics=tuple(metrics),
        predict=_predictions(model, parts, several=several),
        local_names=tuple(sorted({*model.local_names, *bound, "loss"})),
    )
    results = "".join(_results(one.head) for one in model.heads)
    return HeadCode(changed, results, summed, pr_auc)


def _own_names(head: HeadPlan, *, several: bool) -> dict[str, str]:
    """The names of a head's tensors; several heads have theirs in them."""
    prefix = ""
    if several:
        prefix = re.sub(r"\W+", "_", head.name or "head").strip("_").lower() + "_"
    return {name: f"{prefix}{name}" for name in _LOCALS}


def _check_free(model: ModelFnPlan, own: set[str], line: int) -> None:
    """What logits and labels are made of must not mean the heads' own tensors."""
    reads: set[str] = set()
    for one in model.heads:
        reads |= names_in(one.logits) | names_in(one.labels)
        reads |= names_in(one.head.units) | names_in(one.head.weights or "")
    hidden = (reads & own) - set(model.local_names)
    if hidden:
        reason = f"model_fn: it reads a global named `{sorted(hidden)[0]}`"
        raise Blocked("TFM103", line, reason)


def _losses(one: ModelHead, local: dict[str, str]) -> str:
    """From the model's outputs to the losses of single examples."""
    code = example_losses(one.head, {})
    if one.head.task != Task.MULTI_CLASS:
        # Logits of any rank: their own shape, where a canned model has two.
        code = code.replace(f"[-1, {one.head.units}])", f"{TF}.shape(logits))", 1)
    code = rename(code, {**local, "labels": one.labels})
    if one.logits != local["logits"]:
        code = f"{local['logits']} = {one.logits}\n{code}"
    return code


def _weighted(parts: list[tuple[ModelHead, dict[str, str]]]) -> tuple[str, str]:
    """Statements that add up the heads' losses, and the name of the sum."""
    code, terms = "", []
    for one, local in parts:
        _, loss = batch_loss(one.head)
        code += rename(f"loss = {loss}\n", local)
        weight = "" if one.weight in ("", "1", "1.0") else f"{one.weight} * "
        terms.append(f"{weight}{local['loss']}")
    return f"{code}loss = {' + '.join(terms)}\n", "loss"


def _metrics(
    one: ModelHead, local: dict[str, str], several: bool
) -> list[MetricUpdate]:
    head = one.head
    suffix = "" if head.name is None else f"/{head.name}"
    scores = "probabilities" if head.task == Task.BINARY else "logits"
    given = {
        "average_loss": ("losses",),
        "label/mean": ("targets",),
        "prediction/mean": (scores,),
    }
    pairs = ("targets", "probabilities")
    if head.task == Task.MULTI_CLASS:
        pairs = ("targets", f"{TF}.argmax(logits, axis=-1)")
    more = () if head.weights is None else (f"sample_weight={local['weights']}",)
    found = []
    for _, key, made in metrics_of(head):
        if key == "loss":
            continue
        name = f'name="{key}{suffix}"'
        if made == PR_AUC and head.modern:
            made, name = f"{TF}.keras.metrics.AUC", f'curve="PR", {name}'
        arguments = tuple(
            rename(f"{part}\n", local).strip() for part in given.get(key, pairs)
        )
        found.append(
            MetricUpdate(f"{key}{suffix}", f"{made}({name})", (*arguments, *more))
        )
    if several:
        key = f"loss{suffix}"
        code = f'{TF}.keras.metrics.Mean(name="{key}")'
        found.append(MetricUpdate(key, code, (local["loss"],)))
    return found


def _results(head: HeadPlan) -> str:
    code = results_of(head)
    for key in ("label/mean", "accuracy_baseline"):
        if head.name is not None:
            code = code.replace(f'"{key}"', f'"{key}/{head.name}"')
    return code


def _predictions(
    model: ModelFnPlan,
    parts: list[tuple[ModelHead, dict[str, str]]],
    *,
    several: bool,
) -> PredictPlan | None:
    if model.predict is None:
        return None
    lines, entries = list(model.predict.lines), []
    for one, local in parts:
        code = rename(predictions_of(one.head), local)
        if one.logits != local["logits"]:
            lines.append(f"{local['logits']} = {one.logits}\n")
        before, _, result = code.rpartition("return ")
        lines.append(before)
        if not several:
            return PredictPlan(tuple(lines), result.strip(), is_dict=True)
        entries.append(_keyed(result, one.head.name or ""))
    return PredictPlan(tuple(lines), f"{{\n{''.join(entries)}}}", is_dict=True)


def _keyed(result: str, name: str) -> str:
    """The entries of a head's predictions under keys of two parts."""
    inside = result.strip().strip("{}").strip("\n")
    entries = re.sub(r'(?m)^(\s*)"(\w+)":', rf'\1("{name}", "\2"):', inside)
    lines = [line.strip().rstrip(",") for line in entries.splitlines() if line.strip()]
    return "".join(f"    {line},\n" for line in lines)
