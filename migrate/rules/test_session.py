"""``with self.test_session()``: tests that run tensors have no session today."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..names.nodes import walk
from ..report.findings import Outcome, Safety
from .base import Diagnosis, Rule
from .context import Context

_NOTE = (
    "these tests run tensors in a session, and TF 2 has none: drop the `with`, ask "
    "`self.evaluate(x)` instead of `session.run(x)` or `x.eval()`"
)

RULE = Rule(
    id="TFM404",
    name="test-session",
    summary="Tests that run tensors in a session are pointed out.",
    why=(
        "`tf.test.TestCase` opens a session for `self.test_session()`, "
        "`self.session()` and `self.cached_session()` where the code builds a graph. "
        "In TF 2 code runs at once: `session.run` and `x.eval()` stop such a test, also "
        "where the code under test was rewritten and is right. `self.evaluate(x)` gives "
        "the value in both."
    ),
    safety=Safety.NEEDS_REVIEW,
    examples=(
        (
            "import tensorflow as tf\n\n\n"
            "class NetTest(tf.test.TestCase):\n"
            "    def test_sum(self):\n"
            "        with self.test_session() as sess:\n"
            "            self.assertEqual(sess.run(tf.add(1, 2)), 3)\n",
            "import tensorflow as tf\n\n\n"
            "class NetTest(tf.test.TestCase):\n"
            "    def test_sum(self):\n"
            "        # TODO(tfmigrate): TFM404 these tests run tensors in a session, and TF 2 has\n"
            "        #   none: drop the `with`, ask `self.evaluate(x)` instead of `session.run(x)` or\n"
            "        #   `x.eval()`; see `tfmigrate explain TFM404`\n"
            "        with self.test_session() as sess:\n"
            "            self.assertEqual(sess.run(tf.add(1, 2)), 3)\n",
        ),
    ),
    noops=(
        "import tensorflow as tf\n\n\n"
        "class NetTest(tf.test.TestCase):\n"
        "    def test_sum(self):\n"
        "        self.assertEqual(self.evaluate(tf.add(1, 2)), 3)\n",
        "import unittest\n\n\n"
        "class WebTest(unittest.TestCase):\n"
        "    def test_page(self):\n"
        "        with self.session() as session:\n"
        "            session.get('/')\n",
    ),
    advice_only=True,
)

_SESSIONS = ("cached_session", "session", "test_session")


def diagnoses(
    context: Context,
) -> Iterator[tuple[cst.CSTNode, cst.CSTNode | None, Diagnosis]]:
    """The first such place of a module: one note is enough for all."""
    if "session(" not in context.text or "test" not in context.text:
        return
    statements = {use.node: use.statement for use in context.resolver.scopes.uses}
    for holder in context.nodes:
        if not isinstance(holder, cst.ClassDef) or not _tests(holder, context):
            continue
        for node in walk(holder.body, cst.Attribute):
            if (
                node.attr.value in _SESSIONS
                and isinstance(node.value, cst.Name)
                and node.value.value == "self"
            ):
                yield (
                    node,
                    statements.get(node),
                    Diagnosis(
                        RULE.id,
                        "tests run tensors in a session, and TF 2 has none",
                        outcome=Outcome.ADVICE,
                        safety=Safety.NEEDS_REVIEW,
                        note=_NOTE,
                    ),
                )
                return


def _tests(holder: cst.ClassDef, context: Context) -> bool:
    """A class of tests, itself or by a class of the module that it stands on."""
    for base in holder.bases:
        if context.resolver.resolve(base.value) == "tf.test.TestCase":
            return True
        defined = context.resolver.definition(base.value)
        if defined is holder or not isinstance(defined, cst.ClassDef):
            continue
        if _tests(defined, context):
            return True
    return False
