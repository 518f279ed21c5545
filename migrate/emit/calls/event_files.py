"""Event files: what an Estimator wrote for TensorBoard by itself.

Emitted where the program said how often (``save_summary_steps``): the loss and the
steps per second of training, and the figures of each evaluation. In the form that
Estimators wrote, which TensorFlow can write without TensorBoard beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...plan.program import ModelFnPlan, RunConfigPlan

__all__ = ["MEMBERS", "figures", "watched_summaries", "writes_events"]

# Names of the writers, and of what they write with.
MEMBERS = ("train_writer", "test_writer", "write_events")


def writes_events(config: RunConfigPlan) -> bool:
    """The program asked for summaries every so many steps."""
    return config.writes_events


def watched_summaries(model: ModelFnPlan) -> dict[str, int]:
    """The variable of a step that has values for summaries, and how many."""
    found = [s.variable for s in model.summaries if s.kind == "value"]
    return {variable: found.count(variable) for variable in found}


def figures(
    model: object, names: Mapping[str, str], optimizer: str, rate: str
) -> tuple[str, str]:
    """The dict of a step's figures, and the statement that adds the summaries.

    ``rate`` is a variable that has the learning rate, if there is one.
    """
    loss = f"float({names['loss']})"
    found = {"loss": loss}
    summaries = model.summaries if isinstance(model, ModelFnPlan) else ()
    for one in summaries:
        if one.kind == "loss":
            found[one.tag] = loss
        elif one.kind == "rate":
            known = names[rate] if rate else f"{optimizer}.learning_rate.numpy()"
            found[one.tag] = f"float({known})"
    inside = ", ".join(f"{_quoted(tag)}: {code}" for tag, code in found.items())
    values = [one for one in summaries if one.kind == "value"]
    if not values:
        return f"{{{inside}}}", ""
    tags = ", ".join(_quoted(one.tag) for one in values)
    held = names[values[0].variable]
    update = f"{names['figures']}.update(zip([{tags}], {held}.numpy().tolist()))\n"
    return f"{{{inside}}}", update


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
