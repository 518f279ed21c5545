"""``--strategy``: the configuration of a program says on what it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from ...code.edits import changed
from ...project.facts import ParsedModule, ProjectFacts
from .code import Refused
from .config import FIELDS
from .page import Page
from .word import arguments, keywords

# What each choice writes; nothing is no strategy at all.
STRATEGIES: Mapping[str, str] = {
    "default": "",
    "one_device": 'distribute.OneDeviceStrategy("/gpu:0")',
    "mirrored": "distribute.MirroredStrategy()",
    "multiworker": "distribute.MultiWorkerMirroredStrategy()",
    "parameter_server": "distribute.experimental.ParameterServerStrategy()",
    "central": "distribute.experimental.CentralStorageStrategy()",
    "tpu": "distribute.experimental.TPUStrategy()",
}
_CONFIG = "tf.estimator.RunConfig"
_ASKED = ("train_distribute", "experimental_distribute", "eval_distribute")
# The arguments of an Estimator before its configuration.
_BEFORE = 2


def with_strategy(
    files: Sequence[ParsedModule], facts: ProjectFacts, wanted: str
) -> list[ParsedModule]:
    """A legacy program whose RunConfigs hold a strategy, or none for "default".

    An Estimator without a configuration gets one. Raises Refused where the program
    has neither in plain sight.
    """
    found: list[ParsedModule] = []
    strategy = STRATEGIES[wanted]
    placed = False
    for parsed in files:
        page = Page(parsed, training="", for_tf2=False, beside=files)
        for func, call in [*page.scopes.calls.items()]:
            symbol = page.symbol(func) or ""
            if symbol == _CONFIG:
                _configure(page, call, strategy)
                placed = True
            elif symbol.endswith((".RunConfig", "TPUEstimator")):
                page.refuse(call, f"`--strategy` does not reach `{symbol}` ({{}})")
            elif strategy and _makes_estimator(symbol):
                placed = _give(page, call, strategy) or placed
        if page.context.needs_tf is not None:
            why = "needs `import tensorflow as tf` in"
            page.refuse(parsed.module.body[0], f"`--strategy` {why} {parsed.path.name}")
        if page.refusals:
            raise Refused(min(page.refusals)[1])
        text = page.result()
        found.append(parsed if text == page.text else changed(parsed, facts, text))
    if strategy and not placed:
        raise Refused(
            "`--strategy` finds no `tf.estimator.RunConfig(...)` to put it in: make "
            "one where the Estimator is made"
        )
    return found


def _makes_estimator(symbol: str) -> bool:
    home, _, name = symbol.rpartition(".")
    return name == "model_to_estimator" or (
        home in ("tf.estimator", "tf.contrib.estimator")
        and name.endswith(("Estimator", "Classifier", "Regressor"))
    )


def _configure(page: Page, call: cst.Call, strategy: str) -> None:
    """The fields of a RunConfig that choose strategies make room for one."""
    args = arguments(page, call, FIELDS)
    if args is None:
        page.refuse(call, "`--strategy`: the arguments of a RunConfig ({}) are hidden")
        return
    for name in _ASKED:
        if name in args:
            page.drop_argument(call, args[name])
            page.drop_made(args[name].value)
    if strategy:
        page.add_argument(call, f"train_distribute={page.tf(call.func, strategy)}")


def _give(page: Page, call: cst.Call, strategy: str) -> bool:
    """Gives an Estimator without a configuration one; says whether it did."""
    unnamed = [arg for arg in call.args if arg.keyword is None]
    if (
        "config" in keywords(call)
        or len(unnamed) > _BEFORE
        or any(a.star for a in call.args)
    ):
        return False
    config = page.tf(call.func, "estimator.RunConfig")
    made = page.tf(call.func, strategy)
    page.add_argument(call, f"config={config}(train_distribute={made})")
    return True
