"""Every rule: examples, noops, docs, and the same result through every door."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import libcst as cst
import pytest
from tfmigrate.names.resolver import Resolver
from tfmigrate.report.findings import Outcome
from tfmigrate.rules.base import Rule
from tfmigrate.rules.engine import RulesResult, run_rules
from tfmigrate.rules.registry import all_rules, find_rule, rule_page

# Others are about programs or whole files.
RULES = [rule for rule in all_rules() if "TFM200" < rule.id < "TFM500"]
NOOPS = [(rule.id, code) for rule in RULES for code in rule.noops]
EXAMPLES = [(rule.id, *pair) for rule in RULES for pair in rule.examples]


def apply(code: str) -> RulesResult:
    """Run the symbol rules over a module."""
    module = cst.parse_module(code)
    return run_rules(code, module, Resolver(module))


@pytest.mark.parametrize(("rule", "code"), NOOPS)
def test_noop(rule: str, code: str) -> None:
    ast.parse(code)
    result = apply(code)
    assert result.text == code
    assert result.findings == ()


@pytest.mark.parametrize(("rule", "before", "after"), EXAMPLES)
def test_example(rule: str, before: str, after: str) -> None:
    ast.parse(after)
    result = apply(before)
    assert result.text == after
    assert rule in {finding.diagnosis.rule for finding in result.findings}
    again = apply(after)
    assert again.text == after
    assert not any(f.diagnosis.edits for f in again.findings)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_complete(rule: Rule) -> None:
    assert re.fullmatch(r"TFM\d{3}", rule.id)
    assert rule.examples
    assert rule.noops
    assert rule.summary.endswith(".")
    assert rule.why.endswith(".")


def test_ids_and_names_are_unique() -> None:
    rules = all_rules()
    assert len({rule.id for rule in rules}) == len(rules)
    assert len({rule.name for rule in rules}) == len(rules)


def test_rules_are_found_by_id_and_name() -> None:
    assert find_rule("tfm206") is find_rule("dropout-rate")


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_its_page_is_read_as_a_whole(rule: Rule, repository: Path) -> None:
    page = repository / "docs" / "rules" / f"{rule.id}.md"
    assert page.read_text("utf-8") == rule_page(rule)


def test_the_index_has_each_rule(repository: Path) -> None:
    page = (repository / "docs" / "rules" / "README.md").read_text("utf-8")
    rows = []
    for rule in all_rules():
        kind = "advice" if rule.advice_only else rule.safety.value
        link = f"[{rule.id}]({rule.id}.md)"
        rows.append(f"| {link} | {rule.name} | {kind} | {rule.summary} |\n")
    assert page.endswith("|---|---|---|---|\n" + "".join(rows))


# The same program through several doors; {x} is how the symbol is written.
DOORS = {
    "plain": ("import tensorflow as tf\n", "tf."),
    "alias": ("import tensorflow as flow\n", "flow."),
    "unaliased": ("import tensorflow\n", "tensorflow."),
    "getattr": ("import tensorflow as tf\n", "__import__('tensorflow')."),
    "local": (
        "def f():\n    import tensorflow as tf\n    return 1\nimport tensorflow as tf\n",
        "tf.",
    ),
}
SYMBOLS = {
    "TFM201": ("log(1)", "math.log(1)"),
    "TFM202": ("Session()", "compat.v1.Session()"),
    "TFM203": ("reduce_sum(x, keep_dims=True)", "reduce_sum(x, keepdims=True)"),
    "TFM206": ("nn.dropout(x, 0.25)", "nn.dropout(x, rate=0.75)"),
    "TFM301": ("contrib.data.unbatch()", "data.experimental.unbatch()"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("rule", SYMBOLS)
def test_the_same_result_through_every_door(rule: str, door: str) -> None:
    head, root = DOORS[door]
    old, new = SYMBOLS[rule]
    result = apply(f"{head}y = {root}{old}\n")
    assert rule in {f.diagnosis.rule for f in result.findings}
    spelled = "tf." if door == "getattr" else root
    wanted = {f"{head}y = {spelled}{new}\n", f"{head}y = {root}{new}\n"}
    assert result.text in wanted


FROM_DOORS = {
    "from": "from tensorflow{package} import {name}\ny = {name}{call}\n",
    "from as": "from tensorflow{package} import {name} as z\ny = z{call}\n",
    "local from": "def f():\n    from tensorflow{package} import {name}\n    return {name}{call}\n",
    "try": "try:\n    from tensorflow{package} import {name}\nexcept ImportError:\n    pass\ny = {name}{call}\n",
}


@pytest.mark.parametrize("door", FROM_DOORS)
@pytest.mark.parametrize(
    ("symbol", "target"),
    [
        ("tf.log", "tf.math.log"),
        ("tf.train.AdamOptimizer", "tf.compat.v1.train.AdamOptimizer"),
        ("tf.contrib.data.unbatch", "tf.data.experimental.unbatch"),
    ],
)
def test_from_imports_move_and_keep_their_name(
    door: str, symbol: str, target: str
) -> None:
    def fill(full: str, bound: str) -> str:
        package, _, name = full[2:].rpartition(".")
        text = FROM_DOORS[door]
        if name != bound and door != "from as":
            text = text.replace("import {name}", "import {name} as " + bound, 1)
        return (
            text.replace("= {name}{call}", f"= {bound}{{call}}")
            .replace("return {name}", f"return {bound}")
            .format(package=package, name=name, call="(1)")
        )

    bound = symbol.rpartition(".")[2]
    result = apply(fill(symbol, bound))
    assert result.text == fill(target, bound)


def test_an_unimportable_home_is_spelled_at_each_use() -> None:
    # ``from tensorflow.distribute import X`` fails in TF 2.21: a private
    # directory of that name hides the public module.
    result = apply(
        "from tensorflow.contrib.distribute import OneDeviceStrategy\n\n"
        "s = OneDeviceStrategy('/cpu:0')\n"
    )
    assert result.text == (
        "import tensorflow as tf\n\ns = tf.distribute.OneDeviceStrategy('/cpu:0')\n"
    )


def test_comments_inside_an_import_are_not_lost() -> None:
    code = (
        "from tensorflow import (\n    log,  # natural\n    Session,\n)\nx = log(1)\n"
    )
    result = apply(code)
    assert "# natural" in result.text
    assert any(f.diagnosis.outcome is Outcome.LEFT for f in result.findings)


def test_names_of_one_import_go_to_different_homes() -> None:
    result = apply("if x:\n    from tensorflow import log, Session, nn\n")
    assert result.text == (
        "if x:\n    from tensorflow.math import log\n"
        "    from tensorflow.compat.v1 import Session\n"
        "    from tensorflow import nn\n"
    )


def test_a_dead_import_stays_while_a_use_remains() -> None:
    code = (
        "import tensorflow as tf\nfrom tensorflow.contrib import data, slim\n\n"
        "a = data.unbatch()\nb = slim.conv2d(a, 1, 1)\n"
    )
    text = apply(code).text
    assert "from tensorflow.contrib import slim\n" in text
    assert "tf.data.experimental.unbatch()" in text
    assert text.count("TODO(tfmigrate)") == 2


def test_a_note_is_written_once_per_rule_and_statement() -> None:
    code = "import tensorflow as tf\n\nx = tf.layers.dense(tf.layers.dense(y, 1), 1)\n"
    text = apply(code).text
    assert text.count("TODO(tfmigrate)") == 1
    assert apply(text).text == text


def test_nested_calls_are_fitted_together() -> None:
    result = apply(
        "import tensorflow as tf\n\n"
        "x = tf.reduce_sum(tf.nn.dropout(tf.log(y), keep_prob=tf.to_float(k)), keep_dims=True)\n"
    )
    assert result.text == (
        "import tensorflow as tf\n\n"
        "x = tf.reduce_sum(tf.nn.dropout(tf.math.log(y), "
        "rate=1 - (tf.compat.v1.to_float(k))), keepdims=True)\n"
    )


def test_parentheses_and_comments_inside_calls_survive() -> None:
    result = apply(
        "import tensorflow as tf\n\n"
        "x = tf.nn.dropout(\n    y,  # in\n    (  # share\n        keep\n    ),\n)\n"
    )
    assert result.text == (
        "import tensorflow as tf\n\n"
        "x = tf.nn.dropout(\n    y,  # in\n    rate=1 - (  # share\n        keep\n    ),\n)\n"
    )


def test_selection_and_ignore_comments() -> None:
    code = "import tensorflow as tf\n\nx = tf.log(1)\ny = tf.Session()\n"
    module = cst.parse_module(code)
    only = run_rules(
        code, module, Resolver(module), allows=lambda rule: rule == "TFM201"
    )
    assert [f.diagnosis.rule for f in only.findings] == ["TFM201"]
    quiet = run_rules(
        code, module, Resolver(module), silenced=lambda line, rule: line == 3
    )
    assert [f.diagnosis.rule for f in quiet.findings] == ["TFM202"]


def test_a_private_call_that_needs_no_change_still_gets_its_public_name() -> None:
    code = "from tensorflow.python.ops import array_ops\nn = array_ops.size({})\n"
    result = apply(code.format("x"))
    assert result.text == "import tensorflow as tf\nn = tf.size(x)\n"
    assert {f.diagnosis.rule for f in result.findings} == {"TFM204", "TFM205"}


def test_a_private_path_that_no_table_knows_is_told() -> None:
    code = (
        "from tensorflow.python.keras.utils import tf_utils\ny = tf_utils.shape_type\n"
    )
    result = apply(code)
    assert result.text == code
    assert [f.diagnosis.rule for f in result.findings] == ["TFM204"]


@pytest.mark.tensorflow
def test_a_private_module_that_has_moved_is_imported_from_its_new_place() -> None:
    result = apply(
        "from tensorflow.python.training import optimizer, training_ops\n"
        "from tensorflow.python.training.gen_training_ops import apply_adam as adam\n"
        "moved = training_ops.apply_adam, adam\n"
    )
    assert result.text == (
        "from tensorflow.python.training import optimizer\n"
        "from tensorflow.python.ops import gen_training_ops as training_ops\n"
        "from tensorflow.python.ops.gen_training_ops import apply_adam as adam\n"
        "moved = training_ops.apply_adam, adam\n"
    )
    namespace: dict[str, object] = {}
    exec(result.text, namespace)  # TensorFlow of today has them there
    assert namespace["moved"]


def test_a_private_function_that_got_another_name_is_called_by_it() -> None:
    code = "from tensorflow.python.util import nest\nflat = not nest.is_sequence(x)\n"
    assert (
        apply(code).text == "import tensorflow as tf\nflat = not tf.nest.is_nested(x)\n"
    )
