"""Every symbol rule through every door: the same finding, the same meaning after."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.names.names import canonical, private_names
from tfmigrate.names.table import in_compat_v1
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.pipeline import Job, process_file

# Of each rule about symbols: symbol, its call, what the call means afterwards (None: it stays as it is)
USES: dict[str, tuple[str, str, str | None]] = {
    "TFM201": ("tf.log", "(1.0)", "tf.math.log"),
    "TFM202": (
        "tf.train.AdamOptimizer",
        "(0.1)",
        "tf.compat.v1.train.AdamOptimizer",
    ),
    "TFM203": ("tf.reduce_sum", "(x, keep_dims=True)", "tf.reduce_sum"),
    "TFM206": ("tf.nn.dropout", "(x, 0.25)", "tf.nn.dropout"),
    "TFM207": (
        "tf.nn.softmax_cross_entropy_with_logits",
        "(labels=x, logits=x)",
        "tf.nn.softmax_cross_entropy_with_logits",
    ),
    "TFM208": ("tf.layers.dense", "(x, 10)", None),
    "TFM209": ("tf.estimator.BoostedTreesClassifier", "([], 1)", None),
    "TFM301": (
        "tf.contrib.data.unbatch",
        "()",
        "tf.data.experimental.unbatch",
    ),
    "TFM302": ("tf.contrib.slim.conv2d", "(x, 1, 1)", None),
}
# {above}: what holds the symbol (tensorflow.nn), {below}: the same after `tf` (.nn).
DOORS = {
    "plain": "import tensorflow as tf\ny = tf{below}.{last}{call}\n",
    "alias": "import tensorflow as flow\ny = flow{below}.{last}{call}\n",
    "unaliased": "import tensorflow\ny = {above}.{last}{call}\n",
    "from": "from {above} import {last}\ny = {last}{call}\n",
    "from as": "from {above} import {last} as own\ny = own{call}\n",
    "module": "from {over} import {holder}\ny = {holder}.{last}{call}\n",
    "module as": "from {over} import {holder} as own\ny = own.{last}{call}\n",
    "dotted import": "import {above} as own\ny = own.{last}{call}\n",
    "assigned module": "import tensorflow as tf\nown = tf{below}\ny = own.{last}{call}\n",
    "assigned symbol": "import tensorflow as tf\nown = tf{below}.{last}\ny = own{call}\n",
    "local": "def f(x):\n    import tensorflow as tf\n    return tf{below}.{last}{call}\n",
    "local from": "def f(x):\n    from {above} import {last}\n    return {last}{call}\n",
    "try": "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\ny = tf{below}.{last}{call}\n",
    "try from": "try:\n    from {above} import {last}\nexcept ImportError:\n    {last} = None\ny = {last}{call}\n",
    "compat.v1": "import tensorflow.compat.v1 as tf\ny = tf{below}.{last}{call}\n",
    "star": "from tensorflow import *\ny = {start}{call}\n",
    "getattr": "import tensorflow as tf\ny = getattr(tf{below}, '{last}'){call}\n",
    "import_module": "import importlib\ny = importlib.import_module('{above}').{last}{call}\n",
    "project module": "from common import tf\ny = tf{below}.{last}{call}\n",
    "project name": "from common import own\ny = own{call}\n",
    "project attribute": "import common\ny = common.own{call}\n",
    "private": "from {private} import {private_last}\ny = {private_last}{call}\n",
    "private module": "import {private} as own\ny = own.{private_last}{call}\n",
}
COMMON = "import tensorflow as tf\n\nown = tf{below}.{last}\n"
V1_DOORS = ("try", "compat.v1")
# Where the other module binds the name, it is rewritten there, and told of there.
BOUND_THERE = ("project name", "project attribute")
# Findings that stand for the rule's own at these doors.
TOLD = {
    "from": ("TFM202", "TFM205"),
    "from as": ("TFM202", "TFM205"),
    "local from": ("TFM202", "TFM205"),
    "try from": ("TFM202", "TFM205"),
    "private": ("TFM204", "TFM205"),
    "private module": ("TFM204",),
    "getattr": ("TFM210",),
    "project name": ("TFM203",),
}


def program(door: str, symbol: str, call: str) -> tuple[str, str] | None:
    """The program and the module it imports, or None where there is no such door."""
    parts = symbol.split(".")
    names = {
        "above": ".".join(["tensorflow", *parts[1:-1]]),
        "below": "".join(f".{part}" for part in parts[1:-1]),
        "last": parts[-1],
        "start": ".".join(parts[1:]),
        "over": ".".join(["tensorflow", *parts[1:-2]]),
        "holder": parts[-2],
        "call": call,
    }
    if "{holder}" in DOORS[door] and len(parts) < 3:
        return None
    if "{private}" in DOORS[door]:
        homes = [
            home
            for home, public in private_names().items()
            if public == symbol and home.startswith("python.") and home.count(".") > 2
        ]
        if not homes:
            return None
        home, _, names["private_last"] = f"tensorflow.{homes[0]}".rpartition(".")
        names["private"] = home
    return DOORS[door].format(**names), COMMON.format(**names)


@pytest.mark.parametrize("rule", USES)
def test_the_same_result_through_every_door(rule: str, tmp_path: Path) -> None:
    symbol, call, _ = USES[rule]
    wrong: dict[str, str] = {}
    for door in DOORS:
        made = program(door, symbol, call)
        if made is None:
            continue
        folder = tmp_path / door.replace(" ", "_")
        folder.mkdir()
        main, common = folder / "main.py", folder / "common.py"
        main.write_text(made[0])
        common.write_text(made[1])
        facts = ProjectFacts((main, common))
        result = process_file(main, Job(), facts)
        again = process_file(common, Job(), facts)
        common.write_bytes(again.new or common.read_bytes())
        main.write_bytes(result.new or main.read_bytes())
        if door in V1_DOORS and in_compat_v1(symbol):
            # TensorFlow 2 has the old one there.
            if result.new is not None or result.findings:
                wrong[door] = main.read_text()
            continue
        # Where the import is told of, its uses are not told of once more.
        expected = {rule, *TOLD.get(door, ())}
        if rule == "TFM209":
            expected.add("TFM103")  # a file with tf.estimator moves to compat
        findings = result.findings
        if door in BOUND_THERE:
            findings += again.findings
        if not {f.rule for f in findings} & expected:
            wrong[door] = f"no finding: {findings}"
        elif not _is_right(made[0], main, (main, common), USES[rule]):
            wrong[door] = main.read_text()
    assert wrong == {}


def _is_right(
    old: str, main: Path, files: tuple[Path, ...], use: tuple[str, str, str | None]
) -> bool:
    symbol, call, target = use
    text = main.read_text()
    if target is None or "getattr(" in old:
        lines = text.splitlines(keepends=True)
        return old == "".join(n for n in lines if not n.lstrip().startswith("#"))
    spelled = meanings(main, ProjectFacts(files))
    if target == symbol:
        # Either today's function with today's arguments, or the old one as it was.
        as_it_was = f"{call}\n" in text
        return ("tf.compat.v1" + symbol[2:] if as_it_was else target) in spelled
    return (
        target
        in {canonical(name.replace("tf.", "tensorflow.", 1)) for name in spelled}
        | spelled
    )


def meanings(path: Path, facts: ProjectFacts) -> set[str]:
    """What the names of a module mean, spelled with their door."""
    parsed = facts.parsed(path)
    assert parsed is not None
    found = set()
    for use in parsed.resolver.scopes.uses:
        dotted = parsed.resolver.qualified(use.node)
        if dotted is not None:
            found.add(dotted.replace("tensorflow", "tf", 1))
    return found


def test_slim_hands_on_what_contrib_has() -> None:
    for name in ("losses.log_loss", "metrics.streaming_auc"):
        assert canonical(f"tensorflow.contrib.slim.{name}") == f"tf.contrib.{name}"
