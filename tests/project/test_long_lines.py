"""No line becomes too long by the rewrite; lines that were so stay as they are."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.project.long_lines import WIDTH, with_short_lines

HEAD = "import tensorflow as tf\n\n\ndef f(x, n_out, name='a name'):\n"
# What is written -> what the rewrite leaves of it.
LINES = {
    "an argument that fits no more": (
        "  b = tf.get_variable('b', [n_out], initializer=tf.constant_initializer(one))\n",
        """\
  b = tf.compat.v1.get_variable('b', [n_out],
                                initializer=tf.compat.v1.constant_initializer(one))
""",
    ),
    "one argument": (
        "  iterator = tf.compat.v1.data.Iterator(x); it = tf.train.get_global_step(graph=x)\n",
        """\
  iterator = tf.compat.v1.data.Iterator(x); it = tf.compat.v1.train.get_global_step(
      graph=x)
""",
    ),
    "the head of a block": (
        "  with tf.variable_scope(name, default_name='with_a_long_name', values=[x, n]):\n"
        "    pass\n",
        """\
  with tf.compat.v1.variable_scope(name, default_name='with_a_long_name',
                                   values=[x, n]):
    pass
""",
    ),
    "a line of an argument list": (
        "  f(x,\n"
        "    tf.get_variable('a', [n_out], tf.float32, tf.zeros_initializer(), None), n)\n",
        """\
  f(x,
    tf.compat.v1.get_variable('a', [n_out], tf.float32,
                              tf.compat.v1.zeros_initializer(), None), n)
""",
    ),
    "a line of arguments by name": (
        "  f(\n"
        "    x=tf.get_variable('a', [n_out]), name=tf.get_variable('the second', [n_out]))\n",
        """\
  f(
    x=tf.compat.v1.get_variable('a', [n_out]),
    name=tf.compat.v1.get_variable('the second', [n_out]))
""",
    ),
    "a comment": (
        "  return tf.get_variable('a', [1], tf.float32, use_resource=name)  # as it was\n",
        "  return tf.compat.v1.get_variable('a', [1], tf.float32, use_resource=name)"
        "  # as it was\n",
    ),
    "too long before": (
        "  return tf.get_variable('a', [1], tf.float32, trainable=False, use_resource=True,"
        " caching_device=None)\n",
        "  return tf.compat.v1.get_variable('a', [1], tf.float32, trainable=False,\n"
        "                                   use_resource=True, caching_device=None)\n",
    ),
}


def rewrite(path: Path) -> str:
    """Rewrite a file in place."""
    subprocess.run(
        [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty", str(path)],
        check=False,
        capture_output=True,
    )
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All lines of this module, rewritten in one file."""
    path = tmp_path_factory.mktemp("lines") / "lines.py"
    path.write_text("".join(HEAD + old + "\n\n" for old, _ in LINES.values()), "utf-8")
    once = rewrite(path)
    assert rewrite(path) == once, "a second run changes what the first has written"
    return once


@pytest.mark.parametrize("case", LINES)
def test_lines_are_broken_as_an_author_would(written: str, case: str) -> None:
    assert LINES[case][1] in written


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_breaks_change_no_code(newline: str) -> None:
    code = (
        "value = outer(inner({0}), [{0}], {{{0}: f'{{a_name}} {{b[0, 1]}}, '}}){1}"
        "if condition({0}, {0}):{1}    pass{1}"
    )
    for length in range(2, 60):
        new = code.format("a" * length + ", " + "b" * length, newline).replace(
            "{" + "a" * length + ", ", "{"
        )
        short = with_short_lines(new, "")
        assert ast.dump(ast.parse(short)) == ast.dump(ast.parse(new))
        assert short.count(newline) == short.count("\n")
        if length <= 36:
            assert max(map(len, short.splitlines())) <= WIDTH


def test_text_that_is_not_python_stays() -> None:
    text = "x = f('" + "a" * 90 + "', (1, 2)\n"
    assert with_short_lines(text, "") == text


def test_a_line_that_outgrows_all_of_its_author_is_broken() -> None:
    old = "x = f(tf.random_normal_initializer(seed=1), tf.zeros([3, 4]), other=None, more=5)"
    old = old.replace("more=5", "one_more_argument=5")
    new = old.replace("tf.random", "tf.compat.v1.random")
    assert len(old) > WIDTH
    assert max(map(len, with_short_lines(new, old).splitlines())) <= WIDTH
    careless = f"{old}\ny = '{'a' * 120}'\n" * 3
    assert with_short_lines(new, careless) == new
