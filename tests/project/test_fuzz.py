"""Generated and mutated programs: nothing crashes, nothing changes in silence."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tfmigrate.project import pipeline
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.pipeline import Job, process_source
from tfmigrate.project.text import Edit
from tfmigrate.report.findings import Outcome
from tfmigrate.report.model import FileStatus
from tfmigrate.rules.base import Diagnosis
from tfmigrate.rules.engine import RulesResult, SymbolFinding

# The same programs in every ordinary run. TFMIGRATE_FUZZ=100000 asks for a
# campaign: that many programs of each kind, other ones each time.
CAMPAIGN = os.environ.get("TFMIGRATE_FUZZ")


def fuzz(examples: int) -> settings:
    """Settings for so many examples in an ordinary run."""
    return settings(
        max_examples=int(CAMPAIGN) if CAMPAIGN else examples,
        derandomize=CAMPAIGN is None,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


IMPORTS = st.sampled_from(
    [
        "import tensorflow as tf",
        "import tensorflow",
        "import tensorflow.compat.v1 as tf",
        "from tensorflow import log, Session as S, nn, reduce_sum",
        "from tensorflow.contrib import data, slim",
        "from tensorflow.contrib.data import unbatch, AUTOTUNE",
        "from tensorflow.python.ops import array_ops, math_ops",
        "import tensorflow.contrib.layers as L",
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf",
        "layers = tf.layers",
        "from tensorflow import *",
        "import numpy as np",
    ]
)
NAMES = st.sampled_from(
    [
        "tf.log", "tf.reduce_sum", "tf.nn.dropout", "tf.Session", "tf.layers.dense",
        "tf.contrib.slim.conv2d", "tf.contrib.data.unbatch", "tensorflow.log", "log",
        "S", "nn.softmax", "nn.dropout", "reduce_sum", "data.unbatch", "slim.conv2d",
        "unbatch", "array_ops.placeholder", "math_ops.reduce_sum", "L.l2_regularizer",
        "layers.dense", "np.log", "tf.nn.softmax_cross_entropy_with_logits", "tf.where",
        "tf.estimator.Estimator", "tf.argmax", "x", "getattr(tf, 'log')", "ds.make_one_shot_iterator",
    ]
)  # fmt: skip
KEYWORDS = st.sampled_from(
    [
        "keep_dims",
        "keepdims",
        "keep_prob",
        "rate",
        "axis",
        "dim",
        "name",
        "labels",
        "logits",
    ]
)
ATOMS = st.sampled_from(
    ["1", "0.5", "x", "'s'", "(y)", "[1, 2]", "lambda tf: tf.log", "f'{x}'", "None"]
)


@st.composite
def calls(draw: st.DrawFn, depth: int = 2) -> str:
    name = draw(NAMES)
    if depth == 0:
        return draw(st.one_of(ATOMS, st.just(name)))
    argument = st.one_of(ATOMS, calls(depth=depth - 1))
    positional = draw(st.lists(argument, max_size=3))
    keywords = draw(st.lists(KEYWORDS, max_size=2, unique=True))
    parts = positional + [f"{k}={draw(argument)}" for k in keywords]
    if draw(st.integers(0, 9)) == 0:
        parts.append(draw(st.sampled_from(["*x", "**x"])))
    separator = draw(st.sampled_from([", ", ",", ",\n    ", " ,  "]))
    return f"{name}({separator.join(parts)})"


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = draw(st.lists(IMPORTS, min_size=1, max_size=4, unique=True))
    for _ in range(draw(st.integers(1, 6))):
        expression = draw(calls())
        shape = draw(
            st.sampled_from(
                [
                    "y = {}", "{}  # note", "def f(tf=1):\n    return {}", "x = y = {}; z = 2",
                    "if x:\n\ty = {}\nelse:\n\tpass", "class A:\n  tf = 1\n  def m(self):\n    return {}",
                    "for tf in {}:\n    pass", "with {} as tf:\n    tf.log(1)", "[{} for i in x]",
                    "@{}\ndef g():\n    pass", "tf = {}", "lambda: {}", "assert {}, 'no'", "log = {}",
                ]
            )
        )  # fmt: skip
        lines.append(shape.format(expression))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = "\n".join(lines) + draw(st.sampled_from(["\n", ""]))
    return text.replace("\n", newline)


def check(raw: bytes) -> None:
    """The promises that hold for any input."""
    result = process_source(Path("x.py"), raw, Job(), ProjectFacts())
    # A file may be refused for what is in it, never for what the tool did to it.
    error = result.error or ""
    assert not error.startswith(("internal error", "the rewrite")), error
    if result.status is not FileStatus.CHANGED:
        return
    assert result.findings
    assert result.new is not None
    ast.parse(result.new)
    again = process_source(Path("x.py"), result.new, Job(), ProjectFacts())
    assert again.new is None, "a second run changes something"
    assert not any(f.outcome is Outcome.REWRITTEN for f in again.findings)


@fuzz(850)
@given(programs())
def test_generated_programs(program: str) -> None:
    check(program.encode())


FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "legacy").glob("*/*.py"))


@fuzz(150)
@given(st.sampled_from(FIXTURES), st.data())
def test_mutated_fixtures(path: Path, data: st.DataObject) -> None:
    """Lines deleted, doubled, swapped, cut; words replaced."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(lines) - 1))
        action = data.draw(st.integers(0, 4))
        if action == 0:
            del lines[index]
        elif action == 1:
            lines.insert(index, lines[index])
        elif action == 2:
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[index], lines[other] = lines[other], lines[index]
        elif action == 3:
            cut = data.draw(st.integers(0, max(0, len(lines[index]) - 1)))
            lines[index] = lines[index][:cut] + "\n"
        else:
            lines[index] = lines[index].replace(
                data.draw(st.sampled_from(["model", "tf", "estimator", "(", "batch"])),
                data.draw(st.sampled_from(["x", "tf.log", "*", "None", "("])),
            )
        if not lines:
            return
    check("".join(lines).encode())


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.parent.name)
def test_every_fixture_is_settled_after_one_run(path: Path) -> None:
    raw = path.read_bytes()
    first = process_source(path, raw, Job(), ProjectFacts())
    assert first.error is None
    if first.new is not None:
        second = process_source(path, first.new, Job(), ProjectFacts())
        assert second.new is None


def test_what_the_first_round_uncovers_is_done_in_the_same_run() -> None:
    """Only the public name tells that ``keep_dims`` is an old argument."""
    check(
        b"def f(tf=1):\n"
        b"    from tensorflow.python.ops import math_ops\n"
        b"    return math_ops.reduce_sum(tf, keep_dims=True)\n"
    )


def test_a_rewrite_that_never_settles_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rule that answers its own output would grow the file for ever."""

    def growing(text: str, *_: object, **__: object) -> RulesResult:
        longer = text + "x = 1\n"
        edit = Edit(len(text), len(text), "x = 1\n")
        found = SymbolFinding(0, Diagnosis("TFM201", "grows", (edit,)))
        return RulesResult(longer, (found,))

    monkeypatch.setattr(pipeline, "run_rules", growing)
    raw = b"import tensorflow as tf\n"
    result = process_source(Path("x.py"), raw, Job(), ProjectFacts())
    assert result.status is FileStatus.FAILED
    assert "does not settle" in (result.error or "")
