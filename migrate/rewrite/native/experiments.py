"""Experiments of tf.contrib.learn, in the words of train_and_evaluate."""

from __future__ import annotations

import libcst as cst

from ...code.arguments import is_none
from .page import Page, Part
from .receivers import receiving
from .word import Handler, Odd, Word, arguments, not_seen, taken

_PARAMETERS = (
    *("estimator", "train_input_fn", "eval_input_fn", "eval_metrics", "train_steps"),
    *("eval_steps", "train_monitors", "eval_hooks", "local_eval_frequency"),
    *("eval_delay_secs", "continuous_eval_throttle_secs", "min_eval_frequency"),
    *("delay_workers_by_global_step", "export_strategies"),
    *("train_steps_per_iteration", "checkpoint_and_export", "saving_listeners"),
)
# What says how, and not what; and how long somebody waits for others.
_DROPPED = (
    *("local_eval_frequency", "eval_delay_secs", "continuous_eval_throttle_secs"),
    *("delay_workers_by_global_step", "min_eval_frequency"),
)
_TRAINING = {
    "train_input_fn": "input_fn",
    "train_steps": "max_steps",
    "train_monitors": "hooks",
}
_EVALUATION = {
    "eval_input_fn": "input_fn",
    "eval_steps": "steps",
    "eval_hooks": "hooks",
}


def _experiment(page: Page, word: Word) -> None:
    """A trainer and two specs: what is evaluated is each checkpoint."""
    call = word.call
    args = None if call is None or word.stays else arguments(page, call, _PARAMETERS)
    if call is None or args is None or "estimator" not in args:
        raise Odd(word.node, "an Experiment ({}) is not made in plain sight")
    given = {
        name: one
        for name, one in args.items()
        if name == "eval_steps" or not is_none(one.value)
    }
    known = (
        "estimator",
        *_DROPPED,
        *_TRAINING,
        *_EVALUATION,
        "export_strategies",
    )
    odd = sorted(set(given) - set(known))
    rare = given.get("min_eval_frequency")
    if rare is not None and page.source(rare.value) == "0":
        odd.append("min_eval_frequency")
    if odd or not {"train_input_fn", "eval_input_fn"} <= set(given):
        why = f"with `{odd[0]}`" if odd else "without its input functions"
        raise Odd(word.node, f"an Experiment ({{}}) {why} has no native form")
    if "train_monitors" in given:
        page.words.add("hooks")
    if "eval_hooks" in given:
        page.words.add("EvalSpec(hooks)")
    indent = f"{page.newline}{page.indent(call)}{page.step}"
    page.rename(word.node, page.take("Experiment"))
    parts: list[Part] = [indent, given["estimator"].value, f",{indent}"]
    parts += [*_spec(page, "TrainSpec", given, _TRAINING), f",{indent}"]
    parts += _spec(page, "EvalSpec", given, _EVALUATION)
    start = page.text.index("(", page.outer(call.func)[1]) + 1
    parts.append(", throttle_secs=0)")
    if "export_strategies" in given:
        page.words.add("Experiment(exporters)")
        parts += [f",{indent}exporters=", given["export_strategies"].value]
    page.put_span(start, page.span(call)[1] - 1, *parts)
    page.note(
        word.node,
        "evaluates each checkpoint that is saved; TensorFlow 1 looked for a new one "
        "every `min_eval_frequency` steps, and each 5 seconds at most: there may be "
        "more evaluations now, and the training is the same",
    )


def _spec(
    page: Page, name: str, given: dict[str, cst.Arg], names: dict[str, str]
) -> list[Part]:
    """The call of a spec; that of an evaluation is not closed."""
    parts: list[Part] = [f"{page.take(name)}("]
    for old, new in names.items():
        if old in given:
            keyword = "" if new == "input_fn" else f", {new}="
            parts += [keyword, given[old].value]
    return [*parts, ")"] if name == "TrainSpec" else parts


def _strategy(page: Page, word: Word) -> None:
    """What exports below a folder of this name, and keeps some exports."""
    call = word.call
    if call is None or not call.args:
        raise not_seen(word)
    start = page.text.index("(", page.outer(call.func)[1]) + 1
    gap = "" if page.text[start].isspace() else " "
    page.put_span(start, start, f"{page.string('Servo')},{gap}")
    receiving(page, call, _STRATEGY, ("receiver", "exports_to_keep"))


_STRATEGY = (
    *("receiver", "default_output_alternative_key", "assets_extra", "as_text"),
    *("exports_to_keep", "strip_default_attrs"),
)
_UTILS = tuple(
    f"tf.contrib.learn.{home}make_export_strategy"
    for one in ("", "python.learn.")
    for home in (one, f"{one}utils.", f"{one}utils.saved_model_export_utils.")
)
_RUNNERS = (
    "tf.contrib.learn.learn_runner",
    "tf.contrib.learn.python.learn.learn_runner",
)

WORDS: dict[str, Handler] = {
    "tf.contrib.learn.Experiment": _experiment,
    "tf.contrib.learn.python.learn.experiment.Experiment": _experiment,
    **dict.fromkeys(_UTILS, taken("LatestExporter", _strategy)),
    **{f"{runner}.run": taken("run_experiment") for runner in _RUNNERS},
}
